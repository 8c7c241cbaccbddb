#include "judge/check_plan_session_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/checked_math.hpp"
#include "model/gpus.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

bool selects(const Labels& wanted, const Labels& labels) {
  return !wanted.empty() && std::ranges::all_of(wanted, [&](const Label& label) {
    return find_label(labels, label.key) == std::string_view(label.value);
  });
}

}  // namespace

std::string session_text(const Session& session) {
  return fmt::format("Session {}/{}", session.namespace_name, session.name);
}

SessionRules::SessionRules(const Cluster& cluster, const Configuration& configuration, Time now)
    : cluster_(cluster),
      configuration_(configuration),
      settings_(configuration.session),
      now_(now) {
  for (const auto& [key, partition] : cluster.own<Partition>()) {
    divided_.insert(partition.resource_group);
  }
  for (const auto& [key, session] : cluster.own<Session>()) {
    if (session.status.phase != SessionPhase::running) continue;
    running_[session.resource_group].push_back(&session);
  }
}

const Session* SessionRules::find(const std::string& namespace_name,
                                  const std::string& name) const {
  const auto& all = cluster_.own<Session>();
  const auto found = all.find({namespace_name, name});
  return found == all.end() ? nullptr : &found->second;
}

const Partition* SessionRules::partition(const Session& session) const {
  const auto& all = cluster_.own<Partition>();
  const auto found = all.find({std::string(), session.partition});
  if (session.partition.empty() || found == all.end()) return nullptr;
  return &found->second;
}

std::int32_t SessionRules::priority(const Session& session) const {
  return session.priority.value_or(static_cast<std::int32_t>(settings_.default_priority));
}

std::int32_t SessionRules::tier(const Session& session) const {
  const Partition* const own = partition(session);
  return own == nullptr ? 0 : own->tier;
}

const std::vector<NodeIndex>& SessionRules::nodes(const Session& session) const {
  return nodes_of(session.resource_group, partition(session));
}

const std::vector<NodeIndex>& SessionRules::group_nodes(const Session& session) const {
  return nodes_of(session.resource_group, nullptr);
}

const std::vector<NodeIndex>& SessionRules::nodes_of(const std::string& name_of_group,
                                                     const Partition* part) const {
  const auto [at, is_new] =
      nodes_.try_emplace({name_of_group, part == nullptr ? std::string() : part->name});
  if (!is_new) return at->second;
  const auto& groups = cluster_.own<ResourceGroup>();
  const auto group = groups.find({std::string(), name_of_group});
  if (group == groups.end()) return at->second;
  const std::set<std::string_view> listed(group->second.nodes.begin(), group->second.nodes.end());
  std::set<std::string_view> of_partition;
  if (part != nullptr) of_partition.insert(part->nodes.begin(), part->nodes.end());
  for (const NodeIndex node : cluster_.home_nodes()) {
    const std::string_view name = cluster_.text(cluster_.nodes().name[node]);
    const bool of_group =
        listed.contains(name) ||
        selects(group->second.node_selector, cluster_.label_objects(cluster_.nodes().labels[node]));
    const bool of_part = of_partition.empty() || of_partition.contains(name);
    if (of_group && of_part) at->second.push_back(node);
  }
  return at->second;
}

const std::vector<const Session*>& SessionRules::running(const std::string& group) const {
  static const std::vector<const Session*> none;
  const auto found = running_.find(group);
  return found == running_.end() ? none : found->second;
}

// ---- Turns --------------------------------------------------------------------------------------

bool SessionRules::waits_for_its_turn(const Session& session) const {
  const SessionStatus& status = session.status;
  const bool back = status.phase == SessionPhase::preempted &&
                    status.fate == SessionFate::requeues && status.resume_after &&
                    *status.resume_after <= now_;
  return status.phase == SessionPhase::pending || status.phase == SessionPhase::suspended || back;
}

bool SessionRules::tried_before(const Session& one, const Session& other) const {
  constexpr Time latest{std::numeric_limits<std::int64_t>::max()};
  const auto rank = [&](const Session& session) {
    return std::pair(tier(session), priority(session));
  };
  if (rank(one) != rank(other)) return rank(one) > rank(other);
  // What was freed for a session is its own, so among equals it may come first (law 7).
  const bool held = std::ranges::all_of(
      one.kernels, [](const Kernel& kernel) { return !kernel.nominated_node.empty(); });
  const auto age = [&](const Session& session) {
    return std::tuple(session.created.value_or(latest), session.namespace_name, session.name);
  };
  return held || age(one) < age(other);
}

// ---- Which sessions may be preempted------------------------------------------------------------ 

/// Unknown: when it was created; that unknown, too: just now.
Time SessionRules::since(const Session& session) const {
  if (session.status.started) return *session.status.started;
  return session.created && *session.created < now_ ? *session.created : now_;
}

std::string SessionRules::protection_by_age(const Session& victim) const {
  const Duration age = now_ - since(victim);
  const Partition* const own = partition(victim);
  if (own != nullptr && own->exempt_time.ms > 0 && age < own->exempt_time) {
    return fmt::format("its exempt time of {} is not over", to_text(own->exempt_time));
  }
  const Duration least = configuration_.protection.minimum_runtime;
  if (least.ms > 0 && age < least) return "it is younger than protection.minimumRuntime";
  return {};
}

std::string SessionRules::protection(const Session& ask, const Session& victim) const {
  if (victim.status.phase != SessionPhase::running) return "it does not run";
  if (victim.resource_group != ask.resource_group) return "it runs in another resource group";
  if (divided_.contains(ask.resource_group)) {
    const Partition* const own = partition(victim);
    if (own == nullptr || tier(victim) >= tier(ask)) return "its tier is not lower";
    if (!victim.preemptible.value_or(own->preemptible)) return "it is not preemptible";
  } else {
    const auto& groups = cluster_.own<ResourceGroup>();
    const auto group = groups.find({std::string(), ask.resource_group});
    std::int64_t highest = settings_.preemptible_priority;
    if (group != groups.end()) highest = group->second.preemptible_priority.value_or(highest);
    if (priority(victim) >= priority(ask)) return "its priority is not lower";
    if (priority(victim) > highest) return fmt::format("its priority is above {}", highest);
  }
  if (settings_.max_preemptions > 0 && victim.status.preemptions >= settings_.max_preemptions) {
    return fmt::format("it was preempted {} times", victim.status.preemptions);
  }
  const std::vector<std::string>& sacred = configuration_.protection.namespaces;
  if (std::ranges::find(sacred, victim.namespace_name) != sacred.end()) {
    return "its namespace is protected";
  }
  return protection_by_age(victim);
}

const std::vector<const Session*>& SessionRules::may_leave_for(const Session& ask) const {
  const auto [at, is_new] = may_leave_.try_emplace({ask.resource_group, tier(ask), priority(ask)});
  if (is_new) {
    std::ranges::copy_if(running(ask.resource_group), std::back_inserter(at->second),
                         [&](const Session* each) { return protection(ask, *each).empty(); });
  }
  return at->second;
}

// ---- Which sessions leave first -----------------------------------------------------------------

PreemptionOrder SessionRules::order(const Session& session) const {
  const auto& groups = cluster_.own<ResourceGroup>();
  const auto group = groups.find({std::string(), session.resource_group});
  if (group == groups.end()) return settings_.preemption_order;
  return group->second.preemption_order.value_or(settings_.preemption_order);
}

std::int64_t SessionRules::order_value(const Session& session) const {
  const std::int64_t started = since(session).ms;
  switch (order(session)) {
    case PreemptionOrder::oldest: return started;
    case PreemptionOrder::newest: return -started;
    case PreemptionOrder::least_lost_work: return cost(session).pod_seconds;
    case PreemptionOrder::fewest: return 0;
  }
  return 0;
}

bool SessionRules::leaves_before(const Session& one, const Session& other) const {
  const auto place = [&](const Session& session) {
    return std::tuple(tier(session), priority(session), order_value(session));
  };
  return place(one) < place(other);
}

// ---- What becomes of it -------------------------------------------------------------------------

ResumeRule SessionRules::resume_rule(const Session& victim) const {
  switch (victim.type) {
    case SessionType::batch: return settings_.resume_batch;
    case SessionType::interactive: return settings_.resume_interactive;
    case SessionType::inference: return settings_.resume_inference;
  }
  return ResumeRule::never;
}

SessionFate SessionRules::fate(const Session& victim) const {
  const Partition* const own = partition(victim);
  if (own != nullptr && own->mode == PartitionMode::suspend) return SessionFate::suspends;
  if (own != nullptr && own->mode == PartitionMode::cancel) return SessionFate::ends;
  const bool inference = victim.type == SessionType::inference;
  if (inference && victim.autoscaler) return SessionFate::to_autoscaler;
  const ResumeRule rule = resume_rule(victim);
  if (rule == ResumeRule::never) return SessionFate::ends;
  if (rule == ResumeRule::on_request) return SessionFate::on_request;
  // What it says about itself, else its partition's mode, which is requeue here.
  const bool can_go_on = own != nullptr || (victim.checkpointing && !inference);
  return victim.requeue.value_or(can_go_on) ? SessionFate::requeues : SessionFate::ends;
}

Time SessionRules::ends_at(const Session& victim) const {
  const Partition* const own = partition(victim);
  if (own == nullptr || own->mode == PartitionMode::suspend) return now_;
  return now_ + own->grace_time;
}

std::optional<Time> SessionRules::resume_after(const Session& victim) const {
  if (fate(victim) != SessionFate::requeues) return std::nullopt;
  std::int64_t backoff = settings_.backoff_first.ms;
  const std::int64_t most = settings_.backoff_max.ms;
  for (std::int64_t count = 0; count < victim.status.preemptions && backoff < most; ++count) {
    if (backoff == 0) break;
    backoff = saturated_add(backoff, backoff);
  }
  return ends_at(victim) + Duration{std::min(backoff, most)};
}

/// Since its start or its last checkpoint, the later one, for each of its kernels. A suspended
/// session continues where it was.
PlanCost SessionRules::cost(const Session& victim) const {
  PlanCost result;
  if (fate(victim) == SessionFate::suspends) return result;
  Time from = since(victim);
  if (victim.status.last_checkpoint) from = std::max(from, *victim.status.last_checkpoint);
  const std::int64_t seconds = from < now_ ? (now_ - from).ms / 1000 : 0;
  for (const Kernel& kernel : victim.kernels) {
    result.pod_seconds = saturated_add(result.pod_seconds, seconds);
    for (const Amount& amount : kernel.requests) {
      if (!is_gpu(amount.resource)) continue;
      result.gpu_seconds = saturated_add(result.gpu_seconds, saturated_mul(seconds, amount.amount));
    }
  }
  return result;
}

}  // namespace makeway
