// Queues over random trees and clusters (SPEC section 3, docs/decisions/0008-queues.md): every plan
// keeps the laws; division wastes nothing and follows weights; a plan that is carried out stands;
// victims are the best ones; and it all comes to rest.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/dump.hpp"
#include "codec/plan_codec.hpp"
#include "codec/presets.hpp"
#include "judge/check_plan.hpp"
#include "judge/naive_queues.hpp"
#include "model/compatibility.hpp"
#include "model/selector.hpp"
#include "policies/decide.hpp"
#include "support/best_queue_victims.hpp"
#include "support/history.hpp"
#include "support/property.hpp"
#include "support/random_queues.hpp"

namespace makeway::queue_properties {
namespace {

Configuration queue_configuration(Prng& random) {
  Configuration configuration = *load_preset(default_preset);
  QueueSettings& settings = configuration.queue;
  if (random.chance(40)) settings.division = Division::by_weight;
  if (random.chance(25)) apply_compatibility(configuration, Compatibility::kube_arbitrator);
  if (random.chance(20)) settings.preempt_within_queue = false;
  if (random.chance(20)) configuration.budgets.mode = BudgetMode::strict;
  if (random.chance(20)) {
    configuration.engine.preemption_delay = Duration{random.between(1, 300) * 1'000};
  }
  return configuration;
}

Plan plan_for(const Cluster& cluster, const Configuration& configuration, bool explain = true) {
  Decision decision = decide(
      cluster, configuration,
      {.now = planning_now, .preset = "random", .asks = {}, .placements = {}, .explain = explain});
  return *std::move(decision.plan);
}

void expect_lawful(const Cluster& cluster, const Configuration& configuration, const Plan& plan) {
  for (const LawBreach& breach : check_plan(cluster, configuration, plan)) {
    ADD_FAILURE() << "law " << breach.law << ", " << breach.ask << ": " << breach.text;
  }
  if (testing::Test::HasFailure()) {
    ADD_FAILURE() << short_text(plan) << "\n" << dump(cluster, DumpFormat::yaml);
  }
}

/// The pods that leave for queues.
std::set<std::string> queue_victims(const Plan& plan) {
  std::set<std::string> names;
  for (const PlanAsk& ask : plan.asks) {
    if (ask.kind != AskKind::queue) continue;
    for (const PlanVictim& victim : ask.victims) {
      names.insert(victim.namespace_name + "/" + victim.name);
    }
  }
  return names;
}

TEST(QueueProperties, EveryPlanKeepsTheLaws) {
  std::size_t moving = 0;
  std::size_t evicting = 0;
  std::size_t inside = 0;
  for_each_case("queues: every plan keeps the laws", [&](Prng& random) {
    const RandomQueueCase item = random_queue_case(random);
    const Cluster cluster = cluster_of(item.objects);
    const Configuration configuration = queue_configuration(random);
    const Plan plan = plan_for(cluster, configuration, random.chance(50));
    expect_lawful(cluster, configuration, plan);
    moving += plan.queue_moves.empty() ? 0 : 1;
    evicting += queue_victims(plan).empty() ? 0 : 1;
    inside += std::ranges::any_of(plan.asks,
                                  [](const PlanAsk& ask) {
                                    return ask.kind != AskKind::queue && !ask.victims.empty();
                                  })
                  ? 1
                  : 0;
  });
  fmt::print("{} plans move something, {} evict between queues, {} inside one\n", moving, evicting,
             inside);
}

// ---- Division -----------------------------------------------------------------------------------

std::map<std::string, std::int64_t> totals_of(const Cluster& cluster,
                                              const Configuration& configuration) {
  std::map<std::string, std::int64_t> totals;
  const NaiveQueues queues(cluster, configuration, planning_now);
  for (std::size_t column = 0; column < queues.totals.size(); ++column) {
    totals[std::string(cluster.resources().name(queues.resources[column]))] = queues.totals[column];
  }
  return totals;
}

/// Why a queue gets no more: it has its limit, or its level is full and so on up. Nothing else may
/// be the reason; a guarantee without demand fills its level, too.
bool has_all_it_may(const Cluster& cluster, const Configuration& configuration, const Plan& plan,
                    std::string name, std::size_t column) {
  std::map<std::string, std::int64_t> totals = totals_of(cluster, configuration);
  while (true) {
    const auto reported = std::ranges::find(plan.queues, name, &PlanQueue::name);
    const std::string& resource = reported->shares[column].resource;
    if (const auto object = cluster.own<Queue>().find({"", name});
        object != cluster.own<Queue>().end()) {
      const auto at = std::ranges::find(object->second.limit, resource, &Amount::resource);
      const bool limited = at != object->second.limit.end();
      if (limited && reported->shares[column].deserved >= at->amount) return true;
    }
    std::int64_t level = 0;
    for (const PlanQueue& each : plan.queues) {
      if (each.parent == reported->parent) level += each.shares[column].deserved;
    }
    const auto parent = std::ranges::find(plan.queues, reported->parent, &PlanQueue::name);
    const bool root = parent == plan.queues.end();
    if (level != (root ? totals[resource] : parent->shares[column].deserved)) return false;
    if (root) return true;
    name = parent->name;
  }
}

void expect_conserved(const Cluster& cluster, const Configuration& configuration,
                      const Plan& plan) {
  std::map<std::string, std::int64_t> before;
  std::map<std::string, std::int64_t> after;
  std::map<std::string, std::int64_t> deserved;
  for (const PlanQueue& queue : plan.queues) {
    for (const PlanQueueShare& share : queue.shares) {
      if (queue.parent.empty()) deserved[share.resource] += share.deserved;
      if (!queue.leaf) continue;
      // What its pods hold and no eviction can free is allocated in fact.
      before[share.resource] += std::max(share.allocated_before, share.used);
      after[share.resource] += share.allocated + share.preempting;
    }
  }
  for (const auto& [resource, total] : totals_of(cluster, configuration)) {
    EXPECT_LE(deserved[resource], total) << resource;
    EXPECT_LE(after[resource], std::max(total, before[resource])) << resource;
  }
}

/// What the leaves below a limit get never makes them pass it; what they hold already may.
void expect_within_limits(const Cluster& cluster, const Plan& plan) {
  std::map<std::pair<std::string, std::string>, std::int64_t> held;
  for (const PlanQueue& leaf : plan.queues) {
    if (!leaf.leaf) continue;
    for (auto at = std::ranges::find(plan.queues, leaf.name, &PlanQueue::name);
         at != plan.queues.end();
         at = std::ranges::find(plan.queues, at->parent, &PlanQueue::name)) {
      for (const PlanQueueShare& share : leaf.shares) {
        held[{at->name, share.resource}] += std::max(share.allocated_before, share.used);
      }
    }
  }
  for (const PlanQueue& queue : plan.queues) {
    const auto object = cluster.own<Queue>().find({"", queue.name});
    if (object == cluster.own<Queue>().end()) continue;
    for (const PlanQueueShare& share : queue.shares) {
      const auto at = std::ranges::find(object->second.limit, share.resource, &Amount::resource);
      if (at == object->second.limit.end()) continue;
      const std::int64_t before = held[{queue.name, share.resource}];
      EXPECT_LE(share.allocated + share.preempting, std::max(at->amount, before))
          << queue.name << " " << share.resource << "\n"
          << dump(cluster, DumpFormat::yaml);
    }
  }
}

/// Under max-min nothing is unused that a queue wants and may have; and what is allocated and what
/// is to come is never more than there is, once it is not too much.
TEST(QueueProperties, NothingLiesIdleOrIsCountedTwice) {
  Skips by_weight;
  for_one_case_in(4, "queues: conservation and work conservation", [&](Prng& random) {
    const RandomQueueCase item = random_plain_queue_case(random);
    const Cluster cluster = cluster_of(item.objects);
    const Configuration configuration = queue_configuration(random);
    const Plan plan = plan_for(cluster, configuration, false);
    expect_conserved(cluster, configuration, plan);
    expect_within_limits(cluster, plan);
    if (configuration.queue.division != Division::max_min) return by_weight.add();
    for (const PlanQueue& queue : plan.queues) {
      for (std::size_t column = 0; queue.leaf && column < queue.shares.size(); ++column) {
        const PlanQueueShare& share = queue.shares[column];
        if (share.deserved >= share.demand) continue;
        EXPECT_TRUE(has_all_it_may(cluster, configuration, plan, queue.name, column))
            << queue.name << " " << share.resource << " deserves " << share.deserved << " of "
            << share.demand << "\n"
            << dump(cluster, DumpFormat::yaml);
      }
    }
  });
  by_weight.expect_at_most(60, "divide by weight, which may leave something idle",
                           property_cases() / 4);
}

/// More weight never means less; of the others' shares none grows, but for the one unit by which
/// rounding by largest fraction may shift.
TEST(QueueProperties, MoreWeightNeverMeansLess) {
  for_one_case_in(5, "queues: monotone in weight", [](Prng& random) {
    const RandomQueueCase item = random_plain_queue_case(random);
    Cluster cluster = cluster_of(item.objects);
    const Configuration configuration = queue_configuration(random);
    const Plan before = plan_for(cluster, configuration, false);
    std::vector<Queue> queues;
    for (const auto& [key, queue] : cluster.own<Queue>()) queues.push_back(queue);
    Queue raised = random.pick(queues);
    raised.weight += random.between(1, 5);
    cluster.apply(raised);
    const Plan after = plan_for(cluster, configuration, false);
    for (std::size_t at = 0; at < before.queues.size(); ++at) {
      if (before.queues[at].parent != raised.parent) continue;
      for (std::size_t column = 0; column < before.queues[at].shares.size(); ++column) {
        const std::int64_t first = before.queues[at].shares[column].deserved;
        const std::int64_t second = after.queues[at].shares[column].deserved;
        if (before.queues[at].name == raised.name) {
          EXPECT_GE(second, first) << dump(cluster, DumpFormat::yaml);
        } else {
          EXPECT_LE(second, first + 1) << dump(cluster, DumpFormat::yaml);
        }
      }
    }
  });
}

// ---- Once more ----------------------------------------------------------------------------------

TEST(QueueProperties, ShufflingChangesNothing) {
  for_one_case_in(5, "queues: shuffling changes nothing", [](Prng& random) {
    const RandomQueueCase item = random_queue_case(random);
    const Configuration configuration = queue_configuration(random);
    std::vector<Change> shuffled = item.objects;
    random.shuffle(shuffled);
    const auto reported = [&](const Cluster& cluster) {
      return plan_text_json(plan_for(cluster, configuration), PlanDetail::with_explanation,
                            JsonStyle::compact);
    };
    EXPECT_EQ(reported(cluster_of(item.objects)), reported(cluster_of(shuffled, false)));
  });
}

/// As the world does it: the status, deletion timestamps, and budgets that are spent.
void carry_out_queues(Cluster& cluster, const Plan& plan) {
  for (const Queue& queue : queues_after(cluster, plan)) cluster.apply(queue);
  for (const std::string& name : queue_victims(plan)) {
    const std::size_t slash = name.find('/');
    Pod pod = cluster.pod(*cluster.find_pod(name.substr(0, slash), name.substr(slash + 1)));
    pod.deletion = planning_now;
    cluster.apply(pod);
    std::vector<DisruptionBudget> spent;
    for (const DisruptionBudget* const budget : cluster.budgets()) {
      const bool governed = governs(*budget, pod.namespace_name, pod.labels);
      if (governed && budget->disruptions_allowed.value_or(0) > 0) spent.push_back(*budget);
    }
    for (DisruptionBudget& budget : spent) {
      --*budget.disruptions_allowed;
      cluster.apply(budget);
    }
  }
}

/// What queues deserve, have and are promised; empty: the same.
std::string changed_promises(const Plan& plan, const Plan& again) {
  std::string changes;
  for (std::size_t at = 0; at < plan.queues.size(); ++at) {
    for (std::size_t column = 0; column < plan.queues[at].shares.size(); ++column) {
      const PlanQueueShare& first = plan.queues[at].shares[column];
      const PlanQueueShare& second = again.queues[at].shares[column];
      const bool same = first.deserved == second.deserved && first.allocated == second.allocated &&
                        first.preempting == second.preempting;
      if (!same) changes += fmt::format("{} of queue {}\n", first.resource, plan.queues[at].name);
    }
  }
  return changes;
}

/// The status is written and the victims are leaving: the next plan says the same and evicts no
/// other pod. Strict budgets that govern pods of several queues are the exception (decision 0008):
/// what a queue was taken to be unable to give may be possible once it is known which queue spends
/// them.
TEST(QueueProperties, APlanThatIsCarriedOutStands) {
  Skips more;
  std::uint64_t strict = 0;
  for_one_case_in(3, "queues: idempotent", [&](Prng& random) {
    const RandomQueueCase item = random_plain_queue_case(random);
    Cluster cluster = cluster_of(item.objects);
    const Configuration configuration = queue_configuration(random);
    const Plan plan = plan_for(cluster, configuration, false);
    carry_out_queues(cluster, plan);
    const Plan again = plan_for(cluster, configuration, false);
    expect_lawful(cluster, configuration, again);
    const std::set<std::string> others = queue_victims(again);
    const std::string changes = changed_promises(plan, again);
    if (configuration.budgets.mode == BudgetMode::strict && !cluster.budgets().empty()) {
      ++strict;
      if (!others.empty() || !changes.empty()) more.add();
      return;
    }
    EXPECT_EQ(others, std::set<std::string>{}) << short_text(plan);
    EXPECT_EQ(changes, "");
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << canonical_text(configuration) << short_text(plan) << "then\n"
                    << short_text(again) << dump(cluster_of(item.objects), DumpFormat::yaml);
    }
  });
  more.expect_at_most(1, "with strict budgets move something else next", strict);
}

// ---- Victims ------------------------------------------------------------------------------------

/// Some budget governs pods of several queues that lose pods: the plan does not say which queue
/// spends it first.
bool budgets_are_shared(const Cluster& cluster, const NaiveQueues& queues) {
  for (const DisruptionBudget* const budget : cluster.budgets()) {
    std::set<std::size_t> losers;
    for (const NaiveCandidate& each : queues.candidates) {
      const bool loses =
          std::ranges::any_of(queues.queues[each.queue].shares,
                              [](const NaiveShare& share) { return share.need() > 0; });
      for (const PodIndex pod : each.pods) {
        const Pod object = cluster.pod(pod);
        const bool governed = governs(*budget, object.namespace_name, object.labels);
        if (loses && governed) losers.insert(each.queue);
      }
    }
    if (losers.size() > 1) return true;
  }
  return false;
}

TEST(QueueProperties, VictimsAreTheBestOfTheirQueue) {
  std::size_t compared = 0;
  std::size_t several = 0;
  Skips shared;
  Skips too_many;  // Queues, not cases.
  std::uint64_t leaves = 0;
  for_one_case_in(3, "queues: best victims", [&](Prng& random) {
    const RandomQueueCase item = random_plain_queue_case(random);
    const Cluster cluster = cluster_of(item.objects);
    Configuration configuration = queue_configuration(random);
    configuration.budgets.mode = BudgetMode::best_effort;
    const Plan plan = plan_for(cluster, configuration, false);
    const NaiveQueues queues(cluster, configuration, planning_now);
    const std::set<std::string> victims = queue_victims(plan);
    if (budgets_are_shared(cluster, queues)) return shared.add();
    for (std::size_t at = 0; at < plan.queues.size(); ++at) {
      if (!plan.queues[at].leaf) continue;
      std::vector<std::int64_t> needed;
      for (const NaiveShare& share : queues.queues[at].shares) needed.push_back(share.need());
      const auto best =
          best_queue_victims(cluster, configuration, planning_now, queues, at, needed);
      ++leaves;
      if (!best) {
        too_many.add();
        continue;
      }
      std::vector<std::string> own;
      for (const std::string& name : victims) {
        const std::size_t slash = name.find('/');
        const auto pod = cluster.find_pod(name.substr(0, slash), name.substr(slash + 1));
        if (queues.queue_of(*pod) == at) own.push_back(name);
      }
      EXPECT_EQ(own, *best) << "queue " << plan.queues[at].name << " must lose "
                            << fmt::format("{}", fmt::join(needed, ", ")) << "\n"
                            << canonical_text(configuration);
      compared += own.empty() ? 0 : 1;
      several += own.size() > 1 ? 1 : 0;
    }
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << short_text(plan) << dump(cluster, DumpFormat::yaml);
    }
  });
  shared.expect_at_most(15, "have budgets that several queues spend", property_cases() / 3);
  too_many.expect_at_most(20, "are queues with too many pods to decide", leaves);
  fmt::print("{} queues lose what is best, {} of them several pods\n", compared, several);
  if (property_cases() >= 1000) {
    EXPECT_GT(compared * 10, leaves) << "too few queues lose something";
  }
}

// ---- Cycle after cycle --------------------------------------------------------------------------

/// At most so many cycles until no pod is leaving and none is evicted, with every pod resubmitted:
/// at most forty pods run (ten a node, four nodes), and each is evicted once. In fact it takes ten.
constexpr std::size_t cycles_max = 40;
constexpr std::size_t quiet_cycles = 4;

void own_all_pods(std::vector<Change>& objects) {
  for (Change& object : objects) {
    Pod* const pod = std::get_if<Pod>(&object);
    if (pod == nullptr) continue;
    pod->owners = {{.kind = "ReplicaSet", .name = "set", .uid = "set-uid", .controller = true}};
  }
}

bool comes_to_rest(History& history) {
  std::size_t quiet = 0;
  while (history.cycles() < cycles_max && history.complaints().empty()) {
    const std::int64_t before = history.evictions();
    history.step();
    const bool moved = history.evictions() != before || history.any_pod_leaving();
    quiet = moved ? 0 : quiet + 1;
    if (quiet == quiet_cycles) return true;
  }
  return false;
}

/// Law 12 for queues: victims are submitted again, claims and priorities meet, and it ends.
TEST(QueueHistories, VictimsResubmittedComeToRest) {
  std::size_t longest = 0;
  for_one_case_in(20, "queues: histories come to rest", [&](Prng& random) {
    RandomQueueCase item = random_plain_queue_case(random, QueueQuirks::without);
    own_all_pods(item.objects);
    Configuration configuration = queue_configuration(random);
    configuration.budgets.mode = BudgetMode::best_effort;
    configuration.engine.preemption_delay = {};  // It would only take longer.
    History history(item.objects, configuration, planning_now,
                    {.seed = random.next(),
                     .step_min = {1'000},
                     .step_max = {20'000},
                     .grace_max = {random.chance(30) ? 0 : 30'000},
                     .recreate = true,
                     .takers = Takers::higher_placeless});
    EXPECT_TRUE(comes_to_rest(history)) << history.story();
    EXPECT_TRUE(history.complaints().empty()) << history.story();
    longest = std::max(longest, history.cycles());
  });
  fmt::print("at rest after at most {} cycles\n", longest);
}

}  // namespace
}  // namespace makeway::queue_properties
