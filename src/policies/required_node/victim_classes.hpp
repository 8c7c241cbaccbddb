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
#include <string>
#include <string_view>
#include <vector>

#include "base/sparse_column.hpp"
#include "engine/victims.hpp"

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

}  // namespace makeway
