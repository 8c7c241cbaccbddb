// Candidates: which pods may be evicted from a node for a pod that is pinned to it.
//
// Units with a pod there: a pod, or a whole group whose disruption mode is `all`. Left out are:
//  1. pods of higher priority; of equal priority too, unless `allowEqualPriority`;
//  2. pods that are leaving;
//  3. pods that are pinned themselves, to whatever node and whatever their priority;
//  4. protected pods (SPEC section 1) and pods without a class (VictimClasses);
//  5. whatever holds nothing that helps (`candidatesHold`), unless it stands in the way by
//     something else than room;
//  6. groups of which one pod is left out by rules 1 to 4, or that have more than `maxVictims`
//  pods.
//
// Several thousand pods may run on one node, so most of them cost a few loads and no memory is
// asked for in between.
//
// VictimClasses: which class of victims a pod belongs to (`required_node.victimClasses`).
//
// A pod belongs to the last listed class that matches it: regular matches every pod; owner those
// that another pod names in its owner references, or that say so; opted-out those that ask not to
// be preempted, or whose group does; label:KEY=VALUE and annotation:KEY=VALUE what they say. Where
// opted-out is not listed and opting out protects, such pods have no class: no ask makes them
// leave.
//
// Made in O(pods) when owners are a class; an answer costs O(lines).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sparse_column.hpp"
#include "engine/victims.hpp"
#include "engine/world.hpp"

namespace makeway {

class VictimClasses {
 public:
  static constexpr std::uint8_t none = 0xFF;

  VictimClasses(const Cluster& cluster, const Configuration& configuration,
                const VictimRules& rules);

  /// A position in `required_node.victimClasses`, or none.
  std::uint8_t of(PodIndex pod) const;
  /// The same for a pod that is known not to have opted out, nor its group.
  std::uint8_t of_opted_in(PodIndex pod) const {
    return pairs_listed_ ? find(pod, false) : (is_owner(pod) ? owner_class_ : regular_class_);
  }
  std::size_t count() const { return lines_.size(); }
  bool is_owner(PodIndex pod) const {
    return cluster_.pods().flags[pod].is_owner || (owners_named_ && named_owners_[pod] != 0);
  }

 private:
  enum class Kind : std::uint8_t { regular, owner, opted_out, label, annotation };
  struct Line {
    Kind kind = Kind::regular;
    std::string key;
    std::string value;
    StringId key_id{0};  ///< Of a label.
    StringId value_id{0};
    bool known = true;  ///< False: no pod can have that label.
  };

  Line read(std::string_view text) const;
  void find_owners();
  bool matches(const Line& line, PodIndex pod, bool opted_out) const;
  std::uint8_t find(PodIndex pod, bool opted_out) const;

  const Cluster& cluster_;
  const VictimRules& rules_;
  std::vector<Line> lines_;
  bool opted_out_protected_ = false;
  // Of pods that have not opted out, where no line looks at labels or annotations.
  bool pairs_listed_ = false;
  std::uint8_t owner_class_ = none;
  std::uint8_t regular_class_ = none;
  SparseColumn<PodIndex, std::uint8_t> named_owners_;
  bool owners_named_ = false;
};

/// What the pinned pod asks for, and what the node lacks of it.
struct Shortfall {
  std::vector<ResourceIndex> resources;
  std::vector<std::int64_t> asked;
  /// Room less what is asked: negative is what is missing.
  std::vector<std::int64_t> spare;
  /// By resource column: its entry in the lists above, or -1.
  std::vector<std::int32_t> entry_of;

  bool any() const;
  std::int64_t missing(std::size_t at) const { return spare[at] < 0 ? -spare[at] : 0; }
};

/// `free` is the room of the node, by resource column.
Shortfall shortfall_of(RequestRow requests, std::span<const std::int64_t> free);

struct PinnedCandidate {
  PodIndex first;  ///< Its only pod, or the first by name.
  std::int32_t priority = 0;
  Time started;  ///< Of a whole group: the earliest start of its pods. Others: see the columns.
  std::uint32_t begin = 0;  ///< Its pods in the list's `pods`.
  std::uint32_t size = 0;
  std::uint8_t victim_class = 0;
  bool whole = false;  ///< A group that leaves whole.
  bool holds = true;   ///< Rule 5.
};

class CandidateList {
 public:
  std::vector<PinnedCandidate> units;
  std::vector<PodIndex> pods;

  std::span<const PodIndex> pods_of(const PinnedCandidate& unit) const {
    return std::span(pods).subspan(unit.begin, unit.size);
  }
  /// What the unit frees on the node, by entry of the shortfall's lists.
  std::span<const std::int64_t> frees(std::size_t unit) const {
    return std::span(frees_).subspan(unit * width_, width_);
  }

  /// Adds what the unit frees to a sum.
  void add_frees(std::size_t unit, std::vector<std::int64_t>& sum) const;

  void start(std::size_t width, std::size_t units_max) {
    units.clear();
    pods.clear();
    frees_.clear();
    width_ = width;
    units.reserve(units_max);
    pods.reserve(units_max);
    frees_.reserve(units_max * width);
  }
  /// A row of zeros for the unit that comes next.
  std::span<std::int64_t> add_row() {
    frees_.resize(frees_.size() + width_);
    return std::span(frees_).last(width_);
  }
  void drop_row() { frees_.resize(frees_.size() - width_); }
  void erase_useless();

 private:
  std::vector<std::int64_t> frees_;
  std::size_t width_ = 0;
};

class CandidateSearch {
 public:
  CandidateSearch(World& world, const VictimClasses& classes);

  /// In the world `world.after()`. `all`: also those that hold nothing that helps (rule 5).
  void collect(NodeIndex node, std::int32_t ask_priority, const Shortfall& shortfall, bool all,
               CandidateList& list);

 private:
  bool low_enough(std::int32_t priority) const;
  bool may_leave(PodIndex pod) const;
  void add_guarded(PodIndex pod);
  void add_group(UnitIndex index);
  /// Two neighbours among the running sums of its node.
  struct SumRows {
    const std::int64_t* before = nullptr;
    const std::int64_t* with = nullptr;  ///< Null: they are not at hand.
  };
  void add(PodIndex pod, std::int32_t priority, std::uint8_t victim_class, SumRows sums);
  void add_frees(PodIndex pod, std::span<std::int64_t> row) const;
  bool helps(std::span<const std::int64_t> row) const;

  World& world_;
  const Cluster& cluster_;
  const RequiredNodeSettings& settings_;
  const VictimClasses& classes_;
  NodeIndex node_;
  std::int32_t ask_priority_ = 0;
  const Shortfall* shortfall_ = nullptr;
  bool all_ = false;
  CandidateList* list_ = nullptr;
  std::vector<UnitIndex> seen_groups_;  ///< Sorted.
};

}  // namespace makeway
