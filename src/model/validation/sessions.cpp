#include "model/validation/sessions.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "model/object_text.hpp"
#include "model/selector.hpp"
#include "model/session_names.hpp"

namespace makeway {
namespace {

/// The names of a group's nodes that are here.
std::set<std::string> nodes_of(const Cluster& cluster, const ResourceGroup& group) {
  std::set<std::string> nodes;
  for (const NodeIndex node : cluster.nodes_by_name()) {
    std::string name(cluster.text(cluster.nodes().name[node]));
    bool selected = !group.node_selector.empty();
    if (selected) {
      const Labels labels = cluster.label_objects(cluster.nodes().labels[node]);
      selected = std::ranges::all_of(group.node_selector, [&](const Label& label) {
        return find_label(labels, label.key) == std::string_view(label.value);
      });
    }
    if (selected || std::ranges::binary_search(group.nodes, name)) nodes.insert(std::move(name));
  }
  return nodes;
}

class SessionCheck {
 public:
  explicit SessionCheck(Findings& findings) : findings_(findings), cluster_(findings.cluster()) {
    for (const auto& [key, group] : cluster_.own<ResourceGroup>()) {
      nodes_[group.name] = nodes_of(cluster_, group);
    }
    for (const auto& [key, partition] : cluster_.own<Partition>()) {
      divided_.insert(partition.resource_group);
    }
  }

  void check_groups();
  void check_partitions();
  void check_all_sessions();
  void lint_groups();
  void lint_partitions();
  void lint_preferences();
  void lint_kernels();

 private:
  const Partition* find_partition(const std::string& name) const {
    const auto& all = cluster_.own<Partition>();
    const auto found = all.find({std::string(), name});
    return found == all.end() ? nullptr : &found->second;
  }
  void unknown(const std::string& object, std::string field, const std::string& value,
               std::string_view kind) {
    findings_.error({.object = object,
                     .field = std::move(field),
                     .value = shorten(value),
                     .message = fmt::format("no {} of this name is in the input", kind),
                     .remedy = "add it or correct the name"});
  }
  void check_membership(const Session& session, const std::string& object);
  void check_status(const Session& session, const std::string& object);
  void lint_nominations(const Session& session);
  void lint_times(const Session& session);
  void lint_suspension(const Partition& partition, const std::string& object);
  void lint_partition_of(const Session& session, const Partition& own);
  void lint_places_in(const Session& session, const Partition& own);
  std::set<std::string> partition_nodes(const Partition& partition) const;
  bool may_be_preempted(const Partition& partition) const;

  Findings& findings_;
  const Cluster& cluster_;
  std::map<std::string, std::set<std::string>> nodes_;  ///< By group.
  std::set<std::string> divided_;
};

std::string text_of(const Session& session) {
  return object_text("Session", session.namespace_name, session.name);
}

void SessionCheck::check_groups() {
  std::map<std::string, std::string> group_of;
  for (const auto& [group, nodes] : nodes_) {
    for (const std::string& node : nodes) {
      const auto [at, is_new] = group_of.try_emplace(node, group);
      if (is_new) continue;
      findings_.error(
          {.object = object_text("ResourceGroup", {}, group),
           .field = "spec.nodes",
           .value = node,
           .message = fmt::format("the node belongs to ResourceGroup {} already", at->second),
           .remedy = "a node belongs to at most one group; take it out of the other"});
    }
  }
}

std::set<std::string> SessionCheck::partition_nodes(const Partition& partition) const {
  const auto group = nodes_.find(partition.resource_group);
  if (group == nodes_.end()) return {};
  if (partition.nodes.empty()) return group->second;
  return {partition.nodes.begin(), partition.nodes.end()};
}

void SessionCheck::check_partitions() {
  for (const auto& [key, partition] : cluster_.own<Partition>()) {
    const std::string object = object_text("Partition", {}, partition.name);
    const auto group = nodes_.find(partition.resource_group);
    if (group == nodes_.end()) {
      unknown(object, "spec.resourceGroup", partition.resource_group, "ResourceGroup");
      continue;
    }
    const ResourceGroup& of = cluster_.own<ResourceGroup>().at({std::string(), group->first});
    for (const std::string& node : partition.nodes) {
      // A node that the group names may be gone for a while: lint_groups reports it.
      if (group->second.contains(node) || std::ranges::binary_search(of.nodes, node)) continue;
      findings_.error(
          {.object = object,
           .field = "spec.nodes",
           .value = shorten(node),
           .message = fmt::format("no node of ResourceGroup {}", partition.resource_group),
           .remedy = "a partition lies over nodes of its own group"});
    }
  }
}

void SessionCheck::check_membership(const Session& session, const std::string& object) {
  if (!nodes_.contains(session.resource_group)) {
    return unknown(object, "spec.resourceGroup", session.resource_group, "ResourceGroup");
  }
  const bool divided = divided_.contains(session.resource_group);
  if (session.partition.empty()) {
    if (divided) {
      findings_.error({.object = object,
                       .field = "spec.partition",
                       .message = fmt::format("ResourceGroup {} is divided into partitions",
                                              session.resource_group),
                       .remedy = "name the partition that it runs in"});
    }
    if (session.preemptible) {
      findings_.error({.object = object,
                       .field = "spec.preemptible",
                       .value = *session.preemptible ? "true" : "false",
                       .message = "without partitions the priority decides whether a session may "
                                  "be preempted",
                       .remedy = "set spec.priority, or divide the group into partitions"});
    }
    return;
  }
  const Partition* const partition = find_partition(session.partition);
  if (partition == nullptr) {
    return unknown(object, "spec.partition", session.partition, "Partition");
  }
  if (partition->resource_group == session.resource_group) return;
  findings_.error({.object = object,
                   .field = "spec.partition",
                   .value = shorten(session.partition),
                   .message = fmt::format("it belongs to ResourceGroup {}, and the session to {}",
                                          partition->resource_group, session.resource_group),
                   .remedy = "name a partition of the session's own group"});
}

void SessionCheck::check_status(const Session& session, const std::string& object) {
  const SessionStatus& status = session.status;
  const std::string_view phase = choice_name(status.phase);
  const bool needs_nodes =
      status.phase == SessionPhase::running || status.phase == SessionPhase::suspended;
  const auto wrong = [&](std::string field, std::string message, std::string remedy) {
    std::string value(field == "status.phase" ? phase : std::string_view{});
    findings_.error({.object = object,
                     .field = std::move(field),
                     .value = std::move(value),
                     .message = std::move(message),
                     .remedy = std::move(remedy)});
  };
  for (const Kernel& kernel : session.kernels) {
    if (kernel.node.empty() != needs_nodes) continue;
    wrong("status.phase",
          needs_nodes ? fmt::format("kernel {} has no node", kernel.name)
                      : fmt::format("kernel {} has node {}", kernel.name, kernel.node),
          "all kernels of a session that is running or suspended have nodes, of others none");
    break;
  }
  if (status.ends_at && status.phase != SessionPhase::running) {
    wrong("status.phase", "it has an end time, but is not running", "leave out status.endsAt");
  }
  if (status.phase == SessionPhase::suspended && session.partition.empty()) {
    wrong("status.phase", "only sessions in partitions are suspended", "set spec.partition");
  }
  if (status.phase != SessionPhase::preempted) return;
  const bool requeues = status.fate == SessionFate::requeues;
  if (requeues && !status.resume_after) {
    wrong("status.resumeAfter", "a session that requeues needs the end of its back-off",
          "set status.resumeAfter");
  } else if (!requeues && status.fate != SessionFate::on_request) {
    wrong("status.fate", "nothing makes it pending again",
          "set status.fate to requeues or on-request, or status.phase to ended");
  }
}

void SessionCheck::check_all_sessions() {
  for (const auto& [key, session] : cluster_.own<Session>()) {
    const std::string object = text_of(session);
    check_membership(session, object);
    check_status(session, object);
  }
}

// ---- Lint ---------------------------------------------------------------------------------------

void SessionCheck::lint_groups() {
  for (const auto& [key, group] : cluster_.own<ResourceGroup>()) {
    const std::string object = object_text("ResourceGroup", {}, group.name);
    for (const std::string& node : group.nodes) {
      if (nodes_[group.name].contains(node)) continue;
      findings_.warning({.object = object,
                         .field = "spec.nodes",
                         .value = shorten(node),
                         .message = "this node is not in the input",
                         .remedy = "add it (kubectl get nodes -o yaml) or leave it out"});
    }
    if (nodes_[group.name].empty()) {
      findings_.warning({.object = object,
                         .field = "spec",
                         .message = "no node belongs to it",
                         .remedy = "set nodes, or a nodeSelector that fits some"});
    }
    if (!group.preemptible_priority || !divided_.contains(group.name)) continue;
    findings_.warning({.object = object,
                       .field = "spec.preemptiblePriority",
                       .value = fmt::format("{}", *group.preemptible_priority),
                       .message = "with partitions this does not apply: tiers decide",
                       .remedy = "leave it out"});
  }
}

/// Whether a partition of a higher tier shares a node with it.
bool SessionCheck::may_be_preempted(const Partition& partition) const {
  const std::set<std::string> own = partition_nodes(partition);
  return std::ranges::any_of(cluster_.own<Partition>(), [&](const auto& other) {
    if (other.second.tier <= partition.tier) return false;
    return std::ranges::any_of(partition_nodes(other.second),
                               [&](const std::string& node) { return own.contains(node); });
  });
}

/// A plan can suspend, and so can a simulation; a kubelet cannot.
void SessionCheck::lint_suspension(const Partition& partition, const std::string& object) {
  if (partition.mode != PartitionMode::suspend) return;
  Problem problem{.object = object,
                  .field = "spec.mode",
                  .value = "suspend",
                  .message =
                      "Kubernetes cannot suspend a pod, so makeway run makes none of its "
                      "sessions leave",
                  .remedy = "choose mode requeue or cancel"};
  if (findings_.is_live()) {
    findings_.error(std::move(problem));
  } else {
    findings_.warning(std::move(problem));
  }
}

void SessionCheck::lint_partitions() {
  for (const auto& [key, partition] : cluster_.own<Partition>()) {
    const std::string object = object_text("Partition", {}, partition.name);
    lint_suspension(partition, object);
    if (partition.mode == PartitionMode::suspend && partition.grace_time.ms > 0) {
      findings_.error({.object = object,
                       .field = "spec.graceTime",
                       .value = to_text(partition.grace_time),
                       .message = "a session that is suspended gets no notice",
                       .remedy = "leave it out, or choose mode cancel or requeue"});
    }
    if (!partition.preemptible || may_be_preempted(partition)) continue;
    findings_.error({.object = object,
                     .field = "spec.preemptible",
                     .value = "true",
                     .message = "no partition of a higher tier shares a node with it, so no "
                                "session can preempt its sessions",
                     .remedy = "raise the tier of another partition, or set preemptible: false"});
  }
}

void SessionCheck::lint_kernels() {
  for (const auto& [key, session] : cluster_.own<Session>()) {
    const auto nodes = nodes_.find(session.resource_group);
    for (const Kernel& kernel : session.kernels) {
      if (kernel.node.empty() || nodes == nodes_.end() || nodes->second.contains(kernel.node)) {
        continue;
      }
      findings_.warning(
          {.object = text_of(session),
           .field = "spec.kernels",
           .value = shorten(kernel.node),
           .message = fmt::format("kernel {} is on a node outside ResourceGroup {}: its room there "
                                  "does not count for the group",
                                  kernel.name, session.resource_group),
           .remedy = "add the node to the group, or end the session"});
    }
    lint_nominations(session);
    lint_times(session);
    if (const Partition* const own = find_partition(session.partition); own != nullptr) {
      lint_partition_of(session, *own);
      lint_places_in(session, *own);
    }
  }
}

/// What sessions request of their partitions, and do not get.
void SessionCheck::lint_preferences() {
  for (const auto& [key, session] : cluster_.own<Session>()) {
    if (const Partition* const own = find_partition(session.partition); own != nullptr) {
      lint_partition_of(session, *own);
    }
  }
}

void SessionCheck::lint_nominations(const Session& session) {
  for (const Kernel& kernel : session.kernels) {
    if (kernel.nominated_node.empty() || cluster_.find_node(kernel.nominated_node, session.plane))
      continue;
    findings_.warning({.object = text_of(session),
                       .field = "spec.kernels",
                       .value = shorten(kernel.nominated_node),
                       .message = fmt::format("kernel {} is nominated to a node that is not in the "
                                              "input: no room is kept for it",
                                              kernel.name),
                       .remedy = "add the node, or leave out nominatedNode"});
  }
}

void SessionCheck::lint_times(const Session& session) {
  if (session.status.phase != SessionPhase::running || session.status.started) return;
  findings_.warning({.object = text_of(session),
                     .field = "status.started",
                     .message = session.created
                                    ? "it runs, and counts as started when it was created"
                                    : "it runs, and counts as started just now: its exempt time "
                                      "and minimum runtime never end",
                     .remedy = "write when it started"});
}

void SessionCheck::lint_partition_of(const Session& session, const Partition& own) {
  const bool cancels = own.mode == PartitionMode::cancel;
  if (cancels && session.requeue.value_or(false)) {
    findings_.warning({.object = text_of(session),
                       .field = "spec.requeue",
                       .value = "true",
                       .message = fmt::format("Partition {} has mode cancel, so it ends when it is "
                                              "preempted",
                                              own.name),
                       .remedy = "choose a partition of mode requeue, or leave it out"});
  }
  if (!session.preemptible.value_or(false) || may_be_preempted(own)) return;
  findings_.warning({.object = text_of(session),
                     .field = "spec.preemptible",
                     .value = "true",
                     .message = fmt::format("no partition of a higher tier shares a node with "
                                            "Partition {}, so no session can preempt it",
                                            own.name),
                     .remedy = "raise the tier of another partition, or leave it out"});
}

void SessionCheck::lint_places_in(const Session& session, const Partition& own) {
  for (const Kernel& kernel : session.kernels) {
    const bool covered = own.nodes.empty() || std::ranges::binary_search(own.nodes, kernel.node);
    if (kernel.node.empty() || covered) continue;
    if (!nodes_[session.resource_group].contains(kernel.node)) continue;  // Reported already.
    findings_.warning({.object = text_of(session),
                       .field = "spec.kernels",
                       .value = shorten(kernel.node),
                       .message = fmt::format("kernel {} is on a node that is not of Partition {}",
                                              kernel.name, own.name),
                       .remedy = "add the node to the partition, or end the session"});
  }
}

}  // namespace

void check_sessions(Findings& findings) {
  SessionCheck check(findings);
  check.check_groups();
  check.check_partitions();
  check.check_all_sessions();
}

void lint_sessions(Findings& findings) {
  SessionCheck check(findings);
  check.lint_groups();
  check.lint_partitions();
  check.lint_kernels();
}

void lint_session_rules(Findings& findings) {
  SessionCheck check(findings);
  check.lint_groups();
  check.lint_partitions();
  check.lint_preferences();
}

}  // namespace makeway
