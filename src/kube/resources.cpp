#include "kube/resources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codec/json_text.hpp"

namespace makeway::kube {

namespace {

constexpr std::array v1 = {std::string_view("v1")};
/// v1alpha1 has no PodGroup, and v1alpha2 and v1alpha3 are read like v1beta1.
constexpr std::array group_versions = {std::string_view("v1"), std::string_view("v1beta1"),
                                       std::string_view("v1alpha3"), std::string_view("v1alpha2")};
constexpr std::array claim_versions = {std::string_view("v1"), std::string_view("v1beta2"),
                                       std::string_view("v1beta1")};
constexpr std::string_view unfinished = "status.phase!=Succeeded,status.phase!=Failed";

constexpr std::array table = {
    Resource{"namespaces", "Namespace", "", v1, "", true},
    Resource{"priorityclasses", "PriorityClass", "scheduling.k8s.io", v1, "", true},
    Resource{"nodes", "Node", "", v1, "", true},
    Resource{"storageclasses", "StorageClass", "storage.k8s.io", v1, "", false},
    Resource{"persistentvolumes", "PersistentVolume", "", v1, "", true},
    Resource{"persistentvolumeclaims", "PersistentVolumeClaim", "", v1, "", true},
    Resource{"csinodes", "CSINode", "storage.k8s.io", v1, "", false},
    Resource{"resourceclaims", "ResourceClaim", "resource.k8s.io", claim_versions, "", false},
    Resource{"poddisruptionbudgets", "PodDisruptionBudget", "policy", v1, "", true},
    Resource{"workloads", "Workload", "scheduling.k8s.io", group_versions, "", false},
    Resource{"podgroups", "PodGroup", "scheduling.k8s.io", group_versions, "", false},
    Resource{"queues", "Queue", "makeway.dev", v1, "", false},
    Resource{"replicaschedules", "ReplicaSchedule", "makeway.dev", v1, "", false},
    Resource{"resourcegroups", "ResourceGroup", "makeway.dev", v1, "", false},
    Resource{"partitions", "Partition", "makeway.dev", v1, "", false},
    Resource{"sessions", "Session", "makeway.dev", v1, "", false},
    Resource{"daemonsets", "DaemonSet", "apps", v1, "", true},
    Resource{"runtimeclasses", "RuntimeClass", "node.k8s.io", v1, "", false},
    Resource{"limitranges", "LimitRange", "", v1, "", true},
    Resource{"pods", "Pod", "", v1, unfinished, true},
};

/// A document of that kind with a list of that name.
std::expected<JsonValue, Problem> parse_list(std::string_view json, std::string_view kind,
                                             std::string_view list) {
  auto tree = parse_json_value(json);
  if (!tree) return tree;
  if (text_in(*tree, "kind") != kind) {
    return std::unexpected(Problem{.field = "kind",
                                   .value = shorten(text_in(*tree, "kind")),
                                   .message = fmt::format("expected {}", kind)});
  }
  const JsonValue* const items = tree->find(list);
  if (items != nullptr && (items->is_null() || items->as_array() != nullptr)) return tree;
  return std::unexpected(Problem{.field = std::string(list), .message = "expected a list"});
}

}  // namespace

std::span<const Resource> resources() { return table; }

std::string Resource::accept(bool is_list) const {
  constexpr std::string_view plain = "application/json";
  if (!is_metadata_only) return std::string(plain);
  return fmt::format("{};as={}{};g=meta.k8s.io;v=v1", plain, answered_kind(),
                     is_list ? "List" : "");
}

std::vector<ServedResource> always_served() {
  std::vector<ServedResource> served;
  for (const Resource& resource : table) {
    if (!resource.is_always_served) continue;
    served.push_back({.resource = &resource, .version = std::string(resource.versions.front())});
  }
  return served;
}

std::string group_path(std::string_view api_group, std::string_view version) {
  return api_group.empty() ? fmt::format("/api/{}", version)
                           : fmt::format("/apis/{}/{}", api_group, version);
}

std::string ServedResource::path() const {
  return fmt::format("{}/{}", group_path(resource->api_group, version), resource->plural);
}

bool ServedGroups::has(std::string_view api_group, std::string_view version) const {
  return std::ranges::find(versions, fmt::format("{}/{}", api_group, version)) != versions.end();
}

std::expected<ServedGroups, Problem> parse_group_list(std::string_view json) {
  const auto tree = parse_list(json, "APIGroupList", "groups");
  if (!tree) return std::unexpected(tree.error());
  ServedGroups groups;
  for (const JsonValue& group : items_in(*tree, "groups")) {
    for (const JsonValue& version : items_in(group, "versions")) {
      groups.versions.push_back(text_in(version, "groupVersion"));
    }
  }
  return groups;
}

std::expected<std::vector<std::string>, Problem> parse_resource_list(std::string_view json) {
  const auto tree = parse_list(json, "APIResourceList", "resources");
  if (!tree) return std::unexpected(tree.error());
  std::vector<std::string> names;
  for (const JsonValue& resource : items_in(*tree, "resources")) {
    const bool can_list =
        std::ranges::any_of(items_in(resource, "verbs"), [](const JsonValue& verb) {
          return verb.as_string() != nullptr && *verb.as_string() == "list";
        });
    if (can_list) names.push_back(text_in(resource, "name"));
  }
  return names;
}

// ---- Planes -------------------------------------------------------------------------------------

namespace {

constexpr std::array apps_versions = {std::string_view("v1")};
constexpr std::array autoscaling_versions = {std::string_view("v2")};
constexpr std::array scales = {
    Resource{"deployments", deployment_kind, "apps", apps_versions, "", true},
    Resource{"horizontalpodautoscalers", autoscaler_kind, "autoscaling", autoscaling_versions, "",
             true},
};
/// What replicas and their nodes are decided by.
constexpr std::array needed = {std::string_view("namespaces"), std::string_view("priorityclasses"),
                               std::string_view("nodes"), std::string_view("pods")};
/// A Deployment with pods that leave together is not scaled down.
constexpr std::array if_served = {std::string_view("workloads"), std::string_view("podgroups")};

const JsonValue* part_of(const JsonValue& object, std::string_view key) {
  const JsonValue* const part = object.find(key);
  return part == nullptr || part->as_object() == nullptr ? nullptr : part;
}

}  // namespace

std::vector<ServedResource> plane_resources(const std::vector<ServedResource>& discovered) {
  std::vector<ServedResource> read;
  for (const ServedResource& each : always_served()) {
    if (std::ranges::find(needed, each.resource->plural) != needed.end()) read.push_back(each);
  }
  for (const ServedResource& each : discovered) {
    if (std::ranges::find(if_served, each.resource->plural) != if_served.end()) {
      read.push_back(each);
    }
  }
  for (const Resource& resource : scales) {
    read.push_back({.resource = &resource, .version = std::string(resource.versions.front())});
  }
  return read;
}

bool is_plane_news(std::string_view kind) {
  return kind == deployment_kind || kind == autoscaler_kind;
}

std::optional<DeploymentUpdate> read_deployment(const JsonValue& object) {
  const JsonValue* const metadata = part_of(object, "metadata");
  const JsonValue* const spec = part_of(object, "spec");
  if (metadata == nullptr || spec == nullptr) return std::nullopt;
  DeploymentUpdate update{.namespace_name = text_in(*metadata, "namespace"),
                          .name = text_in(*metadata, "name"),
                          .uid = text_in(*metadata, "uid"),
                          .replicas = 1};  // As the API server says where nothing is said.
  if (const JsonValue* const replicas = spec->find("replicas")) {
    if (replicas->as_integer() == nullptr) return std::nullopt;
    update.replicas = *replicas->as_integer();
  }
  return update.name.empty() ? std::nullopt : std::optional(std::move(update));
}

std::optional<AutoscalerUpdate> read_autoscaler(const JsonValue& object) {
  const JsonValue* const metadata = part_of(object, "metadata");
  const JsonValue* const spec = part_of(object, "spec");
  if (metadata == nullptr || spec == nullptr) return std::nullopt;
  AutoscalerUpdate update{.namespace_name = text_in(*metadata, "namespace"),
                          .name = text_in(*metadata, "name")};
  const JsonValue* const target = part_of(*spec, "scaleTargetRef");
  if (target != nullptr && text_in(*target, "kind") == deployment_kind) {
    update.deployment = text_in(*target, "name");
  }
  return update.name.empty() ? std::nullopt : std::optional(std::move(update));
}

}  // namespace makeway::kube
