#include "policies/replica/node_victims.hpp"

#include <algorithm>

#include "base/checked_math.hpp"

namespace makeway {
namespace {

template <class Number>
int sign(Number a, Number b) {
  return a == b ? 0 : a < b ? -1 : 1;
}

/// Writes the deciding key unless `key` is null.
template <class Number>
int decided(int order, std::string_view name, Number a, Number b, Reason* key) {
  if (order != 0 && key != nullptr) {
    *key = {.code = ReasonCode::by_number, .arguments = {name, a, b}};
  }
  return order;
}

Reason named_key(std::string_view name) { return {.code = ReasonCode::named, .arguments = {name}}; }

/// 40, or a word where no victim has a priority that counts.
Argument priority_of(std::int64_t priority) {
  if (priority == PlaceCost::no_priority) return Reason{.code = ReasonCode::by_no_victim};
  return priority;
}

}  // namespace

NodeVictims::NodeVictims(const Fleet& fleet)
    : fleet_(fleet), spare_(fleet.columns()), may_preempt_(fleet.deployments().size()) {
  if (fleet.counts_cascades()) find_secondary();
}

/// A deployment that loses a replica may look for another one: where a plane of it has a replica of
/// lower priority that may be taken, that one could follow.
void NodeVictims::find_secondary() {
  constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int32_t> lowest(fleet_.planes().size(), highest);
  for (std::uint32_t at = 0; at < fleet_.shares().size(); ++at) {
    const FleetShare& share = fleet_.shares()[ShareIndex{at}];
    const std::int32_t priority = fleet_.deployments()[share.deployment].priority;
    if (fleet_.spare(ShareIndex{at}) < 1 || priority >= lowest[share.plane.value]) continue;
    const bool any = std::ranges::any_of(fleet_.in_share(ShareIndex{at}), [&](ReplicaIndex index) {
      const FleetReplica& replica = fleet_.replica(index);
      return replica.victim_class == ReplicaClass::committed && fleet_.usable(replica, highest);
    });
    if (any) lowest[share.plane.value] = priority;
  }
  for (std::uint32_t at = 0; at < fleet_.deployments().size(); ++at) {
    const FleetDeployment& deployment = fleet_.deployments()[DeploymentIndex{at}];
    for (std::uint32_t share = deployment.begin; share < deployment.end; ++share) {
      const PlaneIndex plane = fleet_.shares()[ShareIndex{share}].plane;
      if (lowest[plane.value] < deployment.priority) may_preempt_[DeploymentIndex{at}] = 1;
    }
  }
}

bool NodeVictims::collect(PlaceIndex place, const ReplicaNeed& need) {
  victims_.clear();
  const std::span<const std::int64_t> room = fleet_.room(place);
  bool enough = true;
  for (std::size_t column = 0; column < spare_.size(); ++column) {
    const bool asked = need.request[column] > 0;
    spare_[column] = asked ? saturated_sub(room[column], need.request[column]) : 0;
    enough = enough && spare_[column] >= 0;
  }
  for (const ReplicaIndex index : fleet_.in_order(place)) {
    if (enough) return true;
    const FleetReplica& replica = fleet_.replica(index);
    if (!fleet_.usable(replica, need.priority)) continue;
    const std::span<const std::int64_t> amounts = fleet_.freed(replica);
    bool helps = false;
    for (std::size_t column = 0; column < spare_.size(); ++column) {
      helps = helps || (spare_[column] < 0 && amounts[column] > 0);
    }
    if (!helps) continue;
    if (replica.victim_class == ReplicaClass::committed) {
      const MissedPlace here{.place = place, .share = replica.share};
      if (std::ranges::binary_search(need.missed, here)) continue;
      const auto same = std::ranges::count_if(victims_, [&](ReplicaIndex other) {
        const FleetReplica& row = fleet_.replica(other);
        return row.victim_class == ReplicaClass::committed && row.share == replica.share;
      });
      if (same >= fleet_.spare(replica.share)) continue;
    }
    victims_.push_back(index);
    enough = true;
    for (std::size_t column = 0; column < spare_.size(); ++column) {
      if (need.request[column] == 0) continue;
      spare_[column] = saturated_add(spare_[column], amounts[column]);
      enough = enough && spare_[column] >= 0;
    }
  }
  return enough;
}

/// `spare_` is what is left over beside all of them.
void NodeVictims::put_back(const ReplicaNeed& need, std::vector<ReplicaIndex>& victims) {
  std::size_t at = victims.size();
  while (at-- > 0) {
    // Another ask waits for it, too; the ask that claimed it before follows it to its end.
    if (fleet_.replica(victims[at]).awaited) continue;
    const std::span<const std::int64_t> amounts = fleet_.freed(fleet_.replica(victims[at]));
    bool needed = false;
    for (std::size_t column = 0; column < spare_.size(); ++column) {
      needed = needed || (need.request[column] > 0 && spare_[column] < amounts[column]);
    }
    if (needed) continue;
    for (std::size_t column = 0; column < spare_.size(); ++column) {
      if (need.request[column] > 0) spare_[column] -= amounts[column];
    }
    victims.erase(victims.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

void NodeVictims::reduce(PlaceIndex place, const ReplicaNeed& need,
                         std::vector<ReplicaIndex>& victims) {
  std::ranges::sort(victims, [this](ReplicaIndex a, ReplicaIndex b) {
    return fleet_.before_in_place(fleet_.replica(a), fleet_.replica(b));
  });
  const std::span<const std::int64_t> room = fleet_.room(place);
  for (std::size_t column = 0; column < spare_.size(); ++column) {
    if (need.request[column] == 0) continue;
    spare_[column] = saturated_sub(room[column], need.request[column]);
    for (const ReplicaIndex victim : victims) {
      spare_[column] = saturated_add(spare_[column], fleet_.freed(fleet_.replica(victim))[column]);
    }
  }
  put_back(need, victims);
}

bool NodeVictims::evaluate(PlaceIndex place, const ReplicaNeed& need, PlaceCost& cost) {
  if (!fleet_.places()[place].open || !collect(place, need)) return false;
  put_back(need, victims_);
  cost = {.place = place, .victims = static_cast<std::int32_t>(victims_.size())};
  std::int64_t freed = 0;
  for (const ReplicaIndex index : victims_) {
    const FleetReplica& victim = fleet_.replica(index);
    freed = saturated_add(freed, fleet_.freed(victim)[Fleet::counted]);
    cost.any_priority = std::max(cost.any_priority, victim.priority);
    if (fleet_.action(victim, need.priority) != ReplicaAction::wait) {
      cost.highest_priority = std::max(cost.highest_priority, victim.priority);
    }
    if (victim.victim_class != ReplicaClass::committed) continue;
    ++cost.committed;
    cost.committed_priority = std::max(cost.committed_priority, victim.priority);
    cost.secondary += may_preempt_[fleet_.shares()[victim.share].deployment];
  }
  if (!victims_.empty()) {
    cost.worst = victims_.back();
    cost.worst_class = static_cast<int>(fleet_.replica(cost.worst).victim_class);
  }
  const std::int64_t missing = std::max<std::int64_t>(
      0, saturated_sub(need.request[Fleet::counted], fleet_.room(place)[Fleet::counted]));
  cost.excess = saturated_sub(freed, std::min(freed, missing));
  return true;
}

int NodeVictims::compare_classes(const PlaceCost& a, const PlaceCost& b, std::string_view name,
                                 Reason* key) {
  const auto class_of = [](const PlaceCost& cost) -> Argument {
    if (cost.worst_class < 0) return Reason{.code = ReasonCode::by_no_victim};
    return choice_name(static_cast<ReplicaClass>(cost.worst_class));
  };
  const int order = sign(a.worst_class, b.worst_class);
  if (order != 0 && key != nullptr) {
    *key = {.code = ReasonCode::by_number, .arguments = {name, class_of(a), class_of(b)}};
  }
  return order;
}

const FleetReplica& NodeVictims::worst_of(const PlaceCost& cost) const {
  static const FleetReplica none;
  return cost.worst.exists() ? fleet_.replica(cost.worst) : none;
}

std::string_view NodeVictims::name_of(const FleetReplica& replica) const {
  return replica.pod.exists() ? fleet_.cluster().pods().name[replica.pod.value]
                              : std::string_view{};
}

int NodeVictims::compare_victims(const PlaceCost& a, std::int64_t a_score, const PlaceCost& b,
                                 std::int64_t b_score, Reason* key) const {
  const FleetReplica& worst_a = worst_of(a);
  const FleetReplica& worst_b = worst_of(b);
  int order = decided(sign(worst_a.priority, worst_b.priority), "priority", worst_a.priority,
                      worst_b.priority, key);
  if (order == 0) order = decided(sign(a_score, b_score), "plane-score", a_score, b_score, key);
  if (order == 0) order = compare_newest(a, b, key);
  if (order == 0) order = compare_names(a, b, key);
  if (order != 0) return order;
  return decided(sign(a.victims, b.victims), "victims", a.victims, b.victims, key);
}

int NodeVictims::compare_newest(const PlaceCost& a, const PlaceCost& b, Reason* key) const {
  const int order = sign(worst_of(b).created, worst_of(a).created);
  if (order != 0 && key != nullptr) *key = named_key("newest");
  return order;
}

int NodeVictims::compare_names(const PlaceCost& a, const PlaceCost& b, Reason* key) const {
  const std::string_view name_a = name_of(worst_of(a));
  const std::string_view name_b = name_of(worst_of(b));
  return decided(sign(name_b, name_a), "higher-name", name_a, name_b, key);
}

int NodeVictims::compare_nodes(const PlaceCost& a, std::int64_t a_score, const PlaceCost& b,
                               std::int64_t b_score, Reason* key) const {
  const auto by_priority = [key](std::string_view name, std::int64_t left, std::int64_t right) {
    const int order = sign(left, right);
    if (order != 0 && key != nullptr) {
      *key = {.code = ReasonCode::by_number,
              .arguments = {name, priority_of(left), priority_of(right)}};
    }
    return order;
  };
  const auto by_number = [key](std::string_view name, std::int64_t left, std::int64_t right) {
    return decided(sign(left, right), name, left, right, key);
  };
  int order = compare_classes(a, b, "worst-class", key);
  if (order == 0) {
    order = by_priority("highest-priority", a.highest_priority, b.highest_priority);
  }
  if (order == 0) order = by_number("secondary-victims", a.secondary, b.secondary);
  if (order == 0) order = by_number("excess", a.excess, b.excess);
  if (order == 0) order = by_number("committed-victims", a.committed, b.committed);
  if (order == 0) order = by_priority("any-priority", a.any_priority, b.any_priority);
  if (order == 0) order = by_number("plane-score", a_score, b_score);
  if (order == 0) order = compare_newest(a, b, key);
  if (order == 0) order = compare_names(a, b, key);
  return order;
}

int NodeVictims::compare(const ReplicaNeed& need, const PlaceCost& a, std::int64_t a_score,
                         const PlaceCost& b, std::int64_t b_score, Reason* key) const {
  int order = 0;
  if (need.one) {
    order = compare_classes(a, b, "class", key);
    if (order == 0) order = compare_victims(a, a_score, b, b_score, key);
  } else {
    order = compare_nodes(a, a_score, b, b_score, key);
  }
  if (order != 0) return order;
  if (key != nullptr) *key = {.code = ReasonCode::by_name};
  return sign(fleet_.places()[a.place].rank, fleet_.places()[b.place].rank);
}

}  // namespace makeway
