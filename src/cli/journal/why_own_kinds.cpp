#include "cli/journal/why_own_kinds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "cli/text.hpp"
#include "model/object_text.hpp"

namespace makeway::cli {
namespace {

std::string fate_text(const SessionStatus& status) {
  switch (status.fate.value_or(SessionFate::ends)) {
    case SessionFate::ends: return "it ends";
    case SessionFate::requeues:
      return status.resume_after
                 ? fmt::format("it asks again from {} on", to_text(*status.resume_after))
                 : std::string("it asks again");
    case SessionFate::on_request: return "it asks again when it is resumed";
    case SessionFate::to_autoscaler: return "its autoscaler starts another one";
    case SessionFate::suspends: return "it keeps its memory, and runs on once there is room";
  }
  return {};
}

/// " for Session default/urgent"
std::string cause_text(const SessionStatus& status) {
  return status.preempted_by.empty() ? std::string() : " for " + status.preempted_by;
}

std::string nodes_text(const Session& session) { return few_names(session_nodes(session)); }

std::int64_t committed_in(const ReplicaSchedule* schedule, std::string_view plane) {
  if (schedule == nullptr) return 0;
  const auto found = std::ranges::find(schedule->planes, plane, &ReplicaPlane::name);
  return found == schedule->planes.end() ? 0 : found->committed;
}

std::string_view plane_text(std::string_view plane) { return plane.empty() ? "home" : plane; }

/// "2 in east, 1 in west"
std::string commits_text(const ReplicaSchedule& schedule) {
  std::vector<std::string> parts;
  for (const ReplicaPlane& plane : schedule.planes) {
    if (plane.committed == 0) continue;
    parts.push_back(fmt::format("{} in {}", plane.committed, plane_text(plane.name)));
  }
  return parts.empty() ? std::string("none") : fmt::format("{}", fmt::join(parts, ", "));
}

std::string unmet_text(const ReplicaSchedule& schedule) {
  if (schedule.unmet == 0) return "a place for every replica";
  return counted(static_cast<std::uint64_t>(schedule.unmet), "replica") + " without a place";
}

/// "committed: 2 in east; 1 replica without a place"
std::string wanted_text(const ReplicaSchedule& schedule) {
  return fmt::format("committed: {}; {}", commits_text(schedule), unmet_text(schedule));
}

std::string claim_text(const ReplicaClaim& claim) {
  std::vector<std::string> names;
  names.reserve(claim.victims.size());
  for (const ClaimedVictim& victim : claim.victims) {
    names.push_back(victim.namespace_name + "/" + victim.name);
  }
  return fmt::format("claims room on {} in {}{}", claim.node, plane_text(claim.plane),
                     names.empty() ? std::string() : ", once gone: " + few_names(std::move(names)));
}

}  // namespace

std::vector<std::string> session_nodes(const Session& session) {
  std::vector<std::string> nodes;
  for (const Kernel& kernel : session.kernels) {
    if (!kernel.node.empty()) nodes.push_back(kernel.node);
  }
  std::ranges::sort(nodes);
  const auto [first, last] = std::ranges::unique(nodes);
  nodes.erase(first, last);
  return nodes;
}

std::vector<std::string> session_events(const Session* before, const Session& session, Time now) {
  std::vector<std::string> events;
  const SessionStatus& status = session.status;
  if (before == nullptr || before->status.phase != status.phase) {
    switch (status.phase) {
      case SessionPhase::pending:
        events.emplace_back(before == nullptr ? "comes and asks for room" : "asks for room again");
        break;
      case SessionPhase::running: events.push_back("runs on " + nodes_text(session)); break;
      case SessionPhase::preempted:
        events.push_back(
            fmt::format("is off its nodes{}: {}", cause_text(status), fate_text(status)));
        break;
      case SessionPhase::suspended:
        events.push_back(fmt::format("is suspended{}: {}", cause_text(status), fate_text(status)));
        break;
      case SessionPhase::ended:
        events.push_back("has ended" + (status.fate ? cause_text(status) : std::string()));
        break;
    }
  }
  const bool noticed = status.ends_at && (before == nullptr || !before->status.ends_at);
  if (noticed && *status.ends_at > now) {
    events.push_back(fmt::format("has notice{}: its time is over at {}; then {}",
                                 cause_text(status), to_text(*status.ends_at), fate_text(status)));
  }
  return events;
}

std::string session_state(const Session& session) {
  const SessionStatus& status = session.status;
  switch (status.phase) {
    case SessionPhase::pending:
      return session.created ? fmt::format("pending; created {}", to_text(*session.created))
                             : std::string("pending");
    case SessionPhase::running:
      if (status.ends_at) {
        return fmt::format("runs on {} until {}; then {}", nodes_text(session),
                           to_text(*status.ends_at), fate_text(status));
      }
      return fmt::format("runs on {}{}", nodes_text(session),
                         status.started ? " since " + to_text(*status.started) : std::string());
    case SessionPhase::preempted: return "off its nodes: " + fate_text(status);
    case SessionPhase::suspended:
      return fmt::format("suspended on {}: {}", nodes_text(session), fate_text(status));
    case SessionPhase::ended: return "ended";
  }
  return {};
}

std::vector<std::string> schedule_events(const ReplicaSchedule* before,
                                         const ReplicaSchedule& schedule) {
  std::vector<std::string> events;
  if (before == nullptr) {
    events.push_back("is there: " + wanted_text(schedule));
  } else {
    for (const ReplicaPlane& plane : schedule.planes) {
      const std::int64_t was = committed_in(before, plane.name);
      if (was == plane.committed) continue;
      events.push_back(fmt::format("is scaled {} in {} from {} to {}",
                                   was < plane.committed ? "up" : "down", plane_text(plane.name),
                                   was, plane.committed));
    }
    if (before->unmet != schedule.unmet) events.push_back("has " + unmet_text(schedule));
  }
  for (const ReplicaClaim& claim : schedule.status.claims) {
    const bool known = before != nullptr && std::ranges::find(before->status.claims, claim) !=
                                                before->status.claims.end();
    if (!known) events.push_back(claim_text(claim));
  }
  return events;
}

std::string schedule_state(const ReplicaSchedule& schedule) {
  std::string text = wanted_text(schedule);
  if (!schedule.status.claims.empty()) {
    text += fmt::format("; {}", counted(schedule.status.claims.size(), "claim"));
  }
  return text;
}

}  // namespace makeway::cli
