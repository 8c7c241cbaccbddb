// NaiveTopology: what other pods mean for one ask: spread, affinity, anti-affinity either way.
//
// Plain counts per constraint and domain, as kube-scheduler's pre-filters keep them, but exact: the
// least crowded domain is looked for among all of them, every time. Code that changes the world
// reports it with `count`.
//
// Rules
//  1. Spread: a node is eligible for a constraint if it has all topology keys of the ask, is of its
//     regime and passes the constraint's inclusion policies. Counted are pods on eligible nodes, of
//     the ask's namespace, not leaving, that match. An empty selector counts only the ask itself.
//     matching + self - least over the eligible domains (0 when they are fewer than domains_min)
//     must not exceed skew_max.
//  2. Affinity: a pod counts when it matches all terms. The node's value of each term's key must
//     hold such a pod; if there is none in any domain, an ask that matches its own terms may be
//     the first.
//  3. Anti-affinity: no pod in the node's domain matches a term of the ask, and the ask matches no
//     term of a pod in that domain.
//  4. A namespace selector sees the labels of the Namespace object; no object, no labels.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "judge/naive_world.hpp"
#include "model/plan.hpp"

namespace makeway {

class NaiveTopology {
 public:
  /// Static tests of a node for the ask: inclusion policies of spread constraints need them.
  struct NodeTests {
    std::function<bool(NodeIndex)> affinity_matches;
    std::function<bool(NodeIndex)> taints_tolerated;
    std::function<bool(NodeIndex)> of_its_regime;  ///< Others take part in no spread.
  };

  NaiveTopology(NaiveWorld& world, PodIndex ask, const NodeTests& tests);

  /// The pod came to the node (1) or left it (-1).
  void count(PodIndex pod, NodeIndex node, std::int64_t change);
  MaybeRefusal refusal(NodeIndex node) const;
  /// The node lacks a topology key that the ask spreads over; no eviction changes that.
  MaybeRefusal missing_label(NodeIndex node) const;

 private:
  /// Answers by interned id, so that equal labels are matched once. -1: not asked yet.
  class Memo {
   public:
    template <class Ask>
    bool get(std::uint32_t id, const Ask& ask) {
      if (id >= answers_.size()) answers_.resize(id + 1, -1);
      if (answers_[id] < 0) answers_[id] = ask() ? 1 : 0;
      return answers_[id] == 1;
    }

   private:
    std::vector<signed char> answers_;
  };

  struct Spread {
    const SpreadConstraint* constraint = nullptr;
    const NodeDomains* domains = nullptr;
    IndexedVector<NodeIndex, bool> eligible;
    std::vector<std::int64_t> eligible_nodes;  ///< By domain.
    std::vector<std::int64_t> matching;        ///< By domain.
    std::int64_t self = 0;
    Memo labels;
    mutable std::optional<std::int64_t> least;  ///< Cleared whenever a count changes.
  };

  struct Term {
    const PodAffinityTerm* term = nullptr;
    const NodeDomains* domains = nullptr;
    std::vector<std::int64_t> matching;  ///< By domain.
    Memo labels;
    Memo namespaces;
  };

  Spread make_spread(const SpreadConstraint& constraint, const std::vector<NodeIndex>& nodes,
                     const NodeTests& tests) const;
  Term make_term(const PodAffinityTerm& term) const;
  bool selects_namespace(const PodAffinityTerm& term, StringId namespace_name) const;
  bool matches_pod(Term& term, PodIndex pod) const;
  bool matches_ask(const PodAffinityTerm& term) const;
  const std::vector<const PodAffinityTerm*>& terms_against_ask(ShapeId shape);
  void count_spread(PodIndex pod, NodeIndex node, std::int64_t change);
  void count_affinity(PodIndex pod, NodeIndex node, std::int64_t change);
  void count_repelling(PodIndex pod, NodeIndex node, std::int64_t change);
  std::int64_t least(const Spread& spread) const;
  MaybeRefusal spread_refusal(NodeIndex node) const;
  MaybeRefusal affinity_refusal(NodeIndex node) const;

  NaiveWorld& world_;
  const Cluster& cluster_;
  PodIndex ask_;
  Labels ask_labels_;
  std::vector<Spread> spreads_;
  std::vector<Term> affinity_;
  std::vector<Term> anti_affinity_;
  bool ask_matches_itself_ = false;    ///< All its own affinity terms.
  std::int64_t affinity_matches_ = 0;  ///< Over all terms and domains.
  std::map<ShapeId, std::vector<const PodAffinityTerm*>> against_ask_;
  /// By topology key and domain: terms of pods there that the ask matches.
  std::map<std::string_view, std::vector<std::int64_t>> repelled_;
};

}  // namespace makeway
