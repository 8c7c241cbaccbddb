// ClosedNodes: nodes that are closed to an owner's pods for a while (SPEC section 8, kubelet
// refusals).
//
// A pod that its kubelet refused is Failed for good, and its controller makes another one. The same
// node would be chosen again and refuse again. So it is closed to that owner: for a while, and
// for twice as long each time that it refuses again. The doubling starts anew once the node has
// been open for as long as it was last closed.
//
// This only saves work, and no law depends on it: after a crash the node is open.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "base/time.hpp"
#include "model/objects.hpp"

namespace makeway {

class ClosedNodes {
 public:
  explicit ClosedNodes(const Backoff& backoff) : backoff_(backoff) {}

  /// `owner` is the uid of the controller.
  void refused(const std::string& owner, const std::string& node, Time now);
  /// Sorted by name.
  std::vector<std::string> closed_to(const std::string& owner, Time now) const;
  /// Owners to whose pods a node has opened since the last call; sorted.
  std::vector<std::string> take_opened(Time now);
  /// When a node opens next; none: nothing is closed.
  std::optional<Time> next_opening() const;
  bool empty() const { return owners_.empty(); }

 private:
  struct Closed {
    Time until;
    std::int64_t refusals = 0;  ///< In a row.
    bool opened = false;        ///< `take_opened` has returned it.
  };
  using Nodes = std::map<std::string, Closed>;

  /// From then on its refusals are forgotten: it was open for as long as it was closed.
  Time refusals_reset_at(const Closed& closed) const {
    return closed.until + backoff_.after(closed.refusals);
  }

  Backoff backoff_;
  std::map<std::string, Nodes> owners_;
};

/// The uid of the pod's controller; empty: it has none.
std::string controller_of(const Pod& pod);

/// A pod that does not go there: each of its node terms says so, and the pod stays canonical.
void keep_away(Pod& pod, const std::vector<std::string>& nodes);

}  // namespace makeway
