#include "model/selector.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/check.hpp"

namespace makeway {
namespace {

std::optional<std::int64_t> integer_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool compares(const Requirement& requirement, std::string_view value) {
  if (requirement.values.size() != 1) return false;
  const std::optional<std::int64_t> actual = integer_of(value);
  const std::optional<std::int64_t> border = integer_of(requirement.values.front());
  if (!actual || !border) return false;
  return requirement.operation == Operator::greater_than ? *actual > *border : *actual < *border;
}

}  // namespace

std::optional<std::string_view> find_label(const Labels& labels, std::string_view key) {
  const auto found = std::ranges::lower_bound(labels, key, {}, &Label::key);
  if (found == labels.end() || found->key != key) return std::nullopt;
  return found->value;
}

bool matches(const Requirement& requirement, std::optional<std::string_view> value) {
  switch (requirement.operation) {
    case Operator::in: return value && std::ranges::binary_search(requirement.values, *value);
    case Operator::not_in: return !value || !std::ranges::binary_search(requirement.values, *value);
    case Operator::exists: return value.has_value();
    case Operator::does_not_exist: return !value.has_value();
    case Operator::greater_than:
    case Operator::less_than: return value && compares(requirement, *value);
  }
  CHECK(false, "unknown operator");
}

bool matches(const LabelSelector& selector, const Labels& labels) {
  return std::ranges::all_of(selector.requirements, [&](const Requirement& requirement) {
    return matches(requirement, find_label(labels, requirement.key));
  });
}

bool governs(const DisruptionBudget& budget, std::string_view namespace_name,
             const Labels& labels) {
  if (!budget.selector || budget.selector->requirements.empty() || labels.empty()) return false;
  return budget.namespace_name == namespace_name && matches(*budget.selector, labels);
}

}  // namespace makeway
