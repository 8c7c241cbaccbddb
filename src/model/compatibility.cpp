#include "model/compatibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/check.hpp"

namespace makeway {
namespace {

constexpr std::array kube_rules = {
    BundleRule{"protection.protectMirrorPods", "false", "mirror and static pods may be victims"},
    BundleRule{"protection.protectOptedOut", "false", "allow-preemption \"false\" is not read"},
    BundleRule{"protection.pinned", "false", "pods that can run on one node only may be victims"},
    BundleRule{"budgets.countedOver", "potential-victims",
               "budget violations are counted in one walk over all potential victims, before any "
               "is spared"},
    BundleRule{"engine.lawsWaived", "6,4-gangs", "plans may break law 6, and law 4 for pod groups"},
    BundleRule{"workload.honourBelowMinimum", "false", "below-minimum \"evict\" is not read"},
    BundleRule{"workload.protectMarkedMembers", "false",
               "the mark makeway.dev/protected is not read"},
    BundleRule{"workload.podsNotMatchingPriority", "refuse",
               "a group whose pods carry another priority is refused as an ask"},
    BundleRule{"workload.honourPreemptionPriority", "false", "preemption priorities are not read"},
    BundleRule{"workload.groupDomains", "cluster",
               "topology constraints of groups are not read: the cluster is one domain"},
    BundleRule{"workload.memberOrder", "creation",
               "members of a group are placed by priority, then creation"},
    BundleRule{"workload.placementGuide", "node-score",
               "places are chosen by nodeScore on a cluster without the potential victims"},
    BundleRule{"workload.placementsMax", "1", "one placement of a group is tried"},
    BundleRule{"workload.startFromSimplePlans", "false", "no other plans are compared with it"},
    BundleRule{"workload.prioritySearch", "none",
               "there is no search for the lowest priority that is enough"},
    BundleRule{"workload.victimChoice", "put-back",
               "the pods leave that cannot be put back, most important first"},
    BundleRule{"workload.putBack", "once", "victims that still fit are put back in one pass"},
    BundleRule{"workload.putBackScope", "ask-nodes",
               "a put-back is checked for the ask on its own nodes only"},
    BundleRule{"workload.leavingRoom", "victims",
               "pods that are leaving are candidates as any other"},
    BundleRule{"workload.nominationHeldBy", "preempted-pods",
               "an ask gets no new victims while a pod of lower priority that was preempted is "
               "still leaving its nominated node"},
    BundleRule{"workload.scorePriority", "pod", "the score adds up the pods' own priorities"},
};

constexpr std::array kep_rules = {
    BundleRule{"protection.pinned", "false", "pods that can run on one node only may be victims"},
    BundleRule{"workload.groupDomains", "cluster",
               "topology constraints of groups are not read: the cluster is one domain"},
    BundleRule{"workload.memberOrder", "creation",
               "members of a group are placed by priority, then creation"},
    BundleRule{"workload.placementGuide", "node-score",
               "places are chosen by nodeScore on a cluster without the potential victims"},
    BundleRule{"workload.placementsMax", "1", "one placement of a group is tried"},
    BundleRule{"workload.startFromSimplePlans", "false", "no other plans are compared with it"},
    BundleRule{"workload.prioritySearch", "bisect",
               "the lowest priority that is enough is found by halving"},
    BundleRule{"workload.importanceKeys", "priority,kind",
               "units are ordered by priority, then groups over pods"},
    BundleRule{"workload.victimChoice", "put-back",
               "the pods leave that cannot be put back, most important first"},
};

constexpr std::array yunikorn_rules = {
    BundleRule{"engine.lawsWaived", "4,6", "plans may break laws 4 and 6"},
    BundleRule{"workload.placementsMax", "8", "eight further placements of a group are tried"},
    BundleRule{"workload.victimChoice", "put-back",
               "the pods leave that cannot be put back, most important first"},
    BundleRule{"required_node.honourPreemptionPolicy", "false",
               "a pinned pod with preemptionPolicy Never evicts as well"},
    BundleRule{"required_node.pinnedBy", "affinity",
               "other pinned pods are recognised by their node affinity only"},
    BundleRule{"required_node.candidatesHold", "resource-name",
               "a candidate names a resource that the ask names, even with amount 0"},
    BundleRule{"required_node.classSteps", "together",
               "victims are looked for once in all classes, in their order"},
    BundleRule{"required_node.coverage", "own-sum",
               "victims are gathered until their own sum covers the whole request"},
    BundleRule{"required_node.refuseNegativeRoom", "true",
               "there are no victims when some resource of the node stays overcommitted"},
    BundleRule{"required_node.leavingRoom", "occupied",
               "for a pinned pod, pods that are leaving hold their room until they are gone, "
               "unless it was promised to it"},
    BundleRule{"required_node.putBack", "none", "victims that are not needed are not put back"},
};

constexpr std::array yunikorn_design_rules = {
    BundleRule{"engine.lawsWaived", "2,4", "plans may break laws 2 and 4"},
    BundleRule{"protection.protectMirrorPods", "false", "mirror and static pods may be victims"},
    BundleRule{"required_node.pinnedBy", "affinity,owner",
               "other pinned pods are recognised by node affinity or a DaemonSet that owns them"},
    BundleRule{"required_node.allowHigherPriority", "true",
               "pods of a higher priority than the pinned pod's may be victims"},
    BundleRule{"required_node.multipleOrder", "largest-first",
               "of several victims the largest go first, by the sum of amount x 1000 / request, "
               "whatever their priority"},
    BundleRule{"required_node.coverage", "own-sum",
               "several victims are gathered until their own sum covers the whole request"},
    BundleRule{"required_node.putBack", "none", "victims that are not needed are not put back"},
};

constexpr std::array kube_arbitrator_rules = {
    BundleRule{"engine.lawsWaived", "1-claims,4-claims",
               "plans may break laws 1 and 4 for what queues claim"},
    BundleRule{"queue.evictUpTo", "deserved",
               "a queue gets all that it deserves by eviction, rounding included"},
    BundleRule{"queue.excessLeaves", "always",
               "what a queue uses beyond its share leaves even when no queue claims it"},
};

constexpr std::array mcm_rules = {
    BundleRule{"workload.placementsMax", "8", "eight further placements of a group are tried"},
    BundleRule{"workload.victimChoice", "put-back",
               "the pods leave that cannot be put back, most important first"},
};

constexpr std::array backend_ai_rules = {
    BundleRule{"engine.lawsWaived", "4", "plans may break law 4"},
    BundleRule{"workload.placementsMax", "8", "eight further placements of a group are tried"},
    BundleRule{"workload.victimChoice", "put-back",
               "the pods leave that cannot be put back, most important first"},
    BundleRule{"session.preemptors", "head-only",
               "only the first pending session that does not fit may preempt"},
    BundleRule{"session.putBack", "none", "victims that are not needed are not put back"},
    BundleRule{"session.resumeBatch", "never", "a preempted batch session does not resume"},
    BundleRule{"session.resumeInference", "never", "a preempted inference session does not resume"},
    BundleRule{"session.resumeInteractive", "never",
               "a preempted interactive session does not resume"},
};

/// In the replays: nodes and victims as in the presets of these systems.
constexpr std::array kube_replay = {
    BundleRule{"workload.nodeScore", "spread", "the least allocated node is preferred"},
    BundleRule{"protection.protectSystemCritical", "false", "priorities alone protect"},
    BundleRule{"protection.namespaces", "", "no namespace is protected"},
    BundleRule{"protection.minimumRuntime", "0s", "young pods are not protected"},
    BundleRule{"protection.preemptOtherSchedulers", "false", "as in its preset"},
    BundleRule{"budgets.mode", "best-effort", "budgets are avoided"},
};
/// Which pods may leave stays as the cycle has it.
constexpr std::array kep_replay = {
    BundleRule{"workload.nodeScore", "spread", "the least allocated node is preferred"},
};

constexpr std::array all_bundles = {
    Bundle{Compatibility::makeway, "all laws hold; places are chosen for their victims", {}},
    Bundle{Compatibility::kube_1_37, "as kube-scheduler 1.37 preempts", kube_rules,
           BundleReplay{KnobScope::cluster, kube_replay}},
    Bundle{Compatibility::kep_5710, "as the early text of KEP-5710 has it", kep_rules,
           BundleReplay{KnobScope::ask, kep_replay}},
    Bundle{Compatibility::yunikorn, "as YuniKorn 1.8 preempts for pinned pods", yunikorn_rules},
    Bundle{Compatibility::yunikorn_design, "as the design text of YuniKorn's DaemonSets has it",
           yunikorn_design_rules},
    Bundle{Compatibility::kube_arbitrator, "as the design text of kube-arbitrator has it",
           kube_arbitrator_rules},
    Bundle{Compatibility::mcm_v1, "as the text Preemption V1 has it", mcm_rules},
    Bundle{Compatibility::backend_ai, "as the draft of Backend.AI has it", backend_ai_rules},
};
static_assert(all_bundles.size() == choice_names<Compatibility>.size());

void put(Configuration& configuration, const Knob* knob, const BundleRule& rule) {
  CHECK(knob != nullptr, rule.path);
  const Result<KnobValue> value = parse_value(*knob, rule.value);
  CHECK(value.has_value(), rule.path);
  knob->put(configuration, *value);
}

/// The defaults with the rules of the bundle.
Configuration with_rules_of(const Bundle& bundle) {
  Configuration configuration;
  configuration.compatibility = bundle.compatibility;
  for (const BundleRule& each : bundle.rules) put(configuration, find_rule(each.path), each);
  return configuration;
}

const Configuration& sample_of(Compatibility compatibility) {
  static const std::vector<Configuration> samples = [] {
    std::vector<Configuration> all;
    all.reserve(all_bundles.size());
    for (const Bundle& bundle : all_bundles) all.push_back(with_rules_of(bundle));
    return all;
  }();
  return samples.at(static_cast<std::size_t>(bundle_of(compatibility).compatibility));
}

}  // namespace

std::span<const Bundle> bundles() { return all_bundles; }

const Bundle& bundle_of(Compatibility compatibility) {
  const auto found = std::ranges::find(all_bundles, compatibility, &Bundle::compatibility);
  CHECK(found != all_bundles.end(), choice_name(compatibility));
  return *found;
}

const Knob* find_rule(std::string_view path) {
  const auto found = std::ranges::find(rules(), path, &Knob::path);
  return found == rules().end() ? nullptr : &*found;
}

void apply_compatibility(Configuration& configuration, Compatibility compatibility) {
  const Configuration& sample = sample_of(compatibility);
  configuration.compatibility = compatibility;
  for (const Knob& rule : rules()) rule.put(configuration, rule.get(sample));
}

Configuration replay_of(const Bundle& bundle, const Configuration& configuration) {
  Configuration replay = configuration;
  for (const BundleRule& each : bundle.rules) {
    const Knob* const rule = find_rule(each.path);
    CHECK(rule != nullptr, each.path);
    const bool counts = bundle.replay->scope == KnobScope::cluster || rule->scope == KnobScope::ask;
    if (counts) put(replay, rule, each);
  }
  for (const BundleRule& each : bundle.replay->knobs) put(replay, find_knob(each.path), each);
  return replay;
}

void keep_cluster_rules(Configuration& configuration, const Configuration& cluster) {
  for (const Knob& rule : rules()) {
    if (rule.scope == KnobScope::cluster) rule.put(configuration, rule.get(cluster));
  }
}

std::string rule_text(Compatibility compatibility, const Knob& rule) {
  return knob_text(sample_of(compatibility), rule);
}

std::string bundles_markdown() {
  std::string text = "| compatibility | rule |\n|---|---|\n";
  for (const Bundle& bundle : all_bundles) {
    text += fmt::format("| `{}` | {} |\n", choice_name(bundle.compatibility), bundle.summary);
    for (const BundleRule& rule : bundle.rules) text += fmt::format("| | {} |\n", rule.words);
  }
  return text;
}

}  // namespace makeway
