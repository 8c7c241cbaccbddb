// attempt: what viewers ask for never costs the scheduler its life (law 14).
#pragma once

#include <exception>

#include "base/check.hpp"

namespace makeway::server {

/// False: it failed, by a bug of ours or for want of memory, and what it was working on cannot be
/// trusted. Where bugs are not contained they stop the process, so that tests hide none.
template <class Work>
bool attempt(bool contains_bugs, const Work& work) {
  if (!contains_bugs) {
    work();
    return true;
  }
  try {
    const CheckContainment contained;
    work();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace makeway::server
