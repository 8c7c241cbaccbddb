// StepMeter: counts the steps of one search against its own bound and against that of the whole
// plan (law 10). Steps are counted, time never is: the same input gives the same plan everywhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace makeway {

/// What all searches of a cycle may still take together (`engine.planStepsMax`).
struct PlanSteps {
  static constexpr std::string_view name = "engine.planStepsMax";

  std::int64_t left = 0;
};

class StepMeter {
 public:
  /// `own`: the bound of this search, and its name.
  StepMeter(PlanSteps& plan, std::int64_t own_max, std::string_view own_name)
      : plan_(&plan), left_(own_max), name_(own_name) {}

  void count(std::int64_t steps) {
    left_ -= steps;
    plan_->left -= steps;
  }
  std::int64_t left() const { return std::min(left_, plan_->left); }
  bool out() const { return left() <= 0; }
  /// The bound that is reached, or was by a search inside of this one.
  std::string_view bound() const { return plan_->left <= 0 ? PlanSteps::name : name_; }

 private:
  PlanSteps* plan_;
  std::int64_t left_;
  std::string_view name_;
};

/// Adds the name of a bound that ended a search, once.
inline void note_bound(std::vector<std::string>& reached, std::string_view name) {
  if (std::ranges::find(reached, name) == reached.end()) reached.emplace_back(name);
}

}  // namespace makeway
