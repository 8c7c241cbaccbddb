#include "codec/recorded_configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "codec/json_value.hpp"
#include "model/compatibility.hpp"
#include "model/removed_knobs.hpp"

namespace makeway {
namespace {

/// A value as `--set` and the canonical text write it.
std::string plain_text(const JsonValue& value) {
  if (const std::string* text = value.as_string()) return *text;
  if (const bool* flag = value.as_boolean()) return *flag ? "true" : "false";
  if (const std::int64_t* number = value.as_integer()) return fmt::format("{}", *number);
  std::string joined;
  if (const JsonValue::Array* items = value.as_array()) {
    for (const JsonValue& item : *items) joined += (joined.empty() ? "" : ",") + plain_text(item);
  }
  return joined;
}

/// Path and text of each knob, in the order of the document.
using KnobLines = std::vector<std::pair<std::string, std::string>>;

KnobLines lines_of(const JsonValue& spec) {
  KnobLines lines;
  const JsonValue::Object* const sections = spec.as_object();
  if (sections == nullptr) return lines;
  for (const JsonMember& section : *sections) {
    const JsonValue::Object* const members = section.value.as_object();
    if (members == nullptr) continue;
    for (const JsonMember& member : *members) {
      lines.emplace_back(fmt::format("{}.{}", section.key, member.key), plain_text(member.value));
    }
  }
  return lines;
}

const JsonValue::Array& profiles_of(const JsonValue& spec) {
  static const JsonValue::Array none;
  const JsonValue* const profiles = spec.find("profiles");
  const JsonValue::Array* const items = profiles == nullptr ? nullptr : profiles->as_array();
  return items == nullptr ? none : *items;
}

/// As `configuration_hash`, over the knobs that the document had.
std::string hash_of_document(const JsonValue& spec) {
  const KnobLines lines = lines_of(spec);
  std::string text;
  for (const auto& [path, value] : lines) text += fmt::format("{}={}\n", path, value);
  for (const JsonValue& profile : profiles_of(spec)) {
    const JsonValue* const name = profile.find("schedulerName");
    for (const auto& [path, value] : lines_of(profile)) {
      if (std::ranges::find(lines, std::pair(path, value)) != lines.end()) continue;
      text +=
          fmt::format("profiles.{}.{}={}\n", name == nullptr ? "" : plain_text(*name), path, value);
    }
  }
  return canonical_hash(text);
}

/// One document of the time when rules were knobs.
class Translation {
 public:
  explicit Translation(JsonValue tree) : tree_(std::move(tree)) {}

  /// Nothing: see `problem()`.
  std::optional<JsonValue> run() {
    JsonValue::Object* const top = std::get_if<JsonValue::Object>(&tree_.data);
    if (top == nullptr) return std::move(tree_);
    for (JsonMember& member : *top) {
      if (member.key != "spec") continue;
      const std::map<std::string, std::string> rules_of_all = translate(member.value, {});
      for (JsonMember& each : *std::get_if<JsonValue::Object>(&member.value.data)) {
        auto* const profiles = std::get_if<JsonValue::Array>(&each.value.data);
        if (each.key != "profiles" || profiles == nullptr) continue;
        for (JsonValue& profile : *profiles) translate(profile, rules_of_all);
      }
    }
    if (problem_) return std::nullopt;
    return std::move(tree_);
  }

  const Problem& problem() const { return *problem_; }

 private:
  using Rules = std::map<std::string, std::string>;

  void refuse(std::string_view path, std::string_view value, std::string message) {
    if (problem_) return;
    problem_ = Problem{.object = "the recorded Configuration",
                       .field = std::string(path),
                       .value = shorten(value),
                       .message = std::move(message),
                       .remedy = "read the journal with the version that wrote it"};
  }

  /// Takes out what is no knob any more and puts in what replaces it. In a profile, `of_all` are
  /// the rules of the document.
  Rules translate(JsonValue& place, const Rules& of_all) {
    JsonValue::Object* const sections = std::get_if<JsonValue::Object>(&place.data);
    if (sections == nullptr) return {};
    Rules stated;
    trust_.clear();
    for (JsonMember& section : *sections) {
      auto* const members = std::get_if<JsonValue::Object>(&section.value.data);
      if (members == nullptr) continue;
      std::erase_if(*members, [&](const JsonMember& member) {
        return take(fmt::format("{}.{}", section.key, member.key), plain_text(member.value),
                    stated);
      });
    }
    const bool is_profile = !of_all.empty();
    if (!is_profile) put_trust_mode(*sections);
    if (is_profile && stated.empty()) return {};
    Rules all = of_all;
    for (const auto& [path, value] : stated) all[path] = value;
    put_compatibility(*sections, all, is_profile);
    return all;
  }

  /// Whether the path is no knob any more.
  bool take(const std::string& path, const std::string& value, Rules& stated) {
    if (find_rule(path) != nullptr) {
      stated[path] = value;
      return true;
    }
    for (const RemovedTrustKnob& knob : removed_trust_knobs()) {
      if (knob.path != path) continue;
      trust_.emplace_back(value == knob.files     ? "files"
                          : value == knob.cluster ? "cluster"
                                                  : "neither");
      return true;
    }
    const auto found = std::ranges::find(removed_knobs(), path, &RemovedKnob::path);
    if (found == removed_knobs().end()) return false;
    if (!found->value.empty() && found->value != value) {
      refuse(path, value, fmt::format("this version has {} only", found->value));
    }
    return true;
  }

  void put_trust_mode(JsonValue::Object& sections) {
    if (trust_.empty()) return;
    const bool alike =
        std::ranges::all_of(trust_, [&](std::string_view mode) { return mode == trust_.front(); });
    if (!alike || trust_.front() == "neither") {
      return refuse("trust", "",
                    "these values of trust.* are neither trust.mode files nor cluster");
    }
    const auto trust = std::ranges::find(sections, "trust", &JsonMember::key);
    std::get<JsonValue::Object>(trust->value.data)
        .push_back({.key = "mode", .value = {.data = std::string(trust_.front())}});
  }

  /// The bundle that has all of these rules; in a profile, those that count there.
  void put_compatibility(JsonValue::Object& sections, const Rules& stated, bool is_profile) {
    for (const Bundle& bundle : bundles()) {
      const bool same = std::ranges::all_of(stated, [&](const auto& each) {
        const Knob& rule = *find_rule(each.first);
        return (is_profile && rule.scope == KnobScope::cluster) ||
               rule_text(bundle.compatibility, rule) == each.second;
      });
      if (!same) continue;
      const std::string name(choice_name(bundle.compatibility));
      sections.push_back({.key = std::string(compatibility_path), .value = {.data = name}});
      return;
    }
    refuse(compatibility_path, "", "no bundle of this version has these rules together");
  }

  JsonValue tree_;
  std::vector<std::string_view> trust_;  ///< For each old knob of trust, which mode it stands for.
  std::optional<Problem> problem_;
};

}  // namespace

RecordedConfiguration read_recorded_configuration(const JsonValue& tree) {
  const JsonValue* const spec = tree.find("spec");
  const bool is_old =
      spec != nullptr && spec->as_object() != nullptr && spec->find(compatibility_path) == nullptr;
  if (!is_old) return {.reading = read_configuration(tree, MissingKnobs::refuse)};
  Translation translation(tree);
  const std::optional<JsonValue> translated = translation.run();
  if (!translated) {
    RecordedConfiguration refused;
    refused.reading.problems.push_back(translation.problem());
    return refused;
  }
  return {.reading = read_configuration(*translated, MissingKnobs::refuse),
          .hash = hash_of_document(*spec)};
}

}  // namespace makeway
