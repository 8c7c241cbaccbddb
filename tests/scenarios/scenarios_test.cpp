// Runs every *.txt file of this folder; README.md describes them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "scenarios/sandbox.hpp"

namespace makeway {
namespace {

struct Step {
  std::string line;  ///< Without "$ ".
  RunResult expected;
  bool ended = false;  ///< Its exit status was there.
};

/// What the file says, in its order: text that is kept as it is, files, steps.
struct Item {
  std::string comment;
  std::string file_name;
  std::string file_text;
  Step step;

  bool is_file() const { return !file_name.empty(); }
  bool is_step() const { return !step.line.empty(); }
};

std::vector<Item> parse_scenario(const std::string& text) {
  std::vector<Item> items;
  std::string* target = nullptr;
  for (const std::string& line : lines_in(text)) {
    if (line.starts_with("==== ")) {
      items.push_back({.file_name = line.substr(5)});
      target = &items.back().file_text;
    } else if (line.starts_with("$ ")) {
      items.push_back({.step = {.line = line.substr(2)}});
      target = nullptr;
    } else if (line.starts_with("---- ") && !items.empty() && items.back().is_step()) {
      Step& step = items.back().step;
      if (line == "---- out") target = &step.expected.out;
      if (line == "---- error") target = &step.expected.error;
      if (line.starts_with("---- exit ")) {
        step.expected.status = std::stoi(line.substr(10));
        step.ended = true;
        target = nullptr;
      }
    } else if (target != nullptr) {
      *target += line + "\n";
    } else {
      items.push_back({.comment = line + "\n"});
    }
  }
  return items;
}

std::string written(const std::vector<Item>& items) {
  std::string text;
  for (const Item& item : items) {
    if (item.is_file()) {
      text += fmt::format("==== {}\n{}", item.file_name, item.file_text);
    } else if (item.is_step()) {
      const RunResult& expected = item.step.expected;
      text += fmt::format("$ {}\n", item.step.line);
      if (!expected.out.empty()) text += "---- out\n" + expected.out;
      if (!expected.error.empty()) text += "---- error\n" + expected.error;
      text += fmt::format("---- exit {}\n", expected.status);
    } else {
      text += item.comment;
    }
  }
  return text;
}

std::filesystem::path scenario_folder() { return repository_root() / "tests" / "scenarios"; }

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(scenario_folder())) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

class Scenario : public testing::TestWithParam<std::string> {};

TEST_P(Scenario, PrintsWhatItShould) {
  const std::filesystem::path path = scenario_folder() / (GetParam() + ".txt");
  const std::string text = read_text(path);
  EXPECT_TRUE(text.starts_with("# ")) << "the first line names the rule";
  std::vector<Item> items = parse_scenario(text);
  ASSERT_TRUE(std::ranges::any_of(items, &Item::is_step)) << "no step";
  {
    const Sandbox sandbox;
    for (Item& item : items) {
      if (item.is_file()) sandbox.write(item.file_name, item.file_text);
      if (!item.is_step()) continue;
      SCOPED_TRACE(item.step.line);
      const RunResult actual = sandbox.run(item.step.line);
      if (rewriting()) {
        item.step.expected = actual;
        continue;
      }
      EXPECT_TRUE(item.step.ended) << "a step ends with '---- exit N'";
      EXPECT_EQ(actual.out, item.step.expected.out);
      EXPECT_EQ(actual.error, item.step.expected.error);
      EXPECT_EQ(actual.status, item.step.expected.status);
    }
  }
  if (rewriting()) write_text(path, written(items));
}

INSTANTIATE_TEST_SUITE_P(Files, Scenario, testing::ValuesIn(scenario_names()),
                         [](const testing::TestParamInfo<std::string>& test) {
                           std::string name = test.param;
                           std::ranges::replace_if(
                               name, [](unsigned char byte) { return std::isalnum(byte) == 0; },
                               '_');
                           return name;
                         });

}  // namespace
}  // namespace makeway
