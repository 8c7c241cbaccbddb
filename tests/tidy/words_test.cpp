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

TEST(Words, OnlyInFinishedLayers) {
  EXPECT_EQ(count("src/no_such_layer/a.cpp", "// Nobody waits."), 0U);
  EXPECT_EQ(count("tests/tidy/a.cpp", "// Nobody waits."), 0U);
  EXPECT_EQ(count("docs/a.md", "Nobody waits."), 0U);
  EXPECT_EQ(count("src/codec/presets/a.yaml", "# Nobody waits."), 0U);
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
