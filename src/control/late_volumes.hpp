// LateVolumes: claims that are bound to a volume which the watch has not shown yet.
//
// Claims and volumes come through two watches, and one of them may lag behind. A claim without its
// volume fits nowhere: the pod that it belongs to would lose the room that is held for it (SPEC
// section 8, provision a volume) in the moment in which it could be bound, to the next ask. So
// such a claim is shown as it was before, until its volume is there, for `wait_max` at most: a
// volume that was deleted never comes.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "model/cluster.hpp"
#include "model/object_at.hpp"

namespace makeway {

class LateVolumes {
 public:
  explicit LateVolumes(Duration wait_max) : wait_max_(wait_max) {}

  /// What is shown instead of these changes of what was `shown` so far.
  std::vector<Change> show(std::vector<Change> changes, const Cluster& shown, Time now);
  /// When a claim is shown whose volume has not come; none: none is held.
  std::optional<Time> next_due() const;

 private:
  struct Held {
    PersistentVolumeClaim claim;
    Time until;
  };

  Duration wait_max_;
  std::map<ChangeKey, Held> held_;
};

}  // namespace makeway
