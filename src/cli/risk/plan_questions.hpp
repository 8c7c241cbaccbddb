// PlanQuestions: plans for questions. Every answer went through the judge like any other plan; a
// plan that shows a bug of ours, or cannot be made, ends the questions.
#pragma once

#include <optional>
#include <string>

#include "cli/plan/plan_maker.hpp"

namespace makeway::cli {

class PlanQuestions {
 public:
  PlanQuestions(Time now, std::span<const WorkloadPods> workloads, const PlanTools& tools)
      : now_(now), workloads_(workloads), tools_(tools) {}

  /// For everything that is pending. None: `failure` says why.
  std::optional<Plan> today(const Cluster& cluster, const ConfigurationDocument& configuration,
                            bool explain = false);

  /// For one pod, whatever else is pending; to its node if one is given. With queues their claims
  /// are in the plan.
  std::optional<Plan> for_pod(const Cluster& cluster, const ConfigurationDocument& configuration,
                              const PodPlacement& place);

  /// The same, what it says of the pod.
  std::optional<PlanAsk> for_pod_on(const Cluster& cluster,
                                    const ConfigurationDocument& configuration,
                                    const PodPlacement& place);

  Time now() const { return now_; }
  std::int64_t asked() const { return asked_; }
  bool shows_bug() const { return shows_bug_; }
  /// Lines for standard error.
  const std::string& bug() const { return bug_; }
  const Problems& problems() const { return problems_; }

 private:
  std::optional<Plan> make(const PlanCase& item);

  Time now_;
  std::span<const WorkloadPods> workloads_;
  const PlanTools& tools_;
  PlanTiming timing_;
  BugFiles bug_files_;
  std::int64_t asked_ = 0;
  bool shows_bug_ = false;
  std::string bug_;
  Problems problems_;
};

}  // namespace makeway::cli
