#include "model/validation/differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/printable.hpp"
#include "model/names.hpp"

namespace makeway {
namespace {

/// Another scheduler that people run, and what of its own language is not read here.
struct KnownScheduler {
  std::string_view name;
  std::string_view not_read;
};
constexpr std::array known_schedulers = {
    KnownScheduler{"volcano",
                   "its PodGroups (scheduling.volcano.sh) are not read: a gang is a PodGroup of "
                   "scheduling.k8s.io; its queue annotation is read"},
    KnownScheduler{"yunikorn",
                   "gangs by its annotation task-groups are not read: a gang is a PodGroup of "
                   "scheduling.k8s.io; its queue label and allow-preemption are read"},
    KnownScheduler{
        "kai-scheduler",
        "its PodGroups and queues (scheduling.run.ai) are not read: a gang is a PodGroup "
        "of scheduling.k8s.io, a queue the label makeway.dev/queue"},
};

constexpr std::string_view gate_need = "schedulingGate ";
constexpr std::string_view kueue_gate = "schedulingGate kueue.x-k8s.io/";

/// Pods of one sort, in the order in which they come.
struct Sort {
  std::uint64_t count = 0;
  std::vector<std::string> examples;

  void add(std::string name) {
    if (++count <= Difference::examples_max) examples.push_back(std::move(name));
  }
};

class Differences {
 public:
  Differences(const Cluster& cluster, const Configuration& configuration)
      : cluster_(cluster), configuration_(configuration) {}

  std::vector<Difference> find() {
    for (const PodIndex pod : cluster_.pods_by_name()) {
      if (cluster_.pods().plane[pod] == StringId{0}) look_at(pod);
    }
    add_schedulers();
    add_shared_nodes();
    add_queues();
    add_needs();
    add_critical();
    add_opted_out();
    return std::move(found_);
  }

 private:
  void look_at(PodIndex pod) {
    const PodColumns& pods = cluster_.pods();
    const PodFlags flags = pods.flags[pod];
    const bool bound = pods.node[pod].exists();
    if (flags.mirror) return;  // The kubelet's own, under every scheduler.
    std::string name = cluster_.pod_key(pod);
    std::string scheduler(cluster_.text(pods.scheduler[pod]));
    if (scheduler.empty()) scheduler = names::default_scheduler;
    if (scheduler != names::own_scheduler) {
      schedulers_[scheduler].add(name);
      if (bound && !flags.of_daemon_set) others_on_.insert(pods.node[pod]);
    }
    const std::string queue(cluster_.text(pods.queue[pod]));
    if (!queue.empty() && !cluster_.own<Queue>().contains(ObjectKeyView{{}, queue, {}})) {
      queues_[queue].add(name);
    }
    if (!bound) {
      for (const std::string& need : cluster_.shape(pods.shape[pod]).unsupported) {
        if (!need.starts_with(names::held_need)) needs_[need].add(name);
      }
    }
    if (bound && cluster_.text(pods.priority_class[pod]) == names::cluster_critical) {
      critical_.add(name);
    }
    if (flags.opted_out) opted_out_.add(std::move(name));
  }

  void report(std::string what, const Sort& sort, std::string today, std::string here,
              std::string remedy) {
    found_.push_back({.what = std::move(what),
                      .count = sort.count,
                      .examples = sort.examples,
                      .today = std::move(today),
                      .here = std::move(here),
                      .remedy = std::move(remedy)});
  }

  void add_schedulers() {
    for (const auto& [scheduler, sort] : schedulers_) {
      const auto known = std::ranges::find(known_schedulers, scheduler, &KnownScheduler::name);
      std::string here = configuration_.protection.preempt_other_schedulers
                             ? "not placed by makeway; they hold room, and may be victims "
                               "(protection.preemptOtherSchedulers)"
                             : "not placed by makeway; they hold room and are never evicted";
      if (known != known_schedulers.end()) here += fmt::format("; {}", known->not_read);
      report(fmt::format("pods of scheduler {}", shorten(scheduler)), sort,
             fmt::format("{} places and preempts them", shorten(scheduler)), std::move(here),
             fmt::format("write schedulerName: {} into their templates; or stop that scheduler and "
                         "start makeway run --scheduler-name {}",
                         names::own_scheduler, shorten(scheduler)));
    }
  }

  /// Two schedulers on one node can overfill it: nothing in Kubernetes locks a node.
  void add_shared_nodes() {
    Sort sort;
    for (const NodeIndex node : cluster_.nodes_by_name()) {
      const bool closed = std::ranges::any_of(
          cluster_.taints(cluster_.nodes().taints[node]),
          [](const Taint& taint) { return taint.effect != TaintEffect::prefer_no_schedule; });
      if (others_on_.contains(node) && !closed) {
        sort.add(std::string(cluster_.text(cluster_.nodes().name[node])));
      }
    }
    if (sort.count == 0) return;
    report("nodes with pods of other schedulers and without a taint", sort,
           "one scheduler fills them",
           "two may fill them at the same time; the kubelet fails the later pod",
           "give the nodes of makeway a taint that only its pods tolerate, or let it schedule all");
  }

  void add_queues() {
    for (const auto& [queue, sort] : queues_) {
      report(
          fmt::format("pods that name queue {}, which is no Queue here", shorten(queue)), sort,
          "Kueue, Volcano or YuniKorn reads it",
          "the label counts as absent: the Queue of their namespace, else the Queue default, else "
          "no queue limits them",
          fmt::format("write a Queue {} of makeway.dev, with the weight that it has there",
                      shorten(queue)));
    }
  }

  void add_needs() {
    for (const auto& [need, sort] : needs_) {
      if (need.starts_with(kueue_gate)) {
        report("pods that wait for Kueue", sort, "Kueue admits them by quota, then they are placed",
               "the same: they wait until Kueue removes its gate; two systems share by quota then",
               "take the label of Kueue off and write Queues, or leave quotas to Kueue alone");
      } else if (!need.starts_with(gate_need)) {
        report(fmt::format("pending pods that need {}", shorten(need)), sort,
               "kube-scheduler checks it",
               "makeway does not check it, says so, and does not place them",
               "leave them to kube-scheduler");
      }
    }
  }

  void add_critical() {
    if (critical_.count == 0 || !configuration_.protection.protect_system_critical) return;
    report(fmt::format("running pods of class {}", names::cluster_critical), critical_,
           "kube-scheduler evicts them for pods of a higher class",
           "never evicted (protection.protectSystemCritical)", {});
  }

  void add_opted_out() {
    if (opted_out_.count == 0) return;
    report("pods with allow-preemption: \"false\"", opted_out_,
           "YuniKorn evicts them last; other schedulers ignore it",
           fmt::format("never evicted where trust allows the mark; else nothing ({})",
                       "docs/security.md"),
           fmt::format("label their namespaces {}=true where they may say so", names::trusted));
  }

  const Cluster& cluster_;
  const Configuration& configuration_;
  std::map<std::string, Sort> schedulers_;
  std::map<std::string, Sort> queues_;
  std::map<std::string, Sort> needs_;
  std::set<NodeIndex> others_on_;
  Sort critical_;
  Sort opted_out_;
  std::vector<Difference> found_;
};

}  // namespace

std::vector<Difference> find_differences(const Cluster& cluster,
                                         const Configuration& configuration) {
  return Differences(cluster, configuration).find();
}

}  // namespace makeway
