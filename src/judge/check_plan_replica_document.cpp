// What a plan says about replicas: causes, commits, actions, and the status it leaves (law 9).
//
// The net schedule is the sum of the plan's actions, and a deployment that loses replicas has it in
// its status (law 9).
#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <tuple>

#include "judge/check_plan_replicas.hpp"
#include "model/object_text.hpp"
#include "model/planes.hpp"

namespace makeway {

namespace {

class ReplicaDocumentJudge {
 public:
  explicit ReplicaDocumentJudge(ReplicaHearing& court) : court_(court), fleet_(court.fleet) {}

  void judge() {
    for (const HeardReplicaAsk& ask : court_.asks) {
      judge_ask(ask);
      for (const PlanScaleUp& item : ask.replicas->scale_ups) judge_scale_up(ask, item);
      for (const HeardReplicaClaim& claim : ask.claims) judge_claim(ask, claim);
      judge_status(ask);
      judge_missed(ask);
    }
    judge_steps();
    judge_actions();
  }

 private:
  template <class... Args>
  void report(const HeardReplicaAsk& ask, fmt::format_string<Args...> text, Args&&... args) {
    court_.report(9, ask, text, std::forward<Args>(args)...);
  }

  void judge_ask(const HeardReplicaAsk& ask) {
    const PlanReplicas& said = *ask.replicas;
    if (ask.entry->priority != ask.priority) report(ask, "its priority is another");
    if (ask.entry->reason.empty()) report(ask, "it has no reason");
    if (said.unmet != ask.schedule->unmet) report(ask, "its unmet replicas are others");
    std::int64_t given = 0;
    for (const PlanScaleUp& item : said.scale_ups) {
      given += item.committed_after - item.committed_before;
    }
    const std::int64_t found = given + std::ssize(said.claims);
    const bool all_reported =
        said.out_for.empty() ? found + said.without == said.unmet : found <= said.unmet;
    if (!all_reported || said.without < 0) {
      report(ask, "of {} unmet replicas {} are given, {} claimed, {} without", said.unmet, given,
             said.claims.size(), said.without);
    }
    judge_outcome(ask, given);
  }

  void judge_outcome(const HeardReplicaAsk& ask, std::int64_t given) {
    const Outcome outcome = ask.entry->outcome;
    const bool takes = scaled_down(*ask.replicas) > 0;
    const bool open = given < ask.replicas->unmet;
    const bool claims = !ask.replicas->claims.empty();
    const bool refused = outcome == Outcome::infeasible || outcome == Outcome::not_found;
    const bool agrees = (outcome == Outcome::preempts) == takes &&
                        (outcome == Outcome::fits) == !open && (!refused || !claims);
    if (!agrees) report(ask, "its outcome is not {}", choice_name(outcome));
  }

  void judge_scale_up(const HeardReplicaAsk& ask, const PlanScaleUp& item) {
    const std::vector<ReplicaPlane>& planes = ask.schedule->planes;
    const auto plane = std::ranges::find(planes, item.plane, &ReplicaPlane::name);
    if (plane == planes.end()) return report(ask, "{} is no plane of it", item.plane);
    std::int64_t expected = 0;
    for (const PlanExpectedNode& node : item.expected) expected += node.replicas;
    const std::int64_t more = item.committed_after - item.committed_before;
    const bool true_to_it = item.committed_before == plane->committed && more > 0 &&
                            more == expected && item.plane_score == plane->score;
    if (!true_to_it) {
      report(ask, "its scale-up in plane {} is not from {}, or not by {}", item.plane,
             plane->committed, expected);
    }
  }

  void judge_claim(const HeardReplicaAsk& ask, const HeardReplicaClaim& claim) {
    const std::vector<ReplicaClaim>& known = ask.schedule->status.claims;
    const bool was_there = std::ranges::any_of(known, [&](const ReplicaClaim& each) {
      return each.node == claim.entry->node && each.plane == claim.entry->plane &&
             each.since == claim.entry->since;
    });
    if (claim.entry->kept ? !was_there : claim.entry->since != court_.hearing.plan.now) {
      report(ask, "its claim of node {} is not that old", claim.entry->node);
    }
    const auto plane =
        std::ranges::find(ask.schedule->planes, claim.entry->plane, &ReplicaPlane::name);
    const auto amount =
        std::ranges::find(ask.schedule->requests, fleet_.settings().resource, &Amount::resource);
    const std::int64_t needed = amount == ask.schedule->requests.end() ? 0 : amount->amount;
    if (claim.entry->needed != needed || claim.entry->plane_score != plane->score) {
      report(ask, "its claim of node {} says what it needs wrongly", claim.entry->node);
    }
    for (const HeardReplicaVictim& victim : claim.victims) judge_victim(ask, victim);
  }

  void judge_victim(const HeardReplicaAsk& ask, const HeardReplicaVictim& victim) {
    const PlanReplicaVictim& said = *victim.entry;
    const ReplicaSchedule* const schedule = fleet_.schedule_of(victim.pod);
    if (said.reason.empty()) report(ask, "{} has no reason", victim.text);
    if (said.cause_rule.empty()) report(ask, "{} leaves under no rule", victim.text);
    if (said.cause_alternative.empty()) {
      report(ask, "{} does not say what it was compared with", victim.text);
    }
    if (said.cause_key.empty()) report(ask, "{} does not say what decided", victim.text);
    const bool is_it = said.uid == court_.cluster().pods().uid[victim.pod.value] &&
                       said.deployment == (schedule == nullptr ? "" : schedule->deployment) &&
                       said.priority == fleet_.priority(victim.pod) &&
                       said.amount == fleet_.amount(victim.pod);
    if (!is_it) report(ask, "{} is another pod than it says", victim.text);
    const bool step = said.action == ReplicaAction::scale_down;
    if (said.committed_before.has_value() != step || said.committed_after.has_value() != step) {
      report(ask, "{} says nothing, or too much, about its commit", victim.text);
    }
  }

  // ---- Commits ----------------------------------------------------------------------------------

  struct Step {
    std::int64_t before = 0;
    std::int64_t after = 0;

    friend auto operator<=>(const Step&, const Step&) = default;
  };
  /// Namespace, deployment, plane.
  using ShareName = std::tuple<std::string, std::string, std::string>;

  static ShareName name_of(const HeardShare& share) {
    return {share.schedule->namespace_name, share.schedule->deployment, std::string(share.plane)};
  }

  /// One after the other, from the commit of today down.
  static bool is_chain(std::vector<Step> steps, std::int64_t from, std::int64_t count) {
    std::ranges::sort(steps, std::greater{});
    std::int64_t at = from;
    for (const Step& step : steps) {
      if (step.before != at || step.after >= at) return false;
      at = step.after;
    }
    return at == from - count;
  }

  void judge_steps() {
    std::map<const HeardShare*, std::vector<Step>> steps;
    for (const HeardReplicaAsk& ask : court_.asks) {
      for (const HeardReplicaClaim& claim : ask.claims) {
        for (const HeardReplicaVictim& victim : claim.victims) {
          if (victim.entry->action != ReplicaAction::scale_down) continue;
          steps[fleet_.share_of(victim.pod)].push_back(
              {.before = victim.entry->committed_before.value_or(-1),
               .after = victim.entry->committed_after.value_or(-1)});
        }
      }
    }
    for (const auto& [share, found] : steps) {
      if (share == nullptr || is_chain(found, share->commit, std::ssize(found))) continue;
      court_.hearing.breaches.add(
          9,
          fmt::format("ReplicaSchedule {}/{}", share->schedule->namespace_name,
                      share->schedule->name),
          fmt::format("its commit in plane {} is not lowered step by step from {}", share->plane,
                      share->commit),
          court_.takers_of(*share));
    }
  }

  // ---- Actions ----------------------------------------------------------------------------------

  void judge_actions() {
    std::map<ShareName, std::vector<Step>> down;
    std::map<ShareName, Step> up;
    std::map<ObjectKeyView, int> forced;
    for (const PlanAction& action : court_.hearing.plan.actions) {
      if (action.type == ActionType::force_delete)
        ++forced[{action.namespace_name, action.name, action.plane}];
      if (!action.scale) continue;
      const ShareName name{action.namespace_name, action.name, action.scale->plane};
      const Step step{.before = action.scale->committed_before,
                      .after = action.scale->committed_after};
      if (action.type == ActionType::scale_down) down[name].push_back(step);
      if (action.type == ActionType::scale_up && !up.try_emplace(name, step).second) {
        complain(name, "is scaled up twice");
      }
    }
    judge_forced(std::move(forced));
    for (const auto& [share, count] : court_.steps) {
      if (share == nullptr) continue;
      const auto found = down.extract(name_of(*share));
      if (count == 0 || (found && is_chain(found.mapped(), share->commit, count))) continue;
      complain(name_of(*share), "is not scaled down by what its victims say");
    }
    for (const auto& [name, steps] : down) complain(name, "is scaled down without a victim");
    for (const HeardReplicaAsk& ask : court_.asks) {
      for (const PlanScaleUp& item : ask.replicas->scale_ups) {
        const auto found =
            up.extract({ask.schedule->namespace_name, ask.schedule->deployment, item.plane});
        const Step step{.before = item.committed_before, .after = item.committed_after};
        if (!found || found.mapped() != step) report(ask, "an action for its scale-up is missing");
      }
    }
    for (const auto& [name, step] : up) complain(name, "is scaled up without an ask");
  }

  void judge_forced(std::map<ObjectKeyView, int> forced) {
    for (const HeardReplicaAsk& ask : court_.asks) {
      for (const HeardReplicaClaim& claim : ask.claims) {
        for (const HeardReplicaVictim& victim : claim.victims) {
          if (victim.entry->action != ReplicaAction::force_delete) continue;
          if (--forced[{victim.entry->namespace_name, victim.entry->name, victim.entry->plane}] ==
              0)
            continue;
          report(ask, "{} is not force-deleted once", victim.text);
        }
      }
    }
    for (const auto& [pod, count] : forced) {
      if (count <= 0) continue;
      court_.hearing.breaches.add(9, object_text("Pod", pod),
                                  "it is force-deleted without a claim");
    }
  }

  void complain(const ShareName& name, std::string_view text) {
    const auto& [space, deployment, plane] = name;
    std::vector<AskName> asks;
    for (const HeardReplicaAsk& ask : court_.asks) {
      const bool own =
          ask.schedule->namespace_name == space && ask.schedule->deployment == deployment;
      if (own) asks.push_back(ask_name_of(*ask.entry));
    }
    for (const auto& [key, share] : fleet_.shares()) {
      if (name_of(share) != name) continue;
      for (AskName& taker : court_.takers_of(share)) asks.push_back(std::move(taker));
    }
    court_.hearing.breaches.add(9, fmt::format("Deployment {}/{}", space, deployment),
                                fmt::format("in plane {} it {}", plane, text), std::move(asks));
  }

  // ---- The status that is left ------------------------------------------------------------------

  static bool same_pod(const ClaimedVictim& a, const PlanReplicaVictim& b) {
    return a.namespace_name == b.namespace_name && a.name == b.name;
  }

  bool remembers(const ReplicaClaim& claim, const PlanReplicaClaim& said) const {
    if (claim.node != said.node || claim.plane != said.plane || claim.since != said.since) {
      return false;
    }
    return std::ranges::all_of(said.victims, [&](const PlanReplicaVictim& victim) {
      return std::ranges::any_of(claim.victims, [&](const ClaimedVictim& each) {
        if (!same_pod(each, victim)) return false;
        if (victim.action == ReplicaAction::scale_down) {
          return each.committed == victim.committed_after;
        }
        const bool forced = victim.action == ReplicaAction::force_delete;
        return !forced || each.force_deleted == court_.hearing.plan.now;
      });
    });
  }

  /// The next cycle finds the claims of this one, and no others.
  void judge_status(const HeardReplicaAsk& ask) {
    const std::vector<ReplicaClaim>& next = court_.next_status(*ask.schedule).claims;
    const bool complete =
        std::ranges::all_of(ask.replicas->claims, [&](const PlanReplicaClaim& said) {
          return std::ranges::any_of(
              next, [&](const ReplicaClaim& claim) { return remembers(claim, said); });
        });
    if (complete && next.size() == ask.replicas->claims.size()) return;
    report(ask, "its next status does not have the claims of the plan");
  }

  /// Whether the list has it, with this commit or a lower one.
  static bool listed(const std::vector<MissedVictim>& list, const MissedVictim& item) {
    return std::ranges::any_of(list, [&](const MissedVictim& each) {
      return each.plane == item.plane && each.node == item.node &&
             each.namespace_name == item.namespace_name && each.deployment == item.deployment &&
             each.committed <= item.committed;
    });
  }

  /// What was missed is remembered, and nothing else is.
  void judge_missed(const HeardReplicaAsk& ask) {
    const ReplicaStatus& before = ask.schedule->status;
    for (const MissedVictim& item : before.missed) {
      if (!listed(*ask.missed, item)) report(ask, "its next status omits a pod that it has missed");
    }
    for (const MissedVictim& item : *ask.missed) {
      const auto is_it = [&](const ClaimedVictim& victim) {
        return victim.committed && victim.namespace_name == item.namespace_name &&
               victim.deployment == item.deployment;
      };
      const bool true_to_it = listed(before.missed, item) ||
                              std::ranges::any_of(before.claims, [&](const ReplicaClaim& claim) {
                                return claim.node == item.node && claim.plane == item.plane &&
                                       std::ranges::any_of(claim.victims, is_it);
                              });
      if (!true_to_it) report(ask, "it has missed no pod on node {}", item.node);
    }
    for (const ReplicaClaim& claim : before.claims) {
      for (const ClaimedVictim& victim : claim.victims) {
        const HeardShare* const share = spared(ask, claim, victim);
        if (share == nullptr) continue;
        const bool recorded =
            listed(*ask.missed, {.plane = claim.plane,
                                 .node = claim.node,
                                 .namespace_name = share->schedule->namespace_name,
                                 .deployment = share->schedule->deployment,
                                 .committed = share->commit});
        if (recorded) continue;
        report(ask, "its next status does not say that {}/{} was spared", victim.namespace_name,
               victim.name);
      }
    }
  }

  /// Its commit is lowered, and it is an ordinary pod again: its share. Null: it is not like that.
  const HeardShare* spared(const HeardReplicaAsk& ask, const ReplicaClaim& claim,
                           const ClaimedVictim& victim) const {
    const auto pod =
        find_pod_in_plane(court_.cluster(), claim.plane, victim.namespace_name, victim.name);
    if (!victim.committed || !pod) return nullptr;
    const NodeIndex node = court_.cluster().pods().node[*pod];
    const bool same = court_.cluster().pods().uid[pod->value] == victim.uid && node.exists() &&
                      court_.node_name(node) == claim.node && fleet_.plane_of(node) == claim.plane;
    const bool ordinary = same && fleet_.class_of(*pod) == ReplicaClass::committed &&
                          fleet_.priority(*pod) < ask.priority && !fleet_.is_protected(*pod) &&
                          !fleet_.leaves_whole_group(*pod);
    // Labelled anew, it is of another deployment, whose commit was not lowered.
    const bool own = ordinary && fleet_.schedule_of(*pod)->deployment == victim.deployment;
    const HeardShare* const share = own ? fleet_.share_of(*pod) : nullptr;
    return share == nullptr || has_open_steps(*share) ? nullptr : share;
  }

  /// Some claim waits for the commit to be lowered.
  bool has_open_steps(const HeardShare& share) const {
    const auto waits = [&](const ClaimedVictim& victim) {
      return victim.committed && *victim.committed < share.commit &&
             victim.namespace_name == share.schedule->namespace_name &&
             victim.deployment == share.schedule->deployment;
    };
    for (const auto& [name, schedule] : court_.cluster().own<ReplicaSchedule>()) {
      for (const ReplicaClaim& claim : schedule.status.claims) {
        if (claim.plane == share.plane && std::ranges::any_of(claim.victims, waits)) return true;
      }
    }
    return false;
  }

  ReplicaHearing& court_;
  const FleetReading& fleet_;
};

}  // namespace

void judge_replica_document(ReplicaHearing& court) { ReplicaDocumentJudge(court).judge(); }

// ---- The net schedule ---------------------------------------------------------------------------

namespace {

/// Namespace, deployment, plane.
using ShareKey = std::tuple<std::string, std::string, std::string>;

struct SumOfSteps {
  std::int64_t most = 0;
  std::int64_t least = 0;
  bool down = false;
  bool up = false;
  std::set<std::string> asks;
};

std::map<ShareKey, SumOfSteps> sums_of(const Plan& plan) {
  std::map<ShareKey, SumOfSteps> sums;
  for (const PlanAction& action : plan.actions) {
    if (!action.scale) continue;
    const auto [low, high] =
        std::minmax(action.scale->committed_before, action.scale->committed_after);
    const ShareKey key{action.namespace_name, action.name, action.scale->plane};
    const auto [at, is_new] = sums.try_emplace(key, SumOfSteps{.most = high, .least = low});
    at->second.most = std::max(at->second.most, high);
    at->second.least = std::min(at->second.least, low);
    (action.type == ActionType::scale_down ? at->second.down : at->second.up) = true;
    at->second.asks.insert(ref_text(action.ask));
  }
  return sums;
}

bool is_sum(const PlanNetScale& said, const SumOfSteps& sum) {
  if (sum.down && sum.up) return true;  // Law 8 has more to say about that.
  const std::int64_t before = sum.down ? sum.most : sum.least;
  const std::int64_t after = sum.down ? sum.least : sum.most;
  return said.committed_before == before && said.committed_after == after &&
         std::set<std::string>(said.asks.begin(), said.asks.end()) == sum.asks &&
         said.asks.size() == sum.asks.size();
}

std::string object_of(const PlanNetSchedule& net) {
  return fmt::format("ReplicaSchedule {}/{}", net.namespace_name, net.name);
}

/// What it has unmet afterwards stands in its condition.
void judge_reported(Hearing& hearing, const PlanNetSchedule& net) {
  const std::string change = fmt::format("unmet {} -> {}", net.unmet_before, net.unmet_after);
  const bool reported = std::ranges::any_of(hearing.plan.status, [&](const PlanStatus& status) {
    return ref_and_plane_text(status.object) == object_of(net) &&
           status.condition == "ReplicasMet" && !status.value && status.message.contains(change);
  });
  if (!reported) hearing.breaches.add(9, object_of(net), "its status does not say what it loses");
}

void judge_entry(Hearing& hearing, const PlanNetSchedule& net,
                 std::map<ShareKey, SumOfSteps>& sums) {
  const auto& schedules = hearing.cluster.own<ReplicaSchedule>();
  const auto found = schedules.find({net.namespace_name, net.name});
  if (found == schedules.end() || found->second.deployment != net.deployment) {
    return hearing.breaches.add(9, object_of(net), "the net schedule names another deployment");
  }
  std::int64_t unmet = found->second.unmet;
  bool loses = false;
  for (const PlanNetScale& scale : net.planes) {
    const auto sum = sums.extract({net.namespace_name, net.deployment, scale.plane});
    if (!sum || !is_sum(scale, sum.mapped())) {
      hearing.breaches.add(9, object_of(net),
                           "in plane {} the net schedule is not the sum of its steps", scale.plane);
    }
    unmet += scale.committed_before - scale.committed_after;
    loses = loses || scale.committed_after < scale.committed_before;
  }
  if (net.unmet_before != found->second.unmet || net.unmet_after != unmet) {
    hearing.breaches.add(9, object_of(net), "its unmet replicas do not follow from what it loses");
  }
  if (loses) judge_reported(hearing, net);
}

}  // namespace

void judge_net_schedule(Hearing& hearing) {
  std::map<ShareKey, SumOfSteps> sums = sums_of(hearing.plan);
  for (const PlanNetSchedule& net : hearing.plan.net_schedule) judge_entry(hearing, net, sums);
  for (const auto& [key, sum] : sums) {
    const auto& [space, deployment, plane] = key;
    hearing.breaches.add(9, fmt::format("Deployment {}/{}", space, deployment),
                         "it is scaled in plane {}, and the net schedule does not say "
                         "so",
                         plane);
  }
}

}  // namespace makeway
