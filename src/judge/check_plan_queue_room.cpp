#include "judge/check_plan_queue_room.hpp"

#include <algorithm>

#include "base/checked_math.hpp"
#include "judge/naive_queues.hpp"

namespace makeway {

HeardQueueRoom::HeardQueueRoom(const Hearing& hearing)
    : hearing_(hearing), queues_(*hearing.queues) {
  // Without the stage nothing has moved, and nothing is on its way.
  const bool left_out = leaves_out_queues(hearing.plan.left_out);
  for (const NaiveQueue& queue : queues_.queues) {
    Row& row = rows_.emplace_back();
    auto reported = std::ranges::lower_bound(hearing.plan.queues, queue.name, {}, &PlanQueue::name);
    if (reported != hearing.plan.queues.end() && reported->name != queue.name) {
      reported = hearing.plan.queues.end();
    }
    for (std::size_t column = 0; column < queue.shares.size(); ++column) {
      const NaiveShare& share = queue.shares[column];
      row.allocated.push_back(left_out ? share.before : share.allocated);
      row.coming.push_back(left_out ? 0 : share.preempting);
      row.used_now.push_back(share.used);
      row.used_after.push_back(share.healthy() + share.stuck);
      if (reported == hearing.plan.queues.end()) continue;
      // Whether what the plan says is right is judged elsewhere.
      const std::string_view name = hearing.cluster.resources().name(queues_.resources[column]);
      const auto said = std::ranges::find(reported->shares, name, &PlanQueueShare::resource);
      if (said == reported->shares.end()) continue;
      row.allocated.back() = said->allocated;
      row.coming.back() = said->preempting;
    }
    for (std::size_t column = 0; column < queue.shares.size(); ++column) {
      row.lasting.push_back(std::min(row.allocated[column], queue.shares[column].deserved));
    }
  }
  if (queues_.on()) add_outside();
}

/// Pods outside queues may not use what queues are promised or what their pods hold.
void HeardQueueRoom::add_outside() {
  Row row;
  const std::vector<std::int64_t> used = sum(queues_.outside);
  Pods staying = queues_.outside;
  std::erase_if(staying, [this](PodIndex pod) { return credited(pod); });
  for (std::size_t column = 0; column < queues_.resources.size(); ++column) {
    std::int64_t held = 0;
    std::int64_t promised = 0;
    for (std::size_t at = 0; at < rows_.size(); ++at) {
      if (!queues_.queues[at].leaf) continue;
      const Row& each = rows_[at];
      held = saturated_add(held, std::max(each.allocated[column], each.used_now[column]));
      promised = saturated_add(promised, each.allocated[column] + each.coming[column]);
    }
    const std::int64_t total = queues_.totals[column];
    const std::int64_t now = std::max<std::int64_t>(0, total - std::max(held, promised));
    const std::int64_t then = std::max<std::int64_t>(0, total - promised);
    row.allocated.push_back(saturated_add(queues_.outside_held[column], now));
    row.lasting.push_back(row.allocated.back());
    row.coming.push_back(then - now);
  }
  row.used_now = used;
  row.used_after = sum(staying);
  rows_.push_back(std::move(row));
}

std::size_t HeardQueueRoom::row_of(PodIndex pod) const {
  return std::min(queues_.queue_of(pod), queues_.queues.size());
}

std::size_t HeardQueueRoom::queue_of(const HeardAsk& ask) const {
  std::size_t queue = NaiveQueues::none;  // Of a group, some members may be infrastructure.
  for (const PodIndex pod : ask.pods) queue = std::min(queue, row_of(pod));
  return queue;
}

bool HeardQueueRoom::concerns(const HeardAsk& ask) const {
  const bool section_2 = ask.entry->kind == AskKind::pod || ask.entry->kind == AskKind::pod_group;
  return queues_.on() && section_2 && ask.pinned_to.empty() && !ask.pods.empty();
}

bool HeardQueueRoom::may_take(const HeardAsk& ask, PodIndex victim) const {
  if (!concerns(ask)) return true;
  const std::size_t queue = queue_of(ask);
  if (row_of(victim) != queue) return false;
  return queue == queues_.queues.size() || hearing_.configuration.queue.preempt_within_queue;
}

bool HeardQueueRoom::same_queue(const HeardAsk& ask, PodIndex pod) const {
  return concerns(ask) && row_of(pod) == queue_of(ask);
}

const HeardQueueRoom::Pods& HeardQueueRoom::bound_pods(const HeardAsk& ask) const {
  const std::size_t queue = queue_of(ask);
  return queue == queues_.queues.size() ? queues_.outside : queues_.queues[queue].bound;
}

std::string HeardQueueRoom::name(const HeardAsk& ask) const {
  if (!concerns(ask)) return {};
  const std::size_t queue = queue_of(ask);
  return queue == queues_.queues.size() ? "(none)" : queues_.queues[queue].name;
}

std::vector<std::int64_t> HeardQueueRoom::asked(Pods pods) const {
  std::erase_if(pods, [this](PodIndex pod) { return queues_.apart(pod); });
  return sum(pods);
}

std::vector<std::int64_t> HeardQueueRoom::sum(const Pods& pods) const {
  std::vector<std::int64_t> total(queues_.resources.size());
  for (const PodIndex pod : pods) {
    const std::vector<std::int64_t> row = queues_.requests(pod);
    for (std::size_t column = 0; column < row.size(); ++column) {
      total[column] = saturated_add(total[column], row[column]);
    }
  }
  return total;
}

bool HeardQueueRoom::fits_now(const HeardAsk& ask, const Pods& pods) const {
  if (!concerns(ask)) return true;
  const Row& row = rows_[queue_of(ask)];
  const std::vector<std::int64_t> wanted = asked(pods);
  for (std::size_t column = 0; column < wanted.size(); ++column) {
    const std::int64_t used = saturated_add(row.used_now[column], wanted[column]);
    if (wanted[column] > 0 && used > row.allocated[column]) return false;
  }
  return true;
}

bool HeardQueueRoom::credited(PodIndex pod) const {
  const EvictionRules rules(hearing_.cluster, hearing_.configuration, hearing_.plan.now);
  return gone_.contains(pod) || (rules.leaving(pod) && !rules.overdue(pod));
}

bool HeardQueueRoom::fits_after(const HeardAsk& ask, const Pods& pods, const Pods& away,
                                const Pods& others) const {
  if (!concerns(ask)) return true;
  const std::size_t queue = queue_of(ask);
  const Row& row = rows_[queue];
  Pods leave = away;
  std::erase_if(leave, [&](PodIndex pod) { return credited(pod) || row_of(pod) != queue; });
  const std::vector<std::int64_t> wanted = asked(pods);
  const std::vector<std::int64_t> freed = sum(leave);
  const std::vector<std::int64_t> held = sum(others);
  for (std::size_t column = 0; column < wanted.size(); ++column) {
    const std::int64_t used =
        saturated_add(row.used_after[column] - freed[column] + held[column], wanted[column]);
    // Beyond its share the queue keeps only what its pods hold, and pods that are away hold
    // nothing.
    const std::int64_t most = saturated_add(row.lasting[column], row.coming[column]);
    if (wanted[column] > 0 && used > most) return false;
  }
  return true;
}

bool HeardQueueRoom::waits_for_queues(const HeardAsk& ask) const {
  if (!concerns(ask)) return false;
  return std::ranges::any_of(rows_[queue_of(ask)].coming,
                             [](std::int64_t amount) { return amount > 0; });
}

void HeardQueueRoom::leave(PodIndex pod) {
  if (!queues_.on() || credited(pod)) return;
  const std::size_t queue = row_of(pod);
  gone_.insert(pod);
  const std::vector<std::int64_t> row = queues_.requests(pod);
  for (std::size_t column = 0; column < row.size(); ++column) {
    rows_[queue].used_after[column] -= row[column];
  }
}

void HeardQueueRoom::bind(PodIndex pod, NodeIndex node) {
  if (!queues_.on() || !queues_.divided(node)) return;
  const std::size_t queue = row_of(pod);
  const std::vector<std::int64_t> row = queues_.requests(pod);
  for (std::size_t column = 0; column < row.size(); ++column) {
    rows_[queue].used_now[column] = saturated_add(rows_[queue].used_now[column], row[column]);
  }
  nominate(pod, node);
}

void HeardQueueRoom::nominate(PodIndex pod, NodeIndex node) {
  if (!queues_.on() || !queues_.divided(node)) return;
  const std::size_t queue = row_of(pod);
  const std::vector<std::int64_t> row = queues_.requests(pod);
  for (std::size_t column = 0; column < row.size(); ++column) {
    rows_[queue].used_after[column] = saturated_add(rows_[queue].used_after[column], row[column]);
  }
}

}  // namespace makeway
