// The judge's own reading of SPEC section 6: the order of turns, which sessions an ask may preempt,
// which of them leave first, and what becomes of a preempted session. Straight from the objects.
// Private to check_plan*.cpp.
//
// KernelRoom: what is free on a session's nodes, and whether its kernels find room there. The
// judge's own arithmetic; private to check_plan*.cpp.
//
// Only resources that the kernels ask for are counted. A KernelRoom is a value: what-if is a copy
// with something added or taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/index.hpp"
#include "judge/naive_fit.hpp"
#include "model/cluster.hpp"
#include "model/plan.hpp"

namespace makeway {

class SessionRules {
 public:
  SessionRules(const Cluster& cluster, const Configuration& configuration, Time now);

  const Session* find(const std::string& namespace_name, const std::string& name) const;
  /// Null: its group is not divided.
  const Partition* partition(const Session& session) const;
  std::int32_t priority(const Session& session) const;
  /// 0: its group is not divided.
  std::int32_t tier(const Session& session) const;
  /// Where its kernels may go, by name: its group's nodes, or its partition's among them.
  const std::vector<NodeIndex>& nodes(const Session& session) const;
  /// Where it may run on once it was suspended there.
  const std::vector<NodeIndex>& group_nodes(const Session& session) const;
  /// Sessions of the group that hold their room and are not leaving.
  const std::vector<const Session*>& running(const std::string& group) const;

  bool waits_for_its_turn(const Session& session) const;
  /// By tier, priority and age. A nomination may put one before its equals, so both ways is
  /// possible.
  bool tried_before(const Session& one, const Session& other) const;

  bool leaving(const Session& session) const {
    return session.status.phase == SessionPhase::running && session.status.ends_at.has_value();
  }
  /// Why the ask may not preempt it; empty: it may.
  std::string protection(const Session& ask, const Session& victim) const;
  /// Sessions that hold their room and that it may preempt; the same for all of its rank.
  const std::vector<const Session*>& may_leave_for(const Session& ask) const;
  PreemptionOrder order(const Session& session) const;
  /// Whether every ordering rule makes one leave before the other. Never both ways; neither way
  /// where no rule applies.
  bool leaves_before(const Session& one, const Session& other) const;

  SessionFate fate(const Session& victim) const;
  Time ends_at(const Session& victim) const;
  /// When it is pending again by itself; nothing: it is not.
  std::optional<Time> resume_after(const Session& victim) const;
  PlanCost cost(const Session& victim) const;

 private:
  using Place = std::pair<std::string, std::string>;  ///< Group and partition.

  const std::vector<NodeIndex>& nodes_of(const std::string& name_of_group,
                                         const Partition* part) const;
  Time since(const Session& session) const;
  std::string protection_by_age(const Session& victim) const;
  ResumeRule resume_rule(const Session& victim) const;
  std::int64_t order_value(const Session& session) const;

  const Cluster& cluster_;
  const Configuration& configuration_;
  const SessionSettings& settings_;
  Time now_;
  std::set<std::string> divided_;
  mutable std::map<Place, std::vector<NodeIndex>> nodes_;
  std::map<std::string, std::vector<const Session*>> running_;
  /// By group, tier and priority of the ask.
  mutable std::map<std::tuple<std::string, std::int32_t, std::int32_t>, std::vector<const Session*>>
      may_leave_;
};

/// "Session default/train"
std::string session_text(const Session& session);

/// What one kernel takes, in the order of the resources of its KernelRoom.
using KernelNeed = std::vector<std::int64_t>;

enum class Finding : std::uint8_t { no, yes, unknown };  ///< Unknown: that was too much work.

/// Nodes that take kernels at all, as far as that is known: cordons and taints are the same for
/// every kernel.
enum class Openness : std::uint8_t { unknown, open, closed };
using OpenNodes = IndexedVector<NodeIndex, Openness>;

/// Nodes where kernels may go, and what is free there. Many sessions ask about the same nodes while
/// none comes or leaves, so what was read last is kept.
class KernelNodes {
 public:
  explicit KernelNodes(std::vector<NodeIndex> nodes);

  std::span<const NodeIndex> nodes() const { return nodes_; }  ///< Sorted.
  /// Node by node, in the order of the resources.
  const std::vector<std::int64_t>& free(const NaiveWorld& world,
                                        const std::vector<ResourceIndex>& resources);

 private:
  struct Known {
    std::uint64_t changes = 0;
    std::vector<ResourceIndex> resources;
    std::vector<std::int64_t> free;
  };

  std::vector<NodeIndex> nodes_;
  std::map<const NaiveWorld*, Known> known_;
};

class KernelRoom {
 public:
  /// `nodes` must outlive it and its copies. `rows`: of each kernel the rows that want room.
  /// `open`: what is known, and what is found; null: they are there already, and nothing but room
  /// matters.
  KernelRoom(NaiveWorld& world, KernelNodes& nodes, const std::vector<std::vector<PodIndex>>& rows,
             OpenNodes* open);

  /// Nothing on other nodes.
  void add(PodIndex row, NodeIndex node) { change(row, node, 1); }
  void take(PodIndex row, NodeIndex node) { change(row, node, -1); }
  /// Never more than the other has.
  void limit(const KernelRoom& other);

  /// Whether each kernel fits on its node beside the others.
  bool fits(std::span<const NodeIndex> places) const;
  /// Whether there are such nodes.
  Finding find() const;

 private:
  class Search;

  void read_needs(const Cluster& cluster, const std::vector<std::vector<PodIndex>>& rows);
  void change(PodIndex row, NodeIndex node, std::int64_t sign);
  std::size_t find_node(NodeIndex node) const;  ///< As many as there are nodes: none of them.
  std::span<const std::int64_t> free(std::size_t node) const {
    return std::span(free_).subspan(node * resources_.size(), resources_.size());
  }
  bool holds(std::size_t node, const KernelNeed& need) const;
  void move(std::size_t node, const KernelNeed& need, std::int64_t sign);
  std::int64_t how_many(std::size_t node, const KernelNeed& need, std::int64_t most) const;

  const Cluster* cluster_;
  std::vector<ResourceIndex> resources_;
  std::vector<KernelNeed> needs_;
  std::span<const NodeIndex> nodes_;  ///< Sorted.
  std::vector<std::uint8_t> open_;
  std::vector<std::int64_t> free_;  ///< Node by node.
};

}  // namespace makeway
