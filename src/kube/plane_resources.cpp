#include "kube/plane_resources.hpp"

#include <algorithm>
#include <array>

#include "codec/json_text.hpp"

namespace makeway::kube {
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

std::optional<DeploymentNews> read_deployment(const JsonValue& object) {
  const JsonValue* const metadata = part_of(object, "metadata");
  const JsonValue* const spec = part_of(object, "spec");
  if (metadata == nullptr || spec == nullptr) return std::nullopt;
  DeploymentNews news{.namespace_name = text_in(*metadata, "namespace"),
                      .name = text_in(*metadata, "name"),
                      .uid = text_in(*metadata, "uid"),
                      .replicas = 1};  // As the API server says where nothing is said.
  if (const JsonValue* const replicas = spec->find("replicas")) {
    if (replicas->as_integer() == nullptr) return std::nullopt;
    news.replicas = *replicas->as_integer();
  }
  return news.name.empty() ? std::nullopt : std::optional(std::move(news));
}

std::optional<AutoscalerNews> read_autoscaler(const JsonValue& object) {
  const JsonValue* const metadata = part_of(object, "metadata");
  const JsonValue* const spec = part_of(object, "spec");
  if (metadata == nullptr || spec == nullptr) return std::nullopt;
  AutoscalerNews news{.namespace_name = text_in(*metadata, "namespace"),
                      .name = text_in(*metadata, "name")};
  const JsonValue* const target = part_of(*spec, "scaleTargetRef");
  if (target != nullptr && text_in(*target, "kind") == deployment_kind) {
    news.deployment = text_in(*target, "name");
  }
  return news.name.empty() ? std::nullopt : std::optional(std::move(news));
}

}  // namespace makeway::kube
