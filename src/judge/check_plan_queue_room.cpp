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
    auto told = std::ranges::lower_bound(hearing.plan.queues, queue.name, {}, &PlanQueue::name);
    if (told != hearing.plan.queues.end() && told->name != queue.name) {
      told = hearing.plan.queues.end();
    }
    for (std::size_t column = 0; column < queue.shares.size(); ++column) {
      const NaiveShare& share = queue.shares[column];
      row.allocated.push_back(left_out ? share.before : share.allocated);
      row.coming.push_back(left_out ? 0 : share.preempting);
      row.used_now.push_back(share.used);
      row.used_after.push_back(share.used - share.leaving);
      if (told == hearing.plan.queues.end()) continue;
      // Whether what the plan says is right is judged elsewhere.
      const std::string_view name = hearing.cluster.resources().name(queues_.resources[column]);
      const auto said = std::ranges::find(told->shares, name, &PlanQueueShare::resource);
      if (said == told->shares.end()) continue;
      row.allocated.back() = said->allocated;
      row.coming.back() = said->preempting;
    }
  }
}

std::size_t HeardQueueRoom::queue_of(const HeardAsk& ask) const {
  return ask.pods.empty() ? NaiveQueues::none : queues_.queue_of(ask.pods.front());
}

bool HeardQueueRoom::concerns(const HeardAsk& ask) const {
  const bool section_2 = ask.entry->kind == AskKind::pod || ask.entry->kind == AskKind::pod_group;
  return queues_.on() && section_2 && ask.pinned_to.empty() && queue_of(ask) != NaiveQueues::none;
}

bool HeardQueueRoom::may_take(const HeardAsk& ask, PodIndex victim) const {
  if (!concerns(ask)) return true;
  return hearing_.configuration.queue.preempt_within_queue &&
         queues_.queue_of(victim) == queue_of(ask);
}

bool HeardQueueRoom::same_queue(const HeardAsk& ask, PodIndex pod) const {
  return concerns(ask) && queues_.queue_of(pod) == queue_of(ask);
}

const HeardQueueRoom::Pods& HeardQueueRoom::bound_pods(const HeardAsk& ask) const {
  return queues_.queues[queue_of(ask)].bound;
}

std::string HeardQueueRoom::name(const HeardAsk& ask) const {
  return concerns(ask) ? queues_.queues[queue_of(ask)].name : std::string{};
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
  const std::vector<std::int64_t> wanted = sum(pods);
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
  std::erase_if(leave,
                [&](PodIndex pod) { return credited(pod) || queues_.queue_of(pod) != queue; });
  const std::vector<std::int64_t> wanted = sum(pods);
  const std::vector<std::int64_t> freed = sum(leave);
  const std::vector<std::int64_t> held = sum(others);
  for (std::size_t column = 0; column < wanted.size(); ++column) {
    const std::int64_t used =
        saturated_add(row.used_after[column] - freed[column] + held[column], wanted[column]);
    // Beyond its share the queue keeps only what its pods hold, and who is away holds nothing.
    const std::int64_t kept =
        std::min(row.allocated[column], queues_.queues[queue].shares[column].deserved);
    const std::int64_t most = saturated_add(kept, row.coming[column]);
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
  const std::size_t queue = queues_.on() ? queues_.queue_of(pod) : NaiveQueues::none;
  if (queue == NaiveQueues::none || credited(pod)) return;
  gone_.insert(pod);
  const std::vector<std::int64_t> row = queues_.requests(pod);
  for (std::size_t column = 0; column < row.size(); ++column) {
    rows_[queue].used_after[column] -= row[column];
  }
}

void HeardQueueRoom::bind(PodIndex pod) {
  const std::size_t queue = queues_.on() ? queues_.queue_of(pod) : NaiveQueues::none;
  if (queue == NaiveQueues::none) return;
  const std::vector<std::int64_t> row = queues_.requests(pod);
  for (std::size_t column = 0; column < row.size(); ++column) {
    rows_[queue].used_now[column] = saturated_add(rows_[queue].used_now[column], row[column]);
  }
  nominate(pod);
}

void HeardQueueRoom::nominate(PodIndex pod) {
  const std::size_t queue = queues_.on() ? queues_.queue_of(pod) : NaiveQueues::none;
  if (queue == NaiveQueues::none) return;
  const std::vector<std::int64_t> row = queues_.requests(pod);
  for (std::size_t column = 0; column < row.size(); ++column) {
    rows_[queue].used_after[column] = saturated_add(rows_[queue].used_after[column], row[column]);
  }
}

}  // namespace makeway
