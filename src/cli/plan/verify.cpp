#include "cli/plan/verify.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "cli/text.hpp"
#include "codec/batch_line.hpp"
#include "codec/writer.hpp"
#include "model/knobs.hpp"

namespace makeway::cli {
namespace {

/// The first five are compared.
constexpr std::array<std::string_view, 8> known_keys = {
    "outcome",          "victims",    "node",       "fitsNodes",
    "budgetViolations", "placements", "candidates", "groupDisruptions"};
constexpr std::string_view error_key = "error";

void refuse(Problems& problems, std::string_view key, std::string_view wanted,
            const JsonValue& found) {
  problems.push_back({.field = fmt::format("expect.{}", key),
                      .message = fmt::format("expected {}, found {}", wanted, found.type_name())});
}

std::optional<std::string> text_of(const JsonMember& member, Problems& problems) {
  if (const std::string* const text = member.value.as_string()) return *text;
  refuse(problems, member.key, "a string", member.value);
  return std::nullopt;
}

std::optional<std::vector<std::string>> texts_of(const JsonMember& member, Problems& problems) {
  std::vector<std::string> texts;
  if (const JsonValue::Array* const array = member.value.as_array()) {
    for (const JsonValue& item : *array) {
      if (const std::string* const text = item.as_string()) texts.push_back(*text);
    }
    std::ranges::sort(texts);
    if (texts.size() == array->size()) return texts;
  }
  refuse(problems, member.key, "a list of strings", member.value);
  return std::nullopt;
}

std::string remedy_of(std::string_view nearest, std::span<const std::string_view> all) {
  return nearest.empty() ? fmt::format("known are {}", fmt::join(all, ", "))
                         : fmt::format("did you mean {}?", nearest);
}

std::optional<std::string> outcome_of(const JsonMember& member, Problems& problems) {
  std::optional<std::string> text = text_of(member, problems);
  const std::span<const std::string_view> outcomes = choice_names<Outcome>;
  if (!text || std::ranges::find(outcomes, *text) != outcomes.end()) return text;
  problems.push_back({.field = "expect.outcome",
                      .value = shorten(*text),
                      .message = "there is no such outcome",
                      .remedy = remedy_of(nearest_of(outcomes, *text), outcomes)});
  return std::nullopt;
}

void read_member(const JsonMember& member, Expectation& expected, Problems& problems) {
  if (std::ranges::find(known_keys, member.key) == known_keys.end()) {
    problems.push_back(
        {.field = fmt::format("expect.{}", shorten(member.key)),
         .message = "nothing of that name is compared",
         .remedy = remedy_of(nearest_of(known_keys, member.key), std::span(known_keys).first(5))});
    return;
  }
  if (member.value.is_null()) return;
  if (member.key == "outcome") {
    expected.outcome = outcome_of(member, problems);
  } else if (member.key == "victims") {
    expected.victims = texts_of(member, problems);
  } else if (member.key == "node") {
    expected.node = text_of(member, problems);
  } else if (member.key == "fitsNodes") {
    expected.fits_nodes = texts_of(member, problems);
  } else if (member.key == "budgetViolations") {
    const std::int64_t* const count = member.value.as_integer();
    if (count == nullptr) return refuse(problems, member.key, "an integer", member.value);
    expected.budget_violations = *count;
  } else if (member.key == "placements") {
    expected.placements = read_placements(member.value, "expect.placements", problems);
  }
}

JsonValue text_value(std::string_view text) { return {.data = std::string(text)}; }

JsonValue list_value(const std::vector<std::string>& texts) {
  JsonValue::Array array;
  for (const std::string& text : texts) array.push_back({.data = text});
  return {.data = std::move(array)};
}

/// Peers do not distinguish waiting, and not having found anything, from having no place.
bool agrees(std::string_view expected, Outcome outcome) {
  const bool no_place = outcome == Outcome::waits || outcome == Outcome::not_found;
  return expected == choice_name(outcome) ||
         (no_place && expected == choice_name(Outcome::infeasible));
}

std::vector<std::string> victims_of(const PlanAsk& ask) {
  std::vector<std::string> names;
  names.reserve(ask.victims.size());
  for (const PlanVictim& victim : ask.victims) {
    names.push_back(fmt::format("{}/{}", victim.namespace_name, victim.name));
  }
  std::ranges::sort(names);
  return names;
}

std::int64_t violations_of(const PlanAsk& ask) {
  const auto term = std::ranges::find(ask.score, ScoreKey::budget_violations, &ScoreTerm::key);
  if (term != ask.score.end()) return term->value;
  return std::ranges::count_if(ask.victims, &PlanVictim::violates_budget);
}

/// Empty: no placement, or several nodes.
std::string node_of(const PlanAsk& ask) {
  if (ask.placements.empty()) return {};
  const std::string& node = ask.placements.front().node;
  return std::ranges::all_of(ask.placements,
                             [&](const PodPlacement& placement) { return placement.node == node; })
             ? node
             : std::string{};
}

/// Null when the ask has no single node.
JsonValue node_value(const PlanAsk& ask) {
  std::string node = node_of(ask);
  return node.empty() ? JsonValue{} : JsonValue{.data = std::move(node)};
}

std::string summary_line(const Verification& verification) {
  std::string line =
      fmt::format("{}: {} agree", counted(verification.cases, "case"), grouped(verification.agree));
  const auto part = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) line += fmt::format(", {} {}", grouped(count), what);
  };
  part(verification.differ, "differ");
  part(verification.failed, "could not be compared");
  part(verification.without_expectation, "without an expectation");
  return line + "\n";
}

}  // namespace

Expectation read_expectation(const JsonValue& value, Problems& problems) {
  Expectation expected;
  const JsonValue::Object* const object = value.as_object();
  if (object == nullptr) {
    problems.push_back({.field = "expect",
                        .message = fmt::format("expected a mapping, found {}", value.type_name())});
    return expected;
  }
  for (const JsonMember& member : *object) read_member(member, expected, problems);
  return expected;
}

std::vector<Mismatch> compare(const JsonValue& id, const Expectation& expected, const Plan& free,
                              const Plan& placed) {
  std::vector<Mismatch> mismatches;
  const auto differ = [&](std::string_view key, JsonValue wanted, JsonValue got) {
    mismatches.push_back(
        {.id = id, .key = std::string(key), .expected = std::move(wanted), .got = std::move(got)});
  };
  if (free.asks.size() != 1 || placed.asks.size() != 1) {
    differ("ask", text_value("one ask"), text_value(counted(free.asks.size(), "ask")));
    return mismatches;
  }
  const PlanAsk& ask = free.asks.front();
  if (expected.outcome && !agrees(*expected.outcome, ask.outcome)) {
    differ("outcome", text_value(*expected.outcome), text_value(choice_name(ask.outcome)));
  }
  const std::vector<std::string> victims = victims_of(placed.asks.front());
  if (expected.victims && *expected.victims != victims) {
    differ("victims", list_value(*expected.victims), list_value(victims));
  }
  if (expected.node && *expected.node != node_of(ask)) {
    differ("node", text_value(*expected.node), node_value(ask));
  }
  if (expected.fits_nodes && ask.outcome == Outcome::fits &&
      !std::ranges::binary_search(*expected.fits_nodes, node_of(ask))) {
    differ("fitsNodes", list_value(*expected.fits_nodes), node_value(ask));
  }
  const std::int64_t violations = violations_of(placed.asks.front());
  if (expected.budget_violations && *expected.budget_violations != violations) {
    differ("budgetViolations", {.data = *expected.budget_violations}, {.data = violations});
  }
  return mismatches;
}

std::string value_text(const JsonValue& value) {
  if (value.is_null()) return "none";
  if (const std::string* const text = value.as_string()) return printable(*text);
  if (const JsonValue::Array* const array = value.as_array()) {
    std::vector<std::string> texts;
    for (const JsonValue& item : *array) texts.push_back(value_text(item));
    return texts.empty() ? std::string("none") : fmt::format("{}", fmt::join(texts, ", "));
  }
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  write_value(value, writer);
  text.pop_back();  // The end of the line.
  return text;
}

std::string verification_text(const Verification& verification) {
  std::string text;
  for (const Mismatch& mismatch : verification.mismatches) {
    const std::string id = value_text(mismatch.id);
    if (mismatch.key == error_key) {
      text += fmt::format("{}: could not be compared\n  {}\n", id, value_text(mismatch.got));
      continue;
    }
    text += fmt::format("{}: {}\n  expected  {}\n  got       {}\n", id, mismatch.key,
                        value_text(mismatch.expected), value_text(mismatch.got));
  }
  return text + summary_line(verification);
}

std::string verification_json(const Verification& verification) {
  std::string text;
  JsonWriter writer(text);
  const auto count = [&](std::string_view name, std::uint64_t value) {
    writer.integer_field(name, static_cast<std::int64_t>(value));
  };
  writer.begin_object();
  count("cases", verification.cases);
  count("agree", verification.agree);
  count("differ", verification.differ);
  count("failed", verification.failed);
  count("withoutExpectation", verification.without_expectation);
  writer.key("mismatches");
  writer.begin_array();
  for (const Mismatch& mismatch : verification.mismatches) {
    writer.begin_object();
    writer.key("id");
    write_value(mismatch.id, writer);
    writer.string_field("key", mismatch.key);
    writer.key("expected");
    write_value(mismatch.expected, writer);
    writer.key("got");
    write_value(mismatch.got, writer);
    writer.end_object();
  }
  writer.end_array();
  writer.end_object();
  return text;
}

}  // namespace makeway::cli
