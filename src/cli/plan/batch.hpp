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
#include "cli/plan/verify.hpp"
#include "cli/terminal.hpp"
#include "codec/plan_codec.hpp"

namespace makeway::cli {

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
