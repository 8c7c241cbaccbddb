#include "kube/watched_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <variant>
#include <vector>

#include "codec/change_collector.hpp"
#include "codec/json_text.hpp"
#include "kube/resources.hpp"
#include "kube/version_cache.hpp"

namespace makeway::kube {
namespace {

const KindRow* row_named(std::string_view kind) {
  const auto* const found = std::ranges::find(kind_rows, kind, &KindRow::name);
  return found == kind_rows.end() ? nullptr : &*found;
}

constexpr std::string_view daemon_set = "DaemonSet";
constexpr std::array core_versions = {std::string_view("v1")};
constexpr Resource pods_that_may_have_failed = {
    "pods", "Pod", "", core_versions, "status.phase!=Succeeded", true};
constexpr Resource all_pods = {"pods", "Pod", "", core_versions, "", true};
constexpr std::string_view session_kind = "Session";
constexpr Resource names_of_daemon_sets = {.plural = "daemonsets",
                                           .kind = daemon_set,
                                           .api_group = "apps",
                                           .versions = core_versions,
                                           .selector = "",
                                           .is_always_served = true,
                                           .is_metadata_only = true};

/// The kubelet itself would not take it (SPEC section 8).
bool is_refusal(const ObjectState& pod) {
  return pod.phase == "Failed" &&
         (pod.reason.starts_with("OutOf") || pod.reason == "UnexpectedAdmissionError");
}

}  // namespace

bool is_watched(const Resource& resource, FeedUse use) {
  return row_named(resource.kind) != nullptr || is_plane_news(resource.kind) ||
         (use != FeedUse::to_look && resource.kind == daemon_set);
}

const Resource& watched_instead(const Resource& resource, FeedUse use, bool has_sessions) {
  const bool decides = use != FeedUse::to_look;
  const bool is_pods = decides && resource.plural == pods_that_may_have_failed.plural;
  const bool is_daemon_sets = decides && resource.kind == daemon_set;
  if (is_pods) {
    const bool finished = has_sessions && use == FeedUse::to_schedule;
    return finished ? all_pods : pods_that_may_have_failed;
  }
  return is_daemon_sets ? names_of_daemon_sets : resource;
}

std::map<WatchedObjects::Name, WatchedObjects::Decoded> WatchedObjects::decode(
    const ServedResource& served, std::string_view padded_text) {
  ChangeCollector collector;
  DecodeReport report;
  decoder_.decode(padded_text, {.source = fmt::format("live: {}", served.resource->plural)},
                  collector, report,
                  {.plane = plane_, .keep_going = true, .planes_of_dumps = false});
  refused_ += report.problems.count(Severity::error) + report.quarantine.problems().count();
  std::map<Name, Decoded> objects;
  for (Change& change : collector.changes()) {
    std::visit(
        [&](auto& each) {
          if constexpr (ClusterObject<std::decay_t<decltype(each)>>) {
            const ObjectKeyView key = key_of(each);
            Name name{key.namespace_name, key.name};
            objects.insert_or_assign(std::move(name), Decoded{.change = std::move(each)});
          }
        },
        change);
  }
  if (use_ != FeedUse::to_look) add_object_states(served, padded_text, objects);
  return objects;
}

void WatchedObjects::add_object_states(const ServedResource& served, std::string_view padded_text,
                                       std::map<Name, Decoded>& objects) const {
  const KindRow* const row = row_named(served.resource->kind);
  const bool is_pod = row != nullptr && row->kind == ObjectKind::pod;
  const bool is_written =
      is_pod || (row != nullptr && (is_own(*row) || row->kind == ObjectKind::pod_group ||
                                    row->kind == ObjectKind::persistent_volume_claim));
  if (!is_written || (use_ == FeedUse::to_compare && !is_pod)) return;
  const KeepConditions keep = is_own(*row) ? KeepConditions::all : KeepConditions::of_schedulers;
  for (ObjectState& seen_object : read_object_states(padded_text, keep)) {
    const auto found = objects.find({seen_object.namespace_name, seen_object.name});
    if (found == objects.end()) {
      if (is_pod) report_refusal(seen_object);
      const bool was_kernel =
          is_pod && use_ == FeedUse::to_schedule && seen_object.owner_kind == session_kind;
      if (!was_kernel) continue;
      seen_object.kind = row->kind;
      Removal ended{.kind = row->kind,
                    .namespace_name = seen_object.namespace_name,
                    .name = seen_object.name};
      Name name{seen_object.namespace_name, seen_object.name};
      objects.insert_or_assign(std::move(name), Decoded{std::move(ended), std::move(seen_object)});
      continue;
    }
    if (use_ == FeedUse::to_compare) continue;
    seen_object.kind = row->kind;
    if (auto* const pod = std::get_if<Pod>(&found->second.change)) {
      seen_object.group = pod->group;
      recall(seen_object, *pod);
    }
    found->second.seen_object = std::move(seen_object);
  }
}

/// Of a pod that was known until now; others ended before.
void WatchedObjects::report_refusal(const ObjectState& finished) const {
  if (!reports_.refusal || !is_refusal(finished) || finished.node.empty()) return;
  const auto pods = known_.find(pods_that_may_have_failed.plural);
  if (pods == known_.end()) return;
  const auto known = pods->second.find({finished.namespace_name, finished.name});
  if (known == pods->second.end() || known->second != finished.uid) return;
  reports_.refusal({.pod = fmt::format("{}/{}", finished.namespace_name, finished.name),
                    .owner = finished.owner_uid,
                    .node = finished.node,
                    .reason = finished.reason});
}

void WatchedObjects::listed_daemon_sets(const ServedResource& served, const ObjectPages& pages) {
  Uids all;
  for (const PaddedText& page : pages.pages) {
    for (const ObjectState& seen_object : read_object_states(page.view())) {
      all[{seen_object.namespace_name, seen_object.name}] = seen_object.uid;
    }
  }
  Uids& known = known_[served.resource->plural];
  for (const auto& [name, uid] : known) {
    if (all.contains(name)) continue;
    reports_.daemon_set({.namespace_name = name.first, .name = name.second, .exists = false});
  }
  for (const auto& [name, uid] : all) {
    reports_.daemon_set({.namespace_name = name.first, .name = name.second});
  }
  known = std::move(all);
}

// ---- What scales in a plane ---------------------------------------------------------------------

/// None: it says nothing.
std::optional<WatchedObjects::Name> WatchedObjects::report_update(const ServedResource& served,
                                                                  const JsonValue& object) const {
  if (served.resource->kind == deployment_kind) {
    auto update = read_deployment(object);
    if (!update) return std::nullopt;
    Name name{update->namespace_name, update->name};
    if (reports_.deployment) reports_.deployment(*std::move(update));
    return name;
  }
  auto update = read_autoscaler(object);
  if (!update) return std::nullopt;
  Name name{update->namespace_name, update->name};
  if (reports_.autoscaler) reports_.autoscaler(*std::move(update));
  return name;
}

void WatchedObjects::report_removal(const ServedResource& served, const Name& name) const {
  const bool is_deployment = served.resource->kind == deployment_kind;
  if (is_deployment && reports_.deployment) {
    reports_.deployment({.namespace_name = name.first, .name = name.second});
  } else if (!is_deployment && reports_.autoscaler) {
    reports_.autoscaler({.namespace_name = name.first, .name = name.second});
  }
}

void WatchedObjects::listed_news(const ServedResource& served, const ObjectPages& pages) {
  Uids all;
  for (const PaddedText& page : pages.pages) {
    const auto tree = parse_json_value(page.view());
    if (!tree) continue;
    for (const JsonValue& object : items_in(*tree, "items")) {
      if (const auto name = report_update(served, object)) all[*name];
    }
  }
  Uids& known = known_[served.resource->plural];
  for (const auto& [name, uid] : known) {
    if (!all.contains(name)) report_removal(served, name);
  }
  known = std::move(all);
}

void WatchedObjects::happened_news(const ServedResource& served, const WatchEvent& event) {
  const Name name{event.namespace_name, event.name};
  Uids& known = known_[served.resource->plural];
  if (event.type == WatchEventType::deleted) {
    known.erase(name);
    return report_removal(served, name);
  }
  const auto object = parse_json_value(event.object);
  if (object && report_update(served, *object)) known[name];
}

// ---- Objects ------------------------------------------------------------------------------------

void WatchedObjects::listed(const ServedResource& served, const ObjectPages& pages) {
  if (is_plane_news(served.resource->kind)) return listed_news(served, pages);
  if (served.resource->kind == daemon_set) {
    if (reports_.daemon_set) listed_daemon_sets(served, pages);
    return;
  }
  std::map<Name, Decoded> all;
  for (const PaddedText& page : pages.pages) all.merge(decode(served, page.view()));
  std::vector<Name> gone;
  for (const auto& [name, uid] : known_[served.resource->plural]) {
    if (!all.contains(name)) gone.push_back(name);
  }
  for (const Name& name : gone) remove(served, name);
  for (auto& [name, decoded] : all) upsert(served, name, std::move(decoded));
}

void WatchedObjects::happened(const ServedResource& served, const WatchEvent& event) {
  if (is_plane_news(served.resource->kind)) return happened_news(served, event);
  const Name name{event.namespace_name, event.name};
  if (served.resource->kind == daemon_set) {
    if (!reports_.daemon_set) return;
    const bool exists = event.type != WatchEventType::deleted;
    Uids& known = known_[served.resource->plural];
    exists ? static_cast<void>(known[name]) : static_cast<void>(known.erase(name));
    return reports_.daemon_set(
        {.namespace_name = name.first, .name = name.second, .exists = exists});
  }
  if (event.type == WatchEventType::deleted) return remove(served, name);
  std::map<Name, Decoded> objects = decode(served, event.object);
  if (objects.empty()) return remove(served, name);  // A pod that has finished.
  for (auto& [own_name, decoded] : objects) upsert(served, own_name, std::move(decoded));
}

void WatchedObjects::failed(const ServedResource& served, const ApiError& error) {
  ++failures_;
  if (fail_) fail_(served, error);
}

void WatchedObjects::upsert(const ServedResource& served, const Name& name, Decoded decoded) {
  std::string uid;
  std::visit(
      [&](const auto& each) {
        if constexpr (requires { each.uid; }) uid = each.uid;
      },
      decoded.change);
  if (uid.empty() && decoded.seen_object) uid = decoded.seen_object->uid;  // It has finished.
  Uids& known = known_[served.resource->plural];
  const auto found = known.find(name);
  if (found != known.end() && found->second != uid) remove(served, name);
  known[name] = std::move(uid);
  give_(std::move(decoded.change), std::move(decoded.seen_object));
}

void WatchedObjects::remove(const ServedResource& served, const Name& name) {
  const KindRow* const row = row_named(served.resource->kind);
  if (known_[served.resource->plural].erase(name) == 0 || row == nullptr) return;
  give_(
      Removal{
          .kind = row->kind, .namespace_name = name.first, .name = name.second, .plane = plane_},
      std::nullopt);
}

}  // namespace makeway::kube
