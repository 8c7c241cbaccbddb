#include "engine/budgets.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace makeway {

Budgets::Budgets(Survey& survey)
    : survey_(survey), budgets_(survey.cluster().budgets()), finder_(budgets_) {
  for (const DisruptionBudget* budget : budgets_) {
    committed_.push_back(budget->disruptions_allowed.value_or(0));
  }
  left_ = committed_;
}

std::span<const std::uint32_t> Budgets::governing(PodIndex pod) {
  if (budgets_.empty()) return {};
  const Cluster& cluster = survey_.cluster();
  const Space space{.plane = cluster.pods().plane[pod],
                    .namespace_name = cluster.pods().namespace_name[pod]};
  const LabelSetId labels = cluster.pods().labels[pod];
  if (labels.value >= governing_.size()) governing_.resize(labels.value + 1);
  std::vector<Governing>& known = governing_[labels.value];
  const auto found = std::ranges::find(known, space, &Governing::space);
  if (found != known.end()) return found->budgets;
  known.push_back(
      {.space = space,
       .budgets = finder_.governing(cluster.text(space.plane), cluster.text(space.namespace_name),
                                    survey_.labels(labels))});
  return known.back().budgets;
}

bool Budgets::counts(std::uint32_t budget, PodIndex pod) const {
  const std::vector<std::string>& disrupted = budgets_[budget]->disrupted_pods;
  return disrupted.empty() ||
         !std::ranges::binary_search(disrupted, survey_.cluster().pods().name[pod.value]);
}

std::string Budgets::violated(PodIndex pod) {
  std::string names;
  std::uint32_t tightest = 0;
  bool any = false;
  bool stopped = false;  // Charging ends at the first: those after it were not charged.
  const auto name = [this](std::uint32_t budget) {
    return fmt::format("{}/{}", budgets_[budget]->namespace_name, budgets_[budget]->name);
  };
  for (const std::uint32_t budget : governing(pod)) {
    if (!counts(budget, pod)) continue;
    if (!any || left_[budget] < left_[tightest]) tightest = budget;
    any = true;
    if (left_[budget] >= (stopped ? 1 : 0)) continue;
    stopped = true;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name(budget));
  }
  return names.empty() && any ? name(tightest) : names;
}

void Budgets::start_trial() {
  for (const std::uint32_t budget : touched_) left_[budget] = committed_[budget];
  touched_.clear();
}

bool Budgets::charge(PodIndex pod) {
  return std::ranges::any_of(governing(pod), [&](std::uint32_t budget) {
    if (!counts(budget, pod)) return false;
    touched_.push_back(budget);
    return --left_[budget] < 0;  // Ends the walk.
  });
}

bool Budgets::charge_all(std::span<const PodIndex> pods) {
  std::vector<std::uint32_t> charged;
  bool violates = false;
  for (const PodIndex pod : pods) {
    for (const std::uint32_t budget : governing(pod)) {
      if (!counts(budget, pod)) continue;
      charged.push_back(budget);
      touched_.push_back(budget);
      violates = --left_[budget] < 0 || violates;
    }
  }
  if (!violates) return true;
  for (const std::uint32_t budget : charged) ++left_[budget];
  return false;
}

void Budgets::commit(std::span<const PodIndex> pods) {
  start_trial();
  for (const PodIndex pod : pods) charge(pod);
  for (const std::uint32_t budget : touched_) {
    if (committed_[budget] == left_[budget]) continue;  // Touched twice.
    log_.push_back({.budget = budget, .before = committed_[budget]});
    committed_[budget] = left_[budget];
  }
  touched_.clear();
}

void Budgets::rollback(Checkpoint checkpoint) {
  start_trial();
  while (log_.size() > checkpoint.commits) {
    const Commit commit = log_.back();
    log_.pop_back();
    committed_[commit.budget] = commit.before;
    left_[commit.budget] = commit.before;
  }
}

}  // namespace makeway
