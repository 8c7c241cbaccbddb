#include "cli/journal/decide_again.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "cli/text.hpp"
#include "codec/json_value.hpp"
#include "codec/plan_codec.hpp"
#include "model/object_text.hpp"

namespace makeway::cli {
namespace {

/// The asks under these rules: a kind that they do not schedule would not have been due, and would
/// make the whole plan fail.
std::vector<AskName> asking(const std::vector<AskName>& due, const Configuration& rules) {
  std::vector<AskName> asks = due;
  std::erase_if(asks, [&](const AskName& ask) {
    return (ask.kind == AskKind::session && !rules.session.enabled) ||
           (ask.kind == AskKind::replica_schedule && !rules.replica.enabled);
  });
  return asks;
}

}  // namespace

LawfulPlan decide_again(const CycleRecord& cycle, const JournalWorld& world,
                        const ReplayRules& rules, const PlanTools& tools, bool explain) {
  std::vector<AskName> asks = asking(cycle.due, rules.configuration);
  if (asks.empty() && !cycle.due.empty()) {
    // An empty list of asks would mean all of them.
    LawfulPlan empty;
    empty.plan = Plan{.preset = std::string(rules.preset), .now = cycle.now};
    return empty;
  }
  PlanTools used = tools;
  used.keep_going = true;  // As the loop that was recorded.
  if (!cycle.judged) {
    used.check = [](const Cluster&, const Configuration&, const Plan&) {
      return std::vector<LawBreach>();
    };
  }
  return make_lawful_plan(world.cluster(), rules.configuration,
                          {.now = cycle.now,
                           .preset = std::string(rules.preset),
                           .configuration_hash = std::string(rules.configuration_hash),
                           .asks = std::move(asks),
                           .explain = explain,
                           .contain = tools.contain},
                          used);
}

namespace {

constexpr std::size_t differing_asks_shown_max = 20;

/// In one line, as cycles record it.
std::string document_of(const Plan& plan) {
  std::string text = plan_text_json(plan, PlanDetail::brief, JsonStyle::compact);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string member(const JsonValue& tree, std::string_view key) {
  const JsonValue* const value = tree.find(key);
  return value != nullptr && value->as_string() != nullptr ? *value->as_string() : std::string();
}

/// "shop/web, shop/db": the objects of a list.
std::string names_in(const JsonValue& ask, std::string_view list, std::string_view key) {
  std::vector<std::string> names;
  const JsonValue* const items = ask.find(list);
  if (items == nullptr || items->as_array() == nullptr) return {};
  for (const JsonValue& item : *items->as_array()) {
    names.push_back(key == "node" ? member(item, "node")
                                  : member(item, "namespace") + "/" + member(item, "name"));
  }
  return few_names(std::move(names));
}

/// "preempts on n1, victims shop/web"
std::string verdict_of(const JsonValue* ask) {
  if (ask == nullptr) return "not asked";
  std::string text = member(*ask, "outcome");
  const std::string nodes = names_in(*ask, "placements", "node");
  if (!nodes.empty()) text += " on " + nodes;
  const std::string victims = names_in(*ask, "victims", "name");
  if (!victims.empty()) text += ", victims " + victims;
  if (nodes.empty()) text += ": " + member(*ask, "reason");
  return text;
}

using AsksByName = std::map<std::string, const JsonValue*>;

AsksByName asks_of(const JsonValue& plan) {
  AsksByName asks;
  const JsonValue* const list = plan.find("asks");
  if (list == nullptr || list->as_array() == nullptr) return asks;
  for (const JsonValue& ask : *list->as_array()) {
    asks.emplace(object_text(member(ask, "kind"), member(ask, "namespace"), member(ask, "name")),
                 &ask);
  }
  return asks;
}

std::string differing_asks_text(const JsonValue& recorded, const JsonValue& now) {
  const AsksByName then_asks = asks_of(recorded);
  const AsksByName now_asks = asks_of(now);
  AsksByName all = then_asks;
  all.insert(now_asks.begin(), now_asks.end());
  std::string text;
  std::size_t differ = 0;
  for (const auto& [name, any] : all) {
    const auto find = [&](const AsksByName& asks) {
      const auto found = asks.find(name);
      return found == asks.end() ? nullptr : found->second;
    };
    const JsonValue* const before = find(then_asks);
    const JsonValue* const after = find(now_asks);
    if (before != nullptr && after != nullptr && *before == *after) continue;
    if (++differ > differing_asks_shown_max) continue;
    const std::string was = verdict_of(before);
    const std::string is = verdict_of(after);
    text += fmt::format("  {}: recorded: {}; now: {}\n", shorten(name, 120), printable(was),
                        was == is ? "the same, with other details" : printable(is));
  }
  if (differ > differing_asks_shown_max) {
    text += fmt::format("  ... and {}\n", counted(differ - differing_asks_shown_max, "more ask"));
  }
  return text;
}

/// Fields beside the asks: "actions, queueStatus".
std::string differing_fields(const JsonValue& recorded, const JsonValue& now) {
  std::vector<std::string_view> fields;
  const auto look = [&](const JsonValue& one, const JsonValue& other) {
    if (one.as_object() == nullptr) return;
    for (const JsonMember& each : *one.as_object()) {
      const JsonValue* const same = other.find(each.key);
      if (each.key == "id" || each.key == "asks" || (same != nullptr && *same == each.value)) {
        continue;
      }
      if (std::ranges::find(fields, each.key) == fields.end()) fields.push_back(each.key);
    }
  };
  look(recorded, now);
  look(now, recorded);
  return fmt::format("{}", fmt::join(fields, ", "));
}

}  // namespace

bool is_recorded_plan(const CycleRecord& cycle, const std::optional<Plan>& plan) {
  if (!plan) return cycle.plan_id.empty();
  if (plan->id != cycle.plan_id || acts(*plan) != !cycle.plan.empty()) return false;
  return cycle.plan.empty() || document_of(*plan) == cycle.plan;
}

std::string plan_difference(const CycleRecord& cycle, const std::optional<Plan>& plan) {
  const auto id_text = [](std::string_view id) {
    return id.empty() ? std::string("no plan") : fmt::format("plan {}", shorten(id));
  };
  std::string text = fmt::format("  recorded: {}; now: {}\n", id_text(cycle.plan_id),
                                 id_text(plan ? std::string_view(plan->id) : std::string_view()));
  if (!plan) return text;
  if (cycle.plan.empty()) {
    text += "  The recorded plan asked the world for nothing, so only its id is there.\n";
  }
  const auto recorded = parse_json_value(cycle.plan.empty() ? "{}" : cycle.plan);
  const auto now = parse_json_value(document_of(*plan));
  if (!recorded || !now) return text + "  The recorded document cannot be read.\n";
  text += differing_asks_text(*recorded, *now);
  const std::string fields = cycle.plan.empty() ? "" : differing_fields(*recorded, *now);
  if (!fields.empty()) text += fmt::format("  Other fields that differ: {}.\n", printable(fields));
  return text;
}

}  // namespace makeway::cli
