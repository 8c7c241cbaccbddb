// SimState: what the parts of the simulated world share.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "control/port.hpp"
#include "model/objects.hpp"
#include "sim/faults.hpp"
#include "sim/sim_metrics.hpp"
#include "sim/sim_nodes.hpp"
#include "sim/sim_options.hpp"

namespace makeway {

// Agenda: what will happen in the simulated world, and when.
//
// Events of the same instant happen in the order in which they were planned.

enum class EventKind : std::uint8_t {
  arrives,         ///< A task.
  ends,            ///< A run.
  gone,            ///< A pod that was evicted.
  comes_back,      ///< A pod, made again by its controller.
  sample,          ///< The metrics are taken.
  shown,           ///< Changes that were held back.
  node_returns,    ///< A node that was lost.
  session_leaves,  ///< Its grace time is over.
  session_back,    ///< Its user wants it back.
  reconcile,       ///< The controller of a deployment acts.
  replica_gone,    ///< A pod of a deployment.
  budgets,         ///< The disruption controller acts.
};

struct Event {
  Time when;
  std::uint64_t number = 0;
  EventKind what = EventKind::arrives;
  std::uint32_t subject = 0;
  std::uint32_t life = 0;  ///< The runner it is for: no later one in its place has that number.
  std::int64_t member = 0;
  std::int64_t attempt = 0;

  friend bool operator>(const Event& a, const Event& b) {
    return std::pair(a.when.ms, a.number) > std::pair(b.when.ms, b.number);
  }
};

class Agenda {
 public:
  void expect(Event event) {
    event.number = ++made_;
    events_.push(event);
  }
  bool empty() const { return events_.empty(); }
  std::size_t size() const { return events_.size(); }
  const Event& next() const { return events_.top(); }
  Event take() {
    const Event event = events_.top();
    events_.pop();
    return event;
  }

 private:
  std::uint64_t made_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

// SimBudgets: the disruption controller of the simulated world.
//
// A PodDisruptionBudget allows one disruption less when a pod that it governs starts to leave or is
// gone, and one more when such a pod runs. As in Kubernetes the status says so a moment later:
// until then the evicting client has to remember what it has done (SPEC section 8, Assumed state).
//
// What the status says in the beginning is taken for true; the numbers of the spec are not counted
// again.

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

// SimWatch: what the simulated world shows of itself, as the watches of an API server do.
//
// Changes come in the order in which they happened. As a fault one may be held back for a while;
// whatever happens to the same object meanwhile is held back with it. A new list shows everything
// as it is.

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

struct SimState {
  SimState(const SimLoad& from, const SimOptions& how);

  void show(Change change) { watch.show(std::move(change), now); }
  /// An action of the plan is not carried out. `by_fault`: the planner could not know; otherwise
  /// the plan was wrong.
  void refuse(Receipt receipt, bool by_fault);
  /// The planner may not have seen what became of the object.
  bool is_unseen(ObjectKind kind, const std::string& namespace_name, const std::string& name,
                 const std::string& plane = {}) const;
  /// On its node; a pod without one occupies nothing.
  void occupy(const Pod& pod, std::int64_t sign);
  /// A pod runs, or does not any more: its budgets will say so.
  void count_running(const Pod& pod, std::int64_t more);
  /// When a pod is gone that has a deletion timestamp; none: never.
  std::optional<Time> gone_at(const Pod& pod);
  /// The same for a pod that was leaving from the start: no fault of ours holds it back.
  std::optional<Time> adopted_gone_at(const Pod& pod);

  const SimLoad& load;  ///< Outlives it.
  SimOptions options;
  Time now;
  Agenda agenda;
  Faults faults;
  SimWatch watch;
  SimNodes nodes;
  SimBudgets budgets;
  SimMetrics metrics;
};

/// "default/web" at home, else "east:default/web".
std::string sim_name(const std::string& namespace_name, const std::string& name,
                     const std::string& plane = {});
std::string sim_name(const Pod& pod);
/// Where it runs, by `place_name`.
std::string place_of(const Pod& pod);

}  // namespace makeway
