// Plan documents: Plan -> JSON or YAML. Stable and versioned: fields may be added, never renamed.
//
//   {"apiVersion":"makeway.dev/v1","kind":"Plan","id":"...","preset":"makeway", ...,
//    "asks":[{"kind":"Pod","namespace":"default","name":"urgent","outcome":"preempts",
//             "placements":[...],"victims":[...],"score":{"budgetViolations":0,...},...}],
//    "actions":[...],"status":[...]}
//
// Every field is there in every plan, except `withheld` and `leftOut` (only where a bug of ours
// removed an ask from the plan), `queues` and `queueMoves` (only where there are queues),
// `waitsUntil` (only where a delay has to pass), `explanation` (only when asked for), an action's
// `node` and `for` (only where they mean something), and `cluster` and `objects` (only where that
// is known; plan_versions.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "codec/writer.hpp"
#include "model/plan.hpp"

namespace makeway {

struct JsonValue;
struct PlanVersions;

enum class PlanDetail : std::uint8_t {
  decided,  ///< What the id covers: without what a victim's place was compared with.
  brief,
  with_explanation,
};

/// With a `case_id` (a line of a batch), that is the document's `id`, and it comes first; the
/// plan's own id is then called `planId`. With `versions`, what is known of them.
void write_plan(DocumentWriter& writer, const Plan& plan, PlanDetail detail = PlanDetail::brief,
                const JsonValue* case_id = nullptr, const PlanVersions* versions = nullptr);

std::string plan_text_json(const Plan& plan, PlanDetail detail = PlanDetail::brief,
                           JsonStyle style = JsonStyle::pretty);

/// The same text, pretty, piece by piece: a plan of 50,000 asks is a document of 100 MB.
void print_plan_json(const Plan& plan, PlanDetail detail, PieceSink sink,
                     const PlanVersions* versions = nullptr);

/// 16 hexadecimal digits: a hash of the document without explanations and without its id. So it
/// covers everything that was decided, and is the same whether that is explained or not. Of a
/// victim's cause, what it was compared with belongs to the explanation, which looks further.
std::string plan_identity(const Plan& plan);

/// The fields of one object of `placements` or `waitsFor`.
void write_placement(DocumentWriter& writer, const PodPlacement& placement);

/// The key as documents write it: "budgetViolations".
std::string score_field(ScoreKey key);

}  // namespace makeway
