// PodConstraints: what other pods mean for one ask, as counts by topology domain.
//
// Six rules, as kube-scheduler has them:
//  in use         a claim of a volume that one pod at a time may use; no pod has it, on any node
//  volume limit   volumes of the ask that are not on the node yet, of a driver that the node takes
//                 only so many of
//  spread         for each constraint, pods that its selector matches, by domain, on nodes that
//                 take part; the ask fits where count + itself - minimum <= skew_max
//  affinity       pods that match all of the ask's terms; each term's domain must hold one, or none
//                 exist anywhere and the ask matches its own terms
//  anti-affinity  pods that match one of the ask's terms; none in the term's domain
//  repelled       pods whose own anti-affinity matches the ask; none in that term's domain
//
// Preferences (preferred terms, ScheduleAnyway) are counted alike and refuse nothing.
//
// Built once from a Scratch and attached to it, so that counts stay right through every removal,
// put-back and rollback. Building costs O(pods) when the ask has terms of its own, O(repelling
// pods) otherwise; a move costs O(terms), a check O(terms + log domains).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/scratch.hpp"
#include "engine/survey.hpp"

namespace makeway {

/// Whether other pods mean anything to it but room: affinity, spread, claims for volumes.
bool looks_at_others(const PodShape& shape);

class PodConstraints final : public ScratchWatcher {
 public:
  PodConstraints(Survey& survey, Scratch& scratch, PodIndex ask);
  ~PodConstraints() override;
  PodConstraints(const PodConstraints&) = delete;
  PodConstraints& operator=(const PodConstraints&) = delete;

  std::optional<Refused> check(NodeIndex node) const;

  /// Whether pods that this world has placed on the node keep the ask off it by spread or by its
  /// anti-affinity, whichever pods leave the world: they are never victims.
  bool closed_by_placed(NodeIndex node);

  /// False: other pods mean nothing but the room they take.
  bool any() const {
    return !(affinity_.empty() && anti_affinity_.empty() && spread_.empty() && repelling_.empty() &&
             one_pod_.empty() && volumes_.empty());
  }
  /// Whether spread is all that others mean to it, besides the room they take.
  bool only_spread() const {
    return affinity_.empty() && anti_affinity_.empty() && repelling_.empty() && one_pod_.empty() &&
           volumes_.empty();
  }
  /// The least count of any domain, by spread constraint.
  std::vector<std::int32_t> least_counts() const;
  std::vector<const Topology*> spread_topologies() const;
  /// Whether the presence of the pod can be what the ask needs: by affinity, or because a volume
  /// that both use is not attached once more.
  bool wanted(PodIndex pod);
  /// Whether it matters to the ask, besides the room it takes, that the pod is there or is not:
  /// that the two repel each other left aside.
  bool heeds(PodIndex pod);
  /// Whether the ask may be the first of a series that wants to be together.
  bool matches_itself() const { return ask_matches_itself_; }

  /// Topologies in whose domains others keep the ask away by anti-affinity, theirs or its own, and
  /// whose domains have several nodes: the pod in the way may be elsewhere. By key.
  std::vector<const Topology*> closed_topologies() const;
  /// Whether a pod has a claim of the ask that one pod at a time may use.
  bool claim_in_use() const;
  /// Whether the pod on `there` keeps the ask off the node in one of those, or by such a claim.
  bool keeps_away(PodIndex pod, NodeIndex there, NodeIndex node);

  /// What other pods mean to the ask's preferences on a node.
  struct PreferenceCount {
    std::int64_t points = 0;   ///< The weight of each pod in each term's domain.
    std::int64_t crowded = 0;  ///< Pods in the domains over which it would spread.
  };
  bool has_preferences() const { return !(preferences_.empty() && preferred_spread_.empty()); }
  PreferenceCount preferences_on(NodeIndex node) const;

  void moved(PodIndex pod, NodeIndex node, int delta) override;

 private:
  /// A selector with its answers by label set.
  class Matcher {
   public:
    explicit Matcher(const std::optional<LabelSelector>& selector) : selector_(&selector) {}
    bool matches(Survey& survey, LabelSetId labels);

   private:
    const std::optional<LabelSelector>* selector_;
    std::vector<std::uint8_t> answers_;  ///< 0 unknown, 1 no, 2 yes.
  };

  struct Term {
    const PodAffinityTerm* term;
    const Topology* topology;
    Matcher matcher;
    std::vector<std::int32_t> counts;           ///< By domain.
    std::map<StringId, bool> covers_namespace;  ///< Few namespaces, asked for every pod.
  };

  struct Spread {
    const SpreadConstraint* constraint;
    const Topology* topology;
    Matcher matcher;
    bool counts_pods = true;  ///< An empty selector counts none (as kube-scheduler).
    std::int32_t self = 0;
    IndexedVector<NodeIndex, std::uint8_t> takes_part;
    std::vector<std::int32_t> counts;
    std::vector<std::uint8_t> domain_takes_part;
    std::int32_t domains = 0;
    std::map<std::int32_t, std::int32_t> domains_by_count;

    std::int32_t least_count() const {
      return domains_by_count.empty() ? 0 : domains_by_count.begin()->first;
    }
  };

  struct Preference {
    std::int32_t weight = 0;
    Term term;
  };

  struct OnePodClaim {
    StringId claim;
    std::int32_t users = 0;
  };

  struct Repelling {
    const Topology* topology;
    std::vector<std::int32_t> counts;
  };

  bool is_wide(const Topology& topology) const;
  bool matches(Term& term, PodIndex pod);
  bool matches_all_affinity(PodIndex pod);
  const std::vector<std::size_t>& repelling_of(ShapeId shape);
  Term term_of(const PodAffinityTerm& term);
  void add_spread(const std::vector<SpreadConstraint>& constraints, std::vector<Spread>& to);
  void add_claims();
  void count_claims(ShapeId shape, int delta);
  bool uses_one_pod_claim(ShapeId shape);
  bool shares_volume(PodIndex pod);
  std::optional<Refused> check_claims(NodeIndex node) const;
  std::optional<Refused> check_volume_limits(NodeIndex node) const;
  void count_everything();
  void count(PodIndex pod, NodeIndex node, int delta);
  void count_spread(Spread& spread, PodIndex pod, NodeIndex node, int delta);
  bool counts(Spread& spread, PodIndex pod, NodeIndex node);
  static std::int64_t base_count(const Spread& spread);
  std::optional<Refused> check_spread(const Spread& spread, NodeIndex node) const;
  std::optional<Refused> check_affinity(NodeIndex node) const;

  Survey& survey_;
  Scratch& scratch_;
  PodIndex ask_;
  bool ask_matches_itself_ = false;
  bool has_terms_ = false;  ///< Of its own: every pod may count.
  std::vector<Term> affinity_;
  std::int64_t affinity_total_ = 0;
  std::vector<Term> anti_affinity_;
  std::vector<Spread> spread_;
  std::vector<Preference> preferences_;
  std::vector<Spread> preferred_spread_;
  std::vector<OnePodClaim> one_pod_;
  std::vector<AttachedVolume> volumes_;  ///< Of drivers that some node limits; by driver.
  std::vector<Repelling> repelling_;
  std::map<ShapeId, std::vector<std::size_t>> repelling_by_shape_;  ///< Positions in `repelling_`.
};

}  // namespace makeway
