#include "control/approved_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "model/profiles.hpp"

namespace makeway {
namespace {

std::string approved_name(const ApprovedPod& pod) {
  return fmt::format("{}/{}", pod.namespace_name, pod.name);
}

bool has_node(const Cluster& cluster, std::string_view node) {
  const auto found = cluster.find_node(node);
  return found && cluster.nodes().flags[*found].exists;
}

/// Of a place; empty: it is pending, or runs where it should.
std::string why_not_placed(const Cluster& cluster, std::span<const std::string> schedulers,
                           const ApprovedPod& place) {
  const auto index = cluster.find_pod(place.namespace_name, place.name);
  switch (fate_of(cluster, place)) {
    case PodFate::runs_there: return {};
    case PodFate::gone: return fmt::format("pod {} is gone", approved_name(place));
    case PodFate::replaced:
      return fmt::format("pod {} is another one of the same name", approved_name(place));
    case PodFate::leaving: return fmt::format("pod {} is being deleted", approved_name(place));
    case PodFate::runs_elsewhere:
      return fmt::format("pod {} runs on {} already, not on {}", approved_name(place),
                         cluster.pod(*index).node, place.node);
    case PodFate::pending: break;
  }
  if (!has_node(cluster, place.node)) return fmt::format("node {} is gone", place.node);
  const std::string_view scheduler = scheduler_of(cluster, *index);
  const bool ours = std::ranges::find(schedulers, scheduler) != schedulers.end();
  if (schedulers.empty() || ours) return {};
  return fmt::format("pod {} is placed by another scheduler ({})", approved_name(place), scheduler);
}

bool is_still_pending(const Cluster& cluster, const ApprovedPod& place) {
  return fate_of(cluster, place) == PodFate::pending;
}

/// The group that the ask is one member of; none: it is a pod for itself, or a group.
std::optional<AskName> group_behind(const Cluster& cluster, const ApprovedAsk& ask) {
  if (ask.name.kind != AskKind::pod) return std::nullopt;
  const auto index = cluster.find_pod(ask.name.namespace_name, ask.name.name);
  if (!index) return std::nullopt;
  const Unit& unit = cluster.units()[cluster.pods().unit[*index]];
  if (unit.kind != UnitKind::group) return std::nullopt;
  const Group& group = cluster.groups()[unit.group];
  return AskName{.kind = AskKind::pod_group,
                 .namespace_name = std::string(cluster.text(group.namespace_name)),
                 .name = std::string(cluster.text(group.name))};
}

std::string why_without_place(const Decision& decision, const ApprovedAsk& ask,
                              const std::set<std::string>& victims) {
  const std::string text = ask_text(ask.name);
  if (!decision.plan) {
    const auto problem = std::ranges::find(decision.problems, text, &Problem::object);
    return problem == decision.problems.end() ? std::string{} : problem->message;
  }
  const Plan& plan = *decision.plan;
  const auto found = std::ranges::find(plan.asks, ask.name, ask_name_of);
  if (found == plan.asks.end()) {
    // An ask that is left out (law 14) is reported by the judge.
    const bool is_left_out = std::ranges::any_of(plan.left_out, [&](const PlanLeftOut& left) {
      return left.kind == ask.name.kind && left.namespace_name == ask.name.namespace_name &&
             left.name == ask.name.name;
    });
    return is_left_out ? std::string{} : std::string("it does not ask any more");
  }
  for (const PlanVictim& victim : found->victims) {
    if (victims.contains(victim.uid)) continue;
    return fmt::format("it would evict {}/{}, which is no victim of the plan",
                       victim.namespace_name, victim.name);
  }
  const bool may_wait = found->waits_until || found->reservation;
  if (!found->placements.empty() || may_wait) return {};
  return fmt::format("{} (places and victims as planned)", found->reason);
}

Decision nothing_to_do(const Configuration& configuration, const PlanRequest& request) {
  Plan plan;
  plan.now = request.now;
  plan.preset = request.preset;
  plan.configuration_hash = request.configuration_hash.empty() ? configuration_hash(configuration)
                                                               : request.configuration_hash;
  plan.laws_waived = configuration.engine.laws_waived;
  plan.left_out = request.left_out;
  return {.plan = std::move(plan)};
}

bool is_left_out_ask(const std::vector<PlanLeftOut>& left_out, const AskName& ask) {
  return std::ranges::any_of(left_out, [&](const PlanLeftOut& left) {
    return left.kind == ask.kind && left.namespace_name == ask.namespace_name &&
           left.name == ask.name;
  });
}

}  // namespace

PodFate fate_of(const Cluster& cluster, const ApprovedPod& pod) {
  const auto index = cluster.find_pod(pod.namespace_name, pod.name);
  if (!index) return PodFate::gone;
  const PodColumns& pods = cluster.pods();
  if (pods.uid[index->value] != pod.uid) return PodFate::replaced;
  if (pods.deletion[*index] != no_time) return PodFate::leaving;
  if (!pods.node[*index].exists()) return PodFate::pending;
  return cluster.find_node(pod.node) == pods.node[*index] ? PodFate::runs_there
                                                          : PodFate::runs_elsewhere;
}

std::string why_stale(const Cluster& cluster, std::span<const std::string> schedulers,
                      const ApprovedAsk& ask) {
  for (const ApprovedPod& place : ask.places) {
    if (std::string why = why_not_placed(cluster, schedulers, place); !why.empty()) return why;
  }
  return {};
}

std::set<std::string> approved_victims(std::span<const ApprovedAsk> asks) {
  std::set<std::string> uids;
  for (const ApprovedAsk& ask : asks) {
    for (const ApprovedPod& victim : ask.victims) uids.insert(victim.uid);
  }
  return uids;
}

std::set<std::string> approved_pods(std::span<const ApprovedAsk> asks) {
  std::set<std::string> pods;
  for (const ApprovedAsk& ask : asks) {
    for (const ApprovedPod& place : ask.places) pods.insert(approved_name(place));
  }
  return pods;
}

ApprovedAnswer decide_approved(const Cluster& cluster, const Configuration& configuration,
                               const PlanRequest& request, std::span<const ApprovedAsk> asks,
                               const std::vector<std::size_t>& positions,
                               const DecideFunction& decide) {
  ApprovedAnswer answer;
  std::vector<std::size_t> turns;
  std::set<AskName> groups;
  for (const std::size_t at : positions) {
    const ApprovedAsk& ask = asks[at];
    if (is_left_out_ask(request.left_out, ask.name)) continue;
    std::string why = why_stale(cluster, request.schedulers, ask);
    if (!why.empty()) {
      answer.dropped[at] = std::move(why);
      continue;
    }
    const auto pending = [&](const ApprovedPod& place) { return is_still_pending(cluster, place); };
    if (std::ranges::none_of(ask.places, pending)) continue;
    turns.push_back(at);
    groups.insert(ask.name);
  }
  // One decision cannot be about a group and about one of its members.
  std::erase_if(turns, [&](std::size_t at) {
    const std::optional<AskName> group = group_behind(cluster, asks[at]);
    return group && groups.contains(*group);
  });
  const std::set<std::string> victims = approved_victims(asks);
  while (!turns.empty()) {
    PlanRequest own = request;
    own.asks.clear();
    own.placements.clear();
    for (const std::size_t at : turns) {
      own.asks.push_back(asks[at].name);
      for (const ApprovedPod& place : asks[at].places) {
        if (!is_still_pending(cluster, place)) continue;
        own.placements.push_back(
            {.namespace_name = place.namespace_name, .name = place.name, .node = place.node});
      }
    }
    answer.decision = decide(cluster, configuration, own);
    const std::size_t lost = std::erase_if(turns, [&](std::size_t at) {
      std::string why = why_without_place(answer.decision, asks[at], victims);
      if (why.empty()) return false;
      answer.dropped[at] = std::move(why);
      return true;
    });
    if (lost == 0) return answer;
  }
  answer.decision = nothing_to_do(configuration, request);
  return answer;
}

}  // namespace makeway
