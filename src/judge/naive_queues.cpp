#include "judge/naive_queues.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/checked_math.hpp"
#include "judge/check_plan_hearing.hpp"
#include "judge/naive_queue_stage.hpp"

namespace makeway {
namespace {

std::int64_t amount_in(const std::vector<Amount>& amounts, std::string_view resource,
                       std::int64_t missing) {
  const auto at = std::ranges::find(amounts, resource, &Amount::resource);
  return at == amounts.end() ? missing : at->amount;
}

}  // namespace

NaiveQueues::NaiveQueues(const Cluster& cluster, const Configuration& configuration, Time now)
    : cluster_(cluster), configuration_(configuration) {
  if (!configuration.queue.enabled || cluster.own<Queue>().empty()) return;
  find_resources();
  find_queues();
  count_pods(now);
  find_candidates(now);
  divide_naively(*this, cluster, configuration);
  recall_default();
  run_stage_naively(*this, configuration, cluster);
}

/// What existing nodes have, cordoned ones too, and sessions do not hold; `pods` is nothing that
/// teams share.
void NaiveQueues::find_resources() {
  std::map<std::string_view, std::pair<ResourceIndex, std::int64_t>> found;
  for (const NodeIndex node : cluster_.home_nodes()) {
    for (const ResourceAmount& each : cluster_.requests(cluster_.nodes().allocatable[node])) {
      if (each.resource == resource_pods || each.amount <= 0) continue;
      auto& [resource, total] = found[cluster_.resources().name(each.resource)];
      resource = each.resource;
      total = saturated_add(total, each.amount);
    }
  }
  // What sessions hold is no queue's.
  for (std::uint32_t slot = 0; slot < cluster_.pods().slots(); ++slot) {
    const PodIndex pod{slot};
    if (!cluster_.pods().flags[pod].kernel || !cluster_.pods().node[pod].exists()) continue;
    for (const ResourceAmount& each : cluster_.requests(cluster_.pods().requests[pod])) {
      const auto at = found.find(cluster_.resources().name(each.resource));
      if (at != found.end()) at->second.second = saturated_sub(at->second.second, each.amount);
    }
  }
  for (const auto& [name, entry] : found) {
    if (entry.second <= 0) continue;
    resources.push_back(entry.first);
    totals.push_back(entry.second);
  }
}

std::string_view NaiveQueues::queue_name(PodIndex pod) const {
  const StringId stated = cluster_.units()[cluster_.pods().unit[pod]].queue;
  return stated == StringId{0} ? configuration_.queue.default_queue : cluster_.text(stated);
}

void NaiveQueues::find_queues() {
  std::set<std::string> parents;
  bool implied = !cluster_.own<Queue>().contains({"", configuration_.queue.default_queue});
  bool used = false;
  for (std::uint32_t slot = 0; implied && !used && slot < cluster_.pods().slots(); ++slot) {
    const PodIndex pod{slot};
    const PodFlags flags = cluster_.pods().flags[pod];
    used = flags.exists && !flags.kernel && queue_name(pod) == configuration_.queue.default_queue;
  }
  implied = implied && used;
  for (const auto& [key, object] : cluster_.own<Queue>()) {
    queues.push_back({.name = object.name,
                      .parent = object.parent,
                      .weight = object.weight,
                      .priority = object.priority,
                      .reclaimable = object.reclaimable});
    parents.insert(object.parent);
  }
  if (implied) {
    queues.push_back({.name = configuration_.queue.default_queue,
                      .weight = configuration_.queue.default_weight});
  }
  std::ranges::sort(queues, {}, &NaiveQueue::name);
  by_name_.assign(cluster_.strings().size(), none);
  for (std::size_t at = 0; at < queues.size(); ++at) {
    queues[at].leaf = !parents.contains(queues[at].name);
    queues[at].shares.resize(resources.size());
    const auto id = cluster_.strings().find(queues[at].name);
    if (id) by_name_[id->value] = at;
    if (queues[at].name == configuration_.queue.default_queue) by_name_.front() = at;
  }
  for (std::size_t at = 0; at < queues.size(); ++at) {
    const std::size_t parent = find(queues[at].parent);
    if (parent != none && !queues[at].parent.empty()) queues[parent].children.push_back(at);
  }
}

std::size_t NaiveQueues::find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(queues, name, {}, &NaiveQueue::name);
  if (at == queues.end() || at->name != name) return none;
  return static_cast<std::size_t>(at - queues.begin());
}

std::size_t NaiveQueues::queue_of(PodIndex pod) const {
  const StringId stated = cluster_.units()[cluster_.pods().unit[pod]].queue;
  return stated.value < by_name_.size() ? by_name_[stated.value] : none;
}

bool NaiveQueues::is_lost(PodIndex pod) const {
  const NodeIndex node = cluster_.pods().node[pod];
  return node.exists() && !cluster_.nodes().flags[node].exists;
}

std::vector<std::int64_t> NaiveQueues::requests(PodIndex pod) const {
  std::vector<std::int64_t> row(resources.size());
  if (is_lost(pod)) return row;
  for (const ResourceAmount& each : cluster_.requests(cluster_.pods().requests[pod])) {
    const auto at = std::ranges::find(resources, each.resource);
    if (at != resources.end()) row[static_cast<std::size_t>(at - resources.begin())] = each.amount;
  }
  return row;
}

/// Whether each of its requests is within what some node has, and nothing else is unknown.
bool NaiveQueues::fits_some_node(PodIndex pod) const {
  if (!cluster_.shape(cluster_.pods().shape[pod]).unsupported.empty()) return false;
  const auto some_node_has = [this](const ResourceAmount& wanted) {
    if (wanted.amount <= 0) return true;
    return std::ranges::any_of(cluster_.home_nodes(), [&](NodeIndex node) {
      const RequestRow has = cluster_.requests(cluster_.nodes().allocatable[node]);
      return std::ranges::any_of(has, [&](const ResourceAmount& each) {
        return each.resource == wanted.resource && each.amount >= wanted.amount;
      });
    });
  };
  return std::ranges::all_of(cluster_.requests(cluster_.pods().requests[pod]), some_node_has);
}

/// Also what the objects say about the past.
void NaiveQueues::count_pods(Time now) {
  const EvictionRules rules(cluster_, configuration_, now);
  const PodColumns& pods = cluster_.pods();
  for (std::uint32_t slot = 0; slot < pods.slots(); ++slot) {
    const PodIndex pod{slot};
    if (!pods.flags[pod].exists || pods.flags[pod].kernel) continue;
    const std::size_t queue = queue_of(pod);
    if (queue == none) continue;  // An error of the input; not ours to tell.
    const bool bound = pods.node[pod].exists();
    const bool leaving = rules.leaving(pod);
    if (bound) queues[queue].bound.push_back(pod);
    const bool wanted = !bound && !leaving && fits_some_node(pod);
    const Time created = pods.created[pod];
    const Duration delay = configuration_.engine.preemption_delay;
    const bool recent = wanted && delay.ms > 0 && created != no_time && now < created + delay;
    const std::vector<std::int64_t> row = requests(pod);
    for (std::size_t column = 0; column < row.size(); ++column) {
      NaiveShare& share = queues[queue].shares[column];
      if (recent) share.recent = saturated_add(share.recent, row[column]);
      if (bound) share.used = saturated_add(share.used, row[column]);
      if (bound && leaving && !rules.overdue(pod)) share.leaving += row[column];
      if (wanted) share.pending = saturated_add(share.pending, row[column]);
    }
  }
  for (NaiveQueue& queue : queues) {
    const auto object = cluster_.own<Queue>().find({"", queue.name});
    for (std::size_t column = 0; column < resources.size(); ++column) {
      NaiveShare& share = queue.shares[column];
      share.before = share.used;
      if (object == cluster_.own<Queue>().end()) continue;
      const std::string_view name = cluster_.resources().name(resources[column]);
      share.before = amount_in(object->second.allocated, name, share.used);
      share.recorded = amount_in(object->second.preempting, name, 0);
    }
  }
}

/// Nobody wrote down what a queue without an object gave: of what leaves it, down to its share,
/// what others were promised and nothing else is there for.
void NaiveQueues::recall_default() {
  const auto home = std::ranges::find_if(queues, [this](const NaiveQueue& queue) {
    return !cluster_.own<Queue>().contains({"", queue.name});
  });
  if (home == queues.end()) return;
  for (std::size_t column = 0; column < resources.size(); ++column) {
    std::int64_t left = totals[column];
    std::int64_t promises = 0;
    bool at_stake = false;  // Somebody counts on more than he uses.
    for (const NaiveQueue& queue : queues) {
      if (!queue.leaf) continue;
      const NaiveShare& share = queue.shares[column];
      const std::int64_t kept = std::min(share.before, std::max(share.used, share.deserved));
      const std::int64_t promised = std::min(share.recorded, share.deserved - kept);
      promises = saturated_add(promises, std::max<std::int64_t>(0, promised));
      left = saturated_sub(left, kept);
      at_stake = at_stake || kept > share.used || promised > 0;
    }
    NaiveShare& own = home->shares[column];
    const std::int64_t beyond = std::max<std::int64_t>(0, own.used - own.deserved);
    const std::int64_t uncovered = at_stake ? saturated_sub(promises, left) : 0;
    own.before -= std::clamp<std::int64_t>(uncovered, 0, std::min(own.leaving, beyond));
  }
}

/// Everybody who may be made to leave, whatever the budgets; strict ones leave open who of them.
void NaiveQueues::find_candidates(Time now) {
  const EvictionRules rules(cluster_, configuration_, now);
  const PodColumns& pods = cluster_.pods();
  const bool strict = configuration_.budgets.mode == BudgetMode::strict;
  const std::vector<const DisruptionBudget*> budgets = cluster_.budgets();
  IndexedVector<PodIndex, bool> seen(pods.slots());
  for (std::uint32_t slot = 0; slot < pods.slots(); ++slot) {
    const PodIndex pod{slot};
    if (!pods.flags[pod].exists || !pods.node[pod].exists() || seen[pod]) continue;
    if (is_lost(pod)) continue;
    const std::size_t queue = queue_of(pod);
    if (queue == none || rules.leaving(pod)) continue;
    std::vector<PodIndex> together;
    for (const PodIndex member : rules.leaves_with(pod)) {
      if (!rules.leaving(member)) together.push_back(member);
    }
    for (const PodIndex each : together) seen[each] = true;
    const bool stays = std::ranges::any_of(together, [&](PodIndex each) {
      return !rules.protection(each).empty() || !pinned_to(cluster_, each).empty();
    });
    if (stays) continue;
    const bool governed = strict && std::ranges::any_of(together, [&](PodIndex each) {
                            return std::ranges::any_of(budgets, [&](const auto* budget) {
                              return rules.governed(each, *budget);
                            });
                          });
    exact = exact && !governed;
    for (const PodIndex each : together) {
      const std::vector<std::int64_t> row = requests(each);
      for (std::size_t column = 0; column < row.size(); ++column) {
        NaiveShare& share = queues[queue].shares[column];
        share.movable = saturated_add(share.movable, row[column]);
        if (governed) share.governed = saturated_add(share.governed, row[column]);
      }
    }
    candidates.push_back({.queue = queue, .pods = std::move(together)});
  }
}

std::int64_t NaiveQueues::tolerance(std::size_t queue, std::size_t column) const {
  const ResourceIndex resource = resources[column];
  const bool fine =
      resource == resource_cpu || resource == resource_memory || resource == resource_storage;
  const bool counts = fine || queues[queue].shares[column].rounded;
  return counts ? configuration_.queue.rounding_tolerance : 0;
}

}  // namespace makeway
