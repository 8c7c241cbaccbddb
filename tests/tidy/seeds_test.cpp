#include "tidy/seeds.hpp"

#include <gtest/gtest.h>

namespace makeway::tidy {
namespace {

using Messages = std::vector<std::string>;

constexpr std::string_view good_row =
    "| \"a rule\" | 4; 1, law 8 | `src/engine/a.cpp: Fleet::spare, free` | "
    "`tests/scenarios/s.txt: one`, `src/engine/a_test.cpp: Suite.Name` | "
    "[x](../examples/x.yaml) | `replica.tieKeys`, preset `mcm-v1` |";

/// Five tables of one row each; the last row of the last one is given.
std::string page_of(std::string_view row) {
  std::string page = "# Seeds\n\nSee [input](input.md#names) and `status.used`.\n";
  for (std::size_t at = 0; at < seeds_count; ++at) {
    page +=
        "\n| rule | SPEC | function | test | example | knob, and where ours differs |\n"
        "|---|---|---|---|---|---|\n";
    page += std::string(at + 1 == seeds_count ? row : good_row) + "\n";
  }
  return page;
}

Tree tree_of(std::string page) {
  return {{"docs/seeds.md", std::move(page)},
          {"docs/input.md", ""},
          {"docs/configuration.md", "| `replica.tieKeys` | a list |\n"},
          {"src/codec/presets/mcm-v1.yaml", ""},
          {"src/engine/a.cpp", "// Fleet::gone\nint Fleet::spare() { return free(\"text\"); }\n"},
          {"src/engine/a_test.cpp", "TEST_P(Suite,\n       Name) {}\n// TEST(Suite, Gone)\n"},
          {"tests/scenarios/s.txt", "# SPEC 4\n==== one.yaml\n$ makeway plan -f two.yaml\n"},
          {"examples/x.yaml", ""}};
}

Messages messages_of(std::string page) {
  Messages messages;
  for (const Finding& finding : check_seeds(tree_of(std::move(page)))) {
    messages.push_back(finding.message);
  }
  return messages;
}

/// Of a page whose last row has one part replaced.
Messages planted(std::string_view part, std::string_view instead) {
  std::string row(good_row);
  const std::size_t at = row.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return messages_of(page_of(row.replace(at, part.size(), instead)));
}

TEST(Seeds, WhatExistsIsFine) { EXPECT_EQ(messages_of(page_of(good_row)), Messages{}); }

TEST(Seeds, FilesExist) {
  EXPECT_EQ(planted("engine/a.cpp", "engine/b.cpp"), Messages{"there is no file src/engine/b.cpp"});
  EXPECT_EQ(planted("scenarios/s.txt", "scenarios/t.txt"),
            Messages{"there is no file tests/scenarios/t.txt"});
  EXPECT_EQ(planted("examples/x", "examples/y"), Messages{"there is no file examples/y.yaml"});
}

TEST(Seeds, FunctionsOccurOutsideOfCommentsAndTexts) {
  EXPECT_EQ(planted("Fleet::spare", "Fleet::gone"),
            Messages{"Fleet::gone does not occur in src/engine/a.cpp"});
  EXPECT_EQ(planted("Fleet::spare", "Fleet::spar"),
            Messages{"Fleet::spar does not occur in src/engine/a.cpp"});
  EXPECT_EQ(planted("free", "text"), Messages{"text does not occur in src/engine/a.cpp"});
}

TEST(Seeds, TestsAndScenariosOccur) {
  EXPECT_EQ(planted("Suite.Name", "Suite.Gone"),
            Messages{"Suite.Gone does not occur in src/engine/a_test.cpp"});
  EXPECT_EQ(planted("Suite.Name", "Suite.Nam"),
            Messages{"Suite.Nam does not occur in src/engine/a_test.cpp"});
  EXPECT_EQ(planted("s.txt: one", "s.txt: one, two"),
            Messages{"two does not occur in tests/scenarios/s.txt"});
}

TEST(Seeds, KnobsPresetsAndLinksExist) {
  EXPECT_EQ(planted("replica.tieKeys", "replica.tieKey"),
            Messages{"there is no knob replica.tieKey"});
  EXPECT_EQ(planted("replica.tieKeys", "replica.tieKeys=newest"), Messages{});
  EXPECT_EQ(planted("mcm-v1", "mcm-v2"), Messages{"there is no preset mcm-v2"});
  EXPECT_EQ(planted("`replica.tieKeys`", "[gone](gone.md#part)"),
            Messages{"there is no file docs/gone.md"});
}

TEST(Seeds, RowsAreComplete) {
  EXPECT_EQ(planted("[x](../examples/x.yaml)", "none yet"), Messages{});
  EXPECT_EQ(planted("[x](../examples/x.yaml)", "some"),
            Messages{"no example; name one, or write \"none yet\""});
  EXPECT_EQ(planted("4; 1, law 8", "law 8"),
            Messages{"the second cell begins with the section of SPEC"});
  EXPECT_EQ(planted("\"a rule\"", " "), Messages{"an empty cell; write - or \"none yet\""});
  EXPECT_EQ(planted("| 4; 1, law 8 |", "|"), Messages{"a rule has 6 cells, this row 5"});
}

TEST(Seeds, EachHasATable) {
  const std::string page = page_of(good_row);
  const Messages four = messages_of(page.substr(0, page.rfind("\n| rule |")));
  ASSERT_EQ(four.size(), 1U);
  EXPECT_TRUE(four[0].starts_with("4 tables of rules for 5 seeds")) << four[0];
  const Findings missing = check_seeds({{"docs/input.md", ""}});
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].path, seeds_page);
}

TEST(Seeds, FindingsNameTheirLine) {
  const std::string page = page_of("| too | short |");
  const Findings findings = check_seeds(tree_of(page));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].line, lines_of(page).size());
}

}  // namespace
}  // namespace makeway::tidy
