// Selectors as values: what picks nodes, pods and namespaces by their labels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace makeway {

enum class Operator : std::uint8_t { in, not_in, exists, does_not_exist, greater_than, less_than };

struct Requirement {
  std::string key;
  Operator operation = Operator::in;
  std::vector<std::string> values;  ///< Sorted and unique; one integer for greater and less.

  friend auto operator<=>(const Requirement&, const Requirement&) = default;
};

/// All requirements must hold; none at all selects everything. `matchLabels` becomes `in`.
struct LabelSelector {
  std::vector<Requirement> requirements;  ///< Sorted.

  friend auto operator<=>(const LabelSelector&, const LabelSelector&) = default;
};

/// All of it must hold; a term without any requirement selects no node.
struct NodeSelectorTerm {
  std::vector<Requirement> labels;  ///< matchExpressions
  std::vector<Requirement> fields;  ///< matchFields; the only field is metadata.name

  friend auto operator<=>(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

}  // namespace makeway
