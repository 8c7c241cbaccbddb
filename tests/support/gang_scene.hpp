// A tiny cluster in the short notation in which the gang `ask` looks for places on all nodes, for
// tests of single functions.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/workload/group/group_domains.hpp"
#include "policies/workload/group/member_fits.hpp"
#include "support/short_cluster.hpp"

namespace makeway {

struct GangScene : ShortWorld {
  explicit GangScene(std::string_view text, Configuration rules = {})
      : ShortWorld(text, std::move(rules)) {}

  PodOnNode at(std::string_view pod_name, std::string_view node_name) const {
    return {.pod = pod(pod_name), .node = node(node_name)};
  }
  /// "ask-0@n1 ask-1@n2", by name.
  std::string text(std::span<const PodOnNode> places) const {
    std::vector<std::string> texts;
    for (const PodOnNode& place : places) texts.push_back(name(place.pod) + "@" + name(place.node));
    return joined(std::move(texts));
  }
  /// By name.
  std::string text(std::span<const PodIndex> pods) const {
    std::vector<std::string> texts;
    for (const PodIndex each : pods) texts.push_back(name(each));
    return joined(std::move(texts));
  }
  static std::string joined(std::vector<std::string> texts) {
    std::ranges::sort(texts);
    std::string all;
    for (const std::string& each : texts) all += (all.empty() ? "" : " ") + each;
    return all;
  }

  /// Those that are pending, by name.
  std::vector<PodIndex> pending() const {
    std::vector<PodIndex> found;
    for (const PodIndex pod : cluster.groups()[cluster.units()[unit("ask")].group].members) {
      if (!cluster.pods().node[pod].exists()) found.push_back(pod);
    }
    std::ranges::sort(found, {}, [this](PodIndex pod) { return name(pod); });
    return found;
  }
  GroupDomain all_nodes() {
    GroupDomain all;
    all.nodes.assign(world.survey().nodes().begin(), world.survey().nodes().end());
    all.widest = true;
    return all;
  }

  std::vector<PodIndex> members = pending();
  GroupDomain domain = all_nodes();
  MemberFits fits{world, world.after(), members};
};

}  // namespace makeway
