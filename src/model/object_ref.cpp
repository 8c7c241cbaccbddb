#include "model/object_ref.hpp"

#include <algorithm>
#include <utility>

#include "model/object_text.hpp"

namespace makeway {

ObjectRef pod_ref(std::string namespace_name, std::string name, std::string plane) {
  return {.kind = RefKind::pod,
          .namespace_name = std::move(namespace_name),
          .name = std::move(name),
          .plane = std::move(plane)};
}

std::string ref_text(const ObjectRef& ref) {
  return object_text(choice_name(ref.kind), ref.namespace_name, ref.name);
}

std::string ref_text(const std::optional<ObjectRef>& ref) {
  return ref ? ref_text(*ref) : std::string();
}

std::string name_text(const ObjectRef& ref) {
  return ref.namespace_name.empty() ? ref.name : ref.namespace_name + "/" + ref.name;
}

std::string ref_and_plane_text(const ObjectRef& ref) {
  std::string text = ref_text(ref);
  if (!ref.plane.empty()) text.append(of_plane).append(ref.plane);
  return text;
}

std::optional<ObjectRef> parse_ref(std::string_view text) {
  const std::size_t space = std::min(text.find(' '), text.size());
  const auto* const kind = std::ranges::find(choice_names<RefKind>, text.substr(0, space));
  if (kind == choice_names<RefKind>.end()) return std::nullopt;
  const std::string_view key = text.substr(std::min(space + 1, text.size()));
  const std::size_t slash = key.find('/');
  const bool has_namespace = slash != std::string_view::npos;
  return ObjectRef{.kind = static_cast<RefKind>(kind - choice_names<RefKind>.begin()),
                   .namespace_name = std::string(has_namespace ? key.substr(0, slash) : ""),
                   .name = std::string(has_namespace ? key.substr(slash + 1) : key)};
}

}  // namespace makeway
