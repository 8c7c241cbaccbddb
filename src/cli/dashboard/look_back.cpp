#include "cli/dashboard/look_back.hpp"

#include <fmt/format.h>

#include <charconv>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "cli/command.hpp"
#include "cli/journal/decide_again.hpp"
#include "cli/journal/journal_walk.hpp"
#include "cli/parse.hpp"
#include "cli/plan/plan_page.hpp"
#include "codec/presets.hpp"
#include "codec/writer.hpp"
#include "server/access.hpp"

namespace makeway::cli {
namespace {

using server::error_reply;
using server::HttpReply;
using server::HttpRequest;

constexpr std::size_t cycles_told_max = 20'000;

class KeptLines final : public TextSink {
 public:
  void write(std::string_view text) override { text_ += text; }
  const std::string& text() const { return text_; }

 private:
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

}  // namespace

HttpReply why_recorded(const HttpRequest& request, const std::string& journal) {
  const std::string object = server::query_value(request.query, "object").value_or("");
  if (object.empty() || object.starts_with('-')) {
    return error_reply(400, "give object=KIND/NAMESPACE/NAME");
  }
  const std::vector<std::string> words = {"why", "--journal", journal, "--color", "never", object};
  const Result<Invocation> why = parse(words);
  if (!why) return error_reply(400, why.error().message);
  KeptLines out;
  KeptLines error;
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

HttpReply cycles_recorded(const HttpRequest& /*request*/, const std::string& journal) {
  std::deque<ToldCycle> cycles;
  std::uint64_t left_out = 0;
  const JournalWalk walk =
      walk_journal(journal, [&](const JournalEntry& entry, const JournalWorld&) {
        const auto* const cycle = std::get_if<CycleRecord>(&entry.record);
        if (cycle == nullptr) return true;
        cycles.push_back({.number = cycle->number,
                          .now = cycle->now,
                          .asks = cycle->due.size(),
                          .acts = !cycle->plan.empty()});
        if (cycles.size() > cycles_told_max) {
          cycles.pop_front();
          ++left_out;
        }
        return true;
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
                         const PlanTools& tools) {
  const auto wanted = number_in(server::query_value(request.query, "cycle"));
  if (!wanted) return error_reply(400, "give cycle=NUMBER");
  const std::string preset = server::query_value(request.query, "preset").value_or("");
  std::optional<Configuration> others;
  if (!preset.empty()) {
    Result<Configuration> loaded = load_preset(preset);
    if (!loaded) return error_reply(400, loaded.error().message);
    others = *std::move(loaded);
  }
  std::optional<CycleRecord> found;
  const JournalWalk walk =
      walk_journal(journal, [&](const JournalEntry& entry, const JournalWorld&) {
        const auto* const cycle = std::get_if<CycleRecord>(&entry.record);
        if (cycle == nullptr || cycle->number != *wanted) return true;
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
    return made.plan ? without_line_end(plan_page_json(*made.plan, world.cluster()))
                     : std::string("null");
  };
  std::string body = fmt::format("{{\"cycle\":{},\"now\":{},\"plan\":{}", found->number,
                                 found->now.ms, plan_by(world.configuration(), world.preset()));
  if (others) body += fmt::format(",\"other\":{}", plan_by(*others, preset));
  return json_body(body + "}");
}

}  // namespace makeway::cli
