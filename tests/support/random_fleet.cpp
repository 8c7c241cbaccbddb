#include "support/random_fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "model/names.hpp"
#include "model/normalize.hpp"

namespace makeway {
namespace {

const std::string gpu = "nvidia.com/gpu";

class FleetMaker {
 public:
  FleetMaker(Prng& random, const RandomFleet& options) : random_(random), options_(options) {}

  std::vector<Change> make() {
    make_nodes();
    make_schedules();
    for (auto& share : shares_) fill(share);
    if (options_.oddities && random_.chance(40)) make_unowned();
    if (options_.strangers) make_strangers();
    for (ReplicaSchedule& schedule : schedules_) commit(schedule);
    if (options_.statuses) make_statuses();
    std::vector<Change> objects;
    objects.reserve(nodes_.size());
    for (Node& node : nodes_) objects.emplace_back(std::move(node));
    for (ReplicaSchedule& schedule : schedules_) {
      normalize(schedule);
      objects.emplace_back(std::move(schedule));
    }
    for (Pod& pod : pods_) objects.emplace_back(std::move(pod));
    return objects;
  }

 private:
  struct Share {
    std::size_t schedule = 0;
    std::string plane;
    std::int64_t running = 0;
  };

  void make_nodes() {
    const std::int64_t planes = random_.between(1, 3);
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      planes_.push_back(fmt::format("w{}", plane + 1));
      const auto nodes = random_.between(1, static_cast<std::int64_t>(options_.nodes_max));
      for (std::int64_t number = 0; number < nodes; ++number) {
        Node node{.name = fmt::format("{}-n{}", planes_.back(), number + 1),
                  .labels = {{std::string(names::plane), planes_.back()}},
                  .allocatable = {{gpu, random_.between(1, options_.gpus_max)},
                                  {"pods", options_.oddities && random_.chance(10) ? 2 : 50}}};
        if (options_.oddities) node.allocatable.push_back({"cpu", random_.between(4, 16) * 1000});
        node.unschedulable = options_.oddities && random_.chance(7);
        if (options_.oddities && random_.chance(5)) node.labels.clear();
        normalize(node);
        nodes_.push_back(std::move(node));
      }
    }
  }

  void make_schedules() {
    const std::int64_t count = random_.between(2, 6);
    for (std::int64_t number = 0; number < count; ++number) {
      ReplicaSchedule schedule{.namespace_name = random_.chance(85) ? "default" : "other",
                               .name = fmt::format("d{}", number + 1)};
      if (random_.chance(20)) schedule.deployment = fmt::format("app{}", number + 1);
      if (random_.chance(90)) {
        schedule.priority = static_cast<std::int32_t>(random_.between(0, 4) * 10);
      }
      if (random_.chance(50)) schedule.created = Time{fleet_now.ms - random_.between(0, 3) * 1000};
      const std::int64_t gpus =
          random_.chance(55)
              ? 1
              : random_.between(1, std::min(options_.replica_gpus_max, options_.gpus_max));
      schedule.requests.push_back({gpu, gpus});
      if (options_.oddities && random_.chance(30)) {
        schedule.requests.push_back({"cpu", random_.between(1, 6) * 1000});
      }
      if (random_.chance(60)) schedule.unmet = random_.between(1, options_.unmet_max);
      if (schedule.deployment.empty()) schedule.deployment = schedule.name;
      for (const std::string& plane : planes_) {
        if (random_.chance(85)) {
          schedule.planes.push_back({.name = plane, .score = random_.between(0, 2)});
        }
        shares_.push_back({.schedule = schedules_.size(), .plane = plane});
      }
      if (options_.oddities && random_.chance(5)) schedule.planes.push_back({.name = "nowhere"});
      schedules_.push_back(std::move(schedule));
    }
    random_.shuffle(shares_);
  }

  bool fits(const Node& node, const Amounts& requests) const {
    const auto used = used_.find(node.name);
    const auto taken = [&](const std::string& resource) {
      if (used == used_.end()) return std::int64_t{0};
      const auto found = used->second.find(resource);
      return found == used->second.end() ? 0 : found->second;
    };
    if (taken("pods") + 1 > amount_of(node.allocatable, "pods")) return false;
    return std::ranges::all_of(requests, [&](const Amount& amount) {
      return taken(amount.resource) + amount.amount <= amount_of(node.allocatable, amount.resource);
    });
  }

  bool place(Pod pod) {
    const auto node = std::ranges::find(nodes_, pod.node, &Node::name);
    if (node == nodes_.end() || !fits(*node, pod.requests)) return false;
    ++used_[pod.node]["pods"];
    for (const Amount& amount : pod.requests) used_[pod.node][amount.resource] += amount.amount;
    normalize(pod);
    pods_.push_back(std::move(pod));
    return true;
  }

  void fill(Share& share) {
    const ReplicaSchedule& schedule = schedules_[share.schedule];
    const bool listed = std::ranges::find(schedule.planes, share.plane, &ReplicaPlane::name) !=
                        schedule.planes.end();
    if (!listed && !random_.chance(15)) return;
    std::int64_t wanted = random_.between(0, 5);
    for (int tries = 0; tries < 12 && wanted > 0; ++tries) {
      const Node& node = random_.pick(nodes_);
      if (!node.name.starts_with(share.plane)) continue;
      Pod pod = fleet_pod(schedule, fmt::format("{}-{}", schedule.name, ++pod_number_), node.name,
                          Time{fleet_now.ms - random_.between(1, 4) * 60'000});
      pod.ready = random_.chance(85);
      pod.opted_out = options_.oddities && random_.chance(4);
      leave(pod);
      const bool runs = !pod.deletion && !node.labels.empty();
      if (!place(std::move(pod))) continue;
      --wanted;
      if (runs) ++share.running;
    }
  }

  void leave(Pod& pod) {
    if (!options_.leaving || !random_.chance(15)) return;
    pod.deletion = Time{fleet_now.ms + random_.between(-80, 30) * 1000};
    pod.deletion_grace_seconds =
        random_.chance(25) ? 0 : static_cast<std::int32_t>(random_.between(1, 30));
  }

  void make_unowned() {
    const std::int64_t count = random_.between(1, 3);
    for (std::int64_t number = 0; number < count; ++number) {
      Pod pod{.namespace_name = "default",
              .name = fmt::format("other-{}", number),
              .node = random_.pick(nodes_).name,
              .priority = static_cast<std::int32_t>(random_.between(0, 4) * 10),
              .requests = {{gpu, 1}},
              .created = Time{fleet_now.ms - 60'000},
              .ready = true};
      if (random_.chance(50)) leave(pod);
      place(std::move(pod));
    }
  }

  /// Other policies place and evict them, before any replica has its turn.
  void make_strangers() {
    const std::int64_t running = random_.between(0, 4);
    for (std::int64_t number = 0; number < running; ++number) {
      Pod pod = stranger(fmt::format("runs-{}", number));
      pod.node = random_.pick(nodes_).name;
      leave(pod);
      place(std::move(pod));
    }
    const std::int64_t asking = random_.between(1, 4);
    for (std::int64_t number = 0; number < asking; ++number) {
      Pod pod = stranger(fmt::format("asks-{}", number));
      if (random_.chance(15)) pod.nominated_node = random_.pick(nodes_).name;
      normalize(pod);
      pods_.push_back(std::move(pod));
    }
  }

  Pod stranger(const std::string& name) {
    Pod pod{.namespace_name = "default",
            .name = name,
            .uid = "uid-" + name,
            .priority = static_cast<std::int32_t>(random_.between(-1, 5) * 10),
            .requests = {{gpu, random_.between(1, std::min<std::int64_t>(3, options_.gpus_max))}},
            .created = Time{fleet_now.ms - random_.between(1, 4) * 60'000},
            .ready = true};
    if (options_.oddities && random_.chance(30)) {
      pod.requests.push_back({"cpu", random_.between(1, 6) * 1000});
    }
    return pod;
  }

  /// What is committed lies around what runs.
  void commit(ReplicaSchedule& schedule) {
    for (ReplicaPlane& plane : schedule.planes) {
      for (const Share& share : shares_) {
        if (&schedules_[share.schedule] != &schedule || share.plane != plane.name) continue;
        plane.committed = share.running;
        if (random_.chance(20)) plane.committed -= random_.between(1, 2);
        if (random_.chance(12)) plane.committed += random_.between(1, 2);
        plane.committed = std::max<std::int64_t>(0, plane.committed);
      }
    }
  }

  void make_statuses() {
    for (ReplicaSchedule& schedule : schedules_) {
      for (const Pod& pod : pods_) {
        const bool own = !pod.labels.empty() && pod.labels.front().value == schedule.deployment;
        if (!own || !random_.chance(15)) continue;
        schedule.status.surplus.push_back(
            {.name = pod.name, .since = Time{fleet_now.ms - random_.between(0, 400) * 1000}});
      }
      if (schedule.planes.empty()) continue;
      if (random_.chance(25)) make_missed(schedule);
      const std::int64_t claims = random_.chance(40) ? random_.between(0, 2) : 0;
      for (std::int64_t count = 0; count < claims; ++count) make_claim(schedule);
    }
  }

  void make_missed(ReplicaSchedule& schedule) {
    const Node& node = random_.pick(nodes_);
    const ReplicaSchedule& loser = random_.pick(schedules_);
    schedule.status.missed.push_back({.plane = node.name.substr(0, 2),
                                      .node = node.name,
                                      .namespace_name = loser.namespace_name,
                                      .deployment = loser.deployment,
                                      .committed = random_.between(0, 3)});
  }

  void make_claim(ReplicaSchedule& schedule) {
    const Node& node = random_.pick(nodes_);
    ReplicaClaim claim{.since = Time{fleet_now.ms - random_.between(1, 9) * 10'000},
                       .plane = node.name.substr(0, 2),
                       .node = node.name};
    for (const Pod& pod : pods_) {
      if (pod.node != node.name || !random_.chance(35)) continue;
      ClaimedVictim victim{.namespace_name = pod.namespace_name, .name = pod.name, .uid = pod.uid};
      victim.deployment = pod.labels.empty() ? "" : pod.labels.front().value;
      if (!victim.deployment.empty() && random_.chance(50)) {
        victim.committed = random_.between(1, 4);
      }
      if (pod.deletion && random_.chance(20)) {
        victim.force_deleted = Time{fleet_now.ms - random_.between(1, 90) * 1000};
      }
      claim.victims.push_back(std::move(victim));
    }
    schedule.status.claims.push_back(std::move(claim));
  }

  Prng& random_;
  const RandomFleet& options_;
  std::vector<std::string> planes_;
  std::vector<Node> nodes_;
  std::vector<ReplicaSchedule> schedules_;
  std::vector<Share> shares_;
  std::vector<Pod> pods_;
  std::map<std::string, std::map<std::string, std::int64_t>> used_;
  int pod_number_ = 0;
};

}  // namespace

RandomFleet random_fleet_options(Prng& random) {
  return {.gpus_max = random.chance(35) ? 1 : random.between(2, 8),
          .nodes_max = static_cast<std::size_t>(random.between(1, 4)),
          .leaving = random.chance(70),
          .oddities = random.chance(50),
          .statuses = random.chance(50),
          .unmet_max = random.between(1, 3)};
}

std::vector<Change> random_fleet(Prng& random, const RandomFleet& options) {
  return FleetMaker(random, options).make();
}

Pod fleet_pod(const ReplicaSchedule& schedule, const std::string& name, std::string node,
              Time created) {
  Pod pod{.namespace_name = schedule.namespace_name,
          .name = name,
          .uid = "uid-" + name,
          .labels = {{std::string(names::deployment), schedule.deployment}},
          .node = std::move(node),
          .requests = schedule.requests,
          .created = created,
          .started = created,
          .ready = true};
  normalize(pod);
  return pod;
}

void move_to_planes(std::vector<Change>& objects) {
  std::map<std::string, std::string> planes;  // By node.
  for (Change& object : objects) {
    Node* const node = std::get_if<Node>(&object);
    if (node == nullptr) continue;
    const auto label = std::ranges::find(node->labels, names::plane, &Label::key);
    if (label == node->labels.end()) continue;
    node->plane = label->value;
    planes[node->name] = label->value;
    node->labels.erase(label);
  }
  for (Change& object : objects) {
    Pod* const pod = std::get_if<Pod>(&object);
    if (pod == nullptr) continue;
    const auto plane = planes.find(pod->node);
    if (plane != planes.end()) pod->plane = plane->second;
  }
}

bool is_replica_of(const Pod& pod, const ReplicaSchedule& schedule) {
  const Label label{std::string(names::deployment), schedule.deployment};
  return !pod.deletion && pod.namespace_name == schedule.namespace_name &&
         std::ranges::find(pod.labels, label) != pod.labels.end();
}

void start_leaving(Pod& pod, Time now, Prng& random, std::int64_t grace_max_s) {
  pod.deletion_grace_seconds = static_cast<std::int32_t>(random.between(0, grace_max_s));
  pod.deletion = now + Duration{std::int64_t{1'000} * pod.deletion_grace_seconds};
}

std::int64_t amount_of(const Amounts& amounts, std::string_view resource) {
  const auto found = std::ranges::find(amounts, resource, &Amount::resource);
  return found == amounts.end() ? 0 : found->amount;
}

}  // namespace makeway
