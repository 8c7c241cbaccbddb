// What the texts of commands know of each kind of ask, and what they share. A kind that is shown as
// pods are needs a row and nothing more.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "cli/plan/plan_text.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

struct AskKindRow {
  AskKind kind;
  std::string_view victim;  ///< What its victims are: "pod".
  /// What plans ask for it that `apply` does not do.
  std::string_view own_actions = {};  // NOLINT(readability-redundant-member-init)
  /// Everything below its heading but losses; null: as of a pod, with this table of victims.
  std::string (*body)(const PlanAsk& ask, const PlanTextOptions& options) = nullptr;
  std::string (*victims_table)(const PlanAsk& ask, const Palette& palette) = nullptr;
};

/// In the order of AskKind.
extern const std::array<AskKindRow, choice_names<AskKind>.size()> ask_kinds;  // ask_name.cpp

inline const AskKindRow& row_of_ask(AskKind kind) {
  return ask_kinds.at(static_cast<std::size_t>(kind));
}

/// Calls `visit(claim, victim)` for the pods that an ask for replicas takes, or waits for.
template <class Visit>
void each_replica_victim(const PlanAsk& ask, const Visit& visit) {
  if (!ask.replicas) return;
  for (const PlanReplicaClaim& claim : ask.replicas->claims) {
    for (const PlanReplicaVictim& victim : claim.victims) visit(claim, victim);
  }
}

/// "n1, n2 and 3 more"
std::string places_of(const PlanAsk& ask);

}  // namespace makeway::cli
