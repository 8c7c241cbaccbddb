#include "cli/dashboard/what_if.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "cli/plan/ask_name.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/plan/plan_page.hpp"
#include "cli/plan/plan_text.hpp"
#include "cli/problem_text.hpp"
#include "codec/dump.hpp"
#include "codec/json_text.hpp"
#include "codec/load.hpp"
#include "codec/presets.hpp"
#include "codec/source.hpp"
#include "codec/workloads/workload_names.hpp"
#include "codec/writer.hpp"
#include "codec/yaml.hpp"
#include "model/validation/validation.hpp"
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

}  // namespace makeway::cli
