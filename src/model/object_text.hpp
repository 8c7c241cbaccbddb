// How messages call an object: "Pod shop/web-1", "Node n1 of plane east", and only the kind when it
// has no name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/objects.hpp"

namespace makeway {

std::string object_text(std::string_view kind, std::string_view namespace_name,
                        std::string_view name);
std::string object_text(std::string_view kind, const ObjectKeyView& key);
std::string object_text(const Change& change);
/// "shop/web-1", "shop/web-1 of plane east"
std::string key_text(const ObjectKeyView& key);
template <ClusterObject Object>
std::string object_text(const Object& object) {
  return object_text(row_of<Object>.name, key_of(object));
}

/// Stands before the plane of what is not at home.
inline constexpr std::string_view of_plane = " of plane ";

/// "n1, n2, n3 and 4 more": each once, sorted, only the first few listed.
std::string few_names(std::vector<std::string> names);

}  // namespace makeway
