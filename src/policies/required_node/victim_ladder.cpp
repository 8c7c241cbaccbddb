#include "policies/required_node/victim_ladder.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "base/checked_math.hpp"
#include "base/wide.hpp"
#include "policies/shared/fallen_gangs.hpp"
#include "policies/shared/plan_writer.hpp"

namespace makeway {

VictimLadder::VictimLadder(World& world, const LadderTask& task, std::size_t classes,
                           PlanReservation* report)
    : world_(world),
      settings_(world.configuration().required_node),
      task_(task),
      classes_(classes),
      report_(report) {
  only_room_ = task_.fit.portless() && !task_.fit.constraints().any() && !world.has_promises();
  by_room_ = only_room_ && !settings_.refuse_negative_room;
}

// ---- The ladder ---------------------------------------------------------------------------------

std::optional<LadderAnswer> VictimLadder::climb() {
  if (!all_gone_is_enough()) return std::nullopt;
  if (!only_room_) find_blockers();
  const bool cumulative = settings_.class_steps == ClassSteps::cumulative;
  const bool strict = world_.configuration().budgets.mode == BudgetMode::strict;
  const bool budgets = world_.budgets().any();
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
  failure_ = {.code = ReasonCode::ladder_uncovered};
  std::optional<LadderAnswer> answer;
  const bool blocked = std::ranges::any_of(
      blockers_, [&](std::uint32_t at) { return unit(at).victim_class >= step.classes; });
  if (blocked) {
    failure_ = {.code = ReasonCode::ladder_blocked};
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
    note(step,
         {.code = step.widely ? ReasonCode::ladder_victims_second_pass : ReasonCode::ladder_victims,
          .arguments = {answer->victims.pods.size()}});
  } else {
    note(step, failure_);
  }
  return answer;
}

void VictimLadder::note(const Step& step, const Reason& result) {
  if (report_ == nullptr) return;
  PlanLadderStep entry{.strategy = step.strategy,
                       .within_budgets = step.within_budgets,
                       .result = write_text(world_.cluster(), result)};
  const auto classes = std::span(settings_.victim_classes).first(step.classes);
  entry.classes.assign(classes.begin(), classes.end());
  report_->ladder.push_back(std::move(entry));
}

bool VictimLadder::all_gone_is_enough() {
  const Shortfall& shortfall = task_.shortfall;
  CandidateList& candidates = task_.candidates;
  std::vector<std::int64_t> sum(shortfall.resources.size());
  for (std::uint32_t at = 0; at < candidates.units.size(); ++at) candidates.add_frees(at, sum);
  bool enough = only_room_;
  for (std::size_t entry = 0; only_room_ && entry < sum.size(); ++entry) {
    enough = enough && saturated_add(sum[entry], shortfall.spare[entry]) >= 0;
  }
  if (enough) return true;
  const Scratch::Checkpoint before = world_.after().checkpoint();
  world_.after().remove(candidates.pods);
  lasting_ = task_.fit.check(task_.node);
  world_.after().rollback(before);
  return !lasting_;
}

/// Units without which the leaving of all others is not enough, for another reason than room.
void VictimLadder::find_blockers() {
  CandidateList& candidates = task_.candidates;
  Scratch& scratch = world_.after();
  const Scratch::Checkpoint before = scratch.checkpoint();
  scratch.remove(candidates.pods);
  Units blocking;
  const bool looks = !task_.fit.portless() || task_.fit.constraints().any();
  for (std::uint32_t at = 0; looks && at < candidates.units.size(); ++at) {
    const auto pods = candidates.pods_of(unit(at));
    scratch.put_back(pods);
    const std::optional<Refused> refused = task_.fit.check(task_.node);
    if (refused && refused->reason != RefusalReason::resource) blocking.push_back(at);
    scratch.remove(pods);
  }
  scratch.rollback(before);
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

/// Candidates come from the highest priority down; sorting wants the lowest first.
VictimLadder::Units VictimLadder::units_of(const Step& step) const {
  Units units;
  units.reserve(task_.candidates.units.size());
  for (auto at = static_cast<std::uint32_t>(task_.candidates.units.size()); at-- > 0;) {
    if (unit(at).victim_class < step.classes) units.push_back(at);
  }
  return units;
}

bool VictimLadder::covered(std::span<const std::int64_t> sum, Coverage coverage) const {
  const Shortfall& shortfall = task_.shortfall;
  const bool own = coverage == Coverage::own_sum;
  for (std::size_t entry = 0; entry < sum.size(); ++entry) {
    const bool pods = own && shortfall.resources[entry] == resource_pods;
    const std::int64_t needed = own ? shortfall.asked[entry] : shortfall.missing(entry);
    if (!pods && sum[entry] < needed) return false;
  }
  return true;
}

/// On top of the trial so far.
bool VictimLadder::fits_budgets(std::uint32_t at) {
  return world_.budgets().charge_all(task_.candidates.pods_of(unit(at)));
}

std::optional<LadderAnswer> VictimLadder::try_single(const Step& step) {
  constexpr std::int64_t ppm_of_percent = 10'000;
  struct Rated {
    std::int64_t deviation = 0;
    std::uint32_t at = 0;
  };
  std::vector<Rated> rated;
  bool any_covers = false;
  bool budgets_forbid = false;
  for (std::uint32_t at = 0; at < task_.candidates.units.size(); ++at) {
    const PinnedCandidate& each = unit(at);
    if (each.victim_class >= step.classes || each.size != 1) continue;
    if (!covered(task_.candidates.frees(at), Coverage::shortfall)) continue;
    any_covers = true;
    const std::int64_t deviation = deviation_ppm(at);
    if (deviation > settings_.deviation_percent * ppm_of_percent) continue;
    if (step.within_budgets) {
      world_.budgets().start_trial();
      if (!fits_budgets(at)) {
        budgets_forbid = true;
        continue;
      }
    }
    rated.push_back({.deviation = deviation, .at = at});
  }
  if (any_covers) {
    failure_ = {.code = budgets_forbid ? ReasonCode::ladder_deviates_or_budgets
                                       : ReasonCode::ladder_deviates,
                .arguments = {settings_.deviation_percent}};
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
  const bool by_priority = settings_.multiple_order == MultipleOrder::priority_first;
  return take_in_order(step, [&](std::uint32_t a, std::uint32_t b) {
    if (by_priority && unit(a).priority != unit(b).priority)
      return unit(a).priority < unit(b).priority;
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
  world_.budgets().start_trial();
  for (const std::uint32_t at : chosen) {
    task_.candidates.add_frees(at, sum);
    pods += unit(at).size;
    if (step.within_budgets && !fits_budgets(at)) {
      failure_ = {.code = ReasonCode::ladder_budgets};
      return std::nullopt;
    }
  }
  std::erase_if(
      order, [&](std::uint32_t at) { return std::ranges::find(blockers_, at) != blockers_.end(); });
  std::size_t sorted = 0;
  std::size_t next = 0;
  for (; next < order.size() && !covered(sum, settings_.coverage); ++next) {
    if (next == sorted) {
      sorted = std::min(order.size(), sorted == 0 ? chunk_first : sorted * 4);
      std::partial_sort(order.begin() + static_cast<std::ptrdiff_t>(next),
                        order.begin() + static_cast<std::ptrdiff_t>(sorted), order.end(), before);
    }
    const std::uint32_t at = order[next];
    if (step.within_budgets && !fits_budgets(at)) {
      failure_ = {.code = ReasonCode::ladder_budgets};
      continue;
    }
    pods += unit(at).size;
    if (pods > settings_.max_victims) {
      failure_ = {.code = ReasonCode::ladder_too_many, .arguments = {settings_.max_victims}};
      return std::nullopt;
    }
    task_.candidates.add_frees(at, sum);
    chosen.push_back(at);
  }
  // A resource that no candidate holds is never covered by them: all of them go, if that helps.
  const bool all_go = settings_.coverage == Coverage::own_sum;
  if (chosen.empty() || (!all_go && !covered(sum, settings_.coverage))) return std::nullopt;
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
  const bool by_priority = settings_.multiple_order == MultipleOrder::priority_first;
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    if (by_priority && unit(a).priority != unit(b).priority)
      return unit(a).priority < unit(b).priority;
    return worths[a] != worths[b] ? worths[a] > worths[b] : before(a, b);
  });
  // The least worthy first, of those the last in `order`: worth, turn from the end.
  std::set<std::pair<std::int64_t, std::size_t>> window;
  std::vector<std::int64_t> sum(task_.shortfall.resources.size());
  std::int64_t pods = 0;
  world_.budgets().start_trial();
  for (std::size_t turn = 0; turn < order.size(); ++turn) {
    const std::uint32_t at = order[turn];
    if (step.within_budgets && !fits_budgets(at)) {
      failure_ = {.code = ReasonCode::ladder_budgets};
      continue;
    }
    window.emplace(worths[at], order.size() - 1 - turn);
    pods += unit(at).size;
    task_.candidates.add_frees(at, sum);
    while (pods > settings_.max_victims) {
      failure_ = {.code = ReasonCode::ladder_too_many, .arguments = {settings_.max_victims}};
      const std::uint32_t least = order[order.size() - 1 - window.begin()->second];
      window.erase(window.begin());
      pods -= unit(least).size;
      const std::span<const std::int64_t> frees = task_.candidates.frees(least);
      for (std::size_t each = 0; each < sum.size(); ++each) sum[each] -= frees[each];
    }
    if (!covered(sum, settings_.coverage)) continue;
    Units chosen;
    chosen.reserve(window.size());
    for (const auto& [value, back] : window) chosen.push_back(order[order.size() - 1 - back]);
    if (std::optional<LadderAnswer> answer = finish(step, std::move(chosen))) return answer;
  }
  return std::nullopt;
}

// ---- Orders -------------------------------------------------------------------------------------

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

/// How much of what is missing it frees; where the largest go first, its size in terms of the
/// request, of which every pod is one of `pods`.
std::int64_t VictimLadder::worth(std::uint32_t at) const {
  const std::span<const std::int64_t> frees = task_.candidates.frees(at);
  const bool by_size = settings_.multiple_order == MultipleOrder::largest_first;
  std::int64_t sum = 0;
  for (std::size_t entry = 0; entry < frees.size(); ++entry) {
    const bool pods = task_.shortfall.resources[entry] == resource_pods;
    const std::int64_t whole = !by_size ? task_.shortfall.missing(entry)
                               : pods   ? 0
                                        : task_.shortfall.asked[entry];
    if (whole <= 0) continue;
    const std::int64_t part = by_size ? frees[entry] : std::min(frees[entry], whole);
    sum = saturated_add(sum, scaled(part, whole, 1'000, false));
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
    add_request(amounts, request_of(cluster, pod));
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
