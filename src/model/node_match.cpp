#include "model/node_match.hpp"

#include <algorithm>

#include "model/selector.hpp"

namespace makeway {

/// Tolerations come sorted by their key, those of every taint (without a key) first.
bool tolerates(const PodShape& shape, const Taint& taint) {
  const auto with_key = [&](std::string_view key) {
    return std::ranges::equal_range(shape.tolerations, key, {}, &Toleration::key);
  };
  const auto of_effect = [&](const Toleration& toleration) {
    return !toleration.effect || *toleration.effect == taint.effect;
  };
  const auto every = with_key({});
  return std::ranges::any_of(every,
                             [&](const Toleration& toleration) {
                               return toleration.exists && of_effect(toleration);
                             }) ||
         std::ranges::any_of(with_key(taint.key), [&](const Toleration& toleration) {
           const bool equal = toleration.exists || toleration.value == taint.value;
           return equal && !toleration.key.empty() && of_effect(toleration);
         });
}

bool selects_node(const NodeSelectorTerm& term, const Labels& labels, std::string_view node_name) {
  if (term.labels.empty() && term.fields.empty()) return false;
  return std::ranges::all_of(term.labels,
                             [&](const Requirement& requirement) {
                               return matches(requirement, find_label(labels, requirement.key));
                             }) &&
         std::ranges::all_of(term.fields, [&](const Requirement& requirement) {
           return requirement.key == "metadata.name" && matches(requirement, node_name);
         });
}

bool allows_node(const PodShape& shape, const Labels& labels, std::string_view node_name) {
  const bool selected = std::ranges::all_of(shape.node_selector, [&](const Label& wanted) {
    return find_label(labels, wanted.key) == wanted.value;
  });
  if (!selected) return false;
  return shape.node_terms.empty() ||
         std::ranges::any_of(shape.node_terms, [&](const NodeSelectorTerm& term) {
           return selects_node(term, labels, node_name);
         });
}

}  // namespace makeway
