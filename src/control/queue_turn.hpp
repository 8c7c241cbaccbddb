// QueueTurn: when the queue stage (SPEC section 3) has a turn although no ask is due.
//
// The stage runs with every ask. But shares change without an ask, too: a pod is gone, a node
// comes, a user edits a weight. Without a turn of its own the status of a queue would be outdated,
// and released room would not reach other queues.
//
//  1. A turn is due when a queue, or what queues divide, has changed: at once, but not within
//     `pace` of the last cycle. A pending ask does not wait for that: it is due itself.
//  2. What this loop has itself decided about a queue is a reason for one more turn only where it
//     moves room; `used` alone is none.
//  3. Where an action of the stage was refused, the turn backs off: 1 s, doubling to 60 s, no
//     longer than a receipt says that it must; a queue that another client has written ends that.
//  4. At the time that the last decision named.
#pragma once

#include <optional>
#include <tuple>
#include <variant>

#include "base/backoff.hpp"
#include "control/ask_source.hpp"
#include "control/port.hpp"
#include "model/cluster.hpp"
#include "model/request.hpp"

namespace makeway {

class QueueTurn final : public AskSource {
 public:
  /// The source of a change.
  enum class By : std::uint8_t { port, loop };

  QueueTurn(bool enabled, Duration pace) : enabled_(enabled), pace_(pace) {}

  /// The stage as an ask of a request: it has no name.
  static AskName name() { return {.kind = AskKind::queue}; }

  /// What the stage reads of an object.
  using PodMark = std::tuple<NodeIndex, NodeIndex, bool, RequestId, LabelSetId, StringId>;
  using Mark = std::variant<std::monostate, PodMark, Queue>;
  /// Before the cluster has the change, and afterwards.
  Mark mark_of(const Change& change, const Cluster& cluster) const;
  void note(const Change& change, const Mark& before, const Cluster& cluster, By by);

  std::vector<AskName> take_due(const Cluster& cluster, Time now) override;
  /// The stage was part of the cycle, whatever its asks.
  void learn(const std::vector<AskName>& taken, const Plan& plan,
             const std::optional<Time>& recheck_at, Time now) override;
  void back_off(const Receipt& receipt, Time now) override;
  void not_decided(const AskName& ask, Time now) override;
  std::optional<Time> next_due(Time now, bool retries = true) const override;

 private:
  void try_again(Time now, const std::optional<Time>& again_at);

  bool enabled_;
  Duration pace_;
  bool has_queues_ = false;
  bool changed_ = false;
  std::optional<Time> last_;
  std::optional<Time> recheck_at_;
  std::optional<Time> retry_at_;
  std::int64_t failures_ = 0;  ///< In a row.
};

}  // namespace makeway
