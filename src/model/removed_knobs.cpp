#include "model/removed_knobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "model/compatibility.hpp"

namespace makeway {
namespace {

constexpr std::array removed_rows = {
    RemovedKnob{"engine.cascadeStepsMax", "1000000", "the bound is fixed"},
    RemovedKnob{"engine.exactStepsMax", "", "it had no effect"},
    RemovedKnob{"engine.containmentRoundsMax", "3",
                "a cycle is decided afresh three times at most"},
    RemovedKnob{"engine.unpackedRatioMax", "", "the ratio is fixed; unpack the file yourself"},
    RemovedKnob{"workload.belowMinimum", "keep",
                "write the annotation makeway.dev/below-minimum: evict on the PodGroup"},
    RemovedKnob{"workload.aboveMinimumFirst", "", "it had no effect"},
    RemovedKnob{"workload.search", "", "it had no effect"},
    RemovedKnob{"queue.receiverKeys", "priority,ratio", "the order is fixed"},
    RemovedKnob{"queue.victimKeys", "priority,phase,runtime", "the order is fixed"},
    RemovedKnob{"queue.defaultQueue", "default", "it is the queue of the name default"},
    RemovedKnob{"queue.victimStepsMax", "100000", "the bound is fixed"},
    RemovedKnob{"replica.classOrder", "force-deleting,terminating,surplus,committed",
                "the order is fixed"},
    RemovedKnob{"replica.tieKeys", "priority,plane-score,newest,higher-name", "the order is fixed"},
    RemovedKnob{"replica.nodeKeys",
                "worst-class,highest-priority,secondary-victims,excess,committed-victims,"
                "any-priority,plane-score,newest,higher-name",
                "the order is fixed"},
    RemovedKnob{"replica.surplusKeys", "not-ready,siblings,newest,higher-name",
                "the order is fixed"},
    RemovedKnob{"replica.protectLastReplica", "true", "the last replica is always protected"},
    RemovedKnob{"replica.keepPreviousPlan", "true", "claims are always kept while they are valid"},
    RemovedKnob{"required_node.classKeys", "priority,youngest,smallest", "the order is fixed"},
    RemovedKnob{"session.leavingRoom", "credited", "the room of leaving sessions always counts"},
};

constexpr std::array removed_trust_rows = {
    RemovedTrustKnob{"trust.pinned", "everyone", "trusted"},
    RemovedTrustKnob{"trust.protection", "everyone", "trusted"},
    RemovedTrustKnob{"trust.preemptionPriority", "everyone", "capped"},
    RemovedTrustKnob{"trust.groupPriority", "everyone", "lowest"},
    RemovedTrustKnob{"trust.queueLabels", "everyone", "listed"},
    RemovedTrustKnob{"trust.deploymentLabels", "everyone", "selected"},
    RemovedTrustKnob{"trust.sessions", "everyone", "listed"},
    RemovedTrustKnob{"trust.replicaSchedules", "everyone", "trusted"},
    RemovedTrustKnob{"trust.costMax", "none", "run-time"},
    RemovedTrustKnob{"trust.notes", "everyone", "never"},
};

/// "set compatibility=kube-1.37", or all of them that have this value.
std::string bundles_with(const Knob& rule, std::string_view value) {
  std::string names;
  for (const Bundle& bundle : bundles()) {
    if (rule_text(bundle.compatibility, rule) != value) continue;
    if (bundle.compatibility == Compatibility::makeway) return "leave it out: it is the default";
    names += names.empty() ? "set compatibility=" : " or ";
    names += choice_name(bundle.compatibility);
  }
  return names.empty() ? "'makeway config explain compatibility' lists the bundles" : names;
}

}  // namespace

std::span<const RemovedKnob> removed_knobs() { return removed_rows; }

std::span<const RemovedTrustKnob> removed_trust_knobs() { return removed_trust_rows; }

std::optional<Problem> removed_knob_problem(std::string_view path, std::string_view value) {
  Problem problem{.origin = {},
                  .object = {},
                  .field = std::string(path),
                  .value = shorten(value),
                  .message = {},
                  .remedy = {}};
  const auto found = std::ranges::find(removed_rows, path, &RemovedKnob::path);
  if (const Knob* const rule = find_rule(path)) {
    problem.message = "is part of compatibility";
    problem.remedy = bundles_with(*rule, value);
  } else if (std::ranges::find(removed_trust_rows, path, &RemovedTrustKnob::path) !=
             removed_trust_rows.end()) {
    problem.message = "is part of trust.mode";
    problem.remedy = "set trust.mode=cluster or trust.mode=files";
  } else if (found != removed_rows.end()) {
    problem.message = "was removed";
    problem.remedy = found->replacement;
  } else {
    return std::nullopt;
  }
  return problem;
}

}  // namespace makeway
