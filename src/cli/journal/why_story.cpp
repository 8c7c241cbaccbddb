#include "cli/journal/why_story.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "cli/journal/journal_walk.hpp"
#include "cli/text.hpp"
#include "codec/json_text.hpp"
#include "codec/writer.hpp"
#include "model/object_text.hpp"

namespace makeway::cli {
namespace {

RecordedVictim read_victim(const JsonValue& victim, std::string node) {
  return {.namespace_name = text_in(victim, "namespace"),
          .name = text_in(victim, "name"),
          .plane = text_in(victim, "plane"),
          .node = std::move(node),
          .reason = text_in(victim, "reason"),
          .deployment = text_in(victim, "deployment")};
}

std::vector<RecordedAsk> read_recorded_asks(const std::string& document) {
  std::vector<RecordedAsk> asks;
  const auto tree = parse_json_value(document);
  if (!tree) return asks;
  for (const JsonValue& ask : items_in(*tree, "asks")) {
    RecordedAsk read{.kind = text_in(ask, "kind"),
                     .namespace_name = text_in(ask, "namespace"),
                     .name = text_in(ask, "name")};
    for (const JsonValue& victim : items_in(ask, "victims")) {
      read.victims.push_back(read_victim(victim, text_in(victim, "node")));
    }
    if (const JsonValue* const replicas = ask.find("replicas")) {
      for (const JsonValue& claim : items_in(*replicas, "claims")) {
        const JsonValue* const kept = claim.find("kept");
        if (kept != nullptr && kept->as_boolean() != nullptr && *kept->as_boolean()) continue;
        for (const JsonValue& victim : items_in(claim, "victims")) {
          read.claimed.push_back(read_victim(victim, text_in(claim, "node")));
        }
      }
    }
    asks.push_back(std::move(read));
  }
  return asks;
}

/// As messages call a pod; `victim` is one of a plan or of a record of it.
std::string victim_text(const auto& victim) {
  return key_text({victim.namespace_name, victim.name, victim.plane});
}

/// Distinguishes objects of one namespace: planes may have pods and nodes of the same name.
std::string name_in(std::string_view plane, std::string_view name) {
  std::string text(name);
  if (!plane.empty()) text.append(of_plane).append(plane);
  return text;
}

/// The alternative to the victims, from the plan with explanations.
void add_comparison(const Plan& explained, WhyEviction& eviction) {
  for (const PlanAsk& ask : explained.asks) {
    const auto found = std::ranges::find_if(ask.victims, [&](const PlanVictim& victim) {
      return victim_text(victim) == eviction.pods.front();
    });
    if (found == ask.victims.end()) continue;
    eviction.alternative = found->cause_alternative;
    eviction.key = found->cause_key;
    for (const PlanSpared& other : ask.explanation.spared) {
      const std::string name = victim_text(other);
      if (found->cause_alternative.starts_with("Pod " + name + " ")) continue;
      eviction.spared.push_back(fmt::format("{} (priority {})", name, other.priority));
    }
    return;
  }
}

/// A Deployment's pods belong to a ReplicaSet that is called after it.
bool is_controlled_by(const Pod& pod, std::string_view kind, std::string_view name) {
  return std::ranges::any_of(pod.owners, [&](const OwnerReference& owner) {
    if (!owner.controller) return false;
    if (owner.name == name && (kind.empty() || owner.kind == kind)) return true;
    const bool deployed = owner.kind == "ReplicaSet" && (kind.empty() || kind == "Deployment");
    return deployed && owner.name.starts_with(name) && owner.name.size() > name.size() &&
           owner.name[name.size()] == '-';
  });
}

/// Pending, or past its back-off.
bool asks(const Session& session, Time now) {
  const SessionStatus& status = session.status;
  if (status.phase == SessionPhase::pending) return true;
  return status.phase == SessionPhase::preempted && status.fate == SessionFate::requeues &&
         status.resume_after.value_or(now) <= now;
}

bool is_replica(const Pod& pod) {
  return std::ranges::any_of(
      pod.labels, [](const Label& label) { return label.key == "makeway.dev/deployment"; });
}

std::string victims_text(const std::vector<RecordedVictim>& victims) {
  std::vector<std::string> names;
  names.reserve(victims.size());
  for (const RecordedVictim& victim : victims) names.push_back(victim_text(victim));
  return few_names(std::move(names));
}

}  // namespace

bool WhyStory::is_about(const Pod& pod) const {
  if (pod.namespace_name != subject_.namespace_name) return false;
  if (!plane_.empty() && pod.plane != plane_) return false;
  if (!subject_.workload.empty()) return is_controlled_by(pod, subject_.workload, subject_.name);
  if (subject_.kind == AskKind::pod) return pod.name == subject_.name;
  if (subject_.kind == AskKind::pod_group) return pod.group == subject_.name;
  if (subject_.kind) return false;
  return pod.name == subject_.name || pod.group == subject_.name ||
         is_controlled_by(pod, {}, subject_.name);
}

bool WhyStory::is_called(AskKind kind, std::string_view namespace_name,
                         std::string_view name) const {
  if (!plane_.empty() || !subject_.workload.empty()) return false;
  if (subject_.kind && *subject_.kind != kind) return false;
  return namespace_name == subject_.namespace_name && name == subject_.name;
}

bool WhyStory::is_about(const RecordedAsk& ask, const RecordedVictim& victim) const {
  if (victim.namespace_name != subject_.namespace_name) return false;
  if (ask.kind == choice_name(AskKind::session)) return session_ && session_->name == victim.name;
  return pods_.contains(name_in(victim.plane, victim.name));
}

bool WhyStory::is_about(const AskName& ask) const {
  if (ask.namespace_name != subject_.namespace_name) return false;
  if (ask.kind == AskKind::pod) return pods_.contains(ask.name);
  if (ask.kind == AskKind::pod_group) {
    return std::ranges::any_of(pods_, [&](const auto& each) {
      return each.second.group == ask.name && each.second.plane.empty();
    });
  }
  return is_called(ask.kind, ask.namespace_name, ask.name);
}

void WhyStory::add(Time when, std::string text) {
  known_ = true;
  events_.push_back({.when = when, .text = std::move(text)});
}

void WhyStory::read(const JournalRecord& record, const WorldThen& world) {
  if (const auto* const base = std::get_if<BaseRecord>(&record)) {
    if (const JournalWorld* const then = world()) read_base(then->cluster(), base->now);
    if (base->begins) drop_unseen(base->now);
  } else if (const auto* const batch = std::get_if<ChangesRecord>(&record)) {
    read_changes(*batch);
  } else if (const auto* const cycle = std::get_if<CycleRecord>(&record)) {
    read_cycle(*cycle, world);
  } else if (const auto* const receipts = std::get_if<ReceiptsRecord>(&record)) {
    read_receipts(*receipts);
  } else if (const auto* const rules = std::get_if<ConfigurationRecord>(&record)) {
    carries_out_ = rules->carries_out;
  }
}

std::vector<std::string> WhyStory::names() const {
  std::set<std::string> names;
  for (const auto& [name, pod] : pods_) {
    for (const std::string& each : {pod.name, pod.group}) {
      // Most pods are called after what made them.
      if (!each.empty() && !each.contains(subject_.name)) names.insert(each);
    }
  }
  names.insert(subject_.name);
  return {names.begin(), names.end()};
}

void WhyStory::read_changes(const ChangesRecord& batch) {
  const std::size_t shown = batch.changes.size() - batch.effects;
  const auto changes = std::span(batch.changes).first(shown);
  // All at once: a pod and its node may go in any order.
  for (const Change& change : changes) note_node(change);
  for (const Change& change : changes) read_change(change, batch.now);
}

void WhyStory::note_node(const Change& change) {
  const Node* const node = std::get_if<Node>(&change);
  if (node != nullptr) gone_nodes_.erase(name_in(node->plane, node->name));
  const Removal* const removal = std::get_if<Removal>(&change);
  const bool goes = removal != nullptr && removal->kind == ObjectKind::node;
  if (goes) gone_nodes_.insert(name_in(removal->plane, removal->name));
}

void WhyStory::read_change(const Change& change, Time now) {
  if (const Pod* const pod = std::get_if<Pod>(&change)) {
    if (is_about(*pod)) read_pod(*pod, now, Source::as_change);
  } else if (const auto* const session = std::get_if<Session>(&change)) {
    if (is_called(AskKind::session, session->namespace_name, session->name)) {
      read_session(*session, now);
    }
  } else if (const auto* const schedule = std::get_if<ReplicaSchedule>(&change)) {
    if (is_called(AskKind::replica_schedule, schedule->namespace_name, schedule->name)) {
      read_schedule(*schedule, now);
    }
  } else if (const auto* const removal = std::get_if<Removal>(&change)) {
    read_removal(*removal, now);
  }
}

void WhyStory::read_base(const Cluster& cluster, Time now) {
  std::set<std::string> there;
  gone_nodes_.clear();
  const auto note_gone_node = [&](const Pod& pod) {
    if (pod.node.empty() || cluster.find_node(pod.node, pod.plane)) return;
    gone_nodes_.insert(name_in(pod.plane, pod.node));
  };
  for (const auto& [name, pod] : pods_) note_gone_node(pod);
  for (const PodIndex index : cluster.each_pod()) {
    if (cluster.text(cluster.pods().namespace_name[index]) != subject_.namespace_name) continue;
    const Pod pod = cluster.pod(index);
    if (!is_about(pod)) continue;
    there.insert(name_in(pod.plane, pod.name));
    note_gone_node(pod);
    read_pod(pod, now, Source::base);
  }
  read_own_kinds_in(cluster, now);
  std::vector<Removal> missing;
  for (const auto& [name, pod] : pods_) {
    if (there.contains(name)) continue;
    missing.push_back({.namespace_name = pod.namespace_name, .name = pod.name, .plane = pod.plane});
  }
  for (const Removal& removal : missing) read_removal(removal, now);
}

void WhyStory::read_own_kinds_in(const Cluster& cluster, Time now) {
  bool session_is_there = false;
  bool schedule_is_there = false;
  for (const auto& [key, session] : cluster.own<Session>()) {
    if (!is_called(AskKind::session, session.namespace_name, session.name)) continue;
    session_is_there = true;
    read_session(session, now);
  }
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
    if (!is_called(AskKind::replica_schedule, schedule.namespace_name, schedule.name)) continue;
    schedule_is_there = true;
    read_schedule(schedule, now);
  }
  Removal gone{.namespace_name = subject_.namespace_name, .name = subject_.name};
  gone.kind = ObjectKind::session;
  if (!session_is_there) read_own_removal(gone, now);
  gone.kind = ObjectKind::replica_schedule;
  if (!schedule_is_there) read_own_removal(gone, now);
}

void WhyStory::note_leaving(const std::string& name) {
  for (WhyEviction& eviction : evictions_) {
    if (std::ranges::find(eviction.pods, name) != eviction.pods.end()) eviction.seen = true;
  }
}

bool WhyStory::undo(std::string_view plan, const std::string& name) {
  const auto found = std::ranges::find_if(evictions_, [&](const WhyEviction& eviction) {
    return eviction.plan == plan && !eviction.seen &&
           std::ranges::find(eviction.pods, name) != eviction.pods.end();
  });
  if (found == evictions_.end()) return false;
  std::erase(found->pods, name);
  evicted_.erase(name.substr(name.find('/') + 1));
  if (found->pods.empty()) evictions_.erase(found);
  return true;
}

void WhyStory::read_receipts(const ReceiptsRecord& record) {
  for (const Receipt& receipt : record.receipts) {
    const ObjectRef& object = receipt.object;
    if (!undo(receipt.plan, name_in(object.plane, name_text(object)))) continue;
    add(record.now, fmt::format("{} stays, the eviction was not carried out: {} (plan {})",
                                ref_and_plane_text(object), receipt.reason, receipt.plan));
  }
}

void WhyStory::drop_unseen(Time now) {
  std::vector<std::pair<std::string, std::string>> stay;  // Plan and name.
  for (const WhyEviction& eviction : evictions_) {
    if (eviction.seen || eviction.claimed) continue;
    for (const std::string& name : eviction.pods) stay.emplace_back(eviction.plan, name);
  }
  for (const auto& [plan, name] : stay) {
    if (!undo(plan, name)) continue;
    add(now, fmt::format("{} stays: the process ended before it carried out plan {}", name, plan));
  }
}

void WhyStory::read_pod(const Pod& pod, Time now, Source source) {
  const std::string name = object_text(pod);
  const std::string key = name_in(pod.plane, pod.name);
  const auto [at, is_new] = pods_.try_emplace(key, pod);
  const Pod before = std::exchange(at->second, pod);
  gone_.reset();
  if (is_new && !pod.node.empty()) {
    add(now, fmt::format("{} runs on {}", name, pod.node));
  } else if (is_new) {
    const std::string_view waits =
        source == Source::base ? "asks for room" : "comes and asks for room";
    add(now, fmt::format("{} {}", name, is_replica(pod) ? "comes" : waits));
  }
  const bool bound = !pod.node.empty() && (is_new || before.node.empty());
  if (bound && !is_new) add(now, fmt::format("{} is bound to {}", name, pod.node));
  if (bound && !pod.deletion) come_back(now, fmt::format("{}, as {}", pod.node, name));
  const bool deletion_began = pod.deletion && (is_new || !before.deletion);
  if (pod.deletion) note_leaving(victim_text(pod));
  if (deletion_began && is_new && source == Source::base) {
    add(now, name + " is leaving; why is not in this journal");
  } else if (deletion_began && !evicted_.contains(key)) {
    add(now, fmt::format("{} is being deleted, and no plan of this journal evicts it by name: its "
                         "controller or another client deletes it",
                         name));
  }
}

void WhyStory::come_back(Time now, std::string where) {
  if (evictions_.empty() || evictions_.back().back) return;
  evictions_.back().back = now;
  evictions_.back().back_on = std::move(where);
}

void WhyStory::read_session(const Session& session, Time now) {
  const std::vector<std::string> events =
      session_events(session_ ? &*session_ : nullptr, session, now);
  const bool runs = session.status.phase == SessionPhase::running && !session.status.ends_at;
  const bool ran = session_ && session_->status.phase == SessionPhase::running;
  if (runs && !ran) come_back(now, few_names(session_nodes(session)));
  if (!runs) note_leaving(session.namespace_name + "/" + session.name);
  session_ = session;
  gone_.reset();
  for (const std::string& event : events) {
    add(now, fmt::format("Session {}/{} {}", session.namespace_name, session.name, event));
  }
}

void WhyStory::read_schedule(const ReplicaSchedule& schedule, Time now) {
  const std::vector<std::string> events =
      schedule_events(schedule_ ? &*schedule_ : nullptr, schedule);
  schedule_ = schedule;
  gone_.reset();
  for (const std::string& event : events) {
    add(now,
        fmt::format("ReplicaSchedule {}/{} {}", schedule.namespace_name, schedule.name, event));
  }
}

void WhyStory::read_own_removal(const Removal& removal, Time now) {
  const bool session = removal.kind == ObjectKind::session && session_ &&
                       session_->namespace_name == removal.namespace_name &&
                       session_->name == removal.name;
  const bool schedule = removal.kind == ObjectKind::replica_schedule && schedule_ &&
                        schedule_->namespace_name == removal.namespace_name &&
                        schedule_->name == removal.name;
  if (!session && !schedule) return;
  add(now, fmt::format("{} {}/{} is gone", session ? "Session" : "ReplicaSchedule",
                       removal.namespace_name, removal.name));
  if (session) session_.reset();
  if (schedule) schedule_.reset();
  if (pods_.empty() && !session_ && !schedule_) gone_ = now;
}

void WhyStory::read_removal(const Removal& removal, Time now) {
  read_own_removal(removal, now);
  if (removal.kind != ObjectKind::pod || removal.namespace_name != subject_.namespace_name) return;
  const std::string key = name_in(removal.plane, removal.name);
  const auto found = pods_.find(key);
  if (found == pods_.end()) return;
  const std::string node = found->second.node;
  pods_.erase(found);
  note_leaving(victim_text(removal));
  const bool evicted = evicted_.erase(key) > 0;
  std::string how = evicted ? "" : ": it has ended, or was deleted";
  if (gone_nodes_.contains(name_in(removal.plane, node))) how = " with its node " + node;
  add(now, fmt::format("Pod {} is gone{}", victim_text(removal), how));
  if (pods_.empty() && !session_ && !schedule_) gone_ = now;
}

void WhyStory::read_cycle(const CycleRecord& cycle, const WorldThen& world) {
  for (const AskState& state : cycle.changed) {
    // For asks that preempt the plan says more, and asks that fit are bound next.
    if (state.outcome == Outcome::fits || state.outcome == Outcome::preempts) continue;
    if (!is_about(state.ask)) continue;
    add(cycle.now,
        fmt::format("{}: {}: {}", ask_text(state.ask), choice_name(state.outcome), state.reason));
  }
  if (cycle.plan.empty()) return;
  // Most plans are about others; reading all of them takes most of the time.
  const bool named = cycle.plan.find(subject_.name) != std::string::npos ||
                     std::ranges::any_of(pods_, [&](const auto& each) {
                       return cycle.plan.find(each.second.name) != std::string::npos;
                     });
  if (!named) return;
  const std::vector<RecordedAsk> asks = read_recorded_asks(cycle.plan);
  for (const RecordedAsk& ask : asks) {
    const auto kind = std::ranges::find(choice_names<AskKind>, std::string_view(ask.kind));
    read_claims(cycle, ask);
    if (ask.victims.empty() || kind == choice_names<AskKind>.end()) continue;
    const AskName name{.kind = static_cast<AskKind>(kind - choice_names<AskKind>.begin()),
                       .namespace_name = ask.namespace_name,
                       .name = ask.name};
    if (!is_about(name)) continue;
    add(cycle.now, fmt::format("{} {} {} (cycle {}, plan {})", ask_text(name),
                               carries_out_ ? "evicts" : "would evict", victims_text(ask.victims),
                               cycle.number, cycle.plan_id));
  }
  read_evictions(cycle, world, asks);
}

void WhyStory::read_claims(const CycleRecord& cycle, const RecordedAsk& ask) {
  for (const RecordedVictim& victim : ask.claimed) {
    const std::string key = name_in(victim.plane, victim.name);
    const bool own = schedule_ && schedule_->deployment == victim.deployment;
    if (victim.namespace_name != subject_.namespace_name) continue;
    if (!own && !pods_.contains(key)) continue;
    if (!carries_out_) continue;
    evicted_.insert(key);
    evictions_.push_back({.when = cycle.now,
                          .pods = {victim_text(victim)},
                          .nodes = {victim.node},
                          .ask = object_text(ask.kind, ask.namespace_name, ask.name),
                          .reason = victim.reason,
                          .cycle = cycle.number,
                          .plan = cycle.plan_id,
                          .claimed = true});
    add(cycle.now, fmt::format("Pod {} on {} is expected to leave for {}: {} (cycle {}, plan {})",
                               victim_text(victim), victim.node,
                               object_text(ask.kind, ask.namespace_name, ask.name), victim.reason,
                               cycle.number, cycle.plan_id));
  }
}

std::optional<WhyEviction> WhyStory::eviction_for(const CycleRecord& cycle,
                                                  const RecordedAsk& ask) const {
  WhyEviction eviction{.when = cycle.now,
                       .ask = object_text(ask.kind, ask.namespace_name, ask.name),
                       .cycle = cycle.number,
                       .plan = cycle.plan_id};
  for (const RecordedVictim& victim : ask.victims) {
    if (!is_about(ask, victim)) continue;
    if (eviction.pods.empty()) eviction.reason = victim.reason;
    eviction.pods.push_back(victim_text(victim));
    if (!victim.node.empty()) eviction.nodes.push_back(victim.node);
  }
  if (eviction.pods.empty()) return std::nullopt;
  if (eviction.nodes.empty() && session_) eviction.nodes = session_nodes(*session_);
  return eviction;
}

void WhyStory::read_evictions(const CycleRecord& cycle, const WorldThen& world,
                              std::span<const RecordedAsk> asks) {
  std::optional<Plan> explained;
  for (const RecordedAsk& ask : asks) {
    std::optional<WhyEviction> eviction = eviction_for(cycle, ask);
    if (!eviction) continue;
    const JournalWorld* const then = explained ? nullptr : world();
    if (then != nullptr) {
      const ReplayRules rules{.configuration = then->configuration(),
                              .preset = then->preset(),
                              .configuration_hash = then->configuration_hash()};
      explained = decide_again(cycle, *then, rules, tools_, true).plan;
    }
    // Another version may decide otherwise; what was recorded stays true.
    if (explained && explained->id == cycle.plan_id) add_comparison(*explained, *eviction);
    add_eviction(*eviction, ask.kind == choice_name(AskKind::session) ? "Session" : "Pod");
    if (!carries_out_) continue;
    for (const RecordedVictim& victim : ask.victims) {
      if (victim.namespace_name != subject_.namespace_name) continue;
      evicted_.insert(name_in(victim.plane, victim.name));
    }
    evictions_.push_back(*std::move(eviction));
  }
}

void WhyStory::add_eviction(const WhyEviction& eviction, std::string_view kind) {
  const bool one = eviction.pods.size() == 1;
  const std::string subject = one ? fmt::format("{} {}", kind, eviction.pods.front())
                                  : fmt::format("Pods {}", few_names(eviction.pods));
  const std::string_view verb = !carries_out_ ? "would be" : one ? "is" : "are";
  add(eviction.when,
      fmt::format("{} {} evicted from {} for {}: {} (cycle {}, plan {}{})", subject, verb,
                  few_names(eviction.nodes), eviction.ask, eviction.reason, eviction.cycle,
                  eviction.plan, carries_out_ ? "" : ", which is not carried out"));
}

std::vector<AskName> WhyStory::pending() const {
  std::set<AskName> names;
  for (const auto& [name, pod] : pods_) {
    if (!pod.node.empty() || pod.deletion || !pod.plane.empty()) continue;
    names.insert({.kind = pod.group.empty() ? AskKind::pod : AskKind::pod_group,
                  .namespace_name = pod.namespace_name,
                  .name = pod.group.empty() ? pod.name : pod.group});
  }
  if (session_ && asks(*session_, latest_)) {
    names.insert({.kind = AskKind::session,
                  .namespace_name = session_->namespace_name,
                  .name = session_->name});
  }
  if (schedule_ && schedule_->unmet > 0) {
    names.insert({.kind = AskKind::replica_schedule,
                  .namespace_name = schedule_->namespace_name,
                  .name = schedule_->name});
  }
  return {names.begin(), names.end()};
}

namespace {

std::string fate_text(const SessionStatus& status) {
  switch (status.fate.value_or(SessionFate::ends)) {
    case SessionFate::ends: return "it ends";
    case SessionFate::requeues:
      return status.resume_after
                 ? fmt::format("it asks again from {} on", to_text(*status.resume_after))
                 : std::string("it asks again");
    case SessionFate::on_request: return "it asks again when it is resumed";
    case SessionFate::to_autoscaler: return "its autoscaler starts another one";
    case SessionFate::suspends: return "it keeps its memory, and runs on once there is room";
  }
  return {};
}

/// " for Session default/urgent"
std::string cause_text(const SessionStatus& status) {
  return status.preempted_by.empty() ? std::string() : " for " + status.preempted_by;
}

std::string nodes_text(const Session& session) { return few_names(session_nodes(session)); }

std::int64_t committed_in(const ReplicaSchedule* schedule, std::string_view plane) {
  if (schedule == nullptr) return 0;
  const auto found = std::ranges::find(schedule->planes, plane, &ReplicaPlane::name);
  return found == schedule->planes.end() ? 0 : found->committed;
}

std::string_view plane_or_home(std::string_view plane) { return plane.empty() ? "home" : plane; }

/// "2 in east, 1 in west"
std::string commits_text(const ReplicaSchedule& schedule) {
  std::vector<std::string> parts;
  for (const ReplicaPlane& plane : schedule.planes) {
    if (plane.committed == 0) continue;
    parts.push_back(fmt::format("{} in {}", plane.committed, plane_or_home(plane.name)));
  }
  return parts.empty() ? std::string("none") : fmt::format("{}", fmt::join(parts, ", "));
}

std::string unmet_text(const ReplicaSchedule& schedule) {
  if (schedule.unmet == 0) return "a place for every replica";
  return counted(static_cast<std::uint64_t>(schedule.unmet), "replica") + " without a place";
}

/// "committed: 2 in east; 1 replica without a place"
std::string wanted_text(const ReplicaSchedule& schedule) {
  return fmt::format("committed: {}; {}", commits_text(schedule), unmet_text(schedule));
}

std::string claim_text(const ReplicaClaim& claim) {
  std::vector<std::string> names;
  names.reserve(claim.victims.size());
  for (const ClaimedVictim& victim : claim.victims) {
    names.push_back(victim.namespace_name + "/" + victim.name);
  }
  return fmt::format("claims room on {} in {}{}", claim.node, plane_or_home(claim.plane),
                     names.empty() ? std::string() : ", once gone: " + few_names(std::move(names)));
}

}  // namespace

std::vector<std::string> session_nodes(const Session& session) {
  std::vector<std::string> nodes;
  for (const Kernel& kernel : session.kernels) {
    if (!kernel.node.empty()) nodes.push_back(kernel.node);
  }
  std::ranges::sort(nodes);
  const auto [first, last] = std::ranges::unique(nodes);
  nodes.erase(first, last);
  return nodes;
}

std::vector<std::string> session_events(const Session* before, const Session& session, Time now) {
  std::vector<std::string> events;
  const SessionStatus& status = session.status;
  if (before == nullptr || before->status.phase != status.phase) {
    switch (status.phase) {
      case SessionPhase::pending:
        events.emplace_back(before == nullptr ? "comes and asks for room" : "asks for room again");
        break;
      case SessionPhase::running: events.push_back("runs on " + nodes_text(session)); break;
      case SessionPhase::preempted:
        events.push_back(
            fmt::format("was removed from its nodes{}: {}", cause_text(status), fate_text(status)));
        break;
      case SessionPhase::suspended:
        events.push_back(fmt::format("is suspended{}: {}", cause_text(status), fate_text(status)));
        break;
      case SessionPhase::ended:
        events.push_back("has ended" + (status.fate ? cause_text(status) : std::string()));
        break;
    }
  }
  const bool noticed = status.ends_at && (before == nullptr || !before->status.ends_at);
  if (noticed && *status.ends_at > now) {
    events.push_back(fmt::format("has notice{}: its time is over at {}; then {}",
                                 cause_text(status), to_text(*status.ends_at), fate_text(status)));
  }
  return events;
}

std::string session_state(const Session& session) {
  const SessionStatus& status = session.status;
  switch (status.phase) {
    case SessionPhase::pending:
      return session.created ? fmt::format("pending; created {}", to_text(*session.created))
                             : std::string("pending");
    case SessionPhase::running:
      if (status.ends_at) {
        return fmt::format("runs on {} until {}; then {}", nodes_text(session),
                           to_text(*status.ends_at), fate_text(status));
      }
      return fmt::format("runs on {}{}", nodes_text(session),
                         status.started ? " since " + to_text(*status.started) : std::string());
    case SessionPhase::preempted: return "off its nodes: " + fate_text(status);
    case SessionPhase::suspended:
      return fmt::format("suspended on {}: {}", nodes_text(session), fate_text(status));
    case SessionPhase::ended: return "ended";
  }
  return {};
}

std::vector<std::string> schedule_events(const ReplicaSchedule* before,
                                         const ReplicaSchedule& schedule) {
  std::vector<std::string> events;
  if (before == nullptr) {
    events.push_back("is there: " + wanted_text(schedule));
  } else {
    for (const ReplicaPlane& plane : schedule.planes) {
      const std::int64_t was = committed_in(before, plane.name);
      if (was == plane.committed) continue;
      events.push_back(fmt::format("is scaled {} in {} from {} to {}",
                                   was < plane.committed ? "up" : "down", plane_or_home(plane.name),
                                   was, plane.committed));
    }
    if (before->unmet != schedule.unmet) events.push_back("has " + unmet_text(schedule));
  }
  for (const ReplicaClaim& claim : schedule.status.claims) {
    const bool known = before != nullptr && std::ranges::find(before->status.claims, claim) !=
                                                before->status.claims.end();
    if (!known) events.push_back(claim_text(claim));
  }
  return events;
}

std::string schedule_state(const ReplicaSchedule& schedule) {
  std::string text = wanted_text(schedule);
  if (!schedule.status.claims.empty()) {
    text += fmt::format("; {}", counted(schedule.status.claims.size(), "claim"));
  }
  return text;
}

namespace {

void write_eviction(DocumentWriter& writer, const WhyEviction& eviction) {
  writer.string_field("time", to_text(eviction.when));
  writer.integer_field("cycle", static_cast<std::int64_t>(eviction.cycle));
  writer.string_field("plan", eviction.plan);
  writer.strings_field("objects", eviction.pods);
  writer.strings_field("nodes", eviction.nodes);
  writer.string_field("for", eviction.ask);
  writer.string_field("reason", eviction.reason);
  if (eviction.claimed) writer.boolean_field("byController", true);
  if (!eviction.alternative.empty()) {
    writer.string_field("alternative", eviction.alternative);
    writer.string_field("key", eviction.key);
  }
  if (!eviction.spared.empty()) writer.strings_field("spared", eviction.spared);
  if (eviction.back) {
    writer.string_field("backSince", to_text(*eviction.back));
    writer.string_field("backOn", eviction.back_on);
  }
}

}  // namespace

std::string why_json(std::string_view object, std::string_view summary, const WhyStory& story) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object();
  writer.string_field("apiVersion", "makeway.dev/v1");
  writer.string_field("kind", "Story");
  writer.string_field("object", object);
  writer.string_field("summary", summary);
  write_list(writer, "evictions", story.evictions(), write_eviction);
  writer.key("waiting");
  writer.begin_array();
  for (const AskName& ask : story.pending()) writer.string(ask_text(ask));
  writer.end_array();
  write_list(writer, "events", story.events(), [&](const WhyEvent& event) {
    writer.string_field("time", to_text(event.when));
    writer.string_field("text", event.text);
  });
  writer.end_object();
  return text;
}

}  // namespace makeway::cli
