// StatefulSet (facts/workload-kinds.md, 3.3).
#include <fmt/format.h>

#include <algorithm>

#include "codec/workloads/json_edit.hpp"
#include "codec/workloads/made_names.hpp"
#include "codec/workloads/workload_kinds.hpp"

namespace makeway {
namespace {

/// Whether volumes of the claim are made where its pod goes. Otherwise they are made at once, at an
/// unknown place: they bind no pod to a node.
bool waits_for_pod(const Cluster& cluster, const ManifestField& claim_spec) {
  const ManifestField written = claim_spec.at("storageClassName");
  const std::string name = written.text();
  for (const auto& [key, object] : cluster.own<StorageClass>()) {
    const bool meant = written.is_present() ? object.name == name : object.is_default;
    if (meant) return object.waits_for_pod;
  }
  return false;
}

/// The claims of one pod: those that are there, or that are made with it. The rest is provisioned
/// before the pod and keeps it off no node.
JsonValue with_claims(Expansion& expansion, const ManifestField& templates, const PodTemplate& pods,
                      std::string_view pod_name) {
  JsonValue spec = pods.spec;
  for (const ManifestField& claim : templates.items()) {
    const std::string name = claim.at("metadata").at("name").text();
    const std::string full = fmt::format("{}-{}", name, pod_name);
    JsonValue* const volumes = member(spec, "volumes");
    if (volumes == nullptr) break;
    if (auto* const list = std::get_if<JsonValue::Array>(&volumes->data)) {
      std::erase_if(*list, [&](const JsonValue& each) { return text_at(each, {"name"}) == name; });
    }
    const auto& claims = expansion.cluster().own<PersistentVolumeClaim>();
    const bool is_there = claims.contains({expansion.namespace_name(), full, ""});
    if (!is_there && !waits_for_pod(expansion.cluster(), claim.at("spec"))) continue;
    if (!is_there) {
      expansion.add_object(object_value(
          {{"apiVersion", text_value("v1")},
           {"kind", text_value("PersistentVolumeClaim")},
           {"metadata", object_value({{"name", text_value(full)},
                                      {"namespace", text_value(expansion.namespace_name())}})},
           {"spec", claim.at("spec").value()}}));
    }
    append(
        *volumes,
        object_value({{"name", text_value(name)},
                      {"persistentVolumeClaim", object_value({{"claimName", text_value(full)}})}}));
  }
  return spec;
}

}  // namespace

void expand_stateful_set(Expansion& expansion, const Manifest& manifest) {
  const ManifestField spec = expansion.fields(manifest).at("spec");
  const ManifestField claims = spec.at("volumeClaimTemplates");
  const ManifestField policy = spec.at("podManagementPolicy");
  const std::string management = policy.text("OrderedReady");
  if (management != "OrderedReady" && management != "Parallel") {
    policy.refuse("expected OrderedReady or Parallel");
  }
  PodTemplate pods = read_template(spec.at("template"));
  pods.owner = expansion.controller("StatefulSet", manifest.name, manifest.uid);
  const std::int64_t replicas = spec.at("replicas").count(1, MadePods::pods_max);
  const std::int64_t start = spec.at("ordinals").at("start").count(0, count_max);
  if (!expansion.prepare(pods)) return;
  check_selector(spec.at("selector"), pods);
  const std::string revision = fmt::format(
      "{}-{}", manifest.name, template_hash(pods.spec_text + compact_text(pods.labels)));
  std::int32_t missing = 0;
  for (std::int64_t ordinal = start; ordinal < start + replicas; ++ordinal) {
    const std::string name = fmt::format("{}-{}", manifest.name, ordinal);
    if (expansion.note_if_present(name)) continue;
    PodDetails details{.name = name,
                       .labels = {{"statefulset.kubernetes.io/pod-name", name},
                                  {"apps.kubernetes.io/pod-index", fmt::format("{}", ordinal)},
                                  {"controller-revision-hash", revision}}};
    if (management == "OrderedReady" && missing > 0) {
      details.wave = missing;
      details.wave_after = fmt::format("{}-{} is ready", manifest.name, ordinal - 1);
    }
    std::string spec_text;
    if (claims.is_present()) {
      spec_text = compact_text(with_claims(expansion, claims, pods, name));
      details.spec_text = &spec_text;
    }
    if (!expansion.add(pods, details)) return;
    ++missing;
  }
}

}  // namespace makeway
