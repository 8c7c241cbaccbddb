#include "policies/shared/deciding.hpp"

#include <algorithm>

namespace makeway {

void Deciding::start_queues() {
  end();
  queues_ = true;
  notify();
}

void Deciding::start(UnitIndex unit) {
  end();
  unit_ = unit;
  notify();
}

void Deciding::start(AskName session) {
  end();
  session_ = std::move(session);
  notify();
}

void Deciding::start_replicas() {
  end();
  replicas_ = true;
}

void Deciding::start(const ReplicaSchedule& schedule) {
  end();
  schedule_ = &schedule;
  notify();
}

void Deciding::end() {
  queues_ = false;
  replicas_ = false;
  unit_ = {};
  session_.reset();
  schedule_ = nullptr;
}

std::vector<AskName> Deciding::current_asks() const {
  if (queues_) return {{.kind = AskKind::queue, .namespace_name = {}, .name = {}}};
  if (unit_.exists()) return {ask_name_of(cluster_, unit_)};
  if (session_) return {*session_};
  if (schedule_ != nullptr) return {ask_name_of(*schedule_)};
  std::vector<AskName> all;
  if (!replicas_) return all;
  for (const auto& [key, schedule] : cluster_.own<ReplicaSchedule>()) {
    all.push_back(ask_name_of(schedule));
  }
  return all;
}

void Deciding::notify() const {
  if (watcher_) watcher_(current_asks().front());
}

AskName ask_name_of(const ReplicaSchedule& schedule) {
  return {.kind = AskKind::replica_schedule,
          .namespace_name = schedule.namespace_name,
          .name = schedule.name};
}

bool is_left_out(const PlanRequest& request, const AskName& ask) {
  return std::ranges::any_of(request.left_out, [&](const PlanLeftOut& left) {
    return left.kind == ask.kind && left.namespace_name == ask.namespace_name &&
           left.name == ask.name;
  });
}

}  // namespace makeway
