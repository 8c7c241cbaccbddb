// Agenda: what will happen in the simulated world, and when.
//
// Events of the same instant happen in the order in which they were planned.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace makeway {

enum class Happening : std::uint8_t {
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
  Happening what = Happening::arrives;
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

}  // namespace makeway
