// What the plan says about itself: causes, actions and scores (law 9).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "engine/check_plan_hearing.hpp"

namespace makeway {
namespace {

/// An action without what the law does not speak about: the uid of a pod that is bound.
struct ActionKey {
  ActionType type = ActionType::bind;
  std::string pod;
  std::string node;
  std::string uid;
  std::string ask;

  friend auto operator<=>(const ActionKey&, const ActionKey&) = default;
};

std::string pod_text(std::string_view namespace_name, std::string_view name) {
  return fmt::format("{}/{}", namespace_name, name);
}

class ActionJudge {
 public:
  explicit ActionJudge(Hearing& hearing) : hearing_(hearing) {}

  void judge() {
    for (const HeardAsk& ask : hearing_.asks) expect(ask);
    for (const PlanAction& action : hearing_.plan.actions) {
      if (action.type != ActionType::wait) --open_[key_of(action)];
    }
    for (const auto& [key, count] : open_) {
      if (count == 0) continue;
      hearing_.breaches.add(
          9, key.ask,
          fmt::format("action {} {} on node {} {}", choice_name(key.type), key.pod, key.node,
                      count > 0 ? "is missing" : "has no reason"));
    }
  }

 private:
  void expect(const HeardAsk& ask);
  ActionKey key_of(const PlanAction& action) const;

  Hearing& hearing_;
  std::map<ActionKey, int> open_;                      ///< Expected less found.
  std::map<std::string, std::string> asks_of_placed_;  ///< By pod.
};

void ActionJudge::expect(const HeardAsk& ask) {
  const ActionType type =
      ask.entry->outcome == Outcome::fits ? ActionType::bind : ActionType::nominate;
  for (const PodPlacement& placement : ask.entry->placements) {
    const std::string pod = pod_text(placement.namespace_name, placement.name);
    asks_of_placed_.try_emplace(pod, ask.text);
    ++open_[{.type = type, .pod = pod, .node = placement.node, .ask = ask.text}];
  }
  if (ask.entry->reservation && ask.entry->placements.empty()) {
    ++open_[{.type = ActionType::reserve,
             .pod = pod_text(ask.entry->namespace_name, ask.entry->name),
             .node = ask.entry->reservation->node,
             .ask = ask.text}];
  }
  for (const PlanVictim& victim : ask.entry->victims) {
    ++open_[{.type = ActionType::evict,
             .pod = pod_text(victim.namespace_name, victim.name),
             .node = victim.node,
             .uid = victim.uid,
             .ask = ask.text}];
  }
}

/// An eviction says for whom it is; a bind or nomination belongs to who places that pod.
ActionKey ActionJudge::key_of(const PlanAction& action) const {
  ActionKey key{.type = action.type,
                .pod = pod_text(action.namespace_name, action.name),
                .node = action.node};
  if (action.type == ActionType::evict) {
    key.uid = action.uid;
    key.ask = action.ask;
    return key;
  }
  const auto placed = asks_of_placed_.find(key.pod);
  key.ask = placed == asks_of_placed_.end() ? fmt::format("Pod {}", key.pod) : placed->second;
  return key;
}

void judge_causes(Hearing& hearing, const HeardAsk& ask) {
  const auto report = [&](const HeardVictim& victim, std::string_view text) {
    hearing.breaches.add(9, ask.text, fmt::format("{} {}", victim.text, text));
  };
  const Cluster& cluster = hearing.cluster;
  for (const HeardVictim& victim : ask.victims) {
    const PlanVictim& entry = *victim.entry;
    if (entry.reason.empty()) report(victim, "has no reason");
    if (entry.cause_for != ask.text) report(victim, "does not say for whom it leaves");
    if (entry.cause_rule.empty()) report(victim, "does not say under which rule it leaves");
    if (entry.cause_alternative.empty()) report(victim, "does not say what it was compared with");
    if (entry.cause_key.empty()) report(victim, "does not say what decided");
    if (entry.uid != cluster.pods().uid[victim.pod.value]) report(victim, "has another uid");
    const NodeIndex node = cluster.pods().node[victim.pod];
    if (entry.node != cluster.text(cluster.nodes().name[node])) {
      report(victim, "runs on another node");
    }
  }
}

void judge_score(Hearing& hearing, const HeardAsk& ask, const EvictionRules& rules) {
  if (ask.victims.empty()) return;
  const auto count = static_cast<std::int64_t>(ask.entry->victims.size());
  std::int64_t highest = priority_min;
  for (const HeardVictim& victim : ask.victims) {
    highest = std::max<std::int64_t>(highest, rules.priority(victim.pod));
  }
  const bool by_unit = hearing.configuration.workload.score_priority == ScorePriority::unit;
  for (const ScoreTerm& term : ask.entry->score) {
    std::int64_t truth = term.value;
    if (term.key == ScoreKey::victims) truth = count;
    if (term.key == ScoreKey::highest_priority && by_unit) truth = highest;
    if (term.value == truth) continue;
    hearing.breaches.add(9, ask.text,
                         fmt::format("its score says {} {}, and it is {}", choice_name(term.key),
                                     term.value, truth));
  }
}

}  // namespace

void judge_document(Hearing& hearing) {
  const EvictionRules rules(hearing.cluster, hearing.configuration, hearing.plan.now);
  for (const HeardAsk& ask : hearing.asks) {
    judge_causes(hearing, ask);
    judge_score(hearing, ask, rules);
  }
  ActionJudge(hearing).judge();
}

}  // namespace makeway
