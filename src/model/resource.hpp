// Resources are columns: cpu, memory, ephemeral storage, pods, then whatever else appears.
//
// The number of a further column depends on which object named it first, so it never decides
// anything and never shows: output goes by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/intern.hpp"

namespace makeway {

struct ResourceTag;
using ResourceIndex = Index<ResourceTag>;

inline constexpr ResourceIndex resource_cpu{0};      ///< Thousandths of a core.
inline constexpr ResourceIndex resource_memory{1};   ///< Bytes.
inline constexpr ResourceIndex resource_storage{2};  ///< Bytes of ephemeral storage.
inline constexpr ResourceIndex resource_pods{3};     ///< Every pod takes one.

inline constexpr std::string_view cpu_name = "cpu";
inline constexpr std::string_view memory_name = "memory";
inline constexpr std::string_view storage_name = "ephemeral-storage";
inline constexpr std::string_view pods_name = "pods";

/// cpu is counted in thousandths, everything else in whole units.
constexpr bool counted_in_thousandths(std::string_view resource) { return resource == cpu_name; }

class ResourceTable {
 public:
  ResourceTable() {
    for (const std::string_view name : {cpu_name, memory_name, storage_name, pods_name}) {
      intern(name);
    }
  }

  ResourceIndex intern(std::string_view name) { return {names_.intern(name).value - 1}; }
  std::string_view name(ResourceIndex resource) const {
    return names_.text(StringId{resource.value + 1});
  }
  std::size_t size() const { return names_.size() - 1; }

 private:
  StringPool names_;  // Its id 0 is the empty string, which is no resource.
};

}  // namespace makeway
