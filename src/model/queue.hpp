// Queue: a share of the cluster that a team's pods run in (SPEC section 3).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/amounts.hpp"
#include "model/kinds.hpp"

namespace makeway {

struct Queue {
  std::string name;
  std::string uid;
  std::string plane;  ///< Empty: home.
  std::int64_t weight = 1;
  std::string parent;  ///< Empty: it divides the cluster itself.
  std::int32_t priority = 0;
  bool reclaimable = true;  ///< False: it gives only what it does not use.
  Amounts guarantee;        ///< A floor of what it deserves.
  Quotas limit;             ///< A cap of what it deserves; a resource that is missing has none.
  // As the last cycle left it; the rest of the status is only written.
  Quotas allocated;    ///< What may run in it; a resource that is missing counts as used.
  Amounts preempting;  ///< Promised: becomes allocated when the pods that hold it are gone.

  friend bool operator==(const Queue&, const Queue&) = default;
};

}  // namespace makeway
