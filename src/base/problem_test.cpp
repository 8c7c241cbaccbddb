#include "base/problem.hpp"

#include <gtest/gtest.h>

#include <string>

namespace makeway {
namespace {

TEST(Problem, TellsEverythingItKnowsInOneLine) {
  const Problem problem{.severity = Severity::error,
                        .origin = {.source = "pods.yaml", .document = 2, .line = 17},
                        .object = "Pod default/web-1",
                        .field = "spec.containers[0].resources.requests.cpu",
                        .value = "lots",
                        .message = "not a quantity",
                        .remedy = "write for example 250m"};
  EXPECT_EQ(to_text(problem),
            "pods.yaml, document 2 (line 17): Pod default/web-1: "
            "spec.containers[0].resources.requests.cpu \"lots\": not a quantity; "
            "write for example 250m");
}

TEST(Problem, LeavesOutWhatIsUnknown) {
  Problem problem;
  problem.message = "nothing to read";
  EXPECT_EQ(to_text(problem), "nothing to read");
  problem.origin.source = "-";
  EXPECT_EQ(to_text(problem), "-: nothing to read");
  problem.field = "kind";
  EXPECT_EQ(to_text(problem), "-: kind: nothing to read");
  problem.field.clear();
  problem.value = "x";
  EXPECT_EQ(to_text(problem), "-: \"x\": nothing to read");
}

TEST(Problem, WarningsAreNotErrors) {
  Problem warning;
  warning.severity = Severity::warning;
  EXPECT_FALSE(has_errors({}));
  EXPECT_FALSE(has_errors({warning, warning}));
  EXPECT_TRUE(has_errors({warning, Problem{}}));
}

TEST(Shorten, KeepsShortTexts) {
  EXPECT_EQ(shorten(""), "");
  EXPECT_EQ(shorten("abc"), "abc");
  EXPECT_EQ(shorten(std::string(60, 'x')), std::string(60, 'x'));
}

TEST(Shorten, CutsLongOnes) {
  EXPECT_EQ(shorten(std::string(61, 'x')), std::string(60, 'x') + "...");
  EXPECT_EQ(shorten("abcdef", 3), "abc...");
  EXPECT_EQ(shorten("abc", 0), "...");
}

TEST(Shorten, NeverCutsThroughACharacter) {
  // U+00E4 is two bytes, U+20AC three: a cut inside moves to the front of the character.
  EXPECT_EQ(shorten("a\xC3\xA4z", 2), "a...");
  EXPECT_EQ(shorten("a\xC3\xA4z", 3), "a\xC3\xA4...");
  EXPECT_EQ(shorten("\xE2\x82\xACz", 2), "...");
  EXPECT_EQ(shorten("\xE2\x82\xACz", 3), "\xE2\x82\xAC...");
}

TEST(Shorten, EscapesControlBytes) {
  EXPECT_EQ(shorten("a\nb\x1B[31m\x7F"), "a\\x0ab\\x1b[31m\\x7f");
  EXPECT_EQ(shorten(std::string_view("\0", 1)), "\\x00");
}

}  // namespace
}  // namespace makeway
