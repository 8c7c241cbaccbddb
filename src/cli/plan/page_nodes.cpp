#include "cli/plan/page_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace makeway::cli {
namespace {

constexpr std::size_t page_small_nodes = 100;

}  // namespace

std::string PageNodes::name_of(std::string_view name, std::string_view plane) {
  return plane.empty() ? std::string(name) : fmt::format("{}:{}", plane, name);
}

PageNodes::PageNodes(const Plan& plan, const Cluster& cluster, const Configuration& configuration)
    : cluster_(cluster),
      kernels_(cluster, configuration.session),
      shows_all_(cluster.node_count() <= page_small_nodes) {
  choose_resources();
  mark_victims(plan);
  mark_touched(plan);
  for (const NodeIndex node : cluster_.nodes_by_name()) list(node);
  add_comers(plan);
}

void PageNodes::choose_resources() {
  std::set<std::string> others;
  for (const NodeIndex node : cluster_.nodes_by_name()) {
    for (const ResourceAmount& each : cluster_.requests(cluster_.nodes().allocatable[node])) {
      const std::string_view name = cluster_.resources().name(each.resource);
      if (each.amount == 0 || name == pods_name || name == storage_name) continue;
      if (name != cpu_name && name != memory_name) others.emplace(name);
    }
  }
  resources_ = {resource_cpu, resource_memory};
  // GPUs first: where there are any, plans are about them.
  std::vector<std::string> names(others.begin(), others.end());
  std::ranges::stable_partition(names, [](const std::string& n) { return n.contains("gpu"); });
  for (const std::string& name : names) {
    if (resources_.size() == resources_max) break;
    for (std::uint32_t at = 0; at < cluster_.resources().size(); ++at) {
      if (cluster_.resources().name(ResourceIndex{at}) == name) {
        resources_.push_back(ResourceIndex{at});
      }
    }
  }
}

void PageNodes::mark_victim(std::string_view namespace_name, std::string_view name,
                            std::string_view plane) {
  if (const auto pod = cluster_.find_pod(namespace_name, name, plane)) victims_.insert(*pod);
}

void PageNodes::mark_victims(const Plan& plan) {
  for (const PlanAsk& ask : plan.asks) {
    for (const PlanVictim& victim : ask.victims) {
      mark_victim(victim.namespace_name, victim.name, victim.plane);
      if (!ask.session) continue;
      // A session leaves with all its kernels.
      const auto kernels =
          cluster_.kernel_rows().find({victim.namespace_name, victim.name, victim.plane});
      if (kernels == cluster_.kernel_rows().end()) continue;
      for (const KernelRows& rows : kernels->second) {
        victims_.insert(rows.row);
        if (rows.memory.exists()) victims_.insert(rows.memory);
      }
    }
    if (!ask.replicas) continue;
    for (const PlanReplicaClaim& claim : ask.replicas->claims) {
      for (const PlanReplicaVictim& victim : claim.victims) {
        if (victim.action == ReplicaAction::wait) continue;
        mark_victim(victim.namespace_name, victim.name, victim.plane);
      }
    }
  }
}

void PageNodes::mark_touched(const Plan& plan) {
  const auto touch = [&](const PodPlacement& place) {
    touched_.insert(name_of(place.node, place.plane));
  };
  for (const PlanAsk& ask : plan.asks) {
    std::ranges::for_each(ask.placements, touch);
    std::ranges::for_each(ask.waits_for, touch);
    if (!ask.replicas) continue;
    for (const PlanReplicaClaim& claim : ask.replicas->claims) {
      touched_.insert(name_of(claim.node, claim.plane));
    }
  }
  for (const PodIndex victim : victims_) {
    const NodeIndex node = cluster_.pods().node[victim];
    if (!node.exists()) continue;
    touched_.insert(name_of(cluster_.text(cluster_.nodes().name[node]),
                            cluster_.text(cluster_.nodes().plane[node])));
  }
}

PageAmounts PageNodes::amounts_of(RequestId requests) const {
  PageAmounts amounts(resources_.size(), 0);
  for (const ResourceAmount& each : cluster_.requests(requests)) {
    const auto found = std::ranges::find(resources_, each.resource);
    if (found != resources_.end()) {
      amounts[static_cast<std::size_t>(found - resources_.begin())] = each.amount;
    }
  }
  return amounts;
}

void PageNodes::list(NodeIndex index) {
  const NodeColumns& columns = cluster_.nodes();
  PageNode node{
      .name = name_of(cluster_.text(columns.name[index]), cluster_.text(columns.plane[index])),
      .unschedulable = columns.flags[index].unschedulable,
      .room = amounts_of(columns.allocatable[index])};
  node.touched = touched_.contains(node.name);
  for (const PodIndex pod : cluster_.order().pods(index)) {
    PodFate fate = PodFate::stays;
    if (cluster_.pods().deletion[pod] != no_time) fate = PodFate::leaving;
    if (victims_.contains(pod)) fate = PodFate::goes;
    add(node, {.name = kernels_.name_of(pod),
               .priority = kernels_.priority_of(pod),
               .fate = fate,
               .amounts = amounts_of(cluster_.pods().requests[pod])});
  }
  by_name_.emplace(node.name, nodes_.size());
  nodes_.push_back(std::move(node));
}

void PageNodes::add(PageNode& node, PagePod pod) {
  PageSegment& segment = node.segments[{pod.fate, -std::int64_t{pod.priority}}];
  segment.amounts.resize(resources_.size(), 0);
  ++segment.pods;
  for (std::size_t at = 0; at < pod.amounts.size(); ++at) segment.amounts[at] += pod.amounts[at];
  if ((!node.touched && !shows_all_) || pods_shown_ == pods_shown_max) return;
  ++pods_shown_;
  node.pods.push_back(std::move(pod));
}

void PageNodes::comes(std::string_view node, std::string_view plane, PagePod pod) {
  const auto found = by_name_.find(name_of(node, plane));
  if (found != by_name_.end()) add(nodes_[found->second], std::move(pod));
}

void PageNodes::add_comers(const Plan& plan) {
  for (const PlanAsk& ask : plan.asks) {
    for (const PodPlacement& place : ask.placements) {
      const auto pod = ask.session
                           ? cluster_.find_pod({}, place.namespace_name + "/" + place.name)
                           : cluster_.find_pod(place.namespace_name, place.name, place.plane);
      // A pod without a row: of a ReplicaSchedule, whose claims are shown instead.
      if (!pod) continue;
      comes(place.node, place.plane,
            {.name = kernels_.name_of(*pod),
             .priority = ask.priority,
             .fate = PodFate::comes,
             .amounts = amounts_of(cluster_.pods().requests[*pod])});
    }
    add_claims(ask);
  }
}

void PageNodes::add_claims(const PlanAsk& ask) {
  if (!ask.replicas) return;
  for (const PlanReplicaClaim& claim : ask.replicas->claims) {
    PageAmounts amounts(resources_.size(), 0);
    for (std::size_t at = 0; at < resources_.size(); ++at) {
      if (cluster_.resources().name(resources_[at]) == ask.replicas->resource) {
        amounts[at] = claim.needed;
      }
    }
    comes(claim.node, claim.plane,
          {.name = fmt::format("a replica of {}", ask_text(ask)),
           .priority = ask.priority,
           .fate = PodFate::comes,
           .amounts = std::move(amounts)});
  }
}

}  // namespace makeway::cli
