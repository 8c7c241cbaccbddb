#include "codec/resource_definitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <ranges>
#include <span>
#include <vector>

#include "base/ascii.hpp"
#include "base/check.hpp"
#include "codec/dump_parts.hpp"
#include "codec/kinds.hpp"
#include "codec/writer.hpp"
#include "model/knobs.hpp"
#include "model/profiles.hpp"

namespace makeway {
namespace {

constexpr std::array configuration_rules = {
    CelRule{"spec.profiles", "size(self) <= 100",
            "there may be 100 profiles at most: let pods with the same rules share a "
            "schedulerName"},
    CelRule{"spec.profiles[]", "self.schedulerName != ''",
            "a profile has no schedulerName: set profiles[].schedulerName"},
};
static_assert(profiles_max == 100, "a rule names it");

struct Definition {
  std::string_view kind;
  Scope scope = Scope::everywhere;
  OwnKind own;
};

/// A Configuration is no object of a cluster.
Definition definition_of(std::string_view kind) {
  if (kind == "Configuration") {
    return {.kind = kind, .own = {nullptr, "mwc", {}, configuration_rules}};
  }
  const auto found = std::ranges::find(text_kinds, kind, [](const TextKind& each) {
    return each.own == nullptr ? std::string_view{} : each.row.name;
  });
  CHECK(found != text_kinds.end(), "every own kind has a definition; a test counts them");
  return {.kind = kind, .scope = found->row.scope, .own = found->own()};
}

std::string lower(std::string_view kind) {
  std::string text(kind);
  std::ranges::transform(text, text.begin(), lower_byte);
  return text;
}

// ---- Schemas ------------------------------------------------------------------------------------

// The limits that let the API server bound the cost of a rule before it runs it.
constexpr std::int64_t texts_length_max = 1'024;
constexpr std::int64_t name_length_max_in_schema = 253;
constexpr std::int64_t items_max = 10'000;
constexpr std::int64_t resources_max_in_schema = 128;
constexpr std::int64_t amount_length_max = 64;
constexpr std::int64_t duration_length_max = 64;

constexpr std::string_view name_pattern =
    "^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
constexpr std::string_view duration_pattern = "^(0|([0-9]{1,12}(h|ms|m|s))+)$";
constexpr std::string_view quantity_pattern =
    "^\\+?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]+)?$";

/// A field and what is below it.
struct SchemaNode {
  std::string key;
  std::string path;
  Field field;
  const Knob* knob = nullptr;
  std::vector<SchemaNode> below;
};

/// The node at `path` below `root`; parts that are missing become mappings.
SchemaNode& node_at(SchemaNode& root, std::string_view path) {
  SchemaNode* node = &root;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    std::string_view key = path.substr(begin, end - begin);
    begin = end + 1;
    if (key.ends_with("[]")) key.remove_suffix(2);
    const auto found = std::ranges::find(node->below, key, &SchemaNode::key);
    if (found != node->below.end()) {
      node = &*found;
      continue;
    }
    SchemaNode made;
    made.key = key;
    made.path = std::string(path.substr(0, end));
    made.field.type = FieldType::object;
    node->below.push_back(std::move(made));
    node = &node->below.back();
  }
  return *node;
}

/// Also a mapping without a row (spec) in which something is required.
bool is_required(const SchemaNode& node) {
  if (node.field.required) return true;
  return node.field.text.empty() && std::ranges::any_of(node.below, [](const SchemaNode& each) {
           return each.field.required;
         });
}

class SchemaWriter {
 public:
  SchemaWriter(DocumentWriter& writer, const Definition& definition)
      : writer_(writer), definition_(definition) {}

  /// The whole object. Metadata is the API server's.
  void write(const SchemaNode& root) {
    writer_.begin_object();
    writer_.string_field("type", "object");
    write_required(root);
    write_object(writer_, "properties", [&] {
      for (const std::string_view text : {"apiVersion", "kind"}) {
        write_object(writer_, text, [&] { writer_.string_field("type", "string"); });
      }
      write_object(writer_, "metadata", [&] { writer_.string_field("type", "object"); });
      for (const SchemaNode& node : root.below) write_field(node);
    });
    write_rules("");
    writer_.end_object();
  }

 private:
  void write_field(const SchemaNode& node) {
    write_object(writer_, node.key, [&] {
      if (!node.field.text.empty()) writer_.string_field("description", node.field.text);
      if (node.knob != nullptr) {
        write_knob(*node.knob);
      } else {
        write_type(node);
      }
      write_rules(node.path);
    });
  }

  void write_type(const SchemaNode& node) {
    const Field& field = node.field;
    switch (field.type) {
      case FieldType::text: write_text(texts_length_max); break;
      case FieldType::name: write_name(); break;
      case FieldType::integer: write_integer(field.lowest, field.highest); break;
      case FieldType::boolean: writer_.string_field("type", "boolean"); break;
      case FieldType::time:
        writer_.string_field("type", "string");
        writer_.string_field("format", "date-time");
        break;
      case FieldType::duration: write_duration(); break;
      case FieldType::choice: write_choice(field.choices); break;
      case FieldType::quantities: write_quantities(); break;
      case FieldType::labels:
        writer_.string_field("type", "object");
        writer_.integer_field("maxProperties", resources_max_in_schema);
        write_object(writer_, "additionalProperties", [&] { write_text(texts_length_max); });
        break;
      case FieldType::names:
        begin_list(node);
        write_name();
        writer_.end_object();
        break;
      case FieldType::object: write_properties(node); break;
      case FieldType::objects:
        begin_list(node);
        write_properties(node);
        write_rules(node.path + "[]");
        writer_.end_object();
        break;
      case FieldType::pod_template:
        writer_.string_field("type", "object");
        writer_.boolean_field("x-kubernetes-preserve-unknown-fields", true);
        break;
      case FieldType::knob: CHECK(false, "knobs are written by themselves"); break;
    }
    write_default(field);
  }

  /// As far as the opened schema of its items. Lists that name their items are maps by that name.
  void begin_list(const SchemaNode& node) {
    const bool named = std::ranges::any_of(node.below, [](const SchemaNode& each) {
      return each.key == "name" && each.field.required;
    });
    const bool by_type = node.key == "conditions";
    const bool in_namespaces = std::ranges::any_of(
        node.below, [](const SchemaNode& each) { return each.key == "namespace"; });
    writer_.string_field("type", "array");
    writer_.integer_field("maxItems", items_max);
    if ((named && !in_namespaces) || by_type) {
      writer_.string_field("x-kubernetes-list-type", "map");
      write_list(writer_, "x-kubernetes-list-map-keys", std::array{by_type ? "type" : "name"});
    } else {
      writer_.string_field("x-kubernetes-list-type", "atomic");
    }
    writer_.key("items");
    writer_.begin_object();
  }

  void write_properties(const SchemaNode& node) {
    writer_.string_field("type", "object");
    write_required(node);
    write_object(writer_, "properties", [&] {
      for (const SchemaNode& each : node.below) write_field(each);
    });
  }

  void write_required(const SchemaNode& node) {
    list_if(writer_, "required",
            node.below | std::views::filter(is_required) | std::views::transform(&SchemaNode::key));
  }

  void write_text(std::int64_t length_max) {
    writer_.string_field("type", "string");
    writer_.integer_field("maxLength", length_max);
  }

  void write_name() {
    write_text(name_length_max_in_schema);
    writer_.string_field("pattern", name_pattern);
  }

  void write_duration() {
    write_text(duration_length_max);
    writer_.string_field("pattern", duration_pattern);
  }

  void write_integer(std::int64_t lowest, std::int64_t highest) {
    writer_.string_field("type", "integer");
    writer_.string_field("format", "int64");
    // The ends of int64 are no limits, and the API server keeps limits as doubles.
    if (lowest != std::numeric_limits<std::int64_t>::min()) {
      writer_.integer_field("minimum", lowest);
    }
    if (highest != std::numeric_limits<std::int64_t>::max()) {
      writer_.integer_field("maximum", highest);
    }
  }

  void write_choice(std::span<const std::string_view> choices) {
    writer_.string_field("type", "string");
    write_list(writer_, "enum", choices);
  }

  void write_quantities() {
    writer_.string_field("type", "object");
    writer_.integer_field("maxProperties", resources_max_in_schema);
    write_object(writer_, "additionalProperties", [&] {
      write_list(writer_, "anyOf", std::array{"integer", "string"},
                 [&](const char* type) { writer_.string_field("type", type); });
      writer_.boolean_field("x-kubernetes-int-or-string", true);
      writer_.integer_field("maxLength", amount_length_max);
      writer_.string_field("pattern", quantity_pattern);
    });
  }

  void write_knob(const Knob& knob) {
    switch (knob.type) {
      case KnobType::boolean: writer_.string_field("type", "boolean"); break;
      case KnobType::integer: write_integer(knob.minimum, knob.maximum); break;
      case KnobType::duration: write_duration(); break;
      case KnobType::choice: write_choice(knob.choices); break;
      case KnobType::choice_list:
      case KnobType::text_list:
        writer_.string_field("type", "array");
        writer_.integer_field("maxItems", items_max);
        if (!knob.may_be_empty) writer_.integer_field("minItems", 1);
        writer_.string_field("x-kubernetes-list-type", "set");
        write_object(writer_, "items", [&] {
          if (knob.type == KnobType::choice_list) {
            write_choice(knob.choices);
          } else {
            write_text(texts_length_max);
          }
        });
        break;
      case KnobType::text: write_text(texts_length_max); break;
    }
  }

  /// Fallbacks are JSON: a number, true, false or a quoted text.
  void write_default(const Field& field) {
    const std::string_view value = field.fallback;
    if (value.empty()) return;
    writer_.key("default");
    if (value.starts_with('"')) {
      writer_.string(value.substr(1, value.size() - 2));
    } else if (value == "true" || value == "false") {
      writer_.boolean(value == "true");
    } else {
      writer_.number(value);
    }
  }

  void write_rules(std::string_view path) {
    const auto is_here = [&](const CelRule& rule) { return rule.at == path; };
    list_if(writer_, "x-kubernetes-validations",
            definition_.own.rules | std::views::filter(is_here), [&](const CelRule& rule) {
              writer_.string_field("rule", rule.rule);
              writer_.string_field("message", rule.message);
            });
  }

  DocumentWriter& writer_;
  const Definition& definition_;
};

SchemaNode fields_of(std::string_view kind) {
  SchemaNode root;
  each_field(kind, [&](const std::string& path, const Field& field) {
    SchemaNode& node = node_at(root, path);
    node.field = field;
    if (field.type != FieldType::knob) return;
    const std::size_t section = path.rfind('.', path.rfind('.') - 1) + 1;
    node.knob = find_knob(std::string_view(path).substr(section));
    if (node.knob == nullptr) node.knob = find_knob(field.key);  // It is in no section.
  });
  return root;
}

void write_names(DocumentWriter& writer, const Definition& definition) {
  write_object(writer, "names", [&] {
    writer.string_field("kind", definition.kind);
    writer.string_field("listKind", fmt::format("{}List", definition.kind));
    writer.string_field("plural", lower(definition.kind) + "s");
    writer.string_field("singular", lower(definition.kind));
    write_list(writer, "shortNames", std::array{definition.own.short_name});
    write_list(writer, "categories", std::array{"makeway"});
  });
}

/// The long ones come behind the age.
void write_columns(DocumentWriter& writer, const Definition& definition) {
  std::vector<PrinterColumn> columns(definition.own.columns.begin(), definition.own.columns.end());
  columns.push_back({"Age", "date", ".metadata.creationTimestamp"});
  std::ranges::stable_partition(columns, [](const auto& each) { return !each.is_long; });
  write_list(writer, "additionalPrinterColumns", columns, [&](const PrinterColumn& each) {
    writer.string_field("name", each.name);
    writer.string_field("type", each.type);
    writer.string_field("jsonPath", each.path);
    if (each.wide) writer.integer_field("priority", 1);
  });
}

void write_version(DocumentWriter& writer, const Definition& definition) {
  writer.string_field("name", own_api_version.substr(own_api_group.size() + 1));
  writer.boolean_field("served", true);
  writer.boolean_field("storage", true);
  if (definition.own.list_fields != nullptr) {
    write_object(writer, "subresources", [&] { write_object(writer, "status", [] {}); });
  }
  write_columns(writer, definition);
  write_object(writer, "schema", [&] {
    writer.key("openAPIV3Schema");
    SchemaWriter(writer, definition).write(fields_of(definition.kind));
  });
}

}  // namespace

std::string definition_name(std::string_view kind) {
  return fmt::format("{}s.{}", lower(kind), own_api_group);
}

void write_definition(DocumentWriter& writer, std::string_view kind) {
  const Definition definition = definition_of(kind);
  writer.begin_object();
  writer.string_field("apiVersion", "apiextensions.k8s.io/v1");
  writer.string_field("kind", "CustomResourceDefinition");
  write_object(writer, "metadata", [&] { writer.string_field("name", definition_name(kind)); });
  write_object(writer, "spec", [&] {
    writer.string_field("group", own_api_group);
    writer.string_field("scope", definition.scope == Scope::everywhere ? "Cluster" : "Namespaced");
    write_names(writer, definition);
    write_list(writer, "versions", std::span(&definition, 1), write_version);
  });
  writer.end_object();
}

}  // namespace makeway
