// Runs every *.txt file of this folder; README.md describes them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "scenarios/sandbox.hpp"
#include "support/short_notation.hpp"

namespace makeway {
namespace {

struct Step {
  std::string line;  ///< Without "$ ".
  RunResult expected;
};

/// What the file says, in its order: text that is kept as it is, files, steps.
struct Item {
  std::string comment;
  std::string file_name;
  std::string file_text;
  bool is_short = false;  ///< The text is in the short notation.
  Step step;

  bool is_file() const { return !file_name.empty(); }
  bool is_step() const { return !step.line.empty(); }
};

constexpr std::string_view short_mark = " (short)";

Item file_item(std::string name) {
  const bool is_short = name.ends_with(short_mark);
  if (is_short) name.resize(name.size() - short_mark.size());
  return {.file_name = std::move(name), .is_short = is_short};
}

bool is_comment(std::string_view line) { return line == "#" || line.starts_with("# "); }

/// What a step prints may have lines like comments: only then "---- out" stands before it.
bool has_comment(std::string_view text) { return std::ranges::any_of(lines_in(text), is_comment); }

std::vector<Item> parse_scenario(const std::string& text) {
  std::vector<Item> items;
  std::string* target = nullptr;
  bool comment_ends = false;  ///< The lines are output of a step, and a comment ends it.
  for (const std::string& line : lines_in(text)) {
    if (line.starts_with("==== ")) {
      items.push_back(file_item(line.substr(5)));
      target = &items.back().file_text;
      comment_ends = false;
    } else if (line.starts_with("$ ")) {
      items.push_back({.step = {.line = line.substr(2)}});
      target = &items.back().step.expected.out;
      comment_ends = true;
    } else if (line.starts_with("---- ") && !items.empty() && items.back().is_step()) {
      Step& step = items.back().step;
      if (line == "---- out") comment_ends = false;
      if (line == "---- error") target = &step.expected.error;
      if (line.starts_with("---- exit ")) {
        step.expected.status = std::stoi(line.substr(10));
        target = nullptr;
      }
    } else if (target != nullptr && !(comment_ends && is_comment(line))) {
      *target += line + "\n";
    } else {
      items.push_back({.comment = line + "\n"});
      target = nullptr;
    }
  }
  return items;
}

std::string written(const Step& step) {
  const RunResult& expected = step.expected;
  const bool marked = has_comment(expected.out) || has_comment(expected.error);
  std::string text = fmt::format("$ {}\n", step.line);
  if (marked) text += "---- out\n";
  text += expected.out;
  if (!expected.error.empty()) text += "---- error\n" + expected.error;
  if (marked || expected.status != 0) text += fmt::format("---- exit {}\n", expected.status);
  return text;
}

std::string written(const std::vector<Item>& items) {
  std::string text;
  for (const Item& item : items) {
    if (item.is_file()) {
      text += fmt::format("==== {}{}\n{}", item.file_name, item.is_short ? short_mark : "",
                          item.file_text);
    } else {
      text += item.is_step() ? written(item.step) : item.comment;
    }
  }
  return text;
}

void write_file(const Sandbox& sandbox, const Item& item) {
  if (!item.is_short) return sandbox.write(item.file_name, item.file_text);
  const Result<std::string> yaml = expand_short_notation(item.file_text);
  if (!yaml) ADD_FAILURE() << item.file_name << ": " << yaml.error().message;
  if (yaml) sandbox.write(item.file_name, *yaml);
}

/// Hashes are 16 hexadecimal digits. Without a letter it is a number, without a digit a word.
bool is_hash(std::string_view word) {
  const auto is_digit = [](char byte) { return byte >= '0' && byte <= '9'; };
  const auto is_letter = [](char byte) { return byte >= 'a' && byte <= 'f'; };
  return word.size() == 16 && std::ranges::any_of(word, is_digit) &&
         std::ranges::any_of(word, is_letter) &&
         std::ranges::all_of(word, [&](char byte) { return is_digit(byte) || is_letter(byte); });
}

/// The hashes of ids and configurations as "<hash 1>", "<hash 2>" in the order of their first
/// places: a change of the hash changes the one scenario that asserts them.
std::string without_hashes(std::string_view text) {
  std::vector<std::string> hashes;
  std::string result;
  while (!text.empty()) {
    const auto is_part = [](unsigned char byte) { return std::isalnum(byte) != 0; };
    const auto end = std::ranges::find_if_not(text, is_part);
    const std::string word(text.begin(), end);
    if (is_hash(word)) {
      auto place = std::ranges::find(hashes, word);
      if (place == hashes.end()) place = hashes.insert(place, word);
      result += fmt::format("<hash {}>", place - hashes.begin() + 1);
    } else {
      result += word;
    }
    text.remove_prefix(word.size());
    if (!text.empty()) result += text.front();
    if (!text.empty()) text.remove_prefix(1);
  }
  return result;
}

constexpr std::string_view scenario_of_hashes = "plan_hashes";

/// "Configuration makeway, no time in the input, plan <hash 1>.": what a plan in text ends with.
constexpr std::string_view footer_start = "Configuration ";

bool has_plan(std::string_view text) {
  return std::ranges::any_of(lines_in(text), [](std::string_view line) {
    return line.starts_with("Plan: ") || line == "Nothing is pending.";
  });
}

/// The last line of a plan in text is written in a scenario where it differs from that of the plan
/// before it. `footer` is that line.
class FooterOfPlans {
 public:
  /// Puts the line into an expectation that leaves it out.
  void complete(std::string& expected) {
    if (has_plan(expected) && last_line(expected).empty()) expected += footer_;
    note(expected);
  }

  /// Takes it out of an output that is to be written.
  void shorten(std::string& actual) {
    const std::string line = last_line(actual);
    if (has_plan(actual) && !line.empty() && line == footer_)
      actual.resize(actual.size() - line.size());
    note(line);
  }

 private:
  /// The last line of the text if it is such a line.
  static std::string last_line(std::string_view text) {
    const std::vector<std::string> lines = lines_in(text);
    if (lines.empty() || !lines.back().starts_with(footer_start)) return {};
    return lines.back() + "\n";
  }

  void note(std::string_view text) {
    const std::string line = last_line(text);
    if (!line.empty()) footer_ = line;
  }

  std::string footer_;
};

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
    FooterOfPlans footer;
    for (Item& item : items) {
      if (item.is_file()) write_file(sandbox, item);
      if (!item.is_step()) continue;
      SCOPED_TRACE(item.step.line);
      RunResult actual = sandbox.run(item.step.line);
      RunResult& expected = item.step.expected;
      if (GetParam() != scenario_of_hashes) {
        for (RunResult* result : {&actual, &expected}) {
          result->out = without_hashes(result->out);
          result->error = without_hashes(result->error);
        }
        if (rewriting()) footer.shorten(actual.out);
        if (!rewriting()) footer.complete(expected.out);
      }
      if (rewriting()) {
        expected = actual;
        continue;
      }
      EXPECT_EQ(actual.out, expected.out);
      EXPECT_EQ(actual.error, expected.error);
      EXPECT_EQ(actual.status, expected.status);
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
