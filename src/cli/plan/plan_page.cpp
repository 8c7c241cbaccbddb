#include "cli/plan/plan_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "cli/plan/page_nodes.hpp"
#include "cli/plan/plan_text.hpp"
#include "codec/writer.hpp"
#include "page/page.hpp"

namespace makeway::cli {
namespace {

constexpr std::size_t page_asks_max = 1'000;
constexpr std::size_t page_lines_max = 50;  ///< Of each list of an ask.

void write_page_resources(JsonWriter& writer, const PageNodes& nodes, const Cluster& cluster) {
  writer.key("resources");
  writer.begin_array();
  for (const ResourceIndex resource : nodes.resources()) {
    writer.string(cluster.resources().name(resource));
  }
  writer.end_array();
}

void write_page_amounts(JsonWriter& writer, const PageAmounts& amounts) {
  for (const std::int64_t amount : amounts) writer.integer(amount);
}

/// Lists of numbers instead of objects: there may be thousands of nodes.
void write_page_node(JsonWriter& writer, const PageNode& node) {
  writer.begin_object();
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
  writer.end_object();
}

/// The first few of a list, and how many there are.
template <class Items, class Write>
void write_page_list(JsonWriter& writer, std::string_view name, const Items& items,
                     const Write& write) {
  writer.key(name);
  writer.begin_array();
  std::size_t listed = 0;
  for (const auto& item : items) {
    if (++listed > page_lines_max) break;
    writer.begin_object();
    write(item);
    writer.end_object();
  }
  writer.end_array();
}

std::string page_pod(std::string_view namespace_name, std::string_view name,
                     std::string_view plane) {
  return PageNodes::name_of(fmt::format("{}/{}", namespace_name, name), plane);
}

void write_page_place(JsonWriter& writer, const PodPlacement& place) {
  writer.string_field("pod", page_pod(place.namespace_name, place.name, place.plane));
  writer.string_field("node", PageNodes::name_of(place.node, place.plane));
}

/// Victims that are pods or sessions, and replicas: both have a name, a place and a reason.
template <class Victim>
void write_page_victim(JsonWriter& writer, const Victim& victim, std::string_view node) {
  writer.string_field("pod", page_pod(victim.namespace_name, victim.name, victim.plane));
  writer.string_field("node", node);
  writer.integer_field("priority", victim.priority);
  writer.string_field("reason", victim.reason);
  writer.string_field("rule", victim.cause_rule);
  writer.string_field("alternative", victim.cause_alternative);
  writer.string_field("key", victim.cause_key);
}

void write_page_victims(JsonWriter& writer, const PlanAsk& ask) {
  if (!ask.replicas) {
    return write_page_list(writer, "victims", ask.victims, [&](const PlanVictim& victim) {
      write_page_victim(writer, victim, PageNodes::name_of(victim.node, victim.plane));
    });
  }
  std::vector<std::pair<const PlanReplicaClaim*, const PlanReplicaVictim*>> all;
  for (const PlanReplicaClaim& claim : ask.replicas->claims) {
    for (const PlanReplicaVictim& victim : claim.victims) all.emplace_back(&claim, &victim);
  }
  write_page_list(writer, "victims", all, [&](const auto& each) {
    write_page_victim(writer, *each.second,
                      PageNodes::name_of(each.first->node, each.first->plane));
  });
}

void write_page_explanation(JsonWriter& writer, const PlanExplanation& explanation) {
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

void write_page_ask(JsonWriter& writer, const PlanAsk& ask) {
  const auto place = [&](const PodPlacement& each) { write_page_place(writer, each); };
  writer.begin_object();
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
  writer.end_object();
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
  writer.key("nodes");
  writer.begin_array();
  for (const PageNode& node : nodes.nodes()) write_page_node(writer, node);
  writer.end_array();
  writer.integer_field("asksAll", std::ssize(plan.asks));
  writer.key("asks");
  writer.begin_array();
  for (const PlanAsk* const ask : page_asks(plan)) write_page_ask(writer, *ask);
  writer.end_array();
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
