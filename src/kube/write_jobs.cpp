#include "kube/write_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "control/session_pods.hpp"
#include "kube/replica_jobs.hpp"
#include "kube/tenant_text.hpp"
#include "model/request.hpp"

namespace makeway::kube {
namespace {

ObjectRef group_ref(const std::string& namespace_name, const std::string& name) {
  return {.kind = RefKind::pod_group, .namespace_name = namespace_name, .name = name};
}

bool is_of_pods(const PlanAsk& ask) {
  return ask.kind == AskKind::pod || ask.kind == AskKind::pod_group;
}

class JobBuilder {
 public:
  JobBuilder(const Plan& plan, const VersionCache& cache, const JobRules& rules)
      : plan_(plan), cache_(cache), rules_(rules) {}

  PlanJobs build() {
    for (const PlanAsk& ask : plan_.asks) note_ask(ask);
    for (const PlanStatus& status : plan_.status) {
      if (status.condition == scheduled_condition) unscheduled_[status.object] = &status;
    }
    hold_back_braked();
    for (const PlanAction& action : plan_.actions) {
      if (action.type == ActionType::bind && lacks_volume(action)) {
        making_volumes_.insert(placed_by(action));
      }
    }
    add_queue_statuses();
    for (const PlanAction& action : plan_.actions) {
      if (places(action.type) && !is_about_session(action)) add_place(action);
    }
    for (const PlanAction& action : plan_.actions) {
      if (!places(action.type) && !is_about_session(action)) add_other(action);
    }
    take_back();
    for (const PlanStatus& status : plan_.status) add_condition(status);
    for (const PlanAsk& ask : plan_.asks) add_scheduled_group(ask);
    return std::move(made_);
  }

 private:
  struct AskNotes {
    const PlanAsk* ask = nullptr;
    std::vector<std::size_t> nominations;  ///< Jobs.
  };

  static bool places(ActionType type) {
    return type == ActionType::nominate || type == ActionType::reserve;
  }

  void note_ask(const PlanAsk& ask) {
    const ObjectRef ref = ref_of(ask);
    asks_[ref].ask = &ask;
    if (ask.kind == AskKind::pod) ask_of_pod_[ref] = ref;
    for (const PodPlacement& place : ask.placements) {
      ask_of_pod_[pod_ref(place.namespace_name, place.name)] = ref;
    }
    for (const PlanVictim& victim : ask.victims) {
      const ObjectRef pod = pod_ref(victim.namespace_name, victim.name);
      unit_of_[pod] = group_that_leaves_whole(victim).value_or(pod);
    }
  }

  /// None: the victim leaves by itself, as members of other groups do.
  std::optional<ObjectRef> group_that_leaves_whole(const PlanVictim& victim) const {
    std::optional<ObjectRef> unit = parse_ref(victim.unit);
    const bool is_whole = unit && unit->kind == RefKind::pod_group &&
                          cache_.leaves_whole(unit->namespace_name, unit->name);
    return is_whole ? std::move(unit) : std::nullopt;
  }

  /// All victims of an ask or none, and without victims no nomination either.
  void hold_back_braked() {
    if (!rules_.brake) return;
    std::map<ObjectRef, std::vector<const PlanAction*>> victims;
    for (const PlanAction& action : plan_.actions) {
      if (is_about_session(action) || action.type != ActionType::evict) continue;
      if (action.ask) victims[*action.ask].push_back(&action);
    }
    for (const PlanAsk& ask : plan_.asks) {  // In their order: the important ones first.
      const auto found = victims.find(ref_of(ask));
      if (found == victims.end()) continue;
      BrakeAnswer answer = rules_.brake(ask, found->second);
      if (!answer.why.empty()) braked_[found->first] = std::move(answer);
    }
  }

  void refuse(const PlanAction& action, std::string reason,
              std::optional<Time> again_at = std::nullopt) {
    made_.refused.push_back({.plan = plan_.id,
                             .object = pod_ref(action.namespace_name, action.name, action.plane),
                             .reason = std::move(reason),
                             .ask = action.ask,
                             .again_at = again_at});
  }

  /// Whether a brake holds back everything for that ask.
  bool refuse_braked(const PlanAction& action, const ObjectRef& ask) {
    const auto braked = braked_.find(ask);
    if (braked == braked_.end()) return false;
    refuse(action, braked->second.why, braked->second.until);
    return true;
  }

  /// Null: it was refused.
  const CachedObject* seen_of(const PlanAction& action) {
    const bool elsewhere =
        !action.plane.empty() || action.scale || action.name.find('/') != std::string::npos;
    if (elsewhere) {
      refuse(action, fmt::format("{} is not carried out by this version on other kinds than pods",
                                 choice_name(action.type)));
      return nullptr;
    }
    const CachedObject* const seen = cache_.pod(action.namespace_name, action.name);
    if (seen == nullptr || (!action.uid.empty() && seen->object.uid != action.uid)) {
      refuse(action, "it is gone");
      return nullptr;
    }
    return seen;
  }

  std::size_t add(const PlanAction& action, const CachedObject& seen,
                  std::vector<WriteStep> steps) {
    made_.jobs.push_back({.object = pod_ref(action.namespace_name, action.name),
                          .ask = action.ask,
                          .seen = seen,
                          .steps = std::move(steps)});
    return made_.jobs.size() - 1;
  }

  bool is_for_queue(const PlanAction& action) const {
    const std::optional<ObjectRef>& ask = action.ask;
    return action.type == ActionType::evict && ask && ask->kind == RefKind::queue &&
           asks_.contains(*ask);
  }

  /// Rule 9.
  void add_queue_statuses() {
    const bool evicts = std::ranges::any_of(plan_.actions, [&](const PlanAction& action) {
      return is_for_queue(action) && !braked_.contains(*action.ask);
    });
    for (const PlanQueueStatus& status : plan_.queue_status) {
      const ObjectRef object{.kind = RefKind::queue, .name = status.name};
      const CachedObject* const seen = cache_.own(ObjectKind::queue, {}, status.name);
      const Queue* const before = cache_.queue(status.name);
      const bool is_gone = seen == nullptr || before == nullptr ||
                           (!status.uid.empty() && seen->object.uid != status.uid);
      if (is_gone) {
        lacks_queue_ = true;
        made_.refused.push_back({.plan = plan_.id, .object = object, .reason = "it is gone"});
        continue;
      }
      queue_jobs_.push_back(made_.jobs.size());
      made_.jobs.push_back(
          {.object = object,
           .seen = *seen,
           .steps = {{.kind = WriteKind::patch_own, .status = queue_status_patch(status, *before)}},
           .can_wait = !evicts});
    }
  }

  /// The first of nomination and reservation takes the other along.
  void add_place(const PlanAction& action) {
    const ObjectRef object = pod_ref(action.namespace_name, action.name);
    const ObjectRef ask = placed_by(action);
    if (refuse_braked(action, ask)) return;
    const CachedObject* const seen = seen_of(action);
    if (seen == nullptr) return;
    StatusPatch patch =
        action.type == ActionType::nominate
            ? nomination(action.node, plan_.id, {})
            : reservation(action.node, plan_.id, action.since.value_or(plan_.now), action.promised);
    // The condition for autoscalers goes with a new nomination; another one about an old nomination
    // is not urgent.
    const bool is_news = changes(patch, seen->object);
    if (action.type == ActionType::nominate && is_news) {
      patch = nomination(action.node, plan_.id, unscheduled_message(object, true));
    }
    WriteStep step{.kind = WriteKind::patch_pod, .patch = patch, .confirms = !is_news};
    if (const auto earlier = place_jobs_.find(object); earlier != place_jobs_.end()) {
      WriteStep& before = made_.jobs[earlier->second].steps.front();
      before.patch = joined(std::move(before.patch), patch);
      before.confirms = before.confirms && !is_news;
      return;
    }
    const std::size_t job = add(action, *seen, {std::move(step)});
    place_jobs_[object] = job;
    if (asks_.contains(ask)) asks_[ask].nominations.push_back(job);
    if (is_news) add_failed_event(made_.jobs[job]);
  }

  /// What the plan says of the pod, or of the group that it is in.
  std::string unscheduled_message(const ObjectRef& object, bool or_of_ask) {
    const auto found = unscheduled_.find(object);
    if (found != unscheduled_.end()) {
      conditions_written_.insert(object);
      return owners_text(object, found->second->message, found->second->message_mentions);
    }
    if (!or_of_ask || !ask_of_pod_.contains(object)) return {};
    const PlanAsk& ask = *asks_[ask_of_pod_[object]].ask;
    return owners_text(object, ask.reason, ask.reason_mentions);
  }

  /// As the owner of the object may read it.
  std::string owners_text(const ObjectRef& object, const std::string& text,
                          const Mentions& mentions) const {
    return rules_.names_causes ? text : tenant_text(text, mentions, object.namespace_name);
  }

  static void add_failed_event(WriteJob& job) {
    const SeenCondition* const seen = job.seen.object.condition(scheduled_condition);
    const auto update = std::ranges::find(job.steps.front().patch.conditions, scheduled_condition,
                                          &ConditionUpdate::type);
    if (update == job.steps.front().patch.conditions.end()) return;
    if (seen != nullptr && seen->reason == update->reason && seen->message == update->message)
      return;
    job.event = EventRequest{.regarding = job.seen.object,
                             .is_warning = true,
                             .reason = "FailedScheduling",
                             .action = "Scheduling",
                             .note = update->message};
  }

  void add_other(const PlanAction& action) {
    if (is_of_replicas(action)) return;
    switch (action.type) {
      case ActionType::wait: return;
      case ActionType::bind: return add_bind(action);
      case ActionType::evict: return add_eviction(action);
      case ActionType::force_delete: return add_force_delete(action);
      default:
        return refuse(
            action, fmt::format("{} is not carried out by this version", choice_name(action.type)));
    }
  }

  void add_bind(const PlanAction& action) {
    const CachedObject* const seen = seen_of(action);
    if (seen == nullptr) return;
    if (!seen->object.node.empty()) return refuse(action, "it is bound already");
    if (seen->object.leaving) return refuse(action, "it is leaving");
    if (making_volumes_.contains(placed_by(action))) return add_provision(action, *seen);
    const std::size_t job = add(action, *seen, {{.kind = WriteKind::bind, .node = action.node}});
    made_.jobs[job].event =
        EventRequest{.regarding = seen->object,
                     .reason = "Scheduled",
                     .action = "Binding",
                     .note = fmt::format("Successfully assigned {}/{} to {}", action.namespace_name,
                                         action.name, action.node)};
    made_.jobs[job].placed = placed_by(action);
    bind_jobs_[pod_ref(action.namespace_name, action.name)] = job;
  }

  /// The ask that places the pod: its group, or the pod itself.
  ObjectRef placed_by(const PlanAction& action) const {
    const ObjectRef object = pod_ref(action.namespace_name, action.name);
    const auto found = ask_of_pod_.find(object);
    return found == ask_of_pod_.end() ? object : found->second;
  }

  /// An unknown claim is none that a kubelet could mount.
  bool lacks_volume(const PlanAction& action) const {
    const auto& claims = cache_.claims_of(action.namespace_name, action.name);
    return std::ranges::any_of(claims, [&](const std::string& name) {
      const CachedClaim* const claim = cache_.claim(action.namespace_name, name);
      return claim == nullptr || !cache_.has_volume(*claim);
    });
  }

  /// Since when its room is held for volumes that are being made there; none: it is not.
  std::optional<Time> waits_since(const PlanAction& action, const ObjectState& pod) const {
    const SeenCondition* const ours = pod.condition(nominated_condition);
    if (!has_our_nomination(pod) || pod.nominated_node != action.node) return std::nullopt;
    const Result<Time> since = parse_time(ours->changed);
    return since ? std::optional(*since) : std::nullopt;
  }

  void add_provision(const PlanAction& action, const CachedObject& seen) {
    std::vector<std::string> unselected;
    std::string waits_for;
    for (const std::string& name : cache_.claims_of(action.namespace_name, action.name)) {
      const CachedClaim* const claim = cache_.claim(action.namespace_name, name);
      if (claim == nullptr) return refuse(action, fmt::format("claim {} does not exist", name));
      if (cache_.has_volume(*claim)) continue;
      waits_for = waits_for.empty() ? name : fmt::format("{}, {}", waits_for, name);
      if (claim->bound) continue;  // It is made, and not shown yet.
      if (claim->selected_node.empty()) unselected.push_back(name);
      if (claim->selected_node.empty() || claim->selected_node == action.node) continue;
      return refuse(action, fmt::format("the volume of claim {} is being made on {}", name,
                                        claim->selected_node));
    }
    const std::optional<Time> since = waits_since(action, seen.object);
    const bool is_over = unselected.empty() && since && *since + volume_wait_max <= plan_.now;
    const std::string why =
        waits_for.empty() ? std::string("it waits for volumes of others of its gang")
        : is_over
            ? fmt::format("no volume for {} was made on {} within {}", waits_for, action.node,
                          to_text(volume_wait_max))
            : fmt::format("it waits until a volume for {} is made on {}", waits_for, action.node);
    StatusPatch patch =
        is_over ? cleared_nomination(plan_.id) : nomination(action.node, plan_.id, why);
    const bool is_news = changes(patch, seen.object);
    std::vector<WriteStep> steps;
    if (is_news || !is_over) {
      steps.push_back(
          {.kind = WriteKind::patch_pod, .patch = std::move(patch), .confirms = !is_news});
    }
    const std::size_t nominated = add(action, seen, std::move(steps));
    place_jobs_[pod_ref(action.namespace_name, action.name)] = nominated;
    std::vector<std::size_t> needs = {nominated};
    for (const std::string& name : unselected) {
      needs.push_back(add_selected_node(action, name, nominated));
    }
    const std::size_t wait = add(action, seen, {{.kind = WriteKind::await, .node = action.node}});
    made_.jobs[wait].needs = std::move(needs);
    made_.jobs[wait].waits_because = why;
    made_.jobs[wait].awaits_volume = waits_for.empty() || !is_over;
  }

  std::size_t add_selected_node(const PlanAction& action, const std::string& claim,
                                std::size_t nominated) {
    const CachedObject seen{.object = cache_.claim(action.namespace_name, claim)->object};
    made_.jobs.push_back({.object = {.kind = RefKind::persistent_volume_claim,
                                     .namespace_name = action.namespace_name,
                                     .name = claim},
                          .seen = seen,
                          .steps = {{.kind = WriteKind::select_node, .node = action.node}},
                          .needs = {nominated}});
    return made_.jobs.size() - 1;
  }

  CauseOf cause_of(const ObjectRef& ask) const {
    CauseOf cause{.ask = ask};
    const auto found = asks_.find(ask);
    if (found == asks_.end()) return cause;
    const CachedObject* const seen =
        ask.kind == RefKind::queue       ? cache_.own(ObjectKind::queue, {}, ask.name)
        : ask.kind == RefKind::pod_group ? cache_.group(ask.namespace_name, ask.name)
                                         : cache_.pod(ask.namespace_name, ask.name);
    if (seen != nullptr) cause.uid = seen->object.uid;
    return cause;
  }

  void add_eviction(const PlanAction& action) {
    const std::optional<ObjectRef>& of_ask = action.ask;
    const auto ask = of_ask ? asks_.find(*of_ask) : asks_.end();
    const bool of_queue = is_for_queue(action);
    if (ask == asks_.end() || (!of_queue && !is_of_pods(*ask->second.ask))) {
      return refuse(action, "victims of replicas are not evicted yet");
    }
    if (refuse_braked(action, *of_ask)) return;
    if (of_queue && lacks_queue_) return refuse(action, "a write that it depends on was refused");
    // A nomination that is not even tried must not evict.
    for (const PodPlacement& place : ask->second.ask->placements) {
      if (!place_jobs_.contains(pod_ref(place.namespace_name, place.name))) {
        return refuse(action, "a write that it depends on was refused");
      }
    }
    const CachedObject* const seen = seen_of(action);
    if (seen == nullptr) return;
    const bool strict = rules_.budgets == BudgetMode::strict;
    CauseOf cause = cause_of(*of_ask);
    const bool is_own_gang = !seen->object.group.empty() &&
                             *of_ask == group_ref(action.namespace_name, seen->object.group);
    if (is_own_gang) cause.own_gang = ask->second.ask->reason;
    std::vector<WriteStep> steps;
    if (!seen->object.leaving) {
      StatusPatch mark = eviction_mark(cause, plan_.id, rules_.names_causes);
      if (changes(mark, seen->object)) {
        steps.push_back({.kind = WriteKind::patch_pod, .patch = std::move(mark)});
      }
      steps.push_back({.kind = strict ? WriteKind::evict : WriteKind::erase});
    }
    WriteJob& job = made_.jobs[add(action, *seen, std::move(steps))];
    if (const auto unit = unit_of_.find(job.object); unit != unit_of_.end())
      job.unit = unit->second;
    job.needs = of_queue ? queue_jobs_ : ask->second.nominations;
    job.is_eviction = true;
    if (job.steps.empty()) return;
    job.event = preempted_event(seen->object, cause, action.node, rules_.names_causes);
  }

  void add_force_delete(const PlanAction& action) {
    const CachedObject* const seen = seen_of(action);
    if (seen == nullptr) return;
    std::vector<WriteStep> steps;
    // On a live node the phase is never touched: it would free the room on paper.
    if (cache_.node(seen->object.node) != NodeState::alive && seen->object.phase != "Failed") {
      steps.push_back({.kind = WriteKind::patch_pod, .patch = {.phase = "Failed"}});
    }
    steps.push_back({.kind = WriteKind::erase, .grace_seconds = 0});
    add(action, *seen, std::move(steps));
  }

  /// What was promised to pods and does not hold any more. In a burst hundreds are promised a
  /// place, and a plan is about a few; only members of a group may lose theirs without being named.
  void take_back() {
    const auto is_group = [](const PlanAsk& ask) { return ask.kind == AskKind::pod_group; };
    if (std::ranges::any_of(plan_.asks, is_group)) {
      for (const CachedObject* const pod : cache_.promised()) take_back(*pod);
      return;
    }
    for (const auto& [ref, ask] : ask_of_pod_) {
      const CachedObject* const pod = cache_.promised(ref.namespace_name, ref.name);
      if (pod != nullptr) take_back(*pod);
    }
  }

  void take_back(const CachedObject& pod) {
    const ObjectState& object = pod.object;
    const ObjectRef ref = pod_ref(object.namespace_name, object.name);
    if (bind_jobs_.contains(ref)) return;
    const bool ends = has_our_reservation(object) && loses_reservation(ref);
    if (const auto place = place_jobs_.find(ref); place != place_jobs_.end()) {
      if (ends) end_reservation_with(made_.jobs[place->second]);
      return;
    }
    const bool loses = has_our_nomination(object) && loses_nomination(object, ref);
    if (!loses && !ends) return;
    StatusPatch patch = loses ? cleared_nomination(plan_.id) : StatusPatch{};
    if (ends) patch = joined(std::move(patch), ended_reservation(plan_.id));
    const std::string message = loses ? unscheduled_message(ref, false) : std::string();
    if (!message.empty()) {
      patch.conditions.push_back({.type = std::string(scheduled_condition),
                                  .value = false,
                                  .reason = "Unschedulable",
                                  .message = message});
    }
    const PlanAction action{
        .type = ActionType::nominate, .namespace_name = object.namespace_name, .name = object.name};
    add(action, pod, {{.kind = WriteKind::patch_pod, .patch = std::move(patch)}});
  }

  void end_reservation_with(WriteJob& place) const {
    if (place.steps.empty()) return;
    WriteStep& step = place.steps.front();
    step.patch = joined(std::move(step.patch), ended_reservation(plan_.id));
    step.confirms = false;
  }

  /// The plan decides about the pod and reserves nothing for it.
  bool loses_reservation(const ObjectRef& pod) const {
    const auto ask = ask_of_pod_.find(pod);
    return ask != ask_of_pod_.end() && !asks_.at(ask->second).ask->reservation;
  }

  /// The plan decides about the pod, or its group, and gives it no place.
  bool loses_nomination(const ObjectState& pod, const ObjectRef& ref) const {
    if (const auto found = ask_of_pod_.find(ref); found != ask_of_pod_.end()) {
      const PlanAsk& ask = *asks_.at(found->second).ask;
      return ask.placements.empty() && !ask.reservation;
    }
    return !pod.group.empty() && asks_.contains(group_ref(pod.namespace_name, pod.group));
  }

  /// What follows in a moment says it as well.
  bool is_over_soon(const BrakeAnswer& brake) const {
    constexpr Duration soon{10'000};
    return brake.until && *brake.until <= plan_.now + soon;
  }

  void add_condition(const PlanStatus& status) {
    const ObjectRef& object = status.object;
    if (!object.plane.empty() || conditions_written_.contains(object)) return;
    const bool of_pod = object.kind == RefKind::pod;
    const bool of_group = object.kind == RefKind::pod_group;
    if (!of_pod && !of_group) return;
    if (of_pod && status.condition != scheduled_condition) return;  // Marks come with evictions.
    const CachedObject* const seen = of_pod ? cache_.pod(object.namespace_name, object.name)
                                            : cache_.group(object.namespace_name, object.name);
    if (seen == nullptr || !seen->object.node.empty()) return;
    if (of_group && status.condition == group_condition) {
      const SeenCondition* const before = seen->object.condition(group_condition);
      if (before != nullptr && before->status == "True") return;
    }
    const auto ask = ask_of_pod_.find(object);
    // A member without a place has no ask of its own: what holds its group back concerns it, too.
    const bool is_member = of_pod && ask == ask_of_pod_.end() && !seen->object.group.empty();
    const auto braked =
        braked_.find(ask != ask_of_pod_.end() ? ask->second
                     : is_member              ? group_ref(object.namespace_name, seen->object.group)
                                              : object);
    if (braked != braked_.end() && is_over_soon(braked->second)) return;
    StatusPatch patch;
    patch.conditions.push_back(
        {.type = status.condition,
         .value = status.value,
         .reason = status.reason,
         .message = owners_text(object, status.message, status.message_mentions)});
    if (braked != braked_.end()) {
      const BrakeAnswer& brake = braked->second;
      patch.conditions.back().message +=
          fmt::format(" ({})", owners_text(object, brake.why, brake.mentions));
    }
    if (!changes(patch, seen->object)) return;
    WriteJob& job = made_.jobs.emplace_back(
        WriteJob{.urgency = Urgency::condition,
                 .object = object,
                 .seen = *seen,
                 .steps = {{.kind = of_pod ? WriteKind::patch_pod : WriteKind::patch_group,
                            .patch = std::move(patch)}}});
    if (of_pod) add_failed_event(job);
  }

  void add_scheduled_group(const PlanAsk& ask) {
    if (ask.kind != AskKind::pod_group || ask.outcome != Outcome::fits) return;
    const CachedObject* const group = cache_.group(ask.namespace_name, ask.name);
    if (group == nullptr || ask.placements.empty()) return;
    StatusPatch patch;
    patch.conditions.push_back({.type = std::string(group_condition),
                                .value = true,
                                .reason = "Scheduled",
                                .message = "All required pods have been bound"});
    const SeenCondition* const before = group->object.condition(group_condition);
    if (before != nullptr && before->status == "True") return;
    std::vector<std::size_t> needs;
    for (const PodPlacement& place : ask.placements) {
      const auto bind = bind_jobs_.find(pod_ref(place.namespace_name, place.name));
      if (bind == bind_jobs_.end()) return;  // One was refused already.
      needs.push_back(bind->second);
    }
    made_.jobs.push_back({.urgency = Urgency::condition,
                          .object = ref_of(ask),
                          .seen = *group,
                          .steps = {{.kind = WriteKind::patch_group, .patch = std::move(patch)}},
                          .needs = std::move(needs)});
  }

  const Plan& plan_;
  const VersionCache& cache_;
  const JobRules& rules_;
  PlanJobs made_;
  std::map<ObjectRef, AskNotes> asks_;                  ///< By ask.
  std::map<ObjectRef, ObjectRef> ask_of_pod_;           ///< By pod.
  std::map<ObjectRef, ObjectRef> unit_of_;              ///< By victim: what leaves as one with it.
  std::map<ObjectRef, const PlanStatus*> unscheduled_;  ///< By object.
  std::map<ObjectRef, BrakeAnswer> braked_;             ///< By ask: why not now.
  std::map<ObjectRef, std::size_t> place_jobs_;         ///< By pod.
  std::map<ObjectRef, std::size_t> bind_jobs_;          ///< By pod.
  std::vector<std::size_t> queue_jobs_;                 ///< Statuses of queues.
  bool lacks_queue_ = false;                            ///< One of them is not even tried.
  std::set<ObjectRef> making_volumes_;                  ///< Asks that cannot be bound yet.
  std::set<ObjectRef> conditions_written_;              ///< Their condition is in another patch.
};

}  // namespace

PlanJobs jobs_of(const Plan& plan, const VersionCache& cache, const JobRules& rules,
                 const PlaneCaches& planes) {
  PlanJobs jobs = JobBuilder(plan, cache, rules).build();
  add_replica_jobs(plan, cache, planes, rules.brake, jobs);
  return jobs;
}

}  // namespace makeway::kube
