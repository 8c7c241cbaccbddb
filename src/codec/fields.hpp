// The fields of Makeway's own kinds, one row each: what decoders accept, documents explain and
// custom resource definitions are made from.
//
// The rows themselves stand by kind (queue_fields.cpp, ...), since a row also knows how its field
// is read and written: a field that has no row is refused, limits and choices are those of the row.
// The fields of a Configuration are the knobs (model/knobs.hpp), as rows of the same form.
//
//   each_field("Queue", [](const std::string& path, const Field& field) { ... });  // spec.weight
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace makeway {

enum class FieldType : std::uint8_t {
  text,
  name,          ///< Of an object: RFC 1123.
  integer,       ///< From `lowest` to `highest`.
  boolean,       ///
  time,          ///< RFC 3339
  duration,      ///< "5m"
  choice,        ///< One of `choices`.
  quantities,    ///< A mapping from resources to quantities of Kubernetes.
  labels,        ///< A mapping from texts to texts.
  names,         ///< A list of names of objects.
  object,        ///< Its fields have rows of their own, below its path.
  objects,       ///< The same for every item of a list: "spec.kernels[]".
  pod_template,  ///< Metadata and spec of a pod, of any version of Kubernetes; kept as it is.
  knob,          ///< Of a Configuration: see model/knobs.hpp.
};

struct Field {
  std::string_view key;
  FieldType type = FieldType::text;
  std::string_view text;  ///< What it means; the documentation.
  std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  std::string_view noun = "an integer";  ///< What stands in the message about a wrong one.
  std::span<const std::string_view> choices;
  std::string_view fallback;  ///< What counts where nothing is said, as JSON; empty: nothing.
  bool required = false;
  bool only_written = false;  ///< For people; the next cycle computes it again.
};

using FieldVisit = std::function<void(const std::string& path, const Field& field)>;

/// The fields of `kind`, parents before what is below them; false: no kind of makeway.dev/v1.
bool each_field(std::string_view kind, const FieldVisit& visit);

/// The kinds of makeway.dev/v1, by name.
std::vector<std::string_view> own_kind_names();

/// "an integer from 1 to 1000000", "one of batch, interactive, inference", "a time (RFC 3339)"
std::string type_text(const Field& field);

}  // namespace makeway
