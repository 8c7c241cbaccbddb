// Which sessions leave, compared with every set of sessions that could.
#include "policies/session/session_victims.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/prng.hpp"
#include "policies/decide.hpp"

namespace makeway {
namespace {

constexpr Time now{1'000'000'000};
using Row = std::array<std::int64_t, 2>;  // GPUs and memory.

struct Case {
  std::vector<Row> nodes;
  std::vector<Session> running;
  Session ask;
};

Amounts amounts(std::int64_t gpus, std::int64_t memory) {
  return {{"memory", memory}, {"nvidia.com/gpu", gpus}};
}

Row row_of(const Kernel& kernel) { return {kernel.requests[1].amount, kernel.requests[0].amount}; }

Case random_case(Prng& random, std::int64_t ask_kernels, bool alike) {
  Case made;
  std::vector<Row> free;
  for (std::int64_t at = random.between(1, 3); at > 0; --at) {
    made.nodes.push_back({random.between(2, 5), random.between(4, 9)});
  }
  free = made.nodes;
  for (int at = 0; at < 8; ++at) {
    Session session{.namespace_name = "default",
                    .name = fmt::format("s{}", at),
                    .resource_group = "gpu",
                    .priority = static_cast<std::int32_t>(random.between(1, 3))};
    for (std::int64_t kernel = random.chance(25) ? 2 : 1; kernel > 0; --kernel) {
      const std::size_t node = random.below(free.size());
      const Row wanted = {random.between(1, 2), random.between(1, 3)};
      if (wanted[0] > free[node][0] || wanted[1] > free[node][1]) continue;
      free[node][0] -= wanted[0];
      free[node][1] -= wanted[1];
      session.kernels.push_back({.name = fmt::format("k{}", kernel),
                                 .requests = amounts(wanted[0], wanted[1]),
                                 .node = fmt::format("n{}", node)});
    }
    if (session.kernels.empty()) continue;
    std::ranges::sort(session.kernels, {}, &Kernel::name);
    session.status.phase = SessionPhase::running;
    session.status.started = Time{random.between(1, 5) * 1'000};
    made.running.push_back(std::move(session));
  }
  made.ask = {.namespace_name = "default",
              .name = "ask",
              .created = now,
              .resource_group = "gpu",
              .priority = static_cast<std::int32_t>(random.between(2, 4))};
  Row wanted{};
  for (std::int64_t kernel = 0; kernel < ask_kernels; ++kernel) {
    if (kernel == 0 || !alike) wanted = {random.between(1, 4), random.between(1, 5)};
    made.ask.kernels.push_back(
        {.name = fmt::format("k{}", kernel), .requests = amounts(wanted[0], wanted[1])});
  }
  return made;
}

Cluster cluster_of(const Case& made) {
  Cluster cluster;
  ResourceGroup group{.name = "gpu"};
  for (std::size_t at = 0; at < made.nodes.size(); ++at) {
    group.nodes.push_back(fmt::format("n{}", at));
    cluster.apply(Node{.name = group.nodes.back(),
                       .allocatable = amounts(made.nodes[at][0], made.nodes[at][1])});
  }
  cluster.apply(group);
  for (const Session& session : made.running) cluster.apply(session);
  cluster.apply(made.ask);
  return cluster;
}

bool placed(const std::vector<Kernel>& kernels, std::size_t at, std::vector<Row>& free) {
  if (at == kernels.size()) return true;
  const Row wanted = row_of(kernels[at]);
  for (Row& node : free) {
    if (wanted[0] > node[0] || wanted[1] > node[1]) continue;
    node = {node[0] - wanted[0], node[1] - wanted[1]};
    const bool found = placed(kernels, at + 1, free);
    node = {node[0] + wanted[0], node[1] + wanted[1]};
    if (found) return true;
  }
  return false;
}

bool fits_without(const Case& made, const std::vector<const Session*>& gone) {
  std::vector<Row> free = made.nodes;
  for (const Session& session : made.running) {
    if (std::ranges::find(gone, &session) != gone.end()) continue;
    for (const Kernel& kernel : session.kernels) {
      Row& node = free[static_cast<std::size_t>(kernel.node[1] - '0')];
      node = {node[0] - row_of(kernel)[0], node[1] - row_of(kernel)[1]};
    }
  }
  return placed(made.ask.kernels, 0, free);
}

/// Every set, most important member first; the best by the rule. None: nothing helps.
std::optional<std::vector<std::string>> best_set(const Case& made, bool fewest) {
  std::vector<const Session*> candidates;
  for (const Session& session : made.running) {
    if (*session.priority < *made.ask.priority) candidates.push_back(&session);
  }
  std::ranges::sort(candidates, {}, [](const Session* session) {
    return std::tuple(*session->priority, *session->status.started, session->name);
  });
  using Rank = std::tuple<std::int32_t, std::size_t, std::vector<std::size_t>>;
  std::optional<Rank> best;
  for (std::size_t set = 0; set < (std::size_t{1} << candidates.size()); ++set) {
    std::vector<const Session*> gone;
    std::vector<std::size_t> ranks;  // Most important first.
    for (std::size_t at = candidates.size(); at-- > 0;) {
      if ((set >> at & 1) == 0) continue;
      gone.push_back(candidates[at]);
      ranks.push_back(at);
    }
    const std::int32_t level = fewest && !gone.empty() ? *gone.front()->priority : 0;
    Rank rank{level, fewest ? gone.size() : 0, std::move(ranks)};
    if ((!best || rank < *best) && fits_without(made, gone)) best = std::move(rank);
  }
  if (!best) return std::nullopt;
  std::vector<std::string> names;
  for (const std::size_t at : std::get<2>(*best)) names.push_back(candidates[at]->name);
  return names;
}

void compare(std::int64_t kernels, bool alike, PreemptionOrder order) {
  constexpr std::uint64_t cases = 300;
  std::size_t preempting = 0;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    SCOPED_TRACE(seed);
    Prng random(seed);
    const Case made = random_case(random, kernels, alike);
    Configuration configuration;
    configuration.session.preemption_order = order;
    const Plan plan = *decide(cluster_of(made), configuration,
                              {.now = now, .preset = {}, .asks = {}, .placements = {}})
                           .plan;
    const auto best = best_set(made, order == PreemptionOrder::fewest);
    const PlanAsk& ask = plan.asks.front();
    if (!best) {
      ASSERT_EQ(ask.outcome, Outcome::infeasible);
      continue;
    }
    ASSERT_EQ(ask.outcome, best->empty() ? Outcome::fits : Outcome::preempts);
    std::vector<std::string> victims;
    victims.reserve(ask.victims.size());
    for (const PlanVictim& victim : ask.victims) victims.push_back(victim.name);
    ASSERT_EQ(victims, *best);
    preempting += best->empty() ? 0 : 1;
  }
  EXPECT_GT(preempting, cases / 6);
}

TEST(SessionVictims, OneKernel) { compare(1, true, PreemptionOrder::oldest); }
TEST(SessionVictims, SeveralKernelsThatAreAlike) { compare(2, true, PreemptionOrder::oldest); }
TEST(SessionVictims, SeveralKernelsThatDiffer) { compare(3, false, PreemptionOrder::oldest); }
TEST(SessionVictims, TheFewestForOneKernel) { compare(1, true, PreemptionOrder::fewest); }
TEST(SessionVictims, TheFewestForKernelsThatAreAlike) { compare(3, true, PreemptionOrder::fewest); }

}  // namespace
}  // namespace makeway
