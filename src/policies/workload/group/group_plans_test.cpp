// Which pods leave for a gang, over all its domains (SPEC section 2, laws 1 to 5 and 10).
#include "policies/workload/group/group_plans.hpp"

#include <gtest/gtest.h>

#include "support/gang_scene.hpp"

namespace makeway {
namespace {

struct PlansScene : GangScene {
  explicit PlansScene(std::string_view text, Configuration rules = {})
      : GangScene(text, std::move(rules)) {
    const Unit& gang = cluster.units()[unit("ask")];
    task = {.unit = unit("ask"),
            .members = members,
            .needed = static_cast<std::size_t>(gang.minimum),
            .wanted = static_cast<std::size_t>(gang.minimum)};
    order_members(world, configuration.workload.member_order, task.members);
  }

  /// "ask-0@n1 ask-1@n2; low mid"
  std::string search() {
    plans.search(domains);
    if (!plans.best()) return plans.proven() ? "proven" : "not found";
    return text(plans.best()->places) + "; " + text(plans.best()->victims.pods);
  }

  Plan plan;
  Draft draft{.world = world, .plan = plan};
  GroupTask task;
  std::vector<GroupDomain> domains = domains_of(world, unit("ask"));
  GroupPlans plans{draft, task, fits};
};

TEST(GroupPlans, TheLowestPrioritiesLeave) {
  PlansScene scene(R"(
    node n{1..3} gpu=1
    gang ask x2 min=2 gpu=1 p=100
    pod high @n1 gpu=1 p=9
    pod low @n2 gpu=1 p=1
    pod mid @n3 gpu=1 p=5
  )");
  EXPECT_EQ(scene.search(), "ask-0@n2 ask-1@n3; low mid");
  EXPECT_EQ(highest_priority(*scene.plans.best()), 5);
  EXPECT_EQ(scene.plans.potential_victims(), 3);
  ASSERT_TRUE(scene.plans.runner_up().has_value());
  EXPECT_EQ(highest_priority(*scene.plans.runner_up()), 9);
  EXPECT_TRUE(scene.world.after().node_of(scene.pod("low")).exists()) << "the world is as it was";
}

// Law 3: all or nothing.
TEST(GroupPlans, NoVictimUnlessTheWholeMinimumHasAPlace) {
  PlansScene scene(R"(
    node n{1..2} gpu=1
    gang ask x3 min=3 gpu=1 p=100
    pod low @n1 gpu=1 p=1
  )");
  EXPECT_EQ(scene.search(), "proven");
  EXPECT_EQ(scene.plans.without_place(), scene.pod("ask-2"));
  RefusalTally tally;
  scene.plans.add_refusals(tally);
  EXPECT_FALSE(tally.refusals(scene.world.survey()).empty());
}

TEST(GroupPlans, EqualPriorityStays) {
  EXPECT_EQ(
      PlansScene("node n1 gpu=1\ngang ask x1 min=1 gpu=1 p=5\npod equal @n1 gpu=1 p=5").search(),
      "proven");
}

TEST(GroupPlans, FreeRoomIsUsedBeforeAnyPodLeaves) {
  EXPECT_EQ(PlansScene(R"(
    node n1 gpu=2
    node n2 gpu=1
    gang ask x2 min=2 gpu=1 p=100
    pod low-{1..2} @n1 gpu=1 p=1
  )")
                .search(),
            "ask-0@n2 ask-1@n1; low-2")
      << "free room first";
}

TEST(GroupPlans, TheDomainWhereTheLeastIsLost) {
  PlansScene scene(R"(
    node a1 gpu=2 zone=a
    node b1 gpu=1 zone=b
    node b2 gpu=1 zone=b
    node c1 gpu=9
    gang ask x2 min=2 gpu=1 p=100 topology=zone
    pod a-{1..2} @a1 gpu=1 p=5
    pod b-1 @b1 gpu=1 p=1
    pod b-2 @b2 gpu=1 p=1
  )");
  EXPECT_EQ(scene.search(), "ask-0@b1 ask-1@b2; b-1 b-2") << "c1 has room, but no zone";
  EXPECT_EQ(scene.plans.best()->domain->name, "zone=b");
}

// Law 5, and the victims of one member serve the other.
TEST(GroupPlans, AGroupOfModeAllLeavesWholeWhereverItRuns) {
  PlansScene scene(R"(
    node n{1..2} gpu=1
    gang ask x1 min=1 gpu=1 p=100
    gang g min=2 p=1 mode=all
    pod g-0 @n1 gpu=1 group=g
    pod g-1 @n2 gpu=1 group=g
  )");
  EXPECT_EQ(scene.search(), "ask-0@n1; g-0 g-1");
}

// One missing member stops the whole gang: sparing a lone pod by breaking a gang is no saving.
TEST(GroupPlans, StoppedPodsCount) {
  EXPECT_EQ(PlansScene(R"(
    node n1 gpu=1
    node n2 gpu=3
    gang ask x1 min=1 gpu=1 p=100
    gang g min=3 p=1
    pod g-0 @n1 gpu=1 group=g
    pod g-{1..2} @n2 gpu=1 group=g
    pod lone @n2 gpu=1 p=1
  )")
                .search(),
            "ask-0@n2; lone");
}

TEST(GroupPlans, BudgetsComeBeforePriorities) {
  constexpr std::string_view text = R"(
    node n{1..2} gpu=1
    gang ask x1 min=1 gpu=1 p=100
    budget keep app=web min=1 allowed=0
    pod web @n1 gpu=1 p=1 app=web
    pod plain @n2 gpu=1 p=50
  )";
  EXPECT_EQ(PlansScene(text).search(), "ask-0@n2; plain");
}

TEST(GroupPlans, MembersThatDifferAreAllPlaced) {
  EXPECT_EQ(PlansScene(R"(
    node n1 gpu=4
    node n2 gpu=2
    gang ask min=2 p=100
    pod ask-big gpu=4 group=ask
    pod ask-small gpu=1 group=ask
    pod low-{1..2} @n1 gpu=2 p=1
    pod mid @n2 gpu=2 p=5
  )")
                .search(),
            "ask-big@n1 ask-small@n2; low-1 low-2 mid");
}

TEST(GroupPlans, AntiAffinityAmongMembersIsTrackedThroughRemovals) {
  EXPECT_EQ(PlansScene(R"(
    node n1 gpu=2 hostname
    node n2 gpu=1 hostname
    gang ask x2 min=2 gpu=1 p=100 app=a apart=app:a:kubernetes.io/hostname
    pod low @n1 gpu=1 p=1
    pod mid @n2 gpu=1 p=5
  )")
                .search(),
            "ask-0@n2 ask-1@n1; mid")
      << "n1 has room for one, and takes no second";
}

// ---- GroupSearch: plans that were made elsewhere -----------------------------------------------

struct AdoptScene : PlansScene {
  using PlansScene::PlansScene;

  std::string adopt(std::span<const PodOnNode> places,
                    std::initializer_list<std::string_view> victims) {
    EmptiedNodes emptied = emptied_nodes(world, planning_rules_of(world), task, domain, fits);
    GroupSearch group_search(world, planning_rules_of(world), task, domain, fits, emptied);
    const auto adopted = group_search.adopt(places, pods(victims));
    return adopted ? text(adopted->places) + "; " + text(adopted->victims.pods) : "none";
  }
};

TEST(GroupSearch, AnAdoptedPlanIsReducedAndRefusedWhereItIsNotLawful) {
  AdoptScene scene(R"(
    node n{1..3} gpu=1
    gang ask x1 min=1 gpu=1 p=100
    pod low @n1 gpu=1 p=1
    pod mid @n2 gpu=1 p=5
    pod above @n3 gpu=1 p=200
  )");
  const std::vector<PodOnNode> on_n1 = {scene.at("ask-0", "n1")};
  const std::vector<PodOnNode> on_n3 = {scene.at("ask-0", "n3")};
  EXPECT_EQ(scene.adopt(on_n1, {"low"}), "ask-0@n1; low");
  EXPECT_EQ(scene.adopt(on_n1, {"low", "mid"}), "ask-0@n1; low") << "mid need not leave (law 4)";
  EXPECT_EQ(scene.adopt(on_n1, {"mid"}), "none") << "there is no room";
  EXPECT_EQ(scene.adopt(on_n3, {"above"}), "none") << "it may not leave (law 2)";
}

}  // namespace
}  // namespace makeway
