// NodeRanking: the best nodes for asks of one class, with as little looking as possible.
//
// Best-first search. Every node carries the least that its score can be: first what the running
// sums say (NodeScan), then what its pods say (NodeFloor), once it was searched the score itself.
// The node that may be best is looked at first; when its score is known, no other can beat it.
// Scores that follow from the node alone stay for the next ask of the class, and equal nodes share
// theirs; `changed` forgets what was known about a node. So the first ask costs one look at the
// sums of each node and a few searches, and each further one a few searches.
//
// For a single ask, a few nodes are searched before all others are looked at: one that is worse by
// the sums alone stays out from the start.
//
// EqualNodes: recognises nodes on which a search would find the same score.
//
// Two nodes are equal for asks of one class when they have the same room beside pods that stay, and
// below the ask's priority pods that are alike in everything that victims are chosen and scored by.
// Only nodes that nothing has touched and on which nothing but resources counts are compared;
// guarded pods, budgets, controllers and loss units tie a pod to others elsewhere, so a node with
// such a pod is equal to none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/winner_tree.hpp"
#include "engine/fit.hpp"
#include "engine/node_scan.hpp"
#include "engine/refusals.hpp"
#include "engine/score.hpp"
#include "engine/world.hpp"
#include "policies/workload/pod/node_floor.hpp"
#include "policies/workload/victim_search.hpp"

namespace makeway {

class EqualNodes {
 public:
  EqualNodes(World& world, std::int32_t ask_priority);

  /// Whether the best victims on the node and their score follow from the node alone.
  bool local(const PodFit& fit, NodeIndex node);
  /// The same number for equal nodes, from 0 on. None: it is compared with no other.
  std::optional<std::size_t> kind_of(const PodFit& fit, NodeIndex node);

 private:
  struct Known {
    NodeIndex node;  ///< The first of its kind.
    std::size_t kind = 0;
  };

  std::size_t staying(NodeIndex node) const {
    return world_.cluster().order().count_at_least(node, ask_priority_);
  }
  bool lone(NodeIndex node, std::span<const PodIndex> pods);
  std::uint64_t hash(NodeIndex node, std::span<const PodIndex> leaving) const;
  bool equal(NodeIndex a, NodeIndex b) const;

  World& world_;
  std::int32_t ask_priority_;
  bool cascades_count_;
  std::size_t kinds_ = 0;
  std::map<std::uint64_t, std::vector<Known>> known_;  ///< By hash.
};

class NodeRanking {
 public:
  /// `fit` is over the world `after`. `many`: more asks of the class will come.
  NodeRanking(World& world, PodFit& fit, bool many);
  NodeRanking(const NodeRanking&) = delete;
  NodeRanking& operator=(const NodeRanking&) = delete;

  /// The `count` best candidates, best first. Ends early when the search is out of steps.
  std::vector<Candidate> best(VictimSearch& search, std::size_t count);
  /// After `best` found nothing: why, for each node.
  RefusalTally refusals(VictimSearch& search);
  /// Something came to the node or left it.
  void changed(NodeIndex node);

 private:
  enum class State : std::uint8_t {
    out,      ///< No answer there, or not any more in this ask.
    bounded,  ///< The highest victim priority is at least `bound`.
    floored,  ///< Its score is at least `row`.
    scored,   ///< `row` is its score.
  };
  /// A node that may be an answer. With many asks all nodes are here, by position.
  struct Runner {
    std::uint32_t position = 0;  ///< In `nodes_`, which is by name.
    State state = State::out;
    std::uint32_t row = 0;
    std::int64_t bound = 0;
  };
  struct Before {
    const NodeRanking* ranking;
    bool operator()(std::uint32_t a, std::uint32_t b) const {
      return ranking->before(ranking->runners_[a], ranking->runners_[b]);
    }
  };
  /// Of the best so far; without a candidate when an equal node was searched in its place.
  struct Kept {
    std::uint32_t position = 0;
    std::uint32_t row = 0;
    std::optional<Candidate> candidate;
  };
  struct Aside {
    std::uint32_t at = 0;  ///< In `runners_`.
    Runner runner;
  };

  bool before(const Runner& a, const Runner& b) const;
  std::int64_t value(const Runner& runner, std::size_t key) const {
    return runner.state == State::bounded ? floor_.value(key, runner.bound)
                                          : rows_[runner.row * keys_ + key];
  }
  Runner bounded(std::uint32_t position, std::int64_t limit);
  void line_up(VictimSearch& search);
  std::uint32_t line_up_first_few(VictimSearch& search);
  void run_once(VictimSearch& search);
  void run_again(VictimSearch& search);
  std::vector<Candidate> winners(VictimSearch& search);
  void look_closer(Runner& runner, VictimSearch& search);
  bool known_from_equal(Runner& runner);
  bool pods_rule_out(const Runner& runner);
  void evaluate(Runner& runner, VictimSearch& search);
  void keep(const Runner& runner, std::optional<Candidate> candidate);
  std::int64_t highest_allowed() const {
    return kept_.size() < count_ ? ScoreFloor::no_limit : floor_.highest_allowed(limit_);
  }
  bool tally_if_ruled_out(std::uint32_t position);
  void put_aside(std::uint32_t at);
  void restore();
  std::uint32_t add_row(const ScoreTerms& score);

  World& world_;
  PodFit& fit_;
  bool many_;
  std::span<const NodeIndex> nodes_;
  ScoreFloor floor_;
  NodeScan scan_;
  NodeFloor pods_floor_;
  EqualNodes equal_;
  std::size_t keys_;
  std::vector<Runner> runners_;
  std::vector<std::int64_t> rows_;  ///< Scores, `keys_` numbers each; the first is no node's.
  std::vector<std::uint32_t> row_of_kind_;  ///< By kind of equal nodes; 0: not yet searched.
  bool lined_up_ = false;
  std::optional<WinnerTree<Before>> tree_;  ///< Over `runners_`, with many asks.

  // Of the ask at hand.
  std::optional<std::size_t> kind_;  ///< Of the runner at hand, when nodes may equal it.
  std::size_t count_ = 0;
  std::vector<Kept> kept_;               ///< The best so far, best first.
  ScoreTerms limit_;                     ///< The score of the last one in `kept_`, once it is full.
  std::vector<Aside> aside_;             ///< Out for this ask only.
  std::vector<std::uint32_t> fleeting_;  ///< Runners whose score holds for this ask only.
  std::vector<std::uint32_t> tallied_;   ///< Positions whose refusal is in the tally.
  RefusalTally refusals_;
};

}  // namespace makeway
