#include "control/preemption_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace makeway {
namespace {

std::string first_of(std::string_view first, std::size_t count) {
  return count <= 1 ? std::string(first) : fmt::format("{} and {} more", first, count - 1);
}

std::string place_of(const PlanAsk& ask) {
  if (ask.placements.empty()) return {};
  std::vector<std::string_view> nodes;
  for (const PodPlacement& each : ask.placements) {
    if (std::ranges::find(nodes, each.node) == nodes.end()) nodes.push_back(each.node);
  }
  return first_of(nodes.front(), nodes.size());
}

template <class Victim>
std::string name_of(const Victim& victim) {
  std::string text = fmt::format("{}/{}", victim.namespace_name, victim.name);
  if (!victim.plane.empty()) text += fmt::format(" of plane {}", victim.plane);
  return text;
}

template <class Victim>
void add_victim(ReportedPreemption& report, const Victim& victim, ReportedVictim as,
                std::size_t victims_max) {
  if (++report.victims_count == 1) {
    report.alternative = victim.cause_alternative;
    report.key = victim.cause_key;
  }
  if (report.victims.size() == victims_max) return;
  as.priority = victim.priority;
  as.reason = victim.reason;
  report.victims.push_back(std::move(as));
}

/// A session leaves whole, and its victims are sessions; they may run on several nodes.
ReportedVictim left_behind(const PlanAsk& ask, std::size_t at) {
  const PlanVictim& victim = ask.victims[at];
  if (!ask.session) return {.name = name_of(victim), .node = victim.node};
  ReportedVictim report{.name = victim.unit, .node = victim.node};
  const std::vector<PlanSessionVictim>& sessions = ask.session->victims;
  if (at < sessions.size() && !sessions[at].nodes.empty()) {
    report.node = first_of(sessions[at].nodes.front(), sessions[at].nodes.size());
  }
  return report;
}

ReportedPreemption reported_preemption(const PlanAsk& ask, Time now, std::size_t victims_max) {
  ReportedPreemption report{
      .ask = ask_text(ask), .priority = ask.priority, .node = place_of(ask), .when = now};
  for (std::size_t at = 0; at < ask.victims.size(); ++at) {
    add_victim(report, ask.victims[at], left_behind(ask, at), victims_max);
  }
  if (!ask.replicas) return report;
  for (const PlanReplicaClaim& claim : ask.replicas->claims) {
    if (claim.kept) continue;  // Reported when it was made.
    for (const PlanReplicaVictim& victim : claim.victims) {
      if (victim.action == ReplicaAction::wait) continue;
      add_victim(report, victim, {.name = name_of(victim), .node = claim.node}, victims_max);
    }
    if (report.node.empty()) report.node = claim.node;
  }
  return report;
}

}  // namespace

std::vector<ReportedPreemption> preemption_report(const Plan& plan, Time now,
                                                  std::size_t victims_max) {
  std::vector<ReportedPreemption> all;
  for (const PlanAsk& ask : plan.asks) {
    if (ask.victims.empty() && !ask.replicas) continue;
    ReportedPreemption report = reported_preemption(ask, now, victims_max);
    if (report.victims_count > 0) all.push_back(std::move(report));
  }
  return all;
}

}  // namespace makeway
