// The pod that runs a kernel of a session (SPEC section 8, "sessions").
#pragma once

#include <string>
#include <string_view>

#include "model/session_objects.hpp"

namespace makeway::kube {

/// Made from the kernel's template, as JSON: with its name, the Session as its controller, and its
/// node, so that nothing else places it. What the template says about these does not count. Empty:
/// the kernel has no template.
std::string kernel_pod(const Session& session, const Kernel& kernel, std::string_view scheduler,
                       std::string_view plan);

}  // namespace makeway::kube
