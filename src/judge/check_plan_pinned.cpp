// The judge's own reading of SPEC section 5: which pods are pinned, which may be evicted for one,
// and what a plan may say about its reservation.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "judge/check_plan_walk.hpp"

namespace makeway {
namespace {

bool listed(const Configuration& configuration, std::string_view line) {
  const std::vector<std::string>& lines = configuration.required_node.victim_classes;
  return std::ranges::find(lines, line) != lines.end();
}

/// Whether the line is of the form KIND:KEY=VALUE and the list has that pair.
bool pair_matches(std::string_view line, std::string_view kind, const Labels& pairs) {
  if (!line.starts_with(kind)) return false;
  return std::ranges::any_of(pairs, [&](const Label& pair) {
    return line == fmt::format("{}{}={}", kind, pair.key, pair.value);
  });
}

bool names_as_owner(const Cluster& cluster, PodIndex owner) {
  const PodColumns& pods = cluster.pods();
  for (std::uint32_t slot = 0; slot < pods.slots(); ++slot) {
    const PodIndex pod{slot};
    if (pod == owner || !pods.flags[pod].exists) continue;
    if (pods.namespace_name[pod] != pods.namespace_name[owner]) continue;
    if (pods.plane[pod] != pods.plane[owner]) continue;
    for (const OwnerReference& reference : cluster.owners(pods.owners[pod])) {
      const std::string_view uid = pods.uid[owner.value];
      const bool same_uid = reference.uid.empty() || uid.empty() || reference.uid == uid;
      if (reference.kind == "Pod" && reference.name == pods.name[owner.value] && same_uid) {
        return true;
      }
    }
  }
  return false;
}

std::string node_of_affinity(const Cluster& cluster, PodIndex pod) {
  std::set<std::string> names;
  for (const NodeSelectorTerm& term : cluster.shape(cluster.pods().shape[pod]).node_terms) {
    if (term.labels.empty() && term.fields.empty()) continue;
    std::string name;
    for (const Requirement& field : term.fields) {
      const bool one = field.operation == Operator::in && field.values.size() == 1;
      if (one && field.key == "metadata.name") name = field.values.front();
    }
    names.insert(name);
  }
  return names.size() == 1 ? *names.begin() : std::string{};
}

}  // namespace

std::string pinned_to(const Cluster& cluster, PodIndex pod) {
  if (cluster.units()[cluster.pods().unit[pod]].kind == UnitKind::group) return {};
  const std::string& noted = cluster.notes(cluster.pods().notes[pod]).required_node;
  return noted.empty() ? node_of_affinity(cluster, pod) : noted;
}

bool keeps_its_node(NaiveWorld& world, const Configuration& configuration, PodIndex pod,
                    NodeIndex node) {
  const Cluster& cluster = world.cluster();
  if (!configuration.required_node.enabled) return false;
  if (cluster.notes(cluster.pods().notes[pod]).only_reserved()) return false;  // Not yet its own.
  if (pinned_to(cluster, pod) != cluster.text(cluster.nodes().name[node])) return false;
  return NaiveFit(world, pod).fits_when_empty(node);
}

bool counts_as_pinned(const Cluster& cluster, PodIndex pod, const std::vector<PinnedBy>& ways) {
  const PodColumns& pods = cluster.pods();
  if (cluster.units()[pods.unit[pod]].kind == UnitKind::group) return false;
  const auto counts = [&](PinnedBy way) { return std::ranges::find(ways, way) != ways.end(); };
  const bool noted = !cluster.notes(pods.notes[pod]).required_node.empty();
  if (noted && counts(PinnedBy::annotation)) return true;
  if (counts(PinnedBy::affinity) && !node_of_affinity(cluster, pod).empty()) return true;
  return counts(PinnedBy::owner) &&
         std::ranges::any_of(cluster.owners(pods.owners[pod]),
                             [](const OwnerReference& owner) { return owner.kind == "DaemonSet"; });
}

std::string_view EvictionRules::protection_from_pinned(PodIndex pod) const {
  if (counts_as_pinned(cluster_, pod, configuration_.required_node.pinned_by)) {
    return "it can run on one node only";
  }
  const std::string_view reason = protection(pod, OptOut::is_a_class);
  if (!reason.empty()) return reason;
  const Unit& unit = cluster_.units()[cluster_.pods().unit[pod]];
  const bool group_out = unit.kind == UnitKind::group && cluster_.groups()[unit.group].object &&
                         cluster_.groups()[unit.group].object->opted_out;
  const bool opted_out = cluster_.pods().flags[pod].opted_out || group_out;
  if (opted_out && !listed(configuration_, "opted-out") &&
      configuration_.protection.protect_opted_out) {
    return "it opted out of preemption";
  }
  if (listed(configuration_, "regular")) return {};
  const Labels labels = cluster_.label_objects(cluster_.pods().labels[pod]);
  const Labels& marks = cluster_.notes(cluster_.pods().notes[pod]).marks;
  for (const std::string& line : configuration_.required_node.victim_classes) {
    const bool owner =
        line == "owner" && (cluster_.pods().flags[pod].is_owner || names_as_owner(cluster_, pod));
    if (owner || (line == "opted-out" && opted_out) || pair_matches(line, "label:", labels) ||
        pair_matches(line, "annotation:", marks)) {
      return {};
    }
  }
  return "it belongs to no class of victims";
}

bool EvictionRules::may_leave_for_pinned(PodIndex pod, std::int32_t ask_priority) const {
  const RequiredNodeSettings& settings = configuration_.required_node;
  const std::int32_t own = priority(pod);
  if (own > ask_priority && !settings.allow_higher_priority) return false;
  if (own == ask_priority && !settings.allow_equal_priority) return false;
  if (leaving(pod)) return false;
  const std::vector<PodIndex> together = leaves_with(pod);
  return std::ssize(together) <= settings.max_victims &&
         std::ranges::all_of(together, [this](PodIndex each) {
           return protection_from_pinned(each).empty() && !governed_strictly(each);
         });
}

Time reserved_since(const Cluster& cluster, PodIndex pod, Time now) {
  const std::optional<Time>& noted = cluster.notes(cluster.pods().notes[pod]).reserved_since;
  return noted && *noted < now ? *noted : now;
}

void judge_reservation(PlanWalk& walk, const HeardAsk& ask) {
  const Rare<PlanReservation>& reservation = ask.entry->reservation;
  if (!reservation) return;
  if (ask.pinned_to.empty()) return walk.report(9, ask, "it reserves a node, and is not pinned");
  if (reservation->node != ask.pinned_to) {
    walk.report(9, ask,
                fmt::format("it reserves node {}, and can run on node {} only", reservation->node,
                            ask.pinned_to));
  }
  const Time since = reserved_since(walk.cluster(), ask.pods.front(), walk.time());
  if (reservation->since != since) {
    walk.report(9, ask,
                fmt::format("its reservation began at {}, not at {}", to_text(since),
                            to_text(reservation->since)));
  }
  if (ask.entry->outcome == Outcome::fits) walk.report(9, ask, "it fits, and reserves its node");
  if (reservation->preempts_from != ask.entry->waits_until) {
    walk.report(9, ask, "it says two things about when it starts preempting");
  }
}

}  // namespace makeway
