#include "support/hostility.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "model/names.hpp"
#include "model/normalize.hpp"
#include "model/validation/validation.hpp"

namespace makeway {
namespace {

/// In percent, of the occasions: a pod that leaves, a plan, room that becomes free, a cycle.
constexpr std::array<std::uint64_t, hostile_acts> strike_percent = {35, 40, 40, 35, 25, 35, 40, 40};

/// Below so many histories the share of those in which something happened means little.
constexpr std::uint64_t histories_for_shares = 40;

std::string name_of(const Pod& pod) { return fmt::format("{}/{}", pod.namespace_name, pod.name); }

std::vector<std::string> nodes_of(const Session& session) {
  std::vector<std::string> nodes;
  nodes.reserve(session.kernels.size());
  for (const Kernel& kernel : session.kernels) nodes.push_back(kernel.node);
  return nodes;
}

template <class Object>
std::vector<Object> all_of_kind(const Cluster& cluster) {
  std::vector<Object> all;
  for (const auto& [key, object] : cluster.own<Object>()) all.push_back(object);
  return all;
}

}  // namespace

bool Hostility::strikes(HostileAct act) {
  return !calm_ && random_.chance(strike_percent[static_cast<std::size_t>(act)]);
}

void HostilityTally::add(const Hostility& hostility) {
  ++histories_;
  for (std::size_t act = 0; act < hostile_acts; ++act) {
    times_[act] += hostility.counts()[act];
    in_histories_[act] += hostility.counts()[act] > 0 ? 1 : 0;
  }
}

void HostilityTally::expect_each(std::string_view policy) const {
  fmt::print("{}: {} histories\n", policy, histories_);
  for (std::size_t act = 0; act < hostile_acts; ++act) {
    const std::string_view name = choice_names<HostileAct>[act];
    fmt::print("  {}: {} times in {} histories\n", name, times_[act], in_histories_[act]);
    if (histories_ < histories_for_shares) continue;
    EXPECT_GE(in_histories_[act] * 10, histories_) << policy << ": too rarely: " << name;
  }
}

// ---- Looking around -----------------------------------------------------------------------------

std::vector<Pod> HostileWorld::pods() const {
  std::vector<Pod> result;
  for (const PodIndex index : cluster_.pods_by_name()) {
    if (!cluster_.pods().flags[index].kernel) result.push_back(cluster_.pod(index));
  }
  return result;
}

std::vector<Pod> HostileWorld::running_pods() const {
  std::vector<Pod> running = pods();
  std::erase_if(running, [](const Pod& pod) { return pod.node.empty() || pod.deletion; });
  return running;
}

std::vector<Session> HostileWorld::running_sessions() const {
  std::vector<Session> running = all_of_kind<Session>(cluster_);
  std::erase_if(running, [](const Session& session) {
    return session.status.phase != SessionPhase::running || session.status.ends_at;
  });
  return running;
}

void HostileWorld::log(HostileAct act, HostileEvent event) {
  hostility_.happened(act);
  event.text = fmt::format("HOSTILE, {}: {}", choice_name(act), event.text);
  events_.push_back(std::move(event));
}

/// No other object has it: the counts only grow.
std::string HostileWorld::new_name(std::string_view stem) {
  std::uint64_t number = 0;
  for (const std::uint64_t count : hostility_.counts()) number += count;
  return fmt::format("{}-{}", stem, number);
}

void HostileWorld::apply(Change change) {
  cluster_.apply(change);
  changes_.push_back(std::move(change));
}

void HostileWorld::remove_pod(const Pod& pod) {
  apply(Removal{.kind = ObjectKind::pod, .namespace_name = pod.namespace_name, .name = pod.name});
}

void HostileWorld::end_session(Session session) {
  session.status.phase = SessionPhase::ended;
  session.status.ends_at.reset();
  for (Kernel& kernel : session.kernels) kernel.node.clear();
  apply(session);
}

template <class Object>
bool HostileWorld::apply_sound(const Object& changed, const Object& before) {
  cluster_.apply(changed);
  if (has_errors(find_errors(cluster_))) {
    cluster_.apply(before);
    return false;
  }
  changes_.emplace_back(changed);
  return true;
}

// ---- The wrong one, and the stranger ------------------------------------------------------------

bool HostileWorld::remove_another(const std::set<Key>& named, const std::string& node) {
  std::vector<Pod> others = running_pods();
  std::erase_if(others,
                [&](const Pod& pod) { return named.contains({pod.namespace_name, pod.name}); });
  std::vector<Session> sessions = running_sessions();
  std::erase_if(sessions, [&](const Session& session) {
    return named.contains({session.namespace_name, session.name});
  });
  const auto elsewhere = [&](const Session& session) {
    return std::ranges::find(session.kernels, node, &Kernel::node) == session.kernels.end();
  };
  if (!std::ranges::all_of(sessions, elsewhere)) std::erase_if(sessions, elsewhere);
  const auto away = [&](const Pod& pod) { return pod.node != node; };
  if (!std::ranges::all_of(others, away)) std::erase_if(others, away);
  if (!sessions.empty() && (others.empty() || random_.chance(70))) {
    const Session wrong = random_.pick(sessions);
    end_session(wrong);
    log(HostileAct::wrong_removed, {.text = "session " + wrong.name, .nodes = nodes_of(wrong)});
    return true;
  }
  if (others.empty()) return false;
  const Pod wrong = random_.pick(others);
  remove_pod(wrong);
  log(HostileAct::wrong_removed, {.text = name_of(wrong), .nodes = {wrong.node}});
  return true;
}

void HostileWorld::take_room(const std::string& node, const Amounts& room) {
  Pod stranger{.namespace_name = "default",
               .name = new_name("stranger"),
               .node = node,
               .priority = random_.pick<std::int32_t>({-10, 0, 10, 100, 1000}),
               .requests = room,
               .created = now_,
               .started = now_,
               .ready = true};
  stranger.uid = "uid-" + stranger.name;
  normalize(stranger);
  apply(stranger);
  log(HostileAct::room_taken,
      {.text = fmt::format("{} runs on {}", stranger.name, node), .nodes = {node}});
}

// ---- Between cycles -----------------------------------------------------------------------------

void HostileWorld::change() {
  if (hostility_.strikes(HostileAct::node_changes)) change_node();
  if (hostility_.strikes(HostileAct::finishes)) finish();
  if (hostility_.strikes(HostileAct::arrives)) arrive();
  if (hostility_.strikes(HostileAct::rule_changes)) change_rule();
}

void HostileWorld::change_node() {
  const std::vector<NodeIndex>& nodes = cluster_.nodes_by_name();
  if (nodes.empty()) return;
  Node node = cluster_.node(random_.pick(nodes));
  switch (random_.below(4)) {
    case 0:
      if (nodes.size() > 1) return lose_node(node);
      [[fallthrough]];
    case 1:
      node.name = new_name("node-new");
      for (Label& label : node.labels) {
        if (label.key == names::hostname) label.value = node.name;
      }
      node.created = now_;
      apply(node);
      return log(HostileAct::node_changes, {.text = node.name + " comes", .nodes = {}});
    default:
      node.unschedulable = !node.unschedulable;
      apply(node);
      log(HostileAct::node_changes,
          {.text = fmt::format("{} is {}", node.name, node.unschedulable ? "cordoned" : "open"),
           .nodes = {node.name}});
  }
}

/// The pods there are lost with it. A partition that names a node which is not there is refused, so
/// it is taken out of the list; no partition loses its only node.
void HostileWorld::lose_node(const Node& node) {
  std::vector<std::string> touched = {node.name};
  for (const Partition& found : all_of_kind<Partition>(cluster_)) {
    if (found.nodes == touched) return;
  }
  for (Partition partition : all_of_kind<Partition>(cluster_)) {
    if (std::erase(partition.nodes, node.name) > 0) apply(partition);
  }
  for (const Pod& pod : pods()) {
    if (pod.node == node.name) remove_pod(pod);
  }
  for (const Session& session : all_of_kind<Session>(cluster_)) {
    if (std::ranges::find(session.kernels, node.name, &Kernel::node) == session.kernels.end()) {
      continue;
    }
    std::ranges::copy(nodes_of(session), std::back_inserter(touched));
    end_session(session);
  }
  apply(Removal{.kind = ObjectKind::node, .namespace_name = {}, .name = node.name});
  // Pending asks have fewer nodes to look at, but no other place is worse by it.
  log(HostileAct::node_changes, {.text = node.name + " is lost", .nodes = std::move(touched)});
}

void HostileWorld::finish() {
  const std::vector<Pod> running = running_pods();
  const std::vector<Session> sessions = running_sessions();
  if (!sessions.empty() && (running.empty() || random_.chance(60))) {
    const Session done = random_.pick(sessions);
    end_session(done);
    return log(HostileAct::finishes, {.text = "session " + done.name, .nodes = nodes_of(done)});
  }
  if (running.empty()) return;
  const Pod done = random_.pick(running);
  remove_pod(done);
  log(HostileAct::finishes, {.text = name_of(done), .nodes = {done.node}});
}

/// A copy of an object that is here.
void HostileWorld::arrive() {
  const std::vector<ReplicaSchedule> schedules = all_of_kind<ReplicaSchedule>(cluster_);
  if (!schedules.empty() && random_.chance(60)) {
    ReplicaSchedule more = random_.pick(schedules);
    more.unmet += random_.between(1, 2);
    apply(more);
    return log(HostileAct::arrives, {.text = "more replicas of " + more.name});
  }
  const std::vector<Session> sessions = all_of_kind<Session>(cluster_);
  if (!sessions.empty() && random_.chance(70)) {
    Session session = random_.pick(sessions);
    session.name = new_name("session-new");
    session.uid = "uid-" + session.name;
    session.created = now_;
    session.status = {};
    session.priority = random_.pick<std::int32_t>({1, 3, 5, 7, 10, 20});
    for (Kernel& kernel : session.kernels) {
      kernel.node.clear();
      kernel.nominated_node.clear();
    }
    apply(session);
    return log(HostileAct::arrives, {.text = "session " + session.name});
  }
  const std::vector<Pod> all = pods();
  if (!all.empty()) arrive_pods(random_.pick(all));
}

/// One pod, or a group of it.
void HostileWorld::arrive_pods(Pod like) {
  std::erase_if(like.labels, [](const Label& label) { return label.key == names::deployment; });
  like.name = new_name("new");
  like.uid = "uid-" + like.name;
  like.node.clear();
  like.nominated_node.clear();
  like.group.clear();
  like.created = now_;
  like.started.reset();
  like.deletion.reset();
  like.deletion_grace_seconds = 0;
  like.ready = false;
  like.mirror = false;
  like.disrupted_by_preemption = false;
  like.notes.reserved_since.reset();
  like.notes.promised = false;
  like.notes.evicted_for.clear();
  like.notes.plan.clear();
  like.notes.preemption_priority_class.clear();
  if (like.priority && random_.chance(50)) {
    like.priority = random_.pick<std::int32_t>({0, 100, 1000, 5000});
  }
  if (!random_.chance(30)) {
    normalize(like);
    apply(like);
    return log(HostileAct::arrives, {.text = name_of(like)});
  }
  const std::int64_t size = random_.between(2, 3);
  PodGroup group{.namespace_name = like.namespace_name, .name = like.name, .created = now_};
  group.policy.gang = random_.chance(70);
  if (group.policy.gang) group.policy.minimum = static_cast<std::int32_t>(random_.between(1, size));
  group.policy.mode = random_.chance(50) ? DisruptionMode::all : DisruptionMode::single;
  group.priority.priority = like.priority;
  apply(group);
  for (std::int64_t member = 0; member < size; ++member) {
    Pod pod = like;
    pod.name = fmt::format("{}-{}", like.name, member);
    pod.uid = "uid-" + pod.name;
    pod.group = group.name;
    normalize(pod);
    apply(pod);
  }
  log(HostileAct::arrives, {.text = fmt::format("group {} of {}", group.name, size)});
}

// ---- Rules --------------------------------------------------------------------------------------

void HostileWorld::change_rule() {
  // Each that has something to change has a chance to be the one.
  const bool done = (random_.chance(60) && change_queue_or_budget()) ||
                    (random_.chance(60) && change_schedule_or_session()) ||
                    (random_.chance(60) && change_priority());
  if (!done) change_mark();
}

bool HostileWorld::change_queue_or_budget() {
  std::vector<DisruptionBudget> budgets;
  for (const DisruptionBudget* const budget : cluster_.budgets()) budgets.push_back(*budget);
  const std::vector<Queue> queues = all_of_kind<Queue>(cluster_);
  if (!budgets.empty() && (queues.empty() || random_.chance(40))) {
    DisruptionBudget budget = random_.pick(budgets);
    budget.disruptions_allowed = static_cast<std::int32_t>(random_.below(3));
    apply(budget);
    log(HostileAct::rule_changes,
        {.text = fmt::format("{} allows {}", budget.name, *budget.disruptions_allowed),
         .everywhere = true});
    return true;
  }
  if (queues.empty()) return false;
  Queue queue = random_.pick(queues);
  queue.weight = random_.between(1, 7);
  if (random_.chance(30)) queue.priority = static_cast<std::int32_t>(random_.between(0, 2));
  if (random_.chance(30)) queue.reclaimable = !queue.reclaimable;
  apply(queue);
  log(HostileAct::rule_changes,
      {.text = fmt::format("queue {} has weight {}", queue.name, queue.weight),
       .everywhere = true});
  return true;
}

bool HostileWorld::change_schedule_or_session() {
  const std::vector<ReplicaSchedule> schedules = all_of_kind<ReplicaSchedule>(cluster_);
  std::vector<Session> pending = all_of_kind<Session>(cluster_);
  std::erase_if(pending, [](const Session& session) {
    return session.status.phase != SessionPhase::pending;
  });
  if (!schedules.empty() && (pending.empty() || random_.chance(50))) {
    ReplicaSchedule schedule = random_.pick(schedules);
    schedule.priority = static_cast<std::int32_t>(random_.between(0, 4) * 10);
    apply(schedule);
    log(HostileAct::rule_changes,
        {.text = fmt::format("{} has priority {}", schedule.name, *schedule.priority),
         .everywhere = true});
    return true;
  }
  std::vector<ResourceGroup> groups = all_of_kind<ResourceGroup>(cluster_);
  if (!groups.empty() && (pending.empty() || random_.chance(50))) {
    ResourceGroup group = random_.pick(groups);
    group.preemptible_priority = random_.between(0, 12);
    apply(group);
    log(HostileAct::rule_changes,
        {.text = "another preemptible priority in " + group.name, .everywhere = true});
    return true;
  }
  if (pending.empty()) return false;
  Session session = random_.pick(pending);
  session.priority = random_.pick<std::int32_t>({1, 3, 5, 7, 10, 20});
  apply(session);
  log(HostileAct::rule_changes,
      {.text = fmt::format("{} has priority {}", session.name, *session.priority),
       .everywhere = true});
  return true;
}

/// Of a class, or of a group.
bool HostileWorld::change_priority() {
  std::vector<PodGroup> groups;
  for (const GroupIndex index : cluster_.groups_by_name()) {
    const std::optional<PodGroup>& object = cluster_.groups()[index].object;
    if (object) groups.push_back(*object);
  }
  std::vector<PriorityClass> classes;
  for (const PriorityClass* const each : cluster_.priority_classes()) {
    if (!each->name.starts_with("system-")) classes.push_back(*each);
  }
  if (!classes.empty() && (groups.empty() || random_.chance(40))) {
    const PriorityClass before = random_.pick(classes);
    PriorityClass changed = before;
    changed.value = random_.pick<std::int32_t>({0, 20, 100, 600, 1'000'000});
    if (!apply_sound(changed, before)) return false;
    log(HostileAct::rule_changes,
        {.text = fmt::format("class {} is {}", changed.name, changed.value), .everywhere = true});
    return true;
  }
  if (groups.empty()) return false;
  const PodGroup before = random_.pick(groups);
  PodGroup changed = before;
  changed.priority.priority = random_.pick<std::int32_t>({0, 50, 100, 500, 1000});
  if (!apply_sound(changed, before)) return false;
  log(HostileAct::rule_changes,
      {.text = fmt::format("group {} has priority {}", changed.name, *changed.priority.priority),
       .everywhere = true});
  return true;
}

/// What a pod says about itself.
void HostileWorld::change_mark() {
  const std::vector<Pod> running = running_pods();
  if (running.empty()) return;
  Pod pod = random_.pick(running);
  if (random_.chance(40)) {
    pod.opted_out = !pod.opted_out;
  } else {
    pod.notes.preemption_cost_seconds = random_.between(0, 3) * 1000;
  }
  apply(pod);
  log(HostileAct::rule_changes, {.text = "marks of " + name_of(pod), .nodes = {pod.node}});
}

}  // namespace makeway
