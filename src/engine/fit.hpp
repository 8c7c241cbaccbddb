// PodFit: does a pod fit on a node of a what-if world, and if not, why and by how much.
//
// The rules in the order of kube-scheduler's filters; the first one that fails is reported:
//  1. what node and pod say about each other: cordon, taints, node selector and affinity, claims
//     (Survey); whether the node is of the ask's regime (model/regime.hpp), unless the ask is
//     pinned
//  2. host ports     3. resources     4. claims in use, volumes that the node takes     5. topology
//     spread     6. inter-pod affinity, anti-affinity
//
// Nominated pods (rule of kube-scheduler): pending pods whose nomination to the node blocks the ask
// (Holds, law 7) keep their room. The ask must fit with them there, and also without them, so that
// its place does not depend on a pod that has not arrived.
//
// PortClashes: which of an ask's host ports are taken on a node of a what-if world.
//
// The ports of the node that was asked about last are counted, and the counts follow every move
// there; so a search that puts thousands of pods back one by one looks at each of them once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/constraints.hpp"
#include "engine/holds.hpp"
#include "engine/scratch.hpp"
#include "engine/survey.hpp"

namespace makeway {

class PortClashes final : public ScratchWatcher {
 public:
  PortClashes(Survey& survey, Scratch& scratch, PodIndex ask);
  ~PortClashes() override;
  PortClashes(const PortClashes&) = delete;
  PortClashes& operator=(const PortClashes&) = delete;

  /// Whether the ask has host ports at all.
  bool any() const { return !ports_.empty(); }
  /// The first of the ask's own ports that is taken, by whichever pod: pods that this world has
  /// placed come in no order that means anything.
  std::optional<StringId> first_taken(NodeIndex node) {
    return any() ? first_taken_of_any(node) : std::nullopt;
  }

  void moved(PodIndex pod, NodeIndex node, int delta) override;

 private:
  struct Port {
    const HostPort* port = nullptr;
    StringId note;
    std::int64_t takers = 0;  ///< Ports of pods on `node_` that clash with it.
  };

  std::optional<StringId> first_taken_of_any(NodeIndex node);
  void count(PodIndex pod, int delta);
  void mark(std::size_t position, bool taken);

  const Cluster& cluster_;
  Scratch& scratch_;
  NodeIndex node_;                    ///< The one that is counted.
  std::vector<Port> ports_;           ///< Sorted by their number.
  std::vector<std::uint64_t> taken_;  ///< A bit for each of `ports_`.
  std::size_t taken_count_ = 0;
  std::size_t first_word_ = 0;  ///< No bit is set in the words before it.
};

/// "8080/TCP", with the address in front when it is not every address.
std::string port_text(const HostPort& port);

class PodFit {
 public:
  PodFit(Survey& survey, Scratch& scratch, PodIndex ask, const Holds& holds);

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
    const bool reported_later = !refused || refused->reason == RefusalReason::claim_node;
    if (pinned_ && node != required_node_ && reported_later) return not_the_required_node_;
    if (refused) return refused;
    return stays_in_regime_ ? survey_.refused_by_regime(regime_, node) : refused;
  }
  /// What node and ask say about each other, other pods apart. Valid until the next question.
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
  /// Whether a nomination to the node blocks the ask.
  bool has_holders(NodeIndex node) const { return reserved(node); }
  RequestRow requests() const { return requests_; }
  bool portless() const { return !ports_.any(); }
  std::int32_t priority() const { return ask_priority_; }

  /// Every nomination holds its room from now on, also those of lower priority; or no longer.
  void respect_every_nomination(bool every) {
    hold_ask_.rank = every ? HoldRank::lowest() : HoldRank{.priority = ask_priority_};
  }
  /// So much of each resource is kept for a unit that is neither there nor nominated, whichever
  /// node is looked at; empty: nothing is.
  void keep_free(std::vector<std::int64_t> amounts) { kept_free_ = std::move(amounts); }
  std::span<const std::int64_t> kept_free() const { return kept_free_; }
  /// The ask is pinned to the node: it takes turns with the reservations of other pinned pods.
  void take_turns_on(NodeIndex node) { hold_ask_.turns_on = node; }
  /// The ask, as holds see it.
  const HoldAsk& hold_ask() const { return hold_ask_; }
  /// Pending pods whose nomination to the node blocks the ask.
  std::vector<PodIndex> holders(NodeIndex node) const;
  /// Another ask takes its turn that is alike in everything but its nomination.
  void ask_for(PodIndex ask) {
    ask_ = hold_ask_.pod = ask;
    hold_ask_.turns_on = survey_.cluster().pods().nominated[ask];
  }

 private:
  std::optional<Refused> check_ports(NodeIndex node);
  bool blocked_by(PodIndex pod) const { return holds_.blocks(pod, hold_ask_, scratch_); }
  bool reserved(NodeIndex node) const {
    const std::vector<PodIndex>& nominated = survey_.cluster().nodes().nominated[node];
    return !nominated.empty() && any_blocks(nominated);
  }
  bool any_blocks(const std::vector<PodIndex>& nominated) const;
  std::int64_t kept_free(const ResourceAmount& item) const {
    return kept_free_.empty() ? 0 : kept_free_[item.resource.value];
  }

  Survey& survey_;
  Scratch& scratch_;
  PodIndex ask_;
  const Holds& holds_;
  std::int32_t ask_priority_ = 0;
  HoldAsk hold_ask_;
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
