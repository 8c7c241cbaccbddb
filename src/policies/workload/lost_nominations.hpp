// LostNominations: room that pods were promised in earlier cycles and that this plan gives to
// others.
//
// No ask that waits for a node should get another one in the next plan without a word: the reason
// of the ask names the pod, the node, and the ask that goes there instead.
#pragma once

#include <string_view>
#include <unordered_map>

#include "policies/shared/draft.hpp"

namespace makeway {

class LostNominations {
 public:
  explicit LostNominations(const Draft& draft) : draft_(draft) {}

  /// Adds to the reason of the ask, once all asks are decided. Nothing when it fits now.
  void report(PlanAsk& ask);

 private:
  void read_places();
  const PlanAsk* taker_of(std::string_view node, const PlanAsk& ask);

  const Draft& draft_;
  bool read_ = false;  ///< The places of the plan, at the first nomination that is lost.
  std::unordered_map<std::string_view, const PlanAsk*> first_on_;  ///< By node: it goes there.
};

}  // namespace makeway
