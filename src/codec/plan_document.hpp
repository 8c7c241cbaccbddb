// Reading a plan document again, as far as it is needed to carry the plan out.
//
// A plan that was printed is not a Plan any more: scores, costs and explanations were true at that
// moment. What stays is what a user may have agreed to: which pods go where, and which leave for
// them, each with the uid that distinguishes it from another object of the same name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "base/time.hpp"
#include "model/plan.hpp"

namespace makeway {

struct PlannedPod {
  std::string namespace_name;
  std::string name;
  std::string node;  ///< Where it goes, or where the victim runs.
  std::string plane;
  std::string uid;      ///< Empty: the document does not say it.
  std::string version;  ///< The same.

  friend bool operator==(const PlannedPod&, const PlannedPod&) = default;
};

struct PlannedAsk {
  AskKind kind = AskKind::pod;
  std::string namespace_name;
  std::string name;
  std::string plane;
  std::string made_from;  ///< See PlanAsk.
  Outcome outcome = Outcome::infeasible;
  std::vector<PlannedPod> places;
  std::vector<PlannedPod> victims;

  friend bool operator==(const PlannedAsk&, const PlannedAsk&) = default;
};

struct PlanDocument {
  std::string id;
  std::string preset;
  std::string configuration_hash;
  std::string cluster;  ///< See plan_versions.hpp.
  Time now;
  std::string withheld;
  std::vector<PlannedAsk> asks;

  friend bool operator==(const PlanDocument&, const PlanDocument&) = default;
};

struct PlanReading {
  std::optional<PlanDocument> document;  ///< None: there are errors.
  Problems problems;
};

/// JSON or YAML; `source` is its name in messages. Unknown fields are left alone: later versions
/// write more.
PlanReading read_plan_document(std::string_view text, std::string_view source);

}  // namespace makeway
