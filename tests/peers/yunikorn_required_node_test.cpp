// Preset yunikorn against YuniKorn core 1.8.0's own required-node preemption (SPEC section 5), case
// by case; and what preset makeway does in the same cases: victims, and room freed beyond the need.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codec/load.hpp"
#include "codec/presets.hpp"
#include "judge/check_plan.hpp"
#include "policies/decide.hpp"
#include "support/vector_file.hpp"

namespace makeway::yunikorn_required_node_test {
namespace {

constexpr std::string_view file = "yunikorn/required-node.jsonl.gz";

using Names = std::vector<std::string>;

Names expected_victims(const JsonValue& expect) {
  Names names;
  for (const JsonValue& item : *expect.find("victims")->as_array()) {
    names.push_back(*item.as_string());
  }
  std::ranges::sort(names);
  return names;
}

Names victims_of(const PlanAsk& ask) {
  Names names;
  names.reserve(ask.victims.size());
  for (const PlanVictim& victim : ask.victims) {
    names.push_back(victim.namespace_name + "/" + victim.name);
  }
  std::ranges::sort(names);
  return names;
}

std::string verdict_of(Outcome outcome) {
  const bool no = outcome == Outcome::waits || outcome == Outcome::not_found;
  return no ? "infeasible" : std::string(choice_name(outcome));
}

std::pair<std::string, std::string> split(std::string_view key) {
  const std::size_t slash = key.find('/');
  return {std::string(key.substr(0, slash)), std::string(key.substr(slash + 1))};
}

/// The plan for the case's ask; a plan that breaks a law is a failure.
Plan plan_for(const Cluster& cluster, const Configuration& configuration, const VectorCase& item) {
  const auto [space, name] = split(item.text("ask"));
  const AskName ask{.kind = AskKind::pod, .namespace_name = space, .name = name};
  Decision decision =
      decide(cluster, configuration,
             {.now = newest_time(cluster), .preset = "test", .asks = {ask}, .placements = {}});
  for (const LawBreach& breach : check_plan(cluster, configuration, *decision.plan)) {
    ADD_FAILURE() << "law " << breach.law << ": " << breach.text;
  }
  return *std::move(decision.plan);
}

TEST(YunikornRequiredNode, AgreesCaseByCase) {
  const Configuration configuration = *load_preset("yunikorn");
  std::size_t agree = 0;
  const std::size_t cases = for_each_vector(file, [&](const VectorCase& item) {
    const LoadResult input = load_text(json_text(item.snapshot()), item.id);
    ASSERT_TRUE(input.loaded.has_value());
    const Plan plan = plan_for(input.loaded->cluster, configuration, item);
    const PlanAsk& ask = plan.asks.front();
    const std::string& outcome = *item.expect().find("outcome")->as_string();
    EXPECT_EQ(verdict_of(ask.outcome), outcome) << ask.reason;
    EXPECT_EQ(victims_of(ask), expected_victims(item.expect()));
    const bool same =
        verdict_of(ask.outcome) == outcome && victims_of(ask) == expected_victims(item.expect());
    agree += same ? 1U : 0U;
  });
  fmt::print("YuniKorn 1.8.0 and preset yunikorn agree in {} of {} cases\n", agree, cases);
  EXPECT_EQ(agree, cases);
  EXPECT_GT(cases, 1'000U);
}

/// What a set of victims comes to on the only node of a case.
class Tally {
 public:
  void add(const Cluster& cluster, PodIndex ask, const Names& names) {
    ++cases_;
    victims_ += names.size();
    const NodeIndex node = cluster.nodes_by_name().front();
    const RequestRow room = cluster.requests(cluster.nodes().allocatable[node]);
    for (const ResourceAmount& wanted : cluster.requests(cluster.pods().requests[ask])) {
      if (wanted.resource == resource_pods) continue;
      std::int64_t freed = 0;
      std::int64_t free = -cluster.order().used(node)[wanted.resource.value];
      for (const ResourceAmount& amount : room) {
        if (amount.resource == wanted.resource) free += amount.amount;
      }
      for (const std::string& name : names) {
        const auto [space, pod] = split(name);
        const RequestId requests = cluster.pods().requests[*cluster.find_pod(space, pod)];
        for (const ResourceAmount& amount : cluster.requests(requests)) {
          if (amount.resource == wanted.resource) freed += amount.amount;
        }
      }
      const std::int64_t needed = std::max(wanted.amount - free, std::int64_t{0});
      surplus_permille_ += (freed - needed) * 1000 / wanted.amount;
      ++amounts_;
    }
  }

  std::uint64_t victims() const { return victims_; }
  std::int64_t surplus_percent() const { return surplus_permille_ / (amounts_ * 10); }

 private:
  std::uint64_t cases_ = 0;
  std::uint64_t victims_ = 0;
  std::int64_t surplus_permille_ = 0;
  std::int64_t amounts_ = 1;
};

/// The table of docs/policies/required-node.md.
TEST(YunikornRequiredNode, MakewayTakesFewerVictims) {
  const Configuration configuration = *load_preset(default_preset);
  std::map<std::pair<std::string, std::string>, std::uint64_t> outcomes;
  Tally ours;
  Tally theirs;
  std::uint64_t more_victims = 0;
  std::uint64_t both = 0;
  for_each_vector(file, [&](const VectorCase& item) {
    const LoadResult input = load_text(json_text(item.snapshot()), item.id);
    ASSERT_TRUE(input.loaded.has_value());
    const Cluster& cluster = input.loaded->cluster;
    const Plan plan = plan_for(cluster, configuration, item);
    const PlanAsk& ask = plan.asks.front();
    const std::string& outcome = *item.expect().find("outcome")->as_string();
    ++outcomes[{outcome, std::string(choice_name(ask.outcome))}];
    if (outcome != "preempts" || ask.outcome != Outcome::preempts) return;
    ++both;
    const auto [space, name] = split(item.text("ask"));
    const PodIndex pod = *cluster.find_pod(space, name);
    const Names peer = expected_victims(item.expect());
    ours.add(cluster, pod, victims_of(ask));
    theirs.add(cluster, pod, peer);
    more_victims += ask.victims.size() > peer.size() ? 1U : 0U;
  });
  for (const auto& [pair, count] : outcomes) {
    fmt::print("YuniKorn {}, makeway {}: {} cases\n", pair.first, pair.second, count);
  }
  fmt::print("{:<30}{:>10}{:>10}\n", fmt::format("both preempt ({} cases)", both), "YuniKorn",
             "makeway");
  fmt::print("{:<30}{:>10}{:>10}\n", "victims", theirs.victims(), ours.victims());
  fmt::print("{:<30}{:>9}%{:>9}%\n", "freed beyond the need, mean", theirs.surplus_percent(),
             ours.surplus_percent());
  fmt::print("more victims than YuniKorn: {} cases\n", more_victims);
  EXPECT_LT(ours.victims(), theirs.victims());
  EXPECT_LT(ours.surplus_percent(), theirs.surplus_percent());
  // What fits there fits here.
  const auto fit = outcomes.find({"fits", "fits"});
  ASSERT_NE(fit, outcomes.end());
  EXPECT_EQ(fit->second, 53U);
}

}  // namespace
}  // namespace makeway::yunikorn_required_node_test
