#include "control/queue_turn.hpp"

#include <algorithm>

#include "model/object_at.hpp"

namespace makeway {
namespace {

bool divides_queues(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::node:
    case ObjectKind::pod_group:
    case ObjectKind::queue:
    case ObjectKind::resource_group:
    case ObjectKind::replica_schedule: return true;
    default: return false;
  }
}

/// Whether the stage would read the same, but for what pods use: it counts these anew.
bool is_same_but_used(const Queue& one, Queue other) {
  other.used = one.used;
  return one == other;
}

}  // namespace

QueueTurn::Mark QueueTurn::mark_of(const Change& change, const Cluster& cluster) const {
  if (!enabled_ || cluster.own<Queue>().empty()) return {};
  const auto& [kind, plane, namespace_name, name] = key_of_change(change);
  if (!plane.empty()) return {};
  if (kind == ObjectKind::queue) {
    const auto found = cluster.own<Queue>().find(ObjectKeyView{{}, name, {}});
    return found == cluster.own<Queue>().end() ? Mark{} : Mark{found->second};
  }
  if (kind != ObjectKind::pod) return {};
  const auto pod = cluster.find_pod(namespace_name, name);
  if (!pod) return {};
  const PodColumns& pods = cluster.pods();
  return PodMark{pods.node[*pod],     pods.nominated[*pod], pods.deletion[*pod] != no_time,
                 pods.requests[*pod], pods.labels[*pod],    pods.queue[*pod]};
}

void QueueTurn::note(const Change& change, const Mark& before, const Cluster& cluster, By by) {
  if (!enabled_) return;
  has_queues_ = !cluster.own<Queue>().empty();
  const ObjectKind kind = std::get<0>(key_of_change(change));
  if (kind == ObjectKind::pod) {
    changed_ = changed_ || mark_of(change, cluster) != before;
    return;
  }
  if (!divides_queues(kind)) return;
  if (kind != ObjectKind::queue) {
    changed_ = true;
    return;
  }
  const Mark after = mark_of(change, cluster);
  if (after == before && !std::holds_alternative<Removal>(change)) return;
  const auto* const was = std::get_if<Queue>(&before);
  const auto* const is = std::get_if<Queue>(&after);
  const bool both = was != nullptr && is != nullptr;
  if (by == By::loop && both && is_same_but_used(*was, *is)) return;
  changed_ = true;
  if (by == By::port) retry_at_.reset();
}

std::vector<AskName> QueueTurn::take_due(const Cluster& /*cluster*/, Time now) {
  const std::optional<Time> due = next_due(now);
  return due && *due <= now ? std::vector<AskName>{name()} : std::vector<AskName>{};
}

void QueueTurn::learn(const std::vector<AskName>& /*taken*/, const Plan& /*plan*/,
                      const std::optional<Time>& recheck_at, Time now) {
  changed_ = false;
  last_ = now;
  recheck_at_ = recheck_at;
  if (!retry_at_) failures_ = 0;  // Nothing was refused since the last one.
  if (retry_at_ && *retry_at_ <= now) retry_at_.reset();
}

void QueueTurn::back_off(const Receipt& receipt, Time now) {
  const bool of_ask = receipt.ask && receipt.ask->kind == RefKind::queue;
  if (of_ask || receipt.object.kind == RefKind::queue) try_again(now, receipt.again_at);
}

void QueueTurn::not_decided(const AskName& ask, Time now) {
  if (ask.kind == AskKind::queue) try_again(now, std::nullopt);
}

void QueueTurn::try_again(Time now, const std::optional<Time>& again_at) {
  constexpr Backoff backoff{.first = {1'000}, .max = {60'000}};
  if (!retry_at_) retry_at_ = backoff.next_try(now, ++failures_, again_at);
}

std::optional<Time> QueueTurn::next_due(Time now, bool /*retries*/) const {
  if (!enabled_ || !has_queues_) return std::nullopt;
  if (retry_at_) return std::max(*retry_at_, now);
  std::optional<Time> due;
  if (changed_) due = last_ ? std::max(*last_ + pace_, now) : now;
  if (recheck_at_) due = std::min(due.value_or(*recheck_at_), *recheck_at_);
  return due;
}

}  // namespace makeway
