#include "policies/decide.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/contain.hpp"
#include "policies/registry.hpp"
#include "policies/shared/recheck.hpp"

namespace makeway {
namespace {

using Policies = std::vector<std::unique_ptr<Policy>>;

/// Asks that cross regimes come first; then by priority, creation, wave and name. An ask without a
/// pod comes last, as its policy has listed it.
void sort_by_turn(const Cluster& cluster, std::vector<AskTurn>& turns) {
  const auto name = [&](const AskTurn& turn) {
    return std::pair(cluster.text(cluster.pods().namespace_name[turn.pod]),
                     cluster.pods().name[turn.pod.value]);
  };
  const auto before = [&](const AskTurn& a, const AskTurn& b) {
    if (a.crosses != b.crosses) return a.crosses;
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.created != b.created) return a.created < b.created;
    if (!a.pod.exists() || !b.pod.exists()) return a.pod.exists() && !b.pod.exists();
    const std::int32_t wave_a = wave_of(cluster, a.pod);
    const std::int32_t wave_b = wave_of(cluster, b.pod);
    return wave_a != wave_b ? wave_a < wave_b : name(a) < name(b);
  };
  if (!std::ranges::is_sorted(turns, before)) std::ranges::stable_sort(turns, before);
}

/// Of pods and groups; sessions, schedules and queues have no profile.
UnitIndex unit_of(const Cluster& cluster, const AskTurn& turn) {
  if (!turn.pod.exists() || cluster.pods().flags[turn.pod].kernel) return {};
  return cluster.pods().unit[turn.pod];
}

/// Makes the policies of one stage, and lets their asks take turns. `owners`: whose asks the
/// entries of the plan are.
std::optional<Problem> run_stage(Stage stage, const PolicyContext& context, Policies& made,
                                 std::vector<Policy*>& owners) {
  std::vector<AskTurn> turns;
  for (const PolicyRow& row : policies()) {
    if (row.stage != stage) continue;
    std::unique_ptr<Policy> policy = row.make(context);
    if (!policy) continue;
    made.push_back(std::move(policy));
    if (auto problem = made.back()->collect_turns(turns)) return problem;
  }
  World& world = context.draft.world;
  Plan& plan = context.draft.plan;
  sort_by_turn(world.cluster(), turns);
  plan.asks.reserve(plan.asks.size() + turns.size());
  for (const AskTurn& turn : turns) {
    if (world.limits() != nullptr) world.limits()->turn_to(turn.limited, turn.member);
    const std::size_t before = plan.asks.size();
    world.turn_to(unit_of(world.cluster(), turn));
    turn.policy->decide(turn);
    for (PlanAsk& ask : std::span(plan.asks).subspan(before)) ask.profile = world.profile();
    owners.resize(plan.asks.size(), turn.policy);
  }
  world.turn_to({});
  context.deciding.end();
  return std::nullopt;
}

void finish(const Draft& draft, const Policies& made, std::span<Policy* const> owners) {
  Plan& plan = draft.plan;
  for (const std::unique_ptr<Policy>& policy : made) policy->close();
  std::size_t victims = 0;
  for (const PlanAsk& ask : plan.asks) victims += ask.victims.size();
  plan.actions.reserve(plan.asks.size() + victims);
  plan.status.reserve(plan.asks.size() + victims);
  Losses losses(draft.world);
  for (std::size_t at = 0; at < owners.size(); ++at) {
    owners[at]->finish(plan.asks[at], losses);
    // Losses count pods and groups; the victims of a session or a schedule have no other ask.
    const PlanAsk& ask = plan.asks[at];
    if (ask.session || ask.replicas) plan.cost = sum(plan.cost, ask.cost);
  }
  losses.close();
  plan.cost = sum(plan.cost, losses.total());
}

Decision decide_once(const Cluster& cluster, const Configuration& configuration,
                     const PlanRequest& request, Deciding& deciding) {
  Asking asking;
  if (auto problem = find_asking(cluster, configuration, request, asking)) {
    return {{}, {*std::move(problem)}};
  }
  World world(cluster, configuration, request.now);
  Plan plan;
  plan.now = request.now;
  plan.preset = request.preset;
  plan.configuration_hash = request.configuration_hash.empty() ? configuration_hash(configuration)
                                                               : request.configuration_hash;
  plan.laws_waived = configuration.engine.laws_waived;
  plan.others_pending = asking.others;
  plan.left_out = request.left_out;
  Draft draft{.world = world, .plan = plan, .explain = request.explain};
  const PolicyContext context{
      .draft = draft, .request = request, .asking = asking, .deciding = deciding};
  Policies made;
  std::vector<Policy*> owners;
  for (const Stage stage : {Stage::before_asks, Stage::asks, Stage::after_asks}) {
    if (auto problem = run_stage(stage, context, made, owners)) {
      return {{}, {*std::move(problem)}};
    }
  }
  finish(draft, made, owners);
  const std::optional<Time> recheck_at = find_recheck(cluster, configuration, plan);
  return {.plan = std::move(plan), .problems = {}, .recheck_at = recheck_at};
}

}  // namespace

Decision decide(const Cluster& cluster, const Configuration& configuration,
                const PlanRequest& request) {
  return decide_watched(cluster, configuration, request, {});
}

Decision decide_watched(const Cluster& cluster, const Configuration& configuration,
                        const PlanRequest& request,
                        const std::function<void(const AskName&)>& watcher) {
  Deciding deciding(cluster, watcher);
  if (!request.contain) return decide_once(cluster, configuration, request, deciding);
  PlanRequest again = request;
  while (true) {
    Decision decision;
    std::optional<std::string> failure =
        failure_of([&] { decision = decide_once(cluster, configuration, again, deciding); });
    if (!failure) return decision;
    const std::size_t before = again.left_out.size();
    for (const AskName& ask : deciding.current_asks()) {
      if (is_left_out(again, ask)) continue;
      again.left_out.push_back({.kind = ask.kind,
                                .namespace_name = ask.namespace_name,
                                .name = ask.name,
                                .reason = *failure});
    }
    // No ask is left to leave out.
    if (again.left_out.size() == before) {
      return {.plan = {}, .problems = {}, .failure = *std::move(failure)};
    }
    deciding.end();
  }
}

}  // namespace makeway
