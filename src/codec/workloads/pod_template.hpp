// From a template to a pod: what is copied, and what the API server adds to every pod.
//
// As the controllers of Kubernetes do it: labels, annotations and the spec are copied, everything
// else of the template's metadata is dropped. Of containers only what scheduling reads is kept, so
// that many pods of a large template stay cheap.
#pragma once

#include <string>
#include <vector>

#include "codec/workloads/manifest.hpp"

namespace makeway {

struct PodTemplate {
  ManifestProblems* problems = nullptr;  ///< Of the object that it stands in.
  std::string path;                      ///< Where: "spec.template".
  JsonValue labels;
  JsonValue annotations;
  JsonValue spec;
  OwnerReference owner;  ///< The controller of its pods; without a kind: none.
  // From `Expansion::prepare` on:
  std::string spec_text;
  std::size_t bytes = 0;  ///< About the size of a pod's text.
  Pod sample;             ///< Such a pod, without a name.
};

/// Refuses a template that is not there.
PodTemplate read_template(const ManifestField& field);

/// Objects of the namespace that change pods on their way in.
struct Admission {
  std::vector<const JsonValue*> limit_ranges;
  const JsonValue* runtime_class = nullptr;  ///< Null: the pod names none, or it is not there.
};
void admit(const Admission& admission, JsonValue& spec);

/// Adds a toleration unless the same key and effect are tolerated already.
void tolerate(JsonValue& spec, std::string_view key, std::string_view effect);

/// Adds a container that asks for cpu and memory; `list` is containers or initContainers.
void add_container(JsonValue& spec, std::string_view list, std::string_view name,
                   const JsonValue& requests);
JsonValue cpu_and_memory(std::string_view cpu, std::string_view memory);

/// One requirement of a selector; no values: the key exists.
JsonValue requirement(std::string_view key, std::string_view operation,
                      std::initializer_list<std::string_view> values);
enum class Namespaces : bool { own, all };
/// Adds a required term to podAffinity or podAntiAffinity.
void add_pod_term(JsonValue& spec, std::string_view affinity, std::string_view topology_key,
                  Namespaces namespaces, std::initializer_list<JsonValue> requirements);
/// The only node that the pod may go to; replaces all required node terms.
void pin_to_node(JsonValue& spec, std::string_view node);

}  // namespace makeway
