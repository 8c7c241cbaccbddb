#include "cli/plan/plan_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "cli/plan/ask_kinds.hpp"
#include "cli/plan/plan_text.hpp"
#include "codec/writer.hpp"
#include "page/page.hpp"

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
  add_placed_pods(plan);
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
    each_replica_victim(ask, [&](const auto& /*claim*/, const PlanReplicaVictim& victim) {
      if (victim.action == ReplicaAction::wait) return;
      mark_victim(victim.namespace_name, victim.name, victim.plane);
    });
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

void PageNodes::add_placed_pods(const Plan& plan) {
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

namespace {

constexpr std::size_t page_asks_max = 1'000;
constexpr std::size_t page_lines_max = 50;  ///< Of each list of an ask.

void write_page_resources(DocumentWriter& writer, const PageNodes& nodes, const Cluster& cluster) {
  writer.key("resources");
  writer.begin_array();
  for (const ResourceIndex resource : nodes.resources()) {
    writer.string(cluster.resources().name(resource));
  }
  writer.end_array();
}

void write_page_amounts(DocumentWriter& writer, const PageAmounts& amounts) {
  for (const std::int64_t amount : amounts) writer.integer(amount);
}

/// Lists of numbers instead of objects: there may be thousands of nodes.
void write_page_node(DocumentWriter& writer, const PageNode& node) {
  writer.string_field("name", node.name);
  if (node.unschedulable) writer.boolean_field("closed", true);
  if (node.touched) writer.boolean_field("touched", true);
  writer.key("room");
  writer.begin_array();
  write_page_amounts(writer, node.room);
  writer.end_array();
  writer.key("parts");
  writer.begin_array();
  for (const auto& [key, segment] : node.segments) {
    writer.begin_array();
    writer.integer(static_cast<std::int64_t>(key.first));
    writer.integer(-key.second);
    writer.integer(segment.pods);
    write_page_amounts(writer, segment.amounts);
    writer.end_array();
  }
  writer.end_array();
  if (!node.pods.empty()) {
    writer.key("pods");
    writer.begin_array();
    for (const PagePod& pod : node.pods) {
      writer.begin_array();
      writer.string(pod.name);
      writer.integer(static_cast<std::int64_t>(pod.fate));
      writer.integer(pod.priority);
      write_page_amounts(writer, pod.amounts);
      writer.end_array();
    }
    writer.end_array();
  }
}

/// The first few of a list.
template <class Items, class Write>
void write_page_list(DocumentWriter& writer, std::string_view name, const Items& items,
                     const Write& write) {
  write_list(writer, name, items | std::views::take(page_lines_max), write);
}

std::string page_pod(std::string_view namespace_name, std::string_view name,
                     std::string_view plane) {
  return PageNodes::name_of(fmt::format("{}/{}", namespace_name, name), plane);
}

void write_page_place(DocumentWriter& writer, const PodPlacement& place) {
  writer.string_field("pod", page_pod(place.namespace_name, place.name, place.plane));
  writer.string_field("node", PageNodes::name_of(place.node, place.plane));
}

/// Victims that are pods or sessions, and replicas: both have a name, a place and a reason.
template <class Victim>
void write_page_victim(DocumentWriter& writer, const Victim& victim, std::string_view node) {
  writer.string_field("pod", page_pod(victim.namespace_name, victim.name, victim.plane));
  writer.string_field("node", node);
  writer.integer_field("priority", victim.priority);
  writer.string_field("reason", victim.reason);
  writer.string_field("rule", victim.cause_rule);
  writer.string_field("alternative", victim.cause_alternative);
  writer.string_field("key", victim.cause_key);
}

void write_page_victims(DocumentWriter& writer, const PlanAsk& ask) {
  if (!ask.replicas) {
    return write_page_list(writer, "victims", ask.victims, [&](const PlanVictim& victim) {
      write_page_victim(writer, victim, PageNodes::name_of(victim.node, victim.plane));
    });
  }
  std::vector<std::pair<const PlanReplicaClaim*, const PlanReplicaVictim*>> all;
  each_replica_victim(
      ask, [&](const auto& claim, const auto& victim) { all.emplace_back(&claim, &victim); });
  write_page_list(writer, "victims", all, [&](const auto& each) {
    write_page_victim(writer, *each.second,
                      PageNodes::name_of(each.first->node, each.first->plane));
  });
}

void write_page_explanation(DocumentWriter& writer, const PlanExplanation& explanation) {
  write_page_list(writer, "alternatives", explanation.alternatives,
                  [&](const PlanAlternative& other) {
                    writer.string_field("node", other.node);
                    writer.string_field("domain", other.domain);
                    writer.integer_field("victims", other.victims);
                    writer.string_field("lostOn", other.lost_on);
                  });
  write_page_list(writer, "refusals", explanation.refusals, [&](const PlanRefusal& refusal) {
    writer.string_field("text", refusal_text(refusal));
    writer.integer_field("nodes", refusal.nodes);
    writer.string_field("example", refusal.example);
  });
}

void write_page_ask(DocumentWriter& writer, const PlanAsk& ask) {
  const auto place = [&](const PodPlacement& each) { write_page_place(writer, each); };
  writer.string_field("name", ask_text(ask));
  writer.integer_field("priority", ask.priority);
  writer.string_field("outcome", choice_names<Outcome>[static_cast<std::size_t>(ask.outcome)]);
  writer.string_field("reason", ask.reason);
  if (ask.pending_seconds) writer.integer_field("pending", *ask.pending_seconds);
  write_page_list(writer, "places", ask.placements, place);
  writer.integer_field("placesAll", std::ssize(ask.placements));
  write_page_list(writer, "waitsFor", ask.waits_for, place);
  write_page_victims(writer, ask);
  writer.integer_field("victimsAll", static_cast<std::int64_t>(victim_count(ask)));
  writer.string_field("cost", cost_text(ask.cost));
  write_page_explanation(writer, ask.explanation);
}

/// If there are very many: asks that preempt, then asks without a place, then the others; each in
/// the order of the plan.
std::vector<const PlanAsk*> page_asks(const Plan& plan) {
  std::vector<const PlanAsk*> asks;
  asks.reserve(plan.asks.size());
  for (const PlanAsk& ask : plan.asks) asks.push_back(&ask);
  if (asks.size() <= page_asks_max) return asks;
  const auto rank = [](const PlanAsk* ask) {
    if (needs_victims(*ask)) return 0;
    return ask->outcome == Outcome::fits ? 2 : 1;
  };
  std::ranges::stable_sort(asks, {}, rank);
  asks.resize(page_asks_max);
  return asks;
}

}  // namespace

std::string plan_page_json(const Plan& plan, const Cluster& cluster,
                           const Configuration& configuration) {
  const PageNodes nodes(plan, cluster, configuration);
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  writer.string_field("id", plan.id);
  writer.string_field("preset", plan.preset);
  writer.string_field("totals", totals_text(plan));
  writer.string_field("cost", cost_text(plan.cost));
  writer.string_field("withheld", plan.withheld);
  writer.integer_field("leftOut", std::ssize(plan.left_out));
  write_page_resources(writer, nodes, cluster);
  write_list(writer, "nodes", nodes.nodes(), write_page_node);
  writer.integer_field("asksAll", std::ssize(plan.asks));
  write_list(writer, "asks", page_asks(plan),
             [&](const PlanAsk* const ask) { write_page_ask(writer, *ask); });
  writer.end_object();
  return text;
}

std::string plan_page(const Plan& plan, const Cluster& cluster,
                      const Configuration& configuration) {
  const std::string json = plan_page_json(plan, cluster, configuration);
  return page_html(
      {.title = fmt::format("Makeway plan {}", plan.id), .bundle = PageBundle::plan, .json = json});
}

}  // namespace makeway::cli
