#include "codec/plan_versions.hpp"

#include <set>
#include <utility>

#include "codec/object_walk.hpp"

namespace makeway {
namespace {

constexpr std::string_view list_word = "List";

void read_version_part(const JsonField& value, ObjectVersion& object) {
  if (value.key == "kind") value.read(object.kind);
  if (value.key != "metadata") return;
  value.each_field([&](const JsonField& field) {
    if (field.key == "name") field.read(object.name);
    if (field.key == "namespace") field.read(object.namespace_name);
    if (field.key == "uid") field.read(object.uid);
    if (field.key == "resourceVersion") field.read(object.version);
  });
}

}  // namespace

void VersionReader::take(ObjectVersion object) {
  // That namespace is in every cluster and is never made anew.
  if (object.kind == "Namespace" && object.name == "kube-system") cluster_ = object.uid;
  if (object.kind != "Pod" && object.kind != "PodGroup") return;
  if (object.version.empty()) return;
  Key key{object.kind, object.namespace_name, object.name};
  objects_.insert_or_assign(std::move(key), std::move(object));
}

void VersionReader::read(std::string_view padded_json) {
  WalkedObjects<ObjectVersion> walked = walk_objects<ObjectVersion>(padded_json, read_version_part);
  for (ObjectVersion& item : walked.items) {
    // Items of a PodList do not say that they are pods.
    if (item.kind.empty() && walked.whole.kind.ends_with(list_word)) {
      item.kind = walked.whole.kind.substr(0, walked.whole.kind.size() - list_word.size());
    }
    take(std::move(item));
  }
  take(std::move(walked.whole));
}

PlanVersions VersionReader::of(const Plan& plan) const {
  std::set<Key> named;
  const auto name_pod = [&](const auto& pod) {
    if (pod.plane.empty()) named.emplace("Pod", pod.namespace_name, pod.name);
  };
  for (const PlanAsk& ask : plan.asks) {
    const bool is_of_pods = ask.kind == AskKind::pod || ask.kind == AskKind::pod_group;
    if (is_of_pods && ask.plane.empty()) {
      named.emplace(choice_name(ask.kind), ask.namespace_name, ask.name);
    }
    for (const PodPlacement& place : ask.placements) name_pod(place);
    for (const PlanVictim& victim : ask.victims) name_pod(victim);
  }
  PlanVersions versions{.cluster = cluster_};
  for (const Key& key : named) {
    const auto found = objects_.find(key);
    if (found != objects_.end()) versions.objects.push_back(found->second);
  }
  return versions;
}

void write_plan_versions(DocumentWriter& writer, const PlanVersions& versions) {
  if (!versions.cluster.empty()) writer.string_field("cluster", versions.cluster);
  if (versions.objects.empty()) return;
  write_list(writer, "objects", versions.objects, [&](const ObjectVersion& each) {
    writer.string_field("kind", each.kind);
    writer.string_field("namespace", each.namespace_name);
    writer.string_field("name", each.name);
    writer.string_field("uid", each.uid);
    writer.string_field("resourceVersion", each.version);
  });
}

}  // namespace makeway
