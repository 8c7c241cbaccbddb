// The store's front: dispatch of changes, bulk loading, and the way back to plain objects.
#include "model/cluster.hpp"

#include <algorithm>

#include "model/names.hpp"
#include "model/object_text.hpp"

namespace makeway {

Cluster::Cluster()
    : queue_keys_{strings_.intern(names::queue), strings_.intern(names::kueue_queue),
                  strings_.intern(names::yunikorn_queue)},
      plane_key_(strings_.intern(names::plane)) {}

Cluster::Cluster(Cluster&& other) noexcept = default;
Cluster& Cluster::operator=(Cluster&& other) noexcept = default;
Cluster::~Cluster() = default;

template <MappedObject Object>
bool Cluster::apply(const Object& object) {
  return put(object);
}

template bool Cluster::apply(const Namespace& object);
template bool Cluster::apply(const StorageClass& object);
template bool Cluster::apply(const PersistentVolume& object);
template bool Cluster::apply(const PersistentVolumeClaim& object);
template bool Cluster::apply(const CsiNode& object);
template bool Cluster::apply(const ResourceClaim& object);
template bool Cluster::apply(const DisruptionBudget& object);
template bool Cluster::apply(const Queue& object);
template bool Cluster::apply(const ReplicaSchedule& object);
template bool Cluster::apply(const Partition& object);

bool Cluster::apply(const Change& change) {
  return std::visit([this](const auto& object) { return apply(object); }, change);
}

bool Cluster::apply(const Removal& removal) {
  bool removed = false;
  each_kind([&](const auto& kind) {
    using Object = std::decay_t<decltype(kind)>::Type;
    if (removal.kind == row_of<Object>.kind) removed = remove(kind, removal);
  });
  return removed;
}

void Cluster::finish_bulk() {
  bulk_ = false;
  list_all_nodes();
  classify_all();
  claim_all();
  refresh_all_priorities();
  pods_.shrink_to_fit();
  units_.shrink_to_fit();
  label_sets_.shrink_to_fit();
}

std::string Cluster::pod_key(PodIndex pod) const {
  if (pods_.flags[pod].kernel) return std::string(pods_.name[pod.value]);
  return key_text({text(pods_.namespace_name[pod]), pods_.name[pod.value], text(pods_.plane[pod])});
}

// ---- Back to objects --------------------------------------------------------------------------

namespace {

std::optional<Time> object_time(Time time) {
  if (time == no_time) return std::nullopt;
  return time;
}

}  // namespace

Labels Cluster::label_objects(LabelSetId id) const {
  Labels labels;
  for (const LabelPair& pair : label_sets_[id]) {
    labels.push_back({.key = std::string(text(pair.key)), .value = std::string(text(pair.value))});
  }
  std::ranges::sort(labels);
  return labels;
}

Amounts Cluster::amount_objects(RequestId id) const {
  Amounts amounts;
  for (const ResourceAmount& amount : requests_[id]) {
    amounts.push_back(
        {.resource = std::string(resources_.name(amount.resource)), .amount = amount.amount});
  }
  std::ranges::sort(amounts);
  return amounts;
}

Pod Cluster::pod(PodIndex index) const {
  const PodFlags flags = pods_.flags[index];
  const auto node_name = [this](NodeIndex node) {
    return node.exists() ? std::string(text(nodes_.name[node])) : std::string();
  };
  const Unit& unit = units_[pods_.unit[index]];
  Pod pod{.namespace_name = std::string(text(pods_.namespace_name[index])),
          .name = std::string(pods_.name[index.value]),
          .uid = std::string(pods_.uid[index.value]),
          .plane = std::string(text(pods_.plane[index])),
          .labels = label_objects(pods_.labels[index]),
          .node = node_name(pods_.node[index]),
          .nominated_node = node_name(pods_.nominated[index]),
          .group = unit.group.exists() ? std::string(text(groups_[unit.group].name)) : "",
          .scheduler = std::string(text(pods_.scheduler[index])),
          .priority_class = std::string(text(pods_.priority_class[index])),
          .priority = std::nullopt,
          .preemption_policy = flags.preemption_policy,
          .requests = amount_objects(pods_.requests[index]),
          .shape = shapes_[pods_.shape[index]],
          .notes = notes_[pods_.notes[index]],
          .owners = owner_sets_[pods_.owners[index]],
          .created = object_time(pods_.created[index]),
          .started = object_time(pods_.started[index]),
          .deletion = object_time(pods_.deletion[index]),
          .deletion_grace_seconds = pods_.deletion_grace_seconds[index],
          .observed = object_time(pods_.observed[index]),
          .ready = flags.ready,
          .mirror = flags.mirror,
          .opted_out = flags.opted_out,
          .is_protected = flags.is_protected,
          .is_owner = flags.is_owner,
          .disrupted_by_preemption = flags.disrupted_by_preemption,
          .kept = flags.kept};
  if (flags.priority_given) pod.priority = pods_.priority[index];
  std::erase_if(pod.requests, [](const Amount& amount) { return amount.resource == pods_name; });
  return pod;
}

Node Cluster::node(NodeIndex index) const {
  return {.name = std::string(text(nodes_.name[index])),
          .uid = std::string(nodes_.uid[index.value]),
          .plane = std::string(text(nodes_.plane[index])),
          .labels = label_objects(nodes_.labels[index]),
          .taints = taint_sets_[nodes_.taints[index]],
          .unschedulable = nodes_.flags[index].unschedulable,
          .allocatable = amount_objects(nodes_.allocatable[index]),
          .created = object_time(nodes_.created[index]),
          .observed = object_time(nodes_.observed[index])};
}

std::vector<PodIndex> Cluster::pods_by_name() const {
  std::vector<PodIndex> all;
  all.reserve(pod_count());
  for (const PodIndex pod : each_pod()) all.push_back(pod);
  std::ranges::sort(all, [this](PodIndex a, PodIndex b) {
    if (pods_.plane[a] != pods_.plane[b]) return text(pods_.plane[a]) < text(pods_.plane[b]);
    const StringId a_space = pods_.namespace_name[a];
    const StringId b_space = pods_.namespace_name[b];
    if (a_space != b_space) return text(a_space) < text(b_space);
    return pods_.name[a.value] < pods_.name[b.value];
  });
  return all;
}

std::vector<GroupIndex> Cluster::groups_by_name() const {
  std::vector<GroupIndex> all;
  for (std::uint32_t slot = 0; slot < groups_.size(); ++slot) {
    if (groups_[GroupIndex{slot}].unit.exists()) all.push_back(GroupIndex{slot});
  }
  std::ranges::sort(all, {}, [this](GroupIndex group) {
    const Group& row = groups_[group];
    return std::tuple(text(row.plane), text(row.namespace_name), text(row.name));
  });
  return all;
}

namespace {

template <class Object>
std::vector<const Object*> pointers_to(const Cluster& cluster) {
  std::vector<const Object*> pointers;
  cluster.each<Object>([&](const Object& object) { pointers.push_back(&object); });
  return pointers;
}

}  // namespace

std::vector<const PriorityClass*> Cluster::priority_classes() const {
  return pointers_to<PriorityClass>(*this);
}
std::vector<const DisruptionBudget*> Cluster::budgets() const {
  return pointers_to<DisruptionBudget>(*this);
}
std::vector<const Namespace*> Cluster::namespaces() const { return pointers_to<Namespace>(*this); }

std::vector<const Workload*> Cluster::workloads() const {
  std::vector<const Workload*> all;
  for (const WorkloadSlot& slot : workloads_) {
    if (slot.object) all.push_back(&*slot.object);
  }
  std::ranges::sort(all, {}, [](const Workload* workload) { return key_of(*workload); });
  return all;
}

Cluster Cluster::compacted() const {
  Cluster fresh;
  fresh.begin_bulk();
  each_kind([&](const auto& kind) {
    using Object = std::decay_t<decltype(kind)>::Type;
    each<Object>([&fresh](const Object& object) { fresh.apply(object); });
  });
  fresh.finish_bulk();
  return fresh;
}

std::size_t Cluster::interned_count() const {
  return strings_.size() + label_sets_.size() + requests_.size() + shapes_.size() + notes_.size() +
         owner_sets_.size();
}

ClusterBytes Cluster::bytes() const {
  ClusterBytes bytes;
  bytes.pods = pods_.bytes() - pods_.name.bytes() - pods_.uid.bytes() + pods_by_key_.bytes();
  bytes.nodes = nodes_.bytes() + nodes_by_key_.bytes();
  bytes.units = units_.bytes() + groups_.bytes() + groups_by_key_.bytes();
  bytes.order = order_.bytes();
  bytes.texts = pods_.name.bytes() + pods_.uid.bytes() + strings_.bytes();
  bytes.interned = label_sets_.bytes() + requests_.bytes() + shapes_.table_bytes() +
                   notes_.table_bytes() + owner_sets_.table_bytes();
  return bytes;
}

}  // namespace makeway
