// Decoders of volumes and claims, and of what a pod says about them.
#include <algorithm>
#include <array>

#include "codec/kinds.hpp"
#include "model/names.hpp"

namespace makeway {
namespace {

/// Disks in the pod itself that one node, or one writer, may have at a time.
constexpr std::array<std::string_view, 4> inline_disks = {"awsElasticBlockStore",
                                                          "gcePersistentDisk", "iscsi", "rbd"};

constexpr std::array zone_labels = {names::zone, names::region, names::beta_zone,
                                    names::beta_region};

/// Texts of a mapping, by their keys.
void read_texts(const JsonField& value,
                std::initializer_list<std::pair<std::string_view, std::string*>> targets) {
  value.each_field([&](const JsonField& field) {
    for (const auto& [name, target] : targets) {
      if (field.key == name) field.read(*target);
    }
  });
}

/// "a__b" names several zones; a list with a gap says nothing.
bool names_zones(std::string_view value) {
  constexpr std::string_view separator = "__";
  return !value.empty() && !value.starts_with(separator) && !value.ends_with(separator) &&
         !value.contains("____");
}

template <class Claim>
void take_owner(const Metadata& metadata, Claim& claim) {
  for (const OwnerReference& owner : metadata.owners) {
    if (!owner.controller || owner.kind != row_of<Pod>.name) continue;
    claim.owner = owner.name;
    claim.owner_uid = owner.uid;
  }
}

void decode_claim_spec(const JsonField& field, PersistentVolumeClaim& claim) {
  if (field.key == "volumeName") {
    field.read(claim.volume);
    check_reference(field, claim.volume);
  } else if (field.key == "storageClassName") {
    field.read(claim.storage_class);
  } else if (field.key == "accessModes") {
    std::vector<std::string> modes;
    decode_texts(field, modes);
    claim.one_pod = std::ranges::find(modes, "ReadWriteOncePod") != modes.end();
  }
}

void decode_volume_spec(const JsonField& field, PersistentVolume& volume) {
  if (field.key == "storageClassName") {
    field.read(volume.storage_class);
  } else if (field.key == "claimRef") {
    read_texts(field, {{"namespace", &volume.claim_namespace}, {"name", &volume.claim_name}});
  } else if (field.key == "csi") {
    read_texts(field, {{"driver", &volume.driver}, {"volumeHandle", &volume.handle}});
  } else if (field.key == "nodeAffinity") {
    field.each_field([&](const JsonField& inner) {
      if (inner.key != "required") return;
      decode_node_selector(inner, volume.node_terms);
    });
  }
}

/// `allowedTopologies`: for each key any of its values.
void decode_topology_term(const JsonField& value, StorageClass& object) {
  NodeSelectorTerm& term = object.topologies.emplace_back();
  value.each_field([&](const JsonField& field) {
    if (field.key != "matchLabelExpressions") return;
    field.each_item([&](const JsonField& item) {
      Requirement& requirement = term.labels.emplace_back();
      item.each_field([&](const JsonField& inner) {
        if (inner.key == "key") inner.read(requirement.key);
        if (inner.key == "values") {
          decode_texts(inner, requirement.values);
        }
      });
    });
  });
}

void decode_driver(const JsonField& value, CsiNode& object) {
  VolumeLimit limit;
  bool limited = false;
  value.each_field([&](const JsonField& field) {
    if (field.key == "name") field.read(limit.driver);
    if (field.key != "allocatable") return;
    field.each_field([&](const JsonField& inner) {
      if (inner.key == "count") limited = inner.read(limit.count);
    });
  });
  if (limited && !limit.driver.empty()) object.limits.push_back(std::move(limit));
}

void decode_allocation(const JsonField& value, ResourceClaim& claim) {
  claim.allocated = !value.is_null();
  value.each_field([&](const JsonField& field) {
    if (field.key == "nodeSelector") decode_node_selector(field, claim.node_terms);
  });
}

void decode_claim_status(const JsonField& field, ResourceClaim& claim) {
  if (field.key == "allocation") decode_allocation(field, claim);
  if (field.key != "reservedFor") return;
  field.each_item([&](const JsonField& item) {
    ClaimConsumer& consumer = claim.reserved_for.emplace_back();
    read_texts(
        item, {{"resource", &consumer.resource}, {"name", &consumer.name}, {"uid", &consumer.uid}});
  });
}

void decode_pod_volume(const JsonField& value, PodShape& shape) {
  std::string_view name;
  std::string claim;
  std::string_view disk;
  bool ephemeral = false;
  value.each_field([&](const JsonField& field) {
    if (field.key == "name") {
      field.read(name);
    } else if (field.key == "ephemeral") {
      ephemeral = !field.is_null();
    } else if (field.key == "persistentVolumeClaim") {
      read_texts(field, {{"claimName", &claim}});
      check_reference(field.reader, field.path.at("claimName"), claim);
    } else if (std::ranges::find(inline_disks, field.key) != inline_disks.end()) {
      if (!field.is_null()) disk = field.key;
    }
  });
  if (!claim.empty()) shape.claims.push_back({.kind = ClaimKind::volume, .name = std::move(claim)});
  if (ephemeral) {
    shape.claims.push_back({.kind = ClaimKind::own_volume, .local = std::string(name)});
  }
  if (!disk.empty()) {
    shape.unsupported.push_back(std::string(disk) + " " + std::string(name));
  }
}

/// Metadata, spec and status.phase; `read_spec` takes a field of the spec.
template <class Object, class ReadSpec>
Metadata decode_with_phase(ObjectCursor cursor, const ReadSpec& read_spec, Object& object,
                           std::string_view& phase) {
  const auto spec = [&](const JsonField& field) { read_spec(field, object); };
  const auto status = [&](const JsonField& field) {
    if (field.key == "phase") field.read(phase);
  };
  return decode_fields<Object>(cursor, [&](const JsonField& field) {
    if (field.key == "spec") field.each_field(spec);
    if (field.key == "status") field.each_field(status);
  });
}

}  // namespace

void decode_pod_volumes(const JsonField& value, PodShape& shape) {
  value.each_item([&](const JsonField& item) { decode_pod_volume(item, shape); });
}

void decode_resource_claims(const JsonField& value, PodShape& shape) {
  value.each_item([&](const JsonField& item) {
    ClaimUse use;
    read_texts(item, {{"name", &use.local}, {"resourceClaimName", &use.name}});
    use.kind = use.name.empty() ? ClaimKind::own_resource : ClaimKind::resource;
    shape.claims.push_back(std::move(use));
  });
}

void decode_claim_statuses(const JsonField& value, std::vector<TextPair>& statuses) {
  value.each_item([&](const JsonField& item) {
    TextPair& status = statuses.emplace_back();
    item.each_field([&](const JsonField& field) {
      if (field.key == "name") field.read(status.key);
      if (field.key == "resourceClaimName") field.read(status.value);
    });
  });
}

void join_claims(const std::vector<TextPair>& statuses, PodShape& shape) {
  std::erase_if(shape.claims, [&](ClaimUse& use) {
    if (use.kind != ClaimKind::own_resource) return false;
    const auto found = std::ranges::find(statuses, use.local, &TextPair::key);
    if (found == statuses.end()) return false;
    use.name = found->value;
    return use.name.empty();  // Nothing had to be made.
  });
}

void decode_object(ObjectCursor cursor, PersistentVolumeClaim& claim) {
  std::string_view phase;
  Metadata metadata = decode_with_phase(cursor, decode_claim_spec, claim, phase);
  const std::string_view old_class = metadata.annotation(names::claim_class);
  if (!old_class.empty()) claim.storage_class = old_class;
  claim.selected_node = metadata.annotation(names::selected_node);
  claim.lost = phase == "Lost";
  const bool completed = std::ranges::find(metadata.annotations, names::bind_completed,
                                           &TextPair::key) != metadata.annotations.end();
  // Hand-written claims have no annotation, but a phase.
  claim.bound = !claim.volume.empty() && (completed || phase == "Bound");
  claim.deletion = metadata.deletion;
  take_owner(metadata, claim);
  take_identity(metadata, claim);
}

void decode_object(ObjectCursor cursor, PersistentVolume& volume) {
  std::string_view phase;
  Metadata metadata = decode_with_phase(cursor, decode_volume_spec, volume, phase);
  // Hand-written ones have no status: they are made available at once.
  volume.available = (phase.empty() || phase == "Available") && !metadata.deletion;
  for (Label& label : metadata.labels) {
    if (std::ranges::find(zone_labels, label.key) == zone_labels.end()) continue;
    if (names_zones(label.value)) volume.zones.push_back(std::move(label));
  }
  take_identity(metadata, volume);
}

void decode_object(ObjectCursor cursor, StorageClass& object) {
  std::string_view mode;
  Metadata metadata = decode_fields<StorageClass>(cursor, [&](const JsonField& field) {
    if (field.key == "provisioner") field.read(object.provisioner);
    if (field.key == "volumeBindingMode") field.read(mode);
    if (field.key != "allowedTopologies") return;
    field.each_item([&](const JsonField& item) { decode_topology_term(item, object); });
  });
  object.waits_for_pod = mode == "WaitForFirstConsumer";
  object.is_default = metadata.annotation(names::default_class) == "true";
  take_identity(metadata, object);
}

void decode_object(ObjectCursor cursor, CsiNode& object) {
  const auto spec = [&](const JsonField& field) {
    if (field.key != "drivers") return;
    field.each_item([&](const JsonField& item) { decode_driver(item, object); });
  };
  Metadata metadata = decode_fields<CsiNode>(cursor, [&](const JsonField& field) {
    if (field.key == "spec") field.each_field(spec);
  });
  take_identity(metadata, object);
}

void decode_object(ObjectCursor cursor, ResourceClaim& claim) {
  const auto status = [&](const JsonField& field) { decode_claim_status(field, claim); };
  Metadata metadata = decode_fields<ResourceClaim>(cursor, [&](const JsonField& field) {
    if (field.key == "status") field.each_field(status);
  });
  claim.deletion = metadata.deletion;
  take_owner(metadata, claim);
  take_identity(metadata, claim);
}

}  // namespace makeway
