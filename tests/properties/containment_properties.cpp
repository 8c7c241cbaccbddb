// Law 14 over random clusters of every kind: a policy that fails or lies about one ask costs that
// ask, and no other. And `recheckAt` (SPEC section 8): before it, time alone changes nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "codec/dump.hpp"
#include "codec/plan_codec.hpp"
#include "codec/presets.hpp"
#include "control/lawful_plan.hpp"
#include "policies/decide.hpp"
#include "policies/shared/deciding.hpp"
#include "support/property.hpp"
#include "support/random_fleet.hpp"
#include "support/random_planning.hpp"
#include "support/random_queues.hpp"
#include "support/random_sessions.hpp"

namespace makeway::containment_properties {
namespace {

/// One kind of cluster each, by the policy that it is about.
std::vector<Change> random_world(Prng& random) {
  switch (random.below(4)) {
    case 0: {
      RandomPlanning options = random_planning_options(random);
      options.asks = static_cast<std::size_t>(random.between(2, 5));
      return random_planning(random, options);
    }
    case 1: return random_queue_case(random).objects;
    case 2: return random_sessions(random, random_sessions_options(random));
    default: return random_fleet(random, random_fleet_options(random));
  }
}

struct Scene {
  Cluster cluster;
  Configuration configuration = *load_preset("makeway");
  PlanRequest request{.now = planning_now, .preset = "random", .explain = false};

  Decision decide_all() const { return decide(cluster, configuration, request); }
};

PlanTools containing_tools() {
  return {.decide = decide,
          .check = check_plan,
          .identify = plan_identity,
          .microseconds = [] { return 0; },
          .contain = true};
}

/// The names of the asks of a plan, and of those that it leaves out.
std::vector<std::string> all_asks(const Plan& plan) {
  std::vector<std::string> names;
  names.reserve(plan.asks.size() + plan.left_out.size());
  for (const PlanAsk& ask : plan.asks) names.push_back(ask_text(ask));
  for (const PlanLeftOut& left : plan.left_out) {
    names.push_back(ask_text(AskName{left.kind, left.namespace_name, left.name}));
  }
  std::ranges::sort(names);
  return names;
}

bool leaves_out(const Plan& plan, const AskName& name) {
  return std::ranges::any_of(plan.left_out, [&](const PlanLeftOut& left) {
    return AskName{left.kind, left.namespace_name, left.name} == name;
  });
}

/// Members of groups count as their groups: whether they ask for themselves or their group does
/// depends on which other pods have a place.
std::vector<std::string> with_members_as_groups(const Cluster& cluster,
                                                std::vector<std::string> names) {
  for (const PodIndex pod : cluster.each_pod()) {
    const UnitIndex unit = cluster.pods().unit[pod];
    if (cluster.units()[unit].kind != UnitKind::group) continue;
    std::ranges::replace(names, "Pod " + cluster.pod_key(pod),
                         ask_text(ask_name_of(cluster, unit)));
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

/// It is left out, and every ask is either planned or said to be left out.
void expect_left_out(const Scene& scene, const Plan& all, const Plan& plan, const AskName& name) {
  ASSERT_EQ(plan.withheld, "");
  EXPECT_TRUE(leaves_out(plan, name));
  EXPECT_EQ(with_members_as_groups(scene.cluster, all_asks(plan)),
            with_members_as_groups(scene.cluster, all_asks(all)));
  for (const LawBreach& breach : check_plan(scene.cluster, scene.configuration, plan)) {
    ADD_FAILURE() << "law " << breach.law << ", " << breach.ask << ": " << breach.text << "\n"
                  << plan_text_json(plan) << dump(scene.cluster, DumpFormat::yaml);
  }
}

/// Kinds, in the order of AskKind.
using KindCounts = std::array<std::int64_t, choice_names<AskKind>.size()>;

void expect_every_kind(const KindCounts& counts, std::string_view what) {
  std::string line = fmt::format("{}:", what);
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    line += fmt::format(" {} {}", counts[kind], choice_names<AskKind>[kind]);
    if (property_cases() >= 300) {
      EXPECT_GT(counts[kind], 0) << choice_names<AskKind>[kind];
    }
  }
  std::fputs((line + "\n").c_str(), stdout);
}

// ---- A CHECK that fails -------------------------------------------------------------------------

TEST(Containment, AFailedCheckCostsItsAskAndNoOther) {
  KindCounts counts{};
  for_each_case("containment: a failed check", [&](Prng& random) {
    Scene scene{.cluster = cluster_of(random_world(random))};
    const Plan all = *scene.decide_all().plan;
    if (all.asks.empty()) return;
    AskName bad = ask_name_of(all.asks[random.below(all.asks.size())]);
    if (bad.kind == AskKind::queue) bad.name.clear();  // The stage.
    PlanTools tools = containing_tools();
    tools.decide = [&](const Cluster& cluster, const Configuration& configuration,
                       const PlanRequest& request) {
      return decide_watched(cluster, configuration, request,
                            [&](const AskName& name) { CHECK(name != bad, "a bug"); });
    };
    const LawfulPlan made =
        make_lawful_plan(scene.cluster, scene.configuration, scene.request, tools);
    ASSERT_TRUE(made.plan.has_value());
    for (const RefusedPlan& refused : made.refused) {
      for (const LawBreach& breach : refused.breaches) {
        ADD_FAILURE() << "without " << ask_text(bad) << ": law " << breach.law << ", " << breach.ask
                      << ": " << breach.text << "\n"
                      << dump(scene.cluster, DumpFormat::yaml);
      }
    }
    ++counts[static_cast<std::size_t>(bad.kind)];
    if (bad.kind == AskKind::queue) {
      ASSERT_EQ(made.plan->left_out.size(), 1U);
      EXPECT_TRUE(made.plan->queues.empty());
    } else {
      expect_left_out(scene, all, *made.plan, bad);
      EXPECT_EQ(made.plan->left_out.size(), 1U);
    }
    ASSERT_FALSE(made.plan->left_out.empty());
    EXPECT_EQ(made.plan->left_out.front().law, 0);
    EXPECT_TRUE(made.plan->left_out.front().reason.ends_with("failed: a bug"));
  });
  expect_every_kind(counts, "a check failed");
}

// ---- A policy that lies -------------------------------------------------------------------------

/// What a policy may say that is not true; false: this ask cannot say it.
bool spoil(PlanAsk& ask) {
  if (ask.replicas) {
    if (!ask.replicas->claims.empty()) {
      ask.replicas->claims.front().node = "nowhere";
    } else if (!ask.replicas->scale_ups.empty()) {
      ++ask.replicas->scale_ups.front().committed_after;
    }
    return !ask.replicas->claims.empty() || !ask.replicas->scale_ups.empty();
  }
  if (!ask.placements.empty()) {
    ask.placements.front().node = "nowhere";
    return true;
  }
  ++ask.priority;
  return ask.kind != AskKind::queue;
}

TEST(Containment, ALieAboutAnAskCostsThatAsk) {
  KindCounts counts{};
  std::int64_t others = 0;
  for_each_case("containment: a lie", [&](Prng& random) {
    Scene scene{.cluster = cluster_of(random_world(random))};
    Plan all = *scene.decide_all().plan;
    if (all.asks.empty()) return;
    const std::size_t chosen = random.below(all.asks.size());
    const AskName liar = ask_name_of(all.asks[chosen]);
    PlanAsk tried = all.asks[chosen];
    const bool of_queue = liar.kind == AskKind::queue;
    if (!of_queue && !spoil(tried)) return;
    PlanTools tools = containing_tools();
    tools.decide = [&](const Cluster& cluster, const Configuration& configuration,
                       const PlanRequest& request) {
      Decision decision = decide(cluster, configuration, request);
      if (!request.left_out.empty()) return decision;
      if (of_queue) ++decision.plan->queues.front().shares.front().used;
      if (!of_queue) spoil(decision.plan->asks[chosen]);
      return decision;
    };
    const LawfulPlan made =
        make_lawful_plan(scene.cluster, scene.configuration, scene.request, tools);
    ASSERT_FALSE(made.refused.empty());
    ASSERT_TRUE(made.plan.has_value());
    // The judge may take others for liars, too, whose place the lie made look wrong.
    others += static_cast<std::int64_t>(made.plan->left_out.size()) - 1;
    ++counts[static_cast<std::size_t>(liar.kind)];
    if (!of_queue) return expect_left_out(scene, all, *made.plan, liar);
    ASSERT_EQ(made.plan->left_out.size(), 1U) << made.plan->withheld;
    EXPECT_EQ(made.plan->left_out.front().kind, AskKind::queue);
    EXPECT_TRUE(made.plan->queues.empty());
    EXPECT_TRUE(made.plan->queue_moves.empty());
  });
  expect_every_kind(counts, fmt::format("a wrong answer was given ({} others left out)", others));
}

// ---- When time alone changes the plan -----------------------------------------------------------

/// What is decided, without times: `now`, ages, since when.
std::string essence(const Plan& plan) {
  std::string text;
  for (const PlanAsk& ask : plan.asks) {
    text += fmt::format("{} {} {}", ask_text(ask), choice_name(ask.outcome), ask.victims.size());
    for (const PodPlacement& place : ask.placements) {
      text += fmt::format(" {}@{}", place.name, place.node);
    }
    for (const PodPlacement& place : ask.waits_for) text += fmt::format(" waits {}", place.name);
    if (ask.replicas) {
      for (const PlanReplicaClaim& claim : ask.replicas->claims) {
        text += fmt::format(" {}:", claim.node);
        for (const PlanReplicaVictim& victim : claim.victims) {
          text += fmt::format("{} {}", choice_name(victim.action), victim.name);
        }
      }
    }
    text += "\n";
  }
  for (const PlanAction& action : plan.actions) {
    text += fmt::format("{} {} {}\n", choice_name(action.type), action.name, action.node);
  }
  return text;
}

TEST(RecheckAt, BeforeItTheSamePlan) {
  std::int64_t compared = 0;
  std::int64_t skipped = 0;
  for_each_case("recheckAt", [&](Prng& random) {
    Scene scene{.cluster = cluster_of(random_world(random))};
    if (random.chance(30)) scene.configuration.engine.preemption_delay = Duration{300'000};
    if (random.chance(30)) scene.configuration.protection.minimum_runtime = Duration{600'000};
    const Decision decision = scene.decide_all();
    // Lost work grows all the time: an ask that evicts may choose another victim soon.
    const bool leaves = std::ranges::any_of(decision.plan->asks, [](const PlanAsk& ask) {
      return !ask.victims.empty() || (ask.replicas && scaled_down(*ask.replicas) > 0);
    });
    if (leaves) {
      EXPECT_LE(*decision.recheck_at, planning_now + Duration{1'000});
      ++skipped;
      return;
    }
    constexpr Duration day{86'400'000};
    const Time before =
        decision.recheck_at ? Time{decision.recheck_at->ms - 1} : planning_now + day;
    scene.request.now = std::max(planning_now, std::min(before, planning_now + day));
    EXPECT_EQ(essence(*decision.plan), essence(*scene.decide_all().plan))
        << to_text(scene.request.now) << "\n"
        << dump(scene.cluster, DumpFormat::yaml);
    ++compared;
  });
  std::fputs(fmt::format("{} compared, {} with victims\n", compared, skipped).c_str(), stdout);
  EXPECT_GT(compared, static_cast<std::int64_t>(property_cases() / 10));
}

}  // namespace
}  // namespace makeway::containment_properties
