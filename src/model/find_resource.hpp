// The column of a resource, by its name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/resource.hpp"

namespace makeway {

/// None: no object has it or asks for it.
inline std::optional<ResourceIndex> find_resource(const ResourceTable& table,
                                                  std::string_view name) {
  for (std::uint32_t column = 0; column < table.size(); ++column) {
    if (table.name(ResourceIndex{column}) == name) return ResourceIndex{column};
  }
  return std::nullopt;
}

}  // namespace makeway
