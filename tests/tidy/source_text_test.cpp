#include "tidy/source_text.hpp"

#include <gtest/gtest.h>

namespace makeway::tidy {
namespace {

TEST(WithoutComments, BlanksCommentsInPlace) {
  EXPECT_EQ(without_comments("a // b\nc /* d\ne */ f"), "a     \nc     \n     f");
  EXPECT_EQ(without_comments("\"// no\" // yes"), "\"// no\"       ");
  EXPECT_EQ(without_comments("a /* never closed"), "a                ");
}

TEST(CodeOnly, BlanksLiteralsButKeepsTheirQuotes) {
  EXPECT_EQ(code_only("f(\"a{\", 'b');"), "f(\"  \", ' ');");
  EXPECT_EQ(code_only(R"(f("\"{", '\'', '{');)"), R"(f("   ", '  ', ' ');)");
  EXPECT_EQ(code_only("\"unterminated\nnext"), "\"            \nnext");
}

TEST(CodeOnly, KnowsRawStrings) {
  EXPECT_EQ(code_only("x = R\"(a\")\" + y;"), "x = R\"    \" + y;");
  EXPECT_EQ(code_only("R\"q()\" } )q\" {"), "R\"         \" {");
}

TEST(CodeOnly, DigitSeparatorsAreNoLiterals) {
  EXPECT_EQ(code_only("a = 1'000; {} b = 2'000;"), "a = 1'000; {} b = 2'000;");
}

TEST(CodeOnly, BlanksDirectivesWithTheirContinuation) {
  EXPECT_EQ(code_only("#define X { \\\n  {\nint a;"), "             \n   \nint a;");
}

TEST(Lines, AreCounted) {
  EXPECT_EQ(lines_of("a\n\nb"), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(lines_of("a\n"), (std::vector<std::string_view>{"a"}));
  EXPECT_TRUE(lines_of("").empty());
  EXPECT_EQ(line_at("a\nb\nc", 0), 1U);
  EXPECT_EQ(line_at("a\nb\nc", 4), 3U);
}

TEST(Paths, AreTakenApart) {
  EXPECT_EQ(layer_of("src/codec/yaml.cpp"), "codec");
  EXPECT_EQ(layer_of("src/policies/session/plan.cpp"), "policies");
  EXPECT_EQ(layer_of("src/main.cpp"), "");
  EXPECT_EQ(layer_of("tests/tidy/files.cpp"), "");
  EXPECT_EQ(folder_of("src/codec/yaml.cpp"), "src/codec");
  EXPECT_EQ(folder_of("README.md"), "");
  EXPECT_EQ(stem_of("src/codec/yaml.cpp"), "yaml");
  EXPECT_EQ(stem_of("Makefile"), "Makefile");
}

}  // namespace
}  // namespace makeway::tidy
