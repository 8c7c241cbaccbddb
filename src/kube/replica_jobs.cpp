#include "kube/replica_jobs.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "codec/replica_status_writer.hpp"

namespace makeway::kube {
namespace {

class ReplicaJobs {
 public:
  ReplicaJobs(const Plan& plan, const SightBook& home, const PlaneBooks& planes, PlanJobs& made)
      : plan_(plan), home_(home), planes_(planes), made_(made) {}

  void build(const EvictionBrake& brake) {
    if (brake) hold_back_braked(brake);
    for (const PlanReplicaStatus& next : plan_.replica_status) add_status(next);
    for (const PlanAction& action : plan_.actions) {
      if (is_of_replicas(action)) add(action);
    }
  }

 private:
  struct Refusal {
    std::string reason;
    std::optional<Time> again_at = std::nullopt;
  };

  void hold_back_braked(const EvictionBrake& brake) {
    std::map<std::string, std::vector<const PlanAction*>> victims;
    for (const PlanAction& action : plan_.actions) {
      if (action.type == ActionType::scale_down) victims[action.ask].push_back(&action);
    }
    for (const PlanAsk& ask : plan_.asks) {  // In their order: the important ones first.
      const auto found = victims.find(ask_text(ask));
      if (found == victims.end()) continue;
      const BrakeAnswer answer = brake(ask, found->second);
      if (!answer.why.empty()) refused_[found->first] = {answer.why, answer.until};
    }
  }

  void add_status(const PlanReplicaStatus& next) {
    const std::string object = fmt::format("ReplicaSchedule {}/{}", next.namespace_name, next.name);
    const BookedSight* const seen =
        home_.own(ObjectKind::replica_schedule, next.namespace_name, next.name);
    if (seen == nullptr) refused_[object] = {.reason = "it is gone"};
    if (const auto refused = refused_.find(object); refused != refused_.end()) {
      made_.refused.push_back({.plan = plan_.id,
                               .object = object,
                               .reason = refused->second.reason,
                               .ask = object,
                               .again_at = refused->second.again_at});
      return;
    }
    statuses_[object] = made_.jobs.size();
    WriteStep step{.kind = WriteKind::patch_own, .node = {}, .patch = {}};
    step.status = status_patch(next.status);
    made_.jobs.push_back({.object = object,
                          .ask = object,
                          .unit = {},
                          .seen = *seen,
                          .steps = {std::move(step)},
                          .needs = {}});
  }

  void refuse(const PlanAction& action, std::string reason,
              std::optional<Time> again_at = std::nullopt) {
    made_.refused.push_back({.plan = plan_.id,
                             .object = told_name(action),
                             .reason = std::move(reason),
                             .ask = action.ask,
                             .again_at = again_at});
  }

  static std::string told_name(const PlanAction& action) {
    return fmt::format("{} {}/{}", action.scale ? "Deployment" : "Pod", action.namespace_name,
                       action.name);
  }

  void add(const PlanAction& action) {
    const std::string& plane = action.scale ? action.scale->plane : action.plane;
    const auto found = planes_.find(plane);
    if (found == planes_.end()) {
      return refuse(action, fmt::format("this run has no --plane {}=KUBECONFIG", plane));
    }
    if (!found->second.sees) return refuse(action, fmt::format("plane {} is not seen", plane));
    if (const auto refused = refused_.find(action.ask); refused != refused_.end()) {
      return refuse(action, fmt::format("of {}: {}", action.ask, refused->second.reason),
                    refused->second.again_at);
    }
    if (action.scale) return add_scale(action, found->second);
    add_force_delete(action, found->second);
  }

  WriteJob job_for(const PlanAction& action, const std::string& plane, BookedSight seen) const {
    WriteJob job{.object = fmt::format("{} of plane {}", told_name(action), plane),
                 .ask = action.ask,
                 .unit = {},
                 .seen = std::move(seen),
                 .steps = {},
                 .needs = {}};
    job.plane = plane;
    job.told = told_name(action);
    // A pause of evictions holds back whatever makes a pod leave.
    job.is_eviction = action.type != ActionType::scale_up;
    if (const auto status = statuses_.find(action.ask); status != statuses_.end()) {
      job.needs.push_back(status->second);
    }
    return job;
  }

  void add_scale(const PlanAction& action, const PlaneBook& plane) {
    const auto* const known = plane.deployments.find(action.namespace_name, action.name);
    if (known == nullptr) return refuse(action, "it is gone");
    const std::string autoscaler =
        plane.deployments.autoscaler_of(action.namespace_name, action.name);
    if (!autoscaler.empty()) {
      return refuse(action, fmt::format("HorizontalPodAutoscaler {}/{} scales it",
                                        action.namespace_name, autoscaler));
    }
    BookedSight seen;
    seen.object.namespace_name = action.namespace_name;
    seen.object.name = action.name;
    seen.object.uid = known->uid;
    WriteJob job = job_for(action, action.scale->plane, std::move(seen));
    for (const WriteKind kind : {WriteKind::read_scale, WriteKind::scale}) {
      WriteStep step{.kind = kind, .node = {}, .patch = {}};
      step.replicas_from = action.scale->committed_before;
      step.replicas_to = action.scale->committed_after;
      job.steps.push_back(std::move(step));
    }
    made_.jobs.push_back(std::move(job));
  }

  void add_force_delete(const PlanAction& action, const PlaneBook& plane) {
    const BookedSight* const seen = plane.objects.pod(action.namespace_name, action.name);
    if (seen == nullptr || (!action.uid.empty() && seen->object.uid != action.uid)) {
      return refuse(action, "it is gone");
    }
    WriteJob job = job_for(action, action.plane, *seen);
    const bool is_alive = plane.objects.node(seen->object.node) == NodeState::alive;
    if (!is_alive && seen->object.phase != "Failed") {
      job.steps.push_back({.kind = WriteKind::patch_pod, .node = {}, .patch = {.phase = "Failed"}});
    }
    job.steps.push_back({.kind = WriteKind::erase, .node = {}, .patch = {}, .grace_seconds = 0});
    made_.jobs.push_back(std::move(job));
  }

  const Plan& plan_;
  const SightBook& home_;
  const PlaneBooks& planes_;
  PlanJobs& made_;
  std::map<std::string, std::size_t> statuses_;  ///< Jobs, by schedule.
  std::map<std::string, Refusal> refused_;       ///< Schedules that are gone or held back.
};

}  // namespace

bool is_of_replicas(const PlanAction& action) {
  return action.scale || (action.type == ActionType::force_delete && !action.plane.empty());
}

void add_replica_jobs(const Plan& plan, const SightBook& home, const PlaneBooks& planes,
                      const EvictionBrake& brake, PlanJobs& made) {
  ReplicaJobs(plan, home, planes, made).build(brake);
}

std::string status_patch(const ReplicaStatus& status) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  write_replica_status(writer, status);
  while (text.ends_with('\n')) text.pop_back();
  text.pop_back();  // Its end.
  const auto drop = [&text](std::string_view list) {
    text += fmt::format(R"({}"{}":null)", text.ends_with('{') ? "" : ",", list);
  };
  if (status.claims.empty()) drop("claims");
  if (status.missed.empty()) drop("missed");
  if (status.surplus.empty()) drop("surplus");
  return text + "}";
}

}  // namespace makeway::kube
