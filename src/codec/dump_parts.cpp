#include "codec/dump_parts.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/check.hpp"
#include "codec/quantity.hpp"
#include "codec/writer.hpp"
#include "model/names.hpp"
#include "model/resource.hpp"

namespace makeway {

void begin_kind(DocumentWriter& writer, std::string_view version, std::string_view kind) {
  writer.begin_object();
  writer.string_field("apiVersion", version);
  writer.string_field("kind", kind);
}

void text_if(DocumentWriter& writer, std::string_view key, std::string_view value) {
  if (!value.empty()) writer.string_field(key, value);
}

void time_if(DocumentWriter& writer, std::string_view key, const std::optional<Time>& time) {
  if (time) writer.string_field(key, to_text(*time));
}

void write_observed_if(DocumentWriter& writer, const std::optional<Time>& time) {
  if (!time) return;
  writer.begin_object();
  writer.string_field("type", names::observed);
  writer.string_field("status", "True");
  writer.string_field("lastTransitionTime", to_text(*time));
  writer.end_object();
}

void write_amounts(DocumentWriter& writer, const Amounts& amounts) {
  writer.begin_object();
  for (const Amount& amount : amounts) {
    const Scale scale = counted_in_thousandths(amount.resource) ? Scale::milli : Scale::one;
    writer.string_field(amount.resource, quantity_text(amount.amount, scale));
  }
  writer.end_object();
}

void write_plane_if(DocumentWriter& writer, std::string_view plane) {
  if (plane.empty()) return;
  write_object(writer, "annotations", [&] { writer.string_field(names::key_plane, plane); });
}

void write_labels_if(DocumentWriter& writer, std::string_view key, const Labels& labels) {
  if (labels.empty()) return;
  writer.key(key);
  write_labels(writer, labels);
}

namespace {

std::string_view effect_text(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::no_schedule: return "NoSchedule";
    case TaintEffect::prefer_no_schedule: return "PreferNoSchedule";
    case TaintEffect::no_execute: return "NoExecute";
  }
  CHECK(false, "unknown effect");
}

std::string_view operator_text(Operator operation) {
  switch (operation) {
    case Operator::in: return "In";
    case Operator::not_in: return "NotIn";
    case Operator::exists: return "Exists";
    case Operator::does_not_exist: return "DoesNotExist";
    case Operator::greater_than: return "Gt";
    case Operator::less_than: return "Lt";
  }
  CHECK(false, "unknown operator");
}

void write_requirements(DocumentWriter& writer, std::string_view key,
                        const std::vector<Requirement>& requirements) {
  list_if(writer, key, requirements, [&](const Requirement& requirement) {
    writer.string_field("key", requirement.key);
    writer.string_field("operator", operator_text(requirement.operation));
    if (!requirement.values.empty()) writer.strings_field("values", requirement.values);
  });
}

void write_node_term(DocumentWriter& writer, const NodeSelectorTerm& term) {
  write_requirements(writer, "matchExpressions", term.labels);
  write_requirements(writer, "matchFields", term.fields);
}

void write_preferred_node_terms(DocumentWriter& writer,
                                const std::vector<NodePreference>& preferences) {
  list_if(writer, names::preferred_terms, preferences, [&](const NodePreference& preference) {
    writer.integer_field("weight", preference.weight);
    write_object(writer, "preference", [&] { write_node_term(writer, preference.term); });
  });
}

void write_node_affinity(DocumentWriter& writer, const PodShape& shape) {
  if (shape.node_terms.empty() && shape.preferences.nodes.empty()) return;
  write_object(writer, "nodeAffinity", [&] {
    write_node_selector(writer, names::required_terms, shape.node_terms);
    write_preferred_node_terms(writer, shape.preferences.nodes);
  });
}

void write_pod_term(DocumentWriter& writer, const PodAffinityTerm& term) {
  write_selector(writer, "labelSelector", term.selector);
  if (!term.namespaces.empty()) writer.strings_field("namespaces", term.namespaces);
  write_selector(writer, "namespaceSelector", term.namespace_selector);
  writer.string_field("topologyKey", term.topology_key);
}

/// `sign` is that of the weights that belong here.
void write_pod_affinity(DocumentWriter& writer, std::string_view key,
                        const std::vector<PodAffinityTerm>& terms,
                        const std::vector<PodPreference>& preferences, std::int32_t sign) {
  const auto belongs = [sign](const PodPreference& preference) {
    return preference.weight * sign > 0;
  };
  const bool any_preferred = std::ranges::any_of(preferences, belongs);
  if (terms.empty() && !any_preferred) return;
  write_object(writer, key, [&] {
    list_if(writer, names::required_terms, terms, write_pod_term);
    if (any_preferred) {
      writer.key(names::preferred_terms);
      writer.begin_array();
      for (const PodPreference& preference : preferences) {
        if (!belongs(preference)) continue;
        writer.begin_object();
        writer.integer_field("weight", std::int64_t{sign} * preference.weight);
        write_object(writer, "podAffinityTerm", [&] { write_pod_term(writer, preference.term); });
        writer.end_object();
      }
      writer.end_array();
    }
  });
}

void write_tolerations(DocumentWriter& writer, const std::vector<Toleration>& tolerations) {
  list_if(writer, "tolerations", tolerations, [&](const Toleration& toleration) {
    text_if(writer, "key", toleration.key);
    writer.string_field("operator", toleration.exists ? "Exists" : "Equal");
    text_if(writer, "value", toleration.value);
    if (toleration.effect) writer.string_field("effect", effect_text(*toleration.effect));
  });
}

void write_spread(DocumentWriter& writer, const PodShape& shape) {
  if (shape.spread.empty() && shape.preferences.spread.empty()) return;
  writer.key("topologySpreadConstraints");
  writer.begin_array();
  const auto write = [&](const SpreadConstraint& constraint, std::string_view unsatisfiable) {
    writer.begin_object();
    writer.integer_field("maxSkew", constraint.skew_max);
    writer.string_field("topologyKey", constraint.topology_key);
    writer.string_field("whenUnsatisfiable", unsatisfiable);
    if (constraint.domains_min != 1) writer.integer_field("minDomains", constraint.domains_min);
    if (!constraint.honor_node_affinity) writer.string_field("nodeAffinityPolicy", "Ignore");
    if (constraint.honor_node_taints) writer.string_field("nodeTaintsPolicy", "Honor");
    write_selector(writer, "labelSelector", constraint.selector);
    writer.end_object();
  };
  for (const SpreadConstraint& constraint : shape.spread) write(constraint, "DoNotSchedule");
  for (const SpreadConstraint& constraint : shape.preferences.spread) {
    write(constraint, "ScheduleAnyway");
  }
  writer.end_array();
}

void write_gates(DocumentWriter& writer, const PodShape& shape) {
  constexpr std::string_view kind = "schedulingGate ";
  bool any = false;
  for (const std::string& need : shape.unsupported) {
    if (!need.starts_with(kind)) continue;
    if (!any) {
      writer.key("schedulingGates");
      writer.begin_array();
    }
    any = true;
    writer.begin_object();
    writer.string_field("name", std::string_view(need).substr(kind.size()));
    writer.end_object();
  }
  if (any) writer.end_array();
}

}  // namespace

void write_labels(DocumentWriter& writer, const Labels& labels) {
  writer.begin_object();
  for (const Label& label : labels) writer.string_field(label.key, label.value);
  writer.end_object();
}

void write_selector(DocumentWriter& writer, std::string_view key,
                    const std::optional<LabelSelector>& selector) {
  if (!selector) return;
  write_object(writer, key,
               [&] { write_requirements(writer, "matchExpressions", selector->requirements); });
}

void write_node_selector(DocumentWriter& writer, std::string_view key,
                         const std::vector<NodeSelectorTerm>& terms) {
  if (terms.empty()) return;
  write_object(writer, key,
               [&] { write_list(writer, "nodeSelectorTerms", terms, write_node_term); });
}

void write_taints(DocumentWriter& writer, const std::vector<Taint>& taints) {
  list_if(writer, "taints", taints, [&](const Taint& taint) {
    writer.string_field("key", taint.key);
    text_if(writer, "value", taint.value);
    writer.string_field("effect", effect_text(taint.effect));
  });
}

void write_ports(DocumentWriter& writer, const std::vector<HostPort>& ports) {
  list_if(writer, "ports", ports, [&](const HostPort& port) {
    writer.integer_field("hostPort", port.port);
    text_if(writer, "hostIP", port.ip);
    const std::string_view protocol = port.protocol == Protocol::tcp   ? "TCP"
                                      : port.protocol == Protocol::udp ? "UDP"
                                                                       : "SCTP";
    writer.string_field("protocol", protocol);
  });
}

void write_shape(DocumentWriter& writer, const PodShape& shape) {
  if (!shape.node_selector.empty()) {
    writer.key("nodeSelector");
    write_labels(writer, shape.node_selector);
  }
  const bool affinity = !shape.node_terms.empty() || !shape.affinity.empty() ||
                        !shape.anti_affinity.empty() || !shape.preferences.nodes.empty() ||
                        !shape.preferences.pods.empty();
  if (affinity) {
    write_object(writer, "affinity", [&] {
      write_node_affinity(writer, shape);
      write_pod_affinity(writer, "podAffinity", shape.affinity, shape.preferences.pods, 1);
      write_pod_affinity(writer, "podAntiAffinity", shape.anti_affinity, shape.preferences.pods,
                         -1);
    });
  }
  write_tolerations(writer, shape.tolerations);
  write_spread(writer, shape);
  write_claims(writer, shape);
  write_gates(writer, shape);
}

}  // namespace makeway
