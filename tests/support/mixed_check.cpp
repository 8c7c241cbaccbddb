#include "support/mixed_check.hpp"

#include <fmt/format.h>

#include <optional>
#include <sstream>
#include <utility>

#include "base/prng.hpp"
#include "codec/plan_codec.hpp"
#include "codec/presets.hpp"
#include "judge/check_plan.hpp"
#include "model/validation/validation.hpp"
#include "policies/decide.hpp"
#include "support/random_planning.hpp"

namespace makeway {
namespace {

/// The first line in which the texts differ.
std::string first_unlike_line(const std::string& a, const std::string& b) {
  std::istringstream a_lines(a);
  std::istringstream b_lines(b);
  std::string a_line;
  std::string b_line;
  while (std::getline(a_lines, a_line) && std::getline(b_lines, b_line)) {
    if (a_line != b_line) return fmt::format("{} against {}", a_line, b_line);
  }
  return "one is longer";
}

/// What is decided. The alternative that the victims of a group are compared with is computed only
/// for explanations (GroupPlans).
std::string decision_text(Plan plan) {
  plan.id.clear();  // It follows from the rest, which says more when it differs.
  for (PlanAsk& ask : plan.asks) {
    if (ask.kind != AskKind::pod_group) continue;
    for (PlanVictim& victim : ask.victims) {
      victim.cause_alternative.clear();
      victim.cause_key.clear();
    }
  }
  return plan_text_json(plan, PlanDetail::brief);
}

/// Units that can be asked for by name.
std::vector<AskName> nameable(const std::vector<Change>& objects,
                              const Configuration& configuration) {
  std::vector<AskName> names;
  const auto add = [&](AskKind kind, const auto& object) {
    names.push_back({.kind = kind, .namespace_name = object.namespace_name, .name = object.name});
  };
  for (const Change& object : objects) {
    if (const Pod* const pod = std::get_if<Pod>(&object)) {
      if (pod->node.empty() && pod->group.empty() && !pod->deletion) add(AskKind::pod, *pod);
    } else if (const PodGroup* const group = std::get_if<PodGroup>(&object)) {
      add(AskKind::pod_group, *group);
    } else if (const ReplicaSchedule* const schedule = std::get_if<ReplicaSchedule>(&object)) {
      if (configuration.replica.enabled && schedule->unmet > 0) {
        add(AskKind::replica_schedule, *schedule);
      }
    } else if (const Session* const session = std::get_if<Session>(&object)) {
      const bool pending = session->status.phase == SessionPhase::pending;
      if (configuration.session.enabled && pending) add(AskKind::session, *session);
    }
  }
  return names;
}

class WorldJudge {
 public:
  WorldJudge(const std::vector<Change>& objects, Configuration configuration, std::uint64_t seed)
      : objects_(objects),
        configuration_(std::move(configuration)),
        cluster_(cluster_of(objects)),
        random_(seed) {}

  MixedVerdict judge(AskedAlone asked_alone) {
    const bool refused =
        has_errors(find_errors(cluster_)) || has_errors(find_cap_errors(cluster_, configuration_));
    if (refused) {
      return {.refused = true, .complaints = {}};
    }
    const std::optional<Plan> plan = decided(cluster_, {}, true);
    if (!plan) return {.refused = false, .complaints = {"no plan"}};
    judge_laws(*plan, "");
    judge_order(*plan);
    judge_brevity(*plan);
    judge_single_asks(asked_alone);
    return {.refused = false, .complaints = std::move(complaints_)};
  }

 private:
  std::optional<Plan> decided(const Cluster& cluster, std::optional<AskName> ask,
                              bool explain) const {
    PlanRequest request{.now = planning_now, .preset = "mixed", .explain = explain};
    if (ask) request.asks.push_back(*std::move(ask));
    return decide(cluster, configuration_, request).plan;
  }

  void judge_laws(const Plan& plan, std::string_view whose) {
    for (const LawBreach& breach : check_plan(cluster_, configuration_, plan)) {
      complaints_.push_back(
          fmt::format("law {}{}: {}: {}", breach.law, whose, breach.ask, breach.text));
    }
  }

  void judge_order(const Plan& plan) {
    std::vector<Change> shuffled = objects_;
    random_.shuffle(shuffled);
    const bool bulk = random_.chance(50);
    const std::optional<Plan> again = decided(cluster_of(shuffled, bulk), {}, true);
    const std::string first = plan_text_json(plan, PlanDetail::with_explanation);
    const std::string second = plan_text_json(*again, PlanDetail::with_explanation);
    if (first != second) complaints_.push_back("order: " + first_unlike_line(first, second));
  }

  void judge_brevity(const Plan& plan) {
    const std::string explained = decision_text(plan);
    const std::string brief = decision_text(*decided(cluster_, {}, false));
    if (explained != brief)
      complaints_.push_back("explaining: " + first_unlike_line(explained, brief));
  }

  /// Every pending ask may be asked for by name.
  void judge_single_asks(AskedAlone asked_alone) {
    std::vector<AskName> names = nameable(objects_, configuration_);
    if (asked_alone == AskedAlone::one && !names.empty()) names = {random_.pick(names)};
    for (const AskName& ask : names) {
      // Without a plan: a group none of whose members is pending, a replica, ...
      const std::optional<Plan> plan = decided(cluster_, ask, random_.chance(50));
      if (plan) judge_laws(*plan, fmt::format(" of {} alone", choice_name(ask.kind)));
    }
  }

  const std::vector<Change>& objects_;
  Configuration configuration_;
  Cluster cluster_;
  Prng random_;
  std::vector<std::string> complaints_;
};

}  // namespace

MixedVerdict judge_world(const std::vector<Change>& objects, std::string_view preset,
                         std::uint64_t seed, AskedAlone asked_alone) {
  return judge_world(objects, *load_preset(preset), seed, asked_alone);
}

MixedVerdict judge_world(const std::vector<Change>& objects, const Configuration& configuration,
                         std::uint64_t seed, AskedAlone asked_alone) {
  return WorldJudge(objects, configuration, seed).judge(asked_alone);
}

}  // namespace makeway
