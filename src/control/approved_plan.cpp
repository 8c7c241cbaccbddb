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
    return is_left_out(plan.left_out, ask.name) ? std::string{} : "it is not pending any more";
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
    if (is_left_out(request.left_out, ask.name)) continue;
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

// ---- Progress -----------------------------------------------------------------------------------

namespace {

/// Whether the pod, or its group, is due in this cycle.
bool is_due(const PlanRequest& request, const Cluster& cluster, const ApprovedAsk& ask) {
  if (std::ranges::find(request.asks, ask.name) != request.asks.end()) return true;
  return std::ranges::any_of(ask.places, [&](const ApprovedPod& place) {
    const auto index = cluster.find_pod(place.namespace_name, place.name);
    if (!index) return false;
    const Unit& unit = cluster.units()[cluster.pods().unit[*index]];
    if (unit.kind != UnitKind::group) return false;
    const AskName group{.kind = AskKind::pod_group,
                        .namespace_name = place.namespace_name,
                        .name = std::string(cluster.text(cluster.groups()[unit.group].name))};
    return std::ranges::find(request.asks, group) != request.asks.end();
  });
}

}  // namespace

ApplyProgress::ApplyProgress(std::vector<ApprovedAsk> asks, DecideFunction decide)
    : asks_(std::move(asks)), decide_(std::move(decide)), states_(asks_.size()) {}

std::vector<std::size_t> ApplyProgress::due(const PlanRequest& request,
                                            const Cluster& cluster) const {
  std::vector<std::size_t> due_asks;
  for (std::size_t at = 0; at < asks_.size(); ++at) {
    if (states_[at].stage == ApplyStage::open && is_due(request, cluster, asks_[at])) {
      due_asks.push_back(at);
    }
  }
  return due_asks;
}

Decision ApplyProgress::decide(const Cluster& cluster, const Configuration& configuration,
                               const PlanRequest& request) {
  ApprovedAnswer answer =
      decide_approved(cluster, configuration, request, asks_, due(request, cluster), decide_);
  for (auto& [at, why] : answer.dropped) drop(at, std::move(why));
  return std::move(answer.decision);
}

void ApplyProgress::drop(std::size_t ask, std::string reason) {
  ApplyState& state = states_[ask];
  if (state.stage != ApplyStage::open) return;
  state.stage = ApplyStage::dropped;
  state.reason = reason;
  if (state.was_nominated) withdrawn_.push_back(ask);
  events_.push_back({.kind = ApplyEvent::Kind::dropped,
                     .ask = ask,
                     .pods = {state.evicted.begin(), state.evicted.end()},
                     .reason = std::move(reason)});
}

void ApplyProgress::look(const Cluster& cluster, const InFlight& in_flight) {
  for (std::size_t at = 0; at < asks_.size(); ++at) {
    if (states_[at].stage != ApplyStage::open) continue;
    const std::vector<ApprovedPod>& places = asks_[at].places;
    const bool is_sending = std::ranges::any_of(places, [&](const ApprovedPod& place) {
      return in_flight.has_pod(place.namespace_name, place.name);
    });
    if (is_sending) continue;
    if (std::string why = why_stale(cluster, {}, asks_[at]); !why.empty()) {
      drop(at, std::move(why));
      continue;
    }
    const bool all_run = std::ranges::all_of(places, [&](const ApprovedPod& place) {
      return fate_of(cluster, place) == PodFate::runs_there;
    });
    if (!all_run) continue;
    states_[at].stage = ApplyStage::done;
    states_[at].reason.clear();
    events_.push_back({.kind = ApplyEvent::Kind::done, .ask = at});
  }
}

bool ApplyProgress::is_over() const {
  return std::ranges::none_of(
      states_, [](const ApplyState& state) { return state.stage == ApplyStage::open; });
}

std::optional<std::size_t> ApplyProgress::position_of(const AskName& ask) const {
  const auto found = std::ranges::find(asks_, ask, &ApprovedAsk::name);
  if (found == asks_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - asks_.begin());
}

// ---- What the loop reports ----------------------------------------------------------------------

void ApplyProgress::batch(const AppliedBatch& batch, const Cluster& /*cluster*/) {
  for (const Receipt& receipt : batch.receipts) note_refusal(receipt);
}

std::optional<std::size_t> ApplyProgress::ask_of(const Receipt& receipt) const {
  for (std::size_t at = 0; at < asks_.size(); ++at) {
    if (receipt.ask && *receipt.ask == ref_of(asks_[at].name)) return at;
    const auto is_own = [&](const ApprovedPod& place) {
      return pod_ref(place.namespace_name, place.name) == receipt.object;
    };
    if (!receipt.ask && std::ranges::any_of(asks_[at].places, is_own)) return at;
  }
  return std::nullopt;
}

void ApplyProgress::note_refusal(const Receipt& receipt) {
  const auto at = ask_of(receipt);
  if (!at || states_[*at].stage != ApplyStage::open) return;
  ApplyState& state = states_[*at];
  const std::string reason =
      fmt::format("{}: {}", ref_and_plane_text(receipt.object), receipt.reason);
  // The allowances of brakes are empty at the start, so the first refusal is not reported.
  const bool is_news =
      state.reported != reason && (!receipt.ends_by_itself() || state.reason == reason);
  state.reason = reason;
  if (is_news) {
    state.reported = reason;
    events_.push_back({.kind = ApplyEvent::Kind::held_up, .ask = *at, .reason = reason});
  }
  if (receipt.ends_by_itself()) return;
  state.refused.insert(receipt.plan);
  if (state.refused.size() < refusals_max) return;
  drop(*at, fmt::format("the cluster has refused it {} times, at last {}", refusals_max, reason));
}

void ApplyProgress::cycle(const MadeCycle& cycle, const Cluster& cluster) {
  const LawfulPlan& made = cycle.made;
  if (!made.plan || !made.plan->withheld.empty()) {
    std::string why = made.plan ? made.plan->withheld : std::string("no plan could be made");
    if (!made.problems.empty()) why = made.problems.begin()->message;
    has_seen_bug_ = has_seen_bug_ || made.shows_bug();
    const PlanRequest request{.asks = {cycle.due.begin(), cycle.due.end()}};
    for (const std::size_t at : due(request, cluster)) drop(at, why);
    return;
  }
  for (const PlanLeftOut& left : made.plan->left_out) {
    has_seen_bug_ = true;
    const auto at =
        position_of({.kind = left.kind, .namespace_name = left.namespace_name, .name = left.name});
    if (at) drop(*at, fmt::format("a bug of Makeway: {}", left.reason));
  }
  for (const PlanAsk& ask : made.plan->asks) {
    if (const auto at = position_of(ask_name_of(ask))) note_sent(*made.plan, ask, *at);
  }
}

void ApplyProgress::note_sent(const Plan& plan, const PlanAsk& ask, std::size_t at) {
  ApplyState& state = states_[at];
  ApplyEvent event{.kind = ApplyEvent::Kind::binds, .ask = at};
  if (ask.outcome == Outcome::preempts) {
    event.kind = ApplyEvent::Kind::evicts;
    const ObjectRef own = ref_of(asks_[at].name);
    for (const PlanAction& action : plan.actions) {
      if (action.type != ActionType::evict || action.ask != own) continue;
      const std::string pod = fmt::format("{}/{}", action.namespace_name, action.name);
      if (state.evicted.insert(pod).second) event.pods.push_back(pod);
    }
  } else if (ask.outcome == Outcome::waits) {
    event.kind = ApplyEvent::Kind::waits;
    for (const PodPlacement& leaving : ask.waits_for) {
      event.pods.push_back(fmt::format("{}/{}", leaving.namespace_name, leaving.name));
    }
    event.reason = ask.reason;
  }
  state.was_nominated = state.was_nominated || ask.outcome != Outcome::fits;
  const bool is_repeated = event.kind == ApplyEvent::Kind::waits && state.reason == ask.reason;
  if (event.kind == ApplyEvent::Kind::waits) state.reason = ask.reason;
  if (!is_repeated) events_.push_back(std::move(event));
}

std::optional<Plan> ApplyProgress::take_withdrawn(Time now) {
  if (withdrawn_.empty()) return std::nullopt;
  Plan plan;
  plan.now = now;
  for (const std::size_t at : std::exchange(withdrawn_, {})) {
    PlanAsk& ask = plan.asks.emplace_back();
    ask.kind = asks_[at].name.kind;
    ask.namespace_name = asks_[at].name.namespace_name;
    ask.name = asks_[at].name.name;
    ask.outcome = Outcome::not_found;
    ask.reason = states_[at].reason;
  }
  return plan;
}

}  // namespace makeway
