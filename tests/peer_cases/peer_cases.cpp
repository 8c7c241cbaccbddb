// peer_cases: random snapshots for a peer, and vectors out of its answers. See README.md.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/dump.hpp"
#include "codec/json_value.hpp"
#include "codec/writer.hpp"
#include "peer_cases/unfold.hpp"
#include "support/random_planning.hpp"

namespace makeway {
namespace {

std::string compact(const JsonValue& value) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  write_value(value, writer);
  return text;
}

JsonValue text_value(std::string text) { return {.data = std::move(text)}; }

std::string text_of(const JsonValue& value, std::string_view key) {
  const JsonValue* const found = value.find(key);
  return found == nullptr || found->as_string() == nullptr ? "" : *found->as_string();
}

bool is_true(const JsonValue& value, std::string_view key) {
  const JsonValue* const found = value.find(key);
  return found != nullptr && found->as_boolean() != nullptr && *found->as_boolean();
}

bool has_items(const JsonValue& value, std::string_view key) {
  const JsonValue* const found = value.find(key);
  return found != nullptr && found->as_array() != nullptr && !found->as_array()->empty();
}

// ---- Snapshots ------------------------------------------------------------------------------

int print_snapshots(std::uint64_t first_seed, std::uint64_t count) {
  for (std::uint64_t seed = first_seed; seed - first_seed < count; ++seed) {
    Prng random(seed);
    const RandomPlanning options = random_peer_options(random);
    const Cluster cluster = cluster_of(random_planning(random, options));
    std::string text;
    JsonWriter writer(text, JsonStyle::compact);
    write_cluster(writer, cluster);
    JsonValue snapshot = *parse_json_value(text);
    unfold_requests(random, snapshot);
    fmt::print("{}", compact(snapshot));
  }
  return 0;
}

// ---- Answers --------------------------------------------------------------------------------

/// "namespace/name" of each pod, sorted.
JsonValue pod_names(const JsonValue& answer) {
  std::vector<std::string> names;
  if (has_items(answer, "victims")) {
    for (const JsonValue& pod : *answer.find("victims")->as_array()) {
      names.push_back(text_of(pod, "namespace") + "/" + text_of(pod, "name"));
    }
  }
  std::ranges::sort(names);
  JsonValue::Array result;
  for (std::string& name : names) result.push_back(text_value(std::move(name)));
  return {.data = std::move(result)};
}

JsonValue violations(const JsonValue& answer) {
  const JsonValue* const count = answer.find("numPDBViolations");
  return {.data = count == nullptr || count->as_integer() == nullptr ? 0 : *count->as_integer()};
}

JsonValue candidates(const JsonValue& answer) {
  JsonValue::Array result;
  const JsonValue* const list = answer.find("candidates");
  if (list == nullptr) return {.data = std::move(result)};
  for (const JsonValue& candidate : *list->as_array()) {
    result.push_back(
        {.data = JsonValue::Object{{.key = "node", .value = text_value(text_of(candidate, "node"))},
                                   {.key = "victims", .value = pod_names(candidate)},
                                   {.key = "budgetViolations", .value = violations(candidate)}}});
  }
  return {.data = std::move(result)};
}

/// Of a group: node by "namespace/name" of a member.
JsonValue placements(const JsonValue& answer) {
  JsonValue::Object result;
  for (const JsonValue& item : *answer.find("placements")->as_array()) {
    result.push_back({.key = text_of(item, "namespace") + "/" + text_of(item, "name"),
                      .value = text_value(text_of(item, "node"))});
  }
  return {.data = std::move(result)};
}

JsonValue::Object preempting(const JsonValue& answer) {
  JsonValue::Object expect;
  expect.push_back({.key = "outcome", .value = text_value("preempts")});
  expect.push_back({.key = "victims", .value = pod_names(answer)});
  if (has_items(answer, "placements")) {
    expect.push_back({.key = "placements", .value = placements(answer)});
  } else {
    expect.push_back({.key = "node", .value = text_value(text_of(answer, "nominatedNode"))});
    expect.push_back({.key = "candidates", .value = candidates(answer)});
  }
  expect.push_back({.key = "budgetViolations", .value = violations(answer)});
  return expect;
}

/// Nothing when the answer proves nothing: an error, a tie, or an answer that its own next cycle
/// does not confirm.
std::optional<JsonValue> expectation(const JsonValue& answer) {
  const JsonValue* const confirmed = answer.find("fitsAfter");
  if (!text_of(answer, "error").empty() || has_items(answer, "ambiguous")) return std::nullopt;
  if (confirmed != nullptr && !is_true(answer, "fitsAfter")) return std::nullopt;
  JsonValue::Object expect;
  if (is_true(answer, "fits")) {
    expect.push_back({.key = "outcome", .value = text_value("fits")});
    expect.push_back({.key = "victims", .value = {.data = JsonValue::Array{}}});
    const JsonValue* const nodes = answer.find("fitsNodes");
    if (nodes != nullptr) expect.push_back({.key = "fitsNodes", .value = *nodes});
  } else if (has_items(answer, "victims")) {
    expect = preempting(answer);
  } else {
    expect.push_back({.key = "outcome", .value = text_value("infeasible")});
    expect.push_back({.key = "victims", .value = {.data = JsonValue::Array{}}});
  }
  return JsonValue{.data = std::move(expect)};
}

/// `each_max`: how many cases of one outcome are taken; the first ones. `name`: of the set.
int convert(const std::string& snapshots, const std::string& answers, std::uint64_t each_max,
            std::string_view name) {
  std::ifstream snapshot_lines(snapshots);
  std::ifstream answer_lines(answers);
  std::string snapshot_line;
  std::string answer_line;
  std::uint64_t number = 0;
  std::uint64_t left_out = 0;
  std::map<std::string, std::uint64_t> taken;
  for (; std::getline(snapshot_lines, snapshot_line) && std::getline(answer_lines, answer_line);
       ++number) {
    auto snapshot = parse_json_value(snapshot_line);
    const auto answer = parse_json_value(answer_line);
    if (!snapshot || !answer) {
      fmt::print(stderr, "peer_cases: line {} is no JSON\n", number + 1);
      return 1;
    }
    std::optional<JsonValue> expect = expectation(*answer);
    if (!expect || ++taken[text_of(*expect, "outcome")] > each_max) {
      ++left_out;
      continue;
    }
    const JsonValue& ask = *answer->find("ask");
    fmt::print(
        "{}",
        compact({.data = JsonValue::Object{
                     {.key = "id", .value = text_value(fmt::format("{}-{}", name, number))},
                     {.key = "ask",
                      .value = text_value(text_of(ask, "namespace") + "/" + text_of(ask, "name"))},
                     {.key = "askKind", .value = text_value(text_of(ask, "kind"))},
                     {.key = "expect", .value = *std::move(expect)},
                     {.key = "snapshot", .value = *std::move(snapshot)}}}));
  }
  fmt::print(stderr, "peer_cases: {} cases, {} of them left out\n", number, left_out);
  return 0;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 3 && arguments[0] == "print") {
    const auto seed = number_of(arguments[1]);
    const auto count = number_of(arguments[2]);
    if (seed && count) return print_snapshots(*seed, *count);
  }
  if (arguments.size() == 5 && arguments[0] == "convert") {
    if (const auto each_max = number_of(arguments[3])) {
      return convert(arguments[1], arguments[2], *each_max, arguments[4]);
    }
  }
  fmt::print(stderr,
             "usage: peer_cases print SEED COUNT\n"
             "       peer_cases convert SNAPSHOTS ANSWERS EACH_MAX NAME\n");
  return 2;
}

}  // namespace
}  // namespace makeway

int main(int count, char** arguments) {
  return makeway::run(std::vector<std::string>(arguments + 1, arguments + count));
}
