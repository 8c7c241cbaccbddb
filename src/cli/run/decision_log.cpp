#include "cli/run/decision_log.hpp"

#include <fmt/format.h>

#include <utility>
#include <variant>
#include <vector>

#include "cli/plan/bug_report.hpp"

namespace makeway::cli {
namespace {

/// "n1" of a pod, "n1:2,n2:1" of a group.
std::string places_text(const PlanAsk& ask) {
  if (ask.placements.empty()) return {};
  if (ask.kind == AskKind::pod) return ask.placements.front().node;
  std::map<std::string_view, std::size_t> pods;
  for (const PodPlacement& place : ask.placements) ++pods[place.node];
  std::string text;
  for (const auto& [node, count] : pods) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", node, count);
  }
  return text;
}

std::string number_text(std::size_t number) {
  return number == 0 ? std::string{} : fmt::format("{}", number);
}

}  // namespace

void DecisionLog::batch(const AppliedBatch& batch, const Cluster& /*cluster*/) {
  for (const Change& change : batch.changes) forget(change);
  for (const Receipt& receipt : batch.receipts) {
    if (is_told(receipt, batch.now)) continue;
    log_.tell(LogLevel::warning, "refused",
              {{"plan", receipt.plan},
               {"object", receipt.object},
               {"plane", receipt.plane},
               {"for", receipt.ask},
               {"reason", receipt.reason}});
  }
}

/// What a brake holds back is asked for again and again; it says until when, and is told once.
bool DecisionLog::is_told(const Receipt& receipt, Time now) {
  if (!receipt.again_at) return false;
  std::erase_if(braked_, [now](const auto& each) { return each.second <= now; });
  return !braked_.try_emplace({receipt.object_and_plane(), receipt.ask}, *receipt.again_at).second;
}

void DecisionLog::forget(const Change& change) {
  if (const auto* const gone = std::get_if<Removal>(&change)) {
    const bool is_group = gone->kind == ObjectKind::pod_group;
    if (!is_group && gone->kind != ObjectKind::pod) return;
    told_.erase({.kind = is_group ? AskKind::pod_group : AskKind::pod,
                 .namespace_name = gone->namespace_name,
                 .name = gone->name});
    return;
  }
  const auto* const pod = std::get_if<Pod>(&change);
  if (pod == nullptr || pod->node.empty()) return;
  told_.erase({.kind = AskKind::pod, .namespace_name = pod->namespace_name, .name = pod->name});
}

void DecisionLog::tell_ask(const Plan& plan, const PlanAsk& ask) {
  const std::string places = places_text(ask);
  std::string answer = fmt::format("{} {} {}", choice_name(ask.outcome), places, ask.reason);
  for (const PlanVictim& victim : ask.victims) answer += " " + victim.name;
  const auto [told, is_new] = told_.try_emplace(ask_name_of(ask));
  if (!is_new && told->second == answer) return;
  told->second = std::move(answer);
  const std::string name = ask_text(ask);
  log_.tell(LogLevel::info, "decided",
            {{"plan", plan.id},
             {"ask", name},
             {"priority", fmt::format("{}", ask.priority)},
             {"profile", ask.profile},
             {"outcome", std::string(choice_name(ask.outcome))},
             {ask.kind == AskKind::pod ? "node" : "nodes", places},
             {"victims", number_text(ask.victims.size())},
             {"reason", ask.reason}});
  for (const PlanVictim& victim : ask.victims) {
    log_.tell(LogLevel::info, "victim",
              {{"plan", plan.id},
               {"pod", fmt::format("{}/{}", victim.namespace_name, victim.name)},
               {"unit", victim.unit},
               {"node", victim.node},
               {"priority", fmt::format("{}", victim.priority)},
               {"for", name},
               {"cause", victim.reason},
               {"alternative", victim.cause_alternative},
               {"lostOn", victim.cause_key},
               {"violatesBudget", victim.budget}});
  }
}

void DecisionLog::cycle(const MadeCycle& cycle, const Cluster& cluster) {
  for (const RefusedPlan& refused : cycle.made.refused) {
    for (const LawBreach& breach : refused.breaches) {
      log_.tell(LogLevel::error, "law-broken",
                {{"plan", refused.id},
                 {"law", fmt::format("{}", breach.law)},
                 {"ask", breach.ask},
                 {"reason", breach.text}});
    }
  }
  if (cycle.made.shows_bug()) tell_bug(cycle, cluster);
  for (const Problem& problem : cycle.made.problems) {
    log_.tell(LogLevel::warning, "not-decided",
              {{"object", problem.object},
               {"field", problem.field},
               {"value", problem.value},
               {"reason", problem.message},
               {"remedy", problem.remedy}});
  }
  if (!cycle.made.plan) return;
  const Plan& plan = *cycle.made.plan;
  for (const PlanLeftOut& out : plan.left_out) {
    log_.tell(
        LogLevel::error, "left-out",
        {{"plan", plan.id},
         {"ask", ask_text(AskName{
                     .kind = out.kind, .namespace_name = out.namespace_name, .name = out.name})},
         {"reason", out.reason}});
  }
  if (!plan.withheld.empty()) {
    log_.tell(LogLevel::error, "withheld", {{"plan", plan.id}, {"reason", plan.withheld}});
  }
  for (const PlanAsk& ask : plan.asks) tell_ask(plan, ask);
}

void DecisionLog::ends(const Plan& plan) {
  std::map<std::string, std::string> reasons;
  for (const PlanAsk& ask : plan.asks) reasons[ask_text(ask)] = ask.reason;
  for (const PlanAction& action : plan.actions) {
    log_.tell(LogLevel::warning, "half-gang",
              {{"plan", plan.id},
               {"pod", fmt::format("{}/{}", action.namespace_name, action.name)},
               {"node", action.node},
               {"group", action.ask},
               {"reason", reasons[action.ask]}});
  }
}

void DecisionLog::tell_bug(const MadeCycle& cycle, const Cluster& cluster) {
  has_seen_bug_ = true;
  const PlanRequest request{.now = cycle.now,
                            .preset = document_.name,
                            .asks = {cycle.due.begin(), cycle.due.end()},
                            .explain = false};
  const std::string text = report_bug(
      {.cluster = cluster, .configuration = document_, .request = request, .made = cycle.made},
      bug_files_);
  log_.tell(LogLevel::error, "bug", {{"reason", text}});
}

}  // namespace makeway::cli
