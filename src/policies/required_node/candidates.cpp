#include "policies/required_node/candidates.hpp"

#include <algorithm>
#include <limits>

#include "base/checked_math.hpp"
#include "model/required_node.hpp"

namespace makeway {

bool Shortfall::any() const {
  return std::ranges::any_of(spare, [](std::int64_t amount) { return amount < 0; });
}

Shortfall shortfall_of(RequestRow requests, std::span<const std::int64_t> free) {
  Shortfall shortfall;
  shortfall.entry_of.assign(free.size(), -1);
  for (const ResourceAmount& item : requests) {
    const std::size_t column = item.resource.value;
    shortfall.entry_of[column] = static_cast<std::int32_t>(shortfall.resources.size());
    shortfall.resources.push_back(item.resource);
    shortfall.asked.push_back(item.amount);
    shortfall.spare.push_back(saturated_sub(free[column], item.amount));
  }
  return shortfall;
}

void CandidateList::add_frees(std::size_t unit, std::vector<std::int64_t>& sum) const {
  const std::span<const std::int64_t> row = frees(unit);
  for (std::size_t at = 0; at < sum.size(); ++at) sum[at] = saturated_add(sum[at], row[at]);
}

void CandidateList::erase_useless() {
  std::size_t kept = 0;
  for (std::size_t at = 0; at < units.size(); ++at) {
    if (!units[at].holds) continue;
    if (kept != at) {
      units[kept] = units[at];
      std::ranges::copy(frees(at), frees_.begin() + static_cast<std::ptrdiff_t>(kept * width_));
    }
    ++kept;
  }
  units.resize(kept);
  frees_.resize(kept * width_);
}

CandidateSearch::CandidateSearch(World& world, const VictimClasses& classes)
    : world_(world),
      cluster_(world.cluster()),
      settings_(world.configuration().required_node),
      classes_(classes) {}

void CandidateSearch::collect(NodeIndex node, std::int32_t ask_priority, const Shortfall& shortfall,
                              bool all, CandidateList& list) {
  node_ = node;
  ask_priority_ = ask_priority;
  shortfall_ = &shortfall;
  all_ = all;
  list_ = &list;
  seen_groups_.clear();
  const NodeOrder& order = cluster_.order();
  const std::span<const PodIndex> pods = order.pods(node);
  const std::span<const std::int32_t> priorities = order.priorities(node);
  const std::span<const std::uint8_t> guarded = order.guarded(node);
  // The order of the node goes by preemption priority, highest first.
  const bool by_order = world_.configuration().workload.honour_preemption_priority;
  const auto too_high = [this](std::int32_t priority) { return !low_enough(priority); };
  const std::size_t begin =
      by_order ? static_cast<std::size_t>(std::ranges::partition_point(priorities, too_high) -
                                          priorities.begin())
               : 0;
  list.start(shortfall.resources.size(), pods.size() - begin);
  const bool touched = world_.after().touched(node);
  // What a pod requests is the difference of two rows, one after the other in memory.
  const NodeOrder::View view = order.view(node);
  const std::span<const std::int64_t> used = order.used(node);
  const bool exact = std::ranges::none_of(
      used, [](std::int64_t amount) { return amount == std::numeric_limits<std::int64_t>::max(); });
  const bool by_priority_alone = world_.rules().by_priority_alone();
  for (std::size_t at = begin; at < pods.size(); ++at) {
    const PodIndex pod = pods[at];
    if (touched && world_.after().node_of(pod) != node) continue;
    if (guarded[at] != 0 || !by_order) {
      add_guarded(pod);
      continue;
    }
    if (!by_priority_alone && !world_.rules().protection_but_opt_out(pod).empty()) continue;
    SumRows sums;
    if (exact) sums = {.before = view.used_by_first(at), .with = view.used_by_first(at + 1)};
    add(pod, priorities[at], classes_.of_opted_in(pod), sums);
  }
}

bool CandidateSearch::low_enough(std::int32_t priority) const {
  if (settings_.allow_higher_priority) return true;
  return priority < ask_priority_ || (settings_.allow_equal_priority && priority == ask_priority_);
}

/// Everything but priority and class.
bool CandidateSearch::may_leave(PodIndex pod) const {
  const NodeIndex here = world_.after().node_of(pod);
  return here.exists() && here == cluster_.pods().node[pod] && !world_.rules().settled(pod) &&
         world_.rules().protection_but_opt_out(pod).empty() &&
         !is_pinned_by(cluster_, pod, settings_.pinned_by);
}

void CandidateSearch::add_guarded(PodIndex pod) {
  if (!low_enough(world_.rules().priority_of(pod)) || world_.departures().leaving(pod)) {
    return;
  }
  const UnitIndex index = cluster_.pods().unit[pod];
  const Unit& unit = cluster_.units()[index];
  if (unit.kind == UnitKind::group && unit.mode == DisruptionMode::all) {
    const auto at = std::ranges::lower_bound(seen_groups_, index);
    if (at != seen_groups_.end() && *at == index) return;
    seen_groups_.insert(at, index);
    add_group(index);
  } else if (may_leave(pod)) {
    add(pod, world_.rules().priority_of(pod), classes_.of(pod), {});
  }
}

void CandidateSearch::add(PodIndex pod, std::int32_t priority, std::uint8_t victim_class,
                          SumRows sums) {
  if (victim_class == VictimClasses::none) return;
  const std::span<std::int64_t> row = list_->add_row();
  if (sums.with == nullptr) {
    add_frees(pod, row);
  } else {
    for (std::size_t entry = 0; entry < row.size(); ++entry) {
      const std::size_t column = shortfall_->resources[entry].value;
      row[entry] = sums.with[column] - sums.before[column];
    }
  }
  const bool holds = helps(row);
  if (!holds && !all_) return list_->drop_row();
  list_->units.push_back({.first = pod,
                          .priority = priority,
                          .begin = static_cast<std::uint32_t>(list_->pods.size()),
                          .size = 1,
                          .victim_class = victim_class,
                          .holds = holds});
  list_->pods.push_back(pod);
}

void CandidateSearch::add_group(UnitIndex index) {
  const std::size_t begin = list_->pods.size();
  PinnedCandidate unit{.begin = static_cast<std::uint32_t>(begin), .whole = true};
  bool stays = false;
  for (const PodIndex pod : cluster_.groups()[cluster_.units()[index].group].members) {
    if (!world_.after().node_of(pod).exists()) continue;
    if (world_.departures().leaving(pod)) continue;
    const std::uint8_t victim_class = classes_.of(pod);
    if (victim_class == VictimClasses::none || !may_leave(pod)) {
      stays = true;
      continue;
    }
    unit.victim_class = std::max(unit.victim_class, victim_class);
    unit.started = list_->pods.size() == begin
                       ? world_.rules().started(pod)
                       : std::min(unit.started, world_.rules().started(pod));
    list_->pods.push_back(pod);
  }
  unit.size = static_cast<std::uint32_t>(list_->pods.size() - begin);
  if (stays || unit.size == 0 || std::int64_t{unit.size} > settings_.max_victims) {
    return list_->pods.resize(begin);
  }
  const auto pods = std::span(list_->pods).subspan(begin);
  std::ranges::sort(pods, {}, [this](PodIndex pod) { return cluster_.pods().name[pod.value]; });
  unit.first = pods.front();
  unit.priority = world_.rules().priority_of(unit.first);
  const std::span<std::int64_t> row = list_->add_row();
  for (const PodIndex pod : pods) {
    if (world_.after().node_of(pod) == node_) add_frees(pod, row);
  }
  unit.holds = helps(row);
  if (unit.holds || all_) {
    list_->units.push_back(unit);
  } else {
    list_->drop_row();
    list_->pods.resize(begin);
  }
}

void CandidateSearch::add_frees(PodIndex pod, std::span<std::int64_t> row) const {
  for (const ResourceAmount& item : request_of(cluster_, pod)) {
    const std::int32_t entry = shortfall_->entry_of[item.resource.value];
    if (entry < 0) continue;
    std::int64_t& sum = row[static_cast<std::size_t>(entry)];
    sum = saturated_add(sum, item.amount);
  }
}

/// `pods` is no resource that a pod names.
bool CandidateSearch::helps(std::span<const std::int64_t> row) const {
  const bool by_name = settings_.candidates_hold == CandidatesHold::resource_name;
  for (std::size_t at = 0; at < row.size(); ++at) {
    const bool counts =
        by_name ? shortfall_->resources[at] != resource_pods : shortfall_->spare[at] < 0;
    if (counts && row[at] > 0) return true;
  }
  return false;
}

// ---- Classes ------------------------------------------------------------------------------------

VictimClasses::VictimClasses(const Cluster& cluster, const Configuration& configuration,
                             const VictimRules& rules)
    : cluster_(cluster), rules_(rules), named_owners_(cluster.pods().slots()) {
  const std::vector<std::string>& lines = configuration.required_node.victim_classes;
  lines_.reserve(lines.size());
  for (const std::string& line : lines) lines_.push_back(read(line));
  const auto lists = [this](Kind kind) {
    return std::ranges::find(lines_, kind, &Line::kind) != lines_.end();
  };
  opted_out_protected_ = configuration.protection.protect_opted_out && !lists(Kind::opted_out);
  if (lists(Kind::owner)) find_owners();
  pairs_listed_ = lists(Kind::label) || lists(Kind::annotation);
  for (std::size_t at = 0; at < lines_.size(); ++at) {
    const auto position = static_cast<std::uint8_t>(at);
    if (lines_[at].kind == Kind::regular) regular_class_ = owner_class_ = position;
    if (lines_[at].kind == Kind::owner) owner_class_ = position;
  }
}

VictimClasses::Line VictimClasses::read(std::string_view text) const {
  if (text == "regular") return {};
  if (text == "owner") return {.kind = Kind::owner};
  if (text == "opted-out") return {.kind = Kind::opted_out};
  const std::size_t colon = text.find(':');
  const std::size_t equals = text.find('=');
  Line line{.kind = text.starts_with("label:") ? Kind::label : Kind::annotation,
            .key = std::string(text.substr(colon + 1, equals - colon - 1)),
            .value = std::string(text.substr(equals + 1))};
  if (line.kind == Kind::annotation) return line;
  const std::optional<StringId> key = cluster_.strings().find(line.key);
  const std::optional<StringId> value = cluster_.strings().find(line.value);
  line.known = key && value;
  line.key_id = key.value_or(StringId{0});
  line.value_id = value.value_or(StringId{0});
  return line;
}

/// Owner references name objects of the pod's own namespace.
void VictimClasses::find_owners() {
  const PodColumns& pods = cluster_.pods();
  for (const PodIndex pod : cluster_.each_pod()) {
    if (pods.owners[pod] == OwnersId{0}) continue;
    for (const OwnerReference& owner : cluster_.owners(pods.owners[pod])) {
      if (owner.kind != "Pod") continue;
      const auto named = cluster_.find_pod(cluster_.text(pods.namespace_name[pod]), owner.name,
                                           cluster_.text(pods.plane[pod]));
      if (!named || *named == pod) continue;
      const std::string_view uid = pods.uid[named->value];
      if (!owner.uid.empty() && !uid.empty() && owner.uid != uid) continue;
      named_owners_.writable(*named) = 1;
      owners_named_ = true;
    }
  }
}

bool VictimClasses::matches(const Line& line, PodIndex pod, bool opted_out) const {
  switch (line.kind) {
    case Kind::regular: return true;
    case Kind::owner: return is_owner(pod);
    case Kind::opted_out: return opted_out;
    case Kind::label: {
      if (!line.known) return false;
      const LabelPair wanted{.key = line.key_id, .value = line.value_id};
      const auto labels = cluster_.labels(cluster_.pods().labels[pod]);
      return std::ranges::find(labels, wanted) != labels.end();
    }
    case Kind::annotation: {
      const PodNotes& notes = cluster_.notes(cluster_.pods().notes[pod]);
      return std::ranges::find(notes.marks, Label{.key = line.key, .value = line.value}) !=
             notes.marks.end();
    }
  }
  return false;
}

std::uint8_t VictimClasses::find(PodIndex pod, bool opted_out) const {
  for (std::size_t at = lines_.size(); at-- > 0;) {
    if (matches(lines_[at], pod, opted_out)) return static_cast<std::uint8_t>(at);
  }
  return none;
}

std::uint8_t VictimClasses::of(PodIndex pod) const {
  const bool opted_out = rules_.opted_out(pod);
  return opted_out && opted_out_protected_ ? none : find(pod, opted_out);
}

}  // namespace makeway
