#include "model/validation/quarantine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/findings.hpp"
#include "model/names.hpp"
#include "model/normalize.hpp"
#include "model/object_at.hpp"
#include "model/object_text.hpp"
#include "model/validation/sums.hpp"
#include "model/validation/validation.hpp"

namespace makeway {
namespace {

/// Of one resource and one kernel, as its decoder allows it.
constexpr std::int64_t kernel_amount_max = std::int64_t{1} << 50;
constexpr std::int32_t class_value_max = 1'000'000'000;

// ---- One object -------------------------------------------------------------------------------

/// It is unknown which of its parts are true: it asks for nothing, and what runs holds its room.
bool isolate_session(Session& session) {
  std::erase_if(session.kernels,
                [](const Kernel& kernel) { return kernel.node.empty() || kernel.name.empty(); });
  std::ranges::sort(session.kernels);
  const auto repeated = std::ranges::unique(session.kernels, {}, &Kernel::name);
  session.kernels.erase(repeated.begin(), repeated.end());
  for (Kernel& kernel : session.kernels) {
    kernel.nominated_node.clear();
    for (Amount& amount : kernel.requests) {
      amount.amount = std::min(amount.amount, kernel_amount_max);
    }
  }
  const bool suspended = session.status.phase == SessionPhase::suspended;
  if (!suspended) session.status.phase = SessionPhase::running;
  return !session.kernels.empty();
}

/// Labels that are marks stay only where they can be read, so that a dump can be.
void drop_broken_marks(Pod& pod) {
  constexpr std::array marks = {names::allow_preemption, names::yunikorn_allow_preemption,
                                names::protected_member, names::owner};
  std::erase_if(pod.labels, [&](const Label& label) {
    return std::ranges::find(marks, label.key) != marks.end() && label.value != "true" &&
           label.value != "false";
  });
}

// ---- Errors of the cluster ----------------------------------------------------------------------

/// An object by its name in messages.
struct NamedObject {
  std::string_view kind;
  ObjectKeyView key;
};

NamedObject named_object(std::string_view text) {
  NamedObject named;
  const std::size_t blank = std::min(text.find(' '), text.size());
  named.kind = text.substr(0, blank);
  text.remove_prefix(std::min(blank + 1, text.size()));
  if (const std::size_t plane = text.find(of_plane); plane != std::string_view::npos) {
    named.key.plane = text.substr(plane + of_plane.size());
    text = text.substr(0, plane);
  }
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    named.key.namespace_name = text.substr(0, slash);
    text.remove_prefix(slash + 1);
  }
  named.key.name = text;
  return named;
}

void remove(Cluster& cluster, ObjectKind kind, const ObjectKeyView& key) {
  cluster.apply(Removal{.kind = kind,
                        .namespace_name = std::string(key.namespace_name),
                        .name = std::string(key.name),
                        .plane = std::string(key.plane)});
}

bool is_preemption_class(const Problem& problem) {
  return problem.field == annotation_field(names::preemption_priority_class) ||
         problem.field.ends_with("preemptionPriorityClassName");
}

bool is_class(const Problem& problem) { return problem.field.ends_with(".priorityClassName"); }

bool is_sum(const Problem& problem) { return problem.message.starts_with(sum_message); }

/// Of every resource: an object with an exbibyte of one is not believed about the others.
void clamp(std::vector<Amount>& amounts) {
  for (Amount& item : amounts) item.amount = std::min(item.amount, amount_in_quarantine);
}

// One overload for each kind that find_errors reports on. False: nothing of the object can stay.

bool mend_object(const Cluster& /*cluster*/, Node& node, const Problem& /*problem*/) {
  clamp(node.allocatable);
  return true;
}

bool mend_object(const Cluster& /*cluster*/, Pod& pod, const Problem& problem) {
  if (is_sum(problem)) {
    clamp(pod.requests);
  } else if (is_preemption_class(problem)) {
    pod.notes.preemption_priority_class.clear();
  } else if (is_class(problem)) {
    // Without a number it has none, as for kube-scheduler; the default class would be a gift.
    pod.priority_class.clear();
    pod.priority = 0;
  } else if (problem.field.ends_with(fmt::format("[{}]", names::plane))) {
    std::erase_if(pod.labels, [](const Label& label) { return label.key == names::plane; });
  }
  hold(pod, problem);
  return true;
}

/// Without its object the members that run count as lone pods of their own priority, and the others
/// wait for it (section 2).
bool mend_object(const Cluster& /*cluster*/, PodGroup& group, const Problem& problem) {
  if (is_class(problem)) return false;
  if (is_preemption_class(problem)) group.priority.preemption_priority_class.clear();
  if (problem.field == "queue") group.queue.clear();
  return true;
}

/// Mends Workloads one after the other. Finding one, or the groups that follow it, in the cluster
/// costs a look at all; so that is done once.
class WorkloadMender {
 public:
  explicit WorkloadMender(Cluster& cluster) : cluster_(cluster) {
    for (const Workload* each : cluster.workloads()) {
      workloads_.emplace(owned(key_of(*each)), Known{.object = *each, .followers = {}});
    }
    for (const GroupIndex index : cluster.groups_by_name()) {
      const Group& group = cluster.groups()[index];
      const Workload* const workload = group.object ? cluster.workload_of(group) : nullptr;
      if (workload == nullptr) continue;
      workloads_.find(key_of(*workload))->second.followers.push_back(owned(key_of(*group.object)));
    }
  }

  void mend(const ObjectKeyView& key, const Problem& problem) {
    const auto found = workloads_.find(key);
    if (found == workloads_.end()) return;
    auto& [workload, followers] = found->second;
    if (is_preemption_class(problem)) {
      workload.priority.preemption_priority_class.clear();
      for (GroupTemplate& entry : workload.templates) {
        entry.priority.preemption_priority_class.clear();
      }
      cluster_.apply(workload);
      return;
    }
    // Groups that have their priority from it are in the same position as itself.
    for (const ObjectKey& each : followers) {
      if (takes_priority(each)) remove(cluster_, ObjectKind::pod_group, view_of_key(each));
    }
    remove(cluster_, ObjectKind::workload, key);
    workloads_.erase(found);
  }

 private:
  struct Known {
    Workload object;
    std::vector<ObjectKey> followers;  ///< By name.
  };

  bool takes_priority(const ObjectKey& key) const {
    const auto found = cluster_.find_group(key.namespace_name, key.name, key.plane);
    if (!found || !cluster_.groups()[*found].object) return false;
    const PriorityClaim& own = cluster_.groups()[*found].object->priority;
    return !own.priority && own.priority_class.empty();
  }

  Cluster& cluster_;
  std::map<ObjectKey, Known, ObjectKeyLess> workloads_;
};

void mend_class(Cluster& cluster, const ObjectKeyView& key) {
  const PriorityClass* const found = cluster.find_priority_class(key.name, key.plane);
  if (found == nullptr) return;
  PriorityClass clamped = *found;
  if (clamped.name == names::node_critical || clamped.name == names::cluster_critical) {
    return remove(cluster, ObjectKind::priority_class, key);  // The built-in one counts.
  }
  clamped.value = std::min(clamped.value, class_value_max);
  cluster.apply(clamped);
}

/// Mends Queues one after the other. Whether a queue is named as a parent costs a look at all of
/// them; so that is counted once.
class QueueMender {
 public:
  explicit QueueMender(Cluster& cluster) : cluster_(cluster) {
    for (const auto& [key, queue] : cluster.own<Queue>()) ++children_[queue.parent];
  }

  void mend(const ObjectKeyView& key, const Problem& problem) {
    const auto found = cluster_.own<Queue>().find(key);
    if (found == cluster_.own<Queue>().end()) return;
    Queue queue = found->second;
    if (is_sum(problem)) {
      clamp(queue.guarantee);
      clamp(queue.allocated);
      clamp(queue.preempting);
    } else if (problem.field == "spec.parent") {
      --children_[queue.parent];
      queue.parent.clear();
    } else if (problem.field == "spec.namespaces" && is_parent(queue.name)) {
      queue.namespaces.clear();
    } else if (problem.field == "spec.namespaces") {
      std::erase(queue.namespaces, problem.value);
    } else {
      queue.guarantee.clear();  // It lies above the limit.
    }
    cluster_.apply(queue);
  }

 private:
  bool is_parent(const std::string& name) const {
    const auto found = children_.find(name);
    return found != children_.end() && found->second > 0;
  }

  Cluster& cluster_;
  std::map<std::string, std::int64_t> children_;
};

bool mend_object(const Cluster& /*cluster*/, ReplicaSchedule& schedule, const Problem& problem) {
  schedule.priority_class.clear();
  schedule.priority = 0;
  schedule.unmet = 0;
  return is_class(problem);
}

/// The partition of the group in which a session is protected least.
std::string least_protected_partition(const Cluster& cluster, std::string_view group) {
  const Partition* humblest = nullptr;
  const auto rank = [](const Partition& each) { return std::pair(!each.preemptible, each.tier); };
  for (const auto& [key, partition] : cluster.own<Partition>()) {
    if (partition.resource_group != group) continue;
    if (humblest == nullptr || rank(partition) < rank(*humblest)) humblest = &partition;
  }
  return humblest == nullptr ? std::string() : humblest->name;
}

/// Only one that holds nodes is kept, as a running one without anything that protects it.
bool mend_object(const Cluster& cluster, Session& session, const Problem& problem) {
  if (!isolate_session(session)) return false;
  session.preemptible.reset();
  if (is_sum(problem)) {
    for (Kernel& kernel : session.kernels) clamp(kernel.requests);
  }
  if (problem.field == "spec.resourceGroup") {
    // No policy decides about it: whether it is leaving is not known either.
    session.status.ends_at.reset();
    session.status.fate.reset();
    session.status.resume_after.reset();
  }
  if (problem.field == "spec.partition") {
    session.partition = least_protected_partition(cluster, session.resource_group);
  }
  if (session.partition.empty()) session.status.phase = SessionPhase::running;
  if (problem.field == "status.phase") {
    session.status.phase = SessionPhase::running;
    session.status.ends_at.reset();
  }
  return true;
}

bool mend_object(const Cluster& /*cluster*/, ResourceGroup& group, const Problem& problem) {
  if (std::erase(group.nodes, problem.value) == 0) group.node_selector.clear();
  return true;
}

bool mend_object(const Cluster& /*cluster*/, Partition& partition, const Problem& problem) {
  if (problem.field != "spec.nodes") return false;
  std::erase(partition.nodes, problem.value);
  return !partition.nodes.empty();  // Without nodes it would lie over all of its group.
}

/// Made when the first of their kind is wrong.
struct KeptMenders {
  std::optional<WorkloadMender> workloads;
  std::optional<QueueMender> queues;
};

void mend(Cluster& cluster, KeptMenders& kept, const Problem& problem) {
  const NamedObject named = named_object(problem.object);
  const ObjectKeyView& key = named.key;
  if (named.kind == row_of<Workload>.name) {
    if (!kept.workloads) kept.workloads.emplace(cluster);
    return kept.workloads->mend(key, problem);
  }
  if (named.kind == row_of<Queue>.name) {
    if (!kept.queues) kept.queues.emplace(cluster);
    return kept.queues->mend(key, problem);
  }
  if (named.kind == row_of<PriorityClass>.name) return mend_class(cluster, key);
  const auto* const row = std::ranges::find(kind_rows, named.kind, &KindRow::name);
  // A kernel is a row among the pods, and no object.
  if (row == kind_rows.end() || (row->kind == ObjectKind::pod && key.name.contains('/'))) return;
  Change found = object_at(cluster, {row->kind, std::string(key.plane),
                                     std::string(key.namespace_name), std::string(key.name)});
  const auto mend_found = [&](auto& object) {
    if constexpr (requires { mend_object(cluster, object, problem); }) {
      if (!mend_object(cluster, object, problem)) return remove(cluster, row->kind, key);
      cluster.apply(object);
    }
  };
  std::visit(mend_found, found);
}

/// Mends what `list` reports, until it reports nothing new: removing a class may break others.
template <class List>
void mend_all(Cluster& cluster, Quarantine& quarantine, const List& list) {
  constexpr int rounds_max = 8;
  std::set<std::pair<std::string, std::string>> seen;
  bool more = true;
  for (int round = 0; more && round < rounds_max; ++round) {
    more = false;
    KeptMenders kept;
    for (Problem& problem : list()) {
      if (!seen.emplace(problem.object, problem.field + problem.value).second) continue;
      more = true;
      mend(cluster, kept, problem);
      quarantine.add(std::move(problem));
    }
  }
}

/// Pending members of a group in quarantine, or of a group whose Workload is.
void hold_members(Cluster& cluster, const Quarantine& quarantine) {
  std::vector<std::pair<PodIndex, Problem>> held;
  for (const PodIndex pod : cluster.pending_pods()) {
    const Unit& unit = cluster.units()[cluster.pods().unit[pod]];
    if (!unit.group.exists()) continue;
    const Group& group = cluster.groups()[unit.group];
    std::string text = object_text(
        "PodGroup",
        {cluster.text(group.namespace_name), cluster.text(group.name), cluster.text(group.plane)});
    const Workload* const workload = cluster.workload_of(group);
    if (!quarantine.contains(text)) {
      if (workload == nullptr || !quarantine.contains(object_text(*workload))) continue;
      text = object_text(*workload);
    }
    held.emplace_back(pod, Problem{.message = fmt::format("{} is in quarantine", text)});
  }
  for (const auto& [index, why] : held) {
    Pod pod = cluster.pod(index);
    hold(pod, why);
    cluster.apply(pod);
  }
}

}  // namespace

void Quarantine::add(Problem problem) {
  if (problem.object.empty()) {
    ++nameless_;
  } else {
    objects_.insert(problem.object);
  }
  problems_.push_back(std::move(problem));
}

void Quarantine::append(Quarantine more) {
  problems_.append(std::move(more.problems_));
  objects_.merge(more.objects_);
  nameless_ += more.nameless_;
}

void hold(Pod& pod, const Problem& why) {
  if (!pod.node.empty()) return;
  Problem reason = why;  // Where it stands in the input is no part of the reason.
  reason.origin = {};
  reason.object.clear();
  reason.remedy.clear();
  // Nor is its place in a list: shuffling the input changes nothing (law 11).
  if (reason.field.starts_with("items[")) {
    const std::size_t end = reason.field.find("].");
    if (end != std::string::npos) reason.field.erase(0, end + 2);
  }
  constexpr std::size_t shown_max = 200;
  hold(pod, fmt::format("in quarantine: {}", shorten(to_text(reason), shown_max)));
}

void hold(Pod& pod, std::string_view reason) {
  if (!pod.node.empty()) return;
  const auto is_held = [](const std::string& need) { return need.starts_with(names::held_need); };
  if (std::ranges::any_of(pod.shape.unsupported, is_held)) return;
  pod.shape.unsupported.push_back(std::string(names::held_need) + std::string(reason));
  normalize(pod);
}

bool isolate(Change& object, const Problem& why) {
  if (Pod* const pod = std::get_if<Pod>(&object)) {
    drop_broken_marks(*pod);
    hold(*pod, why);
  } else if (Session* const session = std::get_if<Session>(&object)) {
    return isolate_session(*session);
  } else if (ReplicaSchedule* const schedule = std::get_if<ReplicaSchedule>(&object)) {
    schedule->unmet = 0;
    schedule->status = {};
    std::erase_if(schedule->planes, [](const ReplicaPlane& plane) { return plane.name.empty(); });
    return !schedule->requests.empty();
  }
  return true;
}

void quarantine_errors(Cluster& cluster, Quarantine& quarantine) {
  mend_all(cluster, quarantine, [&] { return list_errors(cluster); });
  hold_members(cluster, quarantine);
}

void quarantine_caps(Cluster& cluster, const Configuration& configuration, Quarantine& quarantine) {
  mend_all(cluster, quarantine, [&] { return list_cap_errors(cluster, configuration); });
  hold_members(cluster, quarantine);
}

}  // namespace makeway
