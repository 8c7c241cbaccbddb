// Pods in the store: slots, columns, and their place in the order of their node.
#include <algorithm>
#include <numeric>

#include "model/cluster.hpp"
#include "model/names.hpp"
#include "model/required_node.hpp"

namespace makeway {
namespace {

Time column_time(const std::optional<Time>& time) { return time.value_or(no_time); }

std::uint64_t pod_hash(Space space, std::string_view name) {
  return hash_combine(space.number(), hash_of(name));
}

bool is_of_daemon_set(const Pod& pod) {
  return std::ranges::find(pod.owners, "DaemonSet", &OwnerReference::kind) != pod.owners.end();
}

}  // namespace

std::optional<PodIndex> Cluster::pod_in(Space space, std::string_view name) const {
  const auto found = pods_by_key_.find(pod_hash(space, name), [&](std::uint32_t id) {
    return pods_.namespace_name[PodIndex{id}] == space.namespace_name &&
           pods_.plane[PodIndex{id}] == space.plane && pods_.name[id] == name;
  });
  if (!found) return std::nullopt;
  return PodIndex{*found};
}

std::optional<PodIndex> Cluster::find_pod(std::string_view namespace_name, std::string_view name,
                                          std::string_view plane) const {
  if (!namespace_name.empty() && name.find('/') != std::string_view::npos) {
    std::string kernel(namespace_name);
    kernel += '/';
    kernel += name;
    return find_pod({}, kernel, plane);
  }
  const std::optional<Space> space = find_space(namespace_name, plane);
  return space ? pod_in(*space, name) : std::nullopt;
}

PodIndex Cluster::pod_slot(const Pod& pod) {
  // Pods come plane by plane and namespace by namespace.
  if (text(last_space_.namespace_name) != pod.namespace_name) {
    last_space_.namespace_name = strings_.intern(pod.namespace_name);
  }
  if (text(last_space_.plane) != pod.plane) last_space_.plane = strings_.intern(pod.plane);
  const Space space = last_space_;
  if (const auto found = pod_in(space, pod.name)) return *found;
  if (free_pods_.empty()) add_free_pods();
  const PodIndex slot = free_pods_.back();
  free_pods_.pop_back();
  pods_.plane[slot] = space.plane;
  pods_.namespace_name[slot] = space.namespace_name;
  pods_.name.set(slot.value, pod.name);
  pods_.node[slot] = {};
  pods_.nominated[slot] = {};
  pods_.unit[slot] = {};
  pods_.flags[slot] = PodFlags{.exists = true};
  pods_by_key_.insert(pod_hash(space, pod.name), slot.value);
  ++pod_count_;
  return slot;
}

/// Some at a time, since every column has to grow; the lowest slot is taken first.
void Cluster::add_free_pods() {
  constexpr std::size_t slots_at_a_time = 256;
  const std::size_t first = pods_.slots();
  pods_.resize(first + slots_at_a_time);
  for (std::size_t slot = pods_.slots(); slot-- > first;) {
    free_pods_.push_back(PodIndex::from(slot));
  }
}

bool Cluster::apply(const Pod& pod) { return upsert(pod, false); }

bool Cluster::upsert(const Pod& pod, bool kernel) {
  const std::size_t known = pod_count_;
  const PodIndex slot = pod_slot(pod);
  unbind(slot);
  nominate(slot, {});
  write_pod(slot, pod, kernel);
  if (!pod.priority && !bulk_) pods_.priority[slot] = own_priority(slot).scheduling;
  join_unit(slot, pod.group, !pod.node.empty());
  if (!pod.node.empty()) {
    bind(slot, node_slot(pod.node, pod.plane));
  } else if (!pod.nominated_node.empty()) {
    nominate(slot, node_slot(pod.nominated_node, pod.plane));
  }
  list_pending(slot);
  return pod_count_ > known;
}

void Cluster::write_pod(PodIndex index, const Pod& pod, bool kernel) {
  pods_.uid.set(index.value, pod.uid);
  pods_.labels[index] = intern_labels(pod.labels);
  pods_.requests[index] = intern_requests(pod.requests, !kernel);
  pods_.shape[index] = intern_shape(pod.shape);
  if (!pod.shape.anti_affinity.empty()) {
    repelling_pods_.insert(index);
  } else if (!repelling_pods_.empty()) {
    repelling_pods_.erase(index);
  }
  pods_.notes[index] = notes_.intern(pod.notes);
  if (!pod.notes.loss_units.empty()) {
    sharing_pods_.insert(index);
  } else if (!sharing_pods_.empty()) {
    sharing_pods_.erase(index);
  }
  pods_.queue[index] = stated_queue(index);
  pods_.owners[index] = owner_sets_.intern(pod.owners);
  pods_.scheduler[index] = strings_.intern(pod.scheduler);
  pods_.priority_class[index] = strings_.intern(pod.priority_class);
  pods_.priority[index] = pod.priority.value_or(0);
  pods_.created[index] = column_time(pod.created);
  pods_.started[index] = column_time(pod.started);
  pods_.deletion[index] = column_time(pod.deletion);
  pods_.deletion_grace_seconds[index] = pod.deletion_grace_seconds;
  pods_.observed[index] = column_time(pod.observed);
  pods_.flags[index] = PodFlags{.exists = true,
                                .ordered = pods_.flags[index].ordered,
                                .priority_given = pod.priority.has_value(),
                                .ready = pod.ready,
                                .mirror = pod.mirror,
                                .opted_out = pod.opted_out,
                                .is_protected = pod.is_protected,
                                .is_owner = pod.is_owner,
                                .of_daemon_set = is_of_daemon_set(pod),
                                .disrupted_by_preemption = pod.disrupted_by_preemption,
                                .kernel = kernel,
                                .preemption_policy = pod.preemption_policy,
                                .kept = pod.kept};
}

bool Cluster::remove(KindTag<Pod> /*kind*/, const Removal& removal) {
  const auto found = find_pod(removal.namespace_name, removal.name, removal.plane);
  if (found) remove_pod(*found);
  return found.has_value();
}

void Cluster::remove_pod(PodIndex pod) {
  unbind(pod);
  nominate(pod, {});
  leave_unit(pod);
  repelling_pods_.erase(pod);
  sharing_pods_.erase(pod);
  pending_pods_.erase(pod);
  const Space space{.plane = pods_.plane[pod], .namespace_name = pods_.namespace_name[pod]};
  pods_by_key_.erase(pod_hash(space, pods_.name[pod.value]), pod.value);
  pods_.name.set(pod.value, {});
  pods_.uid.set(pod.value, {});
  pods_.flags[pod] = PodFlags{};
  free_pods_.push_back(pod);
  --pod_count_;
}

void Cluster::bind(PodIndex pod, NodeIndex node) {
  pods_.node[pod] = node;
  ++(pods_.flags[pod].kernel ? nodes_.kernels : nodes_.pods)[node];
  if (pods_.deletion[pod] != no_time) {
    ++nodes_.leaving[node];
    leaving_pods_.insert(pod);
  }
  enter_order(pod);
}

void Cluster::unbind(PodIndex pod) {
  const NodeIndex node = pods_.node[pod];
  if (!node.exists()) return;
  leave_order(pod);
  pods_.node[pod] = {};
  --(pods_.flags[pod].kernel ? nodes_.kernels : nodes_.pods)[node];
  if (pods_.deletion[pod] != no_time) {
    --nodes_.leaving[node];
    leaving_pods_.erase(pod);
  }
  drop_node_if_unused(node);
}

void Cluster::nominate(PodIndex pod, NodeIndex node) {
  const NodeIndex before = pods_.nominated[pod];
  if (before.exists()) {
    std::erase(nodes_.nominated[before], pod);
    nominated_pods_.erase(pod);
    drop_node_if_unused(before);
  }
  pods_.nominated[pod] = node;
  if (!node.exists()) return;
  nodes_.nominated[node].push_back(pod);
  nominated_pods_.insert(pod);
}

void Cluster::list_pending(PodIndex pod) {
  const bool pending = !pods_.flags[pod].kernel && !pods_.node[pod].exists() &&
                       pods_.deletion[pod] == no_time && pods_.plane[pod] == StringId{0};
  if (pending) {
    pending_pods_.insert(pod);
  } else if (!pending_pods_.empty()) {
    pending_pods_.erase(pod);
  }
}

Cluster::OrderKey Cluster::order_key(PodIndex pod) const {
  const Unit& unit = units_[pods_.unit[pod]];
  const Time started = pods_.started[pod];
  return {.priority = unit.preemption_priority,
          .size = unit.mode == DisruptionMode::all ? unit.size : 1,
          .group = unit.kind == UnitKind::group,
          .started = started == no_time ? Time{std::numeric_limits<std::int64_t>::max()} : started,
          .pod = pod};
}

bool Cluster::guarded(PodIndex pod) const {
  const PodFlags flags = pods_.flags[pod];
  if (flags.mirror || flags.opted_out || flags.is_protected || flags.kernel) return true;
  if (flags.kept != KeptBy::none) return true;
  if (pods_.deletion[pod] != no_time || units_[pods_.unit[pod]].kind == UnitKind::group)
    return true;
  if (flags.of_daemon_set || is_pinned(*this, pod)) return true;
  const std::string_view priority_class = text(pods_.priority_class[pod]);
  return priority_class == names::node_critical || priority_class == names::cluster_critical;
}

bool Cluster::before(const OrderKey& a, const OrderKey& b) const {
  if (a.priority != b.priority) return a.priority > b.priority;
  if (a.group != b.group) return a.group;
  if (a.size != b.size) return a.size > b.size;
  if (a.started != b.started) return a.started < b.started;
  const StringId a_plane = pods_.plane[a.pod];
  const StringId b_plane = pods_.plane[b.pod];
  if (a_plane != b_plane) return text(a_plane) < text(b_plane);
  const StringId a_space = pods_.namespace_name[a.pod];
  const StringId b_space = pods_.namespace_name[b.pod];
  if (a_space != b_space) return text(a_space) < text(b_space);
  return pods_.name[a.pod.value] < pods_.name[b.pod.value];
}

bool Cluster::more_important(PodIndex a, PodIndex b) const {
  return before(order_key(a), order_key(b));
}

void Cluster::enter_order(PodIndex pod) {
  if (bulk_) return;
  CHECK(!pods_.flags[pod].ordered);
  const NodeIndex node = pods_.node[pod];
  const OrderKey key = order_key(pod);
  const std::span<const PodIndex> others = order_.pods(node);
  const auto position = std::ranges::partition_point(
      others, [&](PodIndex other) { return before(order_key(other), key); });
  order_.insert(node, static_cast<std::size_t>(position - others.begin()),
                {.pod = pod,
                 .priority = key.priority,
                 .guarded = guarded(pod),
                 .requests = requests_[pods_.requests[pod]]},
                [this](PodIndex other) { return requests_[pods_.requests[other]]; });
  pods_.flags[pod].ordered = true;
}

void Cluster::leave_order(PodIndex pod) {
  if (bulk_ || !pods_.flags[pod].ordered) return;
  const NodeIndex node = pods_.node[pod];
  const std::span<const PodIndex> all = order_.pods(node);
  const auto position = std::ranges::find(all, pod);
  CHECK(position != all.end(), "a pod is missing from its node's order");
  order_.erase(node, static_cast<std::size_t>(position - all.begin()),
               [this](PodIndex other) { return requests_[pods_.requests[other]]; });
  pods_.flags[pod].ordered = false;
}

RequestId Cluster::intern_requests(const Amounts& amounts, bool one_pod) {
  std::vector<ResourceAmount>& row = row_buffer_;
  row.clear();
  for (const Amount& amount : amounts) {
    row.push_back({.resource = resources_.intern(amount.resource), .amount = amount.amount});
  }
  if (one_pod) row.push_back({.resource = resource_pods, .amount = 1});
  std::ranges::sort(row, {}, &ResourceAmount::resource);
  const RequestId id = requests_.intern(row);
  if (resources_.size() > order_.columns() && !bulk_) rebuild_order();
  return id;
}

LabelSetId Cluster::intern_labels(const Labels& labels) {
  std::vector<LabelPair>& pairs = pair_buffer_;
  pairs.clear();
  for (const Label& label : labels) {
    pairs.push_back({.key = strings_.intern(label.key), .value = strings_.intern(label.value)});
  }
  std::ranges::sort(pairs);
  return label_sets_.intern(pairs);
}

ShapeId Cluster::intern_shape(const PodShape& shape) {
  const std::size_t known = shapes_.size();
  const ShapeId id = shapes_.intern(shape);
  if (shapes_.size() == known) return id;
  const std::size_t keys = selecting_keys_.size();
  const auto note_key = [&](std::string_view key) {
    if (key == names::hostname) return;  // Nearly unique: judged per node instead.
    const StringId id_of_key = strings_.intern(key);
    const auto at = std::ranges::lower_bound(selecting_keys_, id_of_key);
    if (at == selecting_keys_.end() || *at != id_of_key) selecting_keys_.insert(at, id_of_key);
  };
  for (const Label& label : shape.node_selector) note_key(label.key);
  for (const NodeSelectorTerm& term : shape.node_terms) {
    for (const Requirement& requirement : term.labels) note_key(requirement.key);
  }
  for (const NodePreference& preference : shape.preferences.nodes) {
    for (const Requirement& requirement : preference.term.labels) note_key(requirement.key);
  }
  if (selecting_keys_.size() != keys && !bulk_) classify_all();
  return id;
}

void Cluster::rebuild_order() {
  std::vector<std::uint32_t> counts(nodes_.slots());
  std::vector<OrderKey> keys;
  keys.reserve(pod_count_);
  for (std::uint32_t slot = 0; slot < pods_.slots(); ++slot) {
    const PodIndex pod{slot};
    const bool bound =
        pods_.flags[pod].exists && pods_.node[pod].exists() && pods_.unit[pod].exists();
    pods_.flags[pod].ordered = bound;
    if (!bound) continue;
    keys.push_back(order_key(pod));
    ++counts[pods_.node[pod].value];
  }
  std::vector<std::size_t> next(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), next.begin(), std::size_t{0});
  const std::vector<std::size_t> begins = next;
  std::vector<OrderKey> by_node(keys.size());
  for (const OrderKey& key : keys) by_node[next[pods_.node[key.pod].value]++] = key;
  for (std::size_t node = 0; node < counts.size(); ++node) {
    const std::span<OrderKey> here = std::span(by_node).subspan(begins[node], counts[node]);
    std::ranges::sort(here, [this](const OrderKey& a, const OrderKey& b) { return before(a, b); });
  }
  std::vector<NodeOrder::Entry> entries;
  entries.reserve(by_node.size());
  for (const OrderKey& key : by_node) {
    entries.push_back({.pod = key.pod,
                       .priority = key.priority,
                       .guarded = guarded(key.pod),
                       .requests = requests_[pods_.requests[key.pod]]});
  }
  order_.rebuild(entries, counts, resources_.size());
}

}  // namespace makeway
