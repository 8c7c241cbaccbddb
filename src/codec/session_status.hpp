// The status of a Session as a live cluster keeps it: what a merge patch must say.
#pragma once

#include <string>

#include "model/session_objects.hpp"

namespace makeway {

/// A JSON object, on one line. What the session does not have is null, so that a merge removes it.
/// Checkpoints and conditions are left out: others write them.
std::string session_status_patch(const Session& session);

}  // namespace makeway
