#include "control/live_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "control/scheduler_name.hpp"
#include "model/budget_finder.hpp"
#include "model/names.hpp"
#include "model/object_text.hpp"
#include "model/selector.hpp"
#include "model/validation/validation.hpp"

namespace makeway {
namespace {

ChangeKey key_of_group(const Cluster& cluster, const Group& group) {
  return {ObjectKind::pod_group, std::string(cluster.text(group.plane)),
          std::string(cluster.text(group.namespace_name)), std::string(cluster.text(group.name))};
}

std::optional<PodIndex> pod_at(const Cluster& cluster, const ChangeKey& key) {
  const auto& [kind, plane, namespace_name, name] = key;
  return cluster.find_pod(namespace_name, name, plane);
}

ChangeKey key_of_pod(const Cluster& cluster, PodIndex pod) {
  const PodColumns& pods = cluster.pods();
  return {ObjectKind::pod, std::string(cluster.text(pods.plane[pod])),
          std::string(cluster.text(pods.namespace_name[pod])), std::string(pods.name[pod.value])};
}

/// Of nodes that are both there, or both not.
bool has_same_labels(const Change& one, const Change& other) {
  const auto* const before = std::get_if<Node>(&one);
  const auto* const after = std::get_if<Node>(&other);
  if (before == nullptr || after == nullptr) return before == after;
  return before->labels == after->labels;
}

/// Of queues: what they say themselves. Their status is ours, changes often and is no rule.
bool has_same_spec(const Change& one, const Change& other) {
  const auto* const before = std::get_if<Queue>(&one);
  const auto* const after = std::get_if<Queue>(&other);
  if (before == nullptr || after == nullptr) return one == other;
  Queue same = *after;
  same.allocated = before->allocated;
  same.preempting = before->preempting;
  same.deserved = before->deserved;
  same.used = before->used;
  return same == *before;
}

bool is_trusted(const Change& space) {
  const auto* const object = std::get_if<Namespace>(&space);
  return object != nullptr &&
         find_label(object->labels, names::trusted) == std::string_view("true");
}

}  // namespace

LiveView::LiveView(const Configuration& configuration, LiveViewOptions options)
    : configuration_(configuration),
      options_(std::move(options)),
      late_volumes_(options_.volume_patience),
      closed_(options_.closed_nodes) {}

std::optional<Time> LiveView::next_due() const {
  std::optional<Time> next;
  for (const std::optional<Time>& due :
       {closed_.next_opening(), cost_again_, late_volumes_.next_due()}) {
    if (due && (!next || *due < *next)) next = due;
  }
  return next;
}

std::vector<Change> LiveView::show(std::vector<Change> changes, const LiveUpdates& updates,
                                   Time now) {
  Round round{.changes = late_volumes_.show(session_pods_.show(std::move(changes)), seen_, now)};
  round.everything = take_daemon_sets(updates) || (cost_again_ && *cost_again_ <= now);
  for (Change& change : round.changes) note_change(change, round);
  std::vector<Change> shown;
  if (round.everything || !round.changes.empty()) {
    take(round);
    round.everything = round.everything || may_be_wrong(round);
    restore(round);
    if (round.everything) quarantine(round);
    if (round.everything || may_be_doubtful(round)) note_findings();
    mark_two_budgets(round);
    honour(round, now);
    shown = changes_shown(round);
    compact();
  }
  keep_pods_away(shown, updates, now);
  return shown;
}

// ---- What has changed ---------------------------------------------------------------------------

bool LiveView::take_daemon_sets(const LiveUpdates& updates) {
  bool any = false;
  for (const DaemonSetUpdate& each : updates.daemon_sets) {
    std::pair<std::string, std::string> name{each.namespace_name, each.name};
    const bool is_new =
        each.exists ? daemon_sets_.insert(std::move(name)).second : daemon_sets_.erase(name) > 0;
    any = any || is_new;
  }
  return any;
}

bool LiveView::is_ours(const Pod& pod) const { return names_scheduler(pod, options_.schedulers); }

/// It is never a victim. KeptBy has one word for both reasons, since both mean the same: another
/// scheduler decides about the pod.
/// Whatever places pods of planes, replicas among them are ours to scale.
bool LiveView::is_kept(const Pod& pod) const {
  const bool is_elsewhere = !pod.plane.empty();
  if (!configuration_.protection.preempt_other_schedulers && !is_elsewhere && !is_ours(pod)) {
    return true;
  }
  return options_.may_leave && !pod.node.empty() && !options_.may_leave->contains(pod.uid);
}

/// The group that the pod is in now.
void LiveView::note_group_of(const ChangeKey& pod, Round& round) const {
  const auto found = pod_at(seen_, pod);
  if (!found) return;
  const Unit& unit = seen_.units()[seen_.pods().unit[*found]];
  if (unit.group.exists()) round.groups.insert(key_of_group(seen_, seen_.groups()[unit.group]));
}

/// Other pods may be under two budgets now. Their status changes often and means nothing
/// here.
void LiveView::note_budget(const ChangeKey& key, const DisruptionBudget* budget,
                           Round& round) const {
  if (configuration_.budgets.mode != BudgetMode::strict) return;
  const Change known = object_at(seen_, key);
  const auto* const before = std::get_if<DisruptionBudget>(&known);
  if (before != nullptr && budget != nullptr && before->selector == budget->selector) return;
  for (const PodIndex pod : seen_.each_pod()) {
    const ChangeKey each = key_of_pod(seen_, pod);
    const bool is_near =
        std::get<1>(each) == std::get<1>(key) && std::get<2>(each) == std::get<2>(key);
    if (is_near) round.pods.insert(each);
  }
}

/// Where they may be depends on the labels of nodes.
bool LiveView::has_sessions() const {
  const auto edited = edited_.lower_bound(ChangeKey{ObjectKind::session, {}, {}, {}});
  return !seen_.own<Session>().empty() ||
         (edited != edited_.end() && std::get<0>(edited->first) == ObjectKind::session);
}

bool LiveView::changes_rules(const Change& change, const ChangeKey& key) const {
  switch (std::get<0>(key)) {
    case ObjectKind::namespace_object:
      return is_trusted(object_at(seen_, key)) != is_trusted(change);
    case ObjectKind::node: return has_sessions() && !has_same_labels(object_at(seen_, key), change);
    case ObjectKind::priority_class:
    case ObjectKind::queue:
    case ObjectKind::replica_schedule:
    case ObjectKind::resource_group:
    case ObjectKind::partition:
    case ObjectKind::session:
    case ObjectKind::workload: break;
    default: return false;
  }
  // What was taken off must be taken off again, even if the same is shown once more.
  return edited_.contains(key) || !has_same_spec(object_at(seen_, key), change);
}

void LiveView::note_change(Change& change, Round& round) const {
  ChangeKey key = key_of_change(change);
  round.everything = round.everything || changes_rules(change, key);
  const ObjectKind kind = std::get<0>(key);
  if (kind == ObjectKind::pod) {
    round.pods.insert(key);
    note_group_of(key, round);  // That it leaves, maybe.
    if (auto* const pod = std::get_if<Pod>(&change)) {
      pod->kept = is_kept(*pod) ? KeptBy::other_scheduler : KeptBy::none;
    }
  }
  if (kind == ObjectKind::pod_group) round.redefined.insert(key);
  if (kind == ObjectKind::disruption_budget) {
    note_budget(key, std::get_if<DisruptionBudget>(&change), round);
  }
  round.last[std::move(key)] = static_cast<std::size_t>(&change - round.changes.data());
}

// ---- The store ----------------------------------------------------------------------------------

void LiveView::put(const Change& change) {
  seen_.apply(change);
  if (compaction_) compaction_->apply(change);
}

void LiveView::take(Round& round) {
  const bool many = round.changes.size() > seen_.pod_count() + seen_.node_count();
  if (many) {
    compaction_.reset();
    seen_.begin_bulk();
  }
  for (const Change& change : round.changes) {
    put(change);
    if (reported_marks_.empty() || !std::holds_alternative<Removal>(change)) continue;
    reported_marks_.erase(object_text(change));
  }
  if (many) {
    seen_.finish_bulk();
    interned_before_ = seen_.interned_count();
  }
  for (const auto& [key, position] : round.last) edited_.erase(key);
  for (const ChangeKey& pod : round.pods) note_group_of(pod, round);
  // Whether a pod is pinned or capped by itself, and in which queue, depends on its group, too.
  if (configuration_.trust.outside_queues != TrustedOnly::everyone) {
    round.redefined.insert(round.groups.begin(), round.groups.end());
  }
  for (const ChangeKey& group : round.redefined) note_members(group, round);
  round.groups.merge(round.redefined);
}

void LiveView::note_members(const ChangeKey& group, Round& round) const {
  const auto& [kind, plane, namespace_name, name] = group;
  const auto found = seen_.find_group(namespace_name, name, plane);
  if (!found) return;
  for (const PodIndex pod : seen_.groups()[*found].members) {
    round.pods.insert(key_of_pod(seen_, pod));
  }
  for (const PodIndex pod : seen_.groups()[*found].strays) {
    round.pods.insert(key_of_pod(seen_, pod));
  }
}

/// What is looked at must stand there as the server shows it.
void LiveView::restore(Round& round) {
  std::vector<ChangeKey> keys;
  if (round.everything) {
    for (const auto& [key, edit] : edited_) keys.push_back(key);
  } else {
    std::ranges::copy(round.groups, std::back_inserter(keys));
    std::ranges::copy(round.pods, std::back_inserter(keys));
  }
  for (const ChangeKey& key : keys) restore_one(key, round);
}

void LiveView::restore_one(const ChangeKey& key, Round& round) {
  const auto found = edited_.find(key);
  if (found == edited_.end()) return;
  round.shown_before.try_emplace(key, std::move(found->second.after));
  put(found->second.before);
  edited_.erase(found);
}

/// Names and amounts that only the whole cluster can say no to, or what was in quarantine before.
bool LiveView::may_be_wrong(const Round& round) const {
  const auto is_known = [&](const std::string& name, const std::string& plane) {
    return name.empty() || seen_.find_priority_class(name, plane) != nullptr;
  };
  // So many of these that their sums are too large are more than a cluster holds.
  const auto are_small = [](const Amounts& amounts) {
    constexpr std::int64_t large = std::int64_t{1} << 47U;
    return std::ranges::all_of(amounts, [](const Amount& each) { return each.amount < large; });
  };
  const auto is_sound = [&](const Change& change) {
    if (const auto* const pod = std::get_if<Pod>(&change)) {
      return are_small(pod->requests) && is_known(pod->priority_class, pod->plane) &&
             is_known(pod->notes.preemption_priority_class, pod->plane);
    }
    if (const auto* const group = std::get_if<PodGroup>(&change)) {
      return is_known(group->priority.priority_class, group->plane) &&
             is_known(group->priority.preemption_priority_class, group->plane);
    }
    const auto* const node = std::get_if<Node>(&change);
    return node == nullptr || are_small(node->allocatable);
  };
  // No pod may be protected by a lower priority than it asks with.
  const auto is_inverted = [&](const ChangeKey& key) {
    const auto pod = pod_at(seen_, key);
    if (!pod) return false;
    const Unit& unit = seen_.units()[seen_.pods().unit[*pod]];
    return unit.preemption_priority < unit.scheduling_priority;
  };
  const auto is_held = [&](const ChangeKey& key) { return quarantined_.contains(key); };
  return !std::ranges::all_of(round.changes, is_sound) ||
         std::ranges::any_of(round.pods, is_inverted) || std::ranges::any_of(round.pods, is_held) ||
         std::ranges::any_of(round.groups, is_held);
}

/// Law 13: what is wrong beside other objects is mended, and no other object is stopped by it.
/// Rare: a copy of everything is mended and compared.
void LiveView::quarantine(Round& round) {
  quarantined_.clear();
  quarantine_ = {};
  if (find_errors(seen_).empty()) return;
  Cluster mended = seen_.compacted();
  quarantine_errors(mended, quarantine_);
  std::vector<Change> changed;
  each_kind([&]<class Object>(KindTag<Object> /*tag*/) {
    mended.each<Object>([&](const Object& object) {
      Change after = object;
      if (object_at(seen_, key_of_change(after)) != after) changed.push_back(std::move(after));
    });
    seen_.each<Object>([&](const Object& object) {
      Change after = object_at(mended, key_of_change(object));
      if (std::holds_alternative<Removal>(after)) changed.push_back(std::move(after));
    });
  });
  for (Change& after : changed) {
    const ChangeKey key = key_of_change(after);
    Change before = object_at(seen_, key);
    put(after);
    if (!round.last.contains(key)) round.shown_before.try_emplace(key, before);
    round.altered.insert(key);
    quarantined_.insert(key);
    edited_.insert_or_assign(key,
                             TrustEdit{.before = std::move(before), .after = std::move(after)});
  }
}

/// Whether rules of ours find other nodes; what else they say is in `everything`.
bool LiveView::may_be_doubtful(const Round& round) const {
  const bool has_rules = !seen_.own<Queue>().empty() || !seen_.own<ResourceGroup>().empty() ||
                         !seen_.own<Partition>().empty();
  return has_rules && std::ranges::any_of(round.last, [](const auto& each) {
           return std::get<0>(each.first) == ObjectKind::node;
         });
}

void LiveView::note_findings() {
  own_findings_.clear();
  for (const Problem& problem : quarantine_.problems()) {
    note_finding(problem, OwnFinding::Level::quarantined);
  }
  for (const Problem& problem : lint_own_kinds(seen_)) {
    const bool is_error = problem.severity == Severity::error;
    note_finding(problem, is_error ? OwnFinding::Level::cannot_work : OwnFinding::Level::doubtful);
  }
}

void LiveView::note_finding(const Problem& problem, OwnFinding::Level level) {
  const std::string_view kind =
      std::string_view(problem.object).substr(0, problem.object.find(' '));
  const auto row = std::ranges::find(kind_rows, kind, &KindRow::name);
  if (row == kind_rows.end() || !is_own(*row)) return;
  OwnFinding& finding = own_findings_[problem.object];
  finding.level = std::max(finding.level, level);
  if (!finding.text.empty()) finding.text += "; ";
  finding.text += problem.field;
  if (!problem.value.empty()) finding.text += fmt::format(" '{}'", problem.value);
  finding.text += fmt::format(": {}", problem.message);
  if (!problem.remedy.empty()) finding.text += fmt::format(": {}", problem.remedy);
}

std::vector<PodIndex> LiveView::pods_to_look_at(const Round& round) const {
  std::vector<PodIndex> pods;
  if (round.everything) {
    for (const PodIndex pod : seen_.each_pod()) pods.push_back(pod);
    return pods;
  }
  for (const ChangeKey& key : round.pods) {
    if (const auto pod = pod_at(seen_, key)) pods.push_back(*pod);
  }
  return pods;
}

/// As SPEC section 8 has it, an eviction of such a pod is answered with 500.
void LiveView::mark_two_budgets(Round& round) {
  if (configuration_.budgets.mode != BudgetMode::strict) return;
  std::vector<const DisruptionBudget*> budgets;
  for (const auto& [key, budget] : seen_.own<DisruptionBudget>()) budgets.push_back(&budget);
  const BudgetFinder finder(std::move(budgets));
  for (const PodIndex index : pods_to_look_at(round)) {
    const KeptBy kept = seen_.pods().flags[index].kept;
    if (kept == KeptBy::other_scheduler) continue;
    Pod pod = seen_.pod(index);
    const bool is_under_two = finder.find(pod.plane, pod.namespace_name, pod.labels).size() > 1;
    if (is_under_two == (kept == KeptBy::two_budgets)) continue;
    const ChangeKey key = key_of_pod(seen_, index);
    if (!round.last.contains(key)) round.shown_before.try_emplace(key, pod);
    round.altered.insert(key);
    pod.kept = is_under_two ? KeptBy::two_budgets : KeptBy::none;
    put(pod);
  }
}

TrustScope LiveView::scope_of(const Round& round) const {
  TrustScope scope{.pods = pods_to_look_at(round)};
  for (const auto& [kind, plane, namespace_name, name] : round.groups) {
    if (const auto group = seen_.find_group(namespace_name, name, plane)) {
      scope.groups.push_back(*group);
    }
  }
  return scope;
}

void LiveView::note_mark(const NotHonoured& mark) {
  const std::optional<ObjectRef> object = parse_ref(mark.object);
  const bool is_group = object && object->kind == RefKind::pod_group;
  if (!object || (!is_group && object->kind != RefKind::pod)) return;
  MarkNotice notice{.kind = is_group ? ObjectKind::pod_group : ObjectKind::pod,
                    .namespace_name = object->namespace_name,
                    .name = object->name,
                    .note = fmt::format("{} '{}' is not honoured: {}", mark.field, mark.value,
                                        reason_of(mark.mark))};
  const auto pod = seen_.find_pod(notice.namespace_name, notice.name);
  if (!is_group && (!pod || seen_.pods().flags[*pod].kept == KeptBy::other_scheduler)) return;
  if (notices_.size() >= options_.notices_max) return;
  std::uint32_t& reported = reported_marks_[mark.object];
  const std::uint32_t bit = 1U << static_cast<unsigned>(mark.mark);
  if ((reported & bit) != 0) return;
  reported |= bit;
  notices_.push_back(std::move(notice));
}

void LiveView::honour(Round& round, Time now) {
  const TrustScope scope = round.everything ? TrustScope{} : scope_of(round);
  const TrustFacts facts{
      .has_daemon_set =
          [this](std::string_view namespace_name, std::string_view name) {
            return daemon_sets_.contains({std::string(namespace_name), std::string(name)});
          },
      .now = now,
      .decides_kept = true,
      .recalls_notes = options_.recalls_notes,
      .scope = round.everything ? nullptr : &scope,
      .on_each = [this](const NotHonoured& mark) { note_mark(mark); }};
  std::vector<TrustEdit> edits;
  const TrustReport report = apply_trust(seen_, configuration_, facts, edits);
  bool limits_cost = false;
  for (const NotHonoured& each : report.list()) {
    not_honoured_.at(static_cast<std::size_t>(each.mark)) +=
        static_cast<std::uint64_t>(each.objects);
    limits_cost = limits_cost || each.mark == TrustMark::cost;
  }
  if (round.everything) cost_again_.reset();
  if (limits_cost && !cost_again_) cost_again_ = now + options_.cost_again;
  for (TrustEdit& edit : edits) {
    const ChangeKey key = key_of_change(edit.after);
    if (compaction_) compaction_->apply(edit.after);
    if (!round.last.contains(key)) round.shown_before.try_emplace(key, edit.before);
    round.altered.insert(key);
    // What was mended before is restored to how it came.
    const auto [at, is_new] = edited_.try_emplace(key, edit);
    if (!is_new) at->second.after = std::move(edit.after);
  }
}

/// Objects that come and go leave names behind; see ControlLoop::compact.
void LiveView::compact() {
  if (!compaction_) {
    if (seen_.interned_count() <= interned_before_ * 2 + options_.garbage_min) return;
    compaction_.emplace();
  }
  if (!compaction_->step(seen_, options_.copied_at_once)) return;
  seen_ = compaction_->take();
  compaction_.reset();
  interned_before_ = seen_.interned_count();
}

// ---- What is shown ------------------------------------------------------------------------------

std::vector<Change> LiveView::changes_shown(Round& round) const {
  std::vector<Change> shown;
  shown.reserve(round.changes.size() + round.shown_before.size());
  for (std::size_t at = 0; at < round.changes.size(); ++at) {
    Change& change = round.changes[at];
    ChangeKey key = key_of_change(change);
    const bool is_altered = round.altered.contains(key) && round.last.at(key) == at;
    const bool is_removal = std::holds_alternative<Removal>(change);
    if (is_removal || !is_altered) shown.push_back(std::move(change));
    if (is_altered) shown.push_back(object_at(seen_, key));
  }
  for (const auto& [key, before] : round.shown_before) {
    Change after = object_at(seen_, key);
    if (after != before) shown.push_back(std::move(after));
  }
  return shown;
}

void LiveView::keep_pods_away(std::vector<Change>& changes, const LiveUpdates& updates, Time now) {
  std::set<std::string> owners;
  for (const KubeletRefusal& refusal : updates.kubelet_refusals) {
    ++kubelet_refusals_;
    if (refusal.owner.empty()) continue;
    closed_.refused(refusal.owner, refusal.node, now);
    owners.insert(refusal.owner);
  }
  for (std::string& owner : closed_.take_opened(now)) owners.insert(std::move(owner));
  if (owners.empty() && closed_.empty()) return;
  std::set<ChangeKey> known;
  for (Change& change : changes) {
    known.insert(key_of_change(change));
    auto* const pod = std::get_if<Pod>(&change);
    if (pod == nullptr || !pod->node.empty()) continue;
    keep_away(*pod, closed_.closed_to(controller_of(*pod), now));
  }
  for (const PodIndex index : seen_.pending_pods()) {
    if (owners.empty()) break;
    Pod pod = seen_.pod(index);
    const std::string owner = controller_of(pod);
    if (!owners.contains(owner) || known.contains(key_of_pod(seen_, index))) continue;
    keep_away(pod, closed_.closed_to(owner, now));
    changes.emplace_back(std::move(pod));
  }
}

}  // namespace makeway
