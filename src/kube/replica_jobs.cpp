#include "kube/replica_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codec/replica_status_writer.hpp"
#include "model/request.hpp"

namespace makeway::kube {
namespace {

class ReplicaJobs {
 public:
  ReplicaJobs(const Plan& plan, const VersionCache& home, const PlaneCaches& planes, PlanJobs& made)
      : plan_(plan), home_(home), planes_(planes), made_(made) {}

  void build(const EvictionBrake& brake) {
    if (brake) hold_back(brake);
    for (const PlanReplicaStatus& next : plan_.replica_status) add_status(next);
    for (const auto& [object, held] : held_back_) take_back(object, held);
    for (const PlanAction& action : plan_.actions) {
      if (is_of_replicas(action)) add(action);
    }
  }

 private:
  using Steps = std::vector<const PlanAction*>;
  struct HeldBack {
    const PlanAsk& ask;
    BrakeAnswer by;
    std::set<ObjectRef> victims;  ///< Of claims that are not recorded.
  };

  void hold_back(const EvictionBrake& brake) {
    std::map<ObjectRef, Steps> steps;
    for (const PlanAction& action : plan_.actions) {
      if (action.type != ActionType::scale_down) continue;
      if (action.ask) steps[*action.ask].push_back(&action);
    }
    std::map<ObjectRef, BrakeAnswer> before;  // By Deployment: why it is not scaled down yet.
    for (const PlanAsk& ask : plan_.asks) {   // In their order: the important ones first.
      const auto found = steps.find(ref_of(ask));
      if (found == steps.end()) continue;
      BrakeAnswer answer = comes_after(found->second, before);
      if (answer.why.empty()) answer = brake(ask, found->second);
      if (answer.why.empty()) continue;
      for (const PlanAction* const step : found->second) {
        before.try_emplace(deployment_of(*step),
                           BrakeAnswer{.why = fmt::format("{} comes first there: {}",
                                                          ref_text(found->first), answer.why),
                                       .until = answer.until});
      }
      held_back_.try_emplace(
          found->first,
          HeldBack{.ask = ask, .by = std::move(answer), .victims = unrecorded_victims(ask)});
    }
  }

  static ObjectRef deployment_of(const PlanAction& step) {
    return {.kind = RefKind::deployment,
            .namespace_name = step.namespace_name,
            .name = step.name,
            .plane = step.scale->plane};
  }

  static BrakeAnswer comes_after(const Steps& steps,
                                 const std::map<ObjectRef, BrakeAnswer>& before) {
    for (const PlanAction* const step : steps) {
      const auto found = before.find(deployment_of(*step));
      if (found != before.end()) return found->second;
    }
    return {};
  }

  static std::set<ObjectRef> unrecorded_victims(const PlanAsk& ask) {
    std::set<ObjectRef> victims;
    if (!ask.replicas) return victims;
    for (const PlanReplicaClaim& claim : ask.replicas->claims) {
      const auto taken =
          std::ranges::count(claim.victims, ReplicaAction::scale_down, &PlanReplicaVictim::action);
      const bool has_begun = claim.kept && taken < std::ssize(claim.victims);
      if (taken == 0 || has_begun) continue;
      for (const PlanReplicaVictim& victim : claim.victims) {
        victims.insert(pod_ref(victim.namespace_name, victim.name, claim.plane));
      }
    }
    return victims;
  }

  /// Without the claims that are held back. One that also lists a pod that is gone has begun.
  static ReplicaStatus recorded(ReplicaStatus status, const HeldBack& held) {
    std::erase_if(status.claims, [&](const ReplicaClaim& claim) {
      const auto is_held = [&](const ClaimedVictim& victim) {
        return held.victims.contains(pod_ref(victim.namespace_name, victim.name, claim.plane));
      };
      return !claim.victims.empty() && std::ranges::all_of(claim.victims, is_held);
    });
    return status;
  }

  void add_status(const PlanReplicaStatus& next) {
    const ObjectRef object{.kind = RefKind::replica_schedule,
                           .namespace_name = next.namespace_name,
                           .name = next.name};
    const CachedObject* const seen =
        home_.own(ObjectKind::replica_schedule, next.namespace_name, next.name);
    const auto refuse_status = [&](std::string reason, std::optional<Time> again_at) {
      made_.refused.push_back({.plan = plan_.id,
                               .object = object,
                               .reason = std::move(reason),
                               .ask = object,
                               .again_at = again_at});
    };
    if (seen == nullptr) {
      gone_.insert(object);
      return refuse_status("it is gone", std::nullopt);
    }
    ReplicaStatus status = next.status;
    if (const auto held = held_back_.find(object); held != held_back_.end()) {
      status = recorded(std::move(status), held->second);
      const ReplicaStatus* const shown = home_.replica_status(next.namespace_name, next.name);
      // A patch that changes nothing would never be seen.
      const bool is_same = shown == nullptr ? status == ReplicaStatus{} : status == *shown;
      if (is_same) return refuse_status(held->second.by.why, held->second.by.until);
    }
    write_status(object, *seen, status);
  }

  /// A claim that was recorded before, and about which the plan has nothing new.
  void take_back(const ObjectRef& object, const HeldBack& held) {
    const PlanAsk& ask = held.ask;
    const auto is_it = [&](const PlanReplicaStatus& next) {
      return next.namespace_name == ask.namespace_name && next.name == ask.name;
    };
    const ReplicaStatus* const shown = home_.replica_status(ask.namespace_name, ask.name);
    const CachedObject* const seen =
        home_.own(ObjectKind::replica_schedule, ask.namespace_name, ask.name);
    if (shown == nullptr || seen == nullptr || std::ranges::any_of(plan_.replica_status, is_it)) {
      return;
    }
    const ReplicaStatus status = recorded(*shown, held);
    if (status != *shown) write_status(object, *seen, status);
  }

  void write_status(const ObjectRef& object, const CachedObject& seen,
                    const ReplicaStatus& status) {
    statuses_[object] = made_.jobs.size();
    WriteStep step{.kind = WriteKind::patch_own};
    step.status = status_patch(status);
    made_.jobs.push_back(
        {.object = object, .ask = object, .seen = seen, .steps = {std::move(step)}});
  }

  void refuse(const PlanAction& action, std::string reason,
              std::optional<Time> again_at = std::nullopt) {
    made_.refused.push_back({.plan = plan_.id,
                             .object = written_object(action),
                             .reason = std::move(reason),
                             .ask = action.ask,
                             .again_at = again_at});
  }

  static const std::string& plane_of(const PlanAction& action) {
    return action.scale ? action.scale->plane : action.plane;
  }

  static ObjectRef written_object(const PlanAction& action) {
    return action.scale ? deployment_of(action)
                        : pod_ref(action.namespace_name, action.name, action.plane);
  }

  void add(const PlanAction& action) {
    const std::string& plane = plane_of(action);
    const auto found = planes_.find(plane);
    if (found == planes_.end()) {
      return refuse(action, fmt::format("this run has no --plane {}=KUBECONFIG", plane));
    }
    if (!found->second.sees) return refuse(action, fmt::format("plane {} is not seen", plane));
    if (action.ask && gone_.contains(*action.ask)) {
      return refuse(action, fmt::format("of {}: it is gone", ref_text(*action.ask)));
    }
    if (const BrakeAnswer* const by = brake_on(action)) {
      return refuse(action, fmt::format("of {}: {}", ref_text(action.ask), by->why), by->until);
    }
    if (action.scale) return add_scale(action, found->second);
    add_force_delete(action, found->second);
  }

  /// Null: no brake holds it back.
  const BrakeAnswer* brake_on(const PlanAction& action) const {
    const auto held = action.ask ? held_back_.find(*action.ask) : held_back_.end();
    if (held == held_back_.end() || action.type == ActionType::scale_up) return nullptr;
    const bool stands = action.type == ActionType::force_delete &&
                        !held->second.victims.contains(written_object(action));
    return stands ? nullptr : &held->second.by;
  }

  WriteJob job_for(const PlanAction& action, CachedObject seen) const {
    WriteJob job{.object = written_object(action), .ask = action.ask, .seen = std::move(seen)};
    // A pause of evictions holds back whatever makes a pod leave.
    job.is_eviction = action.type != ActionType::scale_up;
    if (!job.ask) return job;
    if (const auto status = statuses_.find(*job.ask); status != statuses_.end()) {
      job.needs.push_back(status->second);
    }
    return job;
  }

  void add_scale(const PlanAction& action, const PlaneCache& plane) {
    const auto* const known = plane.deployments.find(action.namespace_name, action.name);
    if (known == nullptr) return refuse(action, "it is gone");
    const std::string autoscaler =
        plane.deployments.autoscaler_of(action.namespace_name, action.name);
    if (!autoscaler.empty()) {
      return refuse(action, fmt::format("HorizontalPodAutoscaler {}/{} scales it",
                                        action.namespace_name, autoscaler));
    }
    CachedObject seen;
    seen.object.namespace_name = action.namespace_name;
    seen.object.name = action.name;
    seen.object.uid = known->uid;
    WriteJob job = job_for(action, std::move(seen));
    for (const WriteKind kind : {WriteKind::read_scale, WriteKind::scale}) {
      WriteStep step{.kind = kind};
      step.replicas_from = action.scale->committed_before;
      step.replicas_to = action.scale->committed_after;
      job.steps.push_back(std::move(step));
    }
    made_.jobs.push_back(std::move(job));
  }

  void add_force_delete(const PlanAction& action, const PlaneCache& plane) {
    const CachedObject* const seen = plane.objects.pod(action.namespace_name, action.name);
    if (seen == nullptr || (!action.uid.empty() && seen->object.uid != action.uid)) {
      return refuse(action, "it is gone");
    }
    WriteJob job = job_for(action, *seen);
    const bool is_alive = plane.objects.node(seen->object.node) == NodeState::alive;
    if (!is_alive && seen->object.phase != "Failed") {
      job.steps.push_back({.kind = WriteKind::patch_pod, .patch = {.phase = "Failed"}});
    }
    job.steps.push_back({.kind = WriteKind::erase, .grace_seconds = 0});
    made_.jobs.push_back(std::move(job));
  }

  const Plan& plan_;
  const VersionCache& home_;
  const PlaneCaches& planes_;
  PlanJobs& made_;
  std::map<ObjectRef, std::size_t> statuses_;  ///< Jobs, by schedule.
  std::map<ObjectRef, HeldBack> held_back_;    ///< By schedule.
  std::set<ObjectRef> gone_;                   ///< Schedules.
};

}  // namespace

bool is_of_replicas(const PlanAction& action) {
  return action.scale || (action.type == ActionType::force_delete && !action.plane.empty());
}

void add_replica_jobs(const Plan& plan, const VersionCache& home, const PlaneCaches& planes,
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
