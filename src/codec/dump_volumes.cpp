// Writing of volumes and claims, and of what a pod says about them.
#include <algorithm>

#include "codec/dump_parts.hpp"
#include "codec/dump_shape.hpp"
#include "codec/kinds.hpp"
#include "model/names.hpp"

namespace makeway {
namespace {

bool is_own_resource(const ClaimUse& use) { return use.kind == ClaimKind::own_resource; }

void write_volume_use(DocumentWriter& writer, const ClaimUse& use) {
  const bool own = use.kind == ClaimKind::own_volume;
  writer.begin_object();
  writer.string_field("name", own ? use.local : use.name);
  writer.key(own ? "ephemeral" : "persistentVolumeClaim");
  writer.begin_object();
  if (!own) writer.string_field("claimName", use.name);
  writer.end_object();
  writer.end_object();
}

/// A disk in the pod itself is a need: "iscsi disk".
void write_disk(DocumentWriter& writer, std::string_view need) {
  const std::size_t blank = need.find(' ');
  writer.begin_object();
  writer.string_field("name", need.substr(blank + 1));
  writer.key(need.substr(0, blank));
  writer.begin_object();
  writer.end_object();
  writer.end_object();
}

/// Owners, deletion and annotations, as far as they are kept; opens and closes `metadata`.
template <class Object>
void write_metadata(DocumentWriter& writer, const Object& object, Labels annotations) {
  begin_object_of<Object>(writer);
  writer.key("metadata");
  writer.begin_object();
  write_identity(writer, object);
  if constexpr (requires { object.zones; }) write_labels_if(writer, "labels", object.zones);
  if (!object.plane.empty()) {
    annotations.push_back({.key = std::string(names::key_plane), .value = object.plane});
  }
  write_labels_if(writer, "annotations", annotations);
  if constexpr (requires { object.owner; }) {
    if (!object.owner.empty() || !object.owner_uid.empty()) {
      writer.key("ownerReferences");
      writer.begin_array();
      writer.begin_object();
      writer.string_field("kind", row_of<Pod>.name);
      writer.string_field("name", object.owner);
      text_if(writer, "uid", object.owner_uid);
      writer.boolean_field("controller", true);
      writer.end_object();
      writer.end_array();
    }
  }
  if constexpr (requires { object.created; }) {
    time_if(writer, "creationTimestamp", object.created);
  }
  if constexpr (requires { object.deletion; }) {
    time_if(writer, "deletionTimestamp", object.deletion);
  }
  writer.end_object();
}

void write_phase(DocumentWriter& writer, std::string_view phase) {
  writer.key("status");
  writer.begin_object();
  writer.string_field("phase", phase);
  writer.end_object();
}

void write_topologies(DocumentWriter& writer, const std::vector<NodeSelectorTerm>& terms) {
  if (terms.empty()) return;
  writer.key("allowedTopologies");
  writer.begin_array();
  for (const NodeSelectorTerm& term : terms) {
    writer.begin_object();
    writer.key("matchLabelExpressions");
    writer.begin_array();
    for (const Requirement& requirement : term.labels) {
      writer.begin_object();
      writer.string_field("key", requirement.key);
      writer.strings_field("values", requirement.values);
      writer.end_object();
    }
    writer.end_array();
    writer.end_object();
  }
  writer.end_array();
}

}  // namespace

void write_claims(DocumentWriter& writer, const PodShape& shape) {
  const auto is_volume = [](const ClaimUse& use) {
    return use.kind == ClaimKind::volume || use.kind == ClaimKind::own_volume;
  };
  const auto is_disk = [](const std::string& need) {
    return !need.starts_with("schedulingGate ") && !need.starts_with(names::held_need);
  };
  if (std::ranges::any_of(shape.claims, is_volume) ||
      std::ranges::any_of(shape.unsupported, is_disk)) {
    writer.key("volumes");
    writer.begin_array();
    for (const ClaimUse& use : shape.claims) {
      if (is_volume(use)) write_volume_use(writer, use);
    }
    for (const std::string& need : shape.unsupported) {
      if (is_disk(need)) write_disk(writer, need);
    }
    writer.end_array();
  }
  if (std::ranges::all_of(shape.claims, is_volume)) return;
  writer.key("resourceClaims");
  writer.begin_array();
  for (const ClaimUse& use : shape.claims) {
    if (is_volume(use)) continue;
    const bool own = is_own_resource(use);
    writer.begin_object();
    writer.string_field("name", own ? use.local : use.name);
    // The name of the template is not kept.
    writer.string_field(own ? "resourceClaimTemplateName" : "resourceClaimName",
                        own ? use.local : use.name);
    writer.end_object();
  }
  writer.end_array();
}

bool has_claim_statuses(const PodShape& shape) {
  return std::ranges::any_of(
      shape.claims, [](const ClaimUse& use) { return is_own_resource(use) && !use.name.empty(); });
}

void write_claim_statuses(DocumentWriter& writer, const PodShape& shape) {
  if (!has_claim_statuses(shape)) return;
  writer.key("resourceClaimStatuses");
  writer.begin_array();
  for (const ClaimUse& use : shape.claims) {
    if (!is_own_resource(use) || use.name.empty()) continue;
    writer.begin_object();
    writer.string_field("name", use.local);
    writer.string_field("resourceClaimName", use.name);
    writer.end_object();
  }
  writer.end_array();
}

void write_object(DocumentWriter& writer, const StorageClass& object) {
  Labels annotations;
  if (object.is_default) {
    annotations.push_back({.key = std::string(names::default_class), .value = "true"});
  }
  write_metadata(writer, object, std::move(annotations));
  writer.string_field("provisioner", object.provisioner);
  writer.string_field("volumeBindingMode",
                      object.waits_for_pod ? "WaitForFirstConsumer" : "Immediate");
  write_topologies(writer, object.topologies);
  writer.end_object();
}

void write_object(DocumentWriter& writer, const PersistentVolume& volume) {
  write_metadata(writer, volume, {});
  writer.key("spec");
  writer.begin_object();
  text_if(writer, "storageClassName", volume.storage_class);
  if (!volume.claim_name.empty() || !volume.claim_namespace.empty()) {
    writer.key("claimRef");
    writer.begin_object();
    text_if(writer, "namespace", volume.claim_namespace);
    text_if(writer, "name", volume.claim_name);
    writer.end_object();
  }
  if (!volume.driver.empty() || !volume.handle.empty()) {
    writer.key("csi");
    writer.begin_object();
    text_if(writer, "driver", volume.driver);
    text_if(writer, "volumeHandle", volume.handle);
    writer.end_object();
  }
  if (!volume.node_terms.empty()) {
    writer.key("nodeAffinity");
    writer.begin_object();
    write_node_selector(writer, "required", volume.node_terms);
    writer.end_object();
  }
  writer.end_object();
  write_phase(writer, volume.available ? "Available" : "Bound");
  writer.end_object();
}

void write_object(DocumentWriter& writer, const PersistentVolumeClaim& claim) {
  Labels annotations;
  if (!claim.selected_node.empty()) {
    annotations.push_back({.key = std::string(names::selected_node), .value = claim.selected_node});
  }
  if (claim.bound) {
    annotations.push_back({.key = std::string(names::bind_completed), .value = "yes"});
  }
  write_metadata(writer, claim, std::move(annotations));
  writer.key("spec");
  writer.begin_object();
  if (claim.one_pod) {
    const std::vector<std::string> modes = {"ReadWriteOncePod"};
    writer.strings_field("accessModes", modes);
  }
  if (claim.storage_class) writer.string_field("storageClassName", *claim.storage_class);
  text_if(writer, "volumeName", claim.volume);
  writer.end_object();
  write_phase(writer, claim.lost ? "Lost" : claim.bound ? "Bound" : "Pending");
  writer.end_object();
}

void write_object(DocumentWriter& writer, const CsiNode& object) {
  begin_plain_object(writer, object);
  writer.key("spec");
  writer.begin_object();
  writer.key("drivers");
  writer.begin_array();
  for (const VolumeLimit& limit : object.limits) {
    writer.begin_object();
    writer.string_field("name", limit.driver);
    writer.key("allocatable");
    writer.begin_object();
    writer.integer_field("count", limit.count);
    writer.end_object();
    writer.end_object();
  }
  writer.end_array();
  writer.end_object();
  writer.end_object();
}

void write_object(DocumentWriter& writer, const ResourceClaim& claim) {
  write_metadata(writer, claim, {});
  writer.key("status");
  writer.begin_object();
  if (claim.allocated) {
    writer.key("allocation");
    writer.begin_object();
    write_node_selector(writer, "nodeSelector", claim.node_terms);
    writer.end_object();
  }
  if (!claim.reserved_for.empty()) {
    writer.key("reservedFor");
    writer.begin_array();
    for (const ClaimConsumer& consumer : claim.reserved_for) {
      writer.begin_object();
      text_if(writer, "resource", consumer.resource);
      text_if(writer, "name", consumer.name);
      text_if(writer, "uid", consumer.uid);
      writer.end_object();
    }
    writer.end_array();
  }
  writer.end_object();
  writer.end_object();
}

}  // namespace makeway
