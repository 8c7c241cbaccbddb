// What the writers of all kinds share.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "codec/writer.hpp"
#include "model/objects.hpp"

namespace makeway {

/// Opens the object; the caller closes it.
void begin_kind(DocumentWriter& writer, std::string_view version, std::string_view kind);
void text_if(DocumentWriter& writer, std::string_view key, std::string_view value);
void time_if(DocumentWriter& writer, std::string_view key, const std::optional<Time>& time);
template <class Items, class... WriteFields>
void list_if(DocumentWriter& writer, std::string_view key, Items&& items,
             const WriteFields&... write_fields) {
  if (!items.empty()) write_list(writer, key, items, write_fields...);
}
/// An entry of `status.conditions` that keeps when something was last heard of the object.
void write_observed_if(DocumentWriter& writer, const std::optional<Time>& time);
void write_amounts(DocumentWriter& writer, const Amounts& amounts);
void write_labels_if(DocumentWriter& writer, std::string_view key, const Labels& labels);

/// "metadata.annotations" of a kind that has no others: the plane, where it is not home.
void write_plane_if(DocumentWriter& writer, std::string_view plane);

/// Opens an object with apiVersion and kind as the table of kinds says.
template <ClusterObject Object>
void begin_object_of(DocumentWriter& writer) {
  begin_kind(writer, row_of<Object>.api_version, row_of<Object>.name);
}

/// What every kind says about itself; `metadata` is open.
template <ClusterObject Object>
void write_identity(DocumentWriter& writer, const Object& object) {
  const ObjectKeyView key = key_of(object);
  writer.string_field("name", key.name);
  text_if(writer, "namespace", key.namespace_name);
  if constexpr (requires { object.uid; }) text_if(writer, "uid", object.uid);
}

/// Opens an object whose metadata says nothing else.
template <ClusterObject Object>
void begin_plain_object(DocumentWriter& writer, const Object& object) {
  begin_object_of<Object>(writer);
  writer.key("metadata");
  writer.begin_object();
  write_identity(writer, object);
  write_plane_if(writer, object.plane);
  writer.end_object();
}

// ---- Labels, selectors, and what a pod asks of its place ----------------------------------------

void write_labels(DocumentWriter& writer, const Labels& labels);
/// Nothing for an absent selector.
void write_selector(DocumentWriter& writer, std::string_view key,
                    const std::optional<LabelSelector>& selector);
/// Nothing where there are no terms.
void write_node_selector(DocumentWriter& writer, std::string_view key,
                         const std::vector<NodeSelectorTerm>& terms);
void write_taints(DocumentWriter& writer, const std::vector<Taint>& taints);
void write_ports(DocumentWriter& writer, const std::vector<HostPort>& ports);
/// The fields of a pod's spec; host ports belong to a container and are not among them.
void write_shape(DocumentWriter& writer, const PodShape& shape);
// dump_volumes.cpp
/// Of a pod's spec: `volumes` and `resourceClaims`.
void write_claims(DocumentWriter& writer, const PodShape& shape);
/// Of a pod's status: which claims were made for it.
bool has_claim_statuses(const PodShape& shape);
void write_claim_statuses(DocumentWriter& writer, const PodShape& shape);

}  // namespace makeway
