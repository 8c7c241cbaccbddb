// LostCapacity: a node that is there and suddenly offers less may offer it again in a minute: a
// device plugin restarts. No pod is evicted for a queue meanwhile (SPEC section 8, Brakes:
// capacityGrace; docs/decisions/0027-queues-live.md).
//
// A node that is removed was not lost, and one that is not ready offers what it offered.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "model/objects.hpp"

namespace makeway {

class LostCapacity {
 public:
  /// 0: nothing counts as lost.
  explicit LostCapacity(Duration grace) : grace_(grace) {}

  void note(const std::vector<Change>& changes, Time now);

  struct Loss {
    std::string node;
    std::string resource;
    Time since;
    Time until;
  };
  /// The newest that is not over; none: queues follow what nodes offer.
  std::optional<Loss> newest(Time now);

 private:
  struct Lost {
    std::int64_t had = 0;
    Time since;
  };
  void note_node(const Node& node, Time now);

  Duration grace_;
  std::map<std::string, Amounts> offered_;                    ///< By node.
  std::map<std::pair<std::string, std::string>, Lost> lost_;  ///< By node and resource.
};

}  // namespace makeway
