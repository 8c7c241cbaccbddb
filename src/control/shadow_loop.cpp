#include "control/shadow_loop.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <tuple>
#include <variant>

#include "control/scheduler_name.hpp"

namespace makeway {

namespace {

bool same_pods(const ShadowChoice& a, const ShadowChoice& b) {
  const auto same_pod = [](const ShadowVictim& one, const ShadowVictim& other) {
    return one.namespace_name == other.namespace_name && one.name == other.name;
  };
  return std::ranges::equal(a.victims, b.victims, same_pod);
}

std::tuple<std::int32_t, std::int64_t, std::int64_t> price(const ShadowChoice& choice) {
  return {choice.highest_priority().value_or(0), choice.priority_sum(), choice.run_seconds()};
}

void add_side(ShadowTotals::Side& side, const ShadowChoice& choice) {
  side.victims += std::ssize(choice.victims);
  side.priority_sum += choice.priority_sum();
  side.run_seconds += choice.run_seconds();
}

}  // namespace

std::optional<std::int32_t> ShadowChoice::highest_priority() const {
  const auto highest = std::ranges::max_element(victims, {}, &ShadowVictim::priority);
  return highest == victims.end() ? std::nullopt : std::optional(highest->priority);
}

std::int64_t ShadowChoice::priority_sum() const {
  std::int64_t sum = 0;
  for (const ShadowVictim& victim : victims) sum += victim.priority;
  return sum;
}

std::int64_t ShadowChoice::run_seconds() const {
  std::int64_t sum = 0;
  for (const ShadowVictim& victim : victims) sum += victim.run_seconds;
  return sum;
}

ShadowVerdict compare(const ShadowChoice& ours, const ShadowChoice& theirs) {
  if (ours.nodes.empty() && theirs.nodes.empty()) return ShadowVerdict::neither;
  if (ours.nodes.empty()) return ShadowVerdict::only_theirs;
  if (theirs.nodes.empty()) return ShadowVerdict::only_ours;
  if (same_pods(ours, theirs)) {
    return ours.nodes == theirs.nodes ? ShadowVerdict::same : ShadowVerdict::other_node;
  }
  if (ours.victims.size() < theirs.victims.size()) return ShadowVerdict::fewer_victims;
  if (ours.victims.size() > theirs.victims.size()) return ShadowVerdict::more_victims;
  if (price(ours) == price(theirs)) return ShadowVerdict::other_victims;
  return price(ours) < price(theirs) ? ShadowVerdict::cheaper_victims
                                     : ShadowVerdict::dearer_victims;
}

void ShadowTotals::add(const ShadowResult& result) {
  ++verdicts[static_cast<std::size_t>(result.verdict)];
  if (result.ours.nodes.empty() || result.theirs.nodes.empty()) return;
  add_side(ours, result.ours);
  add_side(theirs, result.theirs);
}

std::int64_t ShadowTotals::compared() const {
  std::int64_t sum = 0;
  for (const std::int64_t count : verdicts) sum += count;
  return sum;
}

// ---- The loop -----------------------------------------------------------------------------------

namespace {

bool is_gated(const PodShape& shape) {
  return std::ranges::any_of(shape.unsupported, [](const std::string& need) {
    return need.starts_with("schedulingGate ");
  });
}

/// As it was before its scheduler touched it.
Pod untouched(Pod pod) {
  pod.node.clear();
  pod.nominated_node.clear();
  pod.started.reset();
  pod.ready = false;
  return pod;
}

std::optional<PodIndex> find_same(const Cluster& cluster, const Pod& pod) {
  const auto index = cluster.find_pod(pod.namespace_name, pod.name, pod.plane);
  if (!index || cluster.pods().uid[index->value] != pod.uid) return std::nullopt;
  return index;
}

/// Its departure must be compared.
bool begins_to_leave(const Cluster& cluster, const Pod& pod) {
  const auto index = find_same(cluster, pod);
  if (!index) return false;
  const PodFlags& before = cluster.pods().flags[*index];
  const bool was_leaving = cluster.pods().deletion[*index] != no_time;
  return (pod.deletion && !was_leaving) ||
         (pod.disrupted_by_preemption && !before.disrupted_by_preemption);
}

std::int64_t run_seconds(Time started, Time now) {
  constexpr std::int64_t second_ms = 1'000;
  return started == no_time ? 0 : std::max<std::int64_t>((now - started).ms, 0) / second_ms;
}

}  // namespace

ShadowLoop::ShadowLoop(Port& port, const Configuration& configuration, const PlanTools& tools,
                       ShadowOptions options)
    : port_(port),
      configuration_(configuration),
      tools_(tools),
      options_(std::move(options)),
      hash_(configuration_hash(configuration)) {
  if (options_.watcher != nullptr) {
    options_.watcher->start(
        {.configuration = configuration_, .preset = options_.preset, .carries_out = false});
  }
}

std::vector<ShadowResult> ShadowLoop::step(Time deadline) {
  for (const auto& [ask, each] : open_) {
    if (!blind_) deadline = std::min(deadline, each.result.seen + options_.patience);
  }
  const bool saw = begun_ && !blind_;
  Batch batch = port_.poll(deadline);
  now_ = std::max(now_, batch.now);
  blind_ = batch.blind;
  Steps steps;
  if (saw && !blind_) {
    steps = split(std::move(batch.changes));
  } else {
    const auto is_missed = [&](const Change& change) {
      return is_new_ask(change) && !std::get<Pod>(change).node.empty();
    };
    if (begun_) {
      statistics_.missed +=
          static_cast<std::uint64_t>(std::ranges::count_if(batch.changes, is_missed));
    }
    steps.before = std::move(batch.changes);
  }
  apply(steps.before);
  if (blind_) return {};
  begun_ = true;
  decide(take_new());
  apply(steps.after);
  return settle();
}

bool ShadowLoop::is_theirs(const Pod& pod) const {
  return names_scheduler(pod, {&options_.scheduler, 1}) && pod.plane.empty() && !pod.mirror;
}

bool ShadowLoop::is_new_ask(const Change& change) const {
  const auto* const pod = std::get_if<Pod>(&change);
  return pod != nullptr && is_theirs(*pod) && !pod->deletion && !find_same(cluster_, *pod);
}

ShadowLoop::Steps ShadowLoop::split(std::vector<Change> changes) const {
  Steps steps;
  const auto is_new = [this](const Change& change) { return is_new_ask(change); };
  if (std::ranges::none_of(changes, is_new)) {
    steps.before = std::move(changes);
    return steps;
  }
  std::set<PodName> held;  // Later changes of these objects are held back as well.
  for (Change& change : changes) {
    const auto* const pod = std::get_if<Pod>(&change);
    const auto* const gone = std::get_if<Removal>(&change);
    const bool is_held = (pod != nullptr && held.contains({pod->namespace_name, pod->name})) ||
                         (gone != nullptr && gone->kind == ObjectKind::pod &&
                          held.contains({gone->namespace_name, gone->name}));
    bool is_later = is_held;
    if (is_held || pod == nullptr) {
      // Nothing to look at.
    } else if (is_new_ask(change) && (!pod->node.empty() || !pod->nominated_node.empty())) {
      steps.before.emplace_back(untouched(*pod));
      is_later = true;
    } else if (begins_to_leave(cluster_, *pod)) {
      held.emplace(pod->namespace_name, pod->name);
      is_later = true;
    }
    (is_later ? steps.after : steps.before).push_back(std::move(change));
  }
  return steps;
}

void ShadowLoop::apply(const std::vector<Change>& changes) {
  if (changes.empty()) return;
  for (const Change& change : changes) note_mark(change);
  const bool many = changes.size() > cluster_.pod_count() + cluster_.node_count();
  if (many) cluster_.begin_bulk();
  for (const Change& change : changes) cluster_.apply(change);
  if (many) cluster_.finish_bulk();
  for (const Change& change : changes) note(change);
  if (options_.watcher == nullptr) return;
  options_.watcher->batch({.now = now_, .changes = changes}, cluster_);
}

/// The cluster does not have the change yet.
void ShadowLoop::note_mark(const Change& change) {
  const auto* const pod = std::get_if<Pod>(&change);
  if (pod == nullptr || !begun_ || !pod->disrupted_by_preemption) return;
  const auto index = find_same(cluster_, *pod);
  const PodColumns& pods = cluster_.pods();
  if (!index || !pods.node[*index].exists() || pods.flags[*index].disrupted_by_preemption) return;
  const Unit& unit = cluster_.units()[pods.unit[*index]];
  marked_[{pod->namespace_name, pod->name}] = {.victim = {.namespace_name = pod->namespace_name,
                                                          .name = pod->name,
                                                          .node = pod->node,
                                                          .priority = unit.preemption_priority},
                                               .started = pods.started[*index],
                                               .seen = now_};
}

/// The cluster has the change.
void ShadowLoop::note(const Change& change) {
  if (const auto* const gone = std::get_if<Removal>(&change)) {
    if (gone->kind != ObjectKind::pod || !gone->plane.empty()) return;
    candidates_.erase({gone->namespace_name, gone->name});
    decided_.erase({gone->namespace_name, gone->name});
    return;
  }
  const auto* const pod = std::get_if<Pod>(&change);
  if (pod == nullptr || !is_theirs(*pod)) return;
  const PodName name{pod->namespace_name, pod->name};
  if (!pod->node.empty() || pod->deletion) {
    if (candidates_.erase(name) > 0 && !pod->node.empty()) ++statistics_.missed;
    if (!pod->node.empty()) decided_.erase(name);
    return;
  }
  const auto known = decided_.find(name);
  if (known == decided_.end() || known->second != pod->uid) {
    candidates_.insert(name);
    return;
  }
  if (pod->nominated_node.empty()) return;
  const auto open = open_.find(ask_of(*pod));
  if (open != open_.end()) open->second.nominated.try_emplace(pod->nominated_node, now_);
}

AskName ShadowLoop::ask_of(const Pod& pod) {
  const bool is_grouped = !pod.group.empty();
  return {.kind = is_grouped ? AskKind::pod_group : AskKind::pod,
          .namespace_name = pod.namespace_name,
          .name = is_grouped ? pod.group : pod.name};
}

/// The pods that ask with it.
std::vector<PodIndex> ShadowLoop::members_of(PodIndex index) const {
  const Unit& unit = cluster_.units()[cluster_.pods().unit[index]];
  std::vector<PodIndex> members{index};
  if (unit.kind == UnitKind::group) members = cluster_.groups()[unit.group].members;
  std::erase_if(members, [&](PodIndex each) { return !cluster_.pending_pods().contains(each); });
  std::ranges::sort(members, {}, [&](PodIndex each) { return cluster_.pods().name[each.value]; });
  return members;
}

bool ShadowLoop::is_ready(PodIndex index, const std::vector<PodIndex>& members) const {
  const PodColumns& pods = cluster_.pods();
  const Unit& unit = cluster_.units()[pods.unit[index]];
  const bool names_group = unit.kind == UnitKind::group || unit.group.exists();
  if (names_group && (!unit.defined || unit.size < unit.minimum)) return false;
  return std::ranges::none_of(
      members, [&](PodIndex each) { return is_gated(cluster_.shape(pods.shape[each])); });
}

std::vector<AskName> ShadowLoop::take_new() {
  std::vector<AskName> asks;
  const std::set<PodName> candidates = candidates_;
  for (const PodName& name : candidates) {
    if (!candidates_.contains(name)) continue;  // It came with its group.
    const auto index = cluster_.find_pod(name.first, name.second);
    if (!index) continue;
    const std::vector<PodIndex> members = members_of(*index);
    if (!is_ready(*index, members)) continue;
    const AskName ask = ask_of(cluster_.pod(*index));
    const bool is_late = std::ranges::any_of(
        members, [&](PodIndex each) { return cluster_.pods().nominated[each].exists(); });
    const auto before = open_.find(ask);
    if (before != open_.end() && state_of(ask, before->second) == State::gone) {
      ++statistics_.gone;  // This is another one of that name.
      open_.erase(before);
    }
    const bool is_open = open_.contains(ask);
    Open entry{.result = {.ask = ask, .seen = now_}};
    for (const PodIndex each : members) {
      const std::string member(cluster_.pods().name[each.value]);
      const std::string uid(cluster_.pods().uid[each.value]);
      candidates_.erase({name.first, member});
      decided_[{name.first, member}] = uid;
      entry.members.push_back({.name = member, .uid = uid});
    }
    if (is_open) continue;  // Members that came later are not compared.
    if (is_late) {
      ++statistics_.late;
      continue;
    }
    ++statistics_.seen;
    open_.emplace(ask, std::move(entry));
    asks.push_back(ask);
  }
  std::ranges::sort(asks);
  return asks;
}

void ShadowLoop::decide(const std::vector<AskName>& asks) {
  if (asks.empty()) return;
  const LawfulPlan made = make(asks);
  learn(made.plan ? *made.plan : Plan{}, asks);
}

LawfulPlan ShadowLoop::make(const std::vector<AskName>& asks) {
  ++statistics_.cycles;
  const PlanRequest request{.now = now_,
                            .preset = options_.preset,
                            .configuration_hash = hash_,
                            .asks = asks,
                            .explain = false,
                            .contain = tools_.contain};
  PlanTools tools = tools_;
  tools.keep_going = true;
  LawfulPlan made = make_lawful_plan(cluster_, configuration_, request, tools);
  if (options_.watcher != nullptr && made.plan) {
    options_.watcher->cycle({.now = now_, .due = request.asks, .judged = true, .made = made},
                            cluster_);
  }
  statistics_.refused += made.refused.size();
  std::ranges::copy(made.refused, std::back_inserter(refused_));
  return made;
}

void ShadowLoop::learn(const Plan& plan, const std::vector<AskName>& asks) {
  std::set<AskName> missing(asks.begin(), asks.end());
  for (const PlanAsk& planned : plan.asks) {
    const AskName ask = ask_name_of(planned);
    if (missing.erase(ask) == 0) continue;
    ShadowResult& result = open_.at(ask).result;
    result.priority = planned.priority;
    result.plan = plan.id;
    result.outcome = planned.outcome;
    result.reason = planned.reason;
    for (const PodPlacement& place : planned.placements) result.ours.nodes.push_back(place.node);
    std::ranges::sort(result.ours.nodes);
    for (const PlanVictim& victim : planned.victims) {
      const auto index = cluster_.find_pod(victim.namespace_name, victim.name, victim.plane);
      const Time started = index ? cluster_.pods().started[*index] : no_time;
      result.ours.victims.push_back({.namespace_name = victim.namespace_name,
                                     .name = victim.name,
                                     .node = victim.node,
                                     .priority = victim.priority,
                                     .run_seconds = run_seconds(started, now_)});
    }
    std::ranges::sort(result.ours.victims);
  }
  statistics_.undecided += missing.size();
  for (const AskName& ask : missing) open_.erase(ask);
}

std::vector<ShadowResult> ShadowLoop::settle() {
  std::vector<ShadowResult> results;
  for (auto at = open_.begin(); at != open_.end();) {
    const State state = state_of(at->first, at->second);
    if (state == State::waits && now_ < at->second.result.seen + options_.patience) {
      ++at;
      continue;
    }
    if (state == State::gone) {
      ++statistics_.gone;
    } else {
      ShadowResult& result = at->second.result;
      choose_theirs(at->first, at->second);
      if (state == State::bound) result.wait = now_ - result.seen;
      result.verdict = compare(result.ours, result.theirs);
      results.push_back(std::move(result));
    }
    at = open_.erase(at);
  }
  forget_marks();
  return results;
}

std::optional<PodIndex> ShadowLoop::find_member(const AskName& ask, const Member& member) const {
  const auto index = cluster_.find_pod(ask.namespace_name, member.name);
  if (!index || cluster_.pods().uid[index->value] != member.uid) return std::nullopt;
  return index;
}

ShadowLoop::State ShadowLoop::state_of(const AskName& ask, const Open& open) const {
  State state = State::gone;
  for (const Member& member : open.members) {
    const auto index = find_member(ask, member);
    if (!index) continue;
    const bool is_bound = cluster_.pods().node[*index].exists();
    if (!is_bound && cluster_.pods().deletion[*index] != no_time) continue;
    if (!is_bound) return State::waits;
    state = State::bound;
  }
  return state;
}

void ShadowLoop::choose_theirs(const AskName& ask, Open& open) {
  ShadowChoice& theirs = open.result.theirs;
  const PodColumns& pods = cluster_.pods();
  for (const Member& member : open.members) {
    const auto index = find_member(ask, member);
    if (!index) continue;
    const NodeIndex node = pods.node[*index].exists() ? pods.node[*index] : pods.nominated[*index];
    if (node.exists()) theirs.nodes.emplace_back(cluster_.text(cluster_.nodes().name[node]));
  }
  std::ranges::sort(theirs.nodes);
  for (auto at = marked_.begin(); at != marked_.end();) {
    if (!is_victim_of(at->second, ask, open)) {
      ++at;
      continue;
    }
    ShadowVictim victim = at->second.victim;
    victim.run_seconds = run_seconds(at->second.started, open.result.seen);
    theirs.victims.push_back(std::move(victim));
    at = marked_.erase(at);
  }
  std::ranges::sort(theirs.victims);
}

bool ShadowLoop::is_victim_of(const Marked& marked, const AskName& ask, const Open& open) const {
  if (marked.seen < open.result.seen) return false;
  const std::string& node = marked.victim.node;
  const auto distance = [&](const Open& entry) -> std::optional<std::int64_t> {
    const auto nominated = entry.nominated.find(node);
    if (nominated == entry.nominated.end() || marked.seen < entry.result.seen) return std::nullopt;
    return std::abs((nominated->second - marked.seen).ms);
  };
  const std::optional<std::int64_t> own = distance(open);
  for (const auto& [other, entry] : open_) {
    const std::optional<std::int64_t> theirs = distance(entry);
    if (other == ask || !theirs) continue;
    if (!own || std::pair(*theirs, other) < std::pair(*own, ask)) return false;
  }
  return own || std::ranges::binary_search(open.result.theirs.nodes, node);
}

/// Those that no ask can claim any more.
void ShadowLoop::forget_marks() {
  std::erase_if(marked_, [this](const auto& each) {
    return std::ranges::none_of(
        open_, [&](const auto& open) { return open.second.result.seen <= each.second.seen; });
  });
}

}  // namespace makeway
