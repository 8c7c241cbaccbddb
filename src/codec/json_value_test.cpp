#include "codec/json_value.hpp"

#include <gtest/gtest.h>

#include <string>

#include "codec/writer.hpp"

namespace makeway {
namespace {

JsonValue parsed(std::string_view text) {
  auto value = parse_json_value(text);
  EXPECT_TRUE(value) << text << ": " << (value ? "" : to_text(value.error()));
  return value ? *value : JsonValue{};
}

std::string compact(const JsonValue& value) {
  std::string out;
  JsonWriter writer(out, JsonStyle::compact);
  write_value(value, writer);
  return out;
}

TEST(JsonValue, KeepsTypesOrderAndExactNumbers) {
  const JsonValue value = parsed(
      R"( {"b": 1, "a": [null, true, false, "x\u00e9\n", -5], "c": {}, "d": 1.50, "e": 1e400} )");
  ASSERT_NE(value.as_object(), nullptr);
  EXPECT_EQ((*value.as_object())[0].key, "b");
  EXPECT_EQ(*value.find("b")->as_integer(), 1);
  const JsonValue::Array& list = *value.find("a")->as_array();
  ASSERT_EQ(list.size(), 5U);
  EXPECT_TRUE(list[0].is_null());
  EXPECT_TRUE(*list[1].as_boolean());
  EXPECT_FALSE(*list[2].as_boolean());
  EXPECT_EQ(*list[3].as_string(), "x\xC3\xA9\n");
  EXPECT_EQ(*list[4].as_integer(), -5);
  EXPECT_EQ(value.find("d")->as_number()->text, "1.50");
  EXPECT_EQ(value.find("e")->as_number()->text, "1e400");
  EXPECT_EQ(value.find("missing"), nullptr);
  EXPECT_EQ(list[0].find("b"), nullptr);
}

TEST(JsonValue, IntegersEndWhereInt64Ends) {
  EXPECT_EQ(*parsed("9223372036854775807").as_integer(), 9'223'372'036'854'775'807);
  EXPECT_EQ(*parsed("-9223372036854775808").as_integer(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parsed("9223372036854775808").as_number()->text, "9223372036854775808");
  EXPECT_EQ(*parsed("-0").as_integer(), 0);
}

TEST(JsonValue, ScalarsAreDocumentsToo) {
  EXPECT_EQ(*parsed(" \"x\" ").as_string(), "x");
  EXPECT_TRUE(parsed("null").is_null());
  EXPECT_EQ(parsed("[]").as_array()->size(), 0U);
}

TEST(JsonValue, NamesItsType) {
  EXPECT_EQ(parsed("null").type_name(), "null");
  EXPECT_EQ(parsed("true").type_name(), "a boolean");
  EXPECT_EQ(parsed("1").type_name(), "an integer");
  EXPECT_EQ(parsed("1.5").type_name(), "a number");
  EXPECT_EQ(parsed("\"\"").type_name(), "a string");
  EXPECT_EQ(parsed("[]").type_name(), "a list");
  EXPECT_EQ(parsed("{}").type_name(), "an object");
}

TEST(JsonValue, RefusesWhatIsNotOneJsonValue) {
  for (const std::string_view text :
       {"",        "  ",       "{",          "[",         "]",         "1]",         "[1",
        "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "[1,]",      "[1 2]",     "1 2",        "1,2",
        "1],[2",   "{} {}",    "nul",        "nulll",     "truex",     "tru",        "01",
        "-",       "+1",       "1.",         ".5",        "1e",        "0x10",       "NaN",
        "'a'",     "\"a",      R"("\x")",    "\"\n\"",    "{a:1}",     "{1:2}",      "\"\xff\"",
        "[,1]",    "{,}",      "[1}",        "{\"a\":1]", "{\"a\" 1}", R"("\ud800")"}) {
    const auto value = parse_json_value(text);
    ASSERT_FALSE(value) << text;
    EXPECT_FALSE(value.error().message.empty()) << text;
  }
}

TEST(JsonValue, RefusesDuplicateKeysWithTheirPath) {
  const auto value =
      parse_json_value(R"({"spec": {"list": [{"x": 1}, {"y": 1, "z": 2, "y": 3}]}})");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().field, "spec.list[1]");
  EXPECT_EQ(value.error().value, "y");
  EXPECT_NE(value.error().message.find("twice"), std::string::npos);
}

TEST(JsonValue, ReportsTheLine) {
  const auto value = parse_json_value("{\n  \"a\": 1,\n  \"b\": 01\n}");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().origin.line, 3U);
  EXPECT_EQ(value.error().field, "b");
  EXPECT_EQ(value.error().value, "01");
}

TEST(JsonValue, LimitsTheDepth) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse_json_value(nested(64)));
  EXPECT_FALSE(parse_json_value(nested(65)));
  EXPECT_FALSE(parse_json_value(nested(100'000)));
  EXPECT_FALSE(parse_json_value(std::string(100'000, '[')));
  EXPECT_TRUE(parse_json_value("[[1]]", 2));
  EXPECT_FALSE(parse_json_value("[[[1]]]", 2));
}

TEST(JsonValue, WritingGivesTheSameTree) {
  const std::string text =
      R"({"a":[1,-2,1.5,"x\"y",null,true,{"":[]}],"b":{},"c":12345678901234567890})";
  EXPECT_EQ(compact(parsed(text)), text + "\n");
  EXPECT_EQ(parsed(text), parsed(compact(parsed(text))));
}

}  // namespace
}  // namespace makeway
