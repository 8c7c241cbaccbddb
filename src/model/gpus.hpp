// Which resources are counted as GPUs when a report says what is lost.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace makeway {

/// An extended resource that says "gpu" and does not count its memory or cores: "nvidia.com/gpu",
/// "amd.com/gpu", "nvidia.com/gpu.shared", "gpu.intel.com/i915"; not "nvidia.com/gpumem".
constexpr bool is_gpu(std::string_view resource) {
  if (resource.find("gpu") == std::string_view::npos) return false;
  constexpr std::array<std::string_view, 3> parts = {"mem", "core", "percent"};
  return std::ranges::none_of(parts, [resource](std::string_view part) {
    return resource.find(part) != std::string_view::npos;
  });
}

}  // namespace makeway
