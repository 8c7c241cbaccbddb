#include "cli/plan/node_what_if.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cli/plan/plan_text.hpp"
#include "cli/text.hpp"
#include "engine/loss_units.hpp"
#include "model/budget_finder.hpp"
#include "model/knobs.hpp"
#include "model/normalize.hpp"
#include "model/object_text.hpp"
#include "model/regime.hpp"
#include "model/required_node.hpp"

namespace makeway::cli {
namespace {

constexpr std::string_view hostname_label = "kubernetes.io/hostname";
/// Taints that the node controller puts on unhealthy nodes; new nodes do not have them.
constexpr std::string_view condition_taint = "node.kubernetes.io/";

std::optional<NodeIndex> existing_node(const Cluster& cluster, std::string_view name) {
  const std::optional<NodeIndex> node = cluster.find_node(name);
  return node && cluster.nodes().flags[*node].exists ? node : std::nullopt;
}

void refuse_unknown(const Cluster& cluster, std::string_view flag, const std::string& name,
                    Problems& problems) {
  if (existing_node(cluster, name)) return;
  std::vector<std::string_view> names;
  for (const NodeIndex node : cluster.home_nodes()) {
    names.push_back(cluster.text(cluster.nodes().name[node]));
  }
  const std::string_view nearest = nearest_of(names, name);
  problems.push_back(
      {.field = std::string(flag),
       .value = name,
       .message = "there is no such node",
       .remedy = nearest.empty() ? std::string{} : fmt::format("did you mean {}?", nearest)});
}

std::vector<PodIndex> pods_on(const Cluster& cluster, NodeIndex node) {
  const auto pods = cluster.order().pods(node);
  return {pods.begin(), pods.end()};
}

/// Also one whose DaemonSet is not trusted (trust.hpp): it stays or goes with its node all the
/// same.
bool is_of_daemon_set(const Cluster& cluster, PodIndex pod) {
  return cluster.pods().flags[pod].of_daemon_set ||
         std::ranges::any_of(cluster.owners(cluster.pods().owners[pod]), [](const auto& owner) {
           return owner.controller && owner.kind.starts_with("DaemonSet");
         });
}

/// Pods of DaemonSets that wait for a place on this node.
std::vector<PodIndex> waiting_daemons(const Cluster& cluster, std::string_view node) {
  std::vector<PodIndex> found;
  for (std::uint32_t slot = 0; slot < cluster.pods().slots(); ++slot) {
    const PodIndex pod{slot};
    const PodFlags flags = cluster.pods().flags[pod];
    if (!flags.exists || flags.kernel || cluster.pods().node[pod].exists()) continue;
    if (cluster.pods().plane[pod] != StringId{0} || !is_of_daemon_set(cluster, pod)) continue;
    if (required_node_of(cluster, pod) == node) found.push_back(pod);
  }
  return found;
}

/// Changes the cluster, and says what it changed.
class Changer {
 public:
  Changer(const Configuration& configuration, Time now, Cluster& cluster, WhatIfChange& change)
      : configuration_(configuration), now_(now), cluster_(cluster), change_(change) {}

  void remove(const std::string& name);
  void add(std::uint64_t count, const std::string& like);
  void drain(const std::string& name);
  void charge_budgets();
  /// Before anything is changed: what stops with the pods that these nodes lose.
  void report_stopped(const NodeWhatIf& what_if);

 private:
  std::vector<PodIndex> leaving(const NodeWhatIf& what_if) const;
  void add_gangs(std::span<const PodIndex> lost);
  void add_sessions(NodeIndex node, std::string_view what);
  /// Why a pod stays on a node that is drained; empty: it asks again.
  std::string_view stays_because(const Regimes& regimes, PodIndex pod) const;
  void add_one(const std::string& name, const Node& model);
  void join_groups(const std::string& like, std::span<const std::string> names);
  void remove_pod(PodIndex pod);
  void copy_daemons(NodeIndex from, const std::string& name, std::string_view suffix);

  const Configuration& configuration_;
  Time now_;
  Cluster& cluster_;
  WhatIfChange& change_;
};

bool runs(const Cluster& cluster, PodIndex pod) {
  return cluster.pods().node[pod].exists() && cluster.pods().deletion[pod] == no_time;
}

/// Those that run there and do not stay; sorted.
std::vector<PodIndex> Changer::leaving(const NodeWhatIf& what_if) const {
  std::set<PodIndex> lost;
  for (const std::string& name : what_if.gone) {
    for (const PodIndex pod : pods_on(cluster_, *existing_node(cluster_, name))) {
      if (!cluster_.pods().flags[pod].kernel && runs(cluster_, pod)) lost.insert(pod);
    }
  }
  const Regimes regimes(cluster_, configuration_);
  for (const std::string& name : what_if.drained) {
    for (const PodIndex pod : pods_on(cluster_, *existing_node(cluster_, name))) {
      if (stays_because(regimes, pod).empty()) lost.insert(pod);
    }
  }
  return {lost.begin(), lost.end()};
}

void Changer::report_stopped(const NodeWhatIf& what_if) {
  const std::vector<PodIndex> lost = leaving(what_if);
  const auto pods_text = [](std::size_t pods, std::string_view one, std::string_view several) {
    return fmt::format("{} {}", counted(pods, "pod"), pods == 1 ? one : several);
  };
  const auto here = [&](PodIndex pod) { return runs(cluster_, pod); };
  const auto there = [](PodIndex) { return true; };
  const LossUnits units(cluster_);
  for (const LossUnits::Stopped& unit : units.stopped_by(lost, here, there)) {
    change_.notes.push_back(fmt::format("{} stops because of it: {}, and {} elsewhere",
                                        shorten(unit.unit, 96),
                                        pods_text(unit.lost.size(), "leaves", "leave"),
                                        pods_text(unit.rest.size(), "stops", "stop")));
  }
  add_gangs(lost);
}

/// Gangs that have their minimum now and not without these.
void Changer::add_gangs(std::span<const PodIndex> lost) {
  std::map<GroupIndex, std::int64_t> losses;
  for (const PodIndex pod : lost) {
    const Unit& unit = cluster_.units()[cluster_.pods().unit[pod]];
    if (unit.kind == UnitKind::group && unit.gang) ++losses[unit.group];
  }
  for (const auto& [index, gone] : losses) {
    const Group& group = cluster_.groups()[index];
    const std::int64_t minimum = cluster_.units()[group.unit].minimum;
    const std::int64_t running = std::ranges::count_if(
        group.members, [&](PodIndex member) { return runs(cluster_, member); });
    if (running < minimum || running - gone >= minimum || running == gone) continue;
    change_.notes.push_back(fmt::format(
        "PodGroup {}/{} falls below its minimum of {} because of it: {} of {} leave",
        shorten(cluster_.text(group.namespace_name)), shorten(cluster_.text(group.name)), minimum,
        gone, counted(static_cast<std::uint64_t>(running), "running pod")));
  }
}

/// "2 sessions have kernels on n1, which are lost: team/a, team/b"
void Changer::add_sessions(NodeIndex node, std::string_view what) {
  std::vector<std::string> names;
  for (const auto& [key, kernels] : cluster_.kernel_rows()) {
    const bool there = std::ranges::any_of(kernels, [&](const KernelRows& kernel) {
      return cluster_.pods().node[kernel.row] == node;
    });
    if (there) names.push_back(key_text({key.namespace_name, key.name}));
  }
  if (names.empty()) return;
  const std::string sessions = counted(names.size(), "session has", "sessions have");
  change_.notes.push_back(fmt::format("{} kernels on {}, {}: {}", sessions,
                                      shorten(cluster_.text(cluster_.nodes().name[node])), what,
                                      few_names(std::move(names))));
}

void Changer::remove_pod(PodIndex pod) {
  cluster_.apply(
      Removal{.kind = ObjectKind::pod,
              .namespace_name = std::string(cluster_.text(cluster_.pods().namespace_name[pod])),
              .name = std::string(cluster_.pods().name[pod.value])});
}

void Changer::remove(const std::string& name) {
  const NodeIndex node = *existing_node(cluster_, name);
  add_sessions(node, "which are lost");
  std::uint64_t pods = 0;
  for (const PodIndex pod : pods_on(cluster_, node)) {
    if (cluster_.pods().flags[pod].kernel) continue;
    remove_pod(pod);
    ++pods;
  }
  for (const PodIndex pod : waiting_daemons(cluster_, name)) {
    remove_pod(pod);
    ++pods;
  }
  cluster_.apply(
      Removal{.kind = ObjectKind::node, .namespace_name = {}, .name = name, .plane = {}});
  change_.notes.push_back(
      fmt::format("without node {}: it and its {} are gone", shorten(name), counted(pods, "pod")));
}

void Changer::add_one(const std::string& name, const Node& model) {
  Node node = model;
  node.name = name;
  node.uid.clear();
  node.unschedulable = false;
  std::erase_if(node.taints,
                [](const Taint& taint) { return taint.key.starts_with(condition_taint); });
  for (auto& [key, value] : node.labels) {
    if (key == hostname_label) value = name;
  }
  normalize(node);
  cluster_.apply(node);
  const auto limits = cluster_.own<CsiNode>().find({{}, model.name});
  if (limits == cluster_.own<CsiNode>().end()) return;
  CsiNode copy = limits->second;
  copy.name = name;
  cluster_.apply(copy);
}

/// Where the model is listed by name, they are too.
void Changer::join_groups(const std::string& like, std::span<const std::string> names) {
  const auto join = [&](auto& nodes) {
    if (!std::ranges::binary_search(nodes, like)) return false;
    nodes.insert(nodes.end(), names.begin(), names.end());
    std::ranges::sort(nodes);
    return true;
  };
  std::vector<Change> changes;
  for (const auto& [key, group] : cluster_.own<ResourceGroup>()) {
    ResourceGroup copy = group;
    if (join(copy.nodes)) changes.emplace_back(std::move(copy));
  }
  for (const auto& [key, partition] : cluster_.own<Partition>()) {
    Partition copy = partition;
    if (join(copy.nodes)) changes.emplace_back(std::move(copy));
  }
  for (const Change& each : changes) cluster_.apply(each);
}

/// The same pod for another node.
Pod moved_to(Pod pod, std::string_view from, const std::string& name) {
  const auto rename = [&](std::string& node) {
    if (node == from) node = name;
  };
  rename(pod.node);
  rename(pod.nominated_node);
  rename(pod.notes.required_node);
  for (NodeSelectorTerm& term : pod.shape.node_terms) {
    for (Requirement& field : term.fields) std::ranges::for_each(field.values, rename);
  }
  return pod;
}

void Changer::copy_daemons(NodeIndex from, const std::string& name, std::string_view suffix) {
  const std::string model(cluster_.text(cluster_.nodes().name[from]));
  std::vector<PodIndex> daemons = pods_on(cluster_, from);
  const std::vector<PodIndex> waiting = waiting_daemons(cluster_, model);
  daemons.insert(daemons.end(), waiting.begin(), waiting.end());
  for (const PodIndex pod : daemons) {
    const PodFlags flags = cluster_.pods().flags[pod];
    const bool leaving = cluster_.pods().deletion[pod] != no_time;
    if (flags.kernel || leaving || (!is_of_daemon_set(cluster_, pod) && !flags.mirror)) continue;
    Pod copy = moved_to(cluster_.pod(pod), model, name);
    copy.name += suffix;
    copy.uid.clear();
    cluster_.apply(copy);
  }
}

void Changer::add(std::uint64_t count, const std::string& like) {
  const NodeIndex index = *existing_node(cluster_, like);
  const Node model = cluster_.node(index);
  std::vector<std::string> names;
  for (std::uint64_t number = 1; names.size() < count; ++number) {
    const std::string suffix = fmt::format("-new-{}", number);
    if (existing_node(cluster_, like + suffix)) continue;
    names.push_back(like + suffix);
    add_one(names.back(), model);
    copy_daemons(index, names.back(), suffix);
  }
  join_groups(like, names);
  change_.notes.push_back(fmt::format("{} like {}: {}", counted(count, "more node", "more nodes"),
                                      shorten(like), few_names(std::move(names))));
}

std::string_view Changer::stays_because(const Regimes& regimes, PodIndex pod) const {
  const PodFlags flags = cluster_.pods().flags[pod];
  if (flags.kernel) return "kernel of a session";
  if (flags.mirror) return "mirror pod";
  if (is_of_daemon_set(cluster_, pod)) return "pod of a DaemonSet";
  if (cluster_.pods().deletion[pod] != no_time) return "pod that is leaving";
  if (regimes.of(pod) == Regime::replicas) return "replica of a ReplicaSchedule";
  return {};
}

/// The pod as its controller would recreate it.
Pod created_again(Pod pod, Time now) {
  pod.uid.clear();
  pod.node.clear();
  pod.created = now;
  pod.started.reset();
  pod.observed.reset();
  pod.ready = false;
  pod.disrupted_by_preemption = false;
  pod.notes.reserved_since.reset();
  pod.notes.promised = false;
  pod.notes.evicted_for.clear();
  pod.notes.plan.clear();
  pod.notes.last_checkpoint.reset();
  return pod;
}

/// "2 pods of a DaemonSet, 1 mirror pod"
std::string staying_text(const std::map<std::string_view, std::uint64_t>& staying) {
  std::vector<std::string> parts;
  for (const auto& [why, count] : staying) {
    const std::size_t noun = why.starts_with("mirror") ? why.size() : why.find(' ');
    parts.push_back(count == 1 ? fmt::format("1 {}", why)
                               : fmt::format("{} {}s{}", grouped(count), why.substr(0, noun),
                                             why.substr(noun)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void Changer::drain(const std::string& name) {
  const NodeIndex index = *existing_node(cluster_, name);
  std::vector<PodIndex> moving;
  std::map<std::string_view, std::uint64_t> staying;
  {
    const Regimes regimes(cluster_, configuration_);
    for (const PodIndex pod : pods_on(cluster_, index)) {
      const std::string_view why = stays_because(regimes, pod);
      if (why.empty()) {
        moving.push_back(pod);
      } else {
        ++staying[why];
      }
    }
  }
  Node node = cluster_.node(index);
  node.unschedulable = true;
  cluster_.apply(node);
  std::vector<std::string> lone;
  for (const PodIndex index_of_pod : moving) {
    Pod pod = cluster_.pod(index_of_pod);
    if (std::ranges::none_of(pod.owners, &OwnerReference::controller)) {
      lone.push_back(key_text({pod.namespace_name, pod.name}));
    }
    change_.drained.push_back({.namespace_name = pod.namespace_name, .name = pod.name});
    cluster_.apply(created_again(std::move(pod), now_));
  }
  std::string note = fmt::format(
      "node {} is drained: {} again", shorten(name),
      moving.size() == 1 ? std::string("1 pod asks") : grouped(moving.size()) + " pods ask");
  if (!staying.empty()) note += fmt::format("; what stays: {}", staying_text(staying));
  change_.notes.push_back(std::move(note));
  add_sessions(index, "which end only with their sessions");
  if (lone.empty()) return;
  const bool one = lone.size() == 1;
  change_.notes.push_back(fmt::format("{} no controller that would recreate {}: {}",
                                      one ? "one of them has" : "some of them have",
                                      one ? "it" : "them", few_names(std::move(lone))));
}

/// Pods that ask again have used up what their budgets allow.
void Changer::charge_budgets() {
  if (change_.drained.empty()) return;
  const std::vector<const DisruptionBudget*> budgets = cluster_.budgets();
  const BudgetFinder finder(budgets);
  std::map<std::uint32_t, std::int32_t> charged;
  for (const DrainedPod& drained : change_.drained) {
    const PodIndex pod = *cluster_.find_pod(drained.namespace_name, drained.name);
    const Labels labels = cluster_.label_objects(cluster_.pods().labels[pod]);
    for (const std::uint32_t at : finder.find({}, drained.namespace_name, labels).all()) {
      ++charged[at];
    }
  }
  std::vector<DisruptionBudget> changed;
  for (const auto& [at, count] : charged) {
    DisruptionBudget budget = *budgets[at];
    const std::int32_t allowed = budget.disruptions_allowed.value_or(0);
    if (count > allowed) {
      change_.notes.push_back(
          fmt::format("budget {}/{} allows {}, and {} {} needed: a drain would wait there",
                      shorten(budget.namespace_name), shorten(budget.name),
                      counted(static_cast<std::uint64_t>(allowed), "eviction"), count,
                      count == 1 ? "is" : "are"));
    }
    budget.disruptions_allowed = std::max(0, allowed - count);
    changed.push_back(std::move(budget));
  }
  for (const DisruptionBudget& budget : changed) cluster_.apply(budget);
}

// ---- What it comes to ---------------------------------------------------------------------------

bool has_place(const PlanAsk& ask) {
  return ask.outcome == Outcome::fits || ask.outcome == Outcome::preempts ||
         (ask.outcome == Outcome::waits && !ask.placements.empty());
}

using PodName = std::pair<std::string_view, std::string_view>;

/// Which of the pods that ask again find a place.
std::string drained_text(const WhatIfChange& change, const Plan& after) {
  std::map<PodName, Outcome> placed;
  for (const PlanAsk& ask : after.asks) {
    for (const PodPlacement& place : ask.placements) {
      placed.emplace(PodName(place.namespace_name, place.name), ask.outcome);
    }
  }
  std::map<Outcome, std::uint64_t> counts;
  std::vector<std::string> without;
  for (const DrainedPod& pod : change.drained) {
    const auto found = placed.find(PodName(pod.namespace_name, pod.name));
    if (found == placed.end()) {
      without.push_back(key_text({pod.namespace_name, pod.name}));
    } else {
      ++counts[found->second];
    }
  }
  std::vector<std::string> parts;
  const auto part = [&](Outcome outcome, std::string_view one, std::string_view several) {
    const auto found = counts.find(outcome);
    if (found == counts.end()) return;
    parts.push_back(
        fmt::format("{} {}", grouped(found->second), found->second == 1 ? one : several));
  };
  part(Outcome::fits, "fits elsewhere", "fit elsewhere");
  part(Outcome::preempts, "finds room by eviction", "find room by eviction");
  part(Outcome::waits, "waits for room", "wait for room");
  if (!without.empty()) {
    const std::size_t count = without.size();
    parts.push_back(fmt::format("{} {} no place: {}", grouped(count), count == 1 ? "finds" : "find",
                                few_names(std::move(without))));
  }
  return fmt::format("Pods that ask again: {}: {}.", grouped(change.drained.size()),
                     fmt::join(parts, ", "));
}

/// Asks of both plans that have a place in the first one only.
std::vector<const PlanAsk*> placed_only_in(const Plan& first, const Plan& second,
                                           const std::set<PodName>& left_aside) {
  std::map<std::string, bool> others;
  for (const PlanAsk& ask : second.asks) others.emplace(ask_text(ask), has_place(ask));
  std::vector<const PlanAsk*> asks;
  for (const PlanAsk& ask : first.asks) {
    if (!has_place(ask) || left_aside.contains(PodName(ask.namespace_name, ask.name))) continue;
    const auto other = others.find(ask_text(ask));
    if (other != others.end() && !other->second) asks.push_back(&ask);
  }
  return asks;
}

std::uint64_t victims_of(const Plan& plan) {
  std::uint64_t count = 0;
  for (const PlanAsk& ask : plan.asks) count += victim_count(ask);
  return count;
}

}  // namespace

Problems what_if_problems(const NodeWhatIf& what_if, const Cluster& cluster) {
  Problems problems;
  for (const std::string& name : what_if.gone) {
    refuse_unknown(cluster, "--without-node", name, problems);
  }
  for (const std::string& name : what_if.drained) {
    refuse_unknown(cluster, "--drain", name, problems);
    if (std::ranges::find(what_if.gone, name) != what_if.gone.end()) {
      problems.push_back({.field = "--drain",
                          .value = name,
                          .message = "the node is gone already, by --without-node"});
    }
  }
  if (what_if.added > 0) refuse_unknown(cluster, "--like", what_if.like, problems);
  return problems;
}

WhatIfChange apply_what_if(const NodeWhatIf& what_if, const Configuration& configuration, Time now,
                           Cluster& cluster) {
  WhatIfChange change;
  Changer changer(configuration, now, cluster, change);
  changer.report_stopped(what_if);
  if (what_if.added > 0) changer.add(what_if.added, what_if.like);
  for (const std::string& name : what_if.gone) {
    if (existing_node(cluster, name)) changer.remove(name);  // May be named twice.
  }
  const std::set<std::string> drained(what_if.drained.begin(), what_if.drained.end());
  for (const std::string& name : drained) changer.drain(name);
  changer.charge_budgets();
  return change;
}

std::string what_if_text(const WhatIfChange& change, const Plan* before, const Plan& after,
                         const Parties& parties, std::size_t width) {
  if (before == nullptr) return {};
  std::set<PodName> drained;
  for (const DrainedPod& pod : change.drained) drained.emplace(pod.namespace_name, pod.name);
  std::string text;
  if (!change.drained.empty()) text += wrapped(printable(drained_text(change, after)), 0, width);
  const auto add_line = [&](std::string_view what, const std::vector<const PlanAsk*>& asks) {
    if (asks.empty()) return;
    text += wrapped(
        printable(fmt::format("{}: {}: {}.", what, grouped(asks.size()), few_asks(asks, parties))),
        0, width);
  };
  add_line("Asks that gain a place", placed_only_in(after, *before, drained));
  add_line("Asks that lose their place", placed_only_in(*before, after, drained));
  const std::string plain = before->asks.empty()
                                ? std::string("nothing is pending.")
                                : totals_text(*before).substr(std::string_view("Plan: ").size());
  const std::uint64_t victims = victims_of(after);
  const std::uint64_t victims_before = victims_of(*before);
  if (victims != victims_before) {
    text += fmt::format("Victims: {} instead of {}.\n", grouped(victims), grouped(victims_before));
  }
  text += wrapped(fmt::format("Without the change: {}", plain), 0, width);
  return text + "\n";
}

}  // namespace makeway::cli
