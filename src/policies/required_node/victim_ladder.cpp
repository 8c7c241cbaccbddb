#include "policies/required_node/victim_ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <ranges>

#include "base/checked_math.hpp"
#include "engine/required_node.hpp"

namespace makeway {
namespace {

__extension__ using Wide = __int128;

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

void add_to(std::vector<std::int64_t>& sum, std::span<const std::int64_t> row) {
  for (std::size_t at = 0; at < sum.size(); ++at) sum[at] = saturated_add(sum[at], row[at]);
}

}  // namespace

VictimLadder::VictimLadder(Cycle& cycle, const LadderTask& task, std::size_t classes,
                           PlanReservation* told)
    : cycle_(cycle),
      settings_(cycle.configuration.required_node),
      task_(task),
      classes_(classes),
      told_(told) {
  only_room_ = task_.fit.portless() && !task_.fit.constraints().any() && !cycle.anybody_promised();
  by_room_ = only_room_ && !settings_.refuse_negative_room;
}

// ---- Orders -------------------------------------------------------------------------------------

/// The largest relative difference over what is asked for. Every pod takes one of `pods`.
std::int64_t VictimLadder::deviation_ppm(std::uint32_t at) const {
  constexpr std::int64_t million = 1'000'000;
  const std::span<const std::int64_t> frees = task_.candidates.frees(at);
  std::int64_t largest = 0;
  for (std::size_t place = 0; place < frees.size(); ++place) {
    const std::int64_t asked = task_.shortfall.asked[place];
    if (asked <= 0) continue;
    const std::int64_t difference =
        frees[place] > asked ? frees[place] - asked : asked - frees[place];
    largest = std::max(largest, scaled(difference, asked, million, true));
  }
  return largest;
}

std::int64_t VictimLadder::worth(std::uint32_t at) const {
  const std::span<const std::int64_t> frees = task_.candidates.frees(at);
  std::int64_t sum = 0;
  for (std::size_t place = 0; place < frees.size(); ++place) {
    const std::int64_t missing = task_.shortfall.missing(place);
    if (missing == 0) continue;
    sum += scaled(std::min(frees[place], missing), missing, 1'000, false);
  }
  return sum;
}

/// Shares of the node first, then each amount: whoever is smaller in everything is smaller.
std::pair<std::int64_t, std::vector<std::int64_t>> VictimLadder::size_of(std::uint32_t at) const {
  constexpr std::int64_t scale = 1'000'000'000;
  const Cluster& cluster = cycle_.cluster;
  const std::span<const std::int64_t> allocatable = cycle_.survey.allocatable(task_.node);
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
  std::vector<std::size_t> columns(amounts.size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
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
  for (const ClassKey key : settings_.class_keys) {
    switch (key) {
      case ClassKey::priority:
        if (left.priority != right.priority) return left.priority < right.priority;
        break;
      case ClassKey::youngest:
        if (left.started != right.started) return left.started > right.started;
        break;
      case ClassKey::smallest: {
        const PodColumns& pods = cycle_.cluster.pods();
        const bool alike = left.size == 1 && right.size == 1 &&
                           pods.requests[left.first] == pods.requests[right.first];
        if (alike) break;
        const auto left_size = size_of(a);
        const auto right_size = size_of(b);
        if (left_size != right_size) return left_size < right_size;
        break;
      }
    }
  }
  const PodColumns& pods = cycle_.cluster.pods();
  const StringId left_space = pods.namespace_name[left.first];
  const StringId right_space = pods.namespace_name[right.first];
  if (left_space != right_space) {
    return cycle_.cluster.text(left_space) < cycle_.cluster.text(right_space);
  }
  return pods.name[left.first.value] < pods.name[right.first.value];
}

// ---- The ladder ---------------------------------------------------------------------------------

std::optional<LadderAnswer> VictimLadder::climb() {
  if (!all_gone_is_enough()) return std::nullopt;
  if (!only_room_) find_blockers();
  const bool cumulative = settings_.class_steps == ClassSteps::cumulative;
  const bool strict = cycle_.configuration.budgets.mode == BudgetMode::strict;
  const bool budgets = cycle_.budgets.any();
  for (const bool widely : {false, true}) {
    for (std::size_t classes = cumulative ? 1 : classes_; classes <= classes_; ++classes) {
      for (const bool within : {true, false}) {
        if ((within && !budgets) || (!within && budgets && strict)) continue;
        for (const VictimSelection strategy : settings_.victim_selection) {
          const bool in_order = strategy == VictimSelection::prefix;
          if (widely && strategy != VictimSelection::multiple) continue;
          if (within && in_order && !strict) continue;
          const Step step{
              .classes = classes, .strategy = strategy, .within_budgets = within, .widely = widely};
          if (std::optional<LadderAnswer> answer = try_step(step)) return answer;
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<LadderAnswer> VictimLadder::try_step(const Step& step) {
  failure_ = "nobody covers the shortfall";
  std::optional<LadderAnswer> answer;
  const bool blocked = std::ranges::any_of(
      blockers_, [&](std::uint32_t at) { return unit(at).victim_class >= step.classes; });
  if (blocked) {
    failure_ = "somebody of a later class is in the way";
  } else if (step.widely) {
    answer = try_widely(step);
  } else {
    switch (step.strategy) {
      case VictimSelection::single: answer = try_single(step); break;
      case VictimSelection::multiple: answer = try_multiple(step); break;
      case VictimSelection::prefix: answer = try_prefix(step); break;
    }
  }
  if (answer) {
    const std::size_t count = answer->victims.pods.size();
    tell(step, fmt::format("{} victim{}{}", count, count == 1 ? "" : "s",
                           step.widely ? ", on the second way up" : ""));
  } else {
    tell(step, failure_);
  }
  return answer;
}

void VictimLadder::tell(const Step& step, std::string result) {
  if (told_ == nullptr) return;
  PlanLadderStep entry{.strategy = step.strategy,
                       .within_budgets = step.within_budgets,
                       .result = std::move(result)};
  const auto classes = std::span(settings_.victim_classes).first(step.classes);
  entry.classes.assign(classes.begin(), classes.end());
  told_->ladder.push_back(std::move(entry));
}

bool VictimLadder::all_gone_is_enough() {
  const Shortfall& shortfall = task_.shortfall;
  CandidateList& candidates = task_.candidates;
  std::vector<std::int64_t> sum(shortfall.resources.size());
  for (std::uint32_t at = 0; at < candidates.units.size(); ++at) add_to(sum, candidates.frees(at));
  bool enough = only_room_;
  for (std::size_t place = 0; only_room_ && place < sum.size(); ++place) {
    enough = enough && saturated_add(sum[place], shortfall.spare[place]) >= 0;
  }
  if (enough) return true;
  const Scratch::Checkpoint before = cycle_.after.checkpoint();
  cycle_.after.remove(candidates.pods);
  lasting_ = task_.fit.check(task_.node);
  cycle_.after.rollback(before);
  return !lasting_;
}

/// Units without which everybody else's leaving is not enough, for another reason than room.
void VictimLadder::find_blockers() {
  CandidateList& candidates = task_.candidates;
  Scratch& world = cycle_.after;
  const Scratch::Checkpoint before = world.checkpoint();
  world.remove(candidates.pods);
  Units blocking;
  const bool looks = !task_.fit.portless() || task_.fit.constraints().any();
  for (std::uint32_t at = 0; looks && at < candidates.units.size(); ++at) {
    const auto pods = candidates.pods_of(unit(at));
    world.put_back(pods);
    const std::optional<Refused> refused = task_.fit.check(task_.node);
    if (refused && refused->reason != RefusalReason::resource) blocking.push_back(at);
    world.remove(pods);
  }
  world.rollback(before);
  for (const std::uint32_t at : blocking) candidates.units[at].holds = true;
  // Their numbers change with those that are dropped.
  std::vector<PodIndex> first;
  first.reserve(blocking.size());
  for (const std::uint32_t at : blocking) first.push_back(unit(at).first);
  candidates.erase_useless();
  for (std::uint32_t at = 0; at < candidates.units.size() && !first.empty(); ++at) {
    if (std::ranges::find(first, unit(at).first) != first.end()) blockers_.push_back(at);
  }
}

// ---- Strategies ---------------------------------------------------------------------------------

/// Candidates come from the highest priority down; whoever sorts them wants the lowest first.
VictimLadder::Units VictimLadder::units_of(const Step& step) const {
  Units units;
  units.reserve(task_.candidates.units.size());
  for (auto at = static_cast<std::uint32_t>(task_.candidates.units.size()); at-- > 0;) {
    if (unit(at).victim_class < step.classes) units.push_back(at);
  }
  return units;
}

bool VictimLadder::covered(std::span<const std::int64_t> sum) const {
  const Shortfall& shortfall = task_.shortfall;
  const bool own = settings_.coverage == Coverage::own_sum;
  for (std::size_t place = 0; place < sum.size(); ++place) {
    const bool pods = own && shortfall.resources[place] == resource_pods;
    const std::int64_t needed = own ? shortfall.asked[place] : shortfall.missing(place);
    if (!pods && sum[place] < needed) return false;
  }
  return true;
}

/// On top of the trial so far.
bool VictimLadder::fits_budgets(std::uint32_t at) {
  return cycle_.budgets.charge_all(task_.candidates.pods_of(unit(at)));
}

std::optional<LadderAnswer> VictimLadder::try_single(const Step& step) {
  constexpr std::int64_t ppm_of_percent = 10'000;
  struct Rated {
    std::int64_t deviation = 0;
    std::uint32_t at = 0;
  };
  std::vector<Rated> rated;
  bool any_covers = false;
  for (std::uint32_t at = 0; at < task_.candidates.units.size(); ++at) {
    const PinnedCandidate& each = unit(at);
    if (each.victim_class >= step.classes || each.size != 1) continue;
    if (!covered(task_.candidates.frees(at))) continue;
    any_covers = true;
    const std::int64_t deviation = deviation_ppm(at);
    if (deviation > settings_.deviation_percent * ppm_of_percent) continue;
    if (step.within_budgets) {
      cycle_.budgets.start_trial();
      if (!fits_budgets(at)) continue;
    }
    rated.push_back({.deviation = deviation, .at = at});
  }
  if (any_covers) {
    failure_ = fmt::format("nobody who covers it is within {} %", settings_.deviation_percent);
  }
  const auto better = [this](const Rated& a, const Rated& b) {
    return a.deviation != b.deviation ? a.deviation < b.deviation : before(a.at, b.at);
  };
  for (std::size_t tried = 0; tried < rated.size(); ++tried) {
    // The best of the rest comes to the front, and so does the one after it.
    const auto rest =
        std::ranges::subrange(rated.begin() + static_cast<std::ptrdiff_t>(tried), rated.end());
    const auto wanted = std::min<std::ptrdiff_t>(2, std::ssize(rest));
    std::ranges::partial_sort(rest, rest.begin() + wanted, better);
    std::optional<LadderAnswer> answer = finish(step, {rated[tried].at});
    if (!answer) continue;
    if (tried + 1 < rated.size()) answer->next = rated[tried + 1].at;
    return answer;
  }
  return std::nullopt;
}

/// Worth is asked for only where priorities tie.
std::optional<LadderAnswer> VictimLadder::try_multiple(const Step& step) {
  std::vector<std::int64_t> worths(task_.candidates.units.size(), -1);
  const auto worth_of = [&](std::uint32_t at) {
    if (worths[at] < 0) worths[at] = worth(at);
    return worths[at];
  };
  return take_in_order(step, [&](std::uint32_t a, std::uint32_t b) {
    if (unit(a).priority != unit(b).priority) return unit(a).priority < unit(b).priority;
    const std::int64_t left = worth_of(a);
    const std::int64_t right = worth_of(b);
    return left != right ? left > right : before(a, b);
  });
}

std::optional<LadderAnswer> VictimLadder::try_prefix(const Step& step) {
  return take_in_order(step, [this](std::uint32_t a, std::uint32_t b) { return before(a, b); });
}

/// Sorts no more of the candidates than it takes.
template <class Before>
std::optional<LadderAnswer> VictimLadder::take_in_order(const Step& step, const Before& before) {
  constexpr std::size_t chunk_first = 8;
  Units order = units_of(step);
  std::vector<std::int64_t> sum(task_.shortfall.resources.size());
  Units chosen = blockers_;
  std::int64_t pods = 0;
  cycle_.budgets.start_trial();
  for (const std::uint32_t at : chosen) {
    add_to(sum, task_.candidates.frees(at));
    pods += unit(at).size;
    if (step.within_budgets && !fits_budgets(at)) return std::nullopt;
  }
  std::erase_if(
      order, [&](std::uint32_t at) { return std::ranges::find(blockers_, at) != blockers_.end(); });
  std::size_t sorted = 0;
  std::size_t next = 0;
  for (; next < order.size() && !covered(sum); ++next) {
    if (next == sorted) {
      sorted = std::min(order.size(), sorted == 0 ? chunk_first : sorted * 4);
      std::partial_sort(order.begin() + static_cast<std::ptrdiff_t>(next),
                        order.begin() + static_cast<std::ptrdiff_t>(sorted), order.end(), before);
    }
    const std::uint32_t at = order[next];
    if (step.within_budgets && !fits_budgets(at)) continue;
    pods += unit(at).size;
    if (pods > settings_.max_victims) {
      failure_ = fmt::format("more than {} pods would have to leave", settings_.max_victims);
      return std::nullopt;
    }
    add_to(sum, task_.candidates.frees(at));
    chosen.push_back(at);
  }
  // A resource that no candidate holds is never covered by them: all of them go, if that helps.
  const bool all_go = settings_.coverage == Coverage::own_sum;
  if (chosen.empty() || (!all_go && !covered(sum))) return std::nullopt;
  std::optional<LadderAnswer> answer = finish(step, std::move(chosen));
  if (answer && next < order.size()) {
    const auto rest = order.begin() + static_cast<std::ptrdiff_t>(next);
    answer->next = next < sorted ? *rest : *std::min_element(rest, order.end(), before);
  }
  return answer;
}

/// The most worthy pods of the lowest priorities that are enough, `maxVictims` at most.
std::optional<LadderAnswer> VictimLadder::try_widely(const Step& step) {
  if (!blockers_.empty()) return std::nullopt;
  Units order = units_of(step);
  std::vector<std::int64_t> worths(task_.candidates.units.size());
  for (const std::uint32_t at : order) worths[at] = worth(at);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    if (unit(a).priority != unit(b).priority) return unit(a).priority < unit(b).priority;
    return worths[a] != worths[b] ? worths[a] > worths[b] : before(a, b);
  });
  // The least worthy first, of those the last in `order`: worth, place from the end.
  std::set<std::pair<std::int64_t, std::size_t>> window;
  std::vector<std::int64_t> sum(task_.shortfall.resources.size());
  std::int64_t pods = 0;
  cycle_.budgets.start_trial();
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::uint32_t at = order[place];
    if (step.within_budgets && !fits_budgets(at)) continue;
    window.emplace(worths[at], order.size() - 1 - place);
    pods += unit(at).size;
    add_to(sum, task_.candidates.frees(at));
    while (pods > settings_.max_victims) {
      const std::uint32_t least = order[order.size() - 1 - window.begin()->second];
      window.erase(window.begin());
      pods -= unit(least).size;
      const std::span<const std::int64_t> frees = task_.candidates.frees(least);
      for (std::size_t each = 0; each < sum.size(); ++each) sum[each] -= frees[each];
    }
    if (!covered(sum)) continue;
    Units chosen;
    chosen.reserve(window.size());
    for (const auto& [value, back] : window) chosen.push_back(order[order.size() - 1 - back]);
    if (std::optional<LadderAnswer> answer = finish(step, std::move(chosen))) return answer;
  }
  return std::nullopt;
}

// ---- What a choice comes to ---------------------------------------------------------------------

void VictimLadder::remove(std::span<const std::uint32_t> chosen) {
  for (const std::uint32_t at : chosen) {
    cycle_.after.remove(task_.candidates.pods_of(unit(at)));
  }
}

bool VictimLadder::keeps_room_positive() const {
  if (!settings_.refuse_negative_room) return true;
  const std::span<const std::int64_t> used = cycle_.after.used(task_.node);
  const std::span<const std::int64_t> allocatable = cycle_.survey.allocatable(task_.node);
  return std::ranges::equal(used, allocatable,
                            [](std::int64_t taken, std::int64_t whole) { return taken <= whole; });
}

/// Everybody else stays.
bool VictimLadder::feasible(std::span<const std::uint32_t> chosen) {
  const Scratch::Checkpoint before = cycle_.after.checkpoint();
  remove(chosen);
  const bool fits = !task_.fit.check(task_.node) && keeps_room_positive();
  cycle_.after.rollback(before);
  return fits;
}

/// The same where nothing but resources counts.
bool VictimLadder::has_room(std::span<const std::uint32_t> chosen) const {
  std::vector<std::int64_t> spare = task_.shortfall.spare;
  for (const std::uint32_t at : chosen) add_to(spare, task_.candidates.frees(at));
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
  for (const std::uint32_t at : chosen) add_to(spare, task_.candidates.frees(at));
  std::erase_if(chosen, [&](std::uint32_t at) {
    const std::span<const std::int64_t> frees = task_.candidates.frees(at);
    for (std::size_t place = 0; place < spare.size(); ++place) {
      if (spare[place] < frees[place]) return false;
    }
    for (std::size_t place = 0; place < spare.size(); ++place) spare[place] -= frees[place];
    return true;
  });
}

VictimList VictimLadder::list_of(std::span<const std::uint32_t> chosen) const {
  VictimList list;
  const Cluster& cluster = cycle_.cluster;
  for (const std::uint32_t at : chosen) {
    const PinnedCandidate& each = unit(at);
    const UnitIndex index = cluster.pods().unit[each.first];
    VictimUnit victim{.unit = index,
                      .first = each.first,
                      .priority = each.priority,
                      .group = cluster.units()[index].kind == UnitKind::group,
                      .whole = each.whole,
                      .started = each.started,
                      .begin = static_cast<std::uint32_t>(list.pods.size()),
                      .size = each.size};
    for (const PodIndex pod : task_.candidates.pods_of(each)) {
      victim.lost_work_seconds += cycle_.rules.lost_work_seconds(pod);
      list.pods.push_back(pod);
    }
    list.units.push_back(victim);
  }
  std::ranges::sort(list.units, [this](const VictimUnit& a, const VictimUnit& b) {
    return cycle_.rules.more_important(a, b);
  });
  return list;
}

/// `workload.belowMinimum` evict: who leaves with them counts too. False: it may not be.
bool VictimLadder::add_fallen(VictimList& victims) {
  if (cycle_.configuration.workload.below_minimum != BelowMinimum::evict) return true;
  const std::size_t own = victims.pods.size();
  const Scratch::Checkpoint before = cycle_.after.checkpoint();
  cycle_.after.remove(victims.pods);
  cycle_.rules.add_fallen(cycle_.after, cycle_.budgets, victims);
  cycle_.after.rollback(before);
  const auto fallen = std::span(victims.pods).subspan(own);
  return std::ranges::none_of(fallen,
                              [this](PodIndex pod) { return is_pinned(cycle_.cluster, pod); });
}

std::optional<LadderAnswer> VictimLadder::finish(const Step& step, Units chosen) {
  if (by_room_ ? !has_room(chosen) : !feasible(chosen)) {
    failure_ = "it would not fit even then";
    return std::nullopt;
  }
  put_back(chosen);
  LadderAnswer answer{.victims = list_of(chosen),
                      .units = std::move(chosen),
                      .strategy = step.strategy,
                      .classes = step.classes,
                      .next = {}};
  const bool fell = add_fallen(answer.victims);
  if (!fell || std::ssize(answer.victims.pods) > settings_.max_victims) {
    failure_ = fmt::format("with the rest of their groups more than {} pods would have to leave",
                           settings_.max_victims);
    return std::nullopt;
  }
  const PodIndex ask = task_.fit.ask();
  const bool kept = keeps_promises(cycle_, ask, task_.node, answer.victims.pods) &&
                    !leans_on_hopeful(cycle_, task_.fit, task_.node, answer.victims.pods);
  if (kept) return answer;
  failure_ = "an ask before it would lose its place";
  return std::nullopt;
}

}  // namespace makeway
