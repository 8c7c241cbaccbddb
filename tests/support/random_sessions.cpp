#include "support/random_sessions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "codec/presets.hpp"
#include "model/normalize.hpp"

namespace makeway {
namespace {

constexpr std::int64_t node_gpus = 4;
constexpr std::int64_t node_cpus = 8'000;
constexpr std::int64_t node_memory = 8'000;

Time before(Prng& random, std::int64_t seconds_max) {
  return planning_now + Duration{-1'000 * random.between(0, seconds_max)};
}

class Builder {
 public:
  Builder(Prng& random, const RandomSessions& options) : random_(random), options_(options) {}

  std::vector<Change> build();

 private:
  using Free = std::map<std::string, std::int64_t>;

  void add_nodes();
  void add_group(std::size_t number);
  void add_partitions(const std::string& group);
  void add_pods();
  void add_sessions();
  bool place(Session& session, bool memory_only);
  Session session(std::size_t number);
  void add_past(Session& session);
  void nominate(Session& session);
  const std::vector<std::string>& nodes_of(const Session& session) const {
    const auto part = partition_nodes_.find(session.partition);
    return part == partition_nodes_.end() || part->second.empty()
               ? group_nodes_.at(session.resource_group)
               : part->second;
  }

  Prng& random_;
  const RandomSessions& options_;
  std::vector<Change> objects_;
  Cluster cluster_;  ///< Groups and partitions only: what random_pending reads.
  std::map<std::string, Free> free_;
  std::map<std::string, std::vector<std::string>> group_nodes_;
  std::map<std::string, std::vector<std::string>> partition_nodes_;
};

std::vector<Change> Builder::build() {
  for (std::size_t number = 0; number < options_.groups; ++number) add_group(number);
  add_nodes();
  if (options_.pods) add_pods();
  add_sessions();
  random_.shuffle(objects_);
  return objects_;
}

void Builder::add_nodes() {
  for (std::size_t number = 0; number < options_.nodes; ++number) {
    Node node{.name = fmt::format("n{}", number),
              .allocatable = {{"cpu", node_cpus},
                              {"memory", node_memory},
                              {"nvidia.com/gpu", random_.between(1, node_gpus)},
                              {"pods", 110}}};
    node.unschedulable = options_.cordons && random_.chance(15);
    const std::string group = fmt::format("g{}", random_.below(options_.groups));
    const bool outside = options_.groups > 1 && random_.chance(10);
    if (!outside) {
      node.labels = {{"pool", group}};
      group_nodes_[group].push_back(node.name);
    }
    for (const Amount& amount : node.allocatable) free_[node.name][amount.resource] = amount.amount;
    objects_.emplace_back(node);
  }
  for (Change& object : objects_) {
    if (Partition* const partition = std::get_if<Partition>(&object)) {
      for (const std::string& node : group_nodes_[partition->resource_group]) {
        if (random_.chance(70)) partition->nodes.push_back(node);
      }
      if (random_.chance(60)) partition->nodes.clear();
      partition_nodes_[partition->name] = partition->nodes;
    } else if (ResourceGroup* const group = std::get_if<ResourceGroup>(&object)) {
      if (random_.chance(50)) {
        group->nodes = group_nodes_[group->name];
      } else {
        group->node_selector = {{"pool", group->name}};
      }
    }
  }
}

void Builder::add_group(std::size_t number) {
  ResourceGroup group{.name = fmt::format("g{}", number)};
  if (random_.chance(40)) group.preemptible_priority = random_.between(0, 12);
  if (random_.chance(75)) {
    group.preemption_order = static_cast<PreemptionOrder>(random_.below(4));
  }
  cluster_.apply(group);
  group_nodes_[group.name];
  if (random_.chance(options_.divided_percent)) add_partitions(group.name);
  objects_.emplace_back(group);
}

void Builder::add_partitions(const std::string& group) {
  const std::size_t count = 2 + random_.below(2);
  for (std::size_t number = 0; number < count; ++number) {
    Partition partition{.name = fmt::format("{}-{}", group, number), .resource_group = group};
    partition.tier = static_cast<std::int32_t>(1 + random_.below(3));
    partition.preemptible = random_.chance(70);
    partition.mode = static_cast<PartitionMode>(random_.below(3));
    if (partition.mode != PartitionMode::suspend && random_.chance(40)) {
      partition.grace_time = Duration{1'000 * random_.between(1, 60)};
    }
    if (random_.chance(40)) partition.exempt_time = Duration{1'000 * random_.between(1, 300)};
    cluster_.apply(partition);
    objects_.emplace_back(partition);
  }
}

/// Usage that is never evicted, and now and then a pod that waits.
void Builder::add_pods() {
  const std::size_t count = random_.below(5);
  for (std::size_t number = 0; number < count; ++number) {
    Pod pod{.namespace_name = "default",
            .name = fmt::format("pod{}", number),
            .priority = static_cast<std::int32_t>(random_.between(0, 20)),
            .requests = {{"nvidia.com/gpu", 1}}};
    pod.created = before(random_, 1'000);
    const std::string node = fmt::format("n{}", random_.below(options_.nodes));
    if (random_.chance(75) && free_[node]["nvidia.com/gpu"] > 0) {
      pod.node = node;
      pod.started = pod.created;
      --free_[node]["nvidia.com/gpu"];
      if (random_.chance(15)) pod.deletion = before(random_, 90);
    }
    objects_.emplace_back(pod);
  }
}

Session Builder::session(std::size_t number) {
  return random_pending(random_, options_, cluster_, fmt::format("s{:02}", number),
                        before(random_, 600));
}

/// Where there is room; false: there is none.
bool Builder::place(Session& session, bool memory_only) {
  const std::vector<std::string>& nodes = nodes_of(session);
  if (nodes.empty()) return false;
  for (Kernel& kernel : session.kernels) {
    const std::size_t first = random_.below(nodes.size());
    for (std::size_t step = 0; step < nodes.size() && kernel.node.empty(); ++step) {
      Free& free = free_[nodes[(first + step) % nodes.size()]];
      const auto fits = [&](const Amount& amount) {
        return (memory_only && amount.resource != "memory") ||
               amount.amount <= free[amount.resource];
      };
      if (!std::ranges::all_of(kernel.requests, fits)) continue;
      kernel.node = nodes[(first + step) % nodes.size()];
      for (const Amount& amount : kernel.requests) {
        if (!memory_only || amount.resource == "memory") free[amount.resource] -= amount.amount;
      }
    }
  }
  const bool all = std::ranges::none_of(session.kernels, &std::string::empty, &Kernel::node);
  if (all) return true;
  for (Kernel& kernel : session.kernels) {
    for (const Amount& amount : kernel.requests) {
      const bool taken = !memory_only || amount.resource == "memory";
      if (!kernel.node.empty() && taken) free_[kernel.node][amount.resource] += amount.amount;
    }
    kernel.node.clear();
  }
  return false;
}

void Builder::add_past(Session& session) {
  SessionStatus& status = session.status;
  status.preemptions = random_.between(1, 7);
  status.preempted_by = "Session default/other";
  status.preempted_at = before(random_, 100);
}

void Builder::nominate(Session& session) {
  const std::vector<std::string>& nodes = nodes_of(session);
  if (nodes.empty()) return;
  for (Kernel& kernel : session.kernels) kernel.nominated_node = random_.pick(nodes);
}

void Builder::add_sessions() {
  std::size_t number = 0;
  for (std::size_t count = 0; count < options_.running; ++count) {
    Session running = session(number++);
    const bool suspended = options_.past && !running.partition.empty() && random_.chance(10);
    if (!place(running, suspended)) continue;
    SessionStatus& status = running.status;
    status.phase = suspended ? SessionPhase::suspended : SessionPhase::running;
    if (!options_.missing_starts || random_.chance(85)) status.started = before(random_, 400);
    if (random_.chance(20)) status.last_checkpoint = before(random_, 300);
    const bool leaving = options_.past && !suspended && random_.chance(12);
    if (suspended || leaving || (options_.past && random_.chance(20))) add_past(running);
    if (suspended) status.fate = SessionFate::suspends;
    if (leaving) {
      status.ends_at = planning_now + Duration{1'000 * random_.between(-90, 60)};
      status.fate = running.partition.empty() || random_.chance(70) ? SessionFate::ends
                                                                    : SessionFate::suspends;
    }
    objects_.emplace_back(running);
  }
  for (std::size_t count = 0; count < options_.pending; ++count) {
    Session pending = session(number++);
    const bool past = options_.past && random_.chance(40);
    if (past) add_past(pending);
    if (past && random_.chance(60)) {
      pending.status.phase = SessionPhase::preempted;
      pending.status.fate = random_.chance(75) ? SessionFate::requeues : SessionFate::on_request;
      if (pending.status.fate == SessionFate::requeues) {
        pending.status.resume_after = planning_now + Duration{1'000 * random_.between(-60, 60)};
      }
    } else if (options_.nominated && random_.chance(40)) {
      nominate(pending);
    }
    objects_.emplace_back(pending);
  }
}

Amounts random_requests(Prng& random, const RandomSessions& options) {
  Amounts requests;
  if (random.chance(90)) requests.push_back({"nvidia.com/gpu", random.between(1, 3)});
  if (options.memory && random.chance(70)) {
    requests.push_back({"memory", 1'000 * random.between(1, 5)});
  }
  if (options.cpu && random.chance(50)) requests.push_back({"cpu", 1'000 * random.between(1, 5)});
  return requests;
}

}  // namespace

RandomSessions random_sessions_options(Prng& random) {
  RandomSessions options;
  options.nodes = 1 + random.below(5);
  options.groups = random.chance(75) ? 1 : 2;
  options.running = 1 + random.below(12);
  options.pending = 1 + random.below(5);
  options.kernels_max = random.chance(50) ? 1 : 1 + random.below(4);
  options.divided_percent = random.chance(50) ? 0 : 80;
  options.memory = random.chance(50);
  options.cpu = random.chance(30);
  options.pods = random.chance(30);
  options.cordons = random.chance(15);
  options.past = random.chance(50);
  options.nominated = random.chance(25);
  options.missing_starts = random.chance(10);
  return options;
}

std::vector<Change> random_sessions(Prng& random, const RandomSessions& options) {
  return Builder(random, options).build();
}

Session random_pending(Prng& random, const RandomSessions& options, const Cluster& cluster,
                       std::string name, Time created) {
  Session session{.namespace_name = random.chance(80) ? "default" : "other",
                  .name = std::move(name)};
  session.uid = "uid-" + session.name;
  session.created = created;
  const auto& groups = cluster.own<ResourceGroup>();
  session.resource_group =
      std::next(groups.begin(), static_cast<std::ptrdiff_t>(random.below(groups.size())))
          ->second.name;
  std::vector<std::string> partitions;
  for (const auto& [key, partition] : cluster.own<Partition>()) {
    if (partition.resource_group == session.resource_group) partitions.push_back(partition.name);
  }
  if (!partitions.empty()) {
    session.partition = random.pick(partitions);
    if (random.chance(20)) session.preemptible = random.chance(50);
  }
  if (random.chance(90)) {
    session.priority = static_cast<std::int32_t>(random.pick<int>({1, 3, 5, 7, 10, 20}));
  }
  session.type = static_cast<SessionType>(random.below(3));
  session.checkpointing = random.chance(30);
  if (random.chance(40)) session.requeue = random.chance(70);
  session.autoscaler = session.type == SessionType::inference && random.chance(50);
  const std::size_t kernels = 1 + random.below(options.kernels_max);
  const bool alike = random.chance(50);
  for (std::size_t number = 0; number < kernels; ++number) {
    Kernel kernel{.name = fmt::format("k{}", number), .requests = {}};
    kernel.requests =
        alike && number > 0 ? session.kernels.front().requests : random_requests(random, options);
    session.kernels.push_back(std::move(kernel));
  }
  normalize(session);
  return session;
}

Configuration random_session_configuration(Prng& random) {
  Configuration configuration = *load_preset(random.chance(65) ? "makeway" : "backend-ai");
  SessionSettings& settings = configuration.session;
  if (random.chance(20)) settings.max_preemptions = random.between(1, 4);
  if (random.chance(20)) settings.preemptible_priority = random.between(0, 15);
  if (random.chance(20)) settings.preemption_order = static_cast<PreemptionOrder>(random.below(4));
  if (random.chance(10)) settings.backoff_first = Duration{1'000 * random.between(0, 2'000)};
  if (random.chance(10)) {
    configuration.protection.minimum_runtime = Duration{1'000 * random.between(0, 200)};
  }
  if (random.chance(10)) configuration.protection.namespaces = {"other"};
  if (random.chance(10)) {
    configuration.engine.preemption_delay = Duration{1'000 * random.between(0, 300)};
  }
  return configuration;
}

}  // namespace makeway
