#include "tidy/tokens.hpp"

#include <gtest/gtest.h>

namespace makeway::tidy::tokens_test {
namespace {

std::size_t count(std::string path, std::string text) {
  return check_tokens({.path = std::move(path), .text = std::move(text)}).size();
}

TEST(Tokens, CoreLayersSeeNoOutsideWorld) {
  for (const std::string code :
       {"std::chrono::system_clock::now();", "auto now = std::time(nullptr);",
        "std::random_device d;", "std::mt19937 generator;", "int x = rand();", "std::cout << 1;",
        "std::printf(\"x\");", "fmt::print(\"x\");", "std::getenv(\"X\");", "std::thread worker;",
        "double share = 0;", "float share = 0;", "thread_local int x;", "std::exit(1);",
        "assert(x);"}) {
    EXPECT_EQ(count("src/engine/a.cpp", code), 1U) << code;
    EXPECT_EQ(count("src/engine/a_test.cpp", code), 0U) << code;
  }
}

TEST(Tokens, EdgesMay) {
  EXPECT_EQ(count("src/cli/a.cpp", "fmt::print(\"x\"); std::getenv(\"X\");"), 0U);
  EXPECT_EQ(count("src/kube/a.cpp", "std::thread worker; system_clock::now();"), 0U);
  EXPECT_EQ(count("src/sim/a.cpp", "std::mt19937 generator;"), 1U);
}

TEST(Tokens, OnlyWholeWordsInCode) {
  EXPECT_EQ(count("src/model/a.cpp", "int doubled = 1; int is_float = 2; operand(3);"), 0U);
  EXPECT_EQ(count("src/model/a.cpp", "// a double\nauto x = \"double\"; /* float */"), 0U);
  EXPECT_EQ(count("src/model/a.cpp", "random.rand(3); pointer->rand(4); static_assert(true);"), 0U);
  EXPECT_EQ(count("src/model/a.cpp", "double a;\ndouble b;"), 2U);
}

TEST(Tokens, NameLineAndReplacement) {
  const Findings findings = check_tokens({.path = "src/model/a.cpp", .text = "\n\ndouble a;"});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(to_text(findings[0]),
            "src/model/a.cpp:3: 'double' here; instead: int64_t in named units");
}

TEST(Tokens, NoUsingNamespaceAnywhere) {
  EXPECT_EQ(count("tests/tidy/a.cpp", "using namespace std;"), 1U);
  EXPECT_EQ(count("src/cli/a_test.cpp", "using namespace makeway;"), 1U);
  EXPECT_EQ(count("src/cli/a.cpp", "using std::swap;"), 0U);
}

TEST(Tokens, TheOnlyMacroIsCheck) {
  EXPECT_EQ(count("src/cli/a.hpp", "#define MAXIMUM 3"), 1U);
  EXPECT_EQ(count("src/base/check.hpp", "#define CHECK(truth, ...) 1"), 0U);
  EXPECT_EQ(count("src/base/check.hpp", "// #define MAXIMUM 3"), 0U);
  EXPECT_EQ(count("src/base/check.hpp", "#define CHECKED 1"), 1U);
}

TEST(Leftovers, NameAnIssue) {
  const std::string word =
      "TO"
      "DO";
  const auto leftovers = [](std::string text) {
    return check_leftovers({.path = "src/base/a.cpp", .text = std::move(text)}).size();
  };
  EXPECT_EQ(leftovers("// " + word + ": later"), 1U);
  EXPECT_EQ(leftovers("// " + word + "(me): later"), 1U);
  EXPECT_EQ(leftovers("// " + word + "(#12): later"), 0U);
  EXPECT_EQ(leftovers("// MY" + word + "S"), 0U);
}

}  // namespace
}  // namespace makeway::tidy::tokens_test
