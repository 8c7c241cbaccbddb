#include "model/object_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace makeway {
namespace {

struct ObjectText {
  template <ClusterObject Object>
  std::string operator()(const Object& object) const {
    return makeway::object_text(object);
  }
  std::string operator()(const Removal& removal) const {
    return object_text("removal of", {removal.namespace_name, removal.name, removal.plane});
  }
};

}  // namespace

std::string object_text(std::string_view kind, std::string_view namespace_name,
                        std::string_view name) {
  std::string text;  // Large plans have tens of thousands of them.
  text.reserve(kind.size() + namespace_name.size() + name.size() + 2);
  text += kind;
  if (name.empty()) return text;
  text += ' ';
  if (!namespace_name.empty()) {
    text += namespace_name;
    text += '/';
  }
  text += name;
  return text;
}

std::string key_text(const ObjectKeyView& key) {
  std::string text(key.namespace_name);
  text += '/';
  text += key.name;
  if (key.plane.empty()) return text;
  text += of_plane;
  text += key.plane;
  return text;
}

std::string object_text(std::string_view kind, const ObjectKeyView& key) {
  std::string text = object_text(kind, key.namespace_name, key.name);
  if (key.plane.empty()) return text;
  text += of_plane;
  text += key.plane;
  return text;
}

std::string object_text(const Change& change) { return std::visit(ObjectText{}, change); }

std::string few_names(std::vector<std::string> names) {
  constexpr std::size_t shown_max = 3;
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  const std::size_t more = names.size() > shown_max ? names.size() - shown_max : 0;
  names.resize(names.size() - more);
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (more > 0) text += fmt::format(" and {} more", more);
  return text;
}

}  // namespace makeway
