// Writing of the parts that dump.cpp shares: labels, selectors, and what a pod asks of its place.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/objects.hpp"

namespace makeway {

class DocumentWriter;

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
