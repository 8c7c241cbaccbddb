// Orders of candidates, and what a choice of victims comes to.
#include <algorithm>
#include <limits>

#include "base/checked_math.hpp"
#include "base/wide.hpp"
#include "policies/required_node/victim_ladder.hpp"
#include "policies/shared/fallen_gangs.hpp"

namespace makeway {
namespace {

/// part x scale / whole, rounded down; both are positive.
std::int64_t scaled(std::int64_t part, std::int64_t whole, std::int64_t scale, bool round_up) {
  const std::int64_t more = round_up ? whole - 1 : 0;
  std::int64_t product = 0;
  // Nearly always: a division of 128 bits costs ten times as much.
  if (!__builtin_mul_overflow(part, scale, &product) &&
      !__builtin_add_overflow(product, more, &product)) {
    return product / whole;
  }
  const Wide result = (Wide{part} * scale + more) / whole;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return result > most ? most : static_cast<std::int64_t>(result);
}

}  // namespace

// ---- Orders -------------------------------------------------------------------------------------

/// The largest relative difference over what is asked for. Every pod takes one of `pods`.
std::int64_t VictimLadder::deviation_ppm(std::uint32_t at) const {
  constexpr std::int64_t million = 1'000'000;
  const std::span<const std::int64_t> frees = task_.candidates.frees(at);
  std::int64_t largest = 0;
  for (std::size_t entry = 0; entry < frees.size(); ++entry) {
    const std::int64_t asked = task_.shortfall.asked[entry];
    if (asked <= 0) continue;
    const std::int64_t difference =
        frees[entry] > asked ? frees[entry] - asked : asked - frees[entry];
    largest = std::max(largest, scaled(difference, asked, million, true));
  }
  return largest;
}

std::int64_t VictimLadder::worth(std::uint32_t at) const {
  const std::span<const std::int64_t> frees = task_.candidates.frees(at);
  std::int64_t sum = 0;
  for (std::size_t entry = 0; entry < frees.size(); ++entry) {
    const std::int64_t missing = task_.shortfall.missing(entry);
    if (missing == 0) continue;
    sum += scaled(std::min(frees[entry], missing), missing, 1'000, false);
  }
  return sum;
}

/// Shares of the node first, then each amount: a unit that is smaller in everything is smaller.
std::pair<std::int64_t, std::vector<std::int64_t>> VictimLadder::size_of(std::uint32_t at) const {
  constexpr std::int64_t scale = 1'000'000'000;
  const Cluster& cluster = world_.cluster();
  const std::span<const std::int64_t> allocatable = world_.survey().allocatable(task_.node);
  std::vector<std::int64_t> amounts(allocatable.size());
  for (const PodIndex pod : task_.candidates.pods_of(unit(at))) {
    if (cluster.pods().node[pod] != task_.node) continue;
    for (const ResourceAmount& item : cluster.requests(cluster.pods().requests[pod])) {
      std::int64_t& sum = amounts[item.resource.value];
      sum = saturated_add(sum, item.amount);
    }
  }
  std::int64_t share = 0;
  for (std::size_t column = 0; column < amounts.size(); ++column) {
    if (allocatable[column] <= 0) continue;
    share = saturated_add(share, scaled(amounts[column], allocatable[column], scale, false));
  }
  // Columns beyond the first four are numbered as they were met: they go by name.
  std::vector<std::size_t> columns;
  columns.reserve(amounts.size());
  for (std::size_t column = 0; column < amounts.size(); ++column) columns.push_back(column);
  std::ranges::sort(columns, {}, [&](std::size_t column) {
    return cluster.resources().name(ResourceIndex{static_cast<std::uint32_t>(column)});
  });
  std::vector<std::int64_t> by_name;
  by_name.reserve(columns.size());
  for (const std::size_t column : columns) by_name.push_back(amounts[column]);
  return {share, std::move(by_name)};
}

bool VictimLadder::before(std::uint32_t a, std::uint32_t b) const {
  const PinnedCandidate& left = unit(a);
  const PinnedCandidate& right = unit(b);
  if (left.victim_class != right.victim_class) return left.victim_class < right.victim_class;
  if (left.priority != right.priority) return left.priority < right.priority;
  if (started(left) != started(right)) return started(left) > started(right);
  const PodColumns& pods = world_.cluster().pods();
  const bool alike =
      left.size == 1 && right.size == 1 && pods.requests[left.first] == pods.requests[right.first];
  if (!alike) {
    const auto left_size = size_of(a);
    const auto right_size = size_of(b);
    if (left_size != right_size) return left_size < right_size;
  }
  const StringId left_space = pods.namespace_name[left.first];
  const StringId right_space = pods.namespace_name[right.first];
  if (left_space != right_space) {
    return world_.cluster().text(left_space) < world_.cluster().text(right_space);
  }
  return pods.name[left.first.value] < pods.name[right.first.value];
}

// ---- What a choice comes to ---------------------------------------------------------------------

void VictimLadder::remove(std::span<const std::uint32_t> chosen) {
  for (const std::uint32_t at : chosen) {
    world_.after().remove(task_.candidates.pods_of(unit(at)));
  }
}

bool VictimLadder::keeps_room_positive() const {
  if (!settings_.refuse_negative_room) return true;
  const std::span<const std::int64_t> used = world_.after().used(task_.node);
  const std::span<const std::int64_t> allocatable = world_.survey().allocatable(task_.node);
  return std::ranges::equal(used, allocatable,
                            [](std::int64_t taken, std::int64_t whole) { return taken <= whole; });
}

/// All other pods stay.
bool VictimLadder::feasible(std::span<const std::uint32_t> chosen) {
  const Scratch::Checkpoint before = world_.after().checkpoint();
  remove(chosen);
  const bool fits = !task_.fit.check(task_.node) && keeps_room_positive();
  world_.after().rollback(before);
  return fits;
}

/// The same where nothing but resources counts.
bool VictimLadder::has_room(std::span<const std::uint32_t> chosen) const {
  std::vector<std::int64_t> spare = task_.shortfall.spare;
  for (const std::uint32_t at : chosen) task_.candidates.add_frees(at, spare);
  return std::ranges::none_of(spare, [](std::int64_t amount) { return amount < 0; });
}

/// Most important first: the last of the order first.
void VictimLadder::put_back(Units& chosen) {
  if (settings_.put_back == PutBack::none || chosen.size() < 2) return;
  std::ranges::sort(chosen, [this](std::uint32_t a, std::uint32_t b) { return before(b, a); });
  if (by_room_) return put_back_by_room(chosen);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t at = 0; at < chosen.size() && chosen.size() > 1;) {
      Units rest = chosen;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
      if (feasible(rest)) {
        chosen = std::move(rest);
        changed = true;
      } else {
        ++at;
      }
    }
    if (settings_.put_back == PutBack::once) return;
  }
}

void VictimLadder::put_back_by_room(Units& chosen) {
  std::vector<std::int64_t> spare = task_.shortfall.spare;
  for (const std::uint32_t at : chosen) task_.candidates.add_frees(at, spare);
  std::erase_if(chosen, [&](std::uint32_t at) {
    const std::span<const std::int64_t> frees = task_.candidates.frees(at);
    for (std::size_t entry = 0; entry < spare.size(); ++entry) {
      if (spare[entry] < frees[entry]) return false;
    }
    for (std::size_t entry = 0; entry < spare.size(); ++entry) spare[entry] -= frees[entry];
    return true;
  });
}

VictimList VictimLadder::list_of(std::span<const std::uint32_t> chosen) const {
  VictimList list;
  const Cluster& cluster = world_.cluster();
  for (const std::uint32_t at : chosen) {
    const PinnedCandidate& each = unit(at);
    const UnitIndex index = cluster.pods().unit[each.first];
    VictimUnit victim{.unit = index,
                      .first = each.first,
                      .priority = each.priority,
                      .group = cluster.units()[index].kind == UnitKind::group,
                      .whole = each.whole,
                      .started = started(each),
                      .begin = static_cast<std::uint32_t>(list.pods.size()),
                      .size = each.size};
    for (const PodIndex pod : task_.candidates.pods_of(each)) {
      victim.lost_work_seconds += world_.rules().lost_work_seconds(pod);
      list.pods.push_back(pod);
    }
    list.units.push_back(victim);
  }
  std::ranges::sort(list.units, [this](const VictimUnit& a, const VictimUnit& b) {
    return world_.rules().more_important(a, b);
  });
  return list;
}

/// Gangs that fall below their minimum leave whole, and victims that are not needed any more are
/// spared (law 4). False: with the whole gangs gone the ask does not fit.
bool VictimLadder::add_fallen(VictimList& victims) {
  const Scratch::Checkpoint before = world_.after().checkpoint();
  world_.after().remove(victims.pods);
  const bool works = add_fallen_and_spare(
      {.cluster = world_.cluster(),
       .scratch = world_.after(),
       .rules = world_.rules(),
       .budgets = world_.budgets()},
      [&] { return !task_.fit.check(task_.node) && keeps_room_positive(); }, victims);
  world_.after().rollback(before);
  return works;
}

/// The candidates that leave: some may have been spared for others of their gang.
void VictimLadder::name_units(LadderAnswer& answer) const {
  const auto stays = [&](std::uint32_t at) {
    return std::ranges::find(answer.victims.pods, unit(at).first) == answer.victims.pods.end();
  };
  if (std::ranges::none_of(answer.units, stays)) return;
  std::erase_if(answer.units, stays);
  if (!answer.units.empty()) return;
  for (std::uint32_t at = 0; at < task_.candidates.units.size(); ++at) {
    if (!stays(at)) answer.units.push_back(at);
  }
}

std::optional<LadderAnswer> VictimLadder::finish(const Step& step, Units chosen) {
  if (by_room_ ? !has_room(chosen) : !feasible(chosen)) {
    failure_ = {.code = ReasonCode::ladder_unfit};
    return std::nullopt;
  }
  put_back(chosen);
  LadderAnswer answer{.victims = list_of(chosen),
                      .units = std::move(chosen),
                      .strategy = step.strategy,
                      .classes = step.classes,
                      .next = {}};
  if (!add_fallen(answer.victims)) {
    failure_ = {.code = ReasonCode::ladder_groups_unfit};
    return std::nullopt;
  }
  name_units(answer);
  if (std::ssize(answer.victims.pods) > settings_.max_victims) {
    failure_ = {.code = ReasonCode::ladder_groups_too_many, .arguments = {settings_.max_victims}};
    return std::nullopt;
  }
  const PodIndex ask = task_.fit.ask();
  const bool kept = world_.keeps_promises(ask, task_.node, answer.victims.pods) &&
                    !world_.needs_uncertain_arrival(task_.fit, task_.node, answer.victims.pods);
  if (kept) return answer;
  failure_ = {.code = ReasonCode::ladder_breaks_promise};
  return std::nullopt;
}

}  // namespace makeway
