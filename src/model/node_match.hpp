// What a pod's spec and a node say about each other: tolerations, node selector, node affinity.
#pragma once

#include <string_view>

#include "model/objects.hpp"

namespace makeway {

/// Whether the taint keeps pods away that do not tolerate it.
inline bool keeps_away(const Taint& taint) {
  return taint.effect != TaintEffect::prefer_no_schedule;
}

bool tolerates(const PodShape& shape, const Taint& taint);

/// Whether a term of a node selector selects the node.
bool selects_node(const NodeSelectorTerm& term, const Labels& labels, std::string_view node_name);

/// Whether node selector and required node affinity allow a node of these labels and this name.
bool allows_node(const PodShape& shape, const Labels& labels, std::string_view node_name);

}  // namespace makeway
