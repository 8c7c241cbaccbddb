#include "engine/budgets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace makeway {

Budgets::Budgets(Survey& survey)
    : survey_(survey), budgets_(survey.cluster().budgets()), finder_(budgets_) {
  committed_.resize(budgets_.size(), 1);
  for (std::uint32_t budget = 0; budget < budgets_.size(); ++budget) {
    set_committed(budget, budgets_[budget]->disruptions_allowed.value_or(0));
    for (const std::string& pod : budgets_[budget]->disrupted_pods) {
      disrupted_[pod].push_back(budget);
    }
  }
  left_ = committed_;
}

void Budgets::set_committed(std::uint32_t budget, std::int64_t allowed) {
  exhausted_ += (allowed <= 0 ? 1 : 0) - (committed_[budget] <= 0 ? 1 : 0);
  committed_[budget] = allowed;
}

const Budgets::Governing& Budgets::known(PodIndex pod) {
  const Cluster& cluster = survey_.cluster();
  const Space space{.plane = cluster.pods().plane[pod],
                    .namespace_name = cluster.pods().namespace_name[pod]};
  const LabelSetId labels = cluster.pods().labels[pod];
  if (labels.value >= governing_.size()) governing_.resize(labels.value + 1);
  std::vector<Governing>& known = governing_[labels.value];
  const auto found = std::ranges::find(known, space, &Governing::space);
  if (found != known.end()) return *found;
  Governing governing{
      .space = space,
      .found = finder_.find(cluster.text(space.plane), cluster.text(space.namespace_name),
                            survey_.labels(labels))};
  governing.shelf = shelf_of(governing.found.excluding);
  known.push_back(std::move(governing));
  return known.back();
}

// ---- Budgets that govern all but a few ----------------------------------------------------------

std::uint32_t Budgets::shelf_of(std::span<const std::uint32_t> excluding) {
  if (excluding.empty()) return no_shelf;
  const auto next = static_cast<std::uint32_t>(shelves_.size());
  const auto [at, is_new] = shelf_by_first_.try_emplace(excluding.front(), next);
  if (!is_new) return at->second;
  std::vector<std::int64_t> allowed;
  allowed.reserve(excluding.size());
  for (const std::uint32_t budget : excluding) allowed.push_back(committed_[budget]);
  const CountTree tree(allowed);
  shelves_.push_back({.budgets = excluding, .committed = tree, .left = tree});
  return next;
}

std::uint32_t Budgets::place_of(const Shelf& shelf, std::uint32_t budget) const {
  return static_cast<std::uint32_t>(std::ranges::lower_bound(shelf.budgets, budget) -
                                    shelf.budgets.begin());
}

std::vector<std::uint32_t> Budgets::spared_places(const Governing& governing, PodIndex pod) const {
  const Shelf& shelf = shelves_[governing.shelf];
  std::vector<std::uint32_t> places;
  places.reserve(governing.found.excluded.size());
  for (const std::uint32_t budget : governing.found.excluded) {
    places.push_back(place_of(shelf, budget));
  }
  if (disrupted_.empty()) return places;
  const auto disrupted = disrupted_.find(survey_.cluster().pods().name[pod.value]);
  if (disrupted == disrupted_.end()) return places;
  for (const std::uint32_t budget : disrupted->second) {
    const std::uint32_t place = place_of(shelf, budget);
    if (place < shelf.budgets.size() && shelf.budgets[place] == budget) places.push_back(place);
  }
  std::ranges::sort(places);
  const auto repeated = std::ranges::unique(places);
  places.erase(repeated.begin(), repeated.end());
  return places;
}

std::size_t Budgets::first_at_most(const CountTree& tree, std::int64_t limit, std::size_t begin,
                                   std::span<const std::uint32_t> spared) {
  std::size_t place = tree.first_at_most(limit, begin);
  while (place < tree.size() && std::ranges::binary_search(spared, place)) {
    place = tree.first_at_most(limit, place + 1);
  }
  return place;
}

std::int64_t Budgets::least(const CountTree& tree, std::span<const std::uint32_t> spared) {
  std::int64_t least = CountTree::nothing;
  std::size_t begin = 0;
  for (const std::uint32_t place : spared) {
    least = std::min(least, tree.least(begin, place));
    begin = std::size_t{place} + 1;
  }
  return std::min(least, tree.least(begin, tree.size()));
}

void Budgets::add(const Charge& charge) {
  shelves_[charge.shelf].left.add(charge.begin, charge.end, charge.amount);
}

void Budgets::charge_shelf(std::uint32_t shelf, std::size_t end,
                           std::span<const std::uint32_t> spared) {
  const auto change = [&](std::uint32_t from, std::uint32_t to, std::int32_t amount) {
    charges_.push_back({.shelf = shelf, .begin = from, .end = to, .amount = amount});
    add(charges_.back());
  };
  if (end == 0) return;
  change(0, static_cast<std::uint32_t>(end), -1);
  for (const std::uint32_t place : spared) {
    if (place < end) change(place, place + 1, 1);
  }
}

/// Those of the trial from that one on.
void Budgets::undo_charges(std::size_t from) {
  while (charges_.size() > from) {
    Charge charge = charges_.back();
    charges_.pop_back();
    charge.amount = -charge.amount;
    add(charge);
  }
}

// ---- What evictions do --------------------------------------------------------------------------

bool Budgets::counts(std::uint32_t budget, PodIndex pod) const {
  const std::vector<std::string>& disrupted = budgets_[budget]->disrupted_pods;
  return disrupted.empty() ||
         !std::ranges::binary_search(disrupted, survey_.cluster().pods().name[pod.value]);
}

bool Budgets::exhausted(PodIndex pod) {
  // A shelf that was not asked for yet is as it was, and counted.
  if (exhausted_ == 0 && shelves_.empty()) return false;
  const Governing& governing = known(pod);
  const auto stops = [&](std::uint32_t budget) {
    return committed_[budget] <= 0 && counts(budget, pod);
  };
  if (exhausted_ > 0 && std::ranges::any_of(governing.found.named, stops)) return true;
  if (governing.shelf == no_shelf) return false;
  const CountTree& committed = shelves_[governing.shelf].committed;
  if (committed.least(0, committed.size()) > 0) return false;
  return first_at_most(committed, 0, 0, spared_places(governing, pod)) < committed.size();
}

std::string Budgets::name_of(std::uint32_t budget) const {
  return fmt::format("{}/{}", budgets_[budget]->namespace_name, budgets_[budget]->name);
}

/// From the first that the pod's charge took below zero on; charging ended there, so of those
/// behind it all that have nothing left.
std::vector<std::uint32_t> Budgets::overdrawn(PodIndex pod) {
  const Governing& governing = known(pod);
  std::vector<std::uint32_t> counting;
  std::ranges::copy_if(governing.found.named, std::back_inserter(counting),
                       [&](std::uint32_t budget) { return counts(budget, pod); });
  std::optional<std::uint32_t> first;
  const auto below =
      std::ranges::find_if(counting, [&](std::uint32_t budget) { return left_[budget] < 0; });
  if (below != counting.end()) first = *below;
  std::vector<std::uint32_t> found;
  if (governing.shelf != no_shelf) {
    const Shelf& shelf = shelves_[governing.shelf];
    const std::vector<std::uint32_t> spared = spared_places(governing, pod);
    const std::size_t place = first_at_most(shelf.left, -1, 0, spared);
    if (place < shelf.budgets.size()) {
      first = std::min(first.value_or(shelf.budgets[place]), shelf.budgets[place]);
    }
    if (first) {
      std::size_t at = first_at_most(shelf.left, 0, place_of(shelf, *first), spared);
      for (; at < shelf.budgets.size(); at = first_at_most(shelf.left, 0, at + 1, spared)) {
        found.push_back(shelf.budgets[at]);
      }
    }
  }
  if (!first) return found;
  std::ranges::copy_if(counting, std::back_inserter(found), [&](std::uint32_t budget) {
    return budget >= *first && left_[budget] <= 0;
  });
  std::ranges::sort(found);
  return found;
}

std::string Budgets::violated(PodIndex pod) {
  if (budgets_.empty()) return {};
  std::vector<std::string> names;
  std::ranges::transform(overdrawn(pod), std::back_inserter(names),
                         [this](std::uint32_t budget) { return name_of(budget); });
  if (!names.empty()) return fmt::format("{}", fmt::join(names, ", "));
  // The one that allows least, the first of them.
  std::optional<std::uint32_t> tightest;
  std::int64_t least_left = CountTree::nothing;
  const Governing& governing = known(pod);
  for (const std::uint32_t budget : governing.found.named) {
    if (!counts(budget, pod) || left_[budget] >= least_left) continue;
    least_left = left_[budget];
    tightest = budget;
  }
  if (governing.shelf != no_shelf) {
    const Shelf& shelf = shelves_[governing.shelf];
    const std::vector<std::uint32_t> spared = spared_places(governing, pod);
    const std::int64_t left = least(shelf.left, spared);
    if (left != CountTree::nothing && left <= least_left) {
      const std::uint32_t budget = shelf.budgets[first_at_most(shelf.left, left, 0, spared)];
      if (left < least_left || budget < *tightest) tightest = budget;
    }
  }
  return tightest ? name_of(*tightest) : std::string{};
}

void Budgets::start_trial() {
  for (const std::uint32_t budget : touched_) left_[budget] = committed_[budget];
  touched_.clear();
  undo_charges(0);
}

bool Budgets::charge(PodIndex pod) {
  if (budgets_.empty()) return false;
  const Governing& governing = known(pod);
  std::optional<std::uint32_t> stop;  // The first budget that has nothing left ends the walk.
  std::vector<std::uint32_t> spared;
  std::size_t place = 0;
  if (governing.shelf != no_shelf) {
    const Shelf& shelf = shelves_[governing.shelf];
    spared = spared_places(governing, pod);
    place = first_at_most(shelf.left, 0, 0, spared);
    if (place < shelf.budgets.size()) stop = shelf.budgets[place];
  }
  for (const std::uint32_t budget : governing.found.named) {
    if (stop && budget > *stop) break;
    if (!counts(budget, pod)) continue;
    touched_.push_back(budget);
    if (--left_[budget] >= 0) continue;
    stop = budget;
    break;
  }
  if (governing.shelf != no_shelf) {
    const Shelf& shelf = shelves_[governing.shelf];
    // Those up to the stop, itself included.
    const std::size_t end = stop ? place_of(shelf, *stop + 1) : shelf.budgets.size();
    charge_shelf(governing.shelf, end, spared);
  }
  return stop.has_value();
}

bool Budgets::charge_all(std::span<const PodIndex> pods) {
  if (budgets_.empty()) return true;
  std::vector<std::uint32_t> charged;
  const std::size_t charges_before = charges_.size();
  bool violates = false;
  for (const PodIndex pod : pods) {
    const Governing& governing = known(pod);
    for (const std::uint32_t budget : governing.found.named) {
      if (!counts(budget, pod)) continue;
      charged.push_back(budget);
      touched_.push_back(budget);
      violates = --left_[budget] < 0 || violates;
    }
    if (governing.shelf == no_shelf) continue;
    const std::vector<std::uint32_t> spared = spared_places(governing, pod);
    const CountTree& left = shelves_[governing.shelf].left;
    charge_shelf(governing.shelf, left.size(), spared);
    violates = violates || first_at_most(left, -1, 0, spared) < left.size();
  }
  if (!violates) return true;
  for (const std::uint32_t budget : charged) ++left_[budget];
  undo_charges(charges_before);
  return false;
}

/// A budget that leaves out some of these pods has its own number; others of its shelf share one.
void Budgets::gather_shelves(std::span<const PodIndex> pods, Among& among) {
  shelves_among_.clear();
  for (const PodIndex pod : pods) {
    const Governing& governing = known(pod);
    if (governing.shelf == no_shelf) continue;
    const std::vector<std::uint32_t> spared = spared_places(governing, pod);
    shelves_among_[governing.shelf].apart.insert(spared.begin(), spared.end());
  }
  for (auto& [index, here] : shelves_among_) {
    const std::vector<std::uint32_t> apart(here.apart.begin(), here.apart.end());
    const std::int64_t allowed = least(shelves_[index].committed, apart);
    if (allowed == CountTree::nothing) continue;
    here.common = static_cast<std::uint32_t>(among.allowed.size());
    among.allowed.push_back(allowed);
  }
}

void Budgets::among(std::span<const PodIndex> pods, Among& among) {
  among.allowed.clear();
  among.numbers.clear();
  among.begin.assign(1, 0);
  if (budgets_.empty()) return;
  number_.resize(budgets_.size(), 0);
  std::vector<std::uint32_t> numbered;
  const auto add_number = [&](std::uint32_t budget, std::int64_t allowed) {
    if (number_[budget] == 0) {
      among.allowed.push_back(allowed);
      number_[budget] = static_cast<std::uint32_t>(among.allowed.size());
      numbered.push_back(budget);
    }
    among.numbers.push_back(number_[budget] - 1);
  };
  gather_shelves(pods, among);
  for (const PodIndex pod : pods) {
    const Governing& governing = known(pod);
    for (const std::uint32_t budget : governing.found.named) {
      if (counts(budget, pod)) add_number(budget, committed_[budget]);
    }
    if (governing.shelf != no_shelf) {
      const Shelf& shelf = shelves_[governing.shelf];
      const ShelfAmong& here = shelves_among_[governing.shelf];
      const std::vector<std::uint32_t> spared = spared_places(governing, pod);
      if (here.common != no_shelf) among.numbers.push_back(here.common);
      for (const std::uint32_t place : here.apart) {
        if (std::ranges::binary_search(spared, place)) continue;
        add_number(shelf.budgets[place], shelf.committed.at(place));
      }
    }
    among.begin.push_back(static_cast<std::uint32_t>(among.numbers.size()));
  }
  for (const std::uint32_t budget : numbered) number_[budget] = 0;
}

void Budgets::commit(std::span<const PodIndex> pods) {
  start_trial();
  for (const PodIndex pod : pods) charge(pod);
  for (const std::uint32_t budget : touched_) {
    if (committed_[budget] == left_[budget]) continue;  // Touched twice.
    log_.push_back({.budget = budget, .before = committed_[budget]});
    set_committed(budget, left_[budget]);
  }
  touched_.clear();
  for (const Charge& charge : charges_) {
    shelves_[charge.shelf].committed.add(charge.begin, charge.end, charge.amount);
    shared_log_.push_back(charge);
  }
  charges_.clear();
}

void Budgets::rollback(Checkpoint checkpoint) {
  start_trial();
  while (log_.size() > checkpoint.commits) {
    const Commit commit = log_.back();
    log_.pop_back();
    set_committed(commit.budget, commit.before);
    left_[commit.budget] = commit.before;
  }
  while (shared_log_.size() > checkpoint.shared_commits) {
    Charge charge = shared_log_.back();
    shared_log_.pop_back();
    charge.amount = -charge.amount;
    add(charge);
    shelves_[charge.shelf].committed.add(charge.begin, charge.end, charge.amount);
  }
}

}  // namespace makeway
