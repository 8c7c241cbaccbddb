// The default preset with `evictFor: all` is never worse than kube-scheduler 1.37.1 when a group
// asks (SPEC section 2): wherever kube-scheduler's own answer keeps our laws, ours costs as much or
// less. Both are scored by NaiveScore, which knows nothing of the search.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "codec/load.hpp"
#include "codec/presets.hpp"
#include "judge/naive_claims.hpp"
#include "support/peer_answer.hpp"
#include "support/scored_answer.hpp"
#include "support/vector_file.hpp"

namespace makeway {
namespace {

/// kube-scheduler's answer as we would have written it; without a place: it has none.
Plan plan_of_peer(const Cluster& cluster, const Configuration& configuration, const PlanAsk& ours,
                  const JsonValue& expect, Time now) {
  PlanAsk entry{.kind = AskKind::pod_group,
                .namespace_name = ours.namespace_name,
                .name = ours.name,
                .priority = ours.priority,
                .outcome = Outcome::not_found,
                .placements = placements_of(expect)};
  const std::string& outcome = *expect.find("outcome")->as_string();
  if (outcome == "fits") entry.outcome = Outcome::fits;
  if (outcome == "preempts") {
    entry.outcome = Outcome::preempts;
    entry.victims = plan_victims(cluster, configuration, victims_of(cluster, expect), now);
  }
  Plan plan{.now = now};
  plan.asks.push_back(std::move(entry));
  return plan;
}

/// Whether a pending pod claims something that Makeway names and does not check.
bool has_unchecked_needs(const Cluster& cluster) {
  const NaiveWorld world(cluster);
  bool any = false;
  for (const PodIndex pod : cluster.each_row()) {
    any = any || (!world.where(pod).exists() &&
                  NaiveClaims(world, pod).refusal_everywhere() == RefusalReason::unsupported);
  }
  return any;
}

void compare_case(const VectorCase& item, const Configuration& configuration, PeerTally& tally) {
  const LoadResult input = load_text(json_text(item.snapshot()), item.id);
  ASSERT_TRUE(input.loaded.has_value());
  const Cluster& cluster = input.loaded->cluster;
  const Time now = newest_time(cluster);
  const Decision decision = decide(cluster, configuration,
                                   {.now = now,
                                    .preset = std::string(default_preset),
                                    .asks = {ask_name(AskKind::pod_group, item.text("ask"))},
                                    .placements = {},
                                    .explain = false});
  ASSERT_TRUE(decision.plan.has_value());
  const PlanAsk& ours = decision.plan->asks.front();
  const Plan peer = plan_of_peer(cluster, configuration, ours, item.expect(), now);
  const PlanAsk& theirs = peer.asks.front();
  ++tally.cases;
  if (has_unchecked_needs(cluster)) {
    EXPECT_EQ(ours.outcome, Outcome::not_found) << ours.reason;
    ++tally.left_out["a claim is refused by name"];
    return;
  }
  // Where a group fits, the vectors do not say where.
  const bool places_known = theirs.outcome != Outcome::fits;
  const auto breach = places_known ? breach_of(cluster, configuration, peer) : std::nullopt;
  if (breach) {
    ++tally.left_out[fmt::format("law {} is broken", breach->law)];
    return;
  }
  const ScoredAnswer our_cost = cost_of(cluster, configuration, ours, now);
  const ScoredAnswer their_cost = cost_of(cluster, configuration, theirs, now);
  const int order = compared(our_cost, their_cost);
  if (order > 0) {
    tally.worse.push_back(fmt::format("{}\nours {}\n{}\nkube {}\n{}", item.id,
                                      places_and_victims(ours), text(our_cost),
                                      places_and_victims(theirs), text(their_cost)));
  }
  const bool no_plan = order == 0 && our_cost.kind == CostKind::no_plan;
  if (no_plan) ++tally.left_out["neither has a plan"];
  if (order == 0 && !no_plan) ++tally.equal;
  if (order < 0) ++tally.better_on[decided_on(our_cost, their_cost)];
}

class NeverWorseGroups : public testing::TestWithParam<const char*> {};

TEST_P(NeverWorseGroups, ThanKubeScheduler) {
  Configuration configuration = *load_preset(default_preset);
  configuration.engine.cascade_depth = 0;  // What follows from a plan is not kube-scheduler's care.
  configuration.workload.evict_for = EvictFor::all;
  PeerTally tally;
  const std::string file = fmt::format("kube-1.37/group-{}.jsonl.gz", GetParam());
  for_each_vector(file, [&](const VectorCase& item) { compare_case(item, configuration, tally); });
  tally.print(file);
  EXPECT_TRUE(tally.worse.empty()) << fmt::format("{}", fmt::join(tally.worse, "\n"));
  EXPECT_GT(tally.equal + tally.better(), tally.cases / 8);
}

INSTANTIATE_TEST_SUITE_P(All, NeverWorseGroups,
                         testing::Values("basic", "full", "large", "volumes"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace makeway
