#include "judge/check_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "judge/check_plan_hearing.hpp"
#include "judge/naive_queues.hpp"
#include "judge/naive_regimes.hpp"
#include "model/object_text.hpp"
#include "model/profiles.hpp"

namespace makeway {
namespace {

std::optional<HeardAsk> find_queue(const NaiveQueues& queues, HeardAsk heard) {
  const std::size_t at = queues.find(heard.entry->name);
  if (at == NaiveQueues::none || !queues.queues[at].leaf) return std::nullopt;
  heard.priority = queues.queues[at].priority;
  return heard;
}

/// The unit that asks; nothing when it is not there or not pending.
std::optional<HeardAsk> find_ask(const Cluster& cluster, const Configuration& configuration,
                                 const NaiveQueues& queues, const NaiveRegimes& regimes,
                                 const PlanAsk& entry) {
  for (const OwnRules* const own : all_own_rules) {
    if (own->kind == entry.kind) return own->find(cluster, entry);
  }
  HeardAsk heard{.entry = &entry, .text = ask_text(entry)};
  if (entry.kind == AskKind::queue) return find_queue(queues, std::move(heard));
  if (entry.kind == AskKind::pod) {
    const std::optional<PodIndex> pod =
        cluster.find_pod(entry.namespace_name, entry.name, entry.plane);
    if (!pod || cluster.pods().node[*pod].exists()) return std::nullopt;
    if (regimes.of_pod(*pod) != Regime::pods) return std::nullopt;
    heard.unit = cluster.pods().unit[*pod];
    heard.pods = {*pod};
    if (configuration.required_node.enabled) heard.pinned_to = pinned_to(cluster, *pod);
  } else {
    const std::optional<GroupIndex> group =
        cluster.find_group(entry.namespace_name, entry.name, entry.plane);
    if (!group) return std::nullopt;
    heard.unit = cluster.groups()[*group].unit;
    // Kubernetes places replicas, whatever group they are in.
    std::ranges::copy_if(
        cluster.groups()[*group].members, std::back_inserter(heard.pods), [&](PodIndex pod) {
          return cluster.pods().node[pod].exists() || regimes.of_pod(pod) == Regime::pods;
        });
  }
  heard.priority = cluster.units()[heard.unit].scheduling_priority;
  return heard;
}

/// Of its pod, or of the first pod of its group; asks of other kinds have none.
std::string_view scheduler_of_ask(const Cluster& cluster, const HeardAsk& heard) {
  if (heard.own_rules != nullptr || heard.entry->kind == AskKind::queue) return {};
  const Unit& unit = cluster.units()[heard.unit];
  if (unit.kind != UnitKind::group) return scheduler_of(cluster, heard.pods.front());
  std::optional<PodIndex> first;
  const auto name = [&](PodIndex pod) { return std::string_view(cluster.pods().name[pod.value]); };
  for (const PodIndex pod : cluster.groups()[unit.group].members) {
    if (!first || name(pod) < name(*first)) first = pod;
  }
  return first ? scheduler_of(cluster, *first) : std::string_view{};
}

/// SPEC section 8: the profile that is called like its scheduler.
void find_rules(const std::vector<ProfileRules>& profiles, Hearing& hearing, HeardAsk& heard) {
  heard.rules = &hearing.configuration;
  std::string_view named;
  if (!profiles.empty()) {
    const std::string_view scheduler = scheduler_of_ask(hearing.cluster, heard);
    for (const ProfileRules& profile : profiles) {
      if (profile.scheduler_name != scheduler) continue;
      heard.rules = &profile.configuration;
      named = profile.scheduler_name;
    }
  }
  if (heard.entry->profile == named) return;
  const auto shown = [](std::string_view name) { return name.empty() ? "none" : name; };
  hearing.breaches.add(9, heard.text, "its profile is {}, and that is said to be {}", shown(named),
                       shown(heard.entry->profile));
}

void find_victims(Hearing& hearing, HeardAsk& heard) {
  const Cluster& cluster = hearing.cluster;
  std::set<PodIndex> known;
  for (const PlanVictim& entry : heard.entry->victims) {
    HeardVictim victim{
        .entry = &entry,
        .text = "victim " + key_text({entry.namespace_name, entry.name, entry.plane})};
    const std::optional<PodIndex> pod =
        cluster.find_pod(entry.namespace_name, entry.name, entry.plane);
    if (!pod || !cluster.pods().node[*pod].exists()) {
      hearing.breaches.add(3, heard.text, "{} is no bound pod", victim.text);
    } else if (!known.insert(*pod).second) {
      hearing.breaches.add(3, heard.text, "{} is listed twice", victim.text);
    } else {
      victim.pod = *pod;
      heard.victims.push_back(std::move(victim));
    }
  }
}

/// Law 14: nothing of a plan that is withheld reaches the world.
std::vector<LawBreach> check_withheld(const Plan& plan) {
  const bool empty = plan.asks.empty() && plan.actions.empty() && plan.status.empty() &&
                     plan.net_schedule.empty() && plan.queues.empty() && plan.queue_moves.empty() &&
                     plan.replica_status.empty() && plan.cost == PlanCost{};
  if (empty) return {};
  return {{.law = 9, .text = "the plan is withheld, and not empty"}};
}

/// Law 14: an ask that is left out is not decided.
void judge_left_out(Hearing& hearing) {
  for (const PlanLeftOut& left : hearing.plan.left_out) {
    const AskName name{.kind = left.kind, .namespace_name = left.namespace_name, .name = left.name};
    const auto asks = std::ranges::find(hearing.plan.asks, name, ask_name_of);
    if (asks == hearing.plan.asks.end()) continue;
    hearing.breaches.add(9, ask_text(name), "it is left out, and the plan decides about it");
  }
}

}  // namespace

std::vector<AskName> Breaches::asks_called(const std::string& ask) const {
  for (const PlanAsk& entry : plan_.asks) {
    if (ask_text(entry) == ask) return {ask_name_of(entry)};
  }
  return {};
}

void Breaches::add(int law, const std::string& ask, std::string text, std::vector<AskName> asks) {
  if (waives(configuration_, static_cast<WaivedLaw>(law - 1))) return;
  breaches_.push_back({.law = law, .ask = ask, .text = std::move(text), .asks = std::move(asks)});
}

std::vector<LawBreach> check_plan(const Cluster& cluster, const Configuration& configuration,
                                  const Plan& plan) {
  if (!plan.withheld.empty()) return check_withheld(plan);
  const NaiveQueues queues(cluster, configuration, plan.now);
  const NaiveRegimes regimes(cluster, configuration);
  const std::vector<ProfileRules> profiles = differing_profiles(configuration);
  Hearing hearing{.cluster = cluster,
                  .configuration = configuration,
                  .plan = plan,
                  .breaches = Breaches(configuration, plan),
                  .queues = &queues,
                  .regimes = &regimes};
  for (const PlanAsk& entry : plan.asks) {
    if (entry.replicas) continue;  // No pods ask; SPEC section 4 has laws of its own.
    std::optional<HeardAsk> heard = find_ask(cluster, configuration, queues, regimes, entry);
    if (!heard) {
      hearing.breaches.add(3, ask_text(entry), "there is no such pending unit");
      continue;
    }
    find_rules(profiles, hearing, *heard);
    if (heard->own_rules == nullptr) find_victims(hearing, *heard);
    hearing.asks.push_back(std::move(*heard));
  }
  judge_left_out(hearing);
  judge_queues(hearing);
  judge_victims(hearing);
  judge_places(hearing);
  judge_document(hearing);
  judge_replicas(hearing);
  std::vector<LawBreach> breaches = hearing.breaches.take();
  std::ranges::stable_sort(breaches, {}, &LawBreach::law);
  return breaches;
}

}  // namespace makeway
