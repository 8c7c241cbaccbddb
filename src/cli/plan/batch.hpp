// `plan --batch`: many cases, one a line, one plan a line.
//
// Lines are read, planned and printed one by one, so memory is bounded by the largest line. A line
// that cannot be read or planned gives {"id", "error"}; the others go on, and the batch fails at
// the end. A bug of ours costs the asks of one case (law 14), and the batch goes on, too. A case
// without an id is called by the number of its line. A plan is written as soon as it is made; when
// the output is closed (`| head`), the batch ends.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/input.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/terminal.hpp"
#include "codec/json_value.hpp"
#include "codec/plan_codec.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

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

struct BatchOptions {
  std::string path;  ///< "-" is standard input.
  ConfigurationChoice configuration;
  ConfigurationDocument standard;  ///< What is chosen where a case does not matter.
  std::vector<WrittenAsk> asks;    ///< For cases that name none.
  std::optional<Time> now;         ///< Comes before what a case says.
  PlanDetail detail = PlanDetail::brief;
  bool keep_going =
      false;            ///< Law 13: within a case, too, one bad object does not stop the others.
  bool verify = false;  ///< Compare and count instead of printing plans.
};

/// An unknown key of a line.
struct UnknownKey {
  std::string first;  ///< The first case that has it.
  std::uint64_t cases = 0;
};

struct BatchResult {
  std::uint64_t cases = 0;
  std::uint64_t errors = 0;
  std::uint64_t bugs = 0;  ///< Cases that showed a bug of ours, planned or not.
  bool any_victims = false;
  bool any_infeasible = false;
  std::string failure;  ///< Why the batch could not be read to its end; empty when it was.
  PlanTiming timing;
  Verification verification;
  std::map<std::string, UnknownKey> unknown_keys;  ///< The first twenty.
  Problems warnings;                               ///< Of the snapshots; the first twenty.
  std::uint64_t warnings_left_out = 0;
};

BatchResult run_batch(const BatchOptions& options, const PlanTools& tools, Terminal& terminal);

}  // namespace makeway::cli
