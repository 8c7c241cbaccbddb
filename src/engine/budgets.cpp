#include "engine/budgets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "model/selector.hpp"

namespace makeway {
namespace {

/// Of what the selector demands, the one value, or the fewest, that a label must have; null: it
/// names none.
const Requirement* narrowest(const DisruptionBudget& budget) {
  const Requirement* found = nullptr;
  if (!budget.selector) return found;
  for (const Requirement& requirement : budget.selector->requirements) {
    if (requirement.operation != Operator::in) continue;
    if (found == nullptr || requirement.values.size() < found->values.size()) found = &requirement;
  }
  return found;
}

}  // namespace

Budgets::Budgets(Survey& survey) : survey_(survey), budgets_(survey.cluster().budgets()) {
  for (std::uint32_t at = 0; at < budgets_.size(); ++at) {
    const DisruptionBudget& budget = *budgets_[at];
    committed_.push_back(budget.disruptions_allowed.value_or(0));
    const Requirement* const narrow = narrowest(budget);
    if (narrow == nullptr) {
      by_label_[{budget.plane, budget.namespace_name, {}, {}}].push_back(at);
      continue;
    }
    for (const std::string& value : narrow->values) {
      by_label_[{budget.plane, budget.namespace_name, narrow->key, value}].push_back(at);
    }
  }
  left_ = committed_;
}

/// Those of the list that govern a pod with these labels.
void Budgets::add_governing(const LabelKey& key, const Labels& labels,
                            std::vector<std::uint32_t>& governing) const {
  const auto listed = by_label_.find(key);
  if (listed == by_label_.end()) return;
  std::ranges::copy_if(listed->second, std::back_inserter(governing), [&](std::uint32_t at) {
    return governs(*budgets_[at], std::get<1>(key), labels);
  });
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
  Governing& fresh = known.emplace_back(Governing{.space = space, .budgets = {}});
  const std::string_view plane = cluster.text(space.plane);
  const std::string_view namespace_name = cluster.text(space.namespace_name);
  const Labels& all = survey_.labels(labels);
  add_governing({plane, namespace_name, {}, {}}, all, fresh.budgets);
  for (const auto& [key, value] : all) {
    add_governing({plane, namespace_name, key, value}, all, fresh.budgets);
  }
  std::ranges::sort(fresh.budgets);
  const auto repeated = std::ranges::unique(fresh.budgets);  // A value may be listed twice.
  fresh.budgets.erase(repeated.begin(), repeated.end());
  return fresh.budgets;
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
