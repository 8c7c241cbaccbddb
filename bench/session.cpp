// Sessions in resource groups: what one cycle costs when all nodes are full. Every answer goes to
// check_plan, and the victims are compared with those of a slower search, before a time is taken;
// the times are those of `decide` without explanations.
//
//   session [SUBSTRING]   cases whose name contains it, as "one-group-2000"
//
//   one-group    all nodes and sessions in one group: one session preempts, the others find out
//   20-groups    the same nodes in 20 groups: one session preempts in each
//   kernels      sessions of one to four kernels
//   partitions   three tiers over the same nodes, some of them suspend
//   no-room      no session may be preempted: 1,000 verdicts that nothing helps
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.hpp"
#include "bench/support/policy_bench.hpp"
#include "codec/presets.hpp"

namespace makeway::bench {
namespace {

constexpr Time now{1'767'225'600'000};
constexpr std::int64_t gibi = std::int64_t{1} << 30;

struct SessionBench {
  std::string_view name;
  std::size_t nodes = 2'000;
  std::size_t per_node = 5;
  std::size_t pending = 1'000;
  std::size_t groups = 1;
  std::size_t kernels_max = 1;
  bool partitions = false;
  bool preemptible = true;
  double target_us = 0;
};

constexpr std::array cases = {
    SessionBench{.name = "one-group", .nodes = 200, .pending = 100},
    SessionBench{.name = "one-group", .target_us = 20'000},
    SessionBench{.name = "20-groups", .groups = 20, .target_us = 20'000},
    SessionBench{.name = "kernels", .kernels_max = 4, .target_us = 20'000},
    SessionBench{.name = "partitions", .partitions = true, .target_us = 20'000},
    SessionBench{.name = "no-room", .preemptible = false, .target_us = 20'000},
};

std::string node_text(std::size_t at) { return fmt::format("node-{:05}", at); }

Amounts request(Prng& random, std::int64_t gpus) {
  return {{"cpu", random.between(1, 8) * 1'000},
          {"memory", random.between(1, 12) * 4 * gibi},
          {"nvidia.com/gpu", gpus}};
}

void add_groups(const SessionBench& item, Cluster& cluster) {
  for (std::size_t at = 0; at < item.groups; ++at) {
    ResourceGroup group{.name = fmt::format("group-{:02}", at)};
    for (std::size_t node = at; node < item.nodes; node += item.groups) {
      group.nodes.push_back(node_text(node));
    }
    if (!item.preemptible) group.preemptible_priority = 0;
    cluster.apply(group);
  }
  if (!item.partitions) return;
  constexpr std::array modes = {PartitionMode::suspend, PartitionMode::requeue,
                                PartitionMode::cancel};
  for (std::int32_t tier = 1; tier <= 3; ++tier) {
    cluster.apply(Partition{.name = fmt::format("tier-{}", tier),
                            .resource_group = "group-00",
                            .tier = tier,
                            .preemptible = tier < 3,
                            .mode = modes[static_cast<std::size_t>(tier - 1)]});
  }
}

Session session_of(const SessionBench& item, Prng& random, std::size_t group, std::string name) {
  Session session{.namespace_name = "default",
                  .name = std::move(name),
                  .resource_group = fmt::format("group-{:02}", group),
                  .checkpointing = random.below(2) == 0};
  if (item.partitions) session.partition = fmt::format("tier-{}", random.between(1, 3));
  return session;
}

/// Full nodes: what runs there leaves less than one GPU in most places.
Cluster make_cluster(const SessionBench& item) {
  Prng random(item.nodes * 100'003 + item.pending + item.kernels_max);
  Cluster cluster;
  cluster.begin_bulk();
  add_groups(item, cluster);
  for (std::size_t at = 0; at < item.nodes; ++at) {
    cluster.apply(
        Node{.name = node_text(at),
             .allocatable = {
                 {"cpu", 64'000}, {"memory", 512 * gibi}, {"nvidia.com/gpu", 8}, {"pods", 110}}});
    std::int64_t free = 8;
    for (std::size_t each = 0; each < item.per_node; ++each) {
      const bool last = each + 1 == item.per_node;
      const std::int64_t gpus = last ? free : random.between(1, 2);
      free -= gpus;
      Session session =
          session_of(item, random, at % item.groups, fmt::format("r-{:05}-{}", at, each));
      session.created = now + Duration{-1'000 * random.between(1, 100'000)};
      session.priority = static_cast<std::int32_t>(item.preemptible ? random.between(0, 10)
                                                                    : random.between(1, 10));
      session.kernels = {
          {.name = "main", .requests = request(random, gpus), .node = node_text(at)}};
      session.status.phase = SessionPhase::running;
      session.status.started = *session.created;
      cluster.apply(session);
    }
  }
  for (std::size_t at = 0; at < item.pending; ++at) {
    Session session = session_of(item, random, at % item.groups, fmt::format("p-{:05}", at));
    session.created = now + Duration{-1'000 * random.between(1, 1'000)};
    session.priority = static_cast<std::int32_t>(random.between(1, 100));
    const std::int64_t kernels = random.between(1, static_cast<std::int64_t>(item.kernels_max));
    for (std::int64_t kernel = 0; kernel < kernels; ++kernel) {
      session.kernels.push_back(
          {.name = fmt::format("k{}", kernel), .requests = request(random, random.between(1, 8))});
    }
    cluster.apply(session);
  }
  cluster.finish_bulk();
  return cluster;
}

// ---- The slower way -----------------------------------------------------------------------------

using Free = std::map<std::string, std::map<std::string, std::int64_t>>;

bool fits(const std::map<std::string, std::int64_t>& free, const Amounts& wanted) {
  return std::ranges::all_of(
      wanted, [&](const Amount& amount) { return free.at(amount.resource) >= amount.amount; });
}

/// Every session that may leave is gone, then comes back, most important first, while the ask still
/// fits somewhere. Only for one kernel on each side and for the first ask that preempts in its
/// group.
std::vector<std::string> slow_victims(const Cluster& cluster, const Configuration& configuration,
                                      const Session& ask) {
  Free free;
  const ResourceGroup& group = cluster.own<ResourceGroup>().at({std::string(), ask.resource_group});
  for (const std::string& node : group.nodes) {
    for (const Amount& amount : cluster.node(*cluster.find_node(node)).allocatable) {
      free[node][amount.resource] = amount.amount;
    }
  }
  const auto tier = [&](const Session& session) {
    return session.partition.empty()
               ? 0
               : cluster.own<Partition>().at({std::string(), session.partition}).tier;
  };
  const auto move = [&](const Session& session, int sign, bool all) {
    const Partition* const partition =
        session.partition.empty()
            ? nullptr
            : &cluster.own<Partition>().at({std::string(), session.partition});
    const bool keeps = !all && partition != nullptr && partition->mode == PartitionMode::suspend;
    for (const Kernel& kernel : session.kernels) {
      for (const Amount& amount : kernel.requests) {
        if (keeps && amount.resource == "memory") continue;
        free[kernel.node][amount.resource] += sign * amount.amount;
      }
    }
  };
  std::vector<const Session*> candidates;
  for (const auto& [key, session] : cluster.own<Session>()) {
    if (session.resource_group != ask.resource_group || session.kernels.front().node.empty()) {
      continue;
    }
    move(session, -1, true);
    const bool lower = ask.partition.empty()
                           ? *session.priority < *ask.priority &&
                                 *session.priority <= configuration.session.preemptible_priority
                           : tier(session) < tier(ask);
    if (lower) candidates.push_back(&session);
  }
  std::ranges::sort(candidates, std::ranges::greater{}, [&](const Session* session) {
    return std::tuple(tier(*session), *session->priority, session->status.started->ms,
                      session->name);
  });
  const auto fits_somewhere = [&] {
    return std::ranges::any_of(
        free, [&](const auto& node) { return fits(node.second, ask.kernels.front().requests); });
  };
  for (const Session* session : candidates) move(*session, 1, false);
  std::vector<std::string> victims;
  if (!fits_somewhere()) return victims;
  for (const Session* session : candidates) {
    const std::string& node = session->kernels.front().node;
    const bool fitted = fits(free[node], ask.kernels.front().requests);
    move(*session, -1, false);
    if (!fitted || fits(free[node], ask.kernels.front().requests) || fits_somewhere()) continue;
    move(*session, 1, false);
    victims.push_back(session->name);
  }
  return victims;
}

bool right_victims(const Cluster& cluster, const Configuration& configuration, const Plan& plan) {
  std::size_t compared = 0;
  constexpr std::size_t enough = 3;
  for (const PlanAsk& ask : plan.asks) {
    const Session& session = cluster.own<Session>().at({ask.namespace_name, ask.name});
    if (ask.outcome != Outcome::preempts || session.kernels.size() > 1 || compared == enough) {
      continue;
    }
    // What others before it took from the same group would have to be known.
    const bool first = std::ranges::none_of(plan.asks, [&](const PlanAsk& other) {
      return &other < &ask && !other.placements.empty() &&
             other.session->resource_group == ask.session->resource_group;
    });
    if (!first) continue;
    ++compared;
    std::vector<std::string> names;
    names.reserve(ask.victims.size());
    for (const PlanVictim& victim : ask.victims) names.push_back(victim.name);
    if (names != slow_victims(cluster, configuration, session)) return false;
  }
  return true;
}

bool measure(const SessionBench& item) {
  const Cluster cluster = make_cluster(item);
  const Configuration configuration = *load_preset(default_preset);
  const JudgedDecision judged = decide_judged(cluster, configuration, now);
  std::size_t victims = 0;
  std::size_t preempting = 0;
  std::size_t fitting = 0;
  for (const PlanAsk& ask : judged.plan.asks) {
    victims += ask.victims.size();
    preempting += ask.outcome == Outcome::preempts ? 1 : 0;
    fitting += ask.outcome == Outcome::fits ? 1 : 0;
  }
  const bool right = judged.breaches.empty() && judged.plan.asks.size() == item.pending &&
                     (preempting > 0) == item.preemptible &&
                     right_victims(cluster, configuration, judged.plan);
  print_result(fmt::format("{:10} {:6} nodes {:6} running {:5} pending  fit {:3} preempt {:2} "
                           "victims {:3}",
                           item.name, item.nodes, item.nodes * item.per_node, item.pending, fitting,
                           preempting, victims),
               time_decision(cluster, configuration, judged), static_cast<double>(item.target_us),
               right, judged);
  return right;
}

int run(int argc, char** argv) {
  const auto name_of = [](const SessionBench& item) {
    return fmt::format("{}-{}", item.name, item.nodes);
  };
  return run_cases(argc, argv, cases, name_of, measure);
}

}  // namespace
}  // namespace makeway::bench

int main(int argc, char** argv) { return makeway::bench::run(argc, argv); }
