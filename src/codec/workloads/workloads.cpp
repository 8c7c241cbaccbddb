#include "codec/workloads/workloads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/check.hpp"
#include "codec/unknown_fields.hpp"
#include "codec/workloads/loss_rules.hpp"
#include "codec/workloads/workload_kinds.hpp"
#include "model/object_text.hpp"

namespace makeway {
namespace {

ManifestKey key_of_manifest(const Manifest& manifest) {
  return {manifest.kind->name, manifest.plane, manifest.namespace_name, manifest.name};
}

/// Whether the input has the object that controls this one, and it makes pods itself.
bool has_parent(const Manifests& manifests, const Manifest& manifest) {
  if (manifest.controller.kind.empty()) return false;
  const WorkloadKind* const kind = find_workload_kind(manifest.controller.kind);
  if (kind == nullptr || kind->expand == nullptr) return false;
  const auto found = manifests.find(
      {kind->name, manifest.plane, manifest.namespace_name, manifest.controller.name});
  if (found == manifests.end()) return false;
  const std::string& uid = found->second.uid;
  return uid.empty() || manifest.controller.uid.empty() || uid == manifest.controller.uid;
}

/// A dump has of a DaemonSet that it exists, since trust asks for it; its pods are there, too.
bool is_only_named(const Manifest& manifest, const JsonValue& tree) {
  constexpr std::array<std::string_view, 3> keys = {"apiVersion", "kind", "metadata"};
  const JsonValue::Object* const members = tree.as_object();
  return manifest.kind->name == "DaemonSet" && members != nullptr &&
         std::ranges::all_of(*members, [&](const JsonMember& member) {
           return std::ranges::find(keys, member.key) != keys.end();
         });
}

bool is_only_named(const Manifest& manifest) {
  const auto tree = parse_json_value(manifest.text);
  return tree.has_value() && is_only_named(manifest, *tree);
}

/// Without a spec there is nothing to read, and one problem is enough.
bool has_body(const Manifest& manifest, const ManifestField& fields) {
  if (fields.problems().has_errors() || is_only_named(manifest, fields.value())) return false;
  const ManifestField body = fields.at(fields.at("template").is_present() ? "template" : "spec");
  if (body.value().as_object() != nullptr) return true;
  body.refuse(body.is_present()
                  ? fmt::format("expected a mapping, found {}", body.value().type_name())
                  : std::string("expected a mapping"));
  return false;
}

bool is_asked_for(std::span<const AskedWorkload> asked, const Manifest& manifest) {
  return std::ranges::any_of(asked, [&](const AskedWorkload& each) {
    return (each.kind.empty() || each.kind == manifest.kind->name) &&
           each.namespace_name == manifest.namespace_name && each.name == manifest.name;
  });
}

}  // namespace

std::string WorkloadPods::object() const { return object_text(kind, namespace_name, name); }

struct Workloads::State {
  Manifests manifests;
  std::size_t looked_at = 0;  ///< For unknown fields.

  void warn_of_unknown_fields(const Manifest& manifest, Problems& problems);
};

void Workloads::State::warn_of_unknown_fields(const Manifest& manifest, Problems& problems) {
  if (!manifest.uid.empty() || looked_at == objects_looked_at_max) return;
  ++looked_at;
  const auto tree = parse_json_value(manifest.text);
  if (!tree) return;  // Reported when it is expanded.
  for (Problem& problem : find_unknown_template_fields(*tree)) {
    problem.origin = manifest.origin;
    problem.object = manifest.object();
    problems.push_back(std::move(problem));
  }
}

Workloads::Workloads() : state_(std::make_unique<State>()) {}
Workloads::~Workloads() = default;

Problems Workloads::add(std::string_view api_group, std::string_view kind, std::string_view json,
                        const Origin& origin, std::string_view plane) {
  const WorkloadKind* const row = find_workload_kind(api_group, kind);
  CHECK(row != nullptr, "the caller checks is_workload_kind first");
  Problems problems;
  Manifest manifest = read_manifest(*row, json, origin, plane, problems);
  if (has_errors(problems)) return problems;
  if (row->expand == nullptr) {
    // What is wrong with it is not reported later.
    if (auto tree = parse_json_value(json); !tree) {
      tree.error().origin = origin;
      tree.error().object = manifest.object();
      return {std::move(tree.error())};
    }
  }
  if (row->expand != nullptr) state_->warn_of_unknown_fields(manifest, problems);
  const auto [at, is_new] = state_->manifests.try_emplace(key_of_manifest(manifest));
  Manifest& known = at->second;
  if (is_new) {
    known = std::move(manifest);
    return problems;
  }
  if (is_only_named(manifest)) return problems;
  if (is_only_named(known)) {
    known = std::move(manifest);
    return problems;
  }
  // A manifest beside the object of a dump says what is to be applied to it.
  if (known.uid.empty() == manifest.uid.empty()) {
    problems.push_back(
        {.origin = origin,
         .object = manifest.object(),
         .message = fmt::format(
             "it is defined twice; the other definition is in {}{}", known.origin.source,
             known.origin.document == 0 ? std::string()
                                        : fmt::format(", document {}", known.origin.document)),
         .remedy = "remove one of them"});
    return problems;
  }
  if (known.uid.empty()) std::swap(known, manifest);
  manifest.live_text = std::move(known.text);
  manifest.uid = known.uid;
  manifest.controller = known.controller;
  manifest.being_deleted = known.being_deleted;
  known = std::move(manifest);
  return problems;
}

std::vector<ResourceQuota> Workloads::quotas(Problems& problems) const {
  constexpr std::string_view kind = "ResourceQuota";
  std::vector<ResourceQuota> quotas;
  const Manifests& manifests = state_->manifests;
  for (auto at = manifests.lower_bound({kind, "", "", ""});
       at != manifests.end() && at->second.kind->name == kind && at->second.plane.empty(); ++at) {
    if (auto quota = read_resource_quota(at->second, problems)) {
      quotas.push_back(*std::move(quota));
    }
  }
  return quotas;
}

Expanded Workloads::expand(const Cluster& cluster, std::span<const AskedWorkload> asked,
                           const MadePodSink& sink) const {
  Expanded expanded;
  const Manifests& manifests = state_->manifests;
  if (manifests.empty()) return expanded;
  ManifestChildren children;
  for (const auto& [key, manifest] : manifests) {
    if (manifest.controller.kind.empty()) continue;
    children[{manifest.controller.kind, manifest.plane, manifest.namespace_name,
              manifest.controller.name}]
        .push_back(&manifest);
    const bool replica_set =
        manifest.kind->name == "ReplicaSet" && manifest.controller.kind == "Deployment";
    if (replica_set && manifest.plane.empty()) {
      expanded.replica_sets.emplace(std::pair(manifest.namespace_name, manifest.name),
                                    manifest.controller.name);
    }
  }
  const ExistingPods existing(cluster);
  std::map<const Manifest*, JsonValue> references;
  MadePods made;
  ObjectDecoder decoder;
  const ExpansionScope scope{.existing = existing,
                             .manifests = manifests,
                             .children = children,
                             .references = references,
                             .made = made,
                             .decoder = decoder,
                             .sink = sink,
                             .losses = expanded.losses};
  for (const WorkloadKind& kind : workload_kinds()) {
    if (kind.expand == nullptr) continue;
    for (auto at = manifests.lower_bound({kind.name, "", "", ""});
         at != manifests.end() && at->second.kind == &kind; ++at) {
      const Manifest& root = at->second;
      if (has_parent(manifests, root)) continue;
      Expansion expansion(scope, root, is_asked_for(asked, root));
      if (has_body(root, expansion.fields(root))) kind.expand(expansion, root);
      expanded.problems.append(expansion.problems());
      if (root.plane.empty()) expanded.workloads.push_back(std::move(expansion.result()));
    }
  }
  drop_idle_units(cluster, expanded.losses);
  return expanded;
}

}  // namespace makeway
