#include "codec/writer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/prng.hpp"
#include "codec/json_value.hpp"
#include "codec/yaml.hpp"

namespace makeway {
namespace {

std::string json_text(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonString, EscapesWhatJsonAndYamlNeed) {
  EXPECT_EQ(json_text(""), R"("")");
  EXPECT_EQ(json_text("plain text, long enough for words"),
            R"("plain text, long enough for words")");
  EXPECT_EQ(json_text("a\"b\\c\n\r\t\b\f"), R"("a\"b\\c\n\r\t\b\f")");
  EXPECT_EQ(json_text(std::string_view("\0\x1f\x7f", 3)), R"("\u0000\u001f\u007f")");
  EXPECT_EQ(json_text("12345678\"1234567\x01"), R"("12345678\"1234567\u0001")");
  EXPECT_EQ(json_text("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"),
            "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"");
  EXPECT_EQ(json_text("\xC2\x85\xE2\x80\xA8\xEF\xBB\xBF"), R"("\u0085\u2028\ufeff")");
}

/// Issue 20, point 5: documents are printed on terminals, too.
TEST(JsonString, EscapesWhatATerminalMustNotSee) {
  // NOLINTNEXTLINE(misc-misleading-bidirectional): that is what it is about.
  const std::string_view hostile = "\x1B[2J\xC2\x9B\xE2\x80\x8B\xE2\x80\xAE\xF3\xA0\x81\x81";
  EXPECT_EQ(json_text(hostile), R"("\u001b[2J\u009b\u200b\u202e\udb40\udc41")");
  EXPECT_EQ(*parse_json_value(json_text(hostile))->as_string(), hostile);
  std::string yaml;
  YamlWriter writer(yaml);
  writer.string(hostile);
  EXPECT_EQ(yaml, "\"\\u001b[2J\\u009b\\u200b\\u202e\\U000e0041\"\n");
  std::vector<YamlDocument> documents;
  EXPECT_TRUE(yaml_to_json(yaml, "test", {}, documents).empty());
  ASSERT_EQ(documents.size(), 1U);
  EXPECT_EQ(*parse_json_value(documents.front().json)->as_string(), hostile);
}

TEST(JsonString, ReplacesWhatIsNotUtf8) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(json_text("a\xFFz"), "\"a" + mark + "z\"");
  EXPECT_EQ(json_text("\xC3"), "\"" + mark + "\"");
  EXPECT_EQ(json_text("\xC0\xAF"), "\"" + mark + mark + "\"");             // Overlong.
  EXPECT_EQ(json_text("\xED\xA0\x80"), "\"" + mark + mark + mark + "\"");  // A surrogate.
  EXPECT_EQ(json_text("\xF4\x90\x80\x80"), "\"" + mark + mark + mark + mark + "\"");
}

TEST(JsonString, FindsEveryUnsafeByteAtEveryPlace) {
  for (int byte = 0; byte < 0x80; ++byte) {
    for (std::size_t at = 0; at < 17; ++at) {
      std::string text(17, 'a');
      text[at] = static_cast<char>(byte);
      const auto value = parse_json_value(json_text(text));
      ASSERT_TRUE(value) << byte << " " << at;
      ASSERT_EQ(*value->as_string(), text) << byte << " " << at;
    }
  }
}

void write_sample(DocumentWriter& writer) {
  writer.begin_object();
  writer.string_field("kind", "Pod");
  writer.key("empty");
  writer.begin_object();
  writer.end_object();
  writer.key("none");
  writer.begin_array();
  writer.end_array();
  writer.key("spec");
  writer.begin_object();
  writer.integer_field("priority", -10);
  writer.boolean_field("hostNetwork", true);
  writer.key("list");
  writer.begin_array();
  writer.string("a");
  writer.begin_object();
  writer.string_field("name", "x");
  writer.key("ports");
  writer.begin_array();
  writer.integer(80);
  writer.null();
  writer.end_array();
  writer.end_object();
  writer.begin_array();
  writer.integer(1);
  writer.begin_array();
  writer.end_array();
  writer.end_array();
  writer.end_array();
  writer.end_object();
  writer.end_object();
}

TEST(JsonWriter, WritesCompactLines) {
  std::string out;
  JsonWriter writer(out, JsonStyle::compact);
  write_sample(writer);
  writer.number("1.5");
  EXPECT_EQ(out, R"({"kind":"Pod","empty":{},"none":[],"spec":{"priority":-10,"hostNetwork":true,)"
                 R"("list":["a",{"name":"x","ports":[80,null]},[1,[]]]}})"
                 "\n1.5\n");
}

TEST(JsonWriter, WritesPrettyDocuments) {
  std::string out;
  JsonWriter writer(out);
  writer.begin_object();
  writer.key("a");
  writer.begin_array();
  writer.integer(1);
  writer.string("b");
  writer.end_array();
  writer.key("c");
  writer.begin_object();
  writer.end_object();
  writer.end_object();
  EXPECT_EQ(out, "{\n  \"a\": [\n    1,\n    \"b\"\n  ],\n  \"c\": {}\n}\n");
}

TEST(YamlWriter, LaysOutAsKubectlDoes) {
  std::string out;
  YamlWriter writer(out);
  write_sample(writer);
  writer.begin_object();
  writer.end_object();
  EXPECT_EQ(out, R"(kind: Pod
empty: {}
none: []
spec:
  priority: -10
  hostNetwork: true
  list:
  - a
  - name: x
    ports:
    - 80
    - null
  - - 1
    - []
---
{}
)");
}

TEST(YamlWriter, QuotesWhatAnotherReaderWouldMistake) {
  const auto written = [](std::string_view text) {
    std::string out;
    YamlWriter writer(out);
    writer.string(text);
    out.pop_back();
    return out;
  };
  for (const std::string_view text :
       {"web-1", "4Gi", "500m", "kube-system/web", "nginx:1.25", "a b c", "registry/x:v1@sha256",
        "app.kubernetes.io/name", "yesterday", "nothing", "_x", "/var/lib"}) {
    EXPECT_EQ(written(text), text);
  }
  for (const std::string_view text : {"",           "yes",
                                      "No",         "on",
                                      "OFF",        "y",
                                      "N",          "true",
                                      "nUlL",       "null",
                                      "~",          "1",
                                      "-1",         "1.5",
                                      "1e3",        "0x1F",
                                      "0o7",        "1_000",
                                      "12:30",      "12:30:45",
                                      "2026-01-01", "2026-01-01T00:00:00Z",
                                      ".5",         ".inf",
                                      "-",          "- a",
                                      "a: b",       "a:",
                                      "a #b",       "#a",
                                      " a",         "a ",
                                      "<<",         "@a",
                                      "`a",         "%a",
                                      "*a",         "&a",
                                      "!a",         "|",
                                      ">",          "'a'",
                                      "{a}",        "[a]",
                                      "a, b",       "=",
                                      "? a",        "a  b",
                                      "a\tb",       "\xC3\xA9",
                                      "1E"}) {
    EXPECT_EQ(written(text), json_text(text));
  }
}

TEST(WriterDeath, WrongOrderIsAProgrammerError) {
  std::string out;
  EXPECT_DEATH(
      {
        JsonWriter writer(out);
        writer.begin_object();
        writer.integer(1);
      },
      "value without a key");
  EXPECT_DEATH(
      {
        YamlWriter writer(out);
        writer.begin_array();
        writer.end_object();
      },
      "without its begin");
}

std::string random_text(Prng& prng) {
  static const std::vector<std::string> pieces = {"a",
                                                  "Z",
                                                  "0",
                                                  "1",
                                                  ":",
                                                  " ",
                                                  "-",
                                                  "#",
                                                  "\n",
                                                  "\t",
                                                  "\"",
                                                  "\\",
                                                  "'",
                                                  "{",
                                                  "[",
                                                  "]",
                                                  "}",
                                                  ",",
                                                  "&",
                                                  "*",
                                                  "!",
                                                  "|",
                                                  ">",
                                                  "%",
                                                  "@",
                                                  "`",
                                                  "?",
                                                  "~",
                                                  "<<",
                                                  "null",
                                                  "true",
                                                  "yes",
                                                  ".",
                                                  "e",
                                                  "+",
                                                  "\xC3\xA9",
                                                  "\xE2\x80\xA8",
                                                  "\xC2\x85",
                                                  "\xEF\xBB\xBF",
                                                  "\xF0\x9F\x98\x80",
                                                  "---",
                                                  "\x7F",
                                                  "\x01",
                                                  "_",
                                                  "0x",
                                                  "=",
                                                  std::string(1, '\0'),
                                                  "\r",
                                                  "..."};
  std::string text;
  for (std::uint64_t left = prng.below(6); left > 0; --left) text += prng.pick(pieces);
  if (prng.chance(1)) text += std::string(1'500, 'k');
  return text;
}

JsonValue random_value(Prng& prng, int depth) {
  JsonValue value;
  switch (prng.below(depth > 4 ? 5 : 8)) {
    case 0: break;
    case 1: value.data = prng.chance(50); break;
    case 2: value.data = static_cast<std::int64_t>(prng.next()); break;
    case 3: value.data = JsonNumber{fmt::format("{}.5", prng.between(-50, 50))}; break;
    case 4: value.data = random_text(prng); break;
    case 5: {
      JsonValue::Array array;
      for (auto left = prng.below(4); left > 0; --left) {
        array.push_back(random_value(prng, depth + 1));
      }
      value.data = std::move(array);
      break;
    }
    default: {
      JsonValue::Object object;
      for (auto left = prng.below(4); left > 0; --left) {
        const std::string key = random_text(prng) + std::to_string(left);
        object.push_back({key, random_value(prng, depth + 1)});
      }
      value.data = std::move(object);
    }
  }
  return value;
}

TEST(WriterProperties, EveryFormReadsBackAsTheSameTree) {
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    SCOPED_TRACE(fmt::format("seed={}", seed));
    Prng prng(seed);
    JsonValue value;
    value.data = JsonValue::Array{random_value(prng, 0), random_value(prng, 0)};
    for (const JsonStyle style : {JsonStyle::compact, JsonStyle::pretty}) {
      std::string json;
      JsonWriter writer(json, style);
      write_value(value, writer);
      ASSERT_EQ(parse_json_value(json).value(), value) << json;
    }
    std::string yaml;
    YamlWriter writer(yaml);
    write_value(value, writer);
    write_value(value, writer);
    std::vector<YamlDocument> documents;
    const Problems problems = yaml_to_json(yaml, "test", {}, documents);
    ASSERT_TRUE(problems.empty()) << to_text(problems.front()) << "\n" << yaml;
    ASSERT_EQ(documents.size(), 2U);
    ASSERT_EQ(parse_json_value(documents[1].json).value(), value) << yaml;
  }
}

}  // namespace
}  // namespace makeway
