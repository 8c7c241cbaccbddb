// Plans over random clusters and configurations: they keep the laws (SPEC section 1), what they
// promise comes true, and the order of the input leaves no trace.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "codec/dump.hpp"
#include "codec/plan_codec.hpp"
#include "judge/check_plan.hpp"
#include "policies/decide.hpp"
#include "support/property.hpp"
#include "support/random_configuration.hpp"
#include "support/random_planning.hpp"

namespace makeway::plan_properties {
namespace {

using PodKey = std::pair<std::string, std::string>;

PodKey key_of(const Pod& pod) { return {pod.namespace_name, pod.name}; }

std::vector<Change> random_case(Prng& random) {
  const RandomPlanning options = random_planning_options(random);
  std::vector<Change> objects = random_planning(random, options);
  if (random.chance(20)) let_groups_leave_whole(random, objects);
  return objects;
}

Plan plan_for(const Cluster& cluster, const Configuration& configuration,
              std::vector<AskName> asks = {}, std::vector<PodPlacement> placements = {}) {
  Decision decision = decide(cluster, configuration,
                             {.now = planning_now,
                              .preset = "random",
                              .asks = std::move(asks),
                              .placements = std::move(placements)});
  CHECK(decision.plan.has_value(), "the request is a good one");
  return *std::move(decision.plan);
}

/// Pods that can be named as asks: pending, and in no group.
std::vector<AskName> lone_asks(const std::vector<Change>& objects) {
  std::vector<AskName> asks;
  for (const Change& object : objects) {
    const Pod* const pod = std::get_if<Pod>(&object);
    if (pod == nullptr || !pod->node.empty() || !pod->group.empty()) continue;
    asks.push_back(
        {.kind = AskKind::pod, .namespace_name = pod->namespace_name, .name = pod->name});
  }
  return asks;
}

void expect_lawful(const Cluster& cluster, const Configuration& configuration, const Plan& plan) {
  for (const LawBreach& breach : check_plan(cluster, configuration, plan)) {
    ADD_FAILURE() << "law " << breach.law << ", " << breach.ask << ": " << breach.text << "\n"
                  << canonical_text(configuration) << dump(cluster, DumpFormat::yaml);
  }
}

TEST(PlanProperties, NoPlanBreaksALaw) {  // laws 1 to 10
  for_each_case("no plan breaks a law", [](Prng& random) {
    const std::vector<Change> objects = random_case(random);
    const Cluster cluster = cluster_of(objects);
    const Configuration configuration = random_configuration(random);
    expect_lawful(cluster, configuration, plan_for(cluster, configuration));
    for (const AskName& ask : lone_asks(objects)) {
      expect_lawful(cluster, configuration, plan_for(cluster, configuration, {ask}));
    }
  });
}

// ---- What is promised -----------------------------------------------------------------------

/// The objects after the first asks of a plan. Only that state counts, not what it becomes: pods
/// that are leaving and still there hold their room.
class Future {
 public:
  Future(const std::vector<Change>& objects, const Configuration& configuration)
      : objects_(objects), configuration_(configuration) {}

  void make_leave(const PlanAsk& ask) {
    for (const PlanVictim& victim : ask.victims) gone_.insert({victim.namespace_name, victim.name});
  }
  void settle(const PlanAsk& ask) {
    decided_.insert({ask.namespace_name, ask.name});
    for (const Change& object : objects_) {
      const Pod* const pod = std::get_if<Pod>(&object);
      const bool member = pod != nullptr && ask.kind == AskKind::pod_group &&
                          pod->namespace_name == ask.namespace_name && pod->group == ask.name;
      if (member) decided_.insert(key_of(*pod));
    }
    auto& places = ask.outcome == Outcome::fits ? bound_ : nominated_;
    for (const PodPlacement& placement : ask.placements) {
      places[{placement.namespace_name, placement.name}] = placement.node;
    }
  }

  /// What is there, and what the asks bind.
  Cluster now() const {
    std::vector<Change> result = objects_;
    for (Change& object : result) {
      Pod* const pod = std::get_if<Pod>(&object);
      if (pod == nullptr) continue;
      pod->nominated_node.clear();
      if (bound_.contains(key_of(*pod))) pod->node = bound_.at(key_of(*pod));
    }
    return cluster_of(result);
  }

  /// When all leaving pods have left and all nominated pods have arrived.
  Cluster after() const {
    std::vector<Change> result;
    for (Change object : objects_) {
      if (Pod* const pod = std::get_if<Pod>(&object)) {
        const PodKey key = key_of(*pod);
        if (gone_.contains(key) || credited(*pod)) continue;
        if (decided_.contains(key)) pod->nominated_node.clear();
        if (bound_.contains(key)) pod->node = bound_.at(key);
        if (nominated_.contains(key)) pod->node = nominated_.at(key);
      }
      result.push_back(std::move(object));
    }
    return cluster_of(result);
  }

 private:
  bool credited(const Pod& pod) const {
    return configuration_.workload.leaving_room == LeavingRoom::credited && pod.deletion &&
           !pod.node.empty() && planning_now - *pod.deletion < configuration_.engine.leave_timeout;
  }

  const std::vector<Change>& objects_;
  const Configuration& configuration_;
  std::set<PodKey> decided_;
  std::set<PodKey> gone_;
  std::map<PodKey, std::string> bound_;
  std::map<PodKey, std::string> nominated_;
};

/// An ask that only waits for the pods it preempted keeps its nomination whatever the room.
bool held(const PlanAsk& ask) {
  return ask.outcome == Outcome::waits && ask.reason.starts_with("waits for preempted pods");
}

void expect_fits(const Cluster& cluster, const Configuration& configuration, const PlanAsk& ask) {
  const AskName name{.kind = ask.kind, .namespace_name = ask.namespace_name, .name = ask.name};
  const Plan again = plan_for(cluster, configuration, {name}, ask.placements);
  EXPECT_EQ(choice_name(again.asks.front().outcome), "fits")
      << ask_text(ask) << ": " << ask.reason << "; then: " << again.asks.front().reason;
  EXPECT_EQ(again.asks.front().placements, ask.placements);
}

/// Every ask fits where it was planned, at once or when the leaving pods are gone.
void expect_kept(const std::vector<Change>& objects, const Configuration& configuration,
                 const Plan& plan) {
  Future future(objects, configuration);
  for (const PlanAsk& ask : plan.asks) {
    future.make_leave(ask);
    if (!ask.placements.empty() && !held(ask)) {
      if (ask.outcome == Outcome::fits) expect_fits(future.now(), configuration, ask);
      expect_fits(future.after(), configuration, ask);
    }
    future.settle(ask);
  }
}

TEST(PlanProperties, WhatIsPlannedFitsOnceTheVictimsAreGone) {  // law 3
  for_each_case("what is planned fits once the victims are gone", [](Prng& random) {
    const std::vector<Change> objects = random_case(random);
    const Cluster cluster = cluster_of(objects);
    const Configuration configuration = random_configuration(random);
    expect_kept(objects, configuration, plan_for(cluster, configuration));
    for (const AskName& ask : lone_asks(objects)) {
      expect_kept(objects, configuration, plan_for(cluster, configuration, {ask}));
    }
  });
}

// ---- A lone pod and a gang of one ---------------------------------------------------------------

/// The pod becomes the only member of a gang of its priority.
std::vector<Change> with_gang_of_one(std::vector<Change> objects, const AskName& ask) {
  PodGroup gang{.namespace_name = ask.namespace_name, .name = "alone"};
  gang.policy.gang = true;
  gang.policy.minimum = 1;
  for (Change& object : objects) {
    Pod* const pod = std::get_if<Pod>(&object);
    if (pod == nullptr || pod->namespace_name != ask.namespace_name || pod->name != ask.name) {
      continue;
    }
    pod->group = gang.name;
    gang.priority.priority_class = pod->priority_class;
    gang.priority.priority = pod->priority;
    gang.priority.preemption_policy = pod->preemption_policy;
    gang.created = pod->created;
    gang.opted_out = pod->opted_out;
  }
  objects.insert(objects.begin(), std::move(gang));
  return objects;
}

/// That no place can be found is proven more often for pods, and of equals the names decide: of
/// nodes for a pod, of victims for a gang.
using Answer = std::tuple<Outcome, std::size_t, ScoreTerms>;

Answer answer_of(const PlanAsk& ask) {
  const Outcome outcome = ask.outcome == Outcome::infeasible ? Outcome::not_found : ask.outcome;
  return {outcome, ask.victims.size(), ask.score};
}

/// Pods have a search of their own (docs/decisions/0044-one-procedure.md): it takes a hundredth of
/// the time, and evicts on the pod's node only, which differs where pods on other nodes decide
/// whether it fits. Elsewhere the answer is the same.
TEST(PlanProperties, ALonePodIsDecidedLikeAGangOfOneWhereOnlyItsNodeMatters) {
  for_each_case("a lone pod is decided like a gang of one", [](Prng& random) {
    RandomPlanning options = random_planning_options(random);
    options.affinity = false;
    options.anti_affinity = false;
    options.spread = false;
    options.volumes = false;
    const std::vector<Change> objects = random_planning(random, options);
    const Cluster cluster = cluster_of(objects);
    Configuration configuration;
    configuration.required_node.enabled = false;  // Section 5 has an order of its own.
    for (const AskName& ask : lone_asks(objects)) {
      const Plan alone = plan_for(cluster, configuration, {ask});
      const Plan gang = plan_for(
          cluster_of(with_gang_of_one(objects, ask)), configuration,
          {{.kind = AskKind::pod_group, .namespace_name = ask.namespace_name, .name = "alone"}});
      EXPECT_EQ(answer_of(alone.asks.front()), answer_of(gang.asks.front()))
          << plan_text_json(alone, PlanDetail::with_explanation)
          << plan_text_json(gang, PlanDetail::with_explanation) << dump(cluster, DumpFormat::yaml);
    }
  });
}

// ---- The order of the input -----------------------------------------------------------------

/// The first line in which the texts differ; empty when they are equal.
std::string first_difference(const std::string& a, const std::string& b) {
  std::istringstream a_lines(a);
  std::istringstream b_lines(b);
  std::string a_line;
  std::string b_line;
  while (std::getline(a_lines, a_line) && std::getline(b_lines, b_line)) {
    if (a_line != b_line) return fmt::format("{} against {}", a_line, b_line);
  }
  return a == b ? "" : "one is longer";
}

TEST(PlanProperties, ShuffledInputGivesTheSamePlan) {  // law 11
  for_each_case("shuffled input gives the same plan", [](Prng& random) {
    std::vector<Change> objects = random_case(random);
    const Configuration configuration = random_configuration(random);
    const Plan plan = plan_for(cluster_of(objects), configuration);
    random.shuffle(objects);
    const Plan again = plan_for(cluster_of(objects, random.chance(50)), configuration);
    EXPECT_EQ(first_difference(plan_text_json(again, PlanDetail::with_explanation),
                               plan_text_json(plan, PlanDetail::with_explanation)),
              "");
    EXPECT_TRUE(again == plan);
  });
}

/// What explanations add is left out.
Plan without_explanations(Plan plan) {
  for (PlanAsk& ask : plan.asks) ask.explanation = {};
  return plan;
}

/// Every node twice, with the same lone pods on it.
std::vector<Change> with_twins(std::vector<Change> objects) {
  const std::size_t count = objects.size();
  for (std::size_t at = 0; at < count; ++at) {
    Change twin = objects[at];
    if (Node* const node = std::get_if<Node>(&twin)) {
      node->name += "-twin";
      objects.push_back(twin);
    } else if (Pod* const pod = std::get_if<Pod>(&twin)) {
      if (pod->node.empty() || !pod->group.empty()) continue;
      pod->name += "-twin";
      pod->node += "-twin";
      objects.push_back(twin);
    }
  }
  return objects;
}

/// Every lone ask twice: a class of its own (policies/workload/ask_classes.hpp).
std::vector<Change> with_alike_asks(std::vector<Change> objects) {
  const std::size_t count = objects.size();
  for (std::size_t at = 0; at < count; ++at) {
    Change alike = objects[at];
    Pod* const pod = std::get_if<Pod>(&alike);
    if (pod == nullptr || !pod->node.empty() || !pod->group.empty()) continue;
    pod->name += "-alike";
    objects.push_back(alike);
  }
  return objects;
}

TEST(PlanProperties, ExplainingChangesNothing) {
  for_each_case("explaining changes nothing", [](Prng& random) {
    std::vector<Change> objects = random_case(random);
    if (random.chance(50)) objects = with_twins(with_twins(std::move(objects)));
    if (random.chance(50)) objects = with_alike_asks(with_alike_asks(std::move(objects)));
    const Configuration configuration =
        random.chance(50) ? random_configuration(random) : Configuration{};
    const Cluster cluster = cluster_of(objects);
    const auto plan = [&](bool explain) {
      return without_explanations(*decide(cluster, configuration,
                                          {.now = planning_now,
                                           .preset = "random",
                                           .asks = {},
                                           .placements = {},
                                           .explain = explain})
                                       .plan);
    };
    EXPECT_EQ(first_difference(plan_text_json(plan(false), PlanDetail::brief),
                               plan_text_json(plan(true), PlanDetail::brief)),
              "");
  });
}

}  // namespace
}  // namespace makeway::plan_properties
