// The sessions that the draft of Backend.AI (preset backend-ai) preempts, beside those that we
// preempt, on the same random clusters: a table for docs/policies/session.md. No times; every plan
// goes to check_plan.
//
//   session_victims [CASES]   how many clusters, 1,000 when it is not said
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "codec/presets.hpp"
#include "judge/check_plan.hpp"
#include "policies/decide.hpp"

namespace makeway::bench {
namespace {

constexpr Time now{1'767'225'600'000};
constexpr std::size_t shown = 12;

/// Three to six nodes of 8 GPUs, nearly full with sessions of all sizes, and one that asks.
Cluster make_cluster(std::uint64_t seed) {
  Prng random(seed);
  Cluster cluster;
  ResourceGroup group{.name = "gpu"};
  const std::int64_t nodes = random.between(3, 6);
  std::int64_t number = 0;
  for (std::int64_t at = 0; at < nodes; ++at) {
    const std::string node = fmt::format("n{}", at + 1);
    group.nodes.push_back(node);
    cluster.apply(Node{.name = node, .allocatable = {{"nvidia.com/gpu", 8}}});
    for (std::int64_t free = 8; free > 0;) {
      const std::int64_t gpus = std::min(free, random.between(1, 4));
      free -= gpus;
      if (random.below(10) == 0) continue;
      Session session{
          .namespace_name = "default",
          .name = fmt::format("s{}", ++number),
          .resource_group = "gpu",
          .priority = static_cast<std::int32_t>(random.between(1, 5)),
          .kernels = {{.name = "main", .requests = {{"nvidia.com/gpu", gpus}}, .node = node}}};
      session.status.phase = SessionPhase::running;
      session.status.started = now + Duration{-60'000 * random.between(1, 600)};
      cluster.apply(session);
    }
  }
  cluster.apply(group);
  cluster.apply(Session{
      .namespace_name = "default",
      .name = "ask",
      .created = now,
      .resource_group = "gpu",
      .priority = 50,
      .kernels = {{.name = "main", .requests = {{"nvidia.com/gpu", random.between(2, 8)}}}}});
  return cluster;
}

struct Sum {
  std::int64_t victims = 0;
  std::int64_t gpu_seconds = 0;
};

PlanAsk ask_of(const Cluster& cluster, const Configuration& configuration, bool& lawful) {
  const PlanRequest request{
      .now = now, .preset = "bench", .asks = {}, .placements = {}, .explain = false};
  const Plan plan = *decide(cluster, configuration, request).plan;
  lawful = lawful && check_plan(cluster, configuration, plan).empty();
  return plan.asks.front();
}

std::string names_of(const PlanAsk& ask) {
  std::string names;
  for (const PlanVictim& victim : ask.victims) {
    names += fmt::format("{}{}", names.empty() ? "" : " ", victim.name);
  }
  return names;
}

void add(const PlanAsk& ask, Sum& sum) {
  sum.victims += static_cast<std::int64_t>(ask.victims.size());
  sum.gpu_seconds += ask.cost.gpu_seconds;
}

int run(std::uint64_t cases) {
  const Configuration draft = *load_preset("backend-ai");
  const Configuration ours = *load_preset(default_preset);
  fmt::print("| case | backend-ai | makeway |\n|---|---|---|\n");
  Sum of_draft;
  Sum of_ours;
  std::uint64_t preempting = 0;
  std::uint64_t more = 0;
  bool lawful = true;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    const Cluster cluster = make_cluster(seed);
    const PlanAsk theirs = ask_of(cluster, draft, lawful);
    const PlanAsk own = ask_of(cluster, ours, lawful);
    if (own.outcome != Outcome::preempts) continue;
    ++preempting;
    if (own.victims.size() > theirs.victims.size()) ++more;
    if (preempting <= shown) {
      fmt::print("| {} | {} | {} |\n", seed, names_of(theirs), names_of(own));
    }
    add(theirs, of_draft);
    add(own, of_ours);
  }
  fmt::print("| {} cases: victims | {} | {} |\n", preempting, of_draft.victims, of_ours.victims);
  fmt::print("| lost work in GPU-hours | {} | {} |\n", of_draft.gpu_seconds / 3600,
             of_ours.gpu_seconds / 3600);
  fmt::print("\nmakeway takes more victims in {} cases; laws {}.\n", more,
             lawful ? "kept in all" : "BROKEN");
  return lawful && more == 0 ? 0 : 1;
}

}  // namespace
}  // namespace makeway::bench

int main(int argc, char** argv) {
  constexpr std::uint64_t standard = 1'000;
  return makeway::bench::run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : standard);
}
