#include "cli/plan/plan_filter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>

#include "cli/text.hpp"
#include "model/knobs.hpp"
#include "model/queue_membership.hpp"

namespace makeway::cli {
namespace {

/// Which pods and groups are in the queue that is asked for.
class QueueMatch {
 public:
  QueueMatch(const std::string& queue, const Cluster& cluster, const Configuration& configuration)
      : queue_(queue), cluster_(cluster), membership_(cluster, configuration) {
    const ObjectMap<Queue>& queues = cluster.own<Queue>();
    const auto found =
        std::ranges::find_if(queues, [&](const auto& item) { return item.second.name == queue; });
    if (found == queues.end()) return;
    wanted_ = QueueRow{static_cast<std::uint32_t>(std::distance(queues.begin(), found))};
  }

  bool meets(const PlanAsk& ask) const {
    if (ask.kind == AskKind::queue) return ask.name == queue_;
    if (ask.kind == AskKind::pod_group) {
      const auto group = cluster_.find_group(ask.namespace_name, ask.name, ask.plane);
      return group && is_wanted(membership_.of(cluster_.groups()[*group].unit));
    }
    return ask.kind == AskKind::pod && pod_meets(ask.namespace_name, ask.name, ask.plane);
  }
  bool pod_meets(std::string_view namespace_name, std::string_view name,
                 std::string_view plane) const {
    const auto pod = cluster_.find_pod(namespace_name, name, plane);
    return pod && is_wanted(membership_.of(*pod));
  }

 private:
  bool is_wanted(QueueRow row) const { return row.exists() && row == wanted_; }

  const std::string& queue_;
  const Cluster& cluster_;
  QueueMembership membership_;
  QueueRow wanted_;
};

bool meets_namespace(const PlanAsk& ask, std::string_view wanted) {
  if (ask.namespace_name == wanted) return true;
  const auto in_claims = [&](const PlanReplicaClaim& claim) {
    return std::ranges::find(claim.victims, wanted, &PlanReplicaVictim::namespace_name) !=
           claim.victims.end();
  };
  return std::ranges::find(ask.victims, wanted, &PlanVictim::namespace_name) != ask.victims.end() ||
         std::ranges::find(ask.waits_for, wanted, &PodPlacement::namespace_name) !=
             ask.waits_for.end() ||
         (ask.replicas && std::ranges::any_of(ask.replicas->claims, in_claims));
}

bool meets_node(const PlanAsk& ask, std::string_view wanted) {
  const auto on_it = [&](const auto& list) {
    return std::ranges::any_of(list, [&](const auto& item) { return item.node == wanted; });
  };
  const auto session_there = [&](const PlanSessionVictim& victim) {
    return std::ranges::find(victim.nodes, wanted) != victim.nodes.end();
  };
  return on_it(ask.placements) || on_it(ask.victims) || on_it(ask.waits_for) ||
         (ask.reservation && ask.reservation->node == wanted) ||
         (ask.replicas && on_it(ask.replicas->claims)) ||
         (ask.session && std::ranges::any_of(ask.session->victims, session_there));
}

bool meets_queue(const PlanAsk& ask, const QueueMatch& queue) {
  if (queue.meets(ask)) return true;
  const auto in_it = [&](const auto& pod) {
    return queue.pod_meets(pod.namespace_name, pod.name, pod.plane);
  };
  return std::ranges::any_of(ask.victims, in_it) || std::ranges::any_of(ask.waits_for, in_it);
}

Problem unknown_name(std::string_view flag, const std::string& value, std::string_view message,
                     const std::set<std::string_view>& names) {
  const std::vector<std::string_view> list(names.begin(), names.end());
  const std::string_view nearest = nearest_of(list, value);
  return {.field = std::string(flag),
          .value = value,
          .message = std::string(message),
          .remedy = nearest.empty() ? std::string{} : fmt::format("did you mean {}?", nearest)};
}

std::set<std::string_view> namespaces_of(const Cluster& cluster) {
  std::set<StringId> ids;
  for (const PodIndex pod : cluster.each_pod()) ids.insert(cluster.pods().namespace_name[pod]);
  std::set<std::string_view> names;
  for (const StringId id : ids) names.insert(cluster.text(id));
  for (const Namespace* const each : cluster.namespaces()) names.insert(each->name);
  for (const auto& [key, session] : cluster.own<Session>()) names.insert(session.namespace_name);
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
    names.insert(schedule.namespace_name);
  }
  return names;
}

}  // namespace

Result<std::vector<Outcome>> parse_outcomes(std::string_view text) {
  constexpr auto& names = choice_names<Outcome>;
  std::vector<Outcome> outcomes;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    const auto found = std::ranges::find(names, word);
    if (found == names.end()) {
      return std::unexpected(
          Error{.code = ErrorCode::fix_usage,
                .message = fmt::format("expected some of {}, with commas{}", fmt::join(names, ", "),
                                       did_you_mean(names, word))});
    }
    outcomes.push_back(static_cast<Outcome>(found - names.begin()));
    if (comma == std::string_view::npos) return outcomes;
    text.remove_prefix(comma + 1);
  }
}

Problems filter_problems(const PlanFilter& filter, const Cluster& cluster) {
  Problems problems;
  if (!filter.node.empty()) {
    std::set<std::string_view> names;
    for (const NodeIndex node : cluster.nodes_by_name()) {
      names.insert(cluster.text(cluster.nodes().name[node]));
    }
    if (!names.contains(filter.node)) {
      problems.push_back(unknown_name("--node", filter.node, "there is no such node", names));
    }
  }
  if (!filter.namespace_name.empty()) {
    const std::set<std::string_view> names = namespaces_of(cluster);
    if (!names.contains(filter.namespace_name)) {
      problems.push_back(unknown_name("--namespace", filter.namespace_name,
                                      "nothing is in this namespace", names));
    }
  }
  if (!filter.queue.empty()) {
    std::set<std::string_view> names;
    for (const auto& [key, queue] : cluster.own<Queue>()) names.insert(queue.name);
    if (!names.contains(filter.queue)) {
      problems.push_back(unknown_name("--queue", filter.queue, "there is no such Queue", names));
    }
  }
  return problems;
}

std::string filter_text(const PlanFilter& filter) {
  std::vector<std::string> parts;
  if (!filter.outcomes.empty()) {
    std::vector<std::string_view> names;
    names.reserve(filter.outcomes.size());
    for (const Outcome outcome : filter.outcomes) names.push_back(choice_name(outcome));
    parts.push_back(fmt::format("outcome {}", fmt::join(names, " or ")));
  }
  const auto part = [&](std::string_view what, const std::string& value) {
    if (!value.empty()) parts.push_back(fmt::format("{} {}", what, shorten(value)));
  };
  part("namespace", filter.namespace_name);
  part("node", filter.node);
  part("queue", filter.queue);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<const PlanAsk*> filtered(const Plan& plan, const PlanFilter& filter,
                                     const Cluster& cluster, const Configuration& configuration) {
  std::optional<QueueMatch> queue;
  if (!filter.queue.empty()) queue.emplace(filter.queue, cluster, configuration);
  std::vector<const PlanAsk*> shown;
  for (const PlanAsk& ask : plan.asks) {
    const bool outcome_met =
        filter.outcomes.empty() ||
        std::ranges::find(filter.outcomes, ask.outcome) != filter.outcomes.end();
    if (!outcome_met) continue;
    if (!filter.namespace_name.empty() && !meets_namespace(ask, filter.namespace_name)) continue;
    if (!filter.node.empty() && !meets_node(ask, filter.node)) continue;
    if (queue && !meets_queue(ask, *queue)) continue;
    shown.push_back(&ask);
  }
  return shown;
}

}  // namespace makeway::cli
