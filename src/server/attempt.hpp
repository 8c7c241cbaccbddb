// attempt: what viewers ask for never costs the scheduler its life (law 14).
#pragma once

#include <exception>
#include <string_view>

#include "base/check.hpp"
#include "server/notices.hpp"

namespace makeway::server {

struct Containment {
  /// False: bugs stop the process, so that tests hide none.
  bool contains_bugs = false;
  Notices* notices = nullptr;  ///< Gets what was contained; null: it is not reported.
};

/// False: it failed, by a bug of ours or for want of memory, and what it was working on cannot be
/// trusted. `kind` says at what, for the log.
template <class Work>
bool attempt(const Containment& containment, std::string_view kind, const Work& work) {
  if (!containment.contains_bugs) {
    work();
    return true;
  }
  try {
    const CheckContainment contained;
    work();
    return true;
  } catch (const std::exception& failure) {
    if (containment.notices != nullptr) containment.notices->report(kind, failure.what());
    return false;
  }
}

}  // namespace makeway::server
