#include "control/lawful_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/contain.hpp"

namespace makeway {
namespace {

/// Adds the asks that the breaches name; false: all of them are left out already.
bool leave_out(const std::vector<LawBreach>& breaches, std::vector<PlanLeftOut>& left_out) {
  bool any = false;
  for (const LawBreach& breach : breaches) {
    for (AskName ask : breach.asks) {
      if (ask.kind == AskKind::queue) ask.name.clear();  // The stage as a whole.
      if (is_left_out(left_out, ask)) continue;
      left_out.push_back({.kind = ask.kind,
                          .namespace_name = ask.namespace_name,
                          .name = ask.name,
                          .law = breach.law,
                          .reason = breach.text});
      any = true;
    }
  }
  return any;
}

std::string breach_text(const LawBreach& breach) {
  return fmt::format("law {}: {}{}{}", breach.law, breach.ask, breach.ask.empty() ? "" : ": ",
                     breach.text);
}

/// For users who look at the object; only these kinds have such a condition.
void add_refusal(const AskName& ask, const Problem& problem, Plan& plan) {
  if (ask.kind != AskKind::pod && ask.kind != AskKind::pod_group) return;
  const bool is_pod = ask.kind == AskKind::pod;
  plan.status.push_back({.object = ref_of(ask),
                         .condition = is_pod ? "PodScheduled" : "PodGroupInitiallyScheduled",
                         .value = false,
                         .reason = "Unschedulable",
                         .message = fmt::format("{}; {}", problem.message, problem.remedy)});
}

/// How often a cycle is decided afresh without the asks whose plan broke a law (law 14).
constexpr std::int64_t containment_rounds_max = 3;

class LawfulPlanMaker {
 public:
  LawfulPlanMaker(const Cluster& cluster, const Configuration& configuration, PlanRequest request,
                  const PlanTools& tools)
      : cluster_(cluster),
        configuration_(configuration),
        tools_(tools),
        request_(std::move(request)) {
    request_.contain = tools.contain;
  }

  LawfulPlan make() {
    const std::int64_t rounds_max = tools_.contain ? containment_rounds_max : 0;
    for (std::int64_t round = 0;; ++round) {
      Decision decision = decide_others();
      if (!decision.failure.empty()) return withhold(std::move(decision.failure));
      if (!decision.plan) {
        made_.problems = std::move(decision.problems);
        return std::move(made_);
      }
      const std::optional<std::vector<LawBreach>> breaches = check(*decision.plan);
      if (!breaches) return withhold(std::move(judge_failure_));
      if (breaches->empty()) {
        made_.plan = std::move(decision.plan);
        for (Refusal& each : refusals_) made_.problems.push_back(std::move(each.problem));
        made_.recheck_at = decision.recheck_at;
        return std::move(made_);
      }
      made_.refused.push_back(
          {.id = decision.plan->id, .breaches = *breaches, .plan = *std::move(decision.plan)});
      if (!tools_.contain) return std::move(made_);
      const bool named = leave_out(*breaches, request_.left_out);
      if (!named || round == rounds_max) return withhold(breach_text(breaches->front()));
    }
  }

 private:
  struct Refusal {
    AskName ask;
    Problem problem;
  };

  /// Law 13. It ends: each time there is one ask fewer.
  Decision decide_others() {
    Decision decision = decide();
    while (tools_.keep_going && !decision.plan && refuse(decision.problems)) decision = decide();
    return decision;
  }

  /// False: the problems are those of no named ask.
  bool refuse(const Problems& problems) {
    const std::size_t before = refusals_.size();
    for (const Problem& problem : problems) {
      const auto ask = std::ranges::find(request_.asks, problem.object,
                                         [](const AskName& name) { return ask_text(name); });
      if (ask == request_.asks.end()) continue;
      refusals_.push_back({.ask = std::move(*ask), .problem = problem});
      request_.asks.erase(ask);
    }
    if (refusals_.size() == before) return false;
    // A request that names no ask means all of them; the queue stage is part of every plan.
    if (request_.asks.empty()) request_.asks.push_back({.kind = AskKind::queue});
    return true;
  }

  /// What failed, where failures are contained.
  template <class Work>
  std::optional<std::string> contain(Work&& work) const {
    if (tools_.contain) return failure_of(work);
    work();
    return std::nullopt;
  }

  Decision decide() {
    const std::int64_t start = tools_.microseconds();
    Decision decision;
    const auto failure =
        contain([&] { decision = tools_.decide(cluster_, configuration_, request_); });
    if (failure) decision = {.failure = *failure};
    if (decision.plan) {
      // An ask that was left out inside of `decide` stays out, and none is forgotten.
      for (PlanLeftOut& left : decision.plan->left_out) {
        const AskName ask{
            .kind = left.kind, .namespace_name = left.namespace_name, .name = left.name};
        if (!is_left_out(request_.left_out, ask)) request_.left_out.push_back(std::move(left));
      }
      decision.plan->left_out = request_.left_out;
      for (const Refusal& each : refusals_) add_refusal(each.ask, each.problem, *decision.plan);
      identify(*decision.plan);
    }
    made_.decide_us += tools_.microseconds() - start;
    return decision;
  }

  /// None: the judge itself failed.
  std::optional<std::vector<LawBreach>> check(const Plan& plan) {
    const std::int64_t start = tools_.microseconds();
    std::optional<std::vector<LawBreach>> breaches;
    const auto failure = contain([&] { breaches = tools_.check(cluster_, configuration_, plan); });
    if (failure) judge_failure_ = *failure;
    made_.check_us += tools_.microseconds() - start;
    return breaches;
  }

  /// An empty plan: nothing of it can break a law.
  LawfulPlan withhold(std::string why) {
    made_.plan = Plan{.preset = request_.preset,
                      .configuration_hash = request_.configuration_hash.empty()
                                                ? configuration_hash(configuration_)
                                                : request_.configuration_hash,
                      .now = request_.now,
                      .laws_waived = configuration_.engine.laws_waived,
                      .left_out = std::move(request_.left_out),
                      .withheld = std::move(why)};
    identify(*made_.plan);
    return std::move(made_);
  }

  void identify(Plan& plan) const {
    if (tools_.identify) plan.id = tools_.identify(plan);
  }

  const Cluster& cluster_;
  const Configuration& configuration_;
  const PlanTools& tools_;
  PlanRequest request_;
  LawfulPlan made_;
  std::vector<Refusal> refusals_;
  std::string judge_failure_;
};

}  // namespace

bool is_left_out(const std::vector<PlanLeftOut>& left_out, const AskName& ask) {
  return std::ranges::any_of(left_out, [&](const PlanLeftOut& left) {
    return left.kind == ask.kind && left.namespace_name == ask.namespace_name &&
           left.name == ask.name;
  });
}

bool LawfulPlan::shows_bug() const {
  return !refused.empty() || (plan && (!plan->left_out.empty() || !plan->withheld.empty()));
}

LawfulPlan make_lawful_plan(const Cluster& cluster, const Configuration& configuration,
                            const PlanRequest& request, const PlanTools& tools) {
  return LawfulPlanMaker(cluster, configuration, request, tools).make();
}

}  // namespace makeway
