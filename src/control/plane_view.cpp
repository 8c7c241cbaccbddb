#include "control/plane_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace makeway {
namespace {

void add_note(std::string& note, std::string text) {
  note += note.empty() ? std::move(text) : fmt::format("; {}", text);
}

Node closed_node(Node node) {
  node.unschedulable = true;
  return node;
}

}  // namespace

// ---- Deployments --------------------------------------------------------------------------------

void DeploymentCache::take(const PlaneUpdates& updates) {
  for (const DeploymentUpdate& each : updates.deployments) {
    Name name{each.namespace_name, each.name};
    if (each.replicas) {
      deployments_.insert_or_assign(std::move(name),
                                    Known{.uid = each.uid, .replicas = *each.replicas});
    } else {
      deployments_.erase(name);
    }
  }
  for (const AutoscalerUpdate& each : updates.autoscalers) {
    Name name{each.namespace_name, each.name};
    if (each.deployment.empty()) {
      autoscalers_.erase(name);
    } else {
      autoscalers_.insert_or_assign(std::move(name), each.deployment);
    }
  }
}

const DeploymentCache::Known* DeploymentCache::find(std::string_view namespace_name,
                                                    std::string_view name) const {
  const auto found = deployments_.find(Name(namespace_name, name));
  return found == deployments_.end() ? nullptr : &found->second;
}

std::string DeploymentCache::autoscaler_of(std::string_view namespace_name,
                                           std::string_view name) const {
  for (auto at = autoscalers_.lower_bound(Name(namespace_name, ""));
       at != autoscalers_.end() && at->first.first == namespace_name; ++at) {
    if (at->second == name) return at->first.second;
  }
  return {};
}

// ---- The view -----------------------------------------------------------------------------------

PlaneView::PlaneView(const std::vector<std::string>& planes, bool needs_selector)
    : needs_selector_(needs_selector) {
  for (const std::string& plane : planes) planes_.try_emplace(plane);
}

std::vector<Change> PlaneView::show(std::vector<Change> home, std::vector<PlaneState> planes,
                                    Time now) {
  std::vector<Change> shown;
  shown.reserve(home.size());
  take_home(std::move(home), shown);
  for (PlaneState& seen_object : planes) take_plane(std::move(seen_object), shown);
  if (is_stale_ || (next_due_ && *next_due_ <= now)) show_schedules(shown, now);
  is_stale_ = false;
  return shown;
}

void PlaneView::take_home(std::vector<Change> changes, std::vector<Change>& shown) {
  for (Change& change : changes) {
    if (const auto* const schedule = std::get_if<ReplicaSchedule>(&change)) {
      schedules_.insert_or_assign(Name(schedule->namespace_name, schedule->name), *schedule);
      is_stale_ = true;
      continue;
    }
    const auto* const gone = std::get_if<Removal>(&change);
    if (gone != nullptr && gone->kind == ObjectKind::replica_schedule) {
      schedules_.erase(Name(gone->namespace_name, gone->name));
      is_stale_ = true;
      continue;
    }
    shown.push_back(std::move(change));
  }
}

void PlaneView::take_plane(PlaneState seen_object, std::vector<Change>& shown) {
  State& state = planes_[seen_object.plane];
  const bool turns = seen_object.sees != state.sees;
  state.sees = seen_object.sees;
  is_stale_ = is_stale_ || (seen_object.sees && !state.was_seen) ||
              !seen_object.updates.deployments.empty() || !seen_object.updates.autoscalers.empty();
  state.was_seen = state.was_seen || seen_object.sees;
  state.deployments.take(seen_object.updates);
  for (Change& change : seen_object.changes) {
    if (const auto* const node = std::get_if<Node>(&change)) {
      state.nodes.insert_or_assign(node->name, *node);
      if (!turns) shown.emplace_back(state.sees ? *node : closed_node(*node));
      continue;
    }
    const auto* const gone = std::get_if<Removal>(&change);
    if (gone != nullptr && gone->kind == ObjectKind::node) state.nodes.erase(gone->name);
    note_pod(change, state);
    shown.push_back(std::move(change));
  }
  if (!turns) return;
  for (const auto& [name, node] : state.nodes) {
    shown.emplace_back(state.sees ? node : closed_node(node));
  }
}

void PlaneView::note_pod(const Change& change, State& state) {
  const auto* const gone = std::get_if<Removal>(&change);
  if (gone != nullptr && gone->kind == ObjectKind::pod) {
    state.terminating.erase({gone->namespace_name, gone->name});
  }
  const auto* const pod = std::get_if<Pod>(&change);
  if (pod == nullptr) return;
  std::pair name(pod->namespace_name, pod->name);
  if (pod->deletion && pod->deletion_grace_seconds != 0) {
    state.terminating.insert_or_assign(std::move(name), pod->uid);
  } else {
    state.terminating.erase(name);
  }
}

/// Rule 5.
void PlaneView::forget_unsent(ReplicaSchedule& schedule, Time now) {
  for (ReplicaClaim& claim : schedule.status.claims) {
    const auto plane = planes_.find(claim.plane);
    if (plane == planes_.end() || !plane->second.sees) continue;
    for (ClaimedVictim& victim : claim.victims) {
      const auto pod = plane->second.terminating.find({victim.namespace_name, victim.name});
      const bool is_there = pod != plane->second.terminating.end() &&
                            (victim.uid.empty() || victim.uid == pod->second);
      if (!victim.force_deleted || !is_there) continue;
      const Time due = *victim.force_deleted + unsent_after;
      if (due <= now) {
        victim.force_deleted.reset();
      } else if (!next_due_ || due < *next_due_) {
        next_due_ = due;
      }
    }
  }
}

/// Few, and each depends on several planes: all are looked at, and those shown that have changed.
void PlaneView::show_schedules(std::vector<Change>& shown, Time now_time) {
  notes_.clear();
  next_due_.reset();
  std::map<Name, ReplicaSchedule> now;
  for (const auto& [name, schedule] : schedules_) {
    std::string note;
    OwnFinding::Level level = OwnFinding::Level::cannot_work;
    if (auto as_shown = shown_of(schedule, note)) {
      level = OwnFinding::Level::doubtful;
      forget_unsent(*as_shown, now_time);
      now.emplace(name, *std::move(as_shown));
    }
    if (note.empty()) continue;
    notes_[fmt::format("{}/{}", name.first, name.second)] = {.level = level,
                                                             .text = std::move(note)};
  }
  for (const auto& [name, before] : shown_) {
    if (now.contains(name)) continue;
    shown.emplace_back(Removal{
        .kind = ObjectKind::replica_schedule, .namespace_name = name.first, .name = name.second});
  }
  for (const auto& [name, schedule] : now) {
    const auto before = shown_.find(name);
    if (before == shown_.end() || before->second != schedule) shown.emplace_back(schedule);
  }
  shown_ = std::move(now);
}

std::optional<ReplicaSchedule> PlaneView::shown_of(const ReplicaSchedule& schedule,
                                                   std::string& note) const {
  ReplicaSchedule shown = schedule;
  shown.planes.clear();
  const std::string deployment =
      fmt::format("Deployment {}/{}", schedule.namespace_name, schedule.deployment);
  if (needs_selector_ && schedule.selector.empty()) {
    note =
        "nothing is decided about it: spec.selector is missing, and any user could give a pod the "
        "label makeway.dev/deployment; write into it a label that the pods of its Deployments "
        "carry, such as app";
    return std::nullopt;
  }
  std::int64_t wanted = schedule.unmet;
  for (const ReplicaPlane& plane : schedule.planes) {
    const auto found = planes_.find(plane.name);
    if (found == planes_.end()) {
      add_note(note, fmt::format("plane {} is ignored: this run has no --plane {}=KUBECONFIG",
                                 plane.name, plane.name));
      continue;
    }
    const State& state = found->second;
    if (!state.was_seen) {
      note = fmt::format("nothing is decided about it: plane {} was not seen yet", plane.name);
      return std::nullopt;
    }
    const std::string autoscaler =
        state.deployments.autoscaler_of(schedule.namespace_name, schedule.deployment);
    if (!autoscaler.empty()) {
      note = fmt::format(
          "nothing is decided about it: HorizontalPodAutoscaler {}/{} scales {} in plane {}; "
          "remove the autoscaler or the schedule",
          schedule.namespace_name, autoscaler, deployment, plane.name);
      return std::nullopt;
    }
    wanted += plane.committed;
    const auto* const known = state.deployments.find(schedule.namespace_name, schedule.deployment);
    if (known == nullptr) {
      add_note(note, fmt::format("plane {} is not used: it has no {}", plane.name, deployment));
      continue;
    }
    const std::int64_t committed = std::clamp<std::int64_t>(known->replicas, 0, replicas_max);
    wanted -= committed;
    shown.planes.push_back({.name = plane.name, .committed = committed, .score = plane.score});
  }
  shown.unmet = std::clamp<std::int64_t>(wanted, 0, replicas_max);
  return shown;
}

}  // namespace makeway
