// Queue: a share of the cluster that a team's pods run in (SPEC section 3).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/amounts.hpp"
#include "model/kinds.hpp"

namespace makeway {

/// The queue, if there is one, of pods that name none and whose namespace none lists. Without it
/// they are outside every queue.
inline constexpr std::string_view default_queue_name = "default";

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
  std::vector<std::string> namespaces;  ///< Their pods belong here unless a label says otherwise.
  // As the last cycle left it. The next one computes the last two anew.
  Quotas allocated;    ///< What may run in it; a resource that is missing counts as used.
  Amounts preempting;  ///< Promised: becomes allocated when the pods that hold it are gone.
  Quotas deserved;
  Quotas used;

  friend bool operator==(const Queue&, const Queue&) = default;
};

}  // namespace makeway
