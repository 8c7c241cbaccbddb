#include "judge/check_plan_session_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

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

// ---- Which sessions may be preempted ------------------------------------------------------------

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

// ---- Room ---------------------------------------------------------------------------------------

namespace {

constexpr std::int64_t steps_max = 50'000;

/// For a kernel that is too large, the size may be reported before the closed node: several are
/// asked.
bool is_open(NaiveWorld& world, NodeIndex node, const std::vector<std::vector<PodIndex>>& rows,
             OpenNodes& known) {
  if (known.size() <= node.value) known.resize(world.cluster().nodes().slots());
  if (known[node] != Openness::unknown) return known[node] == Openness::open;
  for (const std::vector<PodIndex>& kernel : rows) {
    const MaybeRefusal lasting = NaiveFit(world, kernel.front()).lasting_refusal(node);
    if (lasting && lasting->reason == RefusalReason::resource) continue;
    known[node] = lasting ? Openness::closed : Openness::open;
    return !lasting;
  }
  return true;  // All are too large for it: any answer does.
}

}  // namespace

void KernelRoom::read_needs(const Cluster& cluster,
                            const std::vector<std::vector<PodIndex>>& rows) {
  for (const std::vector<PodIndex>& kernel : rows) {
    for (const PodIndex row : kernel) {
      for (const ResourceAmount& each : cluster.requests(cluster.pods().requests[row])) {
        const bool known = std::ranges::find(resources_, each.resource) != resources_.end();
        if (each.amount > 0 && !known) resources_.push_back(each.resource);
      }
    }
  }
  for (const std::vector<PodIndex>& kernel : rows) {
    KernelNeed& need = needs_.emplace_back(resources_.size());
    for (const PodIndex row : kernel) {
      for (const ResourceAmount& each : cluster.requests(cluster.pods().requests[row])) {
        const auto found = std::ranges::find(resources_, each.resource);
        if (found == resources_.end()) continue;
        need[static_cast<std::size_t>(found - resources_.begin())] += each.amount;
      }
    }
  }
}

KernelNodes::KernelNodes(std::vector<NodeIndex> nodes) : nodes_(std::move(nodes)) {
  std::ranges::sort(nodes_);
  nodes_.erase(std::ranges::unique(nodes_).begin(), nodes_.end());
}

const std::vector<std::int64_t>& KernelNodes::free(const NaiveWorld& world,
                                                   const std::vector<ResourceIndex>& resources) {
  const auto [at, is_new] = known_.try_emplace(&world);
  Known& known = at->second;
  const bool same = known.changes == world.changes() && known.resources == resources;
  if (!is_new && same) return known.free;
  const Cluster& cluster = world.cluster();
  known = {.changes = world.changes(), .resources = resources};
  known.free.reserve(nodes_.size() * resources.size());
  for (const NodeIndex node : nodes_) {
    const RequestRow whole = cluster.requests(cluster.nodes().allocatable[node]);
    for (const ResourceIndex resource : resources) {
      const auto found = std::ranges::find(whole, resource, &ResourceAmount::resource);
      const std::int64_t amount = found == whole.end() ? 0 : found->amount;
      known.free.push_back(saturated_sub(amount, world.used(node, resource)));
    }
  }
  return known.free;
}

KernelRoom::KernelRoom(NaiveWorld& world, KernelNodes& nodes,
                       const std::vector<std::vector<PodIndex>>& rows, OpenNodes* open)
    : cluster_(&world.cluster()), nodes_(nodes.nodes()) {
  read_needs(*cluster_, rows);
  free_ = nodes.free(world, resources_);
  open_.reserve(nodes_.size());
  for (const NodeIndex node : nodes_) {
    open_.push_back(open == nullptr || is_open(world, node, rows, *open) ? 1 : 0);
  }
}

std::size_t KernelRoom::find_node(NodeIndex node) const {
  const auto found = std::ranges::lower_bound(nodes_, node);
  if (found == nodes_.end() || *found != node) return nodes_.size();
  return static_cast<std::size_t>(found - nodes_.begin());
}

void KernelRoom::change(PodIndex row, NodeIndex node, std::int64_t sign) {
  const std::size_t at = find_node(node);
  if (at == nodes_.size()) return;
  for (const ResourceAmount& each : cluster_->requests(cluster_->pods().requests[row])) {
    const auto found = std::ranges::find(resources_, each.resource);
    if (found == resources_.end()) continue;
    const auto column = static_cast<std::size_t>(found - resources_.begin());
    std::int64_t& free = free_[at * resources_.size() + column];
    free = saturated_add(free, sign * each.amount);
  }
}

void KernelRoom::limit(const KernelRoom& other) {
  for (std::size_t at = 0; at < free_.size(); ++at)
    free_[at] = std::min(free_[at], other.free_[at]);
}

bool KernelRoom::holds(std::size_t node, const KernelNeed& need) const {
  if (open_[node] == 0) return false;
  const std::span<const std::int64_t> room = free(node);
  for (std::size_t column = 0; column < need.size(); ++column) {
    if (need[column] > 0 && need[column] > room[column]) return false;
  }
  return true;
}

void KernelRoom::move(std::size_t node, const KernelNeed& need, std::int64_t sign) {
  for (std::size_t column = 0; column < need.size(); ++column) {
    free_[node * resources_.size() + column] += sign * need[column];
  }
}

bool KernelRoom::fits(std::span<const NodeIndex> places) const {
  if (places.size() != needs_.size()) return false;
  std::map<std::size_t, KernelNeed> together;  // What goes to each node.
  for (std::size_t kernel = 0; kernel < needs_.size(); ++kernel) {
    const std::size_t node = find_node(places[kernel]);
    if (node == nodes_.size() || !holds(node, needs_[kernel])) return false;
    KernelNeed& sum = together.try_emplace(node, resources_.size()).first->second;
    for (std::size_t column = 0; column < sum.size(); ++column) {
      sum[column] = saturated_add(sum[column], needs_[kernel][column]);
    }
  }
  return std::ranges::all_of(together,
                             [this](const auto& each) { return holds(each.first, each.second); });
}

// ---- Is there room? -----------------------------------------------------------------------------

std::int64_t KernelRoom::how_many(std::size_t node, const KernelNeed& need,
                                  std::int64_t most) const {
  if (!holds(node, need)) return 0;
  for (std::size_t column = 0; column < need.size(); ++column) {
    if (need[column] > 0) most = std::min(most, free(node)[column] / need[column]);
  }
  return most;
}

/// Every way to distribute kernels over nodes, largest kernels first; of nodes that look the same
/// one, and equal kernels in the order of the nodes.
class KernelRoom::Search {
 public:
  explicit Search(KernelRoom room) : room_(std::move(room)) {
    std::ranges::sort(room_.needs_, std::ranges::greater{});
  }

  Finding run() {
    if (place(0, 0)) return Finding::yes;
    return steps_ > steps_max ? Finding::unknown : Finding::no;
  }

 private:
  bool place(std::size_t kernel, std::size_t first) {
    const std::vector<KernelNeed>& needs = room_.needs_;
    if (kernel == needs.size()) return true;
    // Nodes before the last one are closed to the next equal kernel, so nodes differ in that too.
    const bool next_equal = kernel + 1 < needs.size() && needs[kernel + 1] == needs[kernel];
    std::set<std::vector<std::int64_t>> tried;
    for (std::size_t node = first; node < room_.nodes_.size(); ++node) {
      if (!room_.holds(node, needs[kernel])) continue;
      if (++steps_ > steps_max) return false;
      const std::span<const std::int64_t> free = room_.free(node);
      if (!next_equal && !tried.emplace(free.begin(), free.end()).second) continue;
      room_.move(node, needs[kernel], -1);
      if (place(kernel + 1, next_equal ? node : 0)) return true;
      room_.move(node, needs[kernel], 1);
    }
    return false;
  }

  KernelRoom room_;
  std::int64_t steps_ = 0;
};

Finding KernelRoom::find() const {
  if (needs_.empty()) return Finding::yes;
  // Kernels of one kind are counted; and where one kind alone finds no room, all do not.
  for (const KernelNeed& need : needs_) {
    auto missing = std::ranges::count(needs_, need);
    const bool all = missing == std::ssize(needs_);
    for (std::size_t node = 0; node < nodes_.size() && missing > 0; ++node) {
      missing -= how_many(node, need, missing);
    }
    if (missing > 0) return Finding::no;
    if (all) return Finding::yes;
  }
  return Search(*this).run();
}

}  // namespace makeway
