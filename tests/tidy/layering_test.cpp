#include "tidy/layering.hpp"

#include <gtest/gtest.h>

namespace makeway::tidy {
namespace {

/// The message about one line in one file; empty when nothing is wrong with it.
std::string verdict(std::string path, std::string line) {
  const Findings findings = check_includes({.path = std::move(path), .text = std::move(line)});
  return findings.empty() ? std::string() : findings.front().message;
}

TEST(Layering, DownwardsIsAllowed) {
  EXPECT_EQ(verdict("src/model/a.hpp", "#include \"base/result.hpp\""), "");
  EXPECT_EQ(verdict("src/model/a.hpp", "#include \"model/b.hpp\""), "");
  EXPECT_EQ(verdict("src/cli/a.cpp", "#include \"sim/b.hpp\""), "");
  EXPECT_EQ(verdict("src/sim/a.cpp", "#include \"codec/b.hpp\""), "");
  EXPECT_EQ(verdict("src/policies/session/a.cpp", "#include \"engine/b.hpp\""), "");
}

TEST(Layering, EverythingElseIsRefused) {
  EXPECT_EQ(verdict("src/base/a.hpp", "#include \"model/b.hpp\""),
            "base/ must not include model/: pass a value, or move the code");
  EXPECT_NE(verdict("src/model/a.hpp", "#include \"codec/b.hpp\""), "");
  EXPECT_NE(verdict("src/engine/a.hpp", "#include \"codec/b.hpp\""), "");
  EXPECT_NE(verdict("src/policies/a.hpp", "#include \"control/b.hpp\""), "");
  EXPECT_NE(verdict("src/control/a.hpp", "#include \"policies/b.hpp\""), "");
  EXPECT_NE(verdict("src/sim/a.hpp", "#include \"kube/b.hpp\""), "");
  EXPECT_NE(verdict("src/server/a.hpp", "#include \"cli/b.hpp\""), "");
  EXPECT_NE(verdict("src/novel/a.hpp", "#include \"base/b.hpp\""), "");
}

TEST(Layering, PoliciesDoNotIncludeEachOther) {
  EXPECT_EQ(verdict("src/policies/session/a.cpp", "#include \"policies/session/b.hpp\""), "");
  EXPECT_EQ(verdict("src/policies/session/a.cpp", "#include \"policies/shared/b.hpp\""), "");
  EXPECT_EQ(verdict("src/policies/session/a.cpp", "#include \"policies/policy.hpp\""), "");
  EXPECT_EQ(verdict("src/policies/workload/pod/a.cpp", "#include \"policies/workload/b.hpp\""), "");
  EXPECT_EQ(verdict("src/policies/decide.cpp", "#include \"policies/session/b.hpp\""), "");
  EXPECT_EQ(verdict("src/policies/session/a.cpp", "#include \"policies/queue/b.hpp\""),
            "policies/session/ must not include policies/queue/b.hpp: policies meet in the World");
  EXPECT_NE(verdict("src/policies/session/a.cpp", "#include \"policies/decide.hpp\""), "");
  EXPECT_NE(verdict("src/policies/shared/a.cpp", "#include \"policies/queue/b.hpp\""), "");
  EXPECT_NE(verdict("src/policies/shared/a.cpp", "#include \"policies/policy.hpp\""), "");
}

TEST(Layering, PathsStartAtTheSourceFolder) {
  EXPECT_EQ(verdict("src/model/a.cpp", "#include \"a.hpp\""),
            "include \"a.hpp\" by its path from src/");
  EXPECT_NE(verdict("src/model/a.cpp", "#include \"../base/b.hpp\""), "");
  EXPECT_NE(verdict("src/model/a.cpp", "  #  include \"a.hpp\""), "");
}

TEST(Layering, TestsMayUseTheirSupport) {
  EXPECT_EQ(verdict("src/model/a_test.cpp", "#include \"support/builders.hpp\""), "");
  EXPECT_EQ(verdict("tests/properties/a.cpp", "#include \"codec/b.hpp\""), "");
  EXPECT_NE(verdict("src/model/a.cpp", "#include \"support/builders.hpp\""), "");
  EXPECT_NE(verdict("src/model/a_test.cpp", "#include \"codec/b.hpp\""), "");
}

TEST(Layering, CommentsIncludeNothing) {
  EXPECT_EQ(verdict("src/base/a.hpp", "// #include \"model/b.hpp\""), "");
}

TEST(Libraries, HeavyHeadersStayInNamedSources) {
  EXPECT_EQ(verdict("src/codec/a.cpp", "#include <simdjson.h>"), "");
  EXPECT_EQ(verdict("src/codec/a.hpp", "#include <simdjson.h>"),
            "<simdjson.h> only in a .cpp file; headers stay quick to compile");
  EXPECT_NE(verdict("src/model/a.cpp", "#include <simdjson.h>"), "");
  EXPECT_NE(verdict("src/codec/a.hpp", "#include <yaml.h>"), "");
  EXPECT_NE(verdict("src/cli/a.cpp", "#include <zlib.h>"), "");
  EXPECT_EQ(verdict("src/cli/a.cpp", "#include <CLI/CLI.hpp>"), "");
  EXPECT_NE(verdict("src/cli/a.hpp", "#include <CLI/CLI.hpp>"), "");
  EXPECT_NE(verdict("src/kube/a.cpp", "#include <boost/beast.hpp>"), "");
  EXPECT_NE(verdict("src/server/a.cpp", "#include <curl/curl.h>"), "");
  EXPECT_NE(verdict("src/codec/a.cpp", "#include <nlohmann/json.hpp>"), "");
  EXPECT_EQ(verdict("src/codec/a_test.cpp", "#include <nlohmann/json.hpp>"), "");
}

TEST(Libraries, SomeStandardHeadersAreRefusedToo) {
  EXPECT_EQ(verdict("src/base/a.hpp", "#include <vector>"), "");
  EXPECT_EQ(verdict("src/base/a.hpp", "#include <fmt/format.h>"), "");
  EXPECT_NE(verdict("src/codec/a.cpp", "#include <iostream>"), "");
  EXPECT_EQ(verdict("src/cli/a.cpp", "#include <iostream>"), "");
  EXPECT_NE(verdict("src/cli/a.cpp", "#include <regex>"), "");
  EXPECT_NE(verdict("tests/tidy/a.cpp", "#include <regex>"), "");
  EXPECT_NE(verdict("src/model/a.cpp", "#include <unistd.h>"), "");
  EXPECT_EQ(verdict("src/codec/a.cpp", "#include <unistd.h>"), "");
}

TEST(Libraries, UnknownOnesAreAskedAbout) {
  EXPECT_EQ(verdict("src/cli/a.cpp", "#include <spdlog/spdlog.h>"),
            "<spdlog/spdlog.h> is not in the table of libraries (tests/tidy/layering.cpp)");
}

TEST(Reach, AHeavyHeaderStaysInItsLayer) {
  Tree tree = {{"src/codec/cursor.hpp", "#include <simdjson.h>\n"},
               {"src/codec/decode.hpp", "#include \"codec/cursor.hpp\"\n"},
               {"src/codec/decode.cpp", "#include \"codec/decode.hpp\"\n"},
               {"src/codec/load.hpp", "#include <vector>\n"},
               {"src/cli/main.cpp", "#include \"codec/load.hpp\"\n"}};
  EXPECT_TRUE(check_reach(tree).empty());
  tree[3].text = "#include \"codec/decode.hpp\"\n";
  const Findings findings = check_reach(tree);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(to_text(findings[0]),
            "src/cli/main.cpp: sees src/codec/cursor.hpp, which is private to codec/");
}

}  // namespace
}  // namespace makeway::tidy
