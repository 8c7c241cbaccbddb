#include <algorithm>

#include "codec/decoders.hpp"
#include "model/names.hpp"
#include "model/normalize.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

void decode_node_term(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                      NodeSelectorTerm& term) {
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "matchExpressions") {
      decode_requirements(reader, field, at, RequirementsOf::nodes, term.labels);
    } else if (key == "matchFields") {
      decode_requirements(reader, field, at, RequirementsOf::nodes, term.fields);
      for (const Requirement& requirement : term.fields) {
        if (requirement.key == "metadata.name") continue;
        reader.refuse(at, requirement.key, "the only field to select by is metadata.name");
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

void decode_preferred_node_term(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                                std::vector<NodePreference>& preferences) {
  NodePreference preference{.weight = 0};
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "weight") {
      reader.read(field, at, preference.weight);
    } else if (key == "preference") {
      decode_node_term(reader, field, at, preference.term);
    }
  });
  check_weight(reader, path, preference.weight);
  // A preference without a requirement matches no node.
  if (preference.term.labels.empty() && preference.term.fields.empty()) return;
  preferences.push_back(std::move(preference));
}

void decode_node_affinity(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                          PodShape& shape) {
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == names::required_terms) {
      decode_node_selector(reader, field, at, shape.node_terms);
    } else if (key == names::preferred_terms) {
      reader.each_item(field, at, [&](JsonCursor& item, const FieldPath& to) {
        decode_preferred_node_term(reader, item, to, shape.preferences.nodes);
      });
    }
  });
}

void decode_affinity_term(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                          std::vector<AffinityDraft>& drafts) {
  AffinityDraft draft;
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "labelSelector") {
      decode_label_selector(reader, field, at, draft.term.selector);
    } else if (key == "namespaceSelector") {
      decode_label_selector(reader, field, at, draft.term.namespace_selector);
    } else if (key == "namespaces") {
      decode_texts(reader, field, at, draft.term.namespaces);
    } else if (key == "topologyKey") {
      reader.read(field, at, draft.term.topology_key);
    } else if (key == "matchLabelKeys") {
      decode_texts(reader, field, at, draft.match_label_keys);
    } else if (key == "mismatchLabelKeys") {
      decode_texts(reader, field, at, draft.mismatch_label_keys);
    }
  });
  if (draft.term.topology_key.empty()) {
    reader.refuse(path.at("topologyKey"), {}, "expected a node label such as a zone or hostname");
  }
  drafts.push_back(std::move(draft));
}

/// `sign` is that of the weight: below 0 for what repels.
void decode_preferred_pod_term(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                               std::int32_t sign, std::vector<AffinityDraft>& preferences) {
  std::int32_t weight = 0;
  const std::size_t before = preferences.size();
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "weight") {
      reader.read(field, at, weight);
    } else if (key == "podAffinityTerm" && preferences.size() == before) {
      decode_affinity_term(reader, field, at, preferences);
    }
  });
  check_weight(reader, path, weight);
  if (preferences.size() > before) preferences.back().weight = sign * weight;
}

void decode_affinity_terms(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                           std::int32_t sign, std::vector<AffinityDraft>& drafts,
                           std::vector<AffinityDraft>& preferences) {
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key != names::required_terms && key != names::preferred_terms) return;
    reader.each_item(field, at, [&](JsonCursor& term, const FieldPath& to) {
      if (key == names::required_terms) {
        decode_affinity_term(reader, term, to, drafts);
      } else {
        decode_preferred_pod_term(reader, term, to, sign, preferences);
      }
    });
  });
}

void decode_toleration(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                       std::vector<Toleration>& tolerations) {
  Toleration toleration;
  bool numeric = false;  // Lt and Gt are alpha; such a toleration counts as none.
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    std::string_view text;
    if (key == "key") {
      reader.read(field, at, toleration.key);
    } else if (key == "value") {
      reader.read(field, at, toleration.value);
    } else if (key == "effect") {
      toleration.effect = read_effect(reader, field, at);
    } else if (key == "operator" && reader.read(field, at, text)) {
      toleration.exists = text == "Exists";
      numeric = text == "Lt" || text == "Gt";
      if (!numeric && text != "Exists" && text != "Equal" && !text.empty()) {
        reader.refuse(at, text, "expected Equal or Exists");
      }
    }
  });
  if (toleration.key.empty() && !toleration.exists) {
    reader.refuse(path.at("operator"), {}, "a toleration without a key must use Exists");
  }
  if (!numeric) tolerations.push_back(std::move(toleration));
}

bool read_honor(JsonReader& reader, JsonCursor& value, const FieldPath& path, bool fallback) {
  std::string_view text;
  if (!reader.read(value, path, text)) return fallback;
  if (text != "Honor" && text != "Ignore") reader.refuse(path, text, "expected Honor or Ignore");
  return text == "Honor";
}

/// Reads one constraint; false when it is only a preference.
bool decode_constraint(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                       SpreadDraft& draft) {
  bool hard = true;
  SpreadConstraint& constraint = draft.constraint;
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    std::string_view text;
    if (key == "maxSkew") {
      reader.read(field, at, constraint.skew_max);
    } else if (key == "topologyKey") {
      reader.read(field, at, constraint.topology_key);
    } else if (key == "minDomains") {
      reader.read(field, at, constraint.domains_min);
    } else if (key == "labelSelector") {
      decode_label_selector(reader, field, at, constraint.selector);
    } else if (key == "matchLabelKeys") {
      decode_texts(reader, field, at, draft.match_label_keys);
    } else if (key == "nodeAffinityPolicy") {
      constraint.honor_node_affinity = read_honor(reader, field, at, true);
    } else if (key == "nodeTaintsPolicy") {
      constraint.honor_node_taints = read_honor(reader, field, at, false);
    } else if (key == "whenUnsatisfiable" && reader.read(field, at, text)) {
      hard = text == "DoNotSchedule";
      if (!hard && text != "ScheduleAnyway") {
        reader.refuse(at, text, "expected DoNotSchedule or ScheduleAnyway");
      }
    }
  });
  if (constraint.topology_key.empty()) {
    reader.refuse(path.at("topologyKey"), {}, "expected a node label such as a zone or hostname");
  }
  if (constraint.skew_max < 1) {
    reader.refuse(path.at("maxSkew"), std::to_string(constraint.skew_max),
                  "expected an integer of at least 1");
  }
  if (constraint.domains_min < 1) {
    reader.refuse(path.at("minDomains"), std::to_string(constraint.domains_min),
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

void decode_node_selector(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                          std::vector<NodeSelectorTerm>& terms) {
  bool any = false;
  reader.each_field(value, path, [&](std::string_view name, JsonCursor& list, const FieldPath& to) {
    any = true;
    if (name != "nodeSelectorTerms") return;
    reader.each_item(list, to, [&](JsonCursor& term, const FieldPath& item) {
      decode_node_term(reader, term, item, terms.emplace_back());
    });
  });
  if (any && terms.empty()) {
    reader.refuse(path.at("nodeSelectorTerms"), {}, "expected at least one term");
  }
}

std::optional<TaintEffect> read_effect(JsonReader& reader, JsonCursor& value,
                                       const FieldPath& path) {
  std::string_view text;
  if (!reader.read(value, path, text) || text.empty()) return std::nullopt;
  if (text == "NoSchedule") return TaintEffect::no_schedule;
  if (text == "PreferNoSchedule") return TaintEffect::prefer_no_schedule;
  if (text == "NoExecute") return TaintEffect::no_execute;
  reader.refuse(path, text, "expected NoSchedule, PreferNoSchedule or NoExecute");
  return std::nullopt;
}

void decode_affinity(JsonReader& reader, JsonCursor& value, const FieldPath& path, PodShape& shape,
                     ShapeDraft& draft) {
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "nodeAffinity") {
      decode_node_affinity(reader, field, at, shape);
    } else if (key == "podAffinity") {
      decode_affinity_terms(reader, field, at, 1, draft.affinity, draft.preferred_pods);
    } else if (key == "podAntiAffinity") {
      decode_affinity_terms(reader, field, at, -1, draft.anti_affinity, draft.preferred_pods);
    }
  });
}

void decode_tolerations(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                        std::vector<Toleration>& tolerations) {
  reader.each_item(value, path, [&](JsonCursor& item, const FieldPath& at) {
    decode_toleration(reader, item, at, tolerations);
  });
}

void decode_spread(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                   ShapeDraft& draft) {
  reader.each_item(value, path, [&](JsonCursor& item, const FieldPath& at) {
    SpreadDraft constraint;
    const bool hard = decode_constraint(reader, item, at, constraint);
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
