// SimWatch: what the simulated world shows of itself, as the watches of an API server do.
//
// Changes come in the order in which they happened. As a fault one may be held back for a while;
// whatever happens to the same object meanwhile is held back with it. A new list shows everything
// as it is.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "control/port.hpp"
#include "sim/agenda.hpp"
#include "sim/faults.hpp"

namespace makeway {

/// Which object a change is about.
using WatchKey = std::tuple<ObjectKind, ObjectKey>;
WatchKey watch_key(const Change& change);

class SimWatch {
 public:
  /// Both outlive it.
  SimWatch(Agenda& agenda, Faults& faults) : agenda_(agenda), faults_(faults) {}

  void show(Change change, Time now);
  void refuse(Receipt receipt) { batch_.receipts.push_back(std::move(receipt)); }
  /// Something about the object is not shown yet.
  bool holds_back(ObjectKind kind, const std::string& namespace_name, const std::string& name,
                  const std::string& plane = {}) const;
  /// What was held back until now.
  void release(Time now);
  bool has_changes() const { return !batch_.changes.empty(); }
  Batch take();
  /// The watching client starts anew, with these.
  void list_anew(std::vector<Change> objects);

 private:
  struct Held {
    Time until;
    std::vector<Change> changes;
  };

  Agenda& agenda_;
  Faults& faults_;
  Batch batch_;
  std::map<WatchKey, Held> held_;
};

}  // namespace makeway
