// What the two halves of the validation of queues share. Private to validation_queues*.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/findings.hpp"

namespace makeway {

std::string queue_text(std::string_view name);
/// None: nothing is said about the resource.
std::optional<std::int64_t> quota_in(const Quotas& quotas, std::string_view resource);
/// Where the pod names its queue.
std::string queue_field(const Cluster& cluster, PodIndex pod);

}  // namespace makeway
