#include <algorithm>
#include <array>

#include "codec/decoders.hpp"
#include "model/normalize.hpp"

namespace makeway {
namespace {

struct OperatorName {
  std::string_view name;
  Operator operation;
};
constexpr std::array operator_names = {OperatorName{"In", Operator::in},
                                       OperatorName{"NotIn", Operator::not_in},
                                       OperatorName{"Exists", Operator::exists},
                                       OperatorName{"DoesNotExist", Operator::does_not_exist},
                                       OperatorName{"Gt", Operator::greater_than},
                                       OperatorName{"Lt", Operator::less_than}};

bool is_integer(std::string_view text) {
  std::int64_t value = 0;
  return parse_whole(text, value);
}

void check_values(JsonReader& reader, const FieldPath& path, const Requirement& requirement) {
  const std::size_t count = requirement.values.size();
  const FieldPath at = path.at("values");
  switch (requirement.operation) {
    case Operator::in:
    case Operator::not_in:
      if (count == 0) reader.refuse(at, {}, "expected at least one value for In and NotIn");
      return;
    case Operator::exists:
    case Operator::does_not_exist:
      if (count != 0) {
        reader.refuse(at, requirement.values.front(),
                      "expected no values for Exists and DoesNotExist");
      }
      return;
    case Operator::greater_than:
    case Operator::less_than:
      if (count != 1 || !is_integer(requirement.values.front())) {
        reader.refuse(at, count == 0 ? std::string_view{} : requirement.values.front(),
                      "expected exactly one integer for Gt and Lt");
      }
      return;
  }
}

void read_operator(const JsonField& value, RequirementsOf of, Requirement& requirement) {
  std::string_view text;
  if (!value.read(text)) return;
  const auto found = std::ranges::find(operator_names, text, &OperatorName::name);
  const bool known = found != operator_names.end() &&
                     (of == RequirementsOf::nodes || found->operation < Operator::greater_than);
  if (!known) {
    value.refuse(text, of == RequirementsOf::nodes
                           ? "expected In, NotIn, Exists, DoesNotExist, Gt or Lt"
                           : "expected In, NotIn, Exists or DoesNotExist");
    return;
  }
  requirement.operation = found->operation;
}

}  // namespace

void decode_texts(const JsonField& value, std::vector<std::string>& texts) {
  value.each_item([&](const JsonField& item) {
    std::string_view text;
    if (item.read(text)) texts.emplace_back(text);
  });
}

void decode_requirements(const JsonField& value, RequirementsOf of,
                         std::vector<Requirement>& requirements) {
  value.each_item([&](const JsonField& item) {
    Requirement requirement;
    bool has_operator = false;
    item.each_field([&](const JsonField& field) {
      if (field.key == "key") field.read(requirement.key);
      if (field.key == "operator") {
        has_operator = true;
        read_operator(field, of, requirement);
      }
      if (field.key == "values") decode_texts(field, requirement.values);
    });
    if (requirement.key.empty()) item.refuse_at("key", {}, "expected a label key");
    if (has_operator) {
      check_values(value.reader, item.path, requirement);
    } else {
      item.refuse_at("operator", {}, "every requirement needs an operator");
    }
    requirements.push_back(std::move(requirement));
  });
}

void decode_label_selector(const JsonField& value, std::optional<LabelSelector>& selector) {
  if (value.is_null()) return;
  LabelSelector read;
  value.each_field([&](const JsonField& field) {
    if (field.key == "matchLabels") {
      Labels labels;
      decode_labels(field, labels);
      for (Label& label : labels) {
        read.requirements.push_back({.key = std::move(label.key),
                                     .operation = Operator::in,
                                     .values = {std::move(label.value)}});
      }
    } else if (field.key == "matchExpressions") {
      decode_requirements(field, RequirementsOf::pods, read.requirements);
    }
  });
  normalize(read);
  selector = std::move(read);
}

}  // namespace makeway
