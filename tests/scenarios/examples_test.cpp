// Every file of the folders below says in its first comment which commands to run and what must
// come out, worked out by hand:
//
//   # $ makeway plan -f examples/workload/NAME.yaml
//   # > PodGroup default/gang (priority 100) preempts on n1, n2
//   # >   evicts default/a, default/b
//
// Members of a group are interchangeable here, so the nodes of a placement are compared as a sorted
// list. "refused: A ... B" wants an error line that contains A and B; "waits for", "reserves" and
// "shows" stand for leaving pods, reservations without a place, and conditions. With queues, the
// plan begins with their numbers and what moves, in the resources that some pod asks for.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "cli/text.hpp"
#include "codec/json_value.hpp"
#include "scenarios/sandbox.hpp"

namespace makeway {
namespace {

struct ExampleStep {
  std::string line;  ///< Without "$ ".
  std::vector<std::string> expected;
};

std::vector<ExampleStep> steps_of(const std::string& text) {
  std::vector<ExampleStep> steps;
  for (const std::string& line : lines_in(text)) {
    if (!line.starts_with("#")) break;
    if (line.starts_with("# $ ")) steps.push_back({.line = line.substr(4)});
    if (line.starts_with("# > ") && !steps.empty()) {
      steps.back().expected.push_back(line.substr(4));
    }
  }
  return steps;
}

const JsonValue::Array& list_in(const JsonValue& object, std::string_view key) {
  static const JsonValue::Array nothing;
  const JsonValue* const found = object.find(key);
  return found != nullptr && found->as_array() != nullptr ? *found->as_array() : nothing;
}

std::string text_in(const JsonValue& object, std::string_view key) {
  const JsonValue* const found = object.find(key);
  if (found == nullptr) return {};
  if (const std::int64_t* number = found->as_integer()) return fmt::format("{}", *number);
  return found->as_string() == nullptr ? std::string() : *found->as_string();
}

std::string pod_name(const JsonValue& object) {
  const std::string space = text_in(object, "namespace");
  return (space.empty() ? "" : space + "/") + text_in(object, "name");
}

std::string joined(const JsonValue::Array& items, std::string (*name)(const JsonValue&)) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const JsonValue& item : items) names.push_back(name(item));
  std::ranges::sort(names);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The lines about a ReplicaSchedule.
void add_replicas(const JsonValue& ask, std::vector<std::string>& lines) {
  const JsonValue* const replicas = ask.find("replicas");
  if (replicas == nullptr) return;
  const auto steps = [](const JsonValue& item) {
    return text_in(item, "committedBefore") + " -> " + text_in(item, "committedAfter");
  };
  const std::string own = text_in(ask, "namespace") + "/" + text_in(*replicas, "deployment");
  for (const JsonValue& item : list_in(*replicas, "scaleUps")) {
    lines.push_back(
        fmt::format("  scales up {} in {}: {}", own, text_in(item, "plane"), steps(item)));
  }
  for (const JsonValue& claim : list_in(*replicas, "claims")) {
    const std::string victims = joined(list_in(claim, "victims"), [](const JsonValue& victim) {
      return text_in(victim, "action") + " " + pod_name(victim);
    });
    const std::string plane = text_in(claim, "plane");
    lines.push_back(fmt::format("  node {} in {}: {}", text_in(claim, "node"), plane, victims));
    for (const JsonValue& victim : list_in(claim, "victims")) {
      if (text_in(victim, "action") == "scale-down") {
        lines.push_back(fmt::format("  scales down {}/{} in {}: {}", text_in(victim, "namespace"),
                                    text_in(victim, "deployment"), plane, steps(victim)));
      } else if (text_in(victim, "action") == "force-delete") {
        lines.push_back("  force-deletes " + pod_name(victim));
      }
    }
  }
  const std::string out_for = text_in(*replicas, "outFor");
  if (out_for.empty()) return;
  lines.push_back(fmt::format("  out for {} in {}", out_for, text_in(*replicas, "outPlane")));
}

std::int64_t number_in(const JsonValue& object, std::string_view key) {
  const JsonValue* const found = object.find(key);
  return found == nullptr || found->as_integer() == nullptr ? 0 : *found->as_integer();
}

std::string share_line(const JsonValue& queue, const JsonValue& share) {
  const std::string resource = text_in(share, "resource");
  const auto amount = [&](std::string_view key) {
    return cli::amount_text(resource, number_in(share, key));
  };
  std::string line = fmt::format("{} {}: deserved {}, allocated ", text_in(queue, "name"), resource,
                                 amount("deserved"));
  if (number_in(share, "allocatedBefore") != number_in(share, "allocated")) {
    line += amount("allocatedBefore") + " -> ";
  }
  line += fmt::format("{}, used {}", amount("allocated"), amount("used"));
  if (number_in(share, "leaving") > 0) line += fmt::format(" ({} leaving)", amount("leaving"));
  if (number_in(share, "preempting") > 0) line += ", preempting " + amount("preempting");
  return line;
}

std::vector<std::string> queue_lines(const JsonValue& plan) {
  std::set<std::string> wanted;
  for (const JsonValue& queue : list_in(plan, "queues")) {
    for (const JsonValue& share : list_in(queue, "shares")) {
      if (number_in(share, "demand") > 0) wanted.insert(text_in(share, "resource"));
    }
  }
  std::vector<std::string> lines;
  for (const JsonValue& queue : list_in(plan, "queues")) {
    for (const JsonValue& share : list_in(queue, "shares")) {
      if (wanted.contains(text_in(share, "resource"))) lines.push_back(share_line(queue, share));
    }
  }
  for (const JsonValue& move : list_in(plan, "queueMoves")) {
    const std::string resource = text_in(move, "resource");
    if (!wanted.contains(resource)) continue;
    const auto name = [&](std::string_view key) {
      const std::string text = text_in(move, key);
      return text.empty() ? std::string("unused") : text;
    };
    const JsonValue* const at_once = move.find("atOnce");
    const bool now =
        at_once != nullptr && at_once->as_boolean() != nullptr && *at_once->as_boolean();
    lines.push_back(fmt::format("moves {} {} {} -> {} {}", resource,
                                cli::amount_text(resource, number_in(move, "amount")), name("from"),
                                name("to"), now ? "at once" : "later"));
  }
  return lines;
}

/// The plan in the words of the examples.
std::vector<std::string> summary_of(const JsonValue& plan) {
  std::vector<std::string> lines = queue_lines(plan);
  for (const JsonValue& ask : list_in(plan, "asks")) {
    const std::string nodes = joined(list_in(ask, "placements"), [](const JsonValue& placement) {
      return text_in(placement, "node");
    });
    lines.push_back(fmt::format("{} {} (priority {}) {}{}", text_in(ask, "kind"), pod_name(ask),
                                text_in(ask, "priority"), text_in(ask, "outcome"),
                                nodes.empty() ? nodes : " on " + nodes));
    const std::string victims = joined(list_in(ask, "victims"), pod_name);
    if (!victims.empty()) lines.push_back("  evicts " + victims);
    const std::string leaving = joined(list_in(ask, "waitsFor"), pod_name);
    if (!leaving.empty()) lines.push_back("  waits for " + leaving);
    add_replicas(ask, lines);
    const JsonValue* const reservation = ask.find("reservation");
    if (reservation == nullptr || !nodes.empty()) continue;
    lines.push_back(fmt::format("  reserves {} since {}", text_in(*reservation, "node"),
                                text_in(*reservation, "since")));
  }
  for (const JsonValue& status : list_in(plan, "status")) {
    if (text_in(status, "condition") != "PodsNotMatchingPriority") continue;
    lines.push_back(text_in(status, "object") + " shows " + text_in(status, "condition"));
  }
  return lines;
}

bool contains_in_order(std::string_view line, std::string_view pattern) {
  constexpr std::string_view gap = " ... ";
  while (true) {
    const std::size_t end = pattern.find(gap);
    const std::string_view part = pattern.substr(0, end);
    const std::size_t at = line.find(part);
    if (at == std::string_view::npos) return false;
    if (end == std::string_view::npos) return true;
    line.remove_prefix(at + part.size());
    pattern.remove_prefix(end + gap.size());
  }
}

/// As many errors as the example says, in its order.
void expect_refused(const RunResult& result, const std::vector<std::string>& expected) {
  constexpr std::string_view refused = "refused: ";
  EXPECT_EQ(result.status, 1);
  std::vector<std::string> errors;
  for (const std::string& line : lines_in(result.out + result.error)) {
    if (line.starts_with("error: ")) errors.push_back(line);
  }
  ASSERT_EQ(errors.size(), expected.size()) << result.out << result.error;
  for (std::size_t index = 0; index < errors.size(); ++index) {
    ASSERT_TRUE(expected[index].starts_with(refused));
    EXPECT_TRUE(contains_in_order(errors[index], expected[index].substr(refused.size())))
        << errors[index];
  }
}

void expect_planned(const RunResult& result, const std::vector<std::string>& expected) {
  ASSERT_EQ(result.status, 0) << result.error;
  const auto plan = parse_json_value(result.out);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(fmt::format("{}", fmt::join(summary_of(*plan), "\n")),
            fmt::format("{}", fmt::join(expected, "\n")));
}

/// Each has a document of the same name in docs/policies.
constexpr std::array<std::string_view, 5> folders = {"queue", "replica", "required-node", "session",
                                                     "workload"};

/// "workload/gang-minimum"
std::vector<std::string> example_names() {
  std::vector<std::string> names;
  for (const std::string_view folder : folders) {
    const auto path = repository_root() / "examples" / folder;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().extension() != ".yaml") continue;
      names.push_back(fmt::format("{}/{}", folder, entry.path().stem().string()));
    }
  }
  std::ranges::sort(names);
  return names;
}

class Example : public testing::TestWithParam<std::string> {};

TEST_P(Example, AnswersAsItsCommentSays) {
  const std::string text = read_text(repository_root() / "examples" / (GetParam() + ".yaml"));
  const std::vector<ExampleStep> steps = steps_of(text);
  ASSERT_FALSE(steps.empty()) << "the first comment names no command";
  const Sandbox sandbox;
  std::filesystem::create_directory_symlink(repository_root() / "examples",
                                            sandbox.folder() / "examples");
  for (const ExampleStep& step : steps) {
    SCOPED_TRACE(step.line);
    ASSERT_FALSE(step.expected.empty()) << "no answer";
    const bool refused = step.expected.front().starts_with("refused: ");
    const RunResult result = sandbox.run(refused ? step.line : step.line + " -o json");
    if (refused) {
      expect_refused(result, step.expected);
    } else {
      expect_planned(result, step.expected);
    }
  }
}

TEST(Examples, AreAllInTheDocument) {
  for (const std::string& name : example_names()) {
    const std::string folder = name.substr(0, name.find('/'));
    const std::string document =
        read_text(repository_root() / "docs" / "policies" / (folder + ".md"));
    EXPECT_TRUE(document.contains("examples/" + name + ".yaml")) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Example, testing::ValuesIn(example_names()),
                         [](const testing::TestParamInfo<std::string>& test) {
                           std::string name = test.param;
                           std::ranges::replace_if(
                               name, [](char byte) { return byte == '-' || byte == '/'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace makeway
