// Preset kube-1.37 against kube-scheduler 1.37.1's own code (SPEC section 2): for every case the
// verdict, the node, the victims, the budget violations, and the same for every candidate node.
// With volumes and claims (docs/input.md) too, except where Makeway says that it does not check;
// those answers are made by kube_volumes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codec/load.hpp"
#include "codec/presets.hpp"
#include "judge/check_plan.hpp"
#include "policies/decide.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/workload/victim_search.hpp"
#include "support/peer_answer.hpp"
#include "support/vector_file.hpp"

namespace makeway {
namespace {

struct NodeAnswer {
  std::vector<std::string> victims;
  std::int64_t budget_violations = 0;

  friend bool operator==(const NodeAnswer&, const NodeAnswer&) = default;
};

void PrintTo(const NodeAnswer& answer, std::ostream* out) {
  *out << fmt::format("{} against budgets, {}", answer.budget_violations,
                      fmt::join(answer.victims, " "));
}

std::map<std::string, NodeAnswer> expected_candidates(const JsonValue& expect) {
  std::map<std::string, NodeAnswer> result;
  const JsonValue* const list = expect.find("candidates");
  if (list == nullptr) return result;
  for (const JsonValue& item : *list->as_array()) {
    result[*item.find("node")->as_string()] = {sorted_texts(item.find("victims")),
                                               *item.find("budgetViolations")->as_integer()};
  }
  return result;
}

std::map<std::string, NodeAnswer> our_candidates(const Cluster& cluster,
                                                 const Configuration& configuration, PodIndex pod) {
  World world(cluster, configuration, newest_time(cluster));
  PodFit fit(world.survey(), world.after(), pod, world.holds());
  VictimSearch search(world, fit, VictimChoiceRule::put_back, nullptr);
  std::map<std::string, NodeAnswer> result;
  for (const NodeIndex node : world.survey().nodes()) {
    const std::optional<Candidate> candidate = search.on_node(node);
    if (!candidate) continue;
    NodeAnswer answer{.victims = {}, .budget_violations = candidate->budget_violations};
    for (const PodIndex victim : candidate->victims.pods) {
      answer.victims.push_back(cluster.pod_key(victim));
    }
    std::ranges::sort(answer.victims);
    result[node_name(cluster, node)] = std::move(answer);
  }
  return result;
}

/// Whether the ask is refused by name: it needs something that Makeway does not check.
bool is_refused_by_name(const PlanAsk& ask) {
  return std::ranges::any_of(ask.explanation.refusals, [](const PlanRefusal& refusal) {
    return refusal.reason == RefusalReason::unsupported;
  });
}

/// `unchecked` counts those that are refused by name.
void compare_case(const VectorCase& item, const Configuration& configuration,
                  std::size_t& unchecked) {
  const LoadResult input = load_text(json_text(item.snapshot()), item.id);
  ASSERT_TRUE(input.loaded.has_value());
  const Cluster& cluster = input.loaded->cluster;
  const AskName name = ask_name(AskKind::pod, item.text("ask"));
  const Decision decision = decide(
      cluster, configuration,
      {.now = newest_time(cluster), .preset = "kube-1.37", .asks = {name}, .placements = {}});
  ASSERT_TRUE(decision.plan.has_value());
  for (const LawBreach& breach : check_plan(cluster, configuration, *decision.plan)) {
    ADD_FAILURE() << "law " << breach.law << ": " << breach.text;
  }
  const PlanAsk& ask = decision.plan->asks.front();
  if (is_refused_by_name(ask)) {
    ++unchecked;
    return;
  }
  const JsonValue& expect = item.expect();
  const std::string& outcome = *expect.find("outcome")->as_string();
  ASSERT_EQ(verdict(ask.outcome), outcome) << ask.reason;
  if (outcome == "fits") {
    const std::vector<std::string> nodes = sorted_texts(expect.find("fitsNodes"));
    EXPECT_TRUE(std::ranges::binary_search(nodes, ask.placements.front().node));
    EXPECT_EQ(ask.explanation.nodes_fitting, static_cast<std::int64_t>(nodes.size()));
  }
  if (outcome != "preempts") return;
  EXPECT_EQ(ask.placements.front().node, *expect.find("node")->as_string());
  EXPECT_EQ(victim_keys(ask), sorted_texts(expect.find("victims")));
  const PodIndex pod = *cluster.find_pod(name.namespace_name, name.name);
  EXPECT_EQ(our_candidates(cluster, configuration, pod), expected_candidates(expect));
}

class KubePods : public testing::TestWithParam<const char*> {};

TEST_P(KubePods, AgreeWithKubeScheduler) {
  const Configuration configuration = *load_preset("kube-1.37");
  std::size_t unchecked = 0;
  const std::size_t cases = for_each_vector(
      fmt::format("kube-1.37/pod-{}.jsonl.gz", GetParam()),
      [&](const VectorCase& item) { compare_case(item, configuration, unchecked); });
  EXPECT_GT(cases, 300U);
  // Claims that may take one of several free volumes.
  EXPECT_EQ(unchecked, std::string_view(GetParam()) == "volumes" ? 29U : 0U);
}

INSTANTIATE_TEST_SUITE_P(All, KubePods, testing::Values("basic", "full", "rich", "volumes"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace makeway
