#include "kube/kernel_pod.hpp"

#include <utility>

#include "codec/workloads/json_edit.hpp"
#include "control/session_pods.hpp"
#include "model/kinds.hpp"
#include "model/names.hpp"

namespace makeway::kube {
namespace {

JsonValue metadata_of(const Session& session, const Kernel& kernel, const JsonValue& pod,
                      std::string_view plan) {
  JsonValue metadata;
  put_text(metadata, "name",
           kernel_pod_name(session.name, kernel.name, session.status.preemptions));
  put_text(metadata, "namespace", session.namespace_name);
  const JsonValue* const given = pod.find("metadata");
  for (const std::string_view key : {"labels", "annotations"}) {
    const JsonValue* const marks = given == nullptr ? nullptr : given->find(key);
    if (marks != nullptr && marks->as_object() != nullptr) put(metadata, key, *marks);
  }
  if (!plan.empty()) put_text(*member(metadata, "annotations"), names::plan, plan);
  JsonValue owner = object_value({{"apiVersion", text_value(own_api_version)},
                                  {"kind", text_value("Session")},
                                  {"name", text_value(session.name)},
                                  {"uid", text_value(session.uid)}});
  put(owner, "controller", JsonValue{.data = true});
  put(metadata, "ownerReferences", array_value({std::move(owner)}));
  return metadata;
}

}  // namespace

std::string kernel_pod(const Session& session, const Kernel& kernel, std::string_view scheduler,
                       std::string_view plan) {
  const auto pod = parse_json_value(kernel.pod_template);
  const JsonValue* const given = pod ? pod->find("spec") : nullptr;
  if (given == nullptr) return {};
  JsonValue spec = *given;
  put_text(spec, "nodeName", kernel.node);
  put_text(spec, "schedulerName", scheduler);
  // A batch session ends when its work is done; a pod that is always started again never is.
  const bool ends = session.type == SessionType::batch && spec.find("restartPolicy") == nullptr;
  if (ends) put_text(spec, "restartPolicy", "Never");
  // The taint that keeps other pods off the nodes of a group.
  JsonValue toleration = object_value(
      {{"key", text_value(names::resource_group)}, {"operator", text_value("Exists")}});
  append(*member(spec, "tolerations"), std::move(toleration));
  const JsonValue whole = object_value({{"apiVersion", text_value("v1")},
                                        {"kind", text_value("Pod")},
                                        {"metadata", metadata_of(session, kernel, *pod, plan)},
                                        {"spec", std::move(spec)}});
  return compact_text(whole);
}

}  // namespace makeway::kube
