#include "cli/snapshot_watch.hpp"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>

#include "cli/interrupt_watch.hpp"
#include "cli/palette.hpp"
#include "cli/problem_text.hpp"
#include "kube/live_feed.hpp"

namespace makeway::cli {
namespace {

constexpr std::int64_t reconnect_patience_ms = 60'000;
constexpr Duration step{100};

using DaemonSets = std::set<std::pair<std::string, std::string>>;

void take_changes(kube::LiveFeed& feed, Cluster& cluster, DaemonSets& daemon_sets) {
  const kube::ChangeMailbox::Taken taken = feed.mailbox().take_all();
  for (const Change& change : taken.changes) cluster.apply(change);
  for (const DaemonSetNews& news : taken.news.daemon_sets) {
    std::pair name(news.namespace_name, news.name);
    if (news.exists) {
      daemon_sets.insert(std::move(name));
    } else {
      daemon_sets.erase(name);
    }
  }
}

Loaded loaded_from(Cluster cluster, const DaemonSets& daemon_sets) {
  Loaded loaded;
  loaded.cluster = std::move(cluster);
  for (const auto& [namespace_name, name] : daemon_sets) {
    loaded.workloads.push_back(
        {.kind = "DaemonSet", .namespace_name = namespace_name, .name = name});
  }
  return loaded;
}

}  // namespace

std::optional<Loaded> watch_cluster(const kube::TargetRequest& request, Duration span,
                                    Terminal& terminal) {
  OpenedCluster opened = open_cluster(request, terminal.kube);
  std::vector<kube::ServedResource> served;
  if (opened.connection != nullptr) {
    if (auto found = opened.connection->api().discover()) {
      served = std::move(*found);
    } else {
      opened.problems.push_back(found.error().problem);
    }
  }
  terminal.error.write(problem_lines(opened.problems, palette_for_error(terminal)));
  if (opened.problems.count(Severity::error) > 0) return std::nullopt;

  const InterruptWatch interrupt;
  constexpr std::uint64_t jitter_seed = 1;
  kube::LiveFeed feed(std::move(opened.connection), served, jitter_seed, {},
                      kube::FeedUse::to_compare);
  Cluster cluster;
  DaemonSets daemon_sets;
  const Time start = kube::monotonic_now();
  while (kube::monotonic_now() - start < span && !interrupt.seen()) {
    feed.mailbox().wait(step);
    take_changes(feed, cluster, daemon_sets);
  }
  const Time end = kube::monotonic_now();
  while (!feed.sees_all() && (kube::monotonic_now() - end).ms < reconnect_patience_ms) {
    feed.mailbox().wait(step);
  }
  const bool sees_all = feed.sees_all();
  take_changes(feed, cluster, daemon_sets);
  if (sees_all) return loaded_from(std::move(cluster), daemon_sets);
  Problems missing;
  for (kube::MissingWatch& each : feed.missing()) {
    missing.push_back(std::move(each.error.problem));
  }
  terminal.error.write(
      fmt::format("{}makeway: not all kinds could be watched a minute after the end; nothing is "
                  "shown\n",
                  problem_lines(missing, palette_for_error(terminal))));
  return std::nullopt;
}

}  // namespace makeway::cli
