// Deciding: the current ask, so that a bug leaves out that ask only (law 14).
//
// Stages and asks say here which ask they decide before they start. When a CHECK fails, the
// containment finds the ask that is to be left out.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "model/request.hpp"
#include "model/unit_ask.hpp"

namespace makeway {

class Deciding {
 public:
  /// Is called for every turn that starts: tests make an ask fail there.
  using Watcher = std::function<void(const AskName&)>;

  explicit Deciding(const Cluster& cluster, Watcher watcher = {})
      : cluster_(cluster), watcher_(std::move(watcher)) {}

  void start_queues();
  void start(UnitIndex unit);
  void start(AskName session);
  /// What is common to all schedules: a failure there leaves out all of them.
  void start_replicas();
  void start(const ReplicaSchedule& schedule);
  void end();

  /// None: it happened before, after or between the asks.
  std::vector<AskName> current_asks() const;

 private:
  void notify() const;

  const Cluster& cluster_;
  Watcher watcher_;
  // At most one of them; names are made when they are needed.
  bool queues_ = false;
  bool replicas_ = false;
  UnitIndex unit_;
  std::optional<AskName> session_;
  const ReplicaSchedule* schedule_ = nullptr;
};

AskName ask_name_of(const ReplicaSchedule& schedule);

bool is_left_out(const PlanRequest& request, const AskName& ask);

}  // namespace makeway
