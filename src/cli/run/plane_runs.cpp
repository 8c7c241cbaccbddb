#include "cli/run/plane_runs.hpp"

#include <fmt/format.h>

#include <utility>

#include "kube/own_rights.hpp"
#include "kube/plane_resources.hpp"

namespace makeway::cli {
namespace {

std::vector<std::string> names_of(const std::vector<PlaneParts>& planes) {
  std::vector<std::string> names;
  names.reserve(planes.size());
  for (const PlaneParts& plane : planes) names.push_back(plane.name);
  return names;
}

}  // namespace

PlaneRuns::PlaneRuns(std::vector<PlaneParts> planes, const Configuration& configuration,
                     RunLog& log)
    : log_(log),
      view_(names_of(planes), configuration.trust.deployment_labels != TrustSelected::everyone) {
  for (PlaneParts& each : planes) {
    planes_.push_back({.name = std::move(each.name),
                       .connection = std::move(each.connection),
                       .served = {},
                       .feed = {}});
  }
}

void PlaneRuns::tell_plane_problem(std::string_view event, LogLevel level, const std::string& plane,
                                   const Problem& problem) {
  log_.tell(level, event,
            {{"plane", plane},
             {"object", problem.object},
             {"field", problem.field},
             {"value", problem.value},
             {"reason", problem.message},
             {"remedy", problem.remedy}});
}

bool PlaneRuns::may_begin(bool writes) {
  bool may = true;
  for (Plane& plane : planes_) {
    log_.tell(LogLevel::info, "plane",
              {{"plane", plane.name}, {"server", plane.connection->http().settings().server}});
    const auto served = plane.connection->api().discover();
    if (!served) {
      tell_plane_problem("plane-not-seen", LogLevel::warning, plane.name, served.error().problem);
      plane.was_missed = true;
      continue;
    }
    plane.served = *served;
    if (!writes) continue;
    for (const kube::Right& right :
         kube::missing_rights(plane.connection->api(), kube::plane_rights())) {
      may = false;
      log_.tell(LogLevel::error, "right-missing",
                {{"plane", plane.name},
                 {"verb", right.verb},
                 {"resource", right.resource},
                 {"remedy", fmt::format("add the rule {} to a role of this user in that cluster "
                                        "(deploy/rbac-plane.yaml has all of them)",
                                        kube::rule_for(right))}});
    }
  }
  return may;
}

std::unique_ptr<kube::Connection> PlaneRuns::connect(const Plane& plane) {
  auto opened = kube::Connection::open(plane.connection->target(), kube::real_connection_tools());
  if (opened) return std::move(*opened);
  for (const Problem& problem : opened.error()) {
    tell_plane_problem("no-connection", LogLevel::error, plane.name, problem);
  }
  return nullptr;
}

bool PlaneRuns::begin() {
  for (Plane& plane : planes_) {
    auto connection = connect(plane);
    if (connection == nullptr) return false;
    plane.feed = std::make_unique<kube::LiveFeed>(
        std::move(connection), kube::plane_resources(plane.served),
        kube::real_connection_tools().jitter_seed, kube::WatchLimits{}, kube::FeedUse::to_schedule,
        plane.name);
  }
  return true;
}

kube::PlaneConnections PlaneRuns::connections() {
  kube::PlaneConnections all;
  for (const Plane& plane : planes_) {
    auto connection = connect(plane);
    if (connection == nullptr) return {};
    all.emplace(plane.name, std::move(connection));
  }
  return all;
}

void PlaneRuns::join(kube::LivePort& port) {
  port.show_planes(view_);
  for (const Plane& plane : planes_) port.add_plane(plane.name, *plane.feed);
}

/// Each right that is missing; of everything else that is the same for all kinds, the first.
void PlaneRuns::tell_missing(Plane& plane) {
  plane.was_missed = true;
  bool was_told = false;
  for (const kube::MissingSight& each : plane.feed->missing()) {
    if (each.error.failure != kube::Failure::forbidden && std::exchange(was_told, true)) continue;
    tell_plane_problem("plane-not-seen", LogLevel::warning, plane.name, each.error.problem);
  }
}

void PlaneRuns::tell() {
  bool is_listing = false;  // For the first time: what is not seen yet will be in a moment.
  for (Plane& plane : planes_) {
    const bool sees = plane.feed->sees_all();
    if (sees != plane.sees) {
      plane.sees = sees;
      if (sees) {
        log_.tell(LogLevel::info, "plane-sight", {{"plane", plane.name}});
      } else {
        tell_missing(plane);
        log_.tell(LogLevel::warning, "plane-lost",
                  {{"plane", plane.name},
                   {"reason",
                    "it keeps what it has and is asked for nothing until it is seen "
                    "again"}});
      }
    }
    const bool has_trouble = plane.feed->trouble() != kube::SightTrouble::none;
    if (!sees && has_trouble && !plane.was_missed) tell_missing(plane);
    is_listing = is_listing || (!sees && !plane.was_missed);
  }
  if (is_listing || view_.notes() == notes_told_) return;
  for (const auto& [schedule, note] : view_.notes()) {
    const auto before = notes_told_.find(schedule);
    if (before != notes_told_.end() && before->second == note) continue;
    log_.tell(LogLevel::warning, "schedule", {{"schedule", schedule}, {"reason", note.text}});
  }
  notes_told_ = view_.notes();
}

void PlaneRuns::end() {
  for (Plane& plane : planes_) plane.feed.reset();
}

}  // namespace makeway::cli
