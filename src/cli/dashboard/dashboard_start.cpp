#include "cli/dashboard/dashboard_start.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "cli/command.hpp"
#include "cli/dashboard/what_if.hpp"
#include "cli/journal/decide_again.hpp"
#include "cli/parse.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/plan/plan_page.hpp"
#include "cli/problem_text.hpp"
#include "codec/presets.hpp"
#include "codec/source.hpp"
#include "codec/writer.hpp"
#include "page/page.hpp"
#include "server/access.hpp"

namespace makeway::cli {
namespace {

constexpr std::size_t token_length_min = 16;

/// What the page must know before its first request.
std::string page_facts(bool has_journal) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  writer.boolean_field("journal", has_journal);
  writer.key("presets");
  writer.begin_array();
  for (const std::string_view name : preset_names()) writer.string(name);
  writer.end_array();
  writer.end_object();
  return text;
}

server::DashboardTools tools_for(const std::string& journal) {
  server::DashboardTools tools;
  tools.what_if = [](const server::HttpRequest& request, const server::Board& board) {
    return what_if(request, board, real_tools());
  };
  tools.why = [](const server::HttpRequest& request, const server::Board& board) {
    return why_now(request, board, real_tools());
  };
  if (!is_kept_journal(journal)) return tools;
  // Shared by three functions, which one thread calls.
  const auto look_back = std::make_shared<LookBack>(journal, real_tools());
  tools.why_recorded = [look_back](const server::HttpRequest& request,
                                   const server::Desk::IsOver& is_unwanted) {
    return look_back->why(request, is_unwanted);
  };
  tools.history = [look_back](const server::HttpRequest& /*request*/,
                              const server::Desk::IsOver& is_unwanted) {
    return look_back->cycles(is_unwanted);
  };
  tools.at = [look_back](const server::HttpRequest& request,
                         const server::Desk::IsOver& is_unwanted) {
    return look_back->cycle(request, is_unwanted);
  };
  return tools;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view white = " \t\r\n";
  const std::size_t first = text.find_first_not_of(white);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(white) - first + 1);
}

}  // namespace

Result<std::unique_ptr<server::Dashboard>> start_dashboard(
    DashboardOptions options, std::function<server::HttpReply(std::string_view path)> open_pages) {
  return server::Dashboard::start(
      {.address = *options.listen.address,
       .token = std::move(options.listen.token),
       .html = page_html({.title = "Makeway",
                          .bundle = PageBundle::dashboard,
                          .json = page_facts(is_kept_journal(options.journal))}),
       .schedulers = std::move(options.schedulers),
       .open_pages = std::move(open_pages),
       .tools = tools_for(options.journal),
       .contains_bugs = real_tools().contain,
       .tls = std::move(options.listen.tls)});
}

Result<ListenOptions> read_listen_options(const Arguments& arguments) {
  const auto wrong = [](std::string message) {
    return std::unexpected(Error{.code = ErrorCode::fix_usage, .message = std::move(message)});
  };
  ListenOptions options;
  if (const auto text = arguments.given("listen")) {
    auto address = server::parse_listen_address(*text);
    if (!address) return wrong(fmt::format("--listen {}", address.error().message));
    options.address = *std::move(address);
  }
  for (const std::string_view flag : {"token-file", "tls-cert", "tls-key"}) {
    const auto path = arguments.given(flag);
    if (path && !options.address)
      return wrong(fmt::format("--{} is for --listen ADDRESS:PORT", flag));
    if (path && path->empty()) return wrong(fmt::format("--{} '': expected a file", flag));
  }
  if (const auto path = arguments.given("token-file")) {
    auto token = read_token(std::string(*path));
    if (!token) return wrong(token.error().message);
    options.token = *std::move(token);
  }
  if (arguments.has("tls-cert") != arguments.has("tls-key")) {
    return wrong("give --tls-cert FILE and --tls-key FILE together, or neither");
  }
  if (!arguments.has("tls-cert")) return options;
  options.tls = {.certificate = std::string(arguments.text("tls-cert")),
                 .key = std::string(arguments.text("tls-key"))};
  if (auto keys = server::TlsKeys::read(options.tls); !keys) return wrong(keys.error().message);
  return options;
}

Result<std::string> read_token(const std::string& path) {
  const auto wrong = [&](std::string_view what) {
    return std::unexpected(
        Error{.code = ErrorCode::fix_usage,
              .message = fmt::format("--token-file {}: {}", printable(path), what)});
  };
  const Result<SourceText> read = read_source({.path = path});
  if (!read) return wrong(read.error().message);
  const std::string_view token = trimmed(read->text.view());
  if (token.size() < token_length_min) {
    return wrong(
        fmt::format("the token has {} characters; give it {} or more, such as the output "
                    "of `openssl rand -hex 32`",
                    token.size(), token_length_min));
  }
  if (token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                              "-._~+/=") != std::string_view::npos) {
    return wrong("the token has characters that no header takes; use letters and digits");
  }
  return std::string(token);
}

std::string dashboard_address(const ListenOptions& listen, std::uint16_t port) {
  const std::string_view scheme = listen.tls.are_given() ? "https" : "http";
  const std::string& listens = listen.address->host;
  const std::string host = listens == "0.0.0.0" || listens == "::" ? "localhost" : listens;
  if (host.contains(':')) return fmt::format("{}://[{}]:{}/", scheme, host, port);
  return fmt::format("{}://{}:{}/", scheme, host, port);
}

bool shows_dashboard(const ListenOptions& listen) {
  return !listen.token.empty() || server::access_rules(*listen.address, {}).is_loopback;
}

std::string dashboard_warning(const ListenOptions& listen) {
  if (server::access_rules(*listen.address, {}).is_loopback) return {};
  if (!shows_dashboard(listen)) {
    return "at an address beyond this machine only health and metrics are served, to this machine, "
           "too; the dashboard needs --token-file";
  }
  if (listen.tls.are_given()) return {};
  return "the dashboard and its token are sent unencrypted: give --tls-cert and "
         "--tls-key, put a proxy with TLS before it, or listen on localhost and forward the port";
}

std::string notice_text(const server::Notice& notice) {
  std::string text = fmt::format("{} failed: {}", notice.kind, notice.text);
  if (notice.kept_back > 0) {
    text += fmt::format("; {} more like it since the last report", notice.kept_back);
  }
  return text;
}

namespace {

using server::error_reply;
using server::HttpReply;
using server::HttpRequest;

constexpr std::string_view still_reading =
    "the journal is long and still being read; ask again to continue";

class KeptLines final : public TextSink {
 public:
  explicit KeptLines(const Patience& patience) : patience_(patience) {}
  void write(std::string_view text) override { text_ += text; }
  bool is_closed() const override { return patience_.is_over(); }
  const std::string& text() const { return text_; }

 private:
  const Patience& patience_;
  std::string text_;
};

HttpReply json_body(std::string body) {
  return {.content_type = "application/json", .body = std::move(body)};
}

std::string without_line_end(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::optional<std::uint64_t> number_in(const std::optional<std::string>& text) {
  std::uint64_t number = 0;
  if (!text) return std::nullopt;
  const char* const end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

/// Why a plan could not be made; it takes the plan's place.
std::string no_plan_json(const Problems& problems) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  writer.string_field("error", problem_lines(problems, Palette(false)));
  writer.end_object();
  return without_line_end(std::move(text));
}

/// The reader is past the wanted cycle.
bool is_past(const JournalRecord& record, std::uint64_t wanted) {
  if (const auto* const base = std::get_if<BaseRecord>(&record)) return base->cycles >= wanted;
  const auto* const cycle = std::get_if<CycleRecord>(&record);
  return cycle != nullptr && cycle->number > wanted;
}

}  // namespace

bool is_kept_journal(const std::string& journal) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(journal, ignored);
  // A journal that does not exist yet becomes a file.
  return !journal.empty() &&
         (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status));
}

HttpReply LookBack::why(const HttpRequest& request, const server::Desk::IsOver& is_unwanted) const {
  const std::string object = server::query_value(request.query, "object").value_or("");
  if (object.empty() || object.starts_with('-')) {
    return error_reply(400, "give object=KIND/NAMESPACE/NAME");
  }
  const std::vector<std::string> words = {"why", "--journal", journal_, "--color", "never", object};
  const Result<Invocation> why = parse(words);
  if (!why) return error_reply(400, why.error().message);
  const Patience patience(is_unwanted, patience_);
  KeptLines out(patience);
  KeptLines error(patience);
  Terminal terminal{.out = out, .error = error, .ascii_only = true};
  why->command->run(why->arguments, terminal);
  if (patience.is_over()) {
    return error_reply(
        503, fmt::format("the journal is too long to be read here; ask beside the scheduler with "
                         "`makeway why --journal FILE {}`, or keep it shorter with --journal-size "
                         "and --journal-files",
                         shorten(object)));
  }
  if (out.text().empty()) return error_reply(404, printable_lines(error.text()));
  std::string body;
  JsonWriter writer(body, JsonStyle::compact);
  writer.begin_object();
  writer.string_field("text", printable_lines(out.text()));
  writer.end_object();
  return json_body(std::move(body));
}

HttpReply LookBack::cycles(const server::Desk::IsOver& is_unwanted) {
  const Patience patience(is_unwanted, patience_);
  const std::optional<Error> error = index_.refresh([&] { return patience.is_over(); });
  if (patience.is_over()) return error_reply(503, still_reading);
  const std::vector<IndexedCycle> cycles = index_.cycles();
  if (cycles.empty()) {
    return error_reply(404, error ? printable(error->message) : "no cycle was recorded yet");
  }
  std::string body;
  JsonWriter writer(body, JsonStyle::compact);
  writer.begin_object();
  writer.integer_field("leftOut", static_cast<std::int64_t>(index_.left_out()));
  writer.key("presets");
  writer.begin_array();
  for (const std::string_view name : preset_names()) writer.string(name);
  writer.end_array();
  writer.key("cycles");
  writer.begin_array();
  for (const IndexedCycle& cycle : cycles) {
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

// ---- One cycle ----------------------------------------------------------------------------------

/// The place is before the first record of the chapter, with no cycle.
std::optional<Error> LookBack::begin(const JournalIndex::Chapter& chapter) {
  place_.reset();
  Result<JournalReader> reader = JournalReader::open_at(chapter.paths, chapter.offset);
  if (!reader) return reader.error();
  const Result<JournalRecord> rules =
      read_journal_record(static_cast<std::uint8_t>(JournalType::configuration), chapter.rules);
  if (!rules) return rules.error();
  place_.emplace(Place{
      .chapter = chapter, .reader = *std::move(reader), .world = {}, .cycle = {.plan_id = {}}});
  return place_->world.take({.record = *rules});
}

/// Reads on to the cycle. No: it is not there, and the place is lost.
LookBack::Found LookBack::find(std::uint64_t wanted, const Patience& patience) {
  while (place_->cycle.number != wanted) {
    if (patience.is_over()) return Found::not_yet;
    Result<std::optional<JournalEntry>> entry = place_->reader.next();
    const bool ends = !entry || !*entry || is_past((*entry)->record, wanted);
    if (ends || place_->world.take(**entry)) {
      place_.reset();
      return Found::no;
    }
    ++records_read_;
    if (auto* const cycle = std::get_if<CycleRecord>(&(*entry)->record)) {
      place_->cycle = std::move(*cycle);
    }
  }
  return Found::yes;
}

/// None: the place was reached.
std::optional<HttpReply> LookBack::go_to(std::uint64_t wanted, const Patience& patience) {
  const auto not_found = [&](const std::optional<Error>& error) {
    return error_reply(404, error ? printable(error->message)
                                  : fmt::format("cycle {} is not in the journal", wanted));
  };
  const std::optional<Error> unread = index_.refresh([&] { return patience.is_over(); });
  if (patience.is_over()) return error_reply(503, still_reading);
  const std::optional<JournalIndex::Chapter> chapter = index_.chapter_of(wanted);
  if (!chapter) return not_found(unread);
  const bool is_near =
      place_ && place_->chapter.is_same(*chapter) && place_->cycle.number <= wanted;
  // If the file was replaced or cannot be read, another reader may find the cycle.
  Found found = is_near && !place_->reader.look_again() ? find(wanted, patience) : Found::no;
  if (found == Found::no) {
    if (const std::optional<Error> error = begin(*chapter)) return not_found(error);
    found = find(wanted, patience);
  }
  if (found == Found::not_yet) return error_reply(503, still_reading);
  return found == Found::yes ? std::nullopt : std::optional(not_found(unread));
}

std::string LookBack::plan_by(const Configuration& configuration, std::string_view preset) const {
  const JournalWorld& world = place_->world;
  const LawfulPlan made = decide_again(
      place_->cycle, world, {.configuration = configuration, .preset = preset}, tools_, true);
  if (!made.plan) return no_plan_json(made.problems);
  return without_line_end(plan_page_json(*made.plan, world.cluster(), configuration));
}

HttpReply LookBack::cycle(const HttpRequest& request, const server::Desk::IsOver& is_unwanted) {
  const auto wanted = number_in(server::query_value(request.query, "cycle"));
  if (!wanted || *wanted == 0) return error_reply(400, "give cycle=NUMBER, from 1 on");
  const std::string preset = server::query_value(request.query, "preset").value_or("");
  std::optional<Configuration> others;
  if (!preset.empty()) {
    Result<Configuration> loaded = load_preset(preset);
    if (!loaded) return error_reply(400, loaded.error().message);
    others = *std::move(loaded);
  }
  if (auto refused = go_to(*wanted, Patience(is_unwanted, patience_))) return *std::move(refused);
  const JournalWorld& world = place_->world;
  std::string body =
      fmt::format("{{\"cycle\":{},\"now\":{},\"plan\":{}", place_->cycle.number,
                  place_->cycle.now.ms, plan_by(world.configuration(), world.preset()));
  if (others) body += fmt::format(",\"other\":{}", plan_by(*others, preset));
  return json_body(body + "}");
}

}  // namespace makeway::cli
