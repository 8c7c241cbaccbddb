#include "cli/dashboard/dashboard_start.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <system_error>
#include <type_traits>
#include <utility>

#include "base/ascii.hpp"
#include "base/printable.hpp"
#include "cli/journal/journal_walk.hpp"
#include "cli/plan/ask_name.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/plan/plan_page.hpp"
#include "cli/plan/plan_text.hpp"
#include "cli/problem_text.hpp"
#include "cli/run.hpp"
#include "codec/dump.hpp"
#include "codec/json_text.hpp"
#include "codec/load.hpp"
#include "codec/presets.hpp"
#include "codec/source.hpp"
#include "codec/workloads/workload_names.hpp"
#include "codec/writer.hpp"
#include "codec/yaml.hpp"
#include "model/validation/validation.hpp"
#include "page/page.hpp"
#include "server/access.hpp"

namespace makeway::cli {
namespace {

// Notes about documents of a manifest that do not count: kinds that are not read, and workloads
// that make no pods. Each document is named, so that its author finds it.

constexpr std::size_t notes_max = 10;
constexpr int list_depth_max = 3;

/// "apps/v1 Thing"
std::string_view why_left_out(std::string_view type) {
  const std::size_t blank = type.rfind(' ');
  return is_unsupported_workload(type.substr(0, blank), type.substr(blank + 1))
             ? "this kind is not supported yet; give Pods made from its template"
             : "this kind asks for no room here and is left out";
}

/// Goes through documents and the items of lists for those that were skipped.
class UnreadDocuments {
 public:
  explicit UnreadDocuments(const LoadStatistics& statistics) : statistics_(statistics) {}

  void look_at(const JsonValue& document, const std::string& place, int depth = 0) {
    const std::string kind = text_in(document, "kind");
    const std::string type =
        fmt::format("{} {}", shorten(text_in(document, "apiVersion")), shorten(kind));
    if (statistics_.skipped.contains(type)) add(document, place, type);
    if (!kind.ends_with("List") || depth >= list_depth_max) return;
    for (const JsonValue& item : items_in(document, "items")) look_at(item, place, depth + 1);
  }

  const std::vector<std::string>& notes() const { return notes_; }
  std::size_t count() const { return count_; }

 private:
  void add(const JsonValue& document, const std::string& place, const std::string& type) {
    ++count_;
    if (notes_.size() >= notes_max) return;
    const JsonValue* const metadata = document.find("metadata");
    const std::string space = metadata == nullptr ? "" : text_in(*metadata, "namespace");
    const std::string name = metadata == nullptr ? "" : text_in(*metadata, "name");
    std::string object = type;
    if (!name.empty()) object += " " + shorten(space.empty() ? name : space + "/" + name, 120);
    notes_.push_back(fmt::format("{}: {}: {}", place, object, why_left_out(type)));
  }

  const LoadStatistics& statistics_;
  std::vector<std::string> notes_;
  std::size_t count_ = 0;
};

/// "the manifest, document 2 (line 9): example.com/v1 Foo default/a: this kind asks for no room
/// here and is left out". `text` is what `loaded` was made from.
std::vector<std::string> unread_notes(std::string_view text, const Loaded& loaded) {
  if (loaded.statistics.skipped.empty()) return {};
  UnreadDocuments unread(loaded.statistics);
  if (detect_format(text) == TextFormat::json) {
    if (const auto tree = parse_json_value(text)) unread.look_at(*tree, "the manifest");
  } else {
    yaml_documents(text, "the manifest", {}, [&](const YamlDocument& document) {
      const auto tree = parse_json_value(document.json);
      if (!tree) return;
      unread.look_at(*tree, fmt::format("the manifest, document {} (line {})", document.number,
                                        document.line));
    });
  }
  std::vector<std::string> notes = unread.notes();
  if (unread.count() > notes.size()) {
    notes.push_back(fmt::format("... {} more like these", unread.count() - notes.size()));
  }
  if (!notes.empty()) return notes;
  // Several documents of JSON one after the other: which of them it was is not known here.
  for (const auto& [type, count] : loaded.statistics.skipped) {
    notes.push_back(
        fmt::format("the manifest: {} ({}): {}", printable(type), count, why_left_out(type)));
  }
  return notes;
}

/// Why the manifest has no asks, and which kinds would be asks.
std::string no_asks_text(std::string_view text, const Loaded& loaded) {
  std::string answer = "nothing in the manifest asks for room\n";
  for (const std::string& note : unread_notes(text, loaded)) answer += note + "\n";
  for (const WorkloadPods& workload : loaded.workloads) {
    if (workload.held.empty() || workload.made > 0) continue;
    answer += fmt::format("{}: no pods are made of it: {}\n", shorten(workload.object(), 120),
                          printable(workload.held));
  }
  return answer + fmt::format(
                      "Give something that asks and is not in the cluster yet: Pod, Session, "
                      "ReplicaSchedule, or what makes pods: {}.",
                      fmt::join(pod_making_kinds(), ", "));
}

using server::error_reply;
using server::HttpReply;
using server::HttpRequest;

/// They are decided on the follower's thread, and all viewers wait for it.
constexpr std::size_t asks_max = 1'000;

/// Few, and a manifest that refers to them is not understood without them.
using ContextKinds = KindList<Namespace, PriorityClass, Workload, Queue, ResourceGroup, Partition>;

template <class... Objects>
void copy_objects(const Cluster& from, Cluster& to, KindList<Objects...> /*kinds*/) {
  (from.each<Objects>([&](const Objects& object) { to.apply(object); }), ...);
}

/// What a manifest may refer to, as text for its reader.
TextFeed context_of(const Cluster& cluster) {
  return [&cluster](const TextTaker& take) {
    Cluster context;
    copy_objects(cluster, context, ContextKinds{});
    std::string text = dump(context, DumpFormat::json);
    const std::size_t size = text.size();
    text.append(text_padding, '\0');
    take("live: the cluster", std::string_view(text).substr(0, size), {});
    return Problems();
  };
}

template <class Object>
void add_objects(const Cluster& from, Cluster& to) {
  from.each<Object>([&](const Object& object) {
    if constexpr (std::is_same_v<Object, Pod>) {
      // A pod that already exists stays as it is.
      if (to.find_pod(object.namespace_name, object.name, object.plane)) return;
    }
    to.apply(object);
  });
}

template <class... Objects>
void add_all_objects(const Cluster& from, Cluster& to, KindList<Objects...> /*kinds*/) {
  (add_objects<Objects>(from, to), ...);
}

/// The asks in the manifest; `all` has its objects, too.
std::vector<AskName> asks_of(const Cluster& manifest, const Cluster& all) {
  std::set<AskName> asks;
  for (const PodIndex pod : manifest.pending_pods()) {
    const std::string space(manifest.text(manifest.pods().namespace_name[pod]));
    const std::string name(manifest.pods().name[pod.value]);
    const auto there = all.find_pod(space, name);
    if (!there || !all.pending_pods().contains(*there)) continue;
    const Unit& unit = all.units()[all.pods().unit[*there]];
    if (unit.kind == UnitKind::group) {
      asks.insert({.kind = AskKind::pod_group,
                   .namespace_name = space,
                   .name = std::string(all.text(all.groups()[unit.group].name))});
    } else {
      asks.insert({.kind = AskKind::pod, .namespace_name = space, .name = name});
    }
  }
  for (const auto& [key, session] : manifest.own<Session>()) {
    if (session.status.phase != SessionPhase::pending) continue;
    asks.insert(
        {.kind = AskKind::session, .namespace_name = session.namespace_name, .name = session.name});
  }
  for (const auto& [key, schedule] : manifest.own<ReplicaSchedule>()) {
    asks.insert({.kind = AskKind::replica_schedule,
                 .namespace_name = schedule.namespace_name,
                 .name = schedule.name});
  }
  return {asks.begin(), asks.end()};
}

struct UsedRules {
  Configuration configuration;
  std::string preset;
};

Result<UsedRules> rules_of(const HttpRequest& request, const server::Board& board) {
  const auto preset = server::query_value(request.query, "preset");
  if (!preset || preset->empty()) {
    return UsedRules{.configuration = board.configuration(), .preset = board.preset()};
  }
  Result<Configuration> loaded = load_preset(*preset);
  if (!loaded) return std::unexpected(loaded.error());
  return UsedRules{.configuration = *std::move(loaded), .preset = *preset};
}

std::string problems_text(const Problems& problems) {
  return problem_lines(problems, Palette(false));
}

/// Problems of deciding with the manifest; without those of other objects.
Problems new_problems(const Cluster& before, const Cluster& after,
                      const Configuration& configuration) {
  const auto problems_of = [&](const Cluster& cluster) {
    Problems problems = find_errors(cluster);
    problems.append(find_cap_errors(cluster, configuration));
    return problems;
  };
  Problems found = problems_of(after);
  if (!has_errors(found)) return {};
  const Problems old = problems_of(before);
  found.erase_if([&](const Problem& problem) {
    return problem.severity == Severity::warning || std::ranges::find(old, problem) != old.end();
  });
  return found;
}

LawfulPlan plan_for(const Cluster& cluster, const UsedRules& rules, std::vector<AskName> asks,
                    Time now, const PlanTools& tools) {
  return make_lawful_plan(cluster, rules.configuration,
                          {.now = now,
                           .preset = rules.preset,
                           .asks = std::move(asks),
                           .explain = true,
                           .contain = tools.contain},
                          tools);
}

/// Notes about what was left out come before what was decided.
std::string with_notes(const std::vector<std::string>& notes, const std::string& plan) {
  if (notes.empty()) return plan;
  std::string list;
  JsonWriter writer(list, JsonStyle::compact);
  writer.begin_array();
  for (const std::string& note : notes) writer.string(note);
  writer.end_array();
  while (list.ends_with('\n')) list.pop_back();
  return fmt::format("{{\"notes\":{},{}", list, plan.substr(1));
}

}  // namespace

HttpReply what_if(const HttpRequest& request, const server::Board& board, const PlanTools& tools) {
  if (!board.has_begun()) return error_reply(503, "the cluster has not been read yet; try again");
  const Result<UsedRules> rules = rules_of(request, board);
  if (!rules) return error_reply(400, rules.error().message);
  LoadOptions options;
  options.feed = context_of(board.cluster());
  LoadResult read = load_text(request.body, "the manifest", {}, options);
  if (!read.loaded) return error_reply(400, problems_text(read.problems));
  honour_marks(*read.loaded, rules->configuration, board.now(), true);
  Cluster cluster = board.cluster().compacted();
  add_all_objects(read.loaded->cluster, cluster, ObjectKinds{});
  std::vector<AskName> asks = asks_of(read.loaded->cluster, cluster);
  if (asks.empty()) return error_reply(400, no_asks_text(request.body, *read.loaded));
  if (asks.size() > asks_max) {
    return error_reply(
        400, fmt::format("the manifest makes {} asks, and at most {} are decided here; give fewer, "
                         "or plan it apart: `makeway plan --help`",
                         asks.size(), asks_max));
  }
  if (const Problems problems = new_problems(board.cluster(), cluster, rules->configuration);
      !problems.empty()) {
    return error_reply(400, problems_text(problems));
  }
  const LawfulPlan made = plan_for(cluster, *rules, std::move(asks), board.now(), tools);
  if (!made.plan) return error_reply(400, problems_text(made.problems));
  return {.content_type = "application/json",
          .body = with_notes(unread_notes(request.body, *read.loaded),
                             plan_page_json(*made.plan, cluster, rules->configuration))};
}

// ---- Why ----------------------------------------------------------------------------------------

namespace {

HttpReply text_reply(std::string_view text) {
  std::string body;
  JsonWriter writer(body, JsonStyle::compact);
  writer.begin_object();
  writer.string_field("text", text);
  writer.end_object();
  return {.content_type = "application/json", .body = std::move(body)};
}

bool is_pending(const AskName& ask, const Cluster& cluster) {
  if (ask.kind != AskKind::pod) return is_there(ask, cluster);
  const auto pod = cluster.find_pod(ask.namespace_name, ask.name);
  return pod && cluster.pending_pods().contains(*pod);
}

/// What the last preemptions did to it, oldest first.
std::string evictions_text(const AskName& ask, const server::Board& board) {
  const std::string name = ask.kind == AskKind::session
                               ? ask_text(ask)
                               : fmt::format("{}/{}", ask.namespace_name, ask.name);
  std::string text;
  for (const server::SeenPreemption& seen : board.preemptions()) {
    for (const ReportedVictim& victim : seen.victims) {
      if (victim.name != name) continue;
      text.insert(0, fmt::format("{}: evicted from {} for {}: {}\n", to_text(seen.when),
                                 victim.node, seen.ask, victim.reason));
    }
  }
  return text;
}

constexpr std::string_view journal_hint =
    "This run keeps no journal; with --journal FILE the whole history would be shown here.\n";

}  // namespace

HttpReply why_now(const HttpRequest& request, const server::Board& board, const PlanTools& tools) {
  const std::string written = server::query_value(request.query, "object").value_or("");
  const Result<WrittenAsk> subject = parse_ask(written);
  if (!subject) {
    return error_reply(400, fmt::format("'{}': {}", shorten(written), subject.error().message));
  }
  const AskName ask = resolve_ask(*subject, board.cluster());
  std::string text = evictions_text(ask, board);
  if (is_pending(ask, board.cluster())) {
    const UsedRules rules{.configuration = board.configuration(), .preset = board.preset()};
    const LawfulPlan made = plan_for(board.cluster(), rules, {ask}, board.now(), tools);
    text += made.plan ? plan_text(*made.plan, {.explain = true,
                                               .palette = Palette(false),
                                               .cluster = &board.cluster(),
                                               .configuration = &rules.configuration})
                      : problems_text(made.problems);
  } else if (const auto pod = board.cluster().find_pod(ask.namespace_name, ask.name);
             pod && ask.kind == AskKind::pod) {
    const NodeIndex node = board.cluster().pods().node[*pod];
    text += node.exists() ? fmt::format("{} is on {}.\n", ask_text(ask),
                                        board.cluster().text(board.cluster().nodes().name[node]))
                          : fmt::format("{} is leaving.\n", ask_text(ask));
  } else if (text.empty()) {
    return error_reply(404,
                       fmt::format("there is no {} in the cluster; {}", shorten(ask_text(ask), 120),
                                   near_misses(ask, board.cluster(), board.now())));
  }
  return text_reply(printable_lines(text + "\n" + std::string(journal_hint)));
}

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
                                   const server::QuestionThread::IsOver& is_unwanted) {
    return look_back->why(request, is_unwanted);
  };
  tools.history = [look_back](const server::HttpRequest& /*request*/,
                              const server::QuestionThread::IsOver& is_unwanted) {
    return look_back->cycles(is_unwanted);
  };
  tools.at = [look_back](const server::HttpRequest& request,
                         const server::QuestionThread::IsOver& is_unwanted) {
    return look_back->cycle(request, is_unwanted);
  };
  return tools;
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
  ListenOptions options;
  if (const auto text = arguments.given("listen")) {
    auto address = server::parse_listen_address(*text);
    if (!address) return wrong_usage(fmt::format("--listen {}", address.error().message));
    options.address = *std::move(address);
  }
  for (const std::string_view flag : {"token-file", "tls-cert", "tls-key"}) {
    const auto path = arguments.given(flag);
    if (path && !options.address)
      return wrong_usage(fmt::format("--{} is for --listen ADDRESS:PORT", flag));
    if (path && path->empty()) return wrong_usage(fmt::format("--{} '': expected a file", flag));
  }
  if (const auto path = arguments.given("token-file")) {
    auto token = read_token(std::string(*path));
    if (!token) return wrong_usage(token.error().message);
    options.token = *std::move(token);
  }
  if (arguments.has("tls-cert") != arguments.has("tls-key")) {
    return wrong_usage("give --tls-cert FILE and --tls-key FILE together, or neither");
  }
  if (!arguments.has("tls-cert")) return options;
  options.tls = {.certificate = std::string(arguments.text("tls-cert")),
                 .key = std::string(arguments.text("tls-key"))};
  if (auto keys = server::TlsKeys::read(options.tls); !keys)
    return wrong_usage(keys.error().message);
  return options;
}

Result<std::string> read_token(const std::string& path) {
  const auto wrong = [&](std::string_view what) {
    return wrong_usage(fmt::format("--token-file {}: {}", printable(path), what));
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

HttpReply LookBack::why(const HttpRequest& request,
                        const server::QuestionThread::IsOver& is_unwanted) const {
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

HttpReply LookBack::cycles(const server::QuestionThread::IsOver& is_unwanted) {
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

HttpReply LookBack::cycle(const HttpRequest& request,
                          const server::QuestionThread::IsOver& is_unwanted) {
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
