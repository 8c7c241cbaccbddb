#include "kube/own_rights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codec/json_text.hpp"
#include "codec/json_value.hpp"
#include "codec/writer.hpp"
#include "model/kinds.hpp"

namespace makeway::kube {
namespace {

constexpr std::string_view review_path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

std::string review_body(const Right& right) {
  const std::size_t slash = right.resource.find('/');
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  writer.string_field("apiVersion", "authorization.k8s.io/v1");
  writer.string_field("kind", "SelfSubjectAccessReview");
  writer.key("spec");
  writer.begin_object();
  writer.key("resourceAttributes");
  writer.begin_object();
  writer.string_field("group", right.api_group);
  writer.string_field("resource", right.resource.substr(0, slash));
  if (slash != std::string::npos) {
    writer.string_field("subresource", right.resource.substr(slash + 1));
  }
  writer.string_field("verb", right.verb);
  if (!right.namespace_name.empty()) writer.string_field("namespace", right.namespace_name);
  if (!right.name.empty()) writer.string_field("name", right.name);
  writer.end_object();
  writer.end_object();
  writer.end_object();
  return text;
}

bool is_denied(ApiClient& client, const Right& right) {
  constexpr int created = 201;
  constexpr Duration answer_max{10'000};
  const Asked asked{
      .request = fmt::format("POST {}{}", client.http().settings().server, review_path),
      .verb = "create",
      .api_group = "authorization.k8s.io",
      .resource = "selfsubjectaccessreviews"};
  auto request = client.request_for(std::string(review_path), asked);
  if (!request) return false;
  request->write = HttpWrite{"POST", "application/json", review_body(right)};
  request->whole_max = answer_max;
  const ApiResult<HttpAnswer> answer = client.http().send(std::move(*request));
  if (!answer || answer->status != created) return false;
  const auto tree = parse_json_value(answer->body.view());
  const JsonValue* const status = tree ? tree->find("status") : nullptr;
  const JsonValue* const allowed = status == nullptr ? nullptr : status->find("allowed");
  return allowed != nullptr && allowed->as_boolean() != nullptr && !*allowed->as_boolean();
}

}  // namespace

std::string rule_for(const Right& right) {
  std::string text =
      fmt::format("{{apiGroups: [\"{}\"], resources: [{}], ", right.api_group, right.resource);
  if (!right.name.empty()) text += fmt::format("resourceNames: [{}], ", right.name);
  text += fmt::format("verbs: [{}]}}", right.verb);
  if (!right.namespace_name.empty()) text += fmt::format(" in {}", right.namespace_name);
  return text;
}

std::vector<Right> scheduler_rights(const RightsRequest& request) {
  std::vector<Right> rights = {
      {.api_group = "", .resource = "pods/binding", .verb = "create"},
      {.api_group = "", .resource = "pods/status", .verb = "patch"},
      // A stuck pod is deleted also where budgets are strict.
      {.api_group = "", .resource = "pods", .verb = "delete"},
      // The node on which a volume is to be made.
      {.api_group = "", .resource = "persistentvolumeclaims", .verb = "patch"},
      {.api_group = "events.k8s.io", .resource = "events", .verb = "create"},
  };
  if (request.evicts_by_api) {
    rights.push_back({.api_group = "", .resource = "pods/eviction", .verb = "create"});
  }
  if (request.has_groups) {
    rights.push_back(
        {.api_group = "scheduling.k8s.io", .resource = "podgroups/status", .verb = "patch"});
  }
  for (const std::string& plural : request.own_kinds) {
    rights.push_back(
        {.api_group = std::string(own_api_group), .resource = plural + "/status", .verb = "patch"});
  }
  // Those of their kernels.
  if (std::ranges::find(request.own_kinds, "sessions") != request.own_kinds.end()) {
    rights.push_back({.api_group = "", .resource = "pods", .verb = "create"});
  }
  rights.push_back({.api_group = "coordination.k8s.io",
                    .resource = "leases",
                    .verb = "create",
                    .namespace_name = request.lease_namespace});
  for (const std::string_view verb : {"get", "update"}) {
    rights.push_back({.api_group = "coordination.k8s.io",
                      .resource = "leases",
                      .verb = std::string(verb),
                      .namespace_name = request.lease_namespace,
                      .name = request.lease_name});
  }
  return rights;
}

std::vector<Right> plane_rights() {
  return {
      {.api_group = "apps", .resource = "deployments/scale", .verb = "get"},
      {.api_group = "apps", .resource = "deployments/scale", .verb = "patch"},
      // A terminating replica whose time is up; on a node that is gone it fails first.
      {.api_group = "", .resource = "pods", .verb = "delete"},
      {.api_group = "", .resource = "pods/status", .verb = "patch"},
  };
}

std::vector<Right> missing_rights(ApiClient& client, const std::vector<Right>& rights) {
  std::vector<Right> missing;
  for (const Right& right : rights) {
    if (is_denied(client, right)) missing.push_back(right);
  }
  return missing;
}

}  // namespace makeway::kube
