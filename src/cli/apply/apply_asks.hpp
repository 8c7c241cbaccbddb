// What of a plan document is to be carried out: the asks that the user wants, and that a cluster of
// pods and groups can be given.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "codec/plan_document.hpp"
#include "control/approved_plan.hpp"

namespace makeway::cli {

/// An ask that is not even tried.
struct RefusedAsk {
  std::string ask;  ///< "ReplicaSchedule shop/web"
  std::string reason;
  std::string remedy;

  friend bool operator==(const RefusedAsk&, const RefusedAsk&) = default;
};

struct ChosenAsks {
  std::vector<ApprovedAsk> asks;
  std::vector<RefusedAsk> refused;
  std::size_t without_place = 0;  ///< Asks for which the plan itself has no actions.
  std::size_t not_wanted = 0;     ///< Asks left out by --only.
  /// By namespace and name of a pod: its version when the plan was made, if the plan has it.
  std::map<std::pair<std::string, std::string>, std::string> versions;
};

/// `only`: as on the command line; none: all. An error is one of usage.
Result<ChosenAsks> choose_asks(const PlanDocument& document, const std::vector<std::string>& only);

}  // namespace makeway::cli
