// HeardQueueRoom: how much of what the queues may use is used, ask by ask. Private to
// check_plan*.cpp.
//
// With queues on, a pod or group of section 2 needs room in its queue beside room on nodes:
//   now:   used, and what asks before it bind, and its request are within what is allocated;
//   after: the same without pods that are leaving and victims, with pods that asks before
//          it nominate, within what is allocated, deserved and still to come (preempting).
// Where the queue stage is left out (law 14), what was allocated before counts, and nothing is to
// come. Only resources that it asks for count. Outside every queue the same holds for what is
// there, less what queues are promised: now beside what their pods still hold, too. No queue limits
// infrastructure pods, nor the pods of section 5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "judge/check_plan_hearing.hpp"

namespace makeway {

struct NaiveQueues;

class HeardQueueRoom {
 public:
  using Pods = std::vector<PodIndex>;

  explicit HeardQueueRoom(const Hearing& hearing);

  /// Whether queues limit the ask.
  bool concerns(const HeardAsk& ask) const;
  /// Whether queues allow the ask to evict the pod.
  bool may_take(const HeardAsk& ask, PodIndex victim) const;
  std::string name(const HeardAsk& ask) const;

  bool same_queue(const HeardAsk& ask, PodIndex pod) const;
  /// Of the ask's queue, which must limit it.
  const Pods& bound_pods(const HeardAsk& ask) const;

  bool fits_now(const HeardAsk& ask, const Pods& pods) const;
  /// When these have left, too, besides all that are gone, and others have come.
  bool fits_after(const HeardAsk& ask, const Pods& pods, const Pods& away,
                  const Pods& others) const;
  /// It has to wait for what other queues still hold.
  bool waits_for_queues(const HeardAsk& ask) const;

  void leave(PodIndex pod);
  /// Nothing is used on nodes that are not divided.
  void bind(PodIndex pod, NodeIndex node);
  void nominate(PodIndex pod, NodeIndex node);

 private:
  struct Row {
    std::vector<std::int64_t> allocated;
    std::vector<std::int64_t> lasting;  ///< Of that, what leaving pods do not give back.
    std::vector<std::int64_t> coming;
    std::vector<std::int64_t> used_now;
    std::vector<std::int64_t> used_after;
  };

  void add_outside();
  std::vector<std::int64_t> sum(const Pods& pods) const;
  /// Of those that queues limit.
  std::vector<std::int64_t> asked(Pods pods) const;
  std::size_t row_of(PodIndex pod) const;
  std::size_t queue_of(const HeardAsk& ask) const;
  bool credited(PodIndex pod) const;

  const Hearing& hearing_;
  const NaiveQueues& queues_;
  std::vector<Row> rows_;  ///< By queue; the last one is that of pods outside.
  std::set<PodIndex> gone_;
};

}  // namespace makeway
