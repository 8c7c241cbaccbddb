// Many cycles in a row: what holds from one plan to the next (SPEC section 1, laws 3, 7, 8, 11
// and 12). First histories by hand, then random ones, a tenth as many as other properties have
// cases, since each is a dozen cycles and more.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/plan_codec.hpp"
#include "codec/presets.hpp"
#include "model/names.hpp"
#include "support/disturber.hpp"
#include "support/history.hpp"
#include "support/plan_scene.hpp"
#include "support/property.hpp"
#include "support/random_planning.hpp"

namespace makeway::histories_properties {
namespace {

constexpr std::uint64_t cases_in_one = 10;
/// Law 7 to the letter; `higher_placeless` once no ask with a place takes another's, see
/// AHigherAskWithAPlaceTakesNoOther.
constexpr Takers takers = Takers::higher_placeless;
constexpr std::array<std::string_view, 3> presets = {"makeway", "kube-1.37", "kep-5710"};

/// For each seed, and for each preset the same random numbers.
void for_each_history(std::string_view name,
                      const std::function<void(Prng&, std::string_view preset)>& check) {
  const std::uint64_t cases = std::max<std::uint64_t>(1, property_cases() / cases_in_one);
  const std::uint64_t first = property_first_seed();
  fmt::print("property {}: {} histories for each preset, first seed {}\n", name, cases, first);
  std::fflush(stdout);
  for (std::uint64_t seed = first; seed - first < cases; ++seed) {
    for (const std::string_view preset : presets) {
      SCOPED_TRACE(fmt::format("MAKEWAY_PROPERTY_SEED={} MAKEWAY_PROPERTY_CASES=1, preset {}", seed,
                               preset));
      Prng random(seed);
      check(random, preset);
      if (testing::Test::HasFailure()) return;
    }
  }
}

struct Start {
  RandomPlanning options;
  std::vector<Change> objects;
};

Start random_start(Prng& random) {
  RandomPlanning options = random_planning_options(random);
  if (random.chance(50)) options.asks += 3;
  std::vector<Change> objects = random_planning(random, options);
  return {.options = options, .objects = std::move(objects)};
}

/// Every pod leaves, if late, before others stop waiting for it.
HistoryOptions options_within_leave_timeout(Prng& random) {
  return {.seed = random.next(),
          .step_min = {1'000},
          .step_max = {20'000},
          .grace_max = {random.chance(30) ? 0 : 30'000},
          .late_max = {random.chance(50) ? 0 : 40'000},
          .takers = takers};
}

/// Sometimes with gangs that leave whole when they fall below their minimum. Drawn last, so that a
/// seed stays the history that it was.
std::vector<Change> with_fragile_gangs(Prng& random, std::vector<Change> objects) {
  if (random.chance(30)) let_groups_leave_whole(random, objects);
  return objects;
}

/// Steps until nothing is left to do, at most `steps_max`; false: that was not enough.
bool comes_to_rest(History& history, std::size_t steps_max) {
  for (std::size_t step = 0; step < steps_max; ++step) {
    const bool leaving = history.any_pod_leaving();
    const Plan& plan = history.step();
    if (!history.complaints().empty()) return true;
    const bool idle = std::ranges::none_of(plan.actions, [](const PlanAction& action) {
      return action.type == ActionType::bind || action.type == ActionType::evict;
    });
    // Also the nominations must stay the same: that is what the next cycle starts from.
    const std::vector<Plan>& plans = history.plans();
    const bool repeats = plans.size() > 1 && same_decisions(plan, plans[plans.size() - 2]);
    if (idle && !leaving && repeats) return true;
  }
  return false;
}

// ---- Histories by hand --------------------------------------------------------------------------

PodKey key(const char* name) { return {"default", name}; }

Pod pending(const char* name, std::int32_t priority, std::int64_t cpu, std::int64_t created) {
  Pod pod = scene::pod(name, "", priority, cpu);
  pod.created = Time{created};
  pod.started.reset();
  return pod;
}

/// What was decided for the pod in the last cycle: "fits n1", "preempts n1: low", "waits n1".
std::string last_answer(const History& history, std::string_view name) {
  const std::vector<PlanAsk>& asks = history.plans().back().asks;
  const auto ask = std::ranges::find(asks, name, &PlanAsk::name);
  if (ask == asks.end()) return "does not ask";
  std::string text(choice_name(ask->outcome));
  for (const PodPlacement& place : ask->placements) text += " " + place.node;
  for (const PlanVictim& victim : ask->victims) text += ": " + victim.name;
  return text;
}

/// No ask moves to take another's place, and every pod leaves at once by default.
template <class... Objects>
std::unique_ptr<History> preset_history_of(std::string_view preset, const Objects&... objects) {
  return std::make_unique<History>(std::vector<Change>{objects...}, *load_preset(preset),
                                   scene::now, HistoryOptions{.takers = Takers::higher_placeless});
}

template <class... Objects>
std::unique_ptr<History> history_of(const Objects&... objects) {
  return preset_history_of("makeway", objects...);
}

Node named_node(const char* name, std::int64_t cpu) {
  Node node = scene::node(name, cpu);
  node.labels = {{.key = std::string(names::hostname), .value = name}};
  return node;
}

Pod labelled(Pod pod, const char* application) {
  pod.labels = {{.key = "app", .value = application}};
  return pod;
}

LabelSelector selector(const char* application) {
  return {.requirements = {{.key = "app", .operation = Operator::in, .values = {application}}}};
}

/// It wants to be on the same node as a pod of the application.
Pod near(Pod pod, const char* application) {
  pod.shape.affinity = {{.selector = selector(application),
                         .namespaces = {"default"},
                         .namespace_selector = {},
                         .topology_key = std::string(names::hostname)}};
  return pod;
}

/// What kube-scheduler gets wrong under a burst (one victim too many): two asks are nominated to
/// one node, and the first is decided again when its own victim is gone but not the other's.
/// n1 holds 4: low-a 2 and low-b 2. n2 is full of pods of priority 20. x and y need 2 each, so both
/// go to n1, x for low-a and y for low-b, the next higher one.
TEST(HistoriesByHand, TwoAsksOnOneNodeNeedOneVictimEach) {
  for (const char* const late : {"low-a", "low-b"}) {
    SCOPED_TRACE(late);
    const std::unique_ptr<History> history =
        history_of(scene::node("n1", 4000), scene::node("n2", 4000),
                   scene::pod("low-a", "n1", 10, 2000), scene::pod("low-b", "n1", 11, 2000),
                   scene::pod("other-a", "n2", 20, 2000), scene::pod("other-b", "n2", 20, 2000),
                   pending("x", 1000, 2000, 2000), pending("y", 1000, 2000, 3000));
    history->leaves_late(key(late), Duration{15'000});
    history->step();
    EXPECT_EQ(last_answer(*history, "x"), "preempts n1: low-a");
    EXPECT_EQ(last_answer(*history, "y"), "preempts n1: low-b");
    // 10 s later 2 are free, and x is the first to be decided: whichever pod made that room.
    history->step();
    EXPECT_EQ(last_answer(*history, "x"), "fits n1");
    EXPECT_EQ(last_answer(*history, "y"), "waits n1");
    history->step();
    EXPECT_EQ(last_answer(*history, "y"), "fits n1");
    EXPECT_EQ(history->evictions(), 2);
    EXPECT_TRUE(history->complaints().empty()) << history->story();
  }
}

/// No ask of equal or lower priority takes the room of x; a strictly higher ask takes it, again
/// without a further victim.
TEST(HistoriesByHand, NominatedRoomYieldsOnlyToHigherPriority) {
  const std::unique_ptr<History> history = history_of(
      scene::node("n1", 2000), scene::pod("low", "n1", 10, 2000), pending("x", 1000, 2000, 2000));
  history->leaves_late(key("low"), Duration{25'000});
  history->step();
  EXPECT_EQ(last_answer(*history, "x"), "preempts n1: low");
  history->happens(pending("equal", 1000, 2000, 1000));  // Older: it is decided first.
  history->happens(pending("lower", 500, 2000, 1000));
  history->step();
  EXPECT_EQ(last_answer(*history, "equal"), "infeasible");
  EXPECT_EQ(last_answer(*history, "x"), "waits n1");
  EXPECT_EQ(last_answer(*history, "lower"), "infeasible");
  history->happens(pending("higher", 2000, 2000, 1000));
  history->step();
  EXPECT_EQ(last_answer(*history, "higher"), "waits n1");
  EXPECT_EQ(last_answer(*history, "x"), "infeasible");
  history->step();
  EXPECT_EQ(last_answer(*history, "higher"), "fits n1");
  EXPECT_EQ(history->evictions(), 1);
  EXPECT_TRUE(history->complaints().empty()) << history->story();
}

/// Law 6: no ask waits for ever. 60 s after the deletion timestamp the room of a stuck pod is not
/// counted on any more, and x finds another victim; the first one stays where it is.
TEST(HistoriesByHand, AStuckVictimIsAwaitedForTheLeaveTimeout) {
  const std::unique_ptr<History> history = history_of(
      scene::node("n1", 2000), scene::node("n2", 2000), scene::pod("stuck", "n1", 10, 2000),
      scene::pod("low", "n2", 20, 2000), pending("x", 1000, 2000, 2000));
  history->leaves_late(key("stuck"), std::nullopt);
  history->step();
  EXPECT_EQ(last_answer(*history, "x"), "preempts n1: stuck");
  for (int second = 10; second < 60; second += 10) {
    history->step();
    EXPECT_EQ(last_answer(*history, "x"), "waits n1") << second;
  }
  history->step();
  EXPECT_EQ(last_answer(*history, "x"), "preempts n2: low");
  history->step();
  EXPECT_EQ(last_answer(*history, "x"), "fits n2");
  EXPECT_EQ(history->evictions(), 2);
  EXPECT_TRUE(history->complaints().empty()) << history->story();
}

/// An ask that has a good place coming does not take another's. high (2) goes to n1, low (3) fits
/// only on n2 or n3 and goes to n2. The victim of low is gone first, and n2 would do for high, too:
/// then low would need another victim on n3, and what was evicted on n1 would have left for
/// nothing.
TEST(HistoriesByHand, AHigherAskWithAPlaceTakesNoOther) {
  const std::unique_ptr<History> history =
      history_of(scene::node("n1", 2000), scene::node("n2", 3000), scene::node("n3", 3000),
                 scene::pod("a", "n1", 10, 2000), scene::pod("b", "n2", 20, 3000),
                 scene::pod("c", "n3", 30, 3000), pending("high", 1000, 2000, 2000),
                 pending("low", 500, 3000, 2000));
  history->leaves_late(key("a"), Duration{15'000});
  history->step();
  EXPECT_EQ(last_answer(*history, "high"), "preempts n1: a");
  EXPECT_EQ(last_answer(*history, "low"), "preempts n2: b");
  history->step();
  EXPECT_EQ(last_answer(*history, "high"), "waits n1");
  EXPECT_EQ(last_answer(*history, "low"), "fits n2");
  history->step();
  EXPECT_EQ(last_answer(*history, "high"), "fits n1");
  EXPECT_EQ(history->evictions(), 2);
  EXPECT_TRUE(history->complaints().empty()) << history->story();
}

/// x wants to be near a partner, and there is one on n1. y, a partner itself, could take its place,
/// but before y has come x would have no pod to be near. So y waits its turn until x is there.
TEST(HistoriesByHand, AffinityToAVictimWhoseTakerServesAsWell) {
  const std::unique_ptr<History> history =
      history_of(named_node("n1", 4000), scene::pod("low", "n1", 10, 2000),
                 labelled(scene::pod("partner", "n1", 50, 2000), "partner"),
                 near(pending("x", 100, 2000, 2000), "partner"),
                 labelled(pending("y", 100, 2000, 3000), "partner"));
  history->leaves_late(key("low"), Duration{15'000});
  history->leaves_late(key("partner"), Duration{15'000});
  history->step();
  EXPECT_EQ(last_answer(*history, "x"), "preempts n1: low");
  EXPECT_EQ(last_answer(*history, "y"), "not-found");
  history->step();
  EXPECT_EQ(last_answer(*history, "x"), "waits n1");
  EXPECT_EQ(last_answer(*history, "y"), "not-found");
  EXPECT_TRUE(history->complaints().empty()) << history->story();
}

/// As kube-scheduler, which looks with nominated pods and without: y, which needs no room, wants to
/// be near x, and has no place before x is there. x is only held by the pods it preempted.
TEST(HistoriesByHand, AffinityToAnAskThatIsOnlyHeld) {
  Pod y = near(pending("y", 1000, 1, 2000), "x");
  y.requests.clear();
  const std::unique_ptr<History> history =
      preset_history_of("kube-1.37", named_node("n1", 3000), scene::pod("low", "n1", 10, 3000),
                        pending("x", 5000, 3000, 2000), y);
  history->leaves_late(key("low"), Duration{15'000});
  history->step();
  EXPECT_EQ(last_answer(*history, "x"), "preempts n1: low");
  EXPECT_EQ(last_answer(*history, "y"), "not-found");
  history->step();
  EXPECT_EQ(last_answer(*history, "x"), "waits n1");
  EXPECT_EQ(last_answer(*history, "y"), "not-found");
  history->step();
  EXPECT_EQ(last_answer(*history, "x"), "fits n1");
  EXPECT_EQ(last_answer(*history, "y"), "fits n1");
  EXPECT_TRUE(history->complaints().empty()) << history->story();
}

/// never fits on n2, but there it would spoil the spread of high, which was promised the place: it
/// is not proven that it fits nowhere (law 10), for asks that may not preempt as for all others.
TEST(HistoriesByHand, APromisedPlaceProvesNothingForAsksThatMayNotPreempt) {
  Pod high = labelled(pending("high", 1000, 2000, 2000), "web");
  high.shape.spread = {{.topology_key = std::string(names::hostname), .selector = selector("web")}};
  Pod never = labelled(pending("never", 500, 1000, 2000), "web");
  never.preemption_policy = PreemptionPolicy::never;
  const std::unique_ptr<History> history = history_of(
      named_node("n1", 1000), named_node("n2", 3000), scene::pod("stays", "n1", 2000, 1000),
      scene::pod("low", "n2", 10, 2000), high, never);
  history->step();
  EXPECT_EQ(last_answer(*history, "high"), "preempts n2: low");
  EXPECT_EQ(last_answer(*history, "never"), "not-found");
  EXPECT_TRUE(history->complaints().empty()) << history->story();
}

Node in_zone(Node node, const char* zone) {
  node.labels = {{.key = "zone", .value = zone}};
  return node;
}

/// web-0 and web-1 are promised one zone each. web-2 could start at once, in the zone of web-0.
/// Then web-0 would find it uneven until web-1 has come, and it is web-0 whose turn is first (law
/// 7).
TEST(HistoriesByHand, NoPodStartsThatMakesAnEarlierPromiseNeedALaterOne) {
  const auto web = [](const char* name, std::int32_t priority, std::int64_t cpu) {
    Pod pod = labelled(pending(name, priority, cpu, 2000), "web");
    pod.shape.spread = {{.topology_key = "zone", .selector = selector("web")}};
    return pod;
  };
  for (const char* const late : {"low-1", "low-2"}) {
    SCOPED_TRACE(late);
    const std::unique_ptr<History> history =
        history_of(in_zone(scene::node("n1", 4000), "a"), in_zone(scene::node("n2", 4000), "b"),
                   in_zone(scene::node("n3", 1000), "a"), scene::pod("low-1", "n1", 0, 4000),
                   scene::pod("low-2", "n2", 0, 4000), web("web-0", 9, 4000), web("web-1", 8, 4000),
                   web("web-2", 7, 1000));
    history->leaves_late(key(late), Duration{15'000});
    history->step();
    EXPECT_EQ(last_answer(*history, "web-0"), "preempts n1: low-1");
    EXPECT_EQ(last_answer(*history, "web-1"), "preempts n2: low-2");
    EXPECT_EQ(last_answer(*history, "web-2"), "waits n3");
    history->step();
    const bool first_late = std::string_view(late) == "low-1";
    EXPECT_EQ(last_answer(*history, "web-0"), first_late ? "waits n1" : "fits n1");
    EXPECT_EQ(last_answer(*history, "web-1"), first_late ? "fits n2" : "waits n2");
    // With web-1 there it spoils nothing; with web-0 there it has to wait for web-1 itself.
    EXPECT_EQ(last_answer(*history, "web-2"), first_late ? "fits n3" : "waits n3");
    history->step();
    EXPECT_EQ(last_answer(*history, first_late ? "web-0" : "web-1"),
              first_late ? "fits n1" : "fits n2");
    EXPECT_EQ(history->evictions(), 2);
    EXPECT_TRUE(history->complaints().empty()) << history->story();
  }
}

/// As kube-scheduler: x must be near a partner and away from foes. In zone a, where foe leaves for
/// it late, the partner is leaving, too, and counts while it is there. Then n1 lacks the pod that x
/// must be near, which ends its nomination, and another foe leaves on n2. `makeway` does not count
/// on leaving pods.
TEST(HistoriesByHand, UnderKubeANominationEndsWithThePartner) {
  Pod x = pending("x", 100, 1000, 2000);
  const auto in_the_zone = [](const char* application) {
    return PodAffinityTerm{.selector = selector(application),
                           .namespaces = {"default"},
                           .namespace_selector = {},
                           .topology_key = "zone"};
  };
  x.shape.affinity = {in_the_zone("partner")};
  x.shape.anti_affinity = {in_the_zone("foe")};
  Pod partner = labelled(scene::pod("partner", "n3", 100, 1000), "partner");
  partner.deletion = scene::now + Duration{5'000};
  for (const char* const preset : {"kube-1.37", "makeway"}) {
    SCOPED_TRACE(preset);
    const std::unique_ptr<History> history = preset_history_of(
        preset, in_zone(scene::node("n1", 4000), "a"), in_zone(scene::node("n2", 4000), "b"),
        in_zone(scene::node("n3", 1000), "a"), partner,
        labelled(scene::pod("foe", "n1", 10, 1000), "foe"),
        labelled(scene::pod("partner-2", "n2", 100, 1000), "partner"),
        labelled(scene::pod("foe-2", "n2", 60, 1000), "foe"), x);
    history->leaves_late(key("foe"), Duration{15'000});
    history->leaves_late(key("foe-2"), Duration{15'000});
    history->step();
    const bool kube = std::string_view(preset) == "kube-1.37";
    EXPECT_EQ(last_answer(*history, "x"), kube ? "preempts n1: foe" : "preempts n2: foe-2");
    history->step();
    EXPECT_EQ(last_answer(*history, "x"), kube ? "preempts n2: foe-2" : "waits n2");
    EXPECT_EQ(history->partners_lost(), kube ? 1 : 0);
    EXPECT_TRUE(history->complaints().empty()) << history->story();
  }
}

// ---- Random histories ---------------------------------------------------------------------------

/// Laws 3 and 7 over time: only the plans happen, every pod leaves in time. An ask that was
/// promised a place gets it, without a further victim.
TEST(Histories, WhatWasPromisedComesTrueWithoutFurtherVictims) {
  for_each_history("promises come true", [](Prng& random, std::string_view preset) {
    const Start start = random_start(random);
    const HistoryOptions options = options_within_leave_timeout(random);
    History history(with_fragile_gangs(random, start.objects), *load_preset(preset), planning_now,
                    options);
    EXPECT_TRUE(comes_to_rest(history, 60)) << history.story();
    EXPECT_TRUE(history.complaints().empty()) << history.story();
  });
}

/// What histories of gangs had in them.
struct GangHistories {
  std::int64_t histories = 0;
  std::int64_t looking = 0;        ///< Their gangs look at other pods.
  std::int64_t partners_lost = 0;  ///< See HistoryLaws.
};

void expect_gangs_do_not_block(Prng& random, std::string_view preset, GangHistories& seen) {
  RandomPlanning options = random_planning_options(random);
  options.gangs = 2 + random.below(4);
  ++seen.histories;
  if (options.affinity || options.anti_affinity || options.spread) ++seen.looking;
  const std::vector<Change> objects = random_planning(random, options);
  History history(objects, *load_preset(preset), planning_now,
                  options_within_leave_timeout(random));
  EXPECT_TRUE(comes_to_rest(history, 60)) << history.story();
  EXPECT_TRUE(history.complaints().empty()) << history.story();
  for (const PlanAsk& ask : history.plans().back().asks) {
    if (ask.kind != AskKind::pod_group || !ask.held_back) continue;
    EXPECT_LT(ask.held_back->room_left, ask.held_back->room_alone) << history.story();
  }
  seen.partners_lost += history.partners_lost();
}

/// Several gangs pending together: each gets all or nothing in every state, no gang waits for ever
/// for what another half-placed gang holds, and it ends with every gang placed or with a reason.
TEST(Histories, GangsPendingTogetherDoNotBlockEachOther) {
  GangHistories seen;
  for_each_history("gangs together", [&](Prng& random, std::string_view preset) {
    expect_gangs_do_not_block(random, preset, seen);
  });
  fmt::print("in {} of {} histories gangs look at other pods\n", seen.looking, seen.histories);
  fmt::print("kube-1.37: {} nominations ended with the partner\n", seen.partners_lost);
  const bool many = seen.histories >= 300;
  EXPECT_TRUE(!many || seen.looking * 3 > seen.histories) << "too few for this to say anything";
  EXPECT_TRUE(!many || seen.partners_lost * 100 < seen.histories) << "too many to be left out";
}

/// Found by sweeps of some 100,000 histories, and mended; 14285, 28653 and 1024764 are ends of
/// nominations as kube-scheduler has them.
TEST(Histories, GangsThatOnceBrokeALaw) {
  GangHistories seen;
  for (const std::uint64_t seed : {14'285U, 23'993U, 28'653U, 1'004'444U, 1'011'962U, 1'024'764U,
                                   1'031'037U, 2'003'477U, 2'010'388U}) {
    for (const std::string_view preset : presets) {
      SCOPED_TRACE(fmt::format("seed {}, preset {}", seed, preset));
      Prng random(seed);
      expect_gangs_do_not_block(random, preset, seen);
    }
  }
  fmt::print("kube-1.37: {} nominations ended with the partner\n", seen.partners_lost);
}

/// Law 12: victims are submitted again, and it ends. Then no ask waits, and the next plans say the
/// same.
TEST(Histories, RecreatedVictimsComeToRest) {
  for_each_history("recreated victims come to rest", [](Prng& random, std::string_view preset) {
    const Start start = random_start(random);
    HistoryOptions options = options_within_leave_timeout(random);
    options.recreate = true;
    History history(start.objects, *load_preset(preset), planning_now, options);
    for (const Pod& pod : history.pods()) {  // Half of the pods have a controller.
      if (pod.node.empty() || !random.chance(50)) continue;
      Pod owned = pod;
      owned.owners = {{.kind = "ReplicaSet", .name = "set", .uid = "set-uid", .controller = true}};
      history.happens(owned);
    }
    EXPECT_TRUE(comes_to_rest(history, 200)) << history.story();
    const Plan at_rest = history.plans().back();
    for (const PlanAsk& ask : at_rest.asks) {
      EXPECT_NE(choice_name(ask.outcome), "waits") << ask_text(ask) << "\n" << history.story();
    }
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(same_decisions(at_rest, history.step())) << history.story();
    }
    EXPECT_TRUE(history.complaints().empty()) << history.story();
  });
}

/// A dozen cycles of a cluster where everything happens that can.
void live(History& history, const RandomPlanning& options, std::uint64_t seed) {
  Prng random(seed);
  RandomPlanning few = options;
  few.asks = 1 + random.below(3);
  Disturber world(random, few);
  for (int cycle = 0; cycle < 12 && history.complaints().empty(); ++cycle) {
    history.step();
    if (random.chance(60)) world.disturb(history);
  }
}

/// Laws 1 to 10 on every plan, and law 11: the same history again is the same to the letter.
TEST(Histories, NoPlanBreaksALawAndTheSameHappensAgain) {
  for_each_history("every plan keeps the laws", [](Prng& random, std::string_view preset) {
    const Start start = random_start(random);
    HistoryOptions options = options_within_leave_timeout(random);
    options.recreate = random.chance(50);
    options.late_max = {random.chance(50) ? 20'000 : 120'000};
    options.stuck_percent = random.chance(50) ? 0 : 10;
    options.conflict = random.chance(50) ? 0 : 100;
    const std::uint64_t seed = random.next();
    const Configuration configuration = *load_preset(preset);
    const std::vector<Change> objects = with_fragile_gangs(random, start.objects);
    std::vector<std::string> texts;
    for (int run = 0; run < 2; ++run) {
      History history(objects, configuration, planning_now, options);
      live(history, start.options, seed);
      EXPECT_TRUE(history.complaints().empty()) << history.story();
      std::string text;
      for (const Plan& plan : history.plans()) {
        text += plan_text_json(plan, PlanDetail::with_explanation);
      }
      texts.push_back(std::move(text));
    }
    EXPECT_TRUE(texts.front() == texts.back()) << "the second run differs";
  });
}

}  // namespace
}  // namespace makeway::histories_properties
