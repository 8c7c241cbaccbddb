#include "model/required_node.hpp"

#include <algorithm>

namespace makeway {
namespace {

constexpr std::string_view name_field = "metadata.name";

/// The one name that the term allows, if it is one.
std::string_view only_name(const NodeSelectorTerm& term) {
  const auto found = std::ranges::find_if(term.fields, [](const Requirement& field) {
    return field.key == name_field && field.operation == Operator::in && field.values.size() == 1;
  });
  return found == term.fields.end() ? std::string_view{} : found->values.front();
}

std::string_view noted_node(const Cluster& cluster, PodIndex pod) {
  return cluster.notes(cluster.pods().notes[pod]).required_node;
}

std::string_view only_node_of_affinity(const Cluster& cluster, PodIndex pod) {
  std::string_view name;
  for (const NodeSelectorTerm& term : cluster.shape(cluster.pods().shape[pod]).node_terms) {
    if (term.labels.empty() && term.fields.empty()) continue;
    const std::string_view here = only_name(term);
    if (here.empty() || (!name.empty() && here != name)) return {};
    name = here;
  }
  return name;
}

}  // namespace

std::string_view required_node_of(const Cluster& cluster, PodIndex pod) {
  const std::string_view noted = noted_node(cluster, pod);
  return noted.empty() ? only_node_of_affinity(cluster, pod) : noted;
}

bool is_pinned_by(const Cluster& cluster, PodIndex pod, std::span<const PinnedBy> ways) {
  const PodColumns& pods = cluster.pods();
  const bool of_daemon_set = pods.flags[pod].of_daemon_set;
  if (pods.shape[pod] == ShapeId{0} && pods.notes[pod] == NotesId{0} && !of_daemon_set) {
    return false;
  }
  if (cluster.units()[pods.unit[pod]].kind != UnitKind::pod) return false;
  return std::ranges::any_of(ways, [&](PinnedBy way) {
    switch (way) {
      case PinnedBy::affinity: return !only_node_of_affinity(cluster, pod).empty();
      case PinnedBy::annotation: return !noted_node(cluster, pod).empty();
      case PinnedBy::owner: return of_daemon_set;
    }
    return false;
  });
}

}  // namespace makeway
