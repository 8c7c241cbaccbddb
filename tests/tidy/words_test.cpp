#include "tidy/words.hpp"

#include <gtest/gtest.h>

namespace makeway::tidy::words_test {
namespace {

std::size_t count(std::string path, std::string text) {
  return check_words({.path = std::move(path), .text = std::move(text)}).size();
}

TEST(Words, VagueOnesAreFoundInCodeCommentsAndMessages) {
  for (const std::string text :
       {"// Somebody waits.", "auto text = \"nobody leaves\";", "bool everybody = true;",
        "TEST(Plan, EvictsNobody) {}", "/* whoever asks */", "/// Not for anybody else."}) {
    EXPECT_EQ(count("src/judge/a.cpp", text), 1U) << text;
    EXPECT_EQ(count("src/judge/README.md", text), 1U) << text;
  }
  EXPECT_EQ(count("src/sim/a.hpp", "// Nobody and somebody.\n// Whoever.\n"), 3U);
}

TEST(Words, TestsAndPagesAreChecked) {
  for (const std::string path :
       {"tests/support/a.hpp", "tests/README.md", "docs/a.md", "README.md"}) {
    EXPECT_EQ(count(path, "Nobody waits; everyone was told."), 3U) << path;
  }
}

TEST(Words, HistoryDataAndTheRuleItselfAreNot) {
  for (const std::string path :
       {"src/no_such_layer/a.cpp", "tests/tidy/a.cpp", "docs/STYLE.md", "docs/decisions/1.md",
        "docs/evidence/a.md", "docs/policies/a.md", "src/codec/presets/a.yaml",
        "tests/scenarios/a.txt", "CHANGELOG.md"}) {
    EXPECT_EQ(count(path, "Nobody waits."), 0U) << path;
  }
}

TEST(Words, FurtherOnesAreFoundWhereNothingIsDecided) {
  for (const std::string text : {"// For whom.", "// Someone.", "// Everyone.", "// Anyone.",
                                 "\"was told\"", "bool in_haste = true;", "// Gives back.",
                                 "// Given back.", "// The wished one.", "// It is no news."}) {
    EXPECT_EQ(count("src/kube/a.cpp", text), 1U) << text;
    EXPECT_EQ(count("src/policies/a.cpp", text), 0U) << text;
  }
}

TEST(Words, NamedNounsAreFine) {
  EXPECT_EQ(count("src/judge/a.cpp", "// No pod waits; every ask has a body of evidence."), 0U);
}

TEST(Words, TheMessageNamesTheRule) {
  const Findings findings = check_words({.path = "src/base/a.hpp", .text = "\n// Nobody.\n"});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(to_text(findings[0]),
            "src/base/a.hpp:2: 'nobody' here; STYLE rule 25: name the noun (a pod, an ask, a node, "
            "a queue, a caller, a user)");
}

}  // namespace
}  // namespace makeway::tidy::words_test
