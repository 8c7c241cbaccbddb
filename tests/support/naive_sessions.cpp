#include "support/naive_sessions.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace makeway {
namespace {

constexpr std::size_t session_candidates_max = 10;
constexpr std::size_t kernels_max = 4;

using Free = std::map<std::string, std::map<std::string, std::int64_t>>;  ///< Node, resource.

class Naive {
 public:
  Naive(const Cluster& cluster, const Configuration& configuration, const Session& ask, Time now)
      : cluster_(cluster), configuration_(configuration), ask_(ask), now_(now) {}

  NaiveSessionAnswer answer();

 private:
  const Partition* partition(const Session& session) const {
    const auto& all = cluster_.own<Partition>();
    const auto found = all.find({std::string(), session.partition});
    return session.partition.empty() || found == all.end() ? nullptr : &found->second;
  }
  std::int32_t priority(const Session& session) const {
    return session.priority.value_or(
        static_cast<std::int32_t>(configuration_.session.default_priority));
  }
  std::int32_t tier(const Session& session) const {
    return partition(session) == nullptr ? 0 : partition(session)->tier;
  }
  const ResourceGroup& group() const {
    return cluster_.own<ResourceGroup>().at({std::string(), ask_.resource_group});
  }
  PreemptionOrder order() const {
    return group().preemption_order.value_or(configuration_.session.preemption_order);
  }
  std::int64_t order_value(const Session& session) const;
  bool may_leave(const Session& session) const;
  std::set<std::string> nodes() const;
  Free free_without(std::size_t set) const;
  bool place(const Free& free, std::size_t kernel) const;
  bool fits(std::size_t set) const { return place(free_without(set), 0); }
  Time started_or_created(const Session& session) const {
    return session.status.started.value_or(std::min(now_, session.created.value_or(now_)));
  }
  void find_candidates();
  std::size_t best_set() const;

  const Cluster& cluster_;
  const Configuration& configuration_;
  const Session& ask_;
  Time now_;
  std::vector<const Session*> candidates_;  ///< In the order in which they leave.
};

bool Naive::may_leave(const Session& session) const {
  const SessionSettings& settings = configuration_.session;
  const SessionStatus& status = session.status;
  if (status.phase != SessionPhase::running || status.ends_at) return false;
  if (session.resource_group != ask_.resource_group) return false;
  if (settings.max_preemptions > 0 && status.preemptions >= settings.max_preemptions) return false;
  const Duration age = now_ - started_or_created(session);
  const ProtectionSettings& protection = configuration_.protection;
  if (age < protection.minimum_runtime) return false;
  if (std::ranges::count(protection.namespaces, session.namespace_name) > 0) return false;
  if (const Partition* const own = partition(session)) {
    return tier(session) < tier(ask_) && session.preemptible.value_or(own->preemptible) &&
           age >= own->exempt_time;
  }
  const std::int64_t highest = group().preemptible_priority.value_or(settings.preemptible_priority);
  return priority(session) < priority(ask_) && priority(session) <= highest;
}

std::int64_t Naive::order_value(const Session& session) const {
  const Time started = started_or_created(session);
  switch (order()) {
    case PreemptionOrder::oldest: return started.ms;
    case PreemptionOrder::newest: return -started.ms;
    case PreemptionOrder::fewest: return 0;
    case PreemptionOrder::least_lost_work: break;
  }
  const Partition* const own = partition(session);
  if (own != nullptr && own->mode == PartitionMode::suspend) return 0;
  const Time since = std::max(started, session.status.last_checkpoint.value_or(started));
  return std::max<std::int64_t>(0, (now_ - since).ms / 1000) * std::ssize(session.kernels);
}

void Naive::find_candidates() {
  for (const auto& [key, session] : cluster_.own<Session>()) {
    if (may_leave(session)) candidates_.push_back(&session);
  }
  std::ranges::stable_sort(candidates_, {}, [this](const Session* session) {
    return std::tuple(tier(*session), priority(*session), order_value(*session),
                      session->namespace_name, session->name);
  });
}

std::set<std::string> Naive::nodes() const {
  std::set<std::string> found;
  const Partition* const own = partition(ask_);
  for (const NodeIndex index : cluster_.nodes_by_name()) {
    const Node node = cluster_.node(index);
    const bool selected =
        !group().node_selector.empty() && std::ranges::includes(node.labels, group().node_selector);
    const bool of_group = selected || std::ranges::count(group().nodes, node.name) > 0;
    const bool of_partition =
        own == nullptr || own->nodes.empty() || std::ranges::count(own->nodes, node.name) > 0;
    if (of_group && of_partition && !node.unschedulable) found.insert(node.name);
  }
  return found;
}

Free Naive::free_without(std::size_t set) const {
  Free free;
  for (const std::string& name : nodes()) {
    for (const Amount& amount : cluster_.node(*cluster_.find_node(name)).allocatable) {
      free[name][amount.resource] = amount.amount;
    }
  }
  for (const auto& [key, session] : cluster_.own<Session>()) {
    const auto at = std::ranges::find(candidates_, &session);
    const bool leaves = at != candidates_.end() && ((set >> (at - candidates_.begin())) & 1U) != 0;
    const Partition* const own = partition(session);
    const bool suspends = own != nullptr && own->mode == PartitionMode::suspend;
    const bool keeps_memory =
        session.status.phase == SessionPhase::suspended || (leaves && suspends);
    if (leaves && !keeps_memory) continue;
    for (const Kernel& kernel : session.kernels) {
      if (!free.contains(kernel.node)) continue;
      for (const Amount& amount : kernel.requests) {
        if (keeps_memory && amount.resource != "memory") continue;
        free[kernel.node][amount.resource] -= amount.amount;
      }
    }
  }
  return free;
}

bool Naive::place(const Free& free, std::size_t kernel) const {
  if (kernel == ask_.kernels.size()) return true;
  for (const auto& [node, amounts] : free) {
    Free next = free;
    bool fits = true;
    for (const Amount& amount : ask_.kernels[kernel].requests) {
      std::int64_t& left = next[node][amount.resource];
      left -= amount.amount;
      fits = fits && (amount.amount == 0 || left >= 0);
    }
    if (fits && place(next, kernel + 1)) return true;
  }
  return false;
}

/// The set whose most important member is least important, then the next; `fewest`: of the lowest
/// tier and priority that is enough, the smallest.
std::size_t Naive::best_set() const {
  const std::size_t all = (std::size_t{1} << candidates_.size()) - 1;
  std::optional<std::size_t> best;
  const auto better = [&](std::size_t one, std::size_t other) {
    if (order() != PreemptionOrder::fewest) return one < other;  // The highest bit decides.
    const auto rank = [&](std::size_t set) {
      const Session& last = *candidates_[std::bit_width(set) - 1];
      return std::tuple(tier(last), priority(last), std::popcount(set));
    };
    return rank(one) < rank(other);
  };
  for (std::size_t set = 1; set <= all; ++set) {
    if ((!best || better(set, *best)) && fits(set)) best = set;
  }
  return *best;
}

NaiveSessionAnswer Naive::answer() {
  find_candidates();
  NaiveSessionAnswer result;
  result.too_many =
      candidates_.size() > session_candidates_max || ask_.kernels.size() > kernels_max;
  if (result.too_many) return result;
  const std::size_t all = (std::size_t{1} << candidates_.size()) - 1;
  if (fits(0)) {
    result.outcome = Outcome::fits;
  } else if (fits(all)) {
    result.outcome = Outcome::preempts;
    std::size_t set = best_set();
    if (configuration_.session.put_back == PutBack::none && order() != PreemptionOrder::fewest) {
      set = std::bit_ceil(set + 1) - 1;  // All before the last, too.
    }
    for (std::size_t at = 0; at < candidates_.size(); ++at) {
      if (((set >> at) & 1U) == 0) continue;
      result.victims.insert(candidates_[at]->namespace_name + "/" + candidates_[at]->name);
    }
  }
  return result;
}

}  // namespace

NaiveSessionAnswer naive_session(const Cluster& cluster, const Configuration& configuration,
                                 const Session& ask, Time now) {
  return Naive(cluster, configuration, ask, now).answer();
}

}  // namespace makeway
