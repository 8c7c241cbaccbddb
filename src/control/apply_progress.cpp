#include "control/apply_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace makeway {
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
  news_.push_back({.kind = ApplyNews::Kind::dropped,
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
    news_.push_back({.kind = ApplyNews::Kind::done, .ask = at});
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
  // Brakes begin without any allowance: the first moment is no news.
  const bool is_news =
      state.reported != reason && (!receipt.ends_by_itself() || state.reason == reason);
  state.reason = reason;
  if (is_news) {
    state.reported = reason;
    news_.push_back({.kind = ApplyNews::Kind::held_up, .ask = *at, .reason = reason});
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
  ApplyNews news{.kind = ApplyNews::Kind::binds, .ask = at};
  if (ask.outcome == Outcome::preempts) {
    news.kind = ApplyNews::Kind::evicts;
    const ObjectRef own = ref_of(asks_[at].name);
    for (const PlanAction& action : plan.actions) {
      if (action.type != ActionType::evict || action.ask != own) continue;
      const std::string pod = fmt::format("{}/{}", action.namespace_name, action.name);
      if (state.evicted.insert(pod).second) news.pods.push_back(pod);
    }
  } else if (ask.outcome == Outcome::waits) {
    news.kind = ApplyNews::Kind::waits;
    for (const PodPlacement& leaving : ask.waits_for) {
      news.pods.push_back(fmt::format("{}/{}", leaving.namespace_name, leaving.name));
    }
    news.reason = ask.reason;
  }
  state.was_nominated = state.was_nominated || ask.outcome != Outcome::fits;
  const bool is_repeated = news.kind == ApplyNews::Kind::waits && state.reason == ask.reason;
  if (news.kind == ApplyNews::Kind::waits) state.reason = ask.reason;
  if (!is_repeated) news_.push_back(std::move(news));
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
