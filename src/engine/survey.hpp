// Survey: what decisions look up again and again about one cluster, computed once and kept.
//
// Lives for one cycle, over a cluster that does not change meanwhile. Everything in it follows from
// the cluster and from which policy schedules a node; caches only save time. Not thread-safe.
//
//   topology   the domain of every node under a topology key
//   placing    what node and pod shape say about each other, other pods apart: cordon, taints,
//              node selector, node affinity, claims. Once per shape and node class (DESIGN: ask
//              classes).
//   claims     what the claims of a shape mean (shape_claims.hpp), and how many volumes nodes take
//   losses     which pods stop together (loss_units.hpp)
//   texts      details of refusals as small numbers, so that nodes can be grouped by reason
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/intern.hpp"
#include "base/sparse_column.hpp"
#include "engine/amounts.hpp"
#include "engine/loss_units.hpp"
#include "engine/shape_claims.hpp"
#include "model/cluster.hpp"
#include "model/plan.hpp"
#include "model/regime.hpp"

namespace makeway {

/// The nodes of one topology key by their value of it.
struct Topology {
  static constexpr std::uint32_t no_domain = 0xFFFFFFFFU;

  std::string_view key;
  IndexedVector<NodeIndex, std::uint32_t> domain;  ///< `no_domain`: the node lacks the label.
  std::uint32_t domains = 0;
};

/// Why something cannot be placed, in numbers. See PlanRefusal for the meaning of the parts.
struct Refused {
  RefusalReason reason = RefusalReason::resource;
  StringId detail{0};  ///< In Survey::text.
  std::int64_t amount = 0;
  bool resolvable = false;  ///< A pod that leaves could change it.

  friend bool operator==(const Refused&, const Refused&) = default;
};

/// What does not depend on other pods.
struct StaticVerdict {
  bool known = false;
  bool affinity_matches = true;  ///< Node selector and required node affinity.
  bool taints_tolerated = true;  ///< NoSchedule and NoExecute.
  std::int32_t avoided = 0;      ///< Taints PreferNoSchedule that it does not tolerate.
  std::int32_t preferred = 0;    ///< The weights of preferred node affinity that the node has.
  std::optional<Refused> refused;
};

/// What one shape of pods and the nodes say about each other, as far as it was asked.
struct ShapeVerdicts {
  const PodShape* shape = nullptr;
  const ShapeClaims* claims = nullptr;
  bool by_node = false;  ///< It names single nodes, so classes do not say enough.
  /// With `by_node`: the first node that was asked about stands apart. A pinned pod's shape is
  /// asked about that one only, and there may be one such shape for every node. Once there are
  /// very many verdicts, it is the last node that was asked about.
  std::size_t first_slot = 0;
  StaticVerdict first;
  std::vector<StaticVerdict> verdicts;
};

class Survey {
 public:
  Survey(const Cluster& cluster, const Configuration& configuration);

  const Cluster& cluster() const { return cluster_; }
  const Regimes& regimes() const { return regimes_; }
  const LossUnits& loss_units() const {
    if (!loss_units_) loss_units_.emplace(cluster_);
    return *loss_units_;
  }
  const Topology& topology(std::string_view key);
  /// Dense: one amount for each resource column.
  std::span<const std::int64_t> allocatable(NodeIndex node) {
    const RequestId id = cluster_.nodes().allocatable[node];
    const std::int64_t* const row = allocatable_[id];
    return {row == nullptr ? fill_allocatable(id) : row, cluster_.order().columns()};
  }
  /// For many nodes: the reference stays valid, and spares the search for the shape.
  ShapeVerdicts& verdicts_of(PodIndex pod);
  /// Valid until the next question.
  const StaticVerdict& placing(ShapeVerdicts& known, NodeIndex node) {
    const std::size_t slot = known.by_node ? node.value : cluster_.nodes().node_class[node].value;
    if (known.by_node && known.first.known && known.first_slot == slot) return known.first;
    if (slot < known.verdicts.size() && known.verdicts[slot].known) return known.verdicts[slot];
    return judge_new(known, slot, node);
  }
  const StaticVerdict& placing(PodIndex pod, NodeIndex node) {
    return placing(verdicts_of(pod), node);
  }
  /// Whether the node would take the pod, were it empty, its regime apart.
  bool could_take(PodIndex pod, NodeIndex node);
  const ShapeClaims& claims_of(ShapeId shape);
  /// Whether the pod needs something that is not checked, so that nothing is proven about it.
  bool unsupported(PodIndex pod);
  /// How many volumes of the driver the node takes; none: as many as there are.
  std::optional<std::int32_t> volume_limit(StringId driver, NodeIndex node);
  /// Whether some node takes only so many.
  bool is_limited(StringId driver);
  /// The labels of the set as values; cached.
  const Labels& labels(LabelSetId id);
  /// Whether the term looks at pods of this namespace.
  bool covers(const PodAffinityTerm& term, std::string_view namespace_name) const;
  /// Existing nodes of home and of regime `pods` by name: where pods and groups are placed.
  std::span<const NodeIndex> nodes() const {
    return regimes_.mixed() ? std::span(own_nodes_) : cluster_.home_nodes();
  }
  /// Of another regime than that; none: it is of that one.
  const std::optional<Refused>& refused_by_regime(Regime regime, NodeIndex node) const {
    const Regime other = regimes_.of(node);
    return other == regime ? no_refusal_ : by_regime_[static_cast<std::size_t>(other)];
  }
  /// The others.
  std::span<const NodeIndex> nodes_of_others() const { return others_nodes_; }
  /// Where the node stands in `nodes`; `no_position`: it is not there.
  static constexpr std::uint32_t no_position = 0xFFFFFFFFU;
  std::uint32_t position_of(NodeIndex node);

  StringId note(std::string_view text) { return texts_.intern(text); }
  std::string_view text(StringId id) const { return texts_.text(id); }
  StringId resource_note(ResourceIndex resource) const { return resource_notes_[resource]; }

 private:
  const std::int64_t* fill_allocatable(RequestId id);
  const StaticVerdict& judge_new(ShapeVerdicts& known, std::size_t slot, NodeIndex node);
  StaticVerdict judge(const ShapeVerdicts& known, const Labels& labels, std::string_view node_name,
                      TaintSetId taints, bool unschedulable);
  void read_volume_limits();

  const Cluster& cluster_;
  Regimes regimes_;
  std::vector<NodeIndex> own_nodes_;  ///< Where they are not simply all.
  std::vector<NodeIndex> others_nodes_;
  std::optional<Refused> no_refusal_;
  std::array<std::optional<Refused>, choice_names<Regime>.size()> by_regime_;
  std::map<std::string, Topology, std::less<>> topologies_;
  SparseColumn<RequestId, const std::int64_t*> allocatable_;  ///< Made on demand.
  std::deque<std::vector<std::int64_t>> allocatable_rows_;
  IndexedVector<NodeIndex, std::uint32_t> positions_;  ///< Made on demand.
  std::map<std::uint32_t, ShapeVerdicts> placing_;
  /// Of shapes with a verdict for every node: about 80 MB. Every pod of a StatefulSet is one.
  static constexpr std::size_t verdict_rows_max = 2'000'000;
  std::size_t verdict_rows_ = 0;
  std::map<ShapeId, ShapeClaims> claims_;
  mutable std::optional<LossUnits> loss_units_;  ///< Made on demand.
  /// By driver, then by node; made on demand.
  std::optional<std::map<StringId, std::map<NodeIndex, std::int32_t>>> volume_limits_;
  std::vector<std::unique_ptr<Labels>> labels_;
  std::map<std::string_view, const Namespace*> namespaces_;
  StringPool texts_;
  IndexedVector<ResourceIndex, StringId> resource_notes_;
};

/// "key=value:NoSchedule", as kubectl writes taints.
std::string taint_text(const Taint& taint);

}  // namespace makeway
