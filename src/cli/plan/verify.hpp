// `plan --batch --verify`: do the plans say what the cases expect?
//
// Only the keys that are present are compared:
//   outcome           waits and not-found agree with infeasible as well
//   victims           sorted "namespace/name"
//   node              where the ask is placed
//   fitsNodes         an ask that fits must use one of them
//   budgetViolations  of the score, else counted over the victims
// With `placements`, the outcome comes from a plan that chooses freely, victims and
// budgetViolations from one with these placements given. `candidates`, `placements` and
// `groupDisruptions` are known and not compared. An unknown key or outcome is an error of its case:
// a typing error must not look like agreement. A batch in which nothing was compared fails for the
// same reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codec/json_value.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

struct Expectation {
  std::optional<std::string> outcome;
  std::optional<std::vector<std::string>> victims;  ///< Sorted.
  std::optional<std::string> node;
  std::optional<std::vector<std::string>> fits_nodes;
  std::optional<std::int64_t> budget_violations;
  std::vector<PodPlacement> placements;  ///< Empty: not given.

  bool wants_victims() const { return victims || budget_violations; }
  bool compares_nothing() const { return !outcome && !node && !fits_nodes && !wants_victims(); }
};

/// Problems when the value is no expectation.
Expectation read_expectation(const JsonValue& value, Problems& problems);

struct Mismatch {
  JsonValue id;
  std::string key;  ///< "error" when there was nothing to compare.
  JsonValue expected;
  JsonValue got;
};

/// `free` decides the outcome, `placed` the victims; they may be the same plan.
std::vector<Mismatch> compare(const JsonValue& id, const Expectation& expected, const Plan& free,
                              const Plan& placed);

struct Verification {
  std::uint64_t cases = 0;
  std::uint64_t agree = 0;
  std::uint64_t differ = 0;
  std::uint64_t failed = 0;  ///< No plan could be made, or the expectation cannot be read.
  std::uint64_t without_expectation = 0;  ///< Nothing of them is compared.
  std::vector<Mismatch> mismatches;       ///< Of those that differ or failed.

  bool all_agree() const { return differ == 0 && failed == 0; }
  /// That all agree says nothing then.
  bool compared_nothing() const { return agree == 0 && differ == 0; }
};

/// As people read it: lists without brackets, strings without quotes.
std::string value_text(const JsonValue& value);

/// Mismatches and then "418 cases: 418 agree".
std::string verification_text(const Verification& verification);
std::string verification_json(const Verification& verification);

}  // namespace makeway::cli
