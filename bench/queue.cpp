// Queues: what the division and both stages cost. Every answer goes to check_plan and is compared
// with what follows from how the cluster was made, before a time is taken; the times are those of
// the whole `decide` without explanations.
//
//   queue [SUBSTRING]   cases whose name contains it, as "many-10000x100000"
//
//   many    queues in teams of a hundred, all full; half of them use one pod too many and give it
//           to the other half (by weight: without an ask). 1,000 and 10,000 queues
//   claim   ten queues of equal weight and 100 to 10,000 running pods; one pod of the first queue
//           asks, and one of the last leaves for it
//   quiet   the state after `many`: nothing moves
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/policy_bench.hpp"
#include "codec/presets.hpp"

namespace makeway::bench {
namespace {

constexpr Time now{1'767'225'600'000};
constexpr std::size_t team_size = 100;
constexpr std::size_t pods_per_node = 50;
constexpr std::int64_t pod_cpu = 100;
constexpr std::int64_t pod_memory = 1'000;

enum class Shape : std::uint8_t { many, quiet, claim };

struct QueueBench {
  std::string_view name;
  Shape shape = Shape::many;
  std::size_t queues = 0;
  std::size_t pods = 0;
  std::int64_t target_us = 0;  ///< 0: none.
};

constexpr std::array cases = {
    QueueBench{.name = "many", .shape = Shape::many, .queues = 1'000, .pods = 10'000},
    QueueBench{.name = "many",
               .shape = Shape::many,
               .queues = 10'000,
               .pods = 100'000,
               .target_us = 50'000},
    QueueBench{.name = "quiet",
               .shape = Shape::quiet,
               .queues = 10'000,
               .pods = 100'000,
               .target_us = 50'000},
    QueueBench{.name = "claim", .shape = Shape::claim, .queues = 10, .pods = 100},
    QueueBench{.name = "claim", .shape = Shape::claim, .queues = 10, .pods = 1'000},
    QueueBench{
        .name = "claim", .shape = Shape::claim, .queues = 10, .pods = 10'000, .target_us = 1'000},
};

std::string queue_name(std::size_t queue) { return fmt::format("queue-{:05}", queue); }

Pod pod_of(std::size_t queue, const std::string& name) {
  return {.namespace_name = "default",
          .name = name,
          .uid = "uid-" + name,
          .labels = {{.key = "makeway.dev/queue", .value = queue_name(queue)}},
          .requests = {{"cpu", pod_cpu}, {"memory", pod_memory}},
          .created = now};
}

/// Nodes that the pods fill exactly.
class Filler {
 public:
  Filler(Cluster& cluster, std::size_t pods) : cluster_(cluster) {
    for (std::size_t at = 0; at * pods_per_node < pods; ++at) {
      const auto here =
          static_cast<std::int64_t>(std::min(pods_per_node, pods - at * pods_per_node));
      cluster.apply(Node{
          .name = node_name(at),
          .allocatable = {{"cpu", here * pod_cpu}, {"memory", here * pod_memory}, {"pods", 110}}});
    }
  }

  void run(std::size_t queue) {
    Pod pod = pod_of(queue, fmt::format("pod-{:06}", count_));
    pod.node = node_name(count_ / pods_per_node);
    pod.started = now + Duration{-1'000 * static_cast<std::int64_t>(1 + count_ * 7919 % 100'003)};
    cluster_.apply(pod);
    ++count_;
  }

 private:
  static std::string node_name(std::size_t at) { return fmt::format("node-{:05}", at); }

  Cluster& cluster_;
  std::size_t count_ = 0;
};

/// Of `many`, every second queue runs one pod too many and the others one too few.
Cluster make_cluster(const QueueBench& item) {
  Cluster cluster;
  cluster.begin_bulk();
  const bool teams = item.shape != Shape::claim;
  for (std::size_t queue = 0; queue < item.queues; ++queue) {
    const std::string team = fmt::format("team-{:04}", queue / team_size);
    if (teams && queue % team_size == 0) cluster.apply(Queue{.name = team});
    cluster.apply(Queue{.name = queue_name(queue), .parent = teams ? team : std::string()});
  }
  const std::size_t each = item.pods / item.queues;
  Filler filler(cluster, item.pods);
  for (std::size_t queue = 0; queue < item.queues; ++queue) {
    std::size_t pods = each;
    if (item.shape == Shape::many) pods = queue % 2 == 0 ? each + 1 : each - 1;
    if (item.shape == Shape::claim && queue == 0) --pods;
    if (item.shape == Shape::claim && queue + 1 == item.queues) ++pods;
    for (std::size_t pod = 0; pod < pods; ++pod) filler.run(queue);
  }
  if (item.shape == Shape::claim) cluster.apply(pod_of(0, "ask"));
  cluster.finish_bulk();
  return cluster;
}

std::size_t victims_expected(const QueueBench& item) {
  switch (item.shape) {
    case Shape::many: return item.queues / 2;
    case Shape::quiet: return 0;
    case Shape::claim: return 1;
  }
  return 0;
}

/// Every leaf deserves the same, and a queue that had one pod too few is promised one.
bool right_answer(const QueueBench& item, const Plan& plan) {
  std::size_t victims = 0;
  for (const PlanAsk& ask : plan.asks) victims += ask.victims.size();
  std::int64_t promised = 0;
  bool equal = true;
  const auto each = static_cast<std::int64_t>(item.pods / item.queues) * pod_cpu;
  for (const PlanQueue& queue : plan.queues) {
    if (!queue.leaf) continue;
    const PlanQueueShare& cpu = queue.shares.front();
    equal = equal && cpu.resource == "cpu" && cpu.deserved == each;
    promised += cpu.preempting;
  }
  const std::size_t expected = victims_expected(item);
  return equal && victims == expected && promised == static_cast<std::int64_t>(expected) * pod_cpu;
}

bool measure(const QueueBench& item) {
  const Cluster cluster = make_cluster(item);
  Configuration configuration = *load_preset(default_preset);
  if (item.shape != Shape::claim) configuration.queue.division = Division::by_weight;
  const JudgedDecision judged = decide_judged(cluster, configuration, now);
  const bool right = judged.breaches.empty() && right_answer(item, judged.plan);
  print_result(fmt::format("{:5} {:6} queues x {:7} pods  victims {:5}", item.name, item.queues,
                           item.pods, victims_expected(item)),
               time_decision(cluster, configuration, judged), static_cast<double>(item.target_us),
               right, judged);
  return right;
}

int run(int argc, char** argv) {
  const auto name_of = [](const QueueBench& item) {
    return fmt::format("{}-{}x{}", item.name, item.queues, item.pods);
  };
  return run_cases(argc, argv, cases, name_of, measure);
}

}  // namespace
}  // namespace makeway::bench

int main(int argc, char** argv) { return makeway::bench::run(argc, argv); }
