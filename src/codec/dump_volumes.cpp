// Writing of volumes and claims, and of what a pod says about them.
#include <algorithm>

#include "codec/dump_parts.hpp"
#include "codec/kinds.hpp"
#include "model/names.hpp"

namespace makeway {
namespace {

bool is_own_resource(const ClaimUse& use) { return use.kind == ClaimKind::own_resource; }

void write_volume_use(DocumentWriter& writer, const ClaimUse& use) {
  const bool own = use.kind == ClaimKind::own_volume;
  writer.begin_object();
  writer.string_field("name", own ? use.local : use.name);
  write_object(writer, own ? "ephemeral" : "persistentVolumeClaim", [&] {
    if (!own) writer.string_field("claimName", use.name);
  });
  writer.end_object();
}

/// A disk in the pod itself is a need: "iscsi disk".
void write_disk(DocumentWriter& writer, std::string_view need) {
  const std::size_t blank = need.find(' ');
  writer.begin_object();
  writer.string_field("name", need.substr(blank + 1));
  write_object(writer, need.substr(0, blank), [] {});
  writer.end_object();
}

/// Owners, deletion and annotations, as far as they are kept; opens and closes `metadata`.
template <class Object>
void write_metadata(DocumentWriter& writer, const Object& object, Labels annotations) {
  begin_object_of<Object>(writer);
  write_object(writer, "metadata", [&] {
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
  });
}

void write_phase(DocumentWriter& writer, std::string_view phase) {
  write_object(writer, "status", [&] { writer.string_field("phase", phase); });
}

void write_topologies(DocumentWriter& writer, const std::vector<NodeSelectorTerm>& terms) {
  list_if(writer, "allowedTopologies", terms, [&](const NodeSelectorTerm& term) {
    write_list(writer, "matchLabelExpressions", term.labels, [&](const Requirement& requirement) {
      writer.string_field("key", requirement.key);
      writer.strings_field("values", requirement.values);
    });
  });
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
  write_object(writer, "spec", [&] {
    text_if(writer, "storageClassName", volume.storage_class);
    if (!volume.claim_name.empty() || !volume.claim_namespace.empty()) {
      write_object(writer, "claimRef", [&] {
        text_if(writer, "namespace", volume.claim_namespace);
        text_if(writer, "name", volume.claim_name);
      });
    }
    if (!volume.driver.empty() || !volume.handle.empty()) {
      write_object(writer, "csi", [&] {
        text_if(writer, "driver", volume.driver);
        text_if(writer, "volumeHandle", volume.handle);
      });
    }
    if (!volume.node_terms.empty()) {
      write_object(writer, "nodeAffinity",
                   [&] { write_node_selector(writer, "required", volume.node_terms); });
    }
  });
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
  write_object(writer, "spec", [&] {
    if (claim.one_pod) {
      const std::vector<std::string> modes = {"ReadWriteOncePod"};
      writer.strings_field("accessModes", modes);
    }
    if (claim.storage_class) writer.string_field("storageClassName", *claim.storage_class);
    text_if(writer, "volumeName", claim.volume);
  });
  write_phase(writer, claim.lost ? "Lost" : claim.bound ? "Bound" : "Pending");
  writer.end_object();
}

void write_object(DocumentWriter& writer, const CsiNode& object) {
  begin_plain_object(writer, object);
  write_object(writer, "spec", [&] {
    write_list(writer, "drivers", object.limits, [&](const VolumeLimit& limit) {
      writer.string_field("name", limit.driver);
      write_object(writer, "allocatable", [&] { writer.integer_field("count", limit.count); });
    });
  });
  writer.end_object();
}

void write_object(DocumentWriter& writer, const ResourceClaim& claim) {
  write_metadata(writer, claim, {});
  write_object(writer, "status", [&] {
    if (claim.allocated) {
      write_object(writer, "allocation",
                   [&] { write_node_selector(writer, "nodeSelector", claim.node_terms); });
    }
    list_if(writer, "reservedFor", claim.reserved_for, [&](const ClaimConsumer& consumer) {
      text_if(writer, "resource", consumer.resource);
      text_if(writer, "name", consumer.name);
      text_if(writer, "uid", consumer.uid);
    });
  });
  writer.end_object();
}

}  // namespace makeway
