// Which resources are counted as GPUs when people are told what is lost.
#pragma once

#include <string_view>

namespace makeway {

/// An extended resource that says "gpu" and does not count its memory or cores: "nvidia.com/gpu",
/// "amd.com/gpu", "nvidia.com/gpu.shared", "gpu.intel.com/i915"; not "nvidia.com/gpumem".
constexpr bool is_gpu(std::string_view resource) {
  if (resource.find("gpu") == std::string_view::npos) return false;
  constexpr std::string_view parts[] = {"mem", "core", "percent"};
  for (const std::string_view part : parts) {
    if (resource.find(part) != std::string_view::npos) return false;
  }
  return true;
}

}  // namespace makeway
