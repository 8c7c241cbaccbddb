// PodFit: does a pod fit on a node of a what-if world, and if not, why and by how much.
//
// The rules in the order of kube-scheduler's filters; the first one that fails is told:
//  1. what node and pod say about each other: cordon, taints, node selector and affinity, claims
//     (Survey); whether the node is of the ask's regime (model/regime.hpp), unless the ask is
//     pinned
//  2. host ports     3. resources     4. claims in use, volumes that the node takes     5. topology
//     spread     6. inter-pod affinity, anti-affinity
//
// Nominated pods (rule of kube-scheduler): pending pods with a nomination to the node and at least
// the ask's priority hold their room. The ask must fit with them there, and also without them, so
// that it does not lean on somebody who has not arrived. A pinned pod that is nominated to its node
// (SPEC section 5) holds its room whatever the ask's priority. Reservations are nominations without
// a promise: they hold nothing against another pinned pod or an ask that is nominated there.
// A nomination to a node of another regime is void.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/constraints.hpp"
#include "engine/port_clashes.hpp"
#include "engine/scratch.hpp"
#include "engine/survey.hpp"

namespace makeway {

/// Pods whose nomination counts no more, because this cycle has decided about them.
using DecidedPods = SparseColumn<PodIndex, std::uint8_t>;

class PodFit {
 public:
  PodFit(Survey& survey, Scratch& scratch, PodIndex ask, const DecidedPods& decided);

  PodIndex ask() const { return ask_; }
  /// Whether the pods of the node differ from those of the cluster.
  bool touched(NodeIndex node) const { return scratch_.touched(node); }
  Scratch& scratch() { return scratch_; }
  Survey& survey() { return survey_; }
  PodConstraints& constraints() { return constraints_; }

  /// None: it fits.
  std::optional<Refused> check(NodeIndex node);
  /// The same without looking at nominations.
  std::optional<Refused> check_unreserved(NodeIndex node);
  /// What no leaving pod can change: cordon, taints, node selector and affinity, a required node,
  /// the regime.
  const std::optional<Refused>& refused_by_node(NodeIndex node) {
    const std::optional<Refused>& refused = survey_.placing(placing_, node).refused;
    // kube-scheduler's order of filters: affinity before volumes.
    const bool told_later = !refused || refused->reason == RefusalReason::claim_node;
    if (pinned_ && node != required_node_ && told_later) return not_the_required_node_;
    if (refused) return refused;
    return stays_in_regime_ ? survey_.refused_by_regime(regime_, node) : refused;
  }
  /// What node and ask say about each other, whoever else is there. Valid until the next question.
  const StaticVerdict& says(NodeIndex node) { return survey_.placing(placing_, node); }
  /// Whether the node would take the ask, were it empty and of its regime.
  bool only_regime_refuses(NodeIndex node);
  /// The same as `check` where only resources count, were `used` all that is used on the node.
  std::optional<Refused> check_resources(NodeIndex node, std::span<const std::int64_t> used);
  /// The same as `check` for an ask that is on the node already, where only resources count.
  bool stands_beside(NodeIndex node) {
    const std::span<const std::int64_t> allocatable = survey_.allocatable(node);
    const std::span<const std::int64_t> used = scratch_.used(node);
    return std::ranges::all_of(requests_, [&](const ResourceAmount& item) {
      return used[item.resource.value] <= allocatable[item.resource.value] - kept_free(item);
    });
  }
  /// How many like the ask find room beside `used`, at most `most`, where only resources count.
  std::int64_t count_beside(NodeIndex node, std::span<const std::int64_t> used, std::int64_t most);
  /// Whether removals and put-backs can change nothing on the node but resources.
  bool only_resources(NodeIndex node) const {
    return !ports_.any() && !constraints_.any() && !reserved(node);
  }
  /// Whether somebody who is nominated there holds room against the ask.
  bool has_holders(NodeIndex node) const { return reserved(node); }
  RequestRow requests() const { return requests_; }
  bool portless() const { return !ports_.any(); }
  std::int32_t priority() const { return ask_priority_; }

  /// Every nomination holds its room from now on, also those of lower priority; or no longer.
  void respect_every_nomination(bool every) {
    priority_ = every ? std::numeric_limits<std::int32_t>::min() : ask_priority_;
  }
  /// So much of each resource is kept for somebody who is neither there nor nominated, whichever
  /// node is looked at; empty: nothing is.
  void keep_free(std::vector<std::int64_t> amounts) { kept_free_ = std::move(amounts); }
  std::span<const std::int64_t> kept_free() const { return kept_free_; }
  /// Reservations of other pinned pods hold nothing against this one: they take turns.
  void ignore_reservations() { reservations_hold_ = false; }
  /// Pending pods that hold room on the node against the ask by their nomination.
  std::vector<PodIndex> holders(NodeIndex node) const;
  /// Another ask that is alike in everything that is looked at here takes its turn.
  void ask_for(PodIndex ask) { ask_ = ask; }

 private:
  std::optional<Refused> check_ports(NodeIndex node);
  bool holds_room(PodIndex pod) const;
  bool reserved(NodeIndex node) const {
    const std::vector<PodIndex>& nominated = survey_.cluster().nodes().nominated[node];
    return !nominated.empty() && any_holds_room(nominated);
  }
  bool any_holds_room(const std::vector<PodIndex>& nominated) const;
  std::int64_t kept_free(const ResourceAmount& item) const {
    return kept_free_.empty() ? 0 : kept_free_[item.resource.value];
  }

  Survey& survey_;
  Scratch& scratch_;
  PodIndex ask_;
  const DecidedPods& decided_;
  std::int32_t ask_priority_ = 0;
  std::int32_t priority_ = 0;  ///< Nominations of at least this priority hold their room.
  bool reservations_hold_ = true;
  bool pinned_ = false;  ///< By annotation; to no node at all when there is none of that name.
  NodeIndex required_node_;
  std::optional<Refused> not_the_required_node_ = Refused{.reason = RefusalReason::node_affinity};
  bool stays_in_regime_ = false;  ///< Nodes of other regimes refuse it, if there are any.
  Regime regime_ = Regime::pods;
  std::vector<std::int64_t> kept_free_;
  ShapeVerdicts& placing_;
  RequestRow requests_;
  PortClashes ports_;
  PodConstraints constraints_;
};

}  // namespace makeway
