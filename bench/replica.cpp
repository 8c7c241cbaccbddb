// Replicas whose placement is not ours: what one cycle costs for a large fleet. Every answer is
// recounted here before a time is taken; the times are those of `decide` without explanations.
//
//   replica [SUBSTRING]   cases whose name contains it, as "preempt-mixed"
//
//   preempt   full nodes, no free GPU: every ask has to find victims
//   settled   the same fleet after the plan: claims are kept, nothing new is searched
//   refused   no pod is leaving, and the asks are lower than all pods: proofs
//   free      one GPU in fifty is free: the normal phase serves most of the asks
// with pods of one GPU, or of 1, 2, 4 and 8.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.hpp"
#include "bench/support/policy_bench.hpp"
#include "codec/presets.hpp"
#include "model/names.hpp"

namespace makeway::bench {
namespace {

constexpr Time now{1'767'225'600'000};
constexpr std::string_view gpu = "nvidia.com/gpu";
constexpr std::int64_t gpus_per_node = 8;

struct FleetBench {
  std::string_view name;
  std::size_t planes = 50;
  std::size_t nodes = 20'000;
  std::size_t deployments = 5'000;
  std::size_t asks = 500;
  bool mixed = false;
  bool some_free = false;
  bool settled = false;
  bool refused = false;
  std::int64_t target_ms = 200;
};

constexpr std::array cases = {
    FleetBench{.name = "preempt-ones-small",
               .planes = 5,
               .nodes = 1'000,
               .deployments = 250,
               .asks = 25,
               .target_ms = 0},
    FleetBench{.name = "preempt-ones"},
    FleetBench{.name = "preempt-mixed", .mixed = true},
    FleetBench{.name = "settled-mixed", .mixed = true, .settled = true},
    FleetBench{.name = "free-mixed", .mixed = true, .some_free = true},
    FleetBench{.name = "refused-mixed", .mixed = true, .refused = true},
};

/// Which deployment the next pod of that size belongs to, and what it has by now.
class Deployments {
 public:
  explicit Deployments(const FleetBench& item)
      : item_(item), random_(item.nodes * 7 + (item.mixed ? 1 : 0)) {
    for (std::size_t at = 0; at < item.deployments; ++at) {
      const std::int64_t size = item.mixed ? std::int64_t{1} << (at % 4) : 1;
      objects_.push_back({.namespace_name = "fleet",
                          .name = fmt::format("d-{:04}", at),
                          .priority = static_cast<std::int32_t>(random_.below(1'000)),
                          .requests = {{"cpu", 1'000 * size}, {std::string(gpu), size}}});
      // Eight planes, wherever its neighbours are.
      for (std::size_t step = 0; step < std::min<std::size_t>(8, item.planes); ++step) {
        by_size_[{(at + step * 7) % item.planes, size}].push_back(at);
      }
    }
  }

  /// A pod of `size` GPUs on the node.
  void add_pod(Cluster& cluster, const std::string& node, std::size_t plane, std::int64_t size) {
    const std::vector<std::size_t>& of_size = by_size_[{plane, size}];
    const std::size_t at = of_size[random_.below(of_size.size())];
    ReplicaSchedule& schedule = objects_[at];
    const std::string plane_name = name_of(plane);
    const auto entry = std::ranges::find(schedule.planes, plane_name, &ReplicaPlane::name);
    Pod pod{.namespace_name = "fleet",
            .name = fmt::format("{}-{:06}", schedule.name, pods_),
            .uid = fmt::format("uid-{}", pods_),
            .labels = {{.key = std::string(names::deployment), .value = schedule.name}},
            .node = node,
            .requests = {{"cpu", 1'000 * size}, {std::string(gpu), size}},
            .created = now + Duration{-1'000 * random_.between(1, 100'000)},
            .ready = random_.below(20) != 0};
    ++pods_;
    // Few are leaving already, fewer are more than the commit.
    const std::uint64_t luck = item_.refused ? 500 : random_.below(item_.mixed ? 200 : 1'000);
    if (luck < 2) {
      pod.deletion = now + Duration{1'000 * random_.between(-20, 20)};
      pod.deletion_grace_seconds = luck == 0 ? 0 : 30;
    }
    cluster.apply(pod);
    const std::int64_t committed = luck < 3 ? 0 : 1;
    if (entry == schedule.planes.end()) {
      schedule.planes.push_back(
          {.name = plane_name, .committed = committed, .score = random_.between(0, 100)});
    } else {
      entry->committed += committed;
    }
  }

  void apply(Cluster& cluster) {
    for (std::size_t at = 0; at < objects_.size(); ++at) {
      ReplicaSchedule& schedule = objects_[at];
      const std::size_t step = item_.deployments / item_.asks;
      if (at % step == 0) {
        const std::int64_t lowest = item_.refused ? -1'000 : 500;
        schedule.priority = static_cast<std::int32_t>(lowest + random_.between(0, 999));
        schedule.unmet = random_.between(1, 3);
        list_all_planes(schedule);
      }
      normalize(schedule);
      cluster.apply(schedule);
    }
  }

  /// So that every node is considered.
  void list_all_planes(ReplicaSchedule& schedule) {
    for (std::size_t plane = 0; plane < item_.planes; ++plane) {
      const auto known = std::ranges::find(schedule.planes, name_of(plane), &ReplicaPlane::name);
      if (known != schedule.planes.end()) continue;
      schedule.planes.push_back({.name = name_of(plane), .score = random_.between(0, 100)});
    }
  }

  static std::string name_of(std::size_t plane) { return fmt::format("plane-{:02}", plane); }

 private:
  const FleetBench& item_;
  Prng random_;
  std::vector<ReplicaSchedule> objects_;
  std::map<std::pair<std::size_t, std::int64_t>, std::vector<std::size_t>> by_size_;
  std::size_t pods_ = 0;
};

Cluster make_cluster(const FleetBench& item) {
  Prng random(item.nodes * 100'003 + item.planes);
  Cluster cluster;
  cluster.begin_bulk();
  Deployments deployments(item);
  for (std::size_t at = 0; at < item.nodes; ++at) {
    const std::string node = fmt::format("node-{:05}", at);
    const std::size_t plane = at % item.planes;
    cluster.apply(
        Node{.name = node,
             .labels = {{.key = std::string(names::plane), .value = Deployments::name_of(plane)}},
             .allocatable = {{"cpu", 96'000}, {std::string(gpu), gpus_per_node}, {"pods", 110}}});
    std::int64_t left = gpus_per_node;
    while (left > 0) {
      std::int64_t size = item.mixed ? std::int64_t{1} << random.below(4) : 1;
      while (size > left) size /= 2;
      left -= size;
      if (item.some_free && random.below(50) == 0) continue;
      deployments.add_pod(cluster, node, plane, size);
    }
  }
  deployments.apply(cluster);
  cluster.finish_bulk();
  return cluster;
}

/// The claims of the plan recounted: room, priorities, commits. False: something is wrong.
bool recount(const Cluster& cluster, const Plan& plan) {
  std::map<std::string, std::int64_t> room;
  std::map<std::pair<std::string, std::string>, std::int64_t> commits;
  bool right = true;
  const auto room_of = [&](const std::string& node) -> std::int64_t& {
    const auto [at, is_new] = room.try_emplace(node, gpus_per_node);
    if (!is_new) return at->second;
    for (const PodIndex pod : cluster.order().pods(*cluster.find_node(node))) {
      for (const Amount& amount : cluster.pod(pod).requests) {
        if (amount.resource == gpu) at->second -= amount.amount;
      }
    }
    return at->second;
  };
  for (const PlanAsk& ask : plan.asks) {
    const auto& schedule = cluster.own<ReplicaSchedule>().at({ask.namespace_name, ask.name});
    const std::int64_t size = schedule.requests.back().amount;
    auto served = static_cast<std::int64_t>(ask.replicas->claims.size());
    for (const PlanScaleUp& item : ask.replicas->scale_ups) {
      for (const PlanExpectedNode& node : item.expected) {
        room_of(node.node) -= node.replicas * size;
        right = right && room_of(node.node) >= 0;
        served += node.replicas;
      }
    }
    right = right && served + ask.replicas->without == schedule.unmet;
  }
  for (const PlanAsk& ask : plan.asks) {
    const auto& schedule = cluster.own<ReplicaSchedule>().at({ask.namespace_name, ask.name});
    for (const PlanReplicaClaim& claim : ask.replicas->claims) {
      std::int64_t& left = room_of(claim.node);
      left -= schedule.requests.back().amount;
      for (const PlanReplicaVictim& victim : claim.victims) {
        left += victim.amount;
        if (victim.action != ReplicaAction::scale_down) continue;
        std::int64_t& commit =
            commits.try_emplace({victim.deployment, claim.plane}, *victim.committed_before)
                .first->second;
        right = right && commit == *victim.committed_before && commit > 1 &&
                victim.priority < ask.priority;
        --commit;
      }
    }
  }
  // One claim may use what another one's victims free beyond its need.
  for (const auto& [node, left] : room) right = right && left >= 0;
  return right;
}

/// A settled fleet: its schedules carry the status that the first plan gave them.
void settle(Cluster& cluster, const Configuration& configuration) {
  const JudgedDecision first = decide_judged(cluster, configuration, now);
  for (const PlanReplicaStatus& status : first.plan.replica_status) {
    ReplicaSchedule schedule =
        cluster.own<ReplicaSchedule>().at({status.namespace_name, status.name});
    schedule.status = status.status;
    cluster.apply(schedule);
  }
}

bool measure(const FleetBench& item) {
  Cluster cluster = make_cluster(item);
  const Configuration configuration = *load_preset(default_preset);
  if (item.settled) settle(cluster, configuration);
  const JudgedDecision judged =
      decide_judged(cluster, configuration, item.settled ? now + Duration{1'000} : now);
  const bool right = judged.breaches.empty() && recount(cluster, judged.plan) &&
                     judged.plan.asks.size() == item.asks;
  std::size_t scale_ups = 0;
  std::size_t claims = 0;
  std::int64_t down = 0;
  std::int64_t without = 0;
  for (const PlanAsk& ask : judged.plan.asks) {
    scale_ups += ask.replicas->scale_ups.size();
    claims += ask.replicas->claims.size();
    down += scaled_down(*ask.replicas);
    without += ask.replicas->without;
  }
  print_result(fmt::format("{:18} {:6} nodes {:7} pods {:5} deployments {:4} asks  scale-ups {:4} "
                           "claims {:4} scale-downs {:4} without {:3}",
                           item.name, item.nodes, cluster.pod_count(), item.deployments, item.asks,
                           scale_ups, claims, down, without),
               time_decision(cluster, configuration, judged),
               static_cast<double>(item.target_ms * 1'000), right, judged);
  return right;
}

int run(int argc, char** argv) {
  const auto name_of = [](const FleetBench& item) { return item.name; };
  return run_cases(argc, argv, cases, name_of, measure);
}

}  // namespace
}  // namespace makeway::bench

int main(int argc, char** argv) { return makeway::bench::run(argc, argv); }
