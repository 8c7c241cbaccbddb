// Preset kube-1.37 against kube-scheduler 1.37.1's own code when a group asks (SPEC section 2).
//
// Its placements come from floating-point scores that are not worth reproducing. So the outcome is
// compared with a plan of our own placements, and the victims with a plan that takes its placements
// as given. Known differences of the outcome are listed with their reasons.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/load.hpp"
#include "codec/presets.hpp"
#include "judge/check_plan.hpp"
#include "policies/decide.hpp"
#include "support/peer_answer.hpp"
#include "support/vector_file.hpp"

namespace makeway {
namespace {

struct Tally {
  std::int64_t outcomes = 0;
  std::vector<std::string> other_outcomes;  ///< "group-basic-7: fits, here infeasible"
};

Plan plan_for(const Cluster& cluster, const Configuration& configuration, const AskName& ask,
              std::vector<PodPlacement> placements) {
  const Decision decision = decide(cluster, configuration,
                                   {.now = newest_time(cluster),
                                    .preset = "kube-1.37",
                                    .asks = {ask},
                                    .placements = std::move(placements)});
  for (const Problem& problem : decision.problems) ADD_FAILURE() << problem.message;
  if (!decision.plan) return {};
  for (const LawBreach& breach : check_plan(cluster, configuration, *decision.plan)) {
    ADD_FAILURE() << "law " << breach.law << ": " << breach.text;
  }
  return *decision.plan;
}

void compare_case(const VectorCase& item, const Configuration& configuration, Tally& tally) {
  const LoadResult input = load_text(json_text(item.snapshot()), item.id);
  ASSERT_TRUE(input.loaded.has_value());
  const Cluster& cluster = input.loaded->cluster;
  const AskName ask = ask_name(AskKind::pod_group, item.text("ask"));
  const JsonValue& expect = item.expect();
  const std::string& outcome = *expect.find("outcome")->as_string();
  const Plan free = plan_for(cluster, configuration, ask, {});
  ASSERT_FALSE(free.asks.empty());
  ++tally.outcomes;
  if (const std::string ours = verdict(free.asks.front().outcome); ours != outcome) {
    tally.other_outcomes.push_back(
        fmt::format("{}: {}, here {} ({})", item.id, outcome, ours, free.asks.front().reason));
  }
  if (outcome != "preempts") return;
  const Plan placed = plan_for(cluster, configuration, ask, placements_of(expect));
  ASSERT_FALSE(placed.asks.empty());
  EXPECT_EQ(victim_keys(placed.asks.front()), sorted_texts(expect.find("victims")))
      << placed.asks.front().reason;
}

TEST(KubeGroups, AgreeWithKubeScheduler) {
  const Configuration configuration = *load_preset("kube-1.37");
  Tally tally;
  for (const std::string_view set : {"basic", "full"}) {
    for_each_vector(fmt::format("kube-1.37/group-{}.jsonl.gz", set), [&](const VectorCase& item) {
      SCOPED_TRACE(item.id);
      compare_case(item, configuration, tally);
    });
  }
  fmt::print("kube-1.37 groups: {} cases, {} with another outcome\n{}\n", tally.outcomes,
             tally.other_outcomes.size(), fmt::join(tally.other_outcomes, "\n"));
  EXPECT_EQ(tally.outcomes, 674);
  EXPECT_LE(tally.other_outcomes.size() * 100, static_cast<std::size_t>(tally.outcomes));
}

}  // namespace
}  // namespace makeway
