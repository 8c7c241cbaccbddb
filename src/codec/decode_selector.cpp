#include <algorithm>
#include <array>
#include <charconv>

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
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
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

void read_operator(JsonReader& reader, JsonCursor& value, const FieldPath& path, RequirementsOf of,
                   Requirement& requirement) {
  std::string_view text;
  if (!reader.read(value, path, text)) return;
  const auto found = std::ranges::find(operator_names, text, &OperatorName::name);
  const bool known = found != operator_names.end() &&
                     (of == RequirementsOf::nodes || found->operation < Operator::greater_than);
  if (!known) {
    reader.refuse(path, text,
                  of == RequirementsOf::nodes ? "expected In, NotIn, Exists, DoesNotExist, Gt or Lt"
                                              : "expected In, NotIn, Exists or DoesNotExist");
    return;
  }
  requirement.operation = found->operation;
}

}  // namespace

void decode_texts(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                  std::vector<std::string>& texts) {
  reader.each_item(value, path, [&](JsonCursor& item, const FieldPath& at) {
    std::string_view text;
    if (reader.read(item, at, text)) texts.emplace_back(text);
  });
}

void decode_requirements(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                         RequirementsOf of, std::vector<Requirement>& requirements) {
  reader.each_item(value, path, [&](JsonCursor& item, const FieldPath& at) {
    Requirement requirement;
    bool has_operator = false;
    reader.each_field(item, at, [&](std::string_view key, JsonCursor& field, const FieldPath& to) {
      if (key == "key") {
        reader.read(field, to, requirement.key);
      } else if (key == "operator") {
        has_operator = true;
        read_operator(reader, field, to, of, requirement);
      } else if (key == "values") {
        decode_texts(reader, field, to, requirement.values);
      }
    });
    if (requirement.key.empty()) reader.refuse(at.at("key"), {}, "expected a label key");
    if (has_operator) {
      check_values(reader, at, requirement);
    } else {
      reader.refuse(at.at("operator"), {}, "every requirement needs an operator");
    }
    requirements.push_back(std::move(requirement));
  });
}

void decode_label_selector(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                           std::optional<LabelSelector>& selector) {
  if (reader.is_null(value, path)) return;
  LabelSelector read;
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "matchLabels") {
      Labels labels;
      decode_labels(reader, field, at, labels);
      for (Label& label : labels) {
        read.requirements.push_back({.key = std::move(label.key),
                                     .operation = Operator::in,
                                     .values = {std::move(label.value)}});
      }
    } else if (key == "matchExpressions") {
      decode_requirements(reader, field, at, RequirementsOf::pods, read.requirements);
    }
  });
  normalize(read);
  selector = std::move(read);
}

}  // namespace makeway
