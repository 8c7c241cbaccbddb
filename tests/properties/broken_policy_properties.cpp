// Policies that are broken on purpose, over random clusters: each takes a good plan and spoils it
// in one way, and check_plan must name the law (SPEC section 1). Hand-made plans for every law are
// in src/judge/check_plan_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "codec/dump.hpp"
#include "codec/plan_codec.hpp"
#include "codec/presets.hpp"
#include "judge/check_plan.hpp"
#include "policies/decide.hpp"
#include "support/property.hpp"
#include "support/random_planning.hpp"

namespace makeway::broken_policy_properties {
namespace {

/// A cluster with one ask, and a good plan for it.
struct Scene {
  const Cluster& cluster;
  const Configuration& configuration;
  Plan plan;

  PlanAsk& ask() { return plan.asks.front(); }
};

/// Spoils the plan; false when this plan cannot be spoilt that way.
using Spoil = std::function<bool(Scene&)>;

void add_victim(Scene& scene, PodIndex pod) {
  PlanVictim victim = scene.ask().victims.front();
  const PodColumns& pods = scene.cluster.pods();
  const Unit& unit = scene.cluster.units()[pods.unit[pod]];
  victim.namespace_name = std::string(scene.cluster.text(pods.namespace_name[pod]));
  victim.name = std::string(pods.name[pod.value]);
  victim.uid = std::string(pods.uid[pod.value]);
  victim.node = std::string(scene.cluster.text(scene.cluster.nodes().name[pods.node[pod]]));
  victim.priority = unit.preemption_priority;
  PlanAction action = scene.plan.actions.front();
  action.namespace_name = victim.namespace_name;
  action.name = victim.name;
  action.uid = victim.uid;
  action.node = victim.node;
  scene.ask().victims.push_back(victim);
  scene.plan.actions.insert(scene.plan.actions.begin(), action);
}

bool is_victim(Scene& scene, PodIndex pod) {
  return std::ranges::any_of(scene.ask().victims, [&](const PlanVictim& victim) {
    return scene.cluster.find_pod(victim.namespace_name, victim.name) == pod;
  });
}

/// The first bound pod that satisfies the condition; it becomes a victim too.
bool evict_also(Scene& scene, const std::function<bool(PodIndex, const Unit&)>& wanted) {
  for (const PodIndex pod : scene.cluster.pods_by_name()) {
    const PodColumns& pods = scene.cluster.pods();
    if (!pods.node[pod].exists() || pods.deletion[pod] != no_time) continue;
    const Unit& unit = scene.cluster.units()[pods.unit[pod]];
    if (is_victim(scene, pod) || !wanted(pod, unit)) continue;
    add_victim(scene, pod);
    return true;
  }
  return false;
}

bool one_too_many(Scene& scene) {
  return evict_also(scene, [&](PodIndex, const Unit& unit) {
    return unit.preemption_priority < scene.ask().priority && unit.mode == DisruptionMode::single;
  });
}

bool equal_or_higher_priority(Scene& scene) {
  return evict_also(scene, [&](PodIndex, const Unit& unit) {
    return unit.preemption_priority >= scene.ask().priority;
  });
}

bool opted_out_pod(Scene& scene) {
  return evict_also(scene, [&](PodIndex pod, const Unit& unit) {
    return scene.cluster.pods().flags[pod].opted_out &&
           unit.preemption_priority < scene.ask().priority;
  });
}

bool half_a_group(Scene& scene) {
  const PodColumns& pods = scene.cluster.pods();
  return evict_also(scene, [&](PodIndex, const Unit& unit) {
    if (unit.mode != DisruptionMode::all || unit.preemption_priority >= scene.ask().priority) {
      return false;
    }
    const auto runs = [&](PodIndex pod) {
      return pods.node[pod].exists() && pods.deletion[pod] == no_time;
    };
    return std::ranges::count_if(scene.cluster.groups()[unit.group].members, runs) > 1;
  });
}

bool one_too_few(Scene& scene) {
  const PlanVictim gone = scene.ask().victims.back();
  const PodIndex pod = *scene.cluster.find_pod(gone.namespace_name, gone.name);
  const Unit& unit = scene.cluster.units()[scene.cluster.pods().unit[pod]];
  if (unit.mode == DisruptionMode::all) return false;  // Half a group, then.
  scene.ask().victims.pop_back();
  std::erase_if(scene.plan.actions, [&](const PlanAction& action) {
    return action.type == ActionType::evict && action.name == gone.name &&
           action.namespace_name == gone.namespace_name;
  });
  return !scene.ask().victims.empty();
}

bool the_same_victim_twice(Scene& scene) {
  scene.ask().victims.push_back(scene.ask().victims.front());
  return true;
}

bool no_cause(Scene& scene) {
  scene.ask().victims.front().cause_key.clear();
  return true;
}

bool no_action(Scene& scene) {
  scene.plan.actions.erase(scene.plan.actions.begin());
  return true;
}

/// The pods that ask, or those of them that are pending.
std::vector<PodIndex> asking(Scene& scene) {
  const Cluster& cluster = scene.cluster;
  const PlanAsk& ask = scene.ask();
  if (ask.kind == AskKind::pod) return {*cluster.find_pod(ask.namespace_name, ask.name)};
  std::vector<PodIndex> pods;
  const GroupIndex group = *cluster.find_group(ask.namespace_name, ask.name);
  std::ranges::copy_if(cluster.groups()[group].members, std::back_inserter(pods),
                       [&](PodIndex pod) { return !cluster.pods().node[pod].exists(); });
  return pods;
}

/// Where members look at other pods, one try does not disprove that a group is infeasible.
bool gives_up(Scene& scene) {
  const PodColumns& pods = scene.cluster.pods();
  const std::vector<PodIndex> asks = asking(scene);
  for (const PodIndex pod : asks) {
    const PodShape& shape = scene.cluster.shape(pods.shape[pod]);
    // A leaving pod may take away what the ask needs: a neighbour, or a volume that is attached.
    if (!shape.affinity.empty() || !shape.spread.empty() || !shape.claims.empty()) return false;
    if (asks.size() > 1 && !shape.anti_affinity.empty()) return false;
    const bool alike = pods.shape[pod] == pods.shape[asks.front()] &&
                       pods.requests[pod] == pods.requests[asks.front()] &&
                       pods.labels[pod] == pods.labels[asks.front()];
    if (!alike) return false;
  }
  PlanAsk& ask = scene.ask();
  ask.outcome = Outcome::infeasible;
  ask.placements.clear();
  ask.victims.clear();
  ask.score.clear();
  scene.plan.actions.clear();
  return true;
}

bool less_than_the_minimum(Scene& scene) {
  PlanAsk& ask = scene.ask();
  if (ask.kind != AskKind::pod_group) return false;
  const Group& group =
      scene.cluster.groups()[*scene.cluster.find_group(ask.namespace_name, ask.name)];
  const Unit& unit = scene.cluster.units()[group.unit];
  if (!unit.gang) return false;
  const auto bound = std::ranges::count_if(
      group.members, [&](PodIndex pod) { return scene.cluster.pods().node[pod].exists(); });
  const std::int64_t kept = unit.minimum - bound - 1;
  if (kept < 0 || kept >= std::ssize(ask.placements)) return false;
  ask.placements.resize(static_cast<std::size_t>(kept));
  return true;
}

struct BrokenPolicy {
  std::string_view name;
  int law;  ///< 0: any. One too many may be protected, too few may be nominated room.
  Spoil spoil;
};

const std::vector<BrokenPolicy>& broken_policies() {
  static const std::vector<BrokenPolicy> all = {
      {"evicts one too many", 0, one_too_many},
      {"evicts equal or higher priority", 2, equal_or_higher_priority},
      {"evicts a pod that has opted out", 2, opted_out_pod},
      {"evicts half a group", 5, half_a_group},
      {"evicts one too few", 0, one_too_few},
      {"evicts a pod twice", 3, the_same_victim_twice},
      {"does not say why", 9, no_cause},
      {"forgets to evict", 9, no_action},
      {"gives up too early", 10, gives_up},
      {"places less than the minimum", 3, less_than_the_minimum}};
  return all;
}

/// An ask that preempts: a group, which is rare, else the first of all. A member of a group that
/// asks for itself may not be able to without the asks before it.
const PlanAsk* choose(const Cluster& cluster, const Plan& plan) {
  const auto group = std::ranges::find_if(plan.asks, [](const PlanAsk& ask) {
    return ask.kind == AskKind::pod_group && ask.outcome == Outcome::preempts;
  });
  if (group != plan.asks.end()) return &*group;
  const auto is_member = [&](const PlanAsk& ask) {
    const auto pod = cluster.find_pod(ask.namespace_name, ask.name);
    return pod && cluster.units()[cluster.pods().unit[*pod]].kind == UnitKind::group;
  };
  const bool first_preempts = !plan.asks.empty() &&
                              plan.asks.front().outcome == Outcome::preempts &&
                              !is_member(plan.asks.front());
  return first_preempts ? &plan.asks.front() : nullptr;
}

TEST(BrokenPolicies, AreCaughtByCheckPlan) {
  std::vector<std::int64_t> caught(broken_policies().size());
  Skips without_preemption;
  for_each_case("broken policies are caught", [&](Prng& random) {
    RandomPlanning options = random_planning_options(random);
    if (random.below(2) == 0) options.groups = options.pending_members = true;
    const std::vector<Change> objects = random_planning(random, options);
    Cluster cluster;
    for (const Change& object : objects) cluster.apply(object);
    Configuration configuration = *load_preset("makeway");
    // What is broken for a pod is broken for a pinned pod too.
    configuration.required_node.allow_equal_priority = false;
    configuration.required_node.victim_classes = {"regular", "owner"};
    Scene good{.cluster = cluster, .configuration = configuration, .plan = {}};
    const Plan all = *decide(good.cluster, good.configuration,
                             {.now = planning_now, .preset = {}, .asks = {}, .placements = {}})
                          .plan;
    const PlanAsk* const chosen = choose(cluster, all);
    if (chosen == nullptr) return without_preemption.add();
    const auto name_of = [](const PlanAsk& ask) {
      return AskName{.kind = ask.kind, .namespace_name = ask.namespace_name, .name = ask.name};
    };
    good.plan =
        *decide(good.cluster, good.configuration,
                {.now = planning_now, .preset = {}, .asks = {name_of(*chosen)}, .placements = {}})
             .plan;
    const AskName name = name_of(good.ask());  // Of a group it may be a member.
    for (std::size_t at = 0; at < broken_policies().size(); ++at) {
      const BrokenPolicy& policy = broken_policies()[at];
      Scene spoilt = good;
      if (spoilt.ask().victims.empty() || !policy.spoil(spoilt)) continue;
      const std::vector<LawBreach> breaches =
          check_plan(spoilt.cluster, spoilt.configuration, spoilt.plan);
      const bool found = std::ranges::any_of(breaches, [&](const LawBreach& breach) {
        return policy.law == 0 || breach.law == policy.law;
      });
      EXPECT_TRUE(found) << "a policy that " << policy.name << " was not caught under law "
                         << policy.law << "\n"
                         << plan_text_json(good.plan) << dump(good.cluster, DumpFormat::yaml);
      // Law 14: the ask that did it is named, so that it can be left out.
      const bool named = std::ranges::any_of(breaches, [&](const LawBreach& breach) {
        return std::ranges::find(breach.asks, name) != breach.asks.end();
      });
      EXPECT_TRUE(named) << "a policy that " << policy.name;
      ++caught[at];
    }
  });
  without_preemption.expect_at_most(85, "have no ask that preempts");
  for (std::size_t at = 0; at < caught.size(); ++at) {
    const std::string line =
        fmt::format("a policy that {}: caught {} times\n", broken_policies()[at].name, caught[at]);
    std::fputs(line.c_str(), stdout);
    if (property_cases() >= 1000) {
      EXPECT_GT(caught[at], 0) << broken_policies()[at].name;
    }
  }
}

}  // namespace
}  // namespace makeway::broken_policy_properties
