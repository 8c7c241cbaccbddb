// Deciding: whose turn it is, so that a bug costs nobody else their plan (law 14).
//
// Stages and asks say here who they work for before they start. When a CHECK fails, whoever
// contains it finds the one who is to be left out.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "model/request.hpp"

namespace makeway {

class Deciding {
 public:
  /// Hears of every turn that starts: tests make somebody fail there.
  using Watcher = std::function<void(const AskName&)>;

  explicit Deciding(const Cluster& cluster, Watcher watcher = {})
      : cluster_(cluster), watcher_(std::move(watcher)) {}

  void start_queues();
  void start(UnitIndex unit);
  void start(AskName session);
  void start(const ReplicaSchedule& schedule);
  void end();

  /// Nobody: it happened before, after or between the asks.
  std::optional<AskName> whose_turn() const;

 private:
  void tell() const;

  const Cluster& cluster_;
  Watcher watcher_;
  // At most one of them; names are made when they are needed.
  bool queues_ = false;
  UnitIndex unit_;
  std::optional<AskName> session_;
  const ReplicaSchedule* schedule_ = nullptr;
};

/// The pod, or the group.
AskName ask_name_of(const Cluster& cluster, UnitIndex unit);

bool is_left_out(const PlanRequest& request, const AskName& ask);

}  // namespace makeway
