#include "judge/check_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "judge/check_plan_hearing.hpp"
#include "judge/naive_queues.hpp"

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
                                 const NaiveQueues& queues, const PlanAsk& entry) {
  if (entry.kind == AskKind::session) return find_session(cluster, entry);
  HeardAsk heard{.entry = &entry, .text = ask_text(entry)};
  if (entry.kind == AskKind::queue) return find_queue(queues, std::move(heard));
  if (entry.kind == AskKind::pod) {
    const std::optional<PodIndex> pod =
        cluster.find_pod(entry.namespace_name, entry.name, entry.plane);
    if (!pod || cluster.pods().node[*pod].exists()) return std::nullopt;
    heard.unit = cluster.pods().unit[*pod];
    heard.pods = {*pod};
    const bool alone = cluster.units()[heard.unit].kind == UnitKind::pod;
    if (alone && configuration.required_node.enabled) heard.pinned_to = pinned_to(cluster, *pod);
  } else {
    const std::optional<GroupIndex> group =
        cluster.find_group(entry.namespace_name, entry.name, entry.plane);
    if (!group) return std::nullopt;
    heard.unit = cluster.groups()[*group].unit;
    heard.pods = cluster.groups()[*group].members;
  }
  heard.priority = cluster.units()[heard.unit].scheduling_priority;
  return heard;
}

void find_victims(Hearing& hearing, HeardAsk& heard) {
  const Cluster& cluster = hearing.cluster;
  std::set<PodIndex> known;
  for (const PlanVictim& entry : heard.entry->victims) {
    HeardVictim victim{.entry = &entry,
                       .text = fmt::format("victim {}/{}", entry.namespace_name, entry.name)};
    const std::optional<PodIndex> pod =
        cluster.find_pod(entry.namespace_name, entry.name, entry.plane);
    if (!pod || !cluster.pods().node[*pod].exists()) {
      hearing.breaches.add(3, heard.text, victim.text + " is no bound pod");
    } else if (!known.insert(*pod).second) {
      hearing.breaches.add(3, heard.text, victim.text + " is listed twice");
    } else {
      victim.pod = *pod;
      heard.victims.push_back(std::move(victim));
    }
  }
}

}  // namespace

std::vector<LawBreach> check_plan(const Cluster& cluster, const Configuration& configuration,
                                  const Plan& plan) {
  const NaiveQueues queues(cluster, configuration, plan.now);
  Hearing hearing{.cluster = cluster,
                  .configuration = configuration,
                  .plan = plan,
                  .asks = {},
                  .breaches = Breaches(configuration),
                  .queues = &queues};
  for (const PlanAsk& entry : plan.asks) {
    if (entry.replicas) continue;  // No pods ask; SPEC section 4 has laws of its own.
    std::optional<HeardAsk> heard = find_ask(cluster, configuration, queues, entry);
    if (!heard) {
      hearing.breaches.add(3, ask_text(entry), "there is no such pending unit");
      continue;
    }
    if (!heard->session) find_victims(hearing, *heard);
    hearing.asks.push_back(std::move(*heard));
  }
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
