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

}  // namespace

std::string_view required_node_of(const Cluster& cluster, PodIndex pod) {
  const std::string& noted = cluster.notes(cluster.pods().notes[pod]).required_node;
  if (!noted.empty()) return noted;
  std::string_view name;
  for (const NodeSelectorTerm& term : cluster.shape(cluster.pods().shape[pod]).node_terms) {
    if (term.labels.empty() && term.fields.empty()) continue;
    const std::string_view here = only_name(term);
    if (here.empty() || (!name.empty() && here != name)) return {};
    name = here;
  }
  return name;
}

}  // namespace makeway
