// Hostile tenants (SPEC section 1, law 13, and section 10) over random worlds: what is wrong with
// one object stops no other object and protects none, and marks that do not count change nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "codec/dump.hpp"
#include "codec/plan_codec.hpp"
#include "codec/presets.hpp"
#include "judge/check_plan.hpp"
#include "model/normalize.hpp"
#include "model/trust.hpp"
#include "model/validation/quarantine.hpp"
#include "policies/decide.hpp"
#include "support/property.hpp"
#include "support/random_planning.hpp"
#include "support/random_world.hpp"

namespace makeway::trust_properties {
namespace {

std::string decisions(const Cluster& cluster, const Configuration& configuration) {
  const Decision decision =
      decide(cluster, configuration, {.now = planning_now, .preset = "hostile", .explain = false});
  if (!decision.plan) return "no plan";
  std::string text;
  for (const LawBreach& breach : check_plan(cluster, configuration, *decision.plan)) {
    text += breach.ask + " breaks a law: " + breach.text + "\n";
  }
  EXPECT_EQ(text, "") << dump(cluster, DumpFormat::yaml);
  return plan_text_json(*decision.plan, PlanDetail::brief);
}

/// What each node holds, and which pods are bound.
std::string held(const Cluster& cluster) {
  std::string text;
  for (const PodIndex pod : cluster.pods_by_name()) {
    if (!cluster.pods().node[pod].exists()) continue;
    const std::string_view node = cluster.text(cluster.nodes().name[cluster.pods().node[pod]]);
    text += cluster.pod_key(pod) + " on " + std::string(node) + "\n";
  }
  for (const NodeIndex node : cluster.nodes_by_name()) {
    for (const std::int64_t amount : cluster.order().used(node)) {
      text += std::to_string(amount) + " ";
    }
    text += "\n";
  }
  return text;
}

/// Errors that an API server accepts.
void damage(std::vector<Change>& objects, Prng& random) {
  for (Change& object : objects) {
    if (!random.chance(15)) continue;
    if (Pod* const pod = std::get_if<Pod>(&object)) {
      if (random.chance(50)) {
        pod->priority.reset();
        pod->priority_class = "golden";
      } else {
        pod->notes.preemption_priority_class = "leaden";
      }
    } else if (PodGroup* const group = std::get_if<PodGroup>(&object)) {
      (random.chance(50) ? group->priority.preemption_priority_class
                         : group->priority.priority_class) = "golden";
      group->priority.priority.reset();
    } else if (Queue* const queue = std::get_if<Queue>(&object)) {
      queue->parent = random.chance(50) ? queue->name : "missing";
    } else if (Session* const session = std::get_if<Session>(&object)) {
      (random.chance(50) ? session->resource_group : session->partition) = "missing";
    } else if (ReplicaSchedule* const schedule = std::get_if<ReplicaSchedule>(&object)) {
      schedule->priority.reset();
      schedule->priority_class = "golden";
    }
  }
}

TEST(QuarantineProperties, WhatIsWrongStopsNothingAndHidesNothing) {  // law 13
  for_each_case("quarantine: every world has a lawful plan", [](Prng& random) {
    RandomWorldCase item = random_world_case(random);
    damage(item.objects, random);
    Cluster cluster = cluster_of(item.objects);
    const std::string before = held(cluster);
    Quarantine quarantine;
    quarantine_errors(cluster, quarantine);
    EXPECT_EQ(held(cluster), before) << dump(cluster_of(item.objects), DumpFormat::yaml);
    const Configuration configuration = *load_preset(item.preset);
    const std::string plan = decisions(cluster, configuration);
    EXPECT_EQ(decisions(cluster.compacted(), configuration), plan) << "the mended store is wrong";
  });
}

constexpr std::string_view highest_class = "highest";
constexpr std::int32_t class_value_max = 1'000'000'000;

/// Marks of a tenant that must gain nothing; `pod` is as it would be without them.
void mark(Pod& pod, Prng& random) {
  if (random.chance(40)) pod.opted_out = true;
  if (random.chance(40)) pod.is_protected = true;
  if (random.chance(40)) pod.is_owner = true;
  if (random.chance(40)) pod.notes.evicted_for = "Pod other/ask";
  if (random.chance(40)) pod.notes.plan = "0123456789abcdef";
  const bool silent = !pod.notes.preemption_cost_seconds && !pod.notes.last_checkpoint;
  if (random.chance(40) && silent && pod.group.empty()) {
    pod.notes.preemption_cost_seconds = 1'000'000'000;
  }
  // Where it runs anyway: of a pod that is pending, or will be made again, the node is a lawful
  // request.
  const bool comes_back = std::ranges::any_of(pod.owners, &OwnerReference::controller);
  if (random.chance(40) && !pod.node.empty() && !comes_back) pod.notes.required_node = pod.node;
  if (random.chance(40) && !pod.node.empty() && pod.owners.empty()) {
    pod.owners.push_back({.kind = "DaemonSet", .name = "forged", .uid = {}, .controller = false});
  }
  if (random.chance(40)) {
    pod.owners.push_back({.kind = "Pod",
                          .name = fmt::format("pod-{}", random.below(8)),
                          .uid = {},
                          .controller = false});
  }
  if (random.chance(40) && pod.notes.preemption_priority_class.empty() && pod.group.empty()) {
    pod.notes.preemption_priority_class = highest_class;
  }
  normalize(pod);
}

/// Sessions that say that they fill a node, of a group that is not there or has not the node.
void claim_nodes(std::vector<Change>& objects, Prng& random) {
  std::vector<std::string> nodes;
  for (const Change& object : objects) {
    if (const Node* const node = std::get_if<Node>(&object)) nodes.push_back(node->name);
  }
  if (nodes.empty()) return;
  for (std::uint64_t number = random.below(3); number > 0; --number) {
    Session session{.namespace_name = "tenant",
                    .name = fmt::format("claim-{}", number),
                    .resource_group = "missing",
                    .kernels = {{.name = "k", .node = random.pick(nodes)}}};
    session.kernels.front().requests = {{.resource = "cpu", .amount = 1'000'000}};
    session.status.phase = SessionPhase::running;
    objects.emplace_back(std::move(session));
  }
}

TEST(TrustProperties, MarksOfTenantsChangeNothing) {  // section 10
  for_each_case("trust: the plan is the one without the marks", [](Prng& random) {
    const RandomWorldCase item = random_world_case(random);
    Configuration configuration = *load_preset(item.preset);
    configuration.trust.mode = TrustMode::cluster;
    configuration.trust.namespaces.clear();
    std::vector<Change> honest = item.objects;
    honest.emplace_back(
        PriorityClass{.name = std::string(highest_class), .value = class_value_max});
    std::vector<Change> marked = honest;
    for (Change& object : marked) {
      Pod* const pod = std::get_if<Pod>(&object);
      if (pod != nullptr && random.chance(40)) mark(*pod, random);
    }
    claim_nodes(marked, random);
    Cluster plain = cluster_of(honest);
    Cluster tried = cluster_of(marked);
    for (Cluster* const cluster : {&plain, &tried}) {
      Quarantine quarantine;
      quarantine_errors(*cluster, quarantine);
      apply_trust(*cluster, configuration, {.has_daemon_set = {}, .now = planning_now});
      const std::string once = dump(*cluster, DumpFormat::yaml);
      apply_trust(*cluster, configuration, {.has_daemon_set = {}, .now = planning_now});
      EXPECT_EQ(dump(*cluster, DumpFormat::yaml), once) << "not the same the second time";
    }
    const std::string plan = decisions(plain, configuration);
    EXPECT_EQ(decisions(tried, configuration), plan) << dump(tried, DumpFormat::yaml);
    EXPECT_EQ(decisions(tried.compacted(), configuration), plan) << "the mended store is wrong";
  });
}

}  // namespace
}  // namespace makeway::trust_properties
