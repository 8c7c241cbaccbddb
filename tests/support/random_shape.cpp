#include "support/random_shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/names.hpp"

namespace makeway {

// ---- Labels and namespaces ----------------------------------------------------------------------

std::string RandomShapes::space() {
  const std::uint64_t number = random_.below(options_.namespaces);
  return number == 0 ? std::string(names::default_namespace) : fmt::format("space-{}", number);
}

std::vector<Namespace> RandomShapes::namespaces() {
  std::vector<Namespace> objects;
  for (std::size_t number = 0; number < options_.namespaces; ++number) {
    Namespace object{.name = number == 0 ? std::string(names::default_namespace)
                                         : fmt::format("space-{}", number)};
    if (random_.chance(60)) {
      object.labels = {{.key = "team", .value = random_.chance(50) ? "blue" : "red"}};
    }
    objects.push_back(std::move(object));
  }
  return objects;
}

std::string RandomShapes::application() {
  static const std::vector<std::string> pool = {"web", "web", "data", "job"};
  return random_.pick(pool);
}

Labels RandomShapes::labels() {
  Labels labels;
  if (random_.chance(85)) labels.push_back({.key = "app", .value = application()});
  if (random_.chance(40)) {
    labels.push_back({.key = "tier", .value = random_.chance(50) ? "front" : "back"});
  }
  return labels;
}

std::string RandomShapes::zone() { return fmt::format("zone-{}", random_.below(3)); }

std::string RandomShapes::topology_key() {
  const std::uint64_t drawn = random_.below(100);
  if (drawn < 45) return std::string(names::hostname);
  if (drawn < 90) return std::string(zone_key);
  return drawn < 96 ? "disk" : "nowhere";
}

Requirement RandomShapes::label_requirement() {
  Requirement requirement{
      .key = random_.chance(80) ? "app" : "tier", .operation = Operator::in, .values = {}};
  if (!random_.chance(75)) requirement.operation = static_cast<Operator>(random_.below(4));
  const bool with_values =
      requirement.operation == Operator::in || requirement.operation == Operator::not_in;
  if (!with_values) return requirement;
  const bool of_application = requirement.key == "app";
  requirement.values = {of_application ? application() : "front"};
  if (random_.chance(20)) requirement.values.push_back(of_application ? application() : "back");
  return requirement;
}

LabelSelector RandomShapes::selector() {
  LabelSelector selector;
  if (random_.chance(7)) return selector;
  selector.requirements.push_back(label_requirement());
  if (random_.chance(15)) selector.requirements.push_back(label_requirement());
  return selector;
}

// ---- Nodes --------------------------------------------------------------------------------------

Taint RandomShapes::taint() {
  Taint taint{.key = random_.chance(60) ? "dedicated" : "flaky"};
  if (random_.chance(60)) taint.value = random_.chance(50) ? "training" : "serving";
  taint.effect = static_cast<TaintEffect>(random_.below(3));
  return taint;
}

std::vector<Taint> RandomShapes::taints() {
  std::vector<Taint> taints;
  if (random_.chance(40)) taints.push_back(taint());
  // The API allows a key once for each effect.
  if (taints.size() == 1 && random_.chance(20)) {
    Taint second = taint();
    if (second.key != taints.front().key) taints.push_back(std::move(second));
  }
  return taints;
}

Toleration RandomShapes::toleration() {
  Toleration toleration;
  if (random_.chance(10)) {
    toleration.exists = true;
  } else {
    const Taint like = taint();
    toleration.key = random_.chance(10) ? "node.kubernetes.io/unschedulable" : like.key;
    toleration.exists = random_.chance(40);
    if (!toleration.exists) toleration.value = like.value;
  }
  if (random_.chance(50)) toleration.effect = static_cast<TaintEffect>(random_.below(3));
  return toleration;
}

Requirement RandomShapes::node_requirement() {
  static const std::vector<std::string> keys = {std::string(zone_key), "disk", "generation",
                                                std::string(names::hostname), "nowhere"};
  Requirement requirement{.key = random_.pick(keys),
                          .operation = static_cast<Operator>(random_.below(6)),
                          .values = {}};
  const bool compares = requirement.operation == Operator::greater_than ||
                        requirement.operation == Operator::less_than;
  if (compares) {
    if (random_.chance(80)) requirement.key = "generation";
    requirement.values = {fmt::format("{}", random_.below(4))};
  } else if (requirement.operation == Operator::in || requirement.operation == Operator::not_in) {
    for (std::uint64_t i = 0; i <= random_.below(3); ++i) {
      if (requirement.key == "disk") {
        requirement.values.emplace_back(random_.chance(50) ? "ssd" : "hdd");
      } else if (requirement.key == names::hostname) {
        requirement.values.push_back(fmt::format("node-{}", random_.below(options_.nodes)));
      } else {
        requirement.values.push_back(
            requirement.key == "generation" ? fmt::format("{}", random_.below(5)) : zone());
      }
    }
  }
  return requirement;
}

NodeSelectorTerm RandomShapes::node_term() {
  NodeSelectorTerm term;
  if (random_.chance(85)) term.labels.push_back(node_requirement());
  if (random_.chance(25)) term.labels.push_back(node_requirement());
  if (random_.chance(15)) {
    term.fields.push_back({.key = "metadata.name",
                           .operation = random_.chance(30) ? Operator::in : Operator::not_in,
                           .values = {fmt::format("node-{}", random_.below(options_.nodes))}});
  }
  return term;
}

void RandomShapes::demand_nodes(PodShape& shape) {
  if (on(options_.node_affinity, 20)) {
    if (random_.chance(50)) {
      shape.node_selector.push_back({.key = std::string(zone_key), .value = zone()});
    } else {
      shape.node_selector.push_back({.key = "disk", .value = "ssd"});
    }
  }
  if (on(options_.node_affinity, 40)) {
    for (std::uint64_t i = 0; i <= random_.below(3); ++i) shape.node_terms.push_back(node_term());
  }
  while (on(options_.taints || options_.cordons, 50)) shape.tolerations.push_back(toleration());
}

// ---- Other pods ---------------------------------------------------------------------------------

HostPort RandomShapes::port() {
  static const std::vector<std::string> addresses = {"", "", "0.0.0.0", "127.0.0.1", "10.0.0.1"};
  HostPort port{.port = random_.chance(70) ? 8080 : 9090};
  if (random_.chance(30)) port.protocol = Protocol::udp;
  port.ip = random_.pick(addresses);
  return port;
}

bool RandomShapes::clash(const PodShape& a, const PodShape& b) {
  const auto everywhere = [](const HostPort& port) {
    return port.ip.empty() || port.ip == "0.0.0.0";
  };
  return std::ranges::any_of(a.ports, [&](const HostPort& one) {
    return std::ranges::any_of(b.ports, [&](const HostPort& other) {
      return one.port == other.port && one.protocol == other.protocol &&
             (everywhere(one) || everywhere(other) || one.ip == other.ip);
    });
  });
}

/// `of_itself`: it selects the pod's own labels, as series of equal pods do.
PodAffinityTerm RandomShapes::term(const Pod& pod, bool of_itself) {
  PodAffinityTerm term{.selector = selector(), .topology_key = topology_key()};
  if (of_itself && !pod.labels.empty()) {
    const Label& label = pod.labels.front();
    term.selector->requirements = {
        {.key = label.key, .operation = Operator::in, .values = {label.value}}};
  } else if (random_.chance(4)) {
    term.selector.reset();
  }
  const std::uint64_t drawn = random_.below(100);
  if (drawn < 20) {
    term.namespaces = {space()};
    if (random_.chance(30)) term.namespaces.push_back(space());
  }
  if (drawn >= 15 && drawn < 35) {
    term.namespace_selector.emplace();
    if (random_.chance(70)) {
      term.namespace_selector->requirements = {
          {.key = "team", .operation = Operator::in, .values = {"blue"}}};
    }
  }
  if (term.namespaces.empty() && !term.namespace_selector) {
    term.namespaces = {pod.namespace_name};
  }
  return term;
}

SpreadConstraint RandomShapes::constraint(const Pod& pod) {
  SpreadConstraint constraint{.topology_key = topology_key(),
                              .skew_max = static_cast<std::int32_t>(random_.between(1, 3)),
                              .domains_min = 1,
                              .honor_node_affinity = random_.chance(70),
                              .honor_node_taints = random_.chance(40),
                              .selector = {}};
  if (random_.chance(30)) constraint.domains_min = static_cast<std::int32_t>(random_.between(2, 4));
  if (random_.chance(96)) constraint.selector = selector();
  if (constraint.selector && random_.chance(60) && !pod.labels.empty()) {
    const Label& label = pod.labels.front();
    constraint.selector->requirements = {
        {.key = label.key, .operation = Operator::in, .values = {label.value}}};
  }
  const bool empty = constraint.selector && constraint.selector->requirements.empty();
  if (empty && !options_.peer_quirks) constraint.selector.reset();
  return constraint;
}

PodShape RandomShapes::of_bound(const Pod& pod) {
  PodShape shape;
  if (on(options_.ports, 25)) shape.ports.push_back(port());
  if (on(options_.anti_affinity, 12)) shape.anti_affinity.push_back(term(pod, random_.chance(30)));
  if (on(options_.volumes, 40)) shape.claims = volumes().uses();
  // What cannot matter any more, and must not.
  if (on(options_.affinity, 5)) shape.affinity.push_back(term(pod, random_.chance(50)));
  if (on(options_.spread, 5)) shape.spread.push_back(constraint(pod));
  return shape;
}

PodShape RandomShapes::of_ask(const Pod& pod) {
  PodShape shape;
  demand_nodes(shape);
  for (std::uint64_t i = 0; i < 2; ++i) {
    const std::uint64_t percent = i == 0 ? 50 : 20;
    if (on(options_.ports, percent)) shape.ports.push_back(port());
    if (on(options_.affinity, percent)) shape.affinity.push_back(term(pod, random_.chance(50)));
    if (on(options_.anti_affinity, percent)) {
      shape.anti_affinity.push_back(term(pod, random_.chance(40)));
    }
    if (!on(options_.spread, percent)) continue;
    const SpreadConstraint another = constraint(pod);
    // The API allows a topology key once.
    const bool is_new =
        shape.spread.empty() || shape.spread.front().topology_key != another.topology_key;
    if (is_new) shape.spread.push_back(another);
  }
  if (on(options_.volumes, 50)) shape.claims = volumes().uses();
  if (on(options_.unsupported, 50)) shape.unsupported.emplace_back("schedulingGate quota");
  if (options_.preferences) add_preferences(pod, shape);
  return shape;
}

void RandomShapes::add_preferences(const Pod& pod, PodShape& shape) {
  const auto weight = [&] { return static_cast<std::int32_t>(random_.between(1, 4)); };
  while (random_.chance(40)) {
    shape.preferences.nodes.push_back({.weight = weight(), .term = node_term()});
  }
  while (random_.chance(40)) {
    const std::int32_t sign = random_.chance(50) ? 1 : -1;
    shape.preferences.pods.push_back(
        {.weight = sign * weight(), .term = term(pod, random_.chance(50))});
  }
  if (random_.chance(40)) shape.preferences.spread.push_back(constraint(pod));
}

}  // namespace makeway
