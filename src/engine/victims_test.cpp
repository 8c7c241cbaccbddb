// Which pods may be evicted, what protects the others, and which are more important.
#include "engine/victims.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "model/reason.hpp"
#include "support/plan_scene.hpp"

namespace makeway {
namespace {

using scene::group;
using scene::in_group;
using scene::leaving;
using scene::node;
using scene::pod;
using Names = std::vector<std::string>;

struct RulesScene {
  Cluster cluster;
  Configuration configuration;

  template <class... Objects>
  explicit RulesScene(const Objects&... objects) {
    cluster.apply(node("n1", 100));
    cluster.apply(node("n2", 100));
    (cluster.apply(objects), ...);
  }
  PodIndex at(const std::string& name) const { return *cluster.find_pod("default", name); }
};

struct StaysCase {
  const char* name;
  Pod victim;
  std::optional<ReasonCode> because;  ///< Empty: it may leave for an ask of priority 5.
  void (*configure)(Configuration&) = nullptr;
};

class Stays : public testing::TestWithParam<StaysCase> {};

TEST_P(Stays, Because) {
  RulesScene scene(GetParam().victim);
  if (GetParam().configure != nullptr) GetParam().configure(scene.configuration);
  Survey survey(scene.cluster, scene.configuration);
  const VictimRules rules(survey, scene.configuration, scene::now);
  const Scratch scratch(scene.cluster);
  EXPECT_EQ(rules.stays_because(scratch, scene.at("p"), 5).code, GetParam().because);
}

Pod changed(const std::function<void(Pod&)>& change, std::int32_t priority = 1) {
  Pod object = pod("p", "n1", priority, 1);
  change(object);
  return object;
}

std::vector<StaysCase> stays_cases() {
  return {
      {"NothingKeepsIt", pod("p", "n1", 4, 1), {}},
      {"NotOfLowerPriority", pod("p", "n1", 5, 1), ReasonCode::stays_not_lower},
      {"OptedOut", changed([](Pod& object) { object.opted_out = true; }),
       ReasonCode::stays_opted_out},
      {"OptingOutIsNotHonoured",
       changed([](Pod& object) { object.opted_out = true; }),
       {},
       [](Configuration& rules) { rules.protection.protect_opted_out = false; }},
      {"Mirror", changed([](Pod& object) { object.mirror = true; }), ReasonCode::stays_mirror},
      {"OfAnotherScheduler", changed([](Pod& object) { object.kept = KeptBy::other_scheduler; }),
       ReasonCode::stays_of_other_scheduler},
      {"UnderTwoBudgets", changed([](Pod& object) { object.kept = KeptBy::two_budgets; }),
       ReasonCode::stays_under_two_budgets},
      {"Marked", changed([](Pod& object) { object.is_protected = true; }),
       ReasonCode::stays_marked},
      {"Critical", changed([](Pod& object) { object.priority_class = "system-node-critical"; }),
       ReasonCode::stays_system_critical},
      {"Namespace", pod("p", "n1", 1, 1), ReasonCode::stays_in_namespace,
       [](Configuration& rules) { rules.protection.namespaces = {"default"}; }},
      {"Young", changed([](Pod& object) { object.started = scene::now; }),
       ReasonCode::stays_too_young,
       [](Configuration& rules) { rules.protection.minimum_runtime = Duration{1'000}; }},
      {"Leaving", leaving(pod("p", "n1", 1, 1)), ReasonCode::stays_leaving_overdue},
  };
}

INSTANTIATE_TEST_SUITE_P(Cases, Stays, testing::ValuesIn(stays_cases()),
                         [](const auto& test) { return std::string(test.param.name); });

Names units_on_n1(RulesScene& scene, std::int32_t priority) {
  Survey survey(scene.cluster, scene.configuration);
  VictimRules rules(survey, scene.configuration, scene::now);
  const Scratch scratch(scene.cluster);
  VictimList list;
  rules.collect(scratch, *scene.cluster.find_node("n1"), priority, list);
  std::ranges::sort(list.units, [&](const VictimUnit& a, const VictimUnit& b) {
    return rules.more_important(a, b);
  });
  Names names;
  for (const VictimUnit& unit : list.units) {
    std::string text;
    for (const PodIndex pod : list.pods_of(unit)) {
      text += (text.empty() ? "" : "+") + std::string(scene.cluster.pods().name[pod.value]);
    }
    names.push_back(std::move(text));
  }
  return names;
}

TEST(VictimRules, CollectsUnitsMostImportantFirst) {
  RulesScene scene(pod("young", "n1", 1, 1), pod("old", "n1", 1, 1), pod("three", "n1", 3, 1),
                   pod("high", "n1", 5, 1), pod("elsewhere", "n2", 1, 1));
  Pod old = pod("old", "n1", 1, 1);
  old.started = Time{10};
  scene.cluster.apply(old);
  EXPECT_EQ(units_on_n1(scene, 5), (Names{"three", "old", "young"}));
  EXPECT_EQ(units_on_n1(scene, 2), (Names{"old", "young"}));
}

TEST(VictimRules, AWholeGroupIsOneUnitWhereverItsPodsRun) {
  RulesScene scene(group("g", DisruptionMode::all), in_group(pod("a", "n1", 0, 1), "g"),
                   in_group(pod("b", "n2", 0, 1), "g"), pod("lone", "n1", 0, 1));
  EXPECT_EQ(units_on_n1(scene, 5), (Names{"a+b", "lone"}));
}

TEST(VictimRules, OneProtectedPodProtectsAWholeGroup) {
  Pod other = in_group(pod("b", "n2", 0, 1), "g");
  other.opted_out = true;
  RulesScene scene(group("g", DisruptionMode::all), in_group(pod("a", "n1", 0, 1), "g"), other);
  EXPECT_TRUE(units_on_n1(scene, 5).empty());
}

TEST(VictimRules, MembersOfASingleGroupLeaveOneByOne) {
  Pod marked = in_group(pod("leader", "n1", 0, 1), "g");
  marked.is_protected = true;
  RulesScene scene(group("g", DisruptionMode::single), in_group(pod("a", "n1", 0, 1), "g"),
                   in_group(pod("b", "n1", 0, 1), "g"), marked);
  EXPECT_EQ(units_on_n1(scene, 5), (Names{"a", "b"}));
}

class OnlyOne : public VictimScope {
 public:
  explicit OnlyOne(PodIndex pod) : pod_(pod) {}
  bool contains(PodIndex pod) const override { return pod == pod_; }

 private:
  PodIndex pod_;
};

TEST(VictimRules, AScopeKeepsVictimsToAPart) {
  const RulesScene scene(pod("a", "n1", 1, 1), pod("b", "n1", 1, 1));
  Survey survey(scene.cluster, scene.configuration);
  VictimRules rules(survey, scene.configuration, scene::now);
  const Scratch scratch(scene.cluster);
  const OnlyOne only(scene.at("b"));
  rules.limit_to(&only);
  EXPECT_FALSE(rules.by_priority_alone());
  EXPECT_EQ(rules.stays_because(scratch, scene.at("a"), 5).code, ReasonCode::stays_in_other_queue);
  EXPECT_TRUE(rules.stays_because(scratch, scene.at("b"), 5).empty());
  rules.limit_to(nullptr);
  EXPECT_TRUE(rules.may_leave(scratch, scene.at("a")));
}

struct LostWorkCase {
  const char* name;
  std::optional<std::int64_t> cost;
  std::optional<Time> checkpoint;
  std::int64_t seconds;
};

TEST(VictimRules, LostWork) {
  // It runs since 1 s; now is 1,000 s.
  const std::vector<LostWorkCase> cases = {
      {"run time", {}, {}, 999},
      {"since the checkpoint", {}, Time{900'000}, 100},
      {"not before its start", {}, Time{0}, 999},
      {"as stated", 7, Time{900'000}, 7},
  };
  for (const LostWorkCase& item : cases) {
    SCOPED_TRACE(item.name);
    const RulesScene scene(changed([&](Pod& object) {
      object.notes.preemption_cost_seconds = item.cost;
      object.notes.last_checkpoint = item.checkpoint;
    }));
    Survey survey(scene.cluster, scene.configuration);
    const VictimRules rules(survey, scene.configuration, scene::now);
    EXPECT_EQ(rules.lost_work_seconds(scene.at("p")), item.seconds);
  }
}

TEST(VictimRules, CreditEndsWithTheTimeout) {
  // SPEC section 1, law 6: leaveTimeout is 60 s.
  const RulesScene scene(leaving(pod("goes", "n1", 1, 1), Time{scene::now.ms - 59'999}),
                         leaving(pod("stuck", "n1", 1, 1), Time{scene::now.ms - 60'000}),
                         pod("stays", "n1", 1, 1));
  Survey survey(scene.cluster, scene.configuration);
  const VictimRules rules(survey, scene.configuration, scene::now);
  EXPECT_EQ(rules.departures().of(scene.at("goes")), Departure::soon);
  EXPECT_EQ(rules.departures().of(scene.at("stuck")), Departure::stuck);
  EXPECT_EQ(rules.departures().of(scene.at("stays")), Departure::none);
  EXPECT_EQ(rules.departures().soon().size(), 1U);
}

}  // namespace
}  // namespace makeway
