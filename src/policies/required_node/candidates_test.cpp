// SPEC section 5, filter and classes: which pods may be evicted for a pinned pod.
#include "policies/required_node/candidates.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "engine/room.hpp"
#include "support/short_cluster.hpp"

namespace makeway {
namespace {

Configuration with_classes(std::vector<std::string> classes) {
  Configuration rules;
  rules.required_node.victim_classes = std::move(classes);
  return rules;
}

/// The classes of the pods, in a row: "012", "-" for none.
std::string classes_of(const Configuration& rules, std::string_view text,
                       std::initializer_list<std::string_view> names) {
  const ShortWorld scene(text, rules);
  const VictimClasses classes(scene.cluster, scene.configuration, scene.world.rules());
  std::string row;
  for (const PodIndex pod : scene.pods(names)) {
    const std::uint8_t found = classes.of(pod);
    row += found == VictimClasses::none ? "-" : std::to_string(found);
  }
  return row;
}

constexpr std::string_view owners = R"(
node n1 gpu=1
pod plain
pod main uid=u-main
pod helper owner=Pod:main:u-main
pod marked makeway:owner=true
pod out makeway:allow-preemption=false
pod both makeway:owner=true makeway:allow-preemption=false
pod replaced uid=u-new
pod orphan owner=Pod:replaced:u-old
pod other/stranger owner=Pod:plain
pod self owner=Pod:self
)";

TEST(VictimClasses, APodBelongsToTheLastListedClassThatMatches) {
  EXPECT_EQ(classes_of({}, owners, {"plain", "main", "helper", "marked", "out", "both"}), "010122");
  // YuniKorn's order: an owner that opted out counts as owner.
  EXPECT_EQ(classes_of(with_classes({"regular", "opted-out", "owner"}), owners, {"out", "both"}),
            "12");
}

TEST(VictimClasses, AnOwnerIsNamedByUidInItsOwnNamespace) {
  EXPECT_EQ(classes_of({}, owners, {"replaced", "plain", "self"}), "000");
}

TEST(VictimClasses, PodsThatOptedOutStayUnlessTheyAreListed) {
  EXPECT_EQ(classes_of(with_classes({"regular"}), owners, {"plain", "main", "out"}), "00-");
  Configuration rules = with_classes({"regular"});
  rules.protection.protect_opted_out = false;
  EXPECT_EQ(classes_of(rules, owners, {"out"}), "0");
}

TEST(VictimClasses, LabelsAndAnnotationsMakeClasses) {
  constexpr std::string_view text = R"(
    node n1 gpu=1
    pod plain
    pod web app=web
    pod db app=db
    pod cheap makeway:tier=cheap
  )";
  EXPECT_EQ(classes_of(with_classes({"label:app=web", "annotation:makeway.dev/tier=cheap"}), text,
                       {"plain", "web", "db", "cheap"}),
            "-0-1");
  EXPECT_EQ(classes_of(with_classes({"regular", "label:app=nothing"}), text, {"web"}), "0");
}

// ---- Shortfall ---------------------------------------------------------------------------------

TEST(Shortfall, WhatIsAskedLessWhatIsFree) {
  ShortWorld scene("node n1 cpu=4 gpu=1 pods=1\npod ask cpu=3 gpu=4 pin=n1");
  std::vector<std::int64_t> row(scene.cluster.order().columns());
  Room(scene.world).free(scene.node("n1"), Horizon::soon, row);
  const Shortfall shortfall = shortfall_of(request_of(scene.cluster, scene.pod("ask")), row);
  const auto entry = [&](std::string_view resource) {
    return static_cast<std::size_t>(shortfall.entry_of[scene.resource(resource).value]);
  };
  EXPECT_TRUE(shortfall.any());
  EXPECT_EQ(shortfall.missing(entry("nvidia.com/gpu")), 3);
  EXPECT_EQ(shortfall.missing(entry("cpu")), 0);
  EXPECT_EQ(shortfall.spare[entry("cpu")], 1000);
  EXPECT_EQ(shortfall.missing(entry("pods")), 0);
  EXPECT_EQ(shortfall.entry_of[scene.resource("memory").value], -1) << "it is not asked for";
}

TEST(Shortfall, AnOverfullNodeDoesNotOverflow) {
  const ShortCluster scene("node n1 gpu=1\npod ask gpu=1152921504606846976");
  std::vector<std::int64_t> row(scene.cluster.order().columns(),
                                std::numeric_limits<std::int64_t>::min());
  const Shortfall shortfall = shortfall_of(request_of(scene.cluster, scene.pod("ask")), row);
  for (const std::int64_t spare : shortfall.spare) {
    EXPECT_EQ(spare, std::numeric_limits<std::int64_t>::min());
  }
  EXPECT_FALSE(shortfall_of({}, row).any());
}

// ---- Candidates --------------------------------------------------------------------------------

struct PinnedCandidateScene : ShortWorld {
  using ShortWorld::ShortWorld;

  /// For the pod `ask` of the priority on n1; "?" behind those that hold nothing that helps.
  std::string candidates(std::int32_t priority, bool all = false) {
    std::vector<std::int64_t> row(cluster.order().columns());
    Room(world).free(node("n1"), Horizon::soon, row);
    const Shortfall shortfall = shortfall_of(request_of(cluster, pod("ask")), row);
    const VictimClasses classes(cluster, configuration, world.rules());
    CandidateSearch(world, classes).collect(node("n1"), priority, shortfall, all, list);
    std::vector<std::string> texts;
    texts.reserve(list.units.size());
    for (const PinnedCandidate& unit : list.units) {
      texts.push_back(names(list.pods_of(unit)) + (unit.holds ? "" : "?"));
    }
    std::ranges::sort(texts);
    std::string text;
    for (const std::string& each : texts) text += (text.empty() ? "" : ", ") + each;
    return text;
  }

  CandidateList list;
};

constexpr std::string_view all_sorts = R"(
node n1 gpu=8 cpu=8
pod ask gpu=8 cpu=1 p=5 pin=n1
pod low @n1 gpu=1 p=1
pod equal @n1 gpu=1 p=5
pod higher @n1 gpu=1 p=6
pod leaving @n1 gpu=1 p=1 deleted=12:00:10
pod pinned @n1 gpu=1 p=1 pin=n1
pod daemon @n1 gpu=1 p=1 owner=DaemonSet:agent
pod critical @n1 gpu=1 class=system-node-critical
pod mirror @n1 gpu=1 annotation:kubernetes.io/config.mirror=x
pod useless @n1 cpu=1 p=1
pod opted-out @n1 gpu=1 p=1 makeway:allow-preemption=false
)";

TEST(PinnedCandidates, WhoMayLeave) {
  EXPECT_EQ(PinnedCandidateScene(all_sorts).candidates(5), "equal, low, opted-out");
  EXPECT_EQ(PinnedCandidateScene(all_sorts).candidates(5, true), "equal, low, opted-out, useless?");
  EXPECT_EQ(PinnedCandidateScene(all_sorts).candidates(1), "low, opted-out");
  EXPECT_EQ(PinnedCandidateScene(all_sorts).candidates(0), "");
}

TEST(PinnedCandidates, EqualAndHigherPrioritiesAreSettings) {
  Configuration rules;
  rules.required_node.allow_equal_priority = false;
  EXPECT_EQ(PinnedCandidateScene(all_sorts, rules).candidates(5), "low, opted-out");
  rules.required_node.allow_higher_priority = true;
  EXPECT_EQ(PinnedCandidateScene(all_sorts, rules).candidates(5), "equal, higher, low, opted-out");
}

TEST(PinnedCandidates, ByNameAPodHelpsThatHoldsTheResourceAtAll) {
  Configuration rules;
  rules.required_node.candidates_hold = CandidatesHold::resource_name;
  EXPECT_EQ(PinnedCandidateScene(all_sorts, rules).candidates(5), "equal, low, opted-out, useless")
      << "the ask names CPUs, too; every pod takes one of `pods`, and that does not count";
}

TEST(PinnedCandidates, WhatIsEvictedInThisCycleIsNotThereAnyMore) {
  PinnedCandidateScene scene(all_sorts);
  scene.world.leave(scene.pods({"low"}));
  EXPECT_EQ(scene.candidates(5), "equal, opted-out");
}

// Law 5, and `maxVictims` counts members of groups (default 5).
TEST(PinnedCandidates, GroupsThatLeaveWhole) {
  PinnedCandidateScene scene(R"(
    node n1 gpu=8
    node n2 gpu=8
    pod ask gpu=8 p=5 pin=n1
    gang five x5 min=1 mode=all gpu=1 p=1 @n1
    gang six x6 min=1 mode=all gpu=1 p=1 @n1
    gang kept min=1 mode=all p=1
    pod kept-0 @n1 gpu=1 group=kept
    pod kept-1 @n2 gpu=1 group=kept annotation:kubernetes.io/config.mirror=x
    gang spread min=1 mode=all p=1
    pod spread-0 @n1 gpu=2 group=spread started=10:00
    pod spread-1 @n2 gpu=4 group=spread started=09:00
    pod spread-2 @n1 gpu=1 group=spread deleted=12:00:10
    gang single x1 min=1 gpu=1 p=1 @n1
  )");
  EXPECT_EQ(scene.candidates(5), "five-0 five-1 five-2 five-3 five-4, single-0, spread-0 spread-1");
  for (std::size_t at = 0; at < scene.list.units.size(); ++at) {
    const PinnedCandidate& unit = scene.list.units[at];
    if (scene.name(unit.first) != "spread-0") continue;
    EXPECT_TRUE(unit.whole);
    EXPECT_EQ(unit.started, noon_plus(-10'800)) << "as old as its oldest";
    std::vector<std::int64_t> sum(scene.list.frees(at).size());
    scene.list.add_frees(at, sum);
    EXPECT_EQ(std::ranges::count(sum, 2), 1) << "2 GPUs here; what it has on n2 does not help";
  }
}

TEST(PinnedCandidates, TheUselessAreErased) {
  PinnedCandidateScene scene(all_sorts);
  scene.candidates(5, true);
  scene.list.erase_useless();
  ASSERT_EQ(scene.list.units.size(), 3U);
  for (std::size_t at = 0; at < 3; ++at) {
    EXPECT_NE(scene.name(scene.list.units[at].first), "useless");
    EXPECT_EQ(std::ranges::count(scene.list.frees(at), 1), 2) << "one GPU and one of `pods`";
  }
}

}  // namespace
}  // namespace makeway
