// The kinds whose controllers make pods, for whoever tells people what is understood.
#pragma once

#include <string_view>
#include <vector>

namespace makeway {

/// "Job", "Deployment", ...; by name.
std::vector<std::string_view> pod_making_kinds();

}  // namespace makeway
