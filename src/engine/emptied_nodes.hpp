// EmptiedNodes: what nodes hold once all pods are gone that may be evicted for an ask, without
// moving all of them.
//
// For most nodes the running sums of the cluster say it (model/node_order.hpp). Where a pod is
// guarded, under a budget that matters, or was moved in this world, the node gets sums of its own.
// Only nodes on which something is to be placed are emptied in the what-if world (`empty`); their
// potential victims are listed then.
//
// What leaves: units of lower priority than the ask that are not protected (VictimRules), up to a
// highest priority, less those that are kept (`keep`). A group that leaves whole takes its pods on
// other nodes along.
//
//   EmptiedNodes emptied(survey, world, rules, budgets, {.nodes = nodes, .ask_priority = 10});
//   emptied.start(9);
//   if (fits(emptied.used(node))) emptied.empty(node);
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/sparse_column.hpp"
#include "engine/budgets.hpp"
#include "engine/fit.hpp"
#include "engine/scratch.hpp"
#include "engine/survey.hpp"
#include "engine/victim_lists.hpp"
#include "engine/victims.hpp"

namespace makeway {

class EmptiedNodes {
 public:
  struct Scope {
    std::span<const NodeIndex> nodes;
    std::int32_t ask_priority = 0;
    ChargeOrder charge_order = ChargeOrder::most_important_first;
  };
  /// The world must be as it is now at every `start`.
  EmptiedNodes(Survey& survey, Scratch& world, VictimRules& rules, Budgets& budgets,
               const Scope& scope);

  // ---- Leaving ----

  /// Violations of the units that violate a budget, if all leave in the order of charges.
  bool any_violates() const { return !violating_.units.empty(); }
  const VictimList& violating() const { return violating_; }
  /// Strict budgets keep a unit.
  bool budgets_kept_some() const { return !kept_by_budgets_.empty(); }
  /// These pods' units stay, and those that strict budgets keep; no other does.
  void keep(std::span<const PodIndex> pods);
  /// Not even those that strict budgets keep: the caller judges the victims.
  void keep_none();
  bool leaves(PodIndex pod) const;
  const VictimRules& rules() const { return rules_; }
  /// Adds the units with a pod on the node that may leave.
  void list_units(NodeIndex node, VictimList& list);
  /// Whether every pod of lower priority may leave, so that none is protected or kept.
  bool all_leave() const { return all_leave_; }
  /// How many pods may leave.
  std::int64_t potential_victims() const;

  // ---- What is left ----

  /// No pod is gone. Pods of a higher priority than this stay.
  void start(std::int32_t highest);
  std::int32_t highest() const { return highest_; }
  /// What the node will hold, per resource column, with the pods that are expected there.
  std::span<const std::int64_t> used(NodeIndex node) const {
    const std::uint32_t at = expected_at_[node];
    return at == 0 ? used(node, highest_) : std::span(expected_).subspan(at - 1, columns_);
  }
  /// Without expected pods, were this the highest priority.
  std::span<const std::int64_t> used(NodeIndex node, std::int32_t highest) const;
  /// How many pods like the ask of `fit` find room on the nodes, as far as resources go; stops
  /// counting at `enough`.
  std::size_t count_room(PodFit& fit, std::int32_t highest, std::size_t enough) const;
  /// The lowest priority such that this many find room once all pods up to it are gone; the highest
  /// of a pod that may leave when there is none.
  std::int32_t lowest_with_room(PodFit& fit, std::size_t wanted) const;
  /// Of all pods that may leave, ascending.
  std::vector<std::int32_t> distinct_priorities() const;

  // ---- The world ----

  bool is_empty(NodeIndex node) const { return emptied_[node] != 0; }
  /// The pod is to come to a node that is not emptied yet.
  void expect(PodIndex pod, NodeIndex node);
  /// The pods that are expected there come.
  void empty(NodeIndex node);
  void empty_all();
  /// Only the unit of this pod leaves, which is in the world.
  void remove_unit_of(PodIndex pod);
  /// The pods that left, in no order.
  const VictimList& gone() const { return gone_; }

 private:
  /// Sums of a node where the cluster's do not say what stays.
  struct Own {
    std::uint32_t begin = 0;  ///< Of pods that may leave, most important first.
    std::uint32_t end = 0;
  };
  static constexpr std::uint32_t plain = 0;

  template <class Wanted>
  void list_units(NodeIndex node, const Wanted& wanted, VictimList& list);
  template <class Wanted>
  void remove_units(NodeIndex node, const Wanted& wanted);
  void mark_budgets(const Scope& scope);
  void keep_only(std::vector<PodIndex> pods);
  void make_own_sums();
  void make_own_sums(NodeIndex node);
  bool is_plain(NodeIndex node) const;
  bool whole_group_leaves(UnitIndex unit) const;
  std::int32_t limit_below(std::int32_t highest) const;
  std::pair<std::int32_t, std::int32_t> priorities() const;

  const Cluster& cluster_;
  Scratch& world_;
  VictimRules& rules_;
  Budgets& budgets_;
  std::span<const NodeIndex> nodes_;
  std::int32_t ask_priority_;
  std::int32_t highest_;
  std::size_t columns_;
  bool all_leave_ = true;
  bool by_order_ = false;  ///< The order of pods on nodes is by the priority that protects them.
  VictimList violating_;
  SparseColumn<PodIndex, std::int32_t> violations_;  ///< By the unit's first pod.
  std::vector<PodIndex> kept_by_budgets_;
  SparseColumn<PodIndex, std::uint8_t> kept_;
  std::vector<PodIndex> kept_pods_;
  mutable SparseColumn<UnitIndex, std::uint8_t> whole_leaves_;  ///< 0 unknown, 1 no, 2 yes.
  SparseColumn<NodeIndex, std::uint32_t> own_of_;               ///< 0: the cluster's sums do.
  std::vector<Own> own_;
  std::vector<std::int32_t> priorities_;  ///< Of pods that may leave, node by node.
  std::vector<std::int64_t> rows_;        ///< One more than pods that may leave, for each node.
  SparseColumn<NodeIndex, std::uint8_t> emptied_;
  std::vector<NodeIndex> emptied_nodes_;
  SparseColumn<NodeIndex, std::uint32_t> expected_at_;  ///< 0: no pod is; else one behind its row.
  std::vector<std::pair<PodIndex, NodeIndex>> expected_pods_;
  std::vector<std::int64_t> expected_;
  VictimList gone_;
};

}  // namespace makeway
