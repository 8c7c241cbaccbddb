#include "codec/field_rows.hpp"

namespace makeway {

void FieldValue::read_duration(Duration& out) const {
  std::string_view text;
  if (!read(text)) return;
  const Result<Duration> found = parse_duration(text);
  if (found) {
    out = *found;
  } else {
    refuse(shorten(text), found.error().message);
  }
}

void FieldValue::read_name(std::string& out) const {
  if (read(out)) check_reference(*this, out);
}

void FieldValue::read_names(std::vector<std::string>& out) const {
  each_item([&](const JsonField& item) {
    std::string name;
    if (!item.read(name)) return;
    if (name.empty()) return item.refuse({}, "expected a name");
    check_reference(item, name);
    out.push_back(std::move(name));
  });
}

void write_member(DocumentWriter& writer, const std::vector<std::string>& texts) {
  writer.begin_array();
  for (const std::string& text : texts) writer.string(text);
  writer.end_array();
}

void list_conditions(const std::string& prefix, const FieldVisit& visit) {
  static constexpr std::array<std::string_view, 3> answers = {"True", "False", "Unknown"};
  static constexpr std::array rows = {
      Field{.key = "type", .text = "What it is about.", .required = true, .only_written = true},
      Field{.key = "status",
            .type = FieldType::choice,
            .text = "Whether it is so.",
            .choices = answers,
            .required = true,
            .only_written = true},
      Field{.key = "reason", .text = "Why, in one word for programs.", .only_written = true},
      Field{.key = "message", .text = "Why, and what to do.", .only_written = true},
      Field{.key = "lastTransitionTime",
            .type = FieldType::time,
            .text = "When the status changed last.",
            .only_written = true},
      Field{.key = "observedGeneration",
            .type = FieldType::integer,
            .text = "The generation of the object that it is about.",
            .lowest = 0,
            .only_written = true},
  };
  for (const Field& row : rows) visit(prefix + std::string(row.key), row);
}

void refuse_unknown(const JsonField& field, std::span<const std::string_view> known) {
  const std::string_view nearest = nearest_of(known, field.key);
  field.refuse({}, "there is no such field",
               nearest.empty() ? "docs/input.md lists the fields of makeway.dev/v1"
                               : fmt::format("did you mean {}?", nearest));
}

}  // namespace makeway
