#include "kube/live_cluster.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <variant>

#include "codec/json_text.hpp"
#include "kube/resources.hpp"

namespace makeway::kube {

namespace {

/// Whether a cluster without this kind still says something.
bool may_be_left_out(const Resource& resource) {
  return resource.plural != "nodes" && resource.plural != "pods";
}

}  // namespace

LiveReading read_live_cluster(
    ApiClient& client, const LiveRequest& request,
    const std::function<void(std::string_view name, const PaddedText& page)>& take) {
  LiveReading reading;
  auto served = client.discover();
  if (!served) {
    Problem problem = std::move(served.error().problem);
    const bool goes_on = served.error().failure == Failure::forbidden && request.keep_going;
    if (goes_on) {
      problem.severity = Severity::warning;
      problem.message += "; read without kinds that not every cluster has";
    }
    reading.problems.push_back(std::move(problem));
    if (!goes_on) return reading;
    served = always_served();
  }
  for (const ServedResource& each : *served) {
    if (request.progress) request.progress(each.resource->plural);
    auto pages = client.list(each);
    if (!pages) {
      Problem problem = std::move(pages.error().problem);
      const bool is_forbidden = pages.error().failure == Failure::forbidden;
      if (is_forbidden && request.keep_going && may_be_left_out(*each.resource)) {
        problem.severity = Severity::warning;
        problem.message += fmt::format("; read without {}", each.resource->plural);
      }
      reading.problems.push_back(std::move(problem));
      // All missing rights are reported together; whatever else fails would fail again.
      if (!is_forbidden) return reading;
      continue;
    }
    const std::string name = fmt::format("live: {}", each.resource->plural);
    for (const PaddedText& page : pages->pages) take(name, page);
    reading.kinds.push_back({.served = each, .resource_version = pages->resource_version});
  }
  return reading;
}

// ---- Planes -------------------------------------------------------------------------------------

namespace {

using Listed = std::vector<std::pair<const Resource*, ObjectPages>>;

void add_not_seen(Problem problem, PlaneReading& reading) {
  problem.severity = Severity::warning;
  problem.message = fmt::format("plane {} was not seen: {}", reading.plane, problem.message);
  reading.problems.push_back(std::move(problem));
}

/// None: something is missing, and why is reported.
std::optional<Listed> list_plane(ApiClient& client,
                                 const std::function<void(std::string_view resource)>& progress,
                                 PlaneReading& reading) {
  const auto served = client.discover();
  // Without the right to ask what is served we may still list what every cluster has, as a watch
  // would.
  if (!served && served.error().failure != Failure::forbidden) {
    add_not_seen(served.error().problem, reading);
    return std::nullopt;
  }
  Listed listed;
  for (const ServedResource& each :
       plane_resources(served ? *served : std::vector<ServedResource>{})) {
    if (progress) progress(each.resource->plural);
    auto pages = client.list(each);
    if (pages) {
      listed.emplace_back(each.resource, std::move(*pages));
      continue;
    }
    add_not_seen(pages.error().problem, reading);
    // All missing rights are reported together; whatever else fails would fail again.
    if (pages.error().failure != Failure::forbidden) return std::nullopt;
  }
  return reading.problems.empty() ? std::optional(std::move(listed)) : std::nullopt;
}

void read_updates(std::string_view kind, std::string_view page, PlaneUpdates& updates) {
  const auto tree = parse_json_value(page);
  if (!tree) return;
  for (const JsonValue& object : items_in(*tree, "items")) {
    if (kind == deployment_kind) {
      if (auto each = read_deployment(object)) updates.deployments.push_back(*std::move(each));
    } else if (auto each = read_autoscaler(object)) {
      updates.autoscalers.push_back(*std::move(each));
    }
  }
}

/// Of its objects, what schedules are shown by: pods that are leaving.
std::vector<Change> leaving_in(const Cluster& cluster, const std::string& plane) {
  std::vector<Change> leaving;
  for (const PodIndex pod : cluster.leaving_pods()) {
    if (cluster.text(cluster.pods().plane[pod]) == plane) leaving.emplace_back(cluster.pod(pod));
  }
  return leaving;
}

}  // namespace

PlaneReading read_live_plane(ApiClient& client, std::string plane,
                             const std::function<void(std::string_view resource)>& progress,
                             const TextTaker& take) {
  PlaneReading reading{.plane = std::move(plane), .sees = false};
  const std::optional<Listed> listed = list_plane(client, progress, reading);
  if (!listed) return reading;
  reading.sees = true;
  for (const auto& [resource, pages] : *listed) {
    const std::string name = fmt::format("live: {}: {}", reading.plane, resource->plural);
    for (const PaddedText& page : pages.pages) {
      if (is_plane_news(resource->kind)) {
        read_updates(resource->kind, page.view(), reading.updates);
      } else {
        take(name, page.view(), reading.plane);
      }
    }
  }
  return reading;
}

std::map<std::string, std::string> show_planes(const ShownPlanes& shown, Cluster& cluster) {
  std::vector<std::string> names;
  std::vector<PlaneState> objects_seen;
  for (const PlaneReading& each : shown.planes) {
    names.push_back(each.plane);
    objects_seen.push_back({.plane = each.plane,
                            .sees = each.sees,
                            .changes = leaving_in(cluster, each.plane),
                            .updates = each.updates});
  }
  std::vector<Change> home;
  std::set<std::pair<std::string, std::string>> hidden;  // Until it is shown.
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
    if (!schedule.plane.empty()) continue;
    home.emplace_back(schedule);
    hidden.emplace(schedule.namespace_name, schedule.name);
  }
  PlaneView view(names, shown.needs_selector);
  for (const Change& change : view.show(std::move(home), std::move(objects_seen), shown.now)) {
    const auto* const schedule = std::get_if<ReplicaSchedule>(&change);
    if (schedule == nullptr) continue;  // A pod, as it is.
    hidden.erase({schedule->namespace_name, schedule->name});
    cluster.apply(change);
  }
  for (const auto& [namespace_name, name] : hidden) {
    cluster.apply(Removal{
        .kind = ObjectKind::replica_schedule, .namespace_name = namespace_name, .name = name});
  }
  std::map<std::string, std::string> notes;
  for (const auto& [schedule, note] : view.notes()) notes.emplace(schedule, note.text);
  return notes;
}

}  // namespace makeway::kube
