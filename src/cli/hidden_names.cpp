#include "cli/hidden_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "model/names.hpp"

namespace makeway::cli {
namespace {

/// Fields whose text, or whose list of texts, are names.
constexpr auto name_fields = std::to_array<std::string_view>({"claimName",
                                                              "deployment",
                                                              "hostIP",
                                                              "name",
                                                              "namespace",
                                                              "namespaces",
                                                              "node",
                                                              "nodeName",
                                                              "nodes",
                                                              "nominatedNodeName",
                                                              "parent",
                                                              "partition",
                                                              "plane",
                                                              "podGroup",
                                                              "podGroupName",
                                                              "priorityClassName",
                                                              "provisioner",
                                                              "queue",
                                                              "resourceClaimName",
                                                              "resourceGroup",
                                                              "storageClassName",
                                                              "templateName",
                                                              "uid",
                                                              "value",
                                                              "values",
                                                              "volumeName",
                                                              "workloadName"});

/// Mappings whose values are names.
constexpr auto name_maps =
    std::to_array<std::string_view>({"labels", "matchLabels", "nodeSelector", "regimes"});

/// Annotations without names: a label key, and one that only has to be there.
constexpr std::array nameless_annotations = {names::preferred_topology, names::mirror_pod};

bool is_one_of(std::string_view key, std::span<const std::string_view> keys) {
  return std::ranges::find(keys, key) != keys.end();
}

enum class Place : std::uint8_t {
  elsewhere,
  name,
  sentence,  ///< Of words, some of which are names: "StatefulSet shop/db".
};

Place place_of(std::string_view parent, std::string_view key) {
  if (parent == "annotations") {
    return is_one_of(key, nameless_annotations) ? Place::elsewhere : Place::sentence;
  }
  return is_one_of(parent, name_maps) || is_one_of(key, name_fields) ? Place::name
                                                                     : Place::elsewhere;
}

/// Texts that identify nothing: numbers, booleans, Kubernetes' own names.
bool stays(std::string_view text) {
  constexpr std::array<std::string_view, 7> known = {"",      "default",     "total",      "true",
                                                     "false", "kube-system", "kube-public"};
  return is_one_of(text, known) || text.starts_with("system-") ||
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_part_of_name(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_';
}

/// Calls `visit(text, place)` for every text that is a name or may have names in it.
template <class Visit>
void each_text(JsonValue& value, std::string_view key, Place place, const Visit& visit) {
  if (auto* const text = std::get_if<std::string>(&value.data)) {
    if (place != Place::elsewhere) visit(*text, place);
  } else if (auto* const items = std::get_if<JsonValue::Array>(&value.data)) {
    for (JsonValue& item : *items) each_text(item, key, place, visit);
  } else if (auto* const members = std::get_if<JsonValue::Object>(&value.data)) {
    for (JsonMember& member : *members) {
      each_text(member.value, member.key, place_of(key, member.key), visit);
      if (key == "disruptedPods") visit(member.key, Place::name);
    }
  }
}

/// The text, word by word and what is between, as `change(word)` leaves it.
template <class Change>
std::string each_word(std::string_view text, const Change& change) {
  std::string result;
  while (!text.empty()) {
    const auto end = std::ranges::find_if_not(text, is_part_of_name);
    const auto length = std::max<std::size_t>(static_cast<std::size_t>(end - text.begin()), 1);
    std::string word(text.substr(0, length));
    text.remove_prefix(length);
    change(word);
    result += word;
  }
  return result;
}

class NameHider {
 public:
  void learn(const std::string& text, Place place) {
    if (place == Place::name) return learn_name(text);
    // Kinds begin with a capital letter, times and counts with a digit.
    each_word(text, [this](const std::string& word) {
      if (word.front() >= 'a' && word.front() <= 'z') learn_name(word);
    });
  }

  void number() {
    const std::size_t digits = fmt::formatted_size("{}", names_.size());
    std::size_t next = 0;
    for (auto& [name, hidden] : names_) hidden = fmt::format("n{:0{}}", ++next, digits);
  }

  void replace(std::string& text, Place place) const {
    if (place == Place::name) return replace_name(text);
    text = each_word(text, [this](std::string& word) { replace_name(word); });
  }

 private:
  void learn_name(const std::string& text) {
    if (!stays(text)) names_.emplace(text, std::string{});
  }
  void replace_name(std::string& text) const {
    if (const auto found = names_.find(text); found != names_.end()) text = found->second;
  }

  std::map<std::string, std::string, std::less<>> names_;
};

}  // namespace

void hide_names(JsonValue& dump) {
  NameHider hider;
  each_text(dump, {}, Place::elsewhere,
            [&](const std::string& text, Place place) { hider.learn(text, place); });
  hider.number();
  each_text(dump, {}, Place::elsewhere,
            [&](std::string& text, Place place) { hider.replace(text, place); });
}

}  // namespace makeway::cli
