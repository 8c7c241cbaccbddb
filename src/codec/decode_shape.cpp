#include <algorithm>

#include "codec/decoders.hpp"
#include "model/names.hpp"
#include "model/normalize.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

void decode_node_term(const JsonField& value, NodeSelectorTerm& term) {
  value.each_field([&](const JsonField& field) {
    if (field.key == "matchExpressions") {
      decode_requirements(field, RequirementsOf::nodes, term.labels);
    } else if (field.key == "matchFields") {
      decode_requirements(field, RequirementsOf::nodes, term.fields);
      for (const Requirement& requirement : term.fields) {
        if (requirement.key == "metadata.name") continue;
        field.refuse(requirement.key, "the only field to select by is metadata.name");
      }
    }
  });
}

/// As the API server checks it.
void check_weight(JsonReader& reader, const FieldPath& path, std::int32_t weight) {
  constexpr std::int32_t weight_max = 100;
  if (weight >= 1 && weight <= weight_max) return;
  reader.refuse(path.at("weight"), std::to_string(weight), "expected an integer from 1 to 100");
}

void decode_preferred_node_term(const JsonField& value, std::vector<NodePreference>& preferences) {
  NodePreference preference{.weight = 0};
  value.each_field([&](const JsonField& field) {
    if (field.key == "weight") field.read(preference.weight);
    if (field.key == "preference") decode_node_term(field, preference.term);
  });
  check_weight(value.reader, value.path, preference.weight);
  // A preference without a requirement matches no node.
  if (preference.term.labels.empty() && preference.term.fields.empty()) return;
  preferences.push_back(std::move(preference));
}

void decode_node_affinity(const JsonField& value, PodShape& shape) {
  value.each_field([&](const JsonField& field) {
    if (field.key == names::required_terms) decode_node_selector(field, shape.node_terms);
    if (field.key == names::preferred_terms) {
      field.each_item([&](const JsonField& item) {
        decode_preferred_node_term(item, shape.preferences.nodes);
      });
    }
  });
}

void decode_affinity_term(const JsonField& value, std::vector<AffinityDraft>& drafts) {
  AffinityDraft draft;
  value.each_field([&](const JsonField& field) {
    if (field.key == "labelSelector") decode_label_selector(field, draft.term.selector);
    if (field.key == "namespaceSelector") {
      decode_label_selector(field, draft.term.namespace_selector);
    }
    if (field.key == "namespaces") decode_texts(field, draft.term.namespaces);
    if (field.key == "topologyKey") field.read(draft.term.topology_key);
    if (field.key == "matchLabelKeys") decode_texts(field, draft.match_label_keys);
    if (field.key == "mismatchLabelKeys") decode_texts(field, draft.mismatch_label_keys);
  });
  if (draft.term.topology_key.empty()) {
    value.refuse_at("topologyKey", {}, "expected a node label such as a zone or hostname");
  }
  drafts.push_back(std::move(draft));
}

/// `sign` is that of the weight: below 0 for what repels.
void decode_preferred_pod_term(const JsonField& value, std::int32_t sign,
                               std::vector<AffinityDraft>& preferences) {
  std::int32_t weight = 0;
  const std::size_t before = preferences.size();
  value.each_field([&](const JsonField& field) {
    if (field.key == "weight") field.read(weight);
    if (field.key == "podAffinityTerm" && preferences.size() == before) {
      decode_affinity_term(field, preferences);
    }
  });
  check_weight(value.reader, value.path, weight);
  if (preferences.size() > before) preferences.back().weight = sign * weight;
}

void decode_affinity_terms(const JsonField& value, std::int32_t sign,
                           std::vector<AffinityDraft>& drafts,
                           std::vector<AffinityDraft>& preferences) {
  value.each_field([&](const JsonField& field) {
    if (field.key != names::required_terms && field.key != names::preferred_terms) return;
    field.each_item([&](const JsonField& term) {
      if (field.key == names::required_terms) {
        decode_affinity_term(term, drafts);
      } else {
        decode_preferred_pod_term(term, sign, preferences);
      }
    });
  });
}

void decode_toleration(const JsonField& value, std::vector<Toleration>& tolerations) {
  Toleration toleration;
  bool numeric = false;  // Lt and Gt are alpha; such a toleration counts as none.
  value.each_field([&](const JsonField& field) {
    std::string_view text;
    if (field.key == "key") field.read(toleration.key);
    if (field.key == "value") field.read(toleration.value);
    if (field.key == "effect") toleration.effect = read_effect(field);
    if (field.key == "operator" && field.read(text)) {
      toleration.exists = text == "Exists";
      numeric = text == "Lt" || text == "Gt";
      if (!numeric && text != "Exists" && text != "Equal" && !text.empty()) {
        field.refuse(text, "expected Equal or Exists");
      }
    }
  });
  if (toleration.key.empty() && !toleration.exists) {
    value.refuse_at("operator", {}, "a toleration without a key must use Exists");
  }
  if (!numeric) tolerations.push_back(std::move(toleration));
}

bool read_honor(const JsonField& value, bool fallback) {
  std::string_view text;
  if (!value.read(text)) return fallback;
  if (text != "Honor" && text != "Ignore") value.refuse(text, "expected Honor or Ignore");
  return text == "Honor";
}

/// Reads one constraint; false when it is only a preference.
bool decode_constraint(const JsonField& value, SpreadDraft& draft) {
  bool hard = true;
  SpreadConstraint& constraint = draft.constraint;
  value.each_field([&](const JsonField& field) {
    std::string_view text;
    if (field.key == "maxSkew") field.read(constraint.skew_max);
    if (field.key == "topologyKey") field.read(constraint.topology_key);
    if (field.key == "minDomains") field.read(constraint.domains_min);
    if (field.key == "labelSelector") decode_label_selector(field, constraint.selector);
    if (field.key == "matchLabelKeys") decode_texts(field, draft.match_label_keys);
    if (field.key == "nodeAffinityPolicy") constraint.honor_node_affinity = read_honor(field, true);
    if (field.key == "nodeTaintsPolicy") constraint.honor_node_taints = read_honor(field, false);
    if (field.key == "whenUnsatisfiable" && field.read(text)) {
      hard = text == "DoNotSchedule";
      if (!hard && text != "ScheduleAnyway") {
        field.refuse(text, "expected DoNotSchedule or ScheduleAnyway");
      }
    }
  });
  if (constraint.topology_key.empty()) {
    value.refuse_at("topologyKey", {}, "expected a node label such as a zone or hostname");
  }
  if (constraint.skew_max < 1) {
    value.refuse_at("maxSkew", std::to_string(constraint.skew_max),
                    "expected an integer of at least 1");
  }
  if (constraint.domains_min < 1) {
    value.refuse_at("minDomains", std::to_string(constraint.domains_min),
                    "expected an integer of at least 1");
  }
  return hard;
}

void require_own(std::optional<LabelSelector>& selector, const std::vector<std::string>& keys,
                 Operator operation, const Labels& labels) {
  for (const std::string& key : keys) {
    const std::optional<std::string_view> value = find_label(labels, key);
    if (!value) continue;  // Kubernetes ignores keys that the pod does not carry.
    if (!selector) selector.emplace();
    selector->requirements.push_back(
        {.key = key, .operation = operation, .values = {std::string(*value)}});
  }
  if (selector) normalize(*selector);
}

PodAffinityTerm finished(const AffinityDraft& draft, const Labels& labels) {
  PodAffinityTerm term = draft.term;
  if (term.selector) {  // Without a selector the term selects nothing, whatever the keys say.
    require_own(term.selector, draft.match_label_keys, Operator::in, labels);
    require_own(term.selector, draft.mismatch_label_keys, Operator::not_in, labels);
  }
  return term;
}

}  // namespace

void decode_node_selector(const JsonField& value, std::vector<NodeSelectorTerm>& terms) {
  bool any = false;
  value.each_field([&](const JsonField& list) {
    any = true;
    if (list.key != "nodeSelectorTerms") return;
    list.each_item([&](const JsonField& term) { decode_node_term(term, terms.emplace_back()); });
  });
  if (any && terms.empty()) {
    value.refuse_at("nodeSelectorTerms", {}, "expected at least one term");
  }
}

std::optional<TaintEffect> read_effect(const JsonField& value) {
  std::string_view text;
  if (!value.read(text) || text.empty()) return std::nullopt;
  if (text == "NoSchedule") return TaintEffect::no_schedule;
  if (text == "PreferNoSchedule") return TaintEffect::prefer_no_schedule;
  if (text == "NoExecute") return TaintEffect::no_execute;
  value.refuse(text, "expected NoSchedule, PreferNoSchedule or NoExecute");
  return std::nullopt;
}

void decode_affinity(const JsonField& value, PodShape& shape, ShapeDraft& draft) {
  value.each_field([&](const JsonField& field) {
    if (field.key == "nodeAffinity") {
      decode_node_affinity(field, shape);
    } else if (field.key == "podAffinity") {
      decode_affinity_terms(field, 1, draft.affinity, draft.preferred_pods);
    } else if (field.key == "podAntiAffinity") {
      decode_affinity_terms(field, -1, draft.anti_affinity, draft.preferred_pods);
    }
  });
}

void decode_tolerations(const JsonField& value, std::vector<Toleration>& tolerations) {
  value.each_item([&](const JsonField& item) { decode_toleration(item, tolerations); });
}

void decode_spread(const JsonField& value, ShapeDraft& draft) {
  value.each_item([&](const JsonField& item) {
    SpreadDraft constraint;
    const bool hard = decode_constraint(item, constraint);
    (hard ? draft.spread : draft.preferred_spread).push_back(std::move(constraint));
  });
}

void finish_shape(const ShapeDraft& draft, const Labels& labels, PodShape& shape) {
  for (const AffinityDraft& term : draft.affinity) {
    shape.affinity.push_back(finished(term, labels));
  }
  for (const AffinityDraft& term : draft.anti_affinity) {
    shape.anti_affinity.push_back(finished(term, labels));
  }
  for (const AffinityDraft& preference : draft.preferred_pods) {
    shape.preferences.pods.push_back(
        {.weight = preference.weight, .term = finished(preference, labels)});
  }
  const auto add = [&](const SpreadDraft& item, std::vector<SpreadConstraint>& constraints) {
    SpreadConstraint constraint = item.constraint;
    require_own(constraint.selector, item.match_label_keys, Operator::in, labels);
    constraints.push_back(std::move(constraint));
  };
  for (const SpreadDraft& item : draft.spread) add(item, shape.spread);
  for (const SpreadDraft& item : draft.preferred_spread) add(item, shape.preferences.spread);
}

}  // namespace makeway
