#include "support/random_world.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "codec/presets.hpp"
#include "model/names.hpp"
#include "model/normalize.hpp"
#include "model/resource.hpp"
#include "support/random_objects.hpp"

namespace makeway {
namespace {

constexpr std::string_view gone_node = "node-gone";
constexpr std::string_view missing_name = "nobody";

using Totals = std::map<std::string, std::int64_t>;

void add_to(Totals& totals, const Amounts& amounts) {
  for (const Amount& amount : amounts) totals[amount.resource] += amount.amount;
}

// ---- Parts over the same nodes ------------------------------------------------------------------

/// Lays the objects of one part over nodes that are already there.
class Overlay {
 public:
  Overlay(Prng& random, const RandomWorld& options, std::map<std::string, Node>& nodes)
      : random_(random), options_(options), nodes_(nodes) {}

  /// Everything but the nodes, which go to where the part found its place.
  std::vector<Change> lay(std::vector<Change> part) {
    std::vector<std::string> there;
    there.reserve(nodes_.size());
    for (const auto& [name, node] : nodes_) there.push_back(name);
    random_.shuffle(there);
    std::vector<Change> rest;
    for (Change& object : part) {
      Node* const node = std::get_if<Node>(&object);
      if (node == nullptr) {
        rest.push_back(std::move(object));
        continue;
      }
      const bool shared = !there.empty() && random_.chance(options_.shared_percent);
      if (!shared) {
        nodes_[node->name] = *node;
        continue;
      }
      moved_[node->name] = there.back();
      join(nodes_[there.back()], *node);
      there.pop_back();
    }
    for (Change& object : rest) {
      std::visit([this](auto& each) { move(each); }, object);
    }
    return rest;
  }

 private:
  /// The node offers what both offer, and has the labels of both.
  static void join(Node& node, const Node& other) {
    for (const Amount& amount : other.allocatable) {
      const auto found = std::ranges::find(node.allocatable, amount.resource, &Amount::resource);
      if (found == node.allocatable.end()) {
        node.allocatable.push_back(amount);
      } else if (amount.resource != pods_name) {
        found->amount += amount.amount;
      }
    }
    for (const Label& label : other.labels) {
      if (std::ranges::find(node.labels, label.key, &Label::key) == node.labels.end()) {
        node.labels.push_back(label);
      }
    }
    normalize(node);
  }

  void rename(std::string& name) const {
    if (const auto found = moved_.find(name); found != moved_.end()) name = found->second;
  }
  void rename(std::vector<std::string>& names) const {
    for (std::string& name : names) rename(name);
    std::ranges::sort(names);
  }
  template <class Object>
  void move(Object& /*object*/) const {}
  void move(Pod& pod) const {
    rename(pod.node);
    rename(pod.nominated_node);
  }
  void move(ResourceGroup& group) const { rename(group.nodes); }
  void move(Partition& partition) const { rename(partition.nodes); }
  void move(Session& session) const {
    for (Kernel& kernel : session.kernels) {
      rename(kernel.node);
      rename(kernel.nominated_node);
    }
  }
  void move(ReplicaSchedule& schedule) const {
    for (ReplicaClaim& claim : schedule.status.claims) rename(claim.node);
    for (MissedVictim& missed : schedule.status.missed) rename(missed.node);
    normalize(schedule);
  }

  Prng& random_;
  const RandomWorld& options_;
  std::map<std::string, Node>& nodes_;
  std::map<std::string, std::string> moved_;
};

// ---- All kinds together -------------------------------------------------------------------------

class WorldMaker {
 public:
  WorldMaker(Prng& random, const RandomWorld& options) : random_(random), options_(options) {}

  std::vector<Change> make();

 private:
  bool on(bool feature, std::uint64_t percent) { return feature && random_.chance(percent); }
  void lay_parts();
  void sort_out(std::vector<Change> part);
  std::string any_node();
  void spread_marks();
  void make_group_of(Pod& pod);
  void pin(Pod& pod);
  void leave(Pod& pod);
  void nominate(Pod& pod);
  void mark(Pod& pod);
  void lose_names(Pod& pod);
  void use_class(Pod& pod);
  void lose_names_of_others();
  void add_pending_replicas();
  void cut_down_nodes();
  void put_into_queues(std::vector<Change>& objects);

  Prng& random_;
  const RandomWorld& options_;
  std::map<std::string, Node> nodes_;
  std::vector<std::string> node_names_;
  std::vector<Pod> pods_;
  std::vector<PodGroup> groups_;
  std::vector<Change> others_;
};

std::string WorldMaker::any_node() {
  return node_names_.empty() ? std::string(gone_node) : random_.pick(node_names_);
}

void WorldMaker::sort_out(std::vector<Change> part) {
  for (Change& object : part) {
    if (Pod* const pod = std::get_if<Pod>(&object)) {
      pods_.push_back(std::move(*pod));
    } else if (PodGroup* const group = std::get_if<PodGroup>(&object)) {
      groups_.push_back(std::move(*group));
    } else {
      others_.push_back(std::move(object));
    }
  }
}

void WorldMaker::lay_parts() {
  if (options_.pods) {
    sort_out(Overlay(random_, options_, nodes_).lay(random_planning(random_, options_.planning)));
  }
  if (options_.sessions) {
    sort_out(Overlay(random_, options_, nodes_).lay(random_sessions(random_, options_.session)));
  }
  if (options_.replicas) {
    sort_out(Overlay(random_, options_, nodes_).lay(random_fleet(random_, options_.fleet)));
  }
  for (const auto& [name, node] : nodes_) node_names_.push_back(name);
  if (options_.dangling) node_names_.emplace_back(gone_node);
}

/// Replicas that Kubernetes has not placed yet.
void WorldMaker::add_pending_replicas() {
  std::vector<Pod> pending;
  for (const Change& object : others_) {
    const ReplicaSchedule* const schedule = std::get_if<ReplicaSchedule>(&object);
    if (schedule == nullptr || !random_.chance(40)) continue;
    Pod pod = fleet_pod(*schedule, schedule->name + "-pending", "", planning_now);
    pod.started.reset();
    pod.ready = false;
    pending.push_back(std::move(pod));
  }
  for (Pod& pod : pending) pods_.push_back(std::move(pod));
}

// ---- Marks --------------------------------------------------------------------------------------

/// Into a group of its namespace, or a new one.
void WorldMaker::make_group_of(Pod& pod) {
  if (!pod.group.empty()) return;
  std::vector<std::string> names;
  for (const PodGroup& group : groups_) {
    if (group.namespace_name == pod.namespace_name) names.push_back(group.name);
  }
  if (names.empty() || random_.chance(30)) {
    PodGroup group{.namespace_name = pod.namespace_name,
                   .name = fmt::format("joined-{}", groups_.size()),
                   .created = planning_now + Duration{-1'000 * random_.between(0, 500)}};
    group.policy.gang = random_.chance(60);
    if (group.policy.gang) group.policy.minimum = static_cast<std::int32_t>(random_.between(1, 3));
    group.policy.mode = random_.chance(50) ? DisruptionMode::all : DisruptionMode::single;
    group.priority.priority = pod.priority;
    names = {group.name};
    groups_.push_back(std::move(group));
  }
  pod.group = random_.pick(names);
}

void WorldMaker::pin(Pod& pod) {
  // Running pods are mostly pinned to where they run.
  const std::string node = pod.node.empty() || random_.chance(10) ? any_node() : pod.node;
  switch (random_.below(4)) {
    case 0: pod.notes.required_node = node; break;
    case 1:
      pod.owners = {{.kind = "DaemonSet", .name = "set", .uid = "set-uid", .controller = true}};
      [[fallthrough]];
    case 2:
      pod.shape.node_terms = {
          {.labels = {}, .fields = {{.key = "metadata.name", .values = {node}}}}};
      break;
    default:
      pod.owners = {{.kind = "DaemonSet", .name = "set", .uid = "set-uid", .controller = true}};
  }
  if (!pod.node.empty() || !random_.chance(40)) return;
  pod.notes.reserved_since = planning_now + Duration{-1'000 * random_.between(0, 100)};
  if (random_.chance(70)) pod.nominated_node = node;
  pod.notes.promised = random_.chance(30);
}

void WorldMaker::leave(Pod& pod) {
  static const std::vector<std::int64_t> seconds = {-900, -400, -61, -60, -59, -1, 0, 10, 30, 900};
  pod.deletion = planning_now + Duration{1'000 * random_.pick(seconds)};
  pod.deletion_grace_seconds = random_.chance(30) ? 0 : 30;
  pod.disrupted_by_preemption = random_.chance(50);
}

void WorldMaker::nominate(Pod& pod) {
  if (!pod.node.empty()) return;
  pod.nominated_node = any_node();
}

void WorldMaker::mark(Pod& pod) {
  pod.opted_out = pod.opted_out || random_.chance(10);
  pod.is_protected = pod.is_protected || random_.chance(10);
  pod.is_owner = pod.is_owner || random_.chance(10);
  pod.mirror = pod.mirror || (!pod.node.empty() && random_.chance(5));
  if (random_.chance(10)) pod.notes.preemption_cost_seconds = random_.between(0, 5) * 500;
  pod.notes.loss_units = random_loss_units(random_);
  if (random_.chance(10)) pod.labels.push_back({.key = "app", .value = "web"});
  if (random_.chance(10)) {
    pod.owners = {{.kind = "ReplicaSet", .name = "set", .uid = "set-uid", .controller = true}};
  }
  std::ranges::sort(pod.labels);
  const auto same = std::ranges::unique(pod.labels, {}, &Label::key);
  pod.labels.erase(same.begin(), same.end());
}

void WorldMaker::lose_names(Pod& pod) {
  switch (random_.below(7)) {
    case 0: pod.group = missing_name; break;
    case 1:
      if (!pod.node.empty()) pod.node = gone_node;
      break;
    case 2:
      if (pod.node.empty()) pod.nominated_node = gone_node;
      break;
    case 3: pod.notes.required_node = gone_node; break;
    case 4:
      if (pod.priority) pod.priority_class = missing_name;  // The number counts.
      break;
    case 5:
      pod.labels.push_back({std::string(names::deployment), std::string(missing_name)});
      break;
    default: put_into_queue(pod, std::string(missing_name));
  }
}

void WorldMaker::lose_names_of_others() {
  for (Change& object : others_) {
    if (!random_.chance(15)) continue;
    if (Session* const session = std::get_if<Session>(&object)) {
      Kernel& kernel = session->kernels[random_.below(session->kernels.size())];
      if (!kernel.node.empty()) kernel.node = gone_node;
      if (!kernel.nominated_node.empty()) kernel.nominated_node = gone_node;
    } else if (ResourceGroup* const group = std::get_if<ResourceGroup>(&object)) {
      group->nodes.emplace_back(gone_node);
      std::ranges::sort(group->nodes);
    } else if (ReplicaSchedule* const schedule = std::get_if<ReplicaSchedule>(&object)) {
      for (ReplicaClaim& claim : schedule->status.claims) {
        if (random_.chance(50)) claim.node = gone_node;
      }
      normalize(*schedule);
    }
  }
}

void WorldMaker::use_class(Pod& pod) {
  pod.priority.reset();
  pod.priority_class = random_.pick<std::string>({"", "low", "high", "never"});
}

void WorldMaker::spread_marks() {
  for (Pod& pod : pods_) {
    if (on(options_.grouped, 15)) make_group_of(pod);
    if (on(options_.pinned, 15)) pin(pod);
    if (on(options_.leaving, 15)) leave(pod);
    if (on(options_.nominations, 30)) nominate(pod);
    if (options_.marks) mark(pod);
    if (on(options_.classes, 30)) use_class(pod);
    if (on(options_.dangling, 10)) lose_names(pod);
    if (on(options_.schedulers, 20)) pod.scheduler = "another-scheduler";
  }
  if (options_.dangling) lose_names_of_others();
  if (!options_.classes) return;
  others_.emplace_back(PriorityClass{.name = "low", .value = 20});
  others_.emplace_back(
      PriorityClass{.name = "high", .value = 600, .global_default = random_.chance(50)});
  others_.emplace_back(
      PriorityClass{.name = "never", .value = 800, .preemption_policy = PreemptionPolicy::never});
}

// ---- Room and queues ----------------------------------------------------------------------------

void WorldMaker::cut_down_nodes() {
  if (!options_.tight && !options_.overfull) return;
  std::map<std::string, Totals> used;
  for (const Pod& pod : pods_) add_to(used[pod.node], pod.requests);
  for (const Change& object : others_) {
    const Session* const session = std::get_if<Session>(&object);
    if (session == nullptr) continue;
    for (const Kernel& kernel : session->kernels) add_to(used[kernel.node], kernel.requests);
  }
  for (auto& [name, node] : nodes_) {
    if (!random_.chance(60)) continue;
    for (Amount& amount : node.allocatable) {
      if (amount.resource == pods_name) continue;
      const std::int64_t taken = used[name][amount.resource];
      std::int64_t left = taken + std::max<std::int64_t>(0, amount.amount - taken) / 4;
      if (on(options_.overfull, 15)) left = taken * 3 / 4;
      amount.amount = std::min(amount.amount, left);
    }
    normalize(node);
  }
}

void WorldMaker::put_into_queues(std::vector<Change>& objects) {
  add_random_queues(random_, options_.queue, objects);
  for (Change& object : objects) {
    Pod* const pod = std::get_if<Pod>(&object);
    if (pod == nullptr) continue;
    if (on(options_.queued_at_random, 20)) {
      put_into_queue(*pod, random_.chance(40) ? "" : fmt::format("team-{}", random_.below(2)));
    }
    if (on(options_.dangling, 2)) put_into_queue(*pod, std::string(missing_name));
  }
}

std::vector<Change> WorldMaker::make() {
  lay_parts();
  if (options_.pending_replicas) add_pending_replicas();
  spread_marks();
  cut_down_nodes();
  std::vector<Change> objects = std::move(others_);
  for (auto& [name, node] : nodes_) objects.emplace_back(std::move(node));
  for (PodGroup& group : groups_) objects.emplace_back(std::move(group));
  std::set<std::pair<std::string, std::string>> names;
  for (Pod& pod : pods_) {
    // Parts name their pods alike now and then.
    if (!names.insert({pod.namespace_name, pod.name}).second) pod.name += "-too";
    names.insert({pod.namespace_name, pod.name});
    objects.emplace_back(std::move(pod));
  }
  if (options_.queues) put_into_queues(objects);
  for (Change& object : objects) {
    if (Pod* const pod = std::get_if<Pod>(&object)) normalize(*pod);
  }
  random_.shuffle(objects);
  return objects;
}

/// Small: a world has to be looked at by a person when it fails.
void shrink_parts(Prng& random, RandomWorld& options) {
  options.planning.nodes = 1 + random.below(4);
  options.planning.asks = random.below(4);
  options.planning.gangs = random.chance(30) ? 1 : 0;
  options.session.nodes = 1 + random.below(3);
  options.session.running = 1 + random.below(6);
  options.session.pending = 1 + random.below(3);
  options.fleet.nodes_max = 1 + random.below(2);
  options.fleet.strangers = random.chance(30);
}

}  // namespace

RandomWorld random_world_options(Prng& random) {
  RandomWorld options{.planning = random_planning_options(random),
                      .session = random_sessions_options(random),
                      .fleet = random_fleet_options(random),
                      .queue = random_queue_options(random)};
  shrink_parts(random, options);
  options.sessions = random.chance(55);
  options.replicas = random.chance(55);
  options.queues = random.chance(55);
  options.pods = random.chance(85) || (!options.sessions && !options.replicas);
  options.shared_percent = random.chance(30) ? 0 : random.chance(50) ? 50 : 100;
  for (bool* const feature : {&options.tight, &options.pinned, &options.grouped, &options.marks,
                              &options.leaving, &options.nominations, &options.classes,
                              &options.pending_replicas, &options.queued_at_random}) {
    *feature = random.chance(35);
  }
  for (bool* const feature : {&options.overfull, &options.dangling, &options.schedulers}) {
    *feature = random.chance(20);
  }
  return options;
}

std::vector<Change> random_world(Prng& random, const RandomWorld& options) {
  return WorldMaker(random, options).make();
}

RandomWorldCase random_world_case(Prng& random) {
  const RandomWorld options = random_world_options(random);
  const std::vector<std::string_view> presets = preset_names();
  // The default is what most people run.
  const std::string_view preset = random.chance(30) ? default_preset : random.pick(presets);
  std::vector<Change> objects = random_world(random, options);
  return {.options = options,
          .objects = std::move(objects),
          .preset = std::string(preset),
          .seed = random.next()};
}

std::string world_text(const RandomWorld& options) {
  const std::array<std::pair<std::string_view, bool>, 16> features{{
      {"pods", options.pods},
      {"sessions", options.sessions},
      {"replicas", options.replicas},
      {"queues", options.queues},
      {"tight", options.tight},
      {"overfull", options.overfull},
      {"pinned", options.pinned},
      {"grouped", options.grouped},
      {"marks", options.marks},
      {"leaving", options.leaving},
      {"nominations", options.nominations},
      {"dangling", options.dangling},
      {"classes", options.classes},
      {"schedulers", options.schedulers},
      {"pending-replicas", options.pending_replicas},
      {"queued-at-random", options.queued_at_random},
  }};
  std::vector<std::string_view> on;
  for (const auto& [name, is_on] : features) {
    if (is_on) on.push_back(name);
  }
  return fmt::format("{}", fmt::join(on, " "));
}

}  // namespace makeway
