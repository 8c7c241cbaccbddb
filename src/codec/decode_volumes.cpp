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
void read_texts(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                std::initializer_list<std::pair<std::string_view, std::string*>> targets) {
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    for (const auto& [name, target] : targets) {
      if (key == name) reader.read(field, at, *target);
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

void decode_claim_spec(JsonReader& reader, std::string_view key, JsonCursor& field,
                       const FieldPath& at, PersistentVolumeClaim& claim) {
  if (key == "volumeName") {
    reader.read(field, at, claim.volume);
    check_reference(reader, at, claim.volume);
  } else if (key == "storageClassName") {
    std::string name;
    if (reader.read(field, at, name)) claim.storage_class = std::move(name);
  } else if (key == "accessModes") {
    std::vector<std::string> modes;
    decode_texts(reader, field, at, modes);
    claim.one_pod = std::ranges::find(modes, "ReadWriteOncePod") != modes.end();
  }
}

void decode_volume_spec(JsonReader& reader, std::string_view key, JsonCursor& field,
                        const FieldPath& at, PersistentVolume& volume) {
  if (key == "storageClassName") {
    reader.read(field, at, volume.storage_class);
  } else if (key == "claimRef") {
    read_texts(reader, field, at,
               {{"namespace", &volume.claim_namespace}, {"name", &volume.claim_name}});
  } else if (key == "csi") {
    read_texts(reader, field, at, {{"driver", &volume.driver}, {"volumeHandle", &volume.handle}});
  } else if (key == "nodeAffinity") {
    reader.each_field(field, at,
                      [&](std::string_view name, JsonCursor& inner, const FieldPath& to) {
                        if (name != "required") return;
                        decode_node_selector(reader, inner, to, volume.node_terms);
                      });
  }
}

/// `allowedTopologies`: for each key any of its values.
void decode_topology_term(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                          StorageClass& object) {
  NodeSelectorTerm& term = object.topologies.emplace_back();
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key != "matchLabelExpressions") return;
    reader.each_item(field, at, [&](JsonCursor& item, const FieldPath& to) {
      Requirement& requirement = term.labels.emplace_back();
      reader.each_field(item, to,
                        [&](std::string_view name, JsonCursor& inner, const FieldPath& end) {
                          if (name == "key") reader.read(inner, end, requirement.key);
                          if (name == "values") {
                            decode_texts(reader, inner, end, requirement.values);
                          }
                        });
    });
  });
}

void decode_driver(JsonReader& reader, JsonCursor& value, const FieldPath& path, CsiNode& object) {
  VolumeLimit limit;
  bool limited = false;
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "name") reader.read(field, at, limit.driver);
    if (key != "allocatable") return;
    reader.each_field(field, at,
                      [&](std::string_view name, JsonCursor& inner, const FieldPath& to) {
                        if (name == "count") limited = reader.read(inner, to, limit.count);
                      });
  });
  if (limited && !limit.driver.empty()) object.limits.push_back(std::move(limit));
}

void decode_allocation(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                       ResourceClaim& claim) {
  claim.allocated = !reader.is_null(value, path);
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "nodeSelector") decode_node_selector(reader, field, at, claim.node_terms);
  });
}

void decode_claim_status(JsonReader& reader, std::string_view key, JsonCursor& field,
                         const FieldPath& at, ResourceClaim& claim) {
  if (key == "allocation") decode_allocation(reader, field, at, claim);
  if (key != "reservedFor") return;
  reader.each_item(field, at, [&](JsonCursor& item, const FieldPath& to) {
    ClaimConsumer& consumer = claim.reserved_for.emplace_back();
    read_texts(
        reader, item, to,
        {{"resource", &consumer.resource}, {"name", &consumer.name}, {"uid", &consumer.uid}});
  });
}

void decode_pod_volume(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                       PodShape& shape) {
  std::string_view name;
  std::string claim;
  std::string_view disk;
  bool ephemeral = false;
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "name") {
      reader.read(field, at, name);
    } else if (key == "ephemeral") {
      ephemeral = !reader.is_null(field, at);
    } else if (key == "persistentVolumeClaim") {
      read_texts(reader, field, at, {{"claimName", &claim}});
      check_reference(reader, at.at("claimName"), claim);
    } else if (std::ranges::find(inline_disks, key) != inline_disks.end()) {
      if (!reader.is_null(field, at)) disk = key;
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
  JsonReader& reader = cursor.reader;
  const auto spec = [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    read_spec(reader, key, field, at, object);
  };
  const auto status = [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "phase") reader.read(field, at, phase);
  };
  return decode_fields<Object>(cursor,
                               [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
                                 if (key == "spec") reader.each_field(field, at, spec);
                                 if (key == "status") reader.each_field(field, at, status);
                               });
}

}  // namespace

void decode_pod_volumes(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                        PodShape& shape) {
  reader.each_item(value, path, [&](JsonCursor& item, const FieldPath& at) {
    decode_pod_volume(reader, item, at, shape);
  });
}

void decode_resource_claims(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                            PodShape& shape) {
  reader.each_item(value, path, [&](JsonCursor& item, const FieldPath& at) {
    ClaimUse use;
    read_texts(reader, item, at, {{"name", &use.local}, {"resourceClaimName", &use.name}});
    use.kind = use.name.empty() ? ClaimKind::own_resource : ClaimKind::resource;
    shape.claims.push_back(std::move(use));
  });
}

void decode_claim_statuses(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                           std::vector<TextPair>& statuses) {
  reader.each_item(value, path, [&](JsonCursor& item, const FieldPath& at) {
    TextPair& status = statuses.emplace_back();
    reader.each_field(item, at, [&](std::string_view key, JsonCursor& field, const FieldPath& to) {
      if (key == "name") reader.read(field, to, status.key);
      if (key == "resourceClaimName") reader.read(field, to, status.value);
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
  JsonReader& reader = cursor.reader;
  std::string_view mode;
  Metadata metadata = decode_fields<StorageClass>(
      cursor, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
        if (key == "provisioner") reader.read(field, at, object.provisioner);
        if (key == "volumeBindingMode") reader.read(field, at, mode);
        if (key != "allowedTopologies") return;
        reader.each_item(field, at, [&](JsonCursor& item, const FieldPath& to) {
          decode_topology_term(reader, item, to, object);
        });
      });
  object.waits_for_pod = mode == "WaitForFirstConsumer";
  object.is_default = metadata.annotation(names::default_class) == "true";
  take_identity(metadata, object);
}

void decode_object(ObjectCursor cursor, CsiNode& object) {
  JsonReader& reader = cursor.reader;
  const auto spec = [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key != "drivers") return;
    reader.each_item(field, at, [&](JsonCursor& item, const FieldPath& to) {
      decode_driver(reader, item, to, object);
    });
  };
  Metadata metadata = decode_fields<CsiNode>(
      cursor, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
        if (key == "spec") reader.each_field(field, at, spec);
      });
  take_identity(metadata, object);
}

void decode_object(ObjectCursor cursor, ResourceClaim& claim) {
  JsonReader& reader = cursor.reader;
  const auto status = [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    decode_claim_status(reader, key, field, at, claim);
  };
  Metadata metadata = decode_fields<ResourceClaim>(
      cursor, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
        if (key == "status") reader.each_field(field, at, status);
      });
  claim.deletion = metadata.deletion;
  take_owner(metadata, claim);
  take_identity(metadata, claim);
}

}  // namespace makeway
