#include "codec/fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codec/kinds.hpp"
#include "model/knobs.hpp"

namespace makeway {
namespace {

constexpr std::string_view configuration_kind = "Configuration";

Field field_of(const Knob& knob) {
  return {.key = knob.name(),
          .type = FieldType::knob,
          .text = knob.documentation,
          .lowest = knob.minimum,
          .highest = knob.maximum,
          .choices = knob.choices};
}

/// A Configuration is no object of a cluster; its fields are the knobs.
void list_knobs(const FieldVisit& visit) {
  for (const Knob& knob : knobs()) visit(fmt::format("spec.{}", knob.path), field_of(knob));
}

void list_profiles(const FieldVisit& visit) {
  const std::string path = "spec.profiles";
  visit(path, {.key = "profiles",
               .type = FieldType::objects,
               .text = "Rules of their own for pods of these schedulers: those of this document, "
                       "but for the knobs that stand here."});
  visit(path + "[].schedulerName", {.key = "schedulerName",
                                    .type = FieldType::name,
                                    .text = "Its pods have this spec.schedulerName.",
                                    .required = true});
  visit(path + "[].preset", {.key = "preset",
                             .type = FieldType::name,
                             .text = "The knobs of asks are those of this preset where the "
                                     "profile does not say otherwise."});
  for (const Knob& knob : knobs()) {
    if (knob.scope != KnobScope::ask) continue;
    visit(fmt::format("{}[].{}", path, knob.path), field_of(knob));
  }
}

}  // namespace

bool each_field(std::string_view kind, const FieldVisit& visit) {
  if (kind == configuration_kind) {
    list_knobs(visit);
    list_profiles(visit);
    return true;
  }
  const auto found = std::ranges::find(text_kinds, kind, [](const TextKind& row) {
    return row.own == nullptr ? std::string_view{} : row.row.name;
  });
  if (found == text_kinds.end()) return false;
  found->own().list_fields(visit);
  return true;
}

std::vector<std::string_view> own_kind_names() {
  std::vector<std::string_view> names = {configuration_kind};
  for (const KindRow& row : kind_rows) {
    if (is_own(row)) names.push_back(row.name);
  }
  std::ranges::sort(names);
  return names;
}

std::string type_text(const Field& field) {
  switch (field.type) {
    case FieldType::text: return "a text";
    case FieldType::name: return "a name (RFC 1123)";
    case FieldType::integer:
      return fmt::format("{} from {} to {}", field.noun, field.lowest, field.highest);
    case FieldType::boolean: return "true or false";
    case FieldType::time: return "a time (RFC 3339)";
    case FieldType::duration: return "a duration, as 5m";
    case FieldType::choice: return fmt::format("one of {}", fmt::join(field.choices, ", "));
    case FieldType::quantities: return "quantities by resource, as {cpu: 500m}";
    case FieldType::labels: return "labels, as {disk: ssd}";
    case FieldType::names: return "a list of names (RFC 1123)";
    case FieldType::object: return "a mapping";
    case FieldType::objects: return "a list of mappings";
    case FieldType::pod_template: return "the template of a pod, as in a Deployment";
    case FieldType::knob: return "a knob of the configuration";
  }
  return {};
}

}  // namespace makeway
