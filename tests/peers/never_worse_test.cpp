// The default preset is never worse than kube-scheduler 1.37.1 (SPEC section 2): wherever
// kube-scheduler's own answer keeps our laws, ours has a score that is as good or better. Both are
// scored by NaiveScore, which knows nothing of the search.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "codec/load.hpp"
#include "codec/presets.hpp"
#include "engine/score.hpp"
#include "policies/decide.hpp"
#include "support/brute_force.hpp"
#include "support/naive_score.hpp"
#include "support/peer_answer.hpp"
#include "support/vector_file.hpp"

namespace makeway {
namespace {

std::vector<PodIndex> pods_of(const Cluster& cluster, const std::vector<PlanVictim>& victims) {
  std::vector<PodIndex> pods;
  pods.reserve(victims.size());
  for (const PlanVictim& victim : victims) {
    pods.push_back(*cluster.find_pod(victim.namespace_name, victim.name));
  }
  return pods;
}

std::string text(const Cluster& cluster, const std::string& node,
                 const std::vector<PodIndex>& victims, const ScoreTerms& score) {
  std::string result = node + ":";
  for (const PodIndex pod : victims) result += " " + cluster.pod_key(pod);
  for (const ScoreTerm& term : score) {
    result += fmt::format(", {} {}", choice_name(term.key), term.value);
  }
  return result;
}

class Comparison {
 public:
  explicit Comparison(Configuration configuration) : configuration_(std::move(configuration)) {}

  void compare_case(const VectorCase& item) {
    if (*item.expect().find("outcome")->as_string() != "preempts") return;
    const LoadResult input = load_text(json_text(item.snapshot()), item.id);
    ASSERT_TRUE(input.loaded.has_value());
    const Cluster& cluster = input.loaded->cluster;
    const Time now = newest_time(cluster);
    const AskName name = ask_name(AskKind::pod, item.text("ask"));
    const Decision decision =
        decide(cluster, configuration_,
               {.now = now, .preset = "makeway", .asks = {name}, .placements = {}});
    ASSERT_TRUE(decision.plan.has_value());
    compare_answers(cluster, decision.plan->asks.front(), item.expect(), now);
  }

  const PeerTally& tally() const { return tally_; }

 private:
  void compare_answers(const Cluster& cluster, const PlanAsk& ours, const JsonValue& expect,
                       Time now) {
    ++tally_.cases;
    const std::vector<PodIndex> victims = victims_of(cluster, expect);
    const std::string& node = *expect.find("node")->as_string();
    const bool again = std::ranges::any_of(
        victims, [&](PodIndex pod) { return cluster.pods().deletion[pod] != no_time; });
    if (again) {
      ++tally_.left_out["a victim is leaving already"];
      return;
    }
    const PodIndex ask = *cluster.find_pod(ours.namespace_name, ours.name);
    const BrutePlace place{.node = *cluster.find_node(node), .victims = victims};
    if (const auto breach = breach_of(cluster, configuration_, ask, place, now)) {
      ++tally_.left_out[fmt::format("law {} is broken", breach->law)];
      return;
    }
    ASSERT_EQ(choice_name(ours.outcome), "preempts") << ours.reason;
    const NaiveScore scorer(cluster, configuration_, now);
    const std::vector<PodIndex> our_victims = pods_of(cluster, ours.victims);
    const ScoreTerms score = scorer.score(our_victims);
    const ScoreTerms kube_score = scorer.score(victims);
    EXPECT_EQ(score, ours.score);
    const int order = compare(score, kube_score);
    EXPECT_LE(order, 0) << "ours "
                        << text(cluster, ours.placements.front().node, our_victims, score)
                        << "\nkube " << text(cluster, node, victims, kube_score);
    if (order == 0) ++tally_.equal;
    if (order >= 0) return;
    const auto at = std::ranges::mismatch(score, kube_score).in1;
    ++tally_.better_on[std::string(choice_name(at->key))];
  }

  Configuration configuration_;
  PeerTally tally_;
};

class NeverWorse : public testing::TestWithParam<const char*> {};

TEST_P(NeverWorse, ThanKubeScheduler) {
  Configuration configuration = *load_preset(default_preset);
  configuration.engine.cascade_depth = 0;  // What follows from a plan is not kube-scheduler's care.
  Comparison comparison(configuration);
  const std::string file = fmt::format("kube-1.37/pod-{}.jsonl.gz", GetParam());
  for_each_vector(file, [&](const VectorCase& item) { comparison.compare_case(item); });
  const PeerTally& tally = comparison.tally();
  tally.print(file);
  EXPECT_GT(tally.equal + tally.better(), 50U);
}

INSTANTIATE_TEST_SUITE_P(All, NeverWorse, testing::Values("basic", "full", "rich", "volumes"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace makeway
