// QueueTurn: when the queue stage (SPEC section 3) has a turn although nobody asks.
//
// Whoever asks takes the stage along. But shares change without an ask, too: a pod is gone, a node
// comes, somebody edits a weight. Without a turn of its own a queue would show the numbers of
// yesterday, and what it gives back would reach nobody.
//
//  1. A turn is due when a queue, or what queues divide, has changed: at once, but not within
//     `pace` of the last cycle. Whoever is pending does not wait for that: it asks.
//  2. What this loop has itself decided about a queue is a reason for one more turn only where it
//     moves room; `used` alone is none.
//  3. Where an action of the stage was refused, the turn backs off: 1 s, doubling to 60 s, no
//     longer than a receipt says that it must; a queue that somebody else has written ends that.
//  4. At the time that the last decision named.
#pragma once

#include <optional>
#include <tuple>
#include <variant>

#include "control/port.hpp"
#include "model/cluster.hpp"
#include "model/request.hpp"

namespace makeway {

class QueueTurn {
 public:
  /// Who says that something has changed.
  enum class By : std::uint8_t { port, loop };

  QueueTurn(bool enabled, Duration pace) : enabled_(enabled), pace_(pace) {}

  /// The stage as an ask of a request: it has no name.
  static AskName name() { return {.kind = AskKind::queue, .namespace_name = {}, .name = {}}; }

  /// What the stage reads of an object.
  using PodMark = std::tuple<NodeIndex, NodeIndex, bool, RequestId, LabelSetId, StringId>;
  using Mark = std::variant<std::monostate, PodMark, Queue>;
  /// Before the cluster has the change, and afterwards.
  Mark mark_of(const Change& change, const Cluster& cluster) const;
  void note(const Change& change, const Mark& before, const Cluster& cluster, By by);

  /// A cycle was decided: the stage was part of it.
  void decided(const std::optional<Time>& recheck_at, Time now);
  void back_off(const Receipt& receipt, Time now);
  /// The judge refused it.
  void back_off(Time now, const std::optional<Time>& again_at = std::nullopt);
  /// None: not before something changes.
  std::optional<Time> next_due(const Cluster& cluster, Time now) const;

 private:
  bool enabled_;
  Duration pace_;
  bool changed_ = false;
  std::optional<Time> last_;
  std::optional<Time> recheck_at_;
  std::optional<Time> retry_at_;
  Duration delay_{0};
};

}  // namespace makeway
