#include "codec/workloads/node_match.hpp"

#include <algorithm>

#include "model/selector.hpp"

namespace makeway {
namespace {

bool labels_hold(const std::vector<Requirement>& requirements, const Labels& labels) {
  return std::ranges::all_of(requirements, [&](const Requirement& each) {
    return matches(each, find_label(labels, each.key));
  });
}

}  // namespace

bool is_tolerated(const Taint& taint, const std::vector<Toleration>& tolerations) {
  if (taint.effect == TaintEffect::prefer_no_schedule) return true;
  return std::ranges::any_of(tolerations, [&](const Toleration& each) {
    if (each.effect && *each.effect != taint.effect) return false;
    if (each.exists) return each.key.empty() || each.key == taint.key;
    return each.key == taint.key && each.value == taint.value;
  });
}

bool may_run_on(const PodShape& shape, std::string_view name, const Labels& labels,
                const std::vector<Taint>& taints) {
  for (const Label& wanted : shape.node_selector) {
    if (find_label(labels, wanted.key) != wanted.value) return false;
  }
  const auto term_holds = [&](const NodeSelectorTerm& term) {
    if (term.labels.empty() && term.fields.empty()) return false;
    return labels_hold(term.labels, labels) &&
           std::ranges::all_of(term.fields,
                               [&](const Requirement& each) { return matches(each, name); });
  };
  if (!shape.node_terms.empty() && std::ranges::none_of(shape.node_terms, term_holds)) {
    return false;
  }
  return std::ranges::all_of(
      taints, [&](const Taint& taint) { return is_tolerated(taint, shape.tolerations); });
}

}  // namespace makeway
