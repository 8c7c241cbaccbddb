// NaiveRefusal: why a node does not take a pod, in the judge's own words.
#pragma once

#include <optional>
#include <string_view>

#include "model/plan.hpp"

namespace makeway {

/// Why a node is refused; the detail is a resource, a taint's key or a topology key.
struct NaiveRefusal {
  RefusalReason reason = RefusalReason::resource;
  std::string_view detail;

  friend bool operator==(const NaiveRefusal&, const NaiveRefusal&) = default;
};
using MaybeRefusal = std::optional<NaiveRefusal>;

}  // namespace makeway
