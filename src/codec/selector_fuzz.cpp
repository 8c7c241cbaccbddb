// Label selectors: any requirements that a budget accepts are normal, and matching them agrees with
// the plain definition of each operator, whatever the labels.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "codec/load.hpp"
#include "model/normalize.hpp"
#include "model/selector.hpp"

namespace {

bool holds(const makeway::Requirement& requirement, const makeway::Labels& labels) {
  bool has_key = false;
  bool has_value = false;
  for (const makeway::Label& label : labels) {
    if (label.key != requirement.key) continue;
    has_key = true;
    has_value = std::ranges::count(requirement.values, label.value) > 0;
  }
  switch (requirement.operation) {
    case makeway::Operator::in: return has_value;
    case makeway::Operator::not_in: return !has_value;
    case makeway::Operator::exists: return has_key;
    case makeway::Operator::does_not_exist: return !has_key;
    case makeway::Operator::greater_than:
    case makeway::Operator::less_than: break;
  }
  CHECK(false, "a label selector has no such operator");
}

void check_selector(const makeway::LabelSelector& selector) {
  makeway::LabelSelector again = selector;
  makeway::normalize(again);
  CHECK(again == selector, "a decoded selector is not normal");
  // Labels made of the selector's own texts: nothing, everything it names, and the first of each.
  makeway::Labels labels;
  for (const makeway::Requirement& requirement : selector.requirements) {
    const bool all = std::ranges::all_of(selector.requirements,
                                         [&](const auto& each) { return holds(each, labels); });
    CHECK(makeway::matches(selector, labels) == all, "matching disagrees with its definition");
    const std::string value = requirement.values.empty() ? "x" : requirement.values.front();
    if (!makeway::find_label(labels, requirement.key)) {
      labels.push_back({.key = requirement.key, .value = value});
      makeway::normalize(labels);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string manifest =
      "{\"apiVersion\":\"policy/v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"name\":"
      "\"b\"},\"spec\":{\"selector\":";
  manifest += text;
  manifest += "}}";
  const makeway::LoadResult result = makeway::load_text(manifest, "fuzz");
  if (!result.loaded) return 0;
  for (const makeway::DisruptionBudget* budget : result.loaded->cluster.budgets()) {
    if (budget->selector) check_selector(*budget->selector);
  }
  return 0;
}
