// The summary of a large plan: what a tired operator reads first, on one screen.
//
// Four tables: the victims by namespace, owner and priority; the asks without a place, and why; the
// asks that wait, and for what; the asks that get room. Rows are sums over the pods of one owner.
// Where that would be too many, owners of one kind and namespace share a row, and what is still too
// much is counted.
#pragma once

#include <span>
#include <string>

#include "cli/palette.hpp"
#include "cli/plan/plan_parties.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

/// Whether the plan is too large for its details to come first.
bool is_large(std::span<const PlanAsk* const> asks);

/// The tables, each after an empty line.
std::string summary_tables(std::span<const PlanAsk* const> asks, const Parties& parties,
                           const Palette& palette);

}  // namespace makeway::cli
