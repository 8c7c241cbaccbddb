// The arguments of the planning benchmarks, `plan` and `gang`.
//
//   [--only SUBSTRING] [--case NAME] [--repeat N] [--all] [--json FILE] [--write DIR] [--once]
//
//   --only SUBSTRING   cases whose name contains it, as "uniform-5000x30" or "budgets"
//   --case NAME        exactly that one
//   --repeat N         decisions a case, instead of as many as half a second holds
//   --all              also what takes minutes or much memory
//   --json FILE        the results, one object a line
//   --write DIR        no decisions: writes clusters as Lists that `makeway plan -f` reads
//   --once             nothing but the decisions, unchecked: for callgrind
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "bench/support/plan_clusters.hpp"

namespace makeway::bench {

struct PlanOptions {
  std::string only;
  std::string exactly;
  std::size_t repeat = 0;
  bool all = false;
  bool once = false;
  std::string json;
  std::string write;
};

/// None, and the usage on standard error: they are wrong.
std::optional<PlanOptions> parsed(std::span<char*> arguments);

/// A case was named, in part or in full.
bool names_cases(const PlanOptions& options);

/// What was named, or any case where nothing was.
bool matches(const PlanOptions& options, const ClusterCase& item);

/// Writes the cluster of a case to the folder of --write.
bool write_case(const PlanOptions& options, const ClusterCase& item);

}  // namespace makeway::bench
