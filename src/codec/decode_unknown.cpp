#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codec/decoders.hpp"
#include "model/knobs.hpp"
#include "model/names.hpp"
#include "model/validation/doubts.hpp"

namespace makeway {
namespace {

constexpr std::array names_of_pods = {names::protected_member, names::owner, names::required_node,
                                      names::deployment};

}  // namespace

void warn_unknown_field(const JsonField& field, std::span<const std::string_view> known) {
  if (std::ranges::find(known, field.key) != known.end()) return;
  const std::string_view nearest = nearest_of(known, field.key);
  field.warn({}, "unknown field; it is ignored",
             nearest.empty() ? std::string() : fmt::format("did you mean {}?", nearest));
}

void warn_unknown_names(JsonReader& reader, const FieldPath& path, const Metadata& metadata,
                        const KnownNames& known) {
  const auto look = [&](std::string_view list, std::string_view key,
                        std::span<const std::string_view> names) {
    const bool ours = key.starts_with("makeway.dev/");
    if (!ours || std::ranges::find(names, key) != names.end()) return;
    const FieldPath at = path.at("metadata");
    const FieldPath fields = at.at(list);
    if (std::ranges::find(names_of_pods, key) != names_of_pods.end()) {
      reader.warn(fields.at(key), {}, "only a pod can carry this name; it is ignored",
                  "write it on the pods");
    } else {
      reader.warn(fields.at(key), {}, "unknown name; it is ignored",
                  unknown_name_remedy(names, key));
    }
  };
  for (const TextPair& item : metadata.annotations)
    look("annotations", item.key, known.annotations);
  for (const Label& item : metadata.labels) look("labels", item.key, known.labels);
}

}  // namespace makeway
