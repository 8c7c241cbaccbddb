// The default preset takes the best victims for a single pod: for every small cluster it answers
// what trying every node and every set of victims answers (tests/support/brute_force.hpp).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "codec/dump.hpp"
#include "codec/presets.hpp"
#include "model/normalize.hpp"
#include "policies/decide.hpp"
#include "support/brute_force.hpp"
#include "support/naive_score.hpp"
#include "support/property.hpp"
#include "support/random_planning.hpp"

namespace makeway::best_victims_properties {
namespace {

constexpr std::size_t nodes_max = 5;

// ---- Cases --------------------------------------------------------------------------------------

RandomPlanning small_options(Prng& random) {
  RandomPlanning options = random_planning_options(random);
  options.nodes = std::min(options.nodes, nodes_max);
  options.asks = 1;
  return options;
}

void add(Amounts& sum, const Amounts& more) {
  for (const Amount& amount : more) {
    const auto at = std::ranges::find(sum, amount.resource, &Amount::resource);
    if (at == sum.end()) {
      sum.push_back(amount);
    } else {
      at->amount += amount.amount;
    }
  }
  normalize(sum);
}

/// The name of the node into which this one goes: node-3 into node-2, node-2 stays.
std::string crowded_into(const std::string& node) {
  static const std::map<std::string, std::string, std::less<>> merged = {{"node-1", "node-0"},
                                                                         {"node-3", "node-2"}};
  const auto at = merged.find(node);
  return at == merged.end() ? node : at->second;
}

/// Two nodes become one of their size, and the ask twice as large: more victims to choose from, and
/// more of them needed.
std::vector<Change> crowded(const std::vector<Change>& objects) {
  std::vector<Change> result;
  std::map<std::string, Amounts> room;
  for (const Change& object : objects) {
    if (const Node* const node = std::get_if<Node>(&object)) {
      add(room[crowded_into(node->name)], node->allocatable);
    }
  }
  for (Change object : objects) {
    if (Node* const node = std::get_if<Node>(&object)) {
      if (crowded_into(node->name) != node->name) continue;
      node->allocatable = room.at(node->name);
    }
    if (Pod* const pod = std::get_if<Pod>(&object)) {
      pod->node = crowded_into(pod->node);
      pod->nominated_node = crowded_into(pod->nominated_node);
      if (pod->name == "ask") add(pod->requests, Amounts(pod->requests));
    }
    result.push_back(std::move(object));
  }
  return result;
}

/// Another nominated pod holds its room and nothing more: that others must not spoil its affinity
/// or spread from other nodes is not what the brute force looks at.
void make_nominated_plain(std::vector<Change>& objects) {
  for (Change& object : objects) {
    Pod* const pod = std::get_if<Pod>(&object);
    if (pod == nullptr || pod->nominated_node.empty() || pod->name == "ask") continue;
    pod->shape.affinity.clear();
    pod->shape.anti_affinity.clear();
    pod->shape.spread.clear();
  }
}

std::vector<Change> random_case(Prng& random) {
  const RandomPlanning options = small_options(random);
  std::vector<Change> objects = random_planning(random, options);
  make_nominated_plain(objects);
  return random.chance(40) ? crowded(objects) : objects;
}

void change_keys(Prng& random, WorkloadSettings& workload) {
  if (random.chance(30)) {
    random.shuffle(workload.score_keys);
    if (random.chance(50)) workload.score_keys.resize(1 + random.below(workload.score_keys.size()));
    if (random.chance(20)) {
      std::ranges::replace(workload.score_keys, ScoreKey::priority_sum, ScoreKey::raw_priority_sum);
    }
  }
}

/// The default preset without cascades, with what may change and leave the task the same.
Configuration random_rules(Prng& random) {
  Configuration configuration = *load_preset(default_preset);
  configuration.engine.cascade_depth = 0;
  configuration.required_node.enabled = false;  // Pinned pods have an oracle of their own.
  if (random.chance(25)) return configuration;
  change_keys(random, configuration.workload);
  if (random.chance(25)) configuration.budgets.mode = BudgetMode::strict;
  if (random.chance(10)) configuration.protection.protect_system_critical = false;
  if (random.chance(10)) configuration.protection.namespaces = {"space-1"};
  if (random.chance(10)) configuration.protection.minimum_runtime = {200'000};
  if (random.chance(30)) configuration.engine.leave_wait_max = {random.between(0, 3) * 10'000};
  if (random.chance(10)) configuration.engine.leave_timeout = {random.between(0, 3) * 30'000};
  CHECK(!has_errors(validate(configuration)), "random rules must be valid");
  return configuration;
}

// ---- Comparing ----------------------------------------------------------------------------------

std::string text(const ScoreTerms& score) {
  std::string result;
  for (const ScoreTerm& term : score) {
    result += fmt::format(" {}={}", choice_name(term.key), term.value);
  }
  return result;
}

std::string text(const Cluster& cluster, NodeIndex node, const std::vector<PodIndex>& victims) {
  std::string result(cluster.text(cluster.nodes().name[node]));
  for (const PodIndex pod : victims) result += " " + cluster.pod_key(pod);
  return result;
}

std::string text(const Cluster& cluster, const BruteAnswer& answer) {
  std::string result = fmt::format("best{}", text(answer.score));
  for (const BrutePlace& place : answer.places) {
    result += "\n  " + text(cluster, place.node, place.victims);
  }
  return result;
}

std::vector<PodIndex> victims_of(const Cluster& cluster, const PlanAsk& ask) {
  std::vector<PodIndex> pods;
  pods.reserve(ask.victims.size());
  for (const PlanVictim& victim : ask.victims) {
    pods.push_back(*cluster.find_pod(victim.namespace_name, victim.name));
  }
  std::ranges::sort(pods);
  return pods;
}

PlanAsk decided(const Cluster& cluster, const Configuration& configuration) {
  const AskName name{.kind = AskKind::pod, .namespace_name = "default", .name = "ask"};
  Decision decision =
      decide(cluster, configuration,
             {.now = planning_now, .preset = "random", .asks = {name}, .placements = {}});
  CHECK(decision.plan.has_value(), "the request is a good one");
  return std::move(decision.plan->asks.front());
}

void expect_best(const Cluster& cluster, const Configuration& configuration, const PlanAsk& ask,
                 const BruteAnswer& best) {
  const std::vector<PodIndex> victims = victims_of(cluster, ask);
  const NodeIndex node = *cluster.find_node(ask.placements.front().node);
  EXPECT_TRUE(ask.bounds_reached.empty());
  EXPECT_EQ(text(ask.score), text(NaiveScore(cluster, configuration, planning_now).score(victims)))
      << "the score of the victims " << text(cluster, node, victims);
  EXPECT_EQ(text(ask.score), text(best.score)) << text(cluster, node, victims) << "\n"
                                               << text(cluster, best) << "\n"
                                               << canonical_text(configuration);
  const bool among_the_best = std::ranges::any_of(best.places, [&](const BrutePlace& place) {
    return place.node == node && place.victims == victims;
  });
  EXPECT_TRUE(among_the_best) << text(cluster, node, victims) << "\n" << text(cluster, best);
  EXPECT_EQ(node, best.places.front().node) << "of equal nodes the first by name";
}

/// What the plan must say; `infeasible` and `not-found` both mean that there is no set of victims.
void expect_answer(const Cluster& cluster, const Configuration& configuration, const PlanAsk& ask,
                   const BruteAnswer& best) {
  const std::string outcome(choice_name(ask.outcome));
  const auto context = [&] {
    return fmt::format("{}\n{}\n{}\n{}", ask.reason, text(cluster, best),
                       canonical_text(configuration), dump(cluster, DumpFormat::yaml));
  };
  switch (best.verdict) {
    case BruteVerdict::fits: EXPECT_EQ(outcome, "fits") << context(); return;
    case BruteVerdict::waits: EXPECT_EQ(outcome, "waits") << context(); return;
    case BruteVerdict::nothing:
      EXPECT_TRUE(outcome == "infeasible" || outcome == "not-found") << outcome << context();
      return;
    case BruteVerdict::unknown: return;
    case BruteVerdict::preempts: break;
  }
  ASSERT_EQ(outcome, "preempts") << context();
  expect_best(cluster, configuration, ask, best);
}

TEST(BestVictims, AreThoseOfTheBruteForce) {
  std::array<std::uint64_t, 5> verdicts{};
  std::uint64_t cases = 0;
  for_each_case("the best victims are those of the brute force", [&](Prng& random) {
    const Cluster cluster = cluster_of(random_case(random));
    const Configuration configuration = random_rules(random);
    const PodIndex ask = *cluster.find_pod("default", "ask");
    const BruteAnswer best = brute_force(cluster, configuration, ask, planning_now);
    ++cases;
    ++verdicts.at(static_cast<std::size_t>(best.verdict));
    expect_answer(cluster, configuration, decided(cluster, configuration), best);
  });
  const std::uint64_t preempting = verdicts.at(static_cast<std::size_t>(BruteVerdict::preempts));
  const std::uint64_t unknown = verdicts.at(static_cast<std::size_t>(BruteVerdict::unknown));
  fmt::print("{} of {} cases need victims, {} are too big to decide\n", preempting, cases, unknown);
  if (cases < 1000) return;
  EXPECT_GT(preempting * 5, cases) << "too few cases are about victims";
  EXPECT_LT(unknown * 100, cases * 3) << "too many cases are too big";
}

/// The judge of the judge: what the brute force calls best is a plan that keeps the laws.
TEST(BestVictims, OfTheBruteForceKeepTheLaws) {
  for_each_case("the victims of the brute force keep the laws", [](Prng& random) {
    const Cluster cluster = cluster_of(random_case(random));
    const Configuration configuration = random_rules(random);
    const PodIndex ask = *cluster.find_pod("default", "ask");
    for (const BrutePlace& place : brute_force(cluster, configuration, ask, planning_now).places) {
      const auto breach = breach_of(cluster, configuration, ask, place, planning_now);
      EXPECT_FALSE(breach) << "law " << breach->law << ": " << breach->text;
    }
  });
}

}  // namespace
}  // namespace makeway::best_victims_properties
