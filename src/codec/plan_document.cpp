#include "codec/plan_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "codec/json_value.hpp"
#include "codec/source.hpp"
#include "codec/workloads/json_edit.hpp"
#include "codec/yaml.hpp"

namespace makeway {
namespace {

constexpr std::string_view make_a_plan =
    "make one with `makeway plan --kubeconfig FILE -o json > plan.json`";

/// The tree of the only document of the text.
std::expected<JsonValue, Problem> tree_of(std::string_view text, std::string_view source) {
  const auto is_wrong = [&](std::string message) {
    return std::unexpected(Problem{.origin = {.source = std::string(source)},
                                   .message = std::move(message),
                                   .remedy = std::string(make_a_plan)});
  };
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return is_wrong("it is empty");
  if (detect_format(text) == TextFormat::json) {
    auto tree = parse_json_value(text);
    if (!tree) tree.error().origin.source = source;
    return tree;
  }
  std::vector<YamlDocument> documents;
  Problems problems = yaml_to_json(text, source, {}, documents);
  if (!problems.empty()) return std::unexpected(*problems.begin());
  if (documents.size() != 1) {
    return is_wrong(fmt::format("expected one document, found {}", documents.size()));
  }
  auto tree = parse_json_value(documents.front().json);
  if (!tree) tree.error().origin.source = source;
  return tree;
}

class PlanReader {
 public:
  PlanReader(const JsonValue& tree, std::string_view source) : tree_(tree), source_(source) {}

  PlanReading read() {
    if (!is_plan()) return {.problems = std::move(problems_)};
    PlanDocument document{.id = text(tree_, "id", ""),
                          .preset = text(tree_, "preset", ""),
                          .configuration_hash = text(tree_, "configurationHash", ""),
                          .cluster = optional_text(tree_, "cluster"),
                          .withheld = optional_text(tree_, "withheld")};
    if (const Result<Time> now = parse_time(text(tree_, "now", ""))) {
      document.now = *now;
    } else {
      refuse("now", optional_text(tree_, "now"), now.error().message);
    }
    read_objects();
    each_item(tree_, "asks", "", [&](const JsonValue& item, const std::string& path) {
      document.asks.push_back(ask_of(item, path));
    });
    if (has_errors(problems_)) return {.problems = std::move(problems_)};
    return {.document = std::move(document), .problems = std::move(problems_)};
  }

 private:
  using Key = std::pair<std::string, std::string>;  ///< Namespace and name.
  struct Known {
    std::string uid;
    std::string version;
  };

  void refuse(std::string field, const std::string& value, std::string message,
              std::string remedy = {}) {
    problems_.push_back({.origin = {.source = std::string(source_)},
                         .field = std::move(field),
                         .value = shorten(value),
                         .message = std::move(message),
                         .remedy = std::move(remedy)});
  }

  bool is_plan() {
    const std::string kind = optional_text(tree_, "kind");
    const std::string version = optional_text(tree_, "apiVersion");
    if (kind != "Plan" || version != "makeway.dev/v1") {
      refuse("kind", fmt::format("{} {}", version, kind),
             "this is no plan; expected makeway.dev/v1 Plan", std::string(make_a_plan));
    } else if (tree_.find("planId") != nullptr) {
      refuse("planId", optional_text(tree_, "planId"),
             "this is an answer of a --batch, whose cluster is a line of that batch",
             std::string(make_a_plan));
    }
    return problems_.empty();
  }

  static std::string optional_text(const JsonValue& from, std::string_view key) {
    return std::string(text_at(from, {key}));
  }

  static std::string below(const std::string& path, std::string_view key) {
    return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
  }

  /// One that every plan has.
  std::string text(const JsonValue& from, std::string_view key, const std::string& path) {
    const JsonValue* const value = from.find(key);
    if (value != nullptr && value->as_string() != nullptr) return *value->as_string();
    refuse(below(path, key), {},
           value == nullptr ? std::string("it is missing")
                            : fmt::format("expected a string, found {}", value->type_name()),
           std::string(make_a_plan));
    return {};
  }

  template <class Visit>
  void each_item(const JsonValue& from, std::string_view key, const std::string& path,
                 const Visit& visit) {
    const JsonValue* const value = from.find(key);
    const JsonValue::Array* const items = value == nullptr ? nullptr : value->as_array();
    if (items == nullptr) {
      return refuse(below(path, key), {}, "expected a list", std::string(make_a_plan));
    }
    for (std::size_t at = 0; at < items->size(); ++at) {
      visit((*items)[at], fmt::format("{}[{}]", below(path, key), at));
    }
  }

  /// Uids of pods stand in actions, versions among the objects.
  void read_objects() {
    each_item(tree_, "actions", "", [&](const JsonValue& action, const std::string&) {
      if (!optional_text(action, "plane").empty()) return;
      known_[{optional_text(action, "namespace"), optional_text(action, "name")}].uid =
          optional_text(action, "uid");
    });
    if (tree_.find("objects") == nullptr) return;
    each_item(tree_, "objects", "", [&](const JsonValue& object, const std::string&) {
      if (optional_text(object, "kind") != "Pod") return;
      known_[{optional_text(object, "namespace"), optional_text(object, "name")}] = {
          .uid = optional_text(object, "uid"), .version = optional_text(object, "resourceVersion")};
    });
  }

  PlannedPod pod_of(const JsonValue& item, const std::string& path) {
    PlannedPod pod{.namespace_name = text(item, "namespace", path),
                   .name = text(item, "name", path),
                   .node = text(item, "node", path),
                   .plane = optional_text(item, "plane"),
                   .uid = optional_text(item, "uid")};
    const auto found = known_.find({pod.namespace_name, pod.name});
    if (found == known_.end() || !pod.plane.empty()) return pod;
    if (pod.uid.empty()) pod.uid = found->second.uid;
    pod.version = found->second.version;
    return pod;
  }

  template <class Choice>
  Choice choice(const JsonValue& item, std::string_view key, const std::string& path) {
    const std::string word = text(item, key, path);
    const auto& names = choice_names<Choice>;
    const auto found = std::ranges::find(names, word);
    if (found != names.end()) return static_cast<Choice>(found - names.begin());
    if (!word.empty()) {
      refuse(below(path, key), word, "this version knows no such word",
             "apply the plan with the version of makeway that made it");
    }
    return Choice{};
  }

  PlannedAsk ask_of(const JsonValue& item, const std::string& path) {
    PlannedAsk ask{.kind = choice<AskKind>(item, "kind", path),
                   .namespace_name = text(item, "namespace", path),
                   .name = text(item, "name", path),
                   .plane = optional_text(item, "plane"),
                   .made_from = optional_text(item, "madeFrom"),
                   .outcome = choice<Outcome>(item, "outcome", path)};
    each_item(item, "placements", path, [&](const JsonValue& place, const std::string& at) {
      ask.places.push_back(pod_of(place, at));
    });
    each_item(item, "victims", path, [&](const JsonValue& victim, const std::string& at) {
      ask.victims.push_back(pod_of(victim, at));
    });
    return ask;
  }

  const JsonValue& tree_;
  std::string_view source_;
  Problems problems_;
  std::map<Key, Known> known_;
};

}  // namespace

PlanReading read_plan_document(std::string_view text, std::string_view source) {
  const auto tree = tree_of(text, source);
  if (!tree) return {.problems = {tree.error()}};
  return PlanReader(*tree, source).read();
}

}  // namespace makeway
