// How the cost of a plan grows with what a tenant can write: each kind of input in one size and
// in eight times that size. Linear is 8; the goal is at most 10 for the decision and for the judge.
// Every plan is judged before a time is taken. Times are of the processor, the least of three,
// since a ratio of times on a busy machine says nothing.
//
//   growth [SUBSTRING]   inputs whose name contains it, as "spread"
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/support/policy_bench.hpp"
#include "codec/presets.hpp"
#include "model/validation/quarantine.hpp"

namespace makeway::bench {
namespace {

constexpr Time now{1'767'225'600'000};
constexpr std::size_t factor = 8;
constexpr std::size_t rounds = 3;
constexpr std::int64_t plenty = 1'000'000'000;
constexpr std::string_view hostname = "kubernetes.io/hostname";

LabelSelector app(const std::string& value) {
  return {{{.key = "app", .operation = Operator::in, .values = {value}}}};
}

Node node(std::size_t at, std::int64_t cpu) {
  const std::string name = fmt::format("n{:05}", at);
  return {.name = name,
          .labels = {{std::string(hostname), name}, {"zone", fmt::format("z{}", at % 3)}},
          .allocatable = {{"cpu", cpu}, {"memory", plenty}, {"pods", plenty}}};
}

Pod running(std::size_t at, std::size_t on) {
  return {.namespace_name = "default",
          .name = fmt::format("v{:05}", at),
          .uid = fmt::format("uid-v{}", at),
          .labels = {{"app", fmt::format("v{}", at)}},
          .node = fmt::format("n{:05}", on),
          .priority = 0,
          .requests = {{"cpu", 1'000}},
          .started = now + Duration{-1'000}};
}

Pod asking(std::size_t at, std::int64_t cpu) {
  return {.namespace_name = "default",
          .name = fmt::format("ask-{:05}", at),
          .uid = fmt::format("uid-ask-{}", at),
          .labels = {{"app", "web"}},
          .priority = 9,
          .requests = {{"cpu", cpu}},
          .created = now};
}

/// 300 full nodes with 10 pods each.
void add_full_nodes(Cluster& cluster) {
  constexpr std::size_t nodes = 300;
  constexpr std::size_t pods = 10;
  for (std::size_t at = 0; at < nodes; ++at) {
    cluster.apply(node(at, 10'000));
    for (std::size_t pod = 0; pod < pods; ++pod) cluster.apply(running(at * pods + pod, at));
  }
}

using Shape = std::function<void(Pod&)>;

/// Pods that preempt, all of this shape.
void add_asks(Cluster& cluster, std::size_t count, const Shape& shape) {
  add_full_nodes(cluster);
  for (std::size_t at = 0; at < count; ++at) {
    Pod ask = asking(at, 2'000);
    shape(ask);
    cluster.apply(ask);
  }
}

void spread_by_zone(Cluster& cluster, std::size_t count) {
  add_asks(cluster, count,
           [](Pod& ask) { ask.shape.spread = {{.topology_key = "zone", .selector = app("web")}}; });
}

void spread_by_host(Cluster& cluster, std::size_t count) {
  add_asks(cluster, count, [](Pod& ask) {
    ask.shape.spread = {{.topology_key = std::string(hostname), .selector = app("web")}};
  });
}

void apart_by_host(Cluster& cluster, std::size_t count) {
  add_asks(cluster, count, [](Pod& ask) {
    ask.shape.anti_affinity = {{.selector = app("web"),
                                .namespaces = {"default"},
                                .namespace_selector = {},
                                .topology_key = std::string(hostname)}};
  });
}

void no_constraints(Cluster& cluster, std::size_t count) {
  add_asks(cluster, count, [](Pod& ask) { ask.labels.clear(); });
}

void namespaces(Cluster& cluster, std::size_t count) {
  cluster.apply(node(0, static_cast<std::int64_t>(count) * 1'000));
  for (std::size_t at = 0; at < count; ++at) {
    const std::string name = fmt::format("space-{}", at);
    cluster.apply(Namespace{.name = name, .labels = {{"team", fmt::format("{}", at % 2)}}});
    Pod pod = running(at, 0);
    pod.namespace_name = name;
    cluster.apply(pod);
  }
  Pod ask = asking(0, 30'000);
  const LabelSelector no_team{{{.key = "team", .operation = Operator::in, .values = {"none"}}}};
  ask.shape.anti_affinity = {{.selector = app("web"),
                              .namespaces = {},
                              .namespace_selector = no_team,
                              .topology_key = std::string(hostname)}};
  cluster.apply(ask);
}

void budgets(Cluster& cluster, std::size_t count) {
  for (std::size_t at = 0; at < count; ++at) {
    if (at % 10 == 0) cluster.apply(node(at / 10, 10'000));
    cluster.apply(running(at, at / 10));
    cluster.apply(DisruptionBudget{.namespace_name = "default",
                                   .name = fmt::format("b{:05}", at),
                                   .selector = app(fmt::format("v{}", at)),
                                   .disruptions_allowed = 1});
  }
  cluster.apply(asking(0, 2'000));
}

/// Budgets that are found by no label: each governs every pod but one.
void excluding_budgets(Cluster& cluster, std::size_t count) {
  for (std::size_t at = 0; at < count; ++at) {
    if (at % 10 == 0) cluster.apply(node(at / 10, 10'000));
    cluster.apply(running(at, at / 10));
    const LabelSelector but_one{
        {{.key = "app", .operation = Operator::not_in, .values = {fmt::format("v{}", at)}}}};
    cluster.apply(DisruptionBudget{.namespace_name = "default",
                                   .name = fmt::format("b{:05}", at),
                                   .selector = but_one,
                                   .disruptions_allowed = 1});
  }
  cluster.apply(asking(0, 2'000));
}

/// Every pod is under one budget that allows nothing, and comes back through a controller: those of
/// priority 5 in the place of a pod of priority 0 elsewhere.
void exhausted_budget(Cluster& cluster, std::size_t count) {
  const LabelSelector all_apps{{{.key = "app", .operation = Operator::exists, .values = {}}}};
  cluster.apply(DisruptionBudget{.namespace_name = "default",
                                 .name = "all-pods",
                                 .selector = all_apps,
                                 .disruptions_allowed = 0});
  for (std::size_t at = 0; at < count; ++at) {
    if (at % 10 == 0) cluster.apply(node(at / 10, 10'000));
    Pod pod = running(at, at / 10);
    pod.priority = at % 2 == 0 ? 5 : 0;
    pod.started = now + Duration{-1'000 * static_cast<std::int64_t>(1 + at * 7'919 % 100'003)};
    pod.owners = {{.kind = "ReplicaSet", .name = "all", .uid = "uid-all", .controller = true}};
    cluster.apply(pod);
  }
  for (std::size_t at = 0; at < 10; ++at) cluster.apply(asking(at, 6'000));
}

void constraints_of_one(Cluster& cluster, std::size_t count) {
  Pod ask = asking(0, 2'000);
  Labels keys;
  for (std::size_t at = 0; at < count; ++at) {
    const std::string key = fmt::format("key-{:04}", at);
    keys.emplace_back(key, "x");
    ask.shape.spread.push_back({.topology_key = key, .skew_max = 9, .selector = app("web")});
  }
  for (std::size_t at = 0; at < 20; ++at) {
    Node each = node(at, 10'000);
    each.labels = keys;
    cluster.apply(each);
    for (std::size_t pod = 0; pod < 10; ++pod) cluster.apply(running(at * 10 + pod, at));
  }
  cluster.apply(ask);
}

/// One port a running pod; the ask wants all of them.
void host_ports(Cluster& cluster, std::size_t count) {
  cluster.apply(node(0, plenty));
  Pod ask = asking(0, 1'000);
  for (std::size_t at = 0; at < count; ++at) {
    const HostPort port{.port = static_cast<std::int32_t>(1 + at), .ip = {}};
    Pod pod = running(at, 0);
    pod.shape.ports = {port};
    cluster.apply(pod);
    ask.shape.ports.push_back(port);
  }
  cluster.apply(ask);
}

void taints(Cluster& cluster, std::size_t count) {
  Pod ask = asking(0, 2'000);
  Node tainted = node(0, 10'000);
  for (std::size_t at = 0; at < count; ++at) {
    const std::string key = fmt::format("taint-{:04}", at);
    tainted.taints.push_back({.key = key, .value = "x"});
    ask.shape.tolerations.push_back({.key = key, .value = "x", .effect = {}});
  }
  for (std::size_t at = 0; at < 20; ++at) {
    tainted.name = fmt::format("n{:05}", at);
    cluster.apply(tainted);
    for (std::size_t pod = 0; pod < 10; ++pod) cluster.apply(running(at * 10 + pod, at));
  }
  cluster.apply(ask);
}

void pods_on_one_node(Cluster& cluster, std::size_t count) {
  const auto cpu = static_cast<std::int64_t>(count) * 1'000;
  cluster.apply(node(0, cpu));
  for (std::size_t at = 0; at < count; ++at) cluster.apply(running(at, 0));
  cluster.apply(asking(0, cpu / 2));
}

/// Workloads of a class that is not there, each with a group that has its priority from it.
void wrong_workloads(Cluster& cluster, std::size_t count) {
  for (std::size_t at = 0; at < count; ++at) {
    const std::string name = fmt::format("w{:05}", at);
    cluster.apply(Workload{
        .namespace_name = "default", .name = name, .priority = {.priority_class = "missing"}});
    cluster.apply(
        PodGroup{.namespace_name = "default", .name = fmt::format("g{:05}", at), .workload = name});
  }
}

/// Queues whose parent is not there.
void wrong_queues(Cluster& cluster, std::size_t count) {
  for (std::size_t at = 0; at < count; ++at) {
    cluster.apply(
        Queue{.name = fmt::format("q{:05}", at), .parent = fmt::format("missing-{}", at)});
  }
}

struct GrowthCase {
  std::string_view name;
  std::size_t size = 0;
  void (*fill)(Cluster&, std::size_t) = nullptr;
  bool mends = false;  ///< Nothing is planned; what is wrong goes into quarantine.
};

constexpr std::array cases = {
    GrowthCase{.name = "asks", .size = 100, .fill = no_constraints},
    GrowthCase{.name = "asks-spread-by-zone", .size = 25, .fill = spread_by_zone},
    GrowthCase{.name = "asks-spread-by-host", .size = 25, .fill = spread_by_host},
    GrowthCase{.name = "asks-apart-by-host", .size = 25, .fill = apart_by_host},
    GrowthCase{.name = "namespaces", .size = 1'000, .fill = namespaces},
    GrowthCase{.name = "budgets", .size = 1'000, .fill = budgets},
    GrowthCase{.name = "budgets-that-exclude", .size = 250, .fill = excluding_budgets},
    GrowthCase{.name = "pods-under-an-exhausted-budget", .size = 500, .fill = exhausted_budget},
    GrowthCase{.name = "spread-constraints-of-one-ask", .size = 50, .fill = constraints_of_one},
    GrowthCase{.name = "host-ports", .size = 500, .fill = host_ports},
    GrowthCase{.name = "taints-and-tolerations", .size = 50, .fill = taints},
    GrowthCase{.name = "pods-on-one-node", .size = 1'000, .fill = pods_on_one_node},
    GrowthCase{.name = "wrong-workloads", .size = 1'000, .fill = wrong_workloads, .mends = true},
    GrowthCase{.name = "wrong-queues", .size = 1'000, .fill = wrong_queues, .mends = true},
};

/// The least of three, in milliseconds.
template <class Work>
double processor_ms(const Work& work) {
  double least = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::clock_t begin = std::clock();
    work();
    const double taken = 1'000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    least = round == 0 ? taken : std::min(least, taken);
  }
  return least;
}

struct Measured {
  double decide_ms = 0;
  double check_ms = 0;
  bool right = false;
};

Measured measure(const GrowthCase& item, std::size_t size, const Configuration& configuration) {
  Cluster cluster;
  cluster.begin_bulk();
  item.fill(cluster, size);
  cluster.finish_bulk();
  const JudgedDecision judged = decide_judged(cluster, configuration, now);
  for (const LawBreach& breach : judged.breaches) {
    fmt::print("  law {}, {}: {}\n", breach.law, breach.ask, breach.text);
  }
  return {.decide_ms = processor_ms([&] { decide(cluster, configuration, judged.request); }),
          .check_ms = processor_ms([&] { check_plan(cluster, configuration, judged.plan); }),
          .right = judged.breaches.empty() && !judged.plan.asks.empty() &&
                   std::ranges::all_of(judged.plan.asks, [](const PlanAsk& ask) {
                     return ask.outcome == Outcome::preempts;
                   })};
}

bool compare(const GrowthCase& item, const Configuration& configuration) {
  const Measured small = measure(item, item.size, configuration);
  const Measured large = measure(item, item.size * factor, configuration);
  const bool right = small.right && large.right;
  fmt::print("{:30} {:6} -> {:6}  decide {:9.2f} ms, x {:5.1f}  check {:9.2f} ms, x {:5.1f}  {}\n",
             item.name, item.size, item.size * factor, large.decide_ms,
             large.decide_ms / small.decide_ms, large.check_ms, large.check_ms / small.check_ms,
             right ? "answers checked" : "WRONG ANSWER");
  return right;
}

/// Law 13: what it costs to put every object into quarantine.
bool compare_mending(const GrowthCase& item) {
  const auto mend_ms = [&](std::size_t size) {
    std::vector<Cluster> clusters(rounds);
    for (Cluster& cluster : clusters) {
      cluster.begin_bulk();
      item.fill(cluster, size);
      cluster.finish_bulk();
    }
    bool right = true;
    const double taken = processor_ms([&] {
      Quarantine quarantine;
      quarantine_errors(clusters.back(), quarantine);
      clusters.pop_back();
      right = right && quarantine.objects() == size;
    });
    return std::pair(taken, right);
  };
  const auto [small_ms, small_right] = mend_ms(item.size);
  const auto [large_ms, large_right] = mend_ms(item.size * factor);
  const bool right = small_right && large_right;
  fmt::print("{:30} {:6} -> {:6}  mend   {:9.2f} ms, x {:5.1f}  {}\n", item.name, item.size,
             item.size * factor, large_ms, large_ms / small_ms,
             right ? "answers checked" : "WRONG ANSWER");
  return right;
}

int run(int argc, char** argv) {
  const Configuration configuration = *load_preset(default_preset);
  fmt::print(
      "Times of the larger size, and how many times the smaller one's they are (goal 10).\n");
  return run_cases(
      argc, argv, cases, [](const GrowthCase& item) { return item.name; },
      [&](const GrowthCase& item) {
        return item.mends ? compare_mending(item) : compare(item, configuration);
      });
}

}  // namespace
}  // namespace makeway::bench

int main(int argc, char** argv) { return makeway::bench::run(argc, argv); }
