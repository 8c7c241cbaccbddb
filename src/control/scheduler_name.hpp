// Which scheduler a pod names.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "model/names.hpp"
#include "model/objects.hpp"

namespace makeway {

/// Whether the pod names one of these schedulers; a pod without a name means the default one.
/// Without schedulers every pod counts.
inline bool names_scheduler(const Pod& pod, std::span<const std::string> schedulers) {
  const std::string_view name =
      pod.scheduler.empty() ? names::default_scheduler : std::string_view(pod.scheduler);
  return schedulers.empty() || std::ranges::find(schedulers, name) != schedulers.end();
}

}  // namespace makeway
