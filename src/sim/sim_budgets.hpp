// SimBudgets: the disruption controller of the simulated world.
//
// A PodDisruptionBudget allows one disruption less when a pod that it governs starts to leave or is
// gone, and one more when such a pod runs. As in Kubernetes the status says so a moment later:
// until then the evicting client has to remember what it has done (SPEC section 8, Assumed state).
//
// What the status says in the beginning is taken for true; the numbers of the spec are not counted
// again.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/objects.hpp"

namespace makeway {

class SimBudgets {
 public:
  bool empty() const { return budgets_.empty(); }
  /// It is there from now on, or was changed by another client.
  void write(const DisruptionBudget& budget);
  void remove(const Removal& gone);

  /// A pod of these runs, or does not any more. True: some status will change.
  bool count(const Pod& pod, std::int64_t more);
  /// The controller acts: statuses that changed.
  std::vector<DisruptionBudget> take_changed();

  void list(std::vector<Change>& objects) const;

 private:
  struct Entry {
    DisruptionBudget object;
    std::int64_t allowed = 0;  ///< Below 0 where too many were disrupted.
  };

  std::map<ObjectKey, Entry, ObjectKeyLess> budgets_;
};

}  // namespace makeway
