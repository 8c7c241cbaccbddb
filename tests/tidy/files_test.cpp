#include "tidy/files.hpp"

#include <gtest/gtest.h>

#include "tidy/exceptions.hpp"

namespace makeway::tidy {
namespace {

std::vector<std::string> paths(const Findings& findings) {
  std::vector<std::string> result;
  for (const Finding& finding : findings) result.push_back(finding.path);
  return result;
}

using Paths = std::vector<std::string>;

TEST(DeadHeaders, NeedAUserThatIsNotTheirOwn) {
  Tree tree = {{"src/base/a.hpp", ""},
               {"src/base/a.cpp", "#include \"base/a.hpp\"\n"},
               {"src/base/a_test.cpp", "#include \"base/a.hpp\"\n"},
               {"src/base/b_test.cpp", "#include \"base/a.hpp\"\n"},
               {"src/base/c.cpp", "// #include \"base/a.hpp\"\n"}};
  EXPECT_EQ(paths(check_dead_headers(tree)), Paths{"src/base/a.hpp"});
  tree.push_back({"src/model/d.cpp", "#include \"base/a.hpp\"\n"});
  EXPECT_TRUE(check_dead_headers(tree).empty());
}

TEST(DeadSources, AreThoseNoPatternMatches) {
  const Tree tree = {{"src/base/a.cpp", ""},
                     {"src/policies/session/a.cpp", ""},
                     {"src/policies/session/deep/a.cpp", ""},
                     {"src/a.cpp", ""},
                     {"src/novel/a.cpp", ""},
                     {"tests/properties/a.cpp", ""},
                     {"tests/a.cpp", ""},
                     {"tests/properties/deep/a.cpp", ""},
                     {"bench/a.cpp", ""},
                     {"src/policies/session/a_fuzz.cpp", ""},
                     {"a.cpp", ""}};
  EXPECT_EQ(paths(check_dead_sources(tree)),
            (Paths{"src/a.cpp", "src/novel/a.cpp", "tests/a.cpp", "tests/properties/deep/a.cpp",
                   "src/policies/session/a_fuzz.cpp", "a.cpp"}));
}

TEST(DeadData, FuzzersAndCorporaBelongTogether) {
  const Tree tree = {{"src/codec/yaml_fuzz.cpp", ""},
                     {"src/codec/json_fuzz.cpp", ""},
                     {"tests/corpus/json_fuzz/1", ""},
                     {"tests/corpus/old_fuzz/1", ""}};
  EXPECT_EQ(paths(check_dead_data(tree)),
            (Paths{"tests/corpus/yaml_fuzz", "tests/corpus/old_fuzz"}));
}

TEST(DeadData, FoldersAreNamedSomewhere) {
  Tree tree = {{"tests/scenarios/lonely/a.txt", ""}, {"tests/scenarios/a.cpp", "open(\"read\");"}};
  EXPECT_EQ(paths(check_dead_data(tree)), Paths{"tests/scenarios/lonely"});
  tree.push_back({"tests/scenarios/b.cpp", "read(\"lonely\");"});
  EXPECT_TRUE(check_dead_data(tree).empty());
}

TEST(Readmes, HoldAParagraph) {
  const std::string paragraph = "This folder holds what every other layer may use.";
  const Tree tree = {{"src/a/x.cpp", ""},
                     {"src/b/x.hpp", ""},
                     {"src/b/README.md", "# b\n"},
                     {"src/c/x.cpp", ""},
                     {"src/c/README.md", "# c\n\n" + paragraph},
                     {"tools/x.cpp", ""},
                     {"src/d/only.yaml", ""}};
  EXPECT_EQ(paths(check_readmes(tree)), (Paths{"src/a", "src/b"}));
}

TEST(MachinePaths, AreFoundButNotRelativeOnes) {
  const auto count = [](std::string text) {
    return check_machine_paths({.path = "docs/a.md", .text = std::move(text)}).size();
  };
  const std::string work =
      "/"
      "work/";
  EXPECT_EQ(count("see " + work + "main"), 1U);
  EXPECT_EQ(count("\"" + work +
                  "x\" and\n/"
                  "root/y and\n/"
                  "home/z"),
            3U);
  EXPECT_EQ(count("some" + work + "main and .." + work + "main"), 0U);
}

TEST(Exceptions, ForgiveExactlyTheirFinding) {
  const std::vector<Exception> table = {{"a.cpp", "dead", "because"}};
  const Findings findings = {{.path = "a.cpp", .line = 0, .message = "dead: unused"},
                             {.path = "b.cpp", .line = 0, .message = "dead: unused"}};
  EXPECT_EQ(paths(apply_exceptions(findings, table)), Paths{"b.cpp"});
}

TEST(Exceptions, ThatForgiveNothingAreFindings) {
  const std::vector<Exception> table = {{"a.cpp", "dead", "because"}};
  const Findings remaining = apply_exceptions({}, table);
  ASSERT_EQ(remaining.size(), 1U);
  EXPECT_EQ(remaining[0].message, "its exception for dead forgives nothing; remove it");
}

}  // namespace
}  // namespace makeway::tidy
