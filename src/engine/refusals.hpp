// RefusalTally: nodes that refuse an ask, grouped by reason.
#pragma once

#include <vector>

#include "engine/fit.hpp"
#include "engine/survey.hpp"
#include "model/plan.hpp"

namespace makeway {

class RefusalTally {
 public:
  /// In any order: of the nodes that come closest, the one with the lowest position is the example.
  void add(const Refused& refused, NodeIndex node, std::uint32_t position);
  /// Nodes that are large enough and in every way right, but of another regime.
  void add_other_regimes(PodFit& fit);
  void clear() { groups_.clear(); }
  bool empty() const { return groups_.empty(); }

  /// Most frequent first, then by reason and detail.
  std::vector<PlanRefusal> refusals(const Survey& survey) const;

 private:
  struct Group {
    RefusalReason reason = RefusalReason::resource;
    StringId detail;
    std::int64_t amount_min = 0;
    std::int64_t nodes = 0;
    NodeIndex example;
    std::uint32_t example_position = 0;
  };

  std::vector<Group> groups_;  ///< Few: reasons, not nodes.
};

}  // namespace makeway
