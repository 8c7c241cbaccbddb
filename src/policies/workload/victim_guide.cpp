#include "policies/workload/victim_guide.hpp"

#include <algorithm>
#include <limits>

#include "base/checked_math.hpp"
#include "base/winner_tree.hpp"
#include "engine/room.hpp"

namespace makeway {
namespace {

constexpr std::int64_t whole_member = 1000;

/// part / whole in thousandths, at most those of `most` members.
std::int64_t worth_of(std::int64_t part, std::int64_t whole, std::int64_t most) {
  if (part / whole >= most) return most * whole_member;
  const std::int64_t rest = part % whole;
  constexpr std::int64_t safe = std::numeric_limits<std::int64_t>::max() / whole_member;
  const std::int64_t fraction =
      rest > safe ? rest / (whole / whole_member + 1) : rest * whole_member / whole;
  return part / whole * whole_member + fraction;
}

}  // namespace

VictimGuide::VictimGuide(World& world, const GroupDomain& domain, MemberFits& fits,
                         EmptiedNodes& emptied, bool spare)
    : world_(world),
      fits_(fits),
      emptied_(emptied),
      spare_(spare),
      violations_at_(cost_keys),
      columns_(world.cluster().order().columns()),
      nodes_(domain.nodes.size()) {
  for (std::size_t at = 0; at < nodes_.size(); ++at) nodes_[at].node = domain.nodes[at];
}

std::optional<GuidedPlaces> VictimGuide::place(std::span<const PodIndex> members,
                                               std::size_t needed, std::size_t wanted) {
  const Budgets::Supposition supposition(world_.budgets());
  for (std::size_t begin = 0; begin < members.size() && places_.size() < wanted;) {
    std::size_t end = begin + 1;
    while (end < members.size() && fits_.class_of(members[end]) == fits_.class_of(members[begin])) {
      ++end;
    }
    place_class(members.subspan(begin, end - begin), wanted - places_.size());
    begin = end;
  }
  if (places_.size() < needed) return std::nullopt;
  return GuidedPlaces{.places = std::move(places_), .victims = std::move(victims_)};
}

// ---- One class of members -----------------------------------------------------------------------

void VictimGuide::place_class(std::span<const PodIndex> members, std::size_t wanted) {
  fit_ = &fits_.of(members.front());
  candidates_.clear();
  for (std::uint32_t at = 0; at < nodes_.size(); ++at) {
    Node& node = nodes_[at];
    node.members = 0;
    if (!worth_reading(node)) continue;
    if (!node.read) read(node);
    order_leavers(node);
    candidates_.push_back(at);
  }
  if (candidates_.empty()) return;
  auto remaining = static_cast<std::int64_t>(std::min(members.size(), wanted));
  for (const std::uint32_t at : candidates_) find_step(nodes_[at], remaining);
  WinnerTree tree(candidates_.size(), [this](std::uint32_t a, std::uint32_t b) {
    return cheaper(nodes_[candidates_[a]], nodes_[candidates_[b]]);
  });
  while (remaining > 0) {
    const std::uint32_t first = tree.first();
    Node& node = nodes_[candidates_[first]];
    if (node.gain == 0) break;
    // Less of it may be of use than when it was looked at, and budgets may be used up.
    if (node.gain > remaining || world_.budgets().any()) {
      find_step(node, remaining);
      tree.changed(first);
      if (tree.first() != first) continue;
    }
    remaining -= take(node);
    for (const std::uint32_t changed : changed_) {
      const auto at = std::ranges::lower_bound(candidates_, changed);
      if (at == candidates_.end() || *at != changed) continue;
      find_step(nodes_[changed], remaining);
      tree.changed(static_cast<std::uint32_t>(at - candidates_.begin()));
    }
  }
  std::size_t next = 0;
  for (const std::uint32_t at : candidates_) {
    for (std::int64_t count = 0; count < nodes_[at].members; ++count) {
      places_.push_back({.pod = members[next++], .node = nodes_[at].node});
    }
  }
}

/// Whether a member has room there once all its pods have left.
bool VictimGuide::worth_reading(const Node& node) const {
  if (!fit_->only_resources(node.node) || fit_->refused_by_node(node.node)) return false;
  if (node.read) return true;
  const std::span<const std::int64_t> allocatable = world_.survey().allocatable(node.node);
  const std::span<const std::int64_t> used = emptied_.used(node.node);
  return std::ranges::all_of(fit_->requests(), [&](const ResourceAmount& item) {
    return item.amount <=
           saturated_sub(allocatable[item.resource.value], used[item.resource.value]);
  });
}

void VictimGuide::read(Node& node) {
  node.read = true;
  node.room.resize(columns_);
  Room(world_).free(node.node, Horizon::soon, node.room);
  emptied_.list_units(node.node, node.list);
  const PodColumns& pods = world_.cluster().pods();
  const auto position = static_cast<std::uint32_t>(&node - nodes_.data());
  node.leavers.reserve(node.list.units.size());
  node.freed.assign(node.list.units.size() * columns_, 0);
  for (std::size_t at = 0; at < node.list.units.size(); ++at) {
    const VictimUnit& unit = node.list.units[at];
    node.leavers.push_back({.unit = static_cast<std::uint32_t>(at), .cost = cost_of(unit)});
    const AmountRow row = std::span(node.freed).subspan(at * columns_, columns_);
    for (const PodIndex pod : node.list.pods_of(unit)) {
      if (pods.node[pod] != node.node) continue;
      add_request(row, request_of(world_.cluster(), pod));
    }
    if (!unit.whole) continue;
    with_[unit.unit].push_back(position);
    if (std::ranges::binary_search(gone_, unit.unit)) free_leaver(node, node.leavers.back());
  }
}

/// What would stop with it were it the first of its gang to leave: a guess for those after it.
GangStanding VictimGuide::stopped_beside(const VictimUnit& unit) {
  GangStanding beside = stopped_in_units(unit);
  const Unit& gang = world_.cluster().units()[unit.unit];
  if (!unit.group || unit.whole || !gang.gang) return beside;
  const auto [at, is_new] = gangs_.try_emplace(unit.unit);
  if (is_new) {
    at->second = gang_standing(world_.cluster(), emptied_.rules(), fits_.scratch(), unit.unit);
  }
  if (at->second.running != gang.minimum) return beside;
  return {.running = std::max(beside.running, at->second.running - 1),
          .lost_work_seconds = std::max(beside.lost_work_seconds,
                                        at->second.lost_work_seconds - unit.lost_work_seconds)};
}

/// The same for its loss units; those whose pods have the same notes are one guess.
GangStanding VictimGuide::stopped_in_units(const VictimUnit& unit) {
  const LossUnits& units = world_.survey().loss_units();
  const PodColumns& pods = world_.cluster().pods();
  const NotesId notes = pods.notes[unit.first];
  if (unit.whole || !units.any() || world_.cluster().notes(notes).loss_units.empty()) return {};
  const auto [at, is_new] = units_.try_emplace({pods.namespace_name[unit.first], notes});
  const VictimRules& rules = emptied_.rules();
  if (!is_new) return at->second;
  const auto stopped = units.stopped_by(
      std::span(&unit.first, 1), [&](PodIndex pod) { return !rules.leaving(pod); },
      [&](PodIndex pod) { return fits_.scratch().node_of(pod).exists(); });
  for (const LossUnits::Stopped& each : stopped) {
    at->second.running += std::ssize(each.rest);
    for (const PodIndex pod : each.rest) {
      at->second.lost_work_seconds += rules.lost_work_seconds(pod);
    }
  }
  return at->second;
}

/// In the order of the score's keys.
VictimGuide::Cost VictimGuide::cost_of(const VictimUnit& unit) {
  Cost cost{};
  std::size_t at = 0;
  for (const ScoreKey key : emptied_.rules().configuration().workload.score_keys) {
    if (at == cost.size()) break;
    switch (key) {
      case ScoreKey::budget_violations:
        violations_at_ = at++;
        break;  // Depends on which other pods leave.
      case ScoreKey::stopped_pods: cost[at++] = unit.size + stopped_beside(unit).running; break;
      case ScoreKey::victims: cost[at++] = unit.size; break;
      case ScoreKey::priority_sum:
      case ScoreKey::raw_priority_sum:
        cost[at++] = std::int64_t{unit.priority} * std::int64_t{unit.size};
        break;
      case ScoreKey::lost_work:
        cost[at++] = unit.lost_work_seconds + stopped_beside(unit).lost_work_seconds;
        break;
      default: break;
    }
  }
  return cost;
}

/// What frees the most for each pod that leaves comes first; then what costs less, then the order
/// of the list, which is that of the node.
void VictimGuide::order_leavers(Node& node) const {
  const auto requests = fit_->requests();
  std::vector<std::int64_t> all = node.room;
  for (const Leaver& leaver : node.leavers) {
    if (leaver.gone) continue;
    add_row(all, std::span(node.freed).subspan(leaver.unit * columns_, columns_));
  }
  const std::int64_t most = room_for(all);
  for (Leaver& leaver : node.leavers) {
    leaver.worth = 0;
    const std::int64_t* const row = node.freed.data() + leaver.unit * columns_;
    for (const ResourceAmount& item : requests) {
      const std::size_t column = item.resource.value;
      if (item.amount <= 0 || node.room[column] / item.amount >= most) continue;  // Not short.
      leaver.worth += worth_of(row[column], item.amount, most);
    }
  }
  std::ranges::sort(node.leavers, [&](const Leaver& a, const Leaver& b) {
    const std::int64_t one = a.worth * std::int64_t{node.list.units[b.unit].size};
    const std::int64_t other = b.worth * std::int64_t{node.list.units[a.unit].size};
    if (one != other) return one > other;
    return a.cost != b.cost ? a.cost < b.cost : a.unit < b.unit;
  });
}

std::int64_t VictimGuide::room_for(std::span<const std::int64_t> room) const {
  std::int64_t members = std::numeric_limits<std::int32_t>::max();
  for (const ResourceAmount& item : fit_->requests()) {
    if (item.amount <= 0) continue;
    members = std::min(members, std::max<std::int64_t>(room[item.resource.value], 0) / item.amount);
  }
  return members;
}

// ---- Steps --------------------------------------------------------------------------------------

/// The cheapest next step of the node's ladder, by cost for each of the members that are still
/// without a place.
void VictimGuide::find_step(Node& node, std::int64_t remaining) {
  node.gain = 0;
  room_ = node.room;
  leaving_.clear();
  against_budgets_.clear();
  price_ = {};
  climbed_ = 0;
  look(node, remaining);
  world_.budgets().start_trial();
  climb(node, remaining);
  if (spare_) return;
  for (std::size_t at = 0; at < against_budgets_.size() && climbed_ < remaining; ++at) {
    let_leave(node, against_budgets_[at], true);
    look(node, remaining);
  }
}

/// With the pods that the budgets allow to leave.
void VictimGuide::climb(Node& node, std::int64_t remaining) {
  const bool budgets = world_.budgets().any();
  for (std::uint32_t at = 0; at < node.leavers.size() && climbed_ < remaining; ++at) {
    const Leaver& leaver = node.leavers[at];
    if (leaver.gone || leaver.worth == 0) continue;
    if (budgets && !world_.budgets().charge_all(node.list.pods_of(node.list.units[leaver.unit]))) {
      against_budgets_.push_back(at);
      continue;
    }
    let_leave(node, at, false);
    look(node, remaining);
  }
}

void VictimGuide::let_leave(Node& node, std::uint32_t leaver, bool violating) {
  const Leaver& gone = node.leavers[leaver];
  for (std::size_t key = 0; key < price_.size(); ++key) price_[key] += gone.cost[key];
  if (violating && violations_at_ < cost_keys) {
    for (const PodIndex pod : node.list.pods_of(node.list.units[gone.unit])) {
      if (world_.budgets().charge(pod)) ++price_[violations_at_];
    }
  }
  add_row(room_, std::span(node.freed).subspan(gone.unit * columns_, columns_));
  leaving_.push_back(leaver);
}

/// Is what the ladder has come to the cheapest step so far?
void VictimGuide::look(Node& node, std::int64_t remaining) {
  const std::int64_t members = std::min(room_for(room_), remaining);
  if (members <= climbed_) return;
  climbed_ = members;
  if (node.gain != 0 && !less_each(price_, members, node.price, node.gain)) return;
  node.gain = members;
  node.price = price_;
  node.leaving = leaving_;
}

/// Whether `a` for so many members is less for each than `b`.
bool VictimGuide::less_each(const Cost& a, std::int64_t a_members, const Cost& b,
                            std::int64_t b_members) {
  for (std::size_t key = 0; key < a.size(); ++key) {
    const std::int64_t one = saturated_mul(a[key], b_members);
    const std::int64_t other = saturated_mul(b[key], a_members);
    if (one != other) return one < other;
  }
  return false;
}

/// Strictly; ties go to the first by name.
bool VictimGuide::cheaper(const Node& a, const Node& b) {
  if ((a.gain == 0) != (b.gain == 0)) return b.gain == 0;
  if (a.gain == 0) return &a < &b;
  if (less_each(a.price, a.gain, b.price, b.gain)) return true;
  if (less_each(b.price, b.gain, a.price, a.gain)) return false;
  if (a.gain != b.gain) return a.gain > b.gain;
  return &a < &b;
}

/// Returns how many members it gave room to. Nodes that have to be looked at again are in
/// `changed_`.
std::int64_t VictimGuide::take(Node& node) {
  changed_.assign(1, static_cast<std::uint32_t>(&node - nodes_.data()));
  const std::int64_t gain = node.gain;
  for (const std::uint32_t at : node.leaving) {
    Leaver& leaver = node.leavers[at];
    const VictimUnit& unit = node.list.units[leaver.unit];
    const auto pods = node.list.pods_of(unit);
    victims_.insert(victims_.end(), pods.begin(), pods.end());
    world_.budgets().commit(pods);
    if (unit.whole) {
      let_go(unit.unit);
    } else {
      free_leaver(node, leaver);
    }
  }
  node.members += gain;
  for (const ResourceAmount& item : fit_->requests()) {
    std::int64_t& room = node.room[item.resource.value];
    room = saturated_sub(room, item.amount * gain);
  }
  return gain;
}

/// A whole group leaves, wherever its pods are.
void VictimGuide::let_go(UnitIndex unit) {
  gone_.insert(std::ranges::upper_bound(gone_, unit), unit);
  for (const std::uint32_t position : with_[unit]) {
    Node& node = nodes_[position];
    for (Leaver& leaver : node.leavers) {
      if (!leaver.gone && node.list.units[leaver.unit].unit == unit) free_leaver(node, leaver);
    }
    if (std::ranges::find(changed_, position) == changed_.end()) changed_.push_back(position);
  }
}

void VictimGuide::free_leaver(Node& node, Leaver& leaver) const {
  leaver.gone = true;
  add_row(node.room, std::span(node.freed).subspan(leaver.unit * columns_, columns_));
}

}  // namespace makeway
