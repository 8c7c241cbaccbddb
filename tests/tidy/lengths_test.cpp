#include "tidy/lengths.hpp"

#include <gtest/gtest.h>

namespace makeway::tidy {
namespace {

std::string repeat(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

std::size_t count(std::string path, std::string text) {
  return check_lines({.path = std::move(path), .text = std::move(text)}).size();
}

TEST(Lines, HaveAHundredColumns) {
  EXPECT_EQ(count("src/base/a.cpp", std::string(100, 'x') + "\n"), 0U);
  EXPECT_EQ(count("src/base/a.cpp", std::string(101, 'x') + "\n"), 1U);
  EXPECT_EQ(count("cmake/a.cmake", std::string(101, 'x')), 1U);
  EXPECT_EQ(count("README.md", std::string(101, 'x')), 0U);
  // 60 euro signs are 60 columns, though 180 bytes.
  EXPECT_EQ(count("src/base/a.cpp", repeat("\xE2\x82\xAC", 60)), 0U);
  EXPECT_EQ(count("src/base/a.cpp", repeat("\xE2\x82\xAC", 101)), 1U);
}

TEST(Lines, HaveNoTabsAndNoTrailingBlanks) {
  EXPECT_EQ(count("src/base/a.cpp", "\tint a;\n"), 1U);
  EXPECT_EQ(count("Makefile", "\tint a;\n"), 0U);
  EXPECT_EQ(count("src/base/a.cpp", "int a; \n"), 1U);
  EXPECT_EQ(count("src/base/a.cpp", "int a;\r\n"), 1U);
}

TEST(Files, HaveAThousandLines) {
  EXPECT_EQ(count("src/base/a.cpp", repeat("x\n", 1'000)), 0U);
  EXPECT_EQ(count("src/base/a.cpp", repeat("x\n", 1'001)), 1U);
}

std::vector<std::string> heads(std::string_view cpp) {
  std::vector<std::string> result;
  for (const FunctionExtent& function : functions_of(cpp)) result.push_back(function.head);
  return result;
}

using Heads = std::vector<std::string>;

TEST(Functions, AreFoundInNamespacesAndClasses) {
  EXPECT_EQ(heads("namespace a::b {\nint f() { return 1; }\n}  // namespace"), Heads{"int f()"});
  EXPECT_EQ(heads("class A {\n public:\n  explicit A(int x) : x_(x) {}\n  int g() const { "
                  "return x_; }\n\n private:\n  int x_ = 0;\n};"),
            (Heads{"explicit A(int x) : x_(x)", "int g() const"}));
  EXPECT_EQ(heads("template <class T = int>\nT f(T a = {}) { return a; }").size(), 1U);
  EXPECT_EQ(heads("extern \"C\" int f(int a) { return a; }").size(), 1U);
  EXPECT_EQ(heads("bool A::operator==(const A& b) const { return true; }").size(), 1U);
  EXPECT_EQ(heads("TEST(A, B) { if (a) { b(); } }"), Heads{"TEST(A, B)"});
}

TEST(Functions, InitialisersAreNone) {
  EXPECT_TRUE(heads("std::array<int, 2> a = {1, f(2)};\nstruct B { int c{}; };").empty());
  EXPECT_TRUE(heads("enum class E : int { a, b };").empty());
  EXPECT_TRUE(
      heads("INSTANTIATE_TEST_SUITE_P(A, B, Values(Case{\"{\", {}}, Case{\"}\", {}}));").empty());
}

TEST(Functions, BracesInMemberInitialisersDoNotEndThem) {
  const std::string cpp = "A::A(int x) : x_{x}, y_{2} {\n  z_ = 3;\n}\nint after() { return 1; }";
  const std::vector<FunctionExtent> functions = functions_of(cpp);
  ASSERT_EQ(functions.size(), 2U);
  EXPECT_EQ(functions[0].first_line, 1U);
  EXPECT_EQ(functions[0].last_line, 3U);
  EXPECT_EQ(functions[1].head, "int after()");
}

TEST(Functions, LiteralsAndCommentsDoNotConfuseTheBraces) {
  const std::string cpp =
      "int f() {\n  // }\n  g('}', \"}\", R\"(}})\");\n  return 1'000;\n}\nint h() { return 2; }";
  EXPECT_EQ(heads(cpp), (Heads{"int f()", "int h()"}));
}

TEST(Functions, HaveSeventyLines) {
  const auto findings = [](std::size_t body_lines) {
    const std::string text = "namespace a {\n\n/// Why.\nint f(int a,\n      int b) {\n" +
                             repeat("  a += b;\n", body_lines) + "}\n}\n";
    return check_functions({.path = "src/base/a.cpp", .text = text});
  };
  EXPECT_TRUE(findings(67).empty());
  ASSERT_EQ(findings(68).size(), 1U);
  EXPECT_EQ(to_text(findings(68)[0]),
            "src/base/a.cpp:4: 71 lines in 'int f(int a,       int b)'; the limit is 70");
}

TEST(Functions, LongClassesAndNamespacesAreFine) {
  const std::string text = "struct A {\n" + repeat("  int f() { return 1; }\n", 100) + "};\n";
  EXPECT_TRUE(check_functions({.path = "src/base/a.hpp", .text = text}).empty());
}

}  // namespace
}  // namespace makeway::tidy
