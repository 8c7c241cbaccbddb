// How a plan differs from the recorded one, of which there is the document, or only the id.
#pragma once

#include <optional>
#include <string>

#include "journal/journal_records.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

/// Byte for byte: the id, whether the plan acts, and the document.
bool is_recorded_plan(const CycleRecord& cycle, const std::optional<Plan>& plan);

/// Lines that say which asks came to something else, and what. Not empty.
std::string plan_difference(const CycleRecord& cycle, const std::optional<Plan>& plan);

}  // namespace makeway::cli
