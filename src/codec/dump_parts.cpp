#include "codec/dump_parts.hpp"

#include "codec/dump_shape.hpp"
#include "codec/quantity.hpp"
#include "model/names.hpp"
#include "model/resource.hpp"

namespace makeway {

void begin_kind(DocumentWriter& writer, std::string_view version, std::string_view kind) {
  writer.begin_object();
  writer.string_field("apiVersion", version);
  writer.string_field("kind", kind);
}

void text_if(DocumentWriter& writer, std::string_view key, std::string_view value) {
  if (!value.empty()) writer.string_field(key, value);
}

void time_if(DocumentWriter& writer, std::string_view key, const std::optional<Time>& time) {
  if (time) writer.string_field(key, to_text(*time));
}

void write_observed_if(DocumentWriter& writer, const std::optional<Time>& time) {
  if (!time) return;
  writer.begin_object();
  writer.string_field("type", names::observed);
  writer.string_field("status", "True");
  writer.string_field("lastTransitionTime", to_text(*time));
  writer.end_object();
}

void write_amounts(DocumentWriter& writer, const Amounts& amounts) {
  writer.begin_object();
  for (const Amount& amount : amounts) {
    const Scale scale = counted_in_thousandths(amount.resource) ? Scale::milli : Scale::one;
    writer.string_field(amount.resource, quantity_text(amount.amount, scale));
  }
  writer.end_object();
}

void write_plane_if(DocumentWriter& writer, std::string_view plane) {
  if (plane.empty()) return;
  write_object(writer, "annotations", [&] { writer.string_field(names::key_plane, plane); });
}

void write_labels_if(DocumentWriter& writer, std::string_view key, const Labels& labels) {
  if (labels.empty()) return;
  writer.key(key);
  write_labels(writer, labels);
}

}  // namespace makeway
