#include "cli/dashboard/look_back.hpp"

#include <fmt/format.h>

#include <charconv>
#include <deque>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "cli/command.hpp"
#include "cli/journal/decide_again.hpp"
#include "cli/journal/journal_walk.hpp"
#include "cli/parse.hpp"
#include "cli/plan/plan_page.hpp"
#include "cli/problem_text.hpp"
#include "codec/presets.hpp"
#include "codec/writer.hpp"
#include "journal/journal_file.hpp"
#include "server/access.hpp"

namespace makeway::cli {
namespace {

using server::error_reply;
using server::HttpReply;
using server::HttpRequest;

constexpr std::size_t cycles_told_max = 20'000;
constexpr std::uint64_t journal_bytes_max = std::uint64_t{1} << 30U;

class KeptLines final : public TextSink {
 public:
  explicit KeptLines(std::stop_token ending) : ending_(std::move(ending)) {}
  void write(std::string_view text) override { text_ += text; }
  bool is_closed() const override { return ending_.stop_requested(); }
  const std::string& text() const { return text_; }

 private:
  std::stop_token ending_;
  std::string text_;
};

HttpReply json_body(std::string body) {
  return {.content_type = "application/json", .body = std::move(body)};
}

std::string without_line_end(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

struct ToldCycle {
  std::uint64_t number = 0;
  Time now;
  std::size_t asks = 0;
  bool acts = false;
};

std::optional<std::uint64_t> number_in(const std::optional<std::string>& text) {
  std::uint64_t number = 0;
  if (!text) return std::nullopt;
  const char* const end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

std::string failure_text(const JournalWalk& walk, std::string_view otherwise) {
  return walk.error ? printable(walk.error->message) : std::string(otherwise);
}

/// In the place of a plan that could not be made: why.
std::string no_plan_json(const Problems& problems) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  writer.string_field("error", problem_lines(problems, Palette(false)));
  writer.end_object();
  return without_line_end(std::move(text));
}

std::optional<HttpReply> refuse_large(const std::string& journal) {
  const std::string text = too_large_text(journal, journal_bytes_max);
  if (text.empty()) return std::nullopt;
  return error_reply(413, text);
}

}  // namespace

bool is_kept_journal(const std::string& journal) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(journal, ignored);
  // One that is not there yet becomes a file.
  return !journal.empty() &&
         (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status));
}

std::string too_large_text(const std::string& journal, std::uint64_t bytes_max) {
  constexpr std::uint32_t missing_max = 2;  // As its reader: a number may be left out.
  std::uint32_t missing = 0;
  for (std::uint32_t number = 0; missing < missing_max; ++number) {
    const std::string path = rotated_path(journal, number);
    std::error_code failed;
    const std::uintmax_t bytes = std::filesystem::file_size(path, failed);
    missing = failed ? missing + 1 : 0;
    if (failed || bytes <= bytes_max) continue;
    return fmt::format(
        "{} has {} bytes, and more than {} are not read beside a running scheduler; start makeway "
        "with --journal-size 256Mi to have smaller files, or ask on another machine with "
        "`makeway journal list` and `makeway why --journal`",
        printable(path), bytes, bytes_max);
  }
  return {};
}

HttpReply why_recorded(const HttpRequest& request, const std::string& journal,
                       const std::stop_token& ending) {
  const std::string object = server::query_value(request.query, "object").value_or("");
  if (object.empty() || object.starts_with('-')) {
    return error_reply(400, "give object=KIND/NAMESPACE/NAME");
  }
  const std::vector<std::string> words = {"why", "--journal", journal, "--color", "never", object};
  const Result<Invocation> why = parse(words);
  if (!why) return error_reply(400, why.error().message);
  if (auto refused = refuse_large(journal)) return *std::move(refused);
  KeptLines out(ending);
  KeptLines error(ending);
  Terminal terminal{.out = out, .error = error, .ascii_only = true};
  why->command->run(why->arguments, terminal);
  if (out.text().empty()) return error_reply(404, printable_lines(error.text()));
  std::string body;
  JsonWriter writer(body, JsonStyle::compact);
  writer.begin_object();
  writer.string_field("text", printable_lines(out.text()));
  writer.end_object();
  return json_body(std::move(body));
}

HttpReply cycles_recorded(const HttpRequest& /*request*/, const std::string& journal,
                          const std::stop_token& ending) {
  if (auto refused = refuse_large(journal)) return *std::move(refused);
  std::deque<ToldCycle> cycles;
  std::uint64_t left_out = 0;
  const JournalWalk walk =
      walk_journal(journal, [&](const JournalEntry& entry, const JournalWorld&) {
        const auto* const cycle = std::get_if<CycleRecord>(&entry.record);
        if (cycle == nullptr) return !ending.stop_requested();
        cycles.push_back({.number = cycle->number,
                          .now = cycle->now,
                          .asks = cycle->due.size(),
                          .acts = !cycle->plan.empty()});
        if (cycles.size() > cycles_told_max) {
          cycles.pop_front();
          ++left_out;
        }
        return !ending.stop_requested();
      });
  if (cycles.empty()) {
    return error_reply(404, failure_text(walk, "no cycle was recorded yet"));
  }
  std::string body;
  JsonWriter writer(body, JsonStyle::compact);
  writer.begin_object();
  writer.integer_field("leftOut", static_cast<std::int64_t>(left_out));
  writer.key("presets");
  writer.begin_array();
  for (const std::string_view name : preset_names()) writer.string(name);
  writer.end_array();
  writer.key("cycles");
  writer.begin_array();
  for (const ToldCycle& cycle : cycles) {
    writer.begin_array();
    writer.integer(static_cast<std::int64_t>(cycle.number));
    writer.integer(cycle.now.ms);
    writer.integer(static_cast<std::int64_t>(cycle.asks));
    writer.integer(cycle.acts ? 1 : 0);
    writer.end_array();
  }
  writer.end_array();
  writer.end_object();
  return json_body(std::move(body));
}

HttpReply cycle_recorded(const HttpRequest& request, const std::string& journal,
                         const PlanTools& tools, const std::stop_token& ending) {
  const auto wanted = number_in(server::query_value(request.query, "cycle"));
  if (!wanted) return error_reply(400, "give cycle=NUMBER");
  const std::string preset = server::query_value(request.query, "preset").value_or("");
  std::optional<Configuration> others;
  if (!preset.empty()) {
    Result<Configuration> loaded = load_preset(preset);
    if (!loaded) return error_reply(400, loaded.error().message);
    others = *std::move(loaded);
  }
  if (auto refused = refuse_large(journal)) return *std::move(refused);
  std::optional<CycleRecord> found;
  const JournalWalk walk =
      walk_journal(journal, [&](const JournalEntry& entry, const JournalWorld&) {
        const auto* const cycle = std::get_if<CycleRecord>(&entry.record);
        if (cycle == nullptr || cycle->number != *wanted) return !ending.stop_requested();
        found = *cycle;
        return false;
      });
  if (!found) {
    return error_reply(404, failure_text(walk, fmt::format("cycle {} is not in it", *wanted)));
  }
  const JournalWorld& world = walk.world;
  const auto plan_by = [&](const Configuration& configuration, std::string_view name) {
    const LawfulPlan made =
        decide_again(*found, world, {.configuration = configuration, .preset = name}, tools, true);
    return made.plan ? without_line_end(plan_page_json(*made.plan, world.cluster(), configuration))
                     : no_plan_json(made.problems);
  };
  std::string body = fmt::format("{{\"cycle\":{},\"now\":{},\"plan\":{}", found->number,
                                 found->now.ms, plan_by(world.configuration(), world.preset()));
  if (others) body += fmt::format(",\"other\":{}", plan_by(*others, preset));
  return json_body(body + "}");
}

}  // namespace makeway::cli
