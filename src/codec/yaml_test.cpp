#include "codec/yaml.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "codec/yaml_scalar.hpp"

namespace makeway::yaml_test {
namespace {

struct Read {
  std::vector<YamlDocument> documents;
  Problems problems;
};

Read read(std::string_view text, const YamlLimits& limits = {}) {
  Read result;
  result.problems = yaml_to_json(text, "test.yaml", limits, result.documents);
  return result;
}

/// The only document's JSON, or what went wrong.
std::string json_of(std::string_view text) {
  const Read result = read(text);
  if (!result.problems.empty()) return to_text(result.problems.front());
  if (result.documents.size() != 1) return fmt::format("{} documents", result.documents.size());
  return result.documents[0].json;
}

/// The only problem.
Problem problem_of(std::string_view text, const YamlLimits& limits = {}) {
  const Read result = read(text, limits);
  EXPECT_EQ(result.problems.size(), 1U) << text;
  return result.problems.empty() ? Problem{} : result.problems.front();
}

struct ScalarCase {
  std::string_view yaml;
  std::string_view json;
};

class YamlScalar : public testing::TestWithParam<ScalarCase> {};

TEST_P(YamlScalar, MeansWhatKubernetesReads) {
  EXPECT_EQ(json_of(fmt::format("a: {}\n", GetParam().yaml)),
            fmt::format("{{\"a\":{}}}", GetParam().json));
}

INSTANTIATE_TEST_SUITE_P(
    Words, YamlScalar,
    testing::Values(ScalarCase{"", "null"}, ScalarCase{"~", "null"}, ScalarCase{"null", "null"},
                    ScalarCase{"NULL", "null"}, ScalarCase{"nULL", "\"nULL\""},
                    ScalarCase{"true", "true"}, ScalarCase{"True", "true"},
                    ScalarCase{"yes", "true"}, ScalarCase{"ON", "true"}, ScalarCase{"y", "true"},
                    ScalarCase{"false", "false"}, ScalarCase{"No", "false"},
                    ScalarCase{"off", "false"}, ScalarCase{"N", "false"},
                    ScalarCase{"tRUE", "\"tRUE\""}, ScalarCase{"\"yes\"", "\"yes\""},
                    ScalarCase{"'no'", "\"no\""}, ScalarCase{"none", "\"none\""}));

INSTANTIATE_TEST_SUITE_P(
    Numbers, YamlScalar,
    testing::Values(ScalarCase{"0", "0"}, ScalarCase{"8080", "8080"}, ScalarCase{"-5", "-5"},
                    ScalarCase{"+5", "5"}, ScalarCase{"-0", "0"}, ScalarCase{"0x1F", "31"},
                    ScalarCase{"-0x10", "-16"}, ScalarCase{"0o17", "15"}, ScalarCase{"017", "15"},
                    ScalarCase{"0b101", "5"}, ScalarCase{"08", "8"}, ScalarCase{"1_000", "1000"},
                    ScalarCase{"1.5", "1.5"}, ScalarCase{"1.50", "1.5"}, ScalarCase{"3.0", "3"},
                    ScalarCase{".5", "0.5"}, ScalarCase{"5.", "5"}, ScalarCase{"+.5", "0.5"},
                    ScalarCase{"1e3", "1000"}, ScalarCase{"1.5E3", "1500"},
                    ScalarCase{"25e-4", "0.0025"}, ScalarCase{"1e-9", "1e-9"},
                    ScalarCase{"-1.25e60", "-1.25e60"}, ScalarCase{"1e400", "\"1e400\""},
                    ScalarCase{"1e-400", "0"},
                    ScalarCase{"18446744073709551615", "18446744073709551615"},
                    ScalarCase{"123456789012345678901234567890", "123456789012345678901234567890"},
                    ScalarCase{"'1'", "\"1\""}, ScalarCase{"4Gi", "\"4Gi\""},
                    ScalarCase{"500m", "\"500m\""}, ScalarCase{"1.2.3", "\"1.2.3\""},
                    ScalarCase{"0x", "\"0x\""}, ScalarCase{"-x", "\"-x\""},
                    ScalarCase{"12:30", "\"12:30\""}, ScalarCase{"2026-01-01", "\"2026-01-01\""},
                    ScalarCase{"2026-01-01T00:00:00Z", "\"2026-01-01T00:00:00Z\""}));

INSTANTIATE_TEST_SUITE_P(
    Tags, YamlScalar,
    testing::Values(ScalarCase{"!!str 1", "\"1\""}, ScalarCase{"!!int \"12\"", "12"},
                    ScalarCase{"!!float 1", "1"}, ScalarCase{"!!bool yes", "true"},
                    ScalarCase{"!!null ''", "null"}, ScalarCase{"!!binary aGk=", "\"aGk=\""},
                    ScalarCase{"! 1", "\"1\""}, ScalarCase{"!!map {b: 1}", "{\"b\":1}"},
                    ScalarCase{"!!seq [1]", "[1]"}));

TEST(Yaml, ConvertsStructure) {
  EXPECT_EQ(json_of(R"(# A pod.
kind: Pod
metadata:
  name: "web\u0031\n"
  labels: {app: web, "a.b/c": 'it''s'}
spec:
  containers:
  - name: a
    args: ["-x", --y, |-]
  -
    - nested
  empty: {}
  none: []
)"),
            "test.yaml, document 1 (line 9): spec.containers[0].args: not valid YAML: "
            "a tab or a reserved character (@ ` %) where a value should start; "
            "indent with spaces, and quote values that start with such a character");
  EXPECT_EQ(
      json_of(R"(kind: Pod
metadata:
  name: "web\u0031\n"
  labels: {app: web, "a.b/c": 'it''s'}
spec:
  text: |
    one
     two
  folded: >-
    a
    b
  list:
  - name: a
    args: ["-x", --y]
  -
    - nested
  empty: {}
  none: []
)"),
      R"({"kind":"Pod","metadata":{"name":"web1\n","labels":{"app":"web","a.b/c":"it's"}},)"
      R"("spec":{"text":"one\n two\n","folded":"a b","list":[{"name":"a","args":["-x","--y"]},)"
      R"(["nested"]],"empty":{},"none":[]}})");
}

TEST(Yaml, ScalarKeysBecomeStrings) {
  EXPECT_EQ(json_of("1: a\n0x10: b\ntrue: c\nno: d\n1.50: e\n'null': f\n"),
            R"({"1":"a","16":"b","true":"c","false":"d","1.5":"e","null":"f"})");
}

TEST(Yaml, NumbersDocumentsAndSkipsEmptyOnes) {
  const Read result =
      read("# only a comment\n---\na: 1\n---\n---\n# nothing\n---\nnull\n--- \n\nb: 2\n...\n");
  ASSERT_TRUE(result.problems.empty());
  ASSERT_EQ(result.documents.size(), 2U);
  EXPECT_EQ(result.documents[0].json, "{\"a\":1}");
  EXPECT_EQ(result.documents[0].number, 1U);
  EXPECT_EQ(result.documents[0].line, 3U);
  EXPECT_EQ(result.documents[1].json, "{\"b\":2}");
  EXPECT_EQ(result.documents[1].number, 5U);
  EXPECT_EQ(result.documents[1].line, 11U);
  EXPECT_TRUE(read("").documents.empty());
  EXPECT_TRUE(read("# nothing\n").documents.empty());
}

TEST(Yaml, TheSinkMayTakeTheText) {
  std::vector<std::string> taken;
  const Problems problems =
      yaml_documents("a: 1\n---\nb: 2\n", "x", {},
                     [&](YamlDocument& document) { taken.push_back(std::move(document.json)); });
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(taken, (std::vector<std::string>{"{\"a\":1}", "{\"b\":2}"}));
}

TEST(Yaml, RefusesDuplicateKeys) {
  const Read result =
      read("a: 1\n---\nspec:\n  list:\n  - x: 1\n  - w: 1\n    z: 2\n    w: 3\n---\nb: 1\n");
  ASSERT_EQ(result.problems.size(), 1U);
  const Problem& problem = result.problems.front();
  EXPECT_EQ(problem.origin, (Origin{.source = "test.yaml", .document = 2, .line = 8}));
  EXPECT_EQ(problem.field, "spec.list[1].w");
  EXPECT_EQ(problem.value, "w");
  EXPECT_EQ(problem.message, "the key is given twice; first on line 6");
  ASSERT_EQ(result.documents.size(), 2U);  // The documents around it are fine.
  EXPECT_EQ(problem_of("1: a\n'1': b\n").value, "1");
  EXPECT_EQ(problem_of("{a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9, c: 10}").value, "c");
}

TEST(Yaml, AMappingOfManyKeysStaysCheap) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += fmt::format("key{}: {}\n", i, i);
  EXPECT_TRUE(read(text).problems.empty());
  EXPECT_EQ(problem_of(text + "key77: again\n").field, "key77");
}

TEST(Yaml, LimitsTheDepth) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(json_of(nested(64)), nested(64));
  EXPECT_EQ(problem_of(nested(65)).message, "nested more than 64 levels deep");
  EXPECT_EQ(problem_of(std::string(100'000, '[')).message, "nested more than 64 levels deep");
  EXPECT_EQ(problem_of("a: &a [[1]]\nb: [[*a]]\n", {.depth_max = 4}).message,
            "nested more than 4 levels deep");
  EXPECT_TRUE(read("a: &a [[1]]\nb: [*a]\n", {.depth_max = 4}).problems.empty());
}

TEST(Yaml, ExpandsAliases) {
  EXPECT_EQ(json_of("a: &x {k: [1, &y two]}\nb: *x\nc: *y\nd: &x 3\ne: *x\n"),
            R"({"a":{"k":[1,"two"]},"b":{"k":[1,"two"]},"c":"two","d":3,"e":3})");
  EXPECT_EQ(problem_of("a: *nowhere\n").value, "nowhere");
  EXPECT_EQ(problem_of("a: &x [*x]\n").message, "the alias stands inside of its own anchor");
  EXPECT_EQ(problem_of("a: &x 1\n---\nb: *x\n").message, "no anchor of this name stands above");
  EXPECT_EQ(problem_of("a: &x 1\n*x : 2\n").message, "an alias cannot be a key");
  EXPECT_EQ(problem_of("&x a: 1\n").message, "an anchor on a key is not supported");
}

TEST(Yaml, RefusesABillionLaughs) {
  std::string text = "a0: &a0 [lol,lol,lol,lol,lol,lol,lol,lol,lol,lol]\n";
  for (int i = 1; i < 12; ++i) {
    text += fmt::format("a{0}: &a{0} [*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1}]\n", i,
                        i - 1);
  }
  EXPECT_EQ(problem_of(text).message, "aliases expand to more than 16777216 bytes");
  std::string anchors;
  for (int i = 0; i < 2'000; ++i) anchors += fmt::format("- &a{} x\n", i);
  EXPECT_EQ(problem_of(anchors).message, "more than 1000 anchors in one document");
}

TEST(Yaml, RefusesManyTagDirectives) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += fmt::format("%TAG !a{}! x\n", i);
  EXPECT_EQ(problem_of(text + "---\na: 1\n").message, "more than 100 tag directives");
  EXPECT_EQ(json_of("%TAG !a! x\n---\na: 1\n"), "{\"a\":1}");
}

TEST(Yaml, RefusesWhatJsonCannotSay) {
  EXPECT_EQ(problem_of("a: .inf\n").field, "a");
  EXPECT_EQ(problem_of("a: -.Inf\n").value, "-.Inf");
  EXPECT_EQ(problem_of("a: !!int x\n").message, "does not fit its tag !!int");
  EXPECT_EQ(problem_of("a: !thing x\n").message, "an unsupported tag");
  EXPECT_EQ(problem_of("a: !!set {x, y}\n").value, "set");
  EXPECT_EQ(problem_of("? [a, b]\n: 1\n").message, "a mapping or a list cannot be a key");
  EXPECT_EQ(problem_of("name: {{ .Values.name }}\n").message,
            "a mapping or a list cannot be a key");
  EXPECT_EQ(problem_of("a: {~: 1}\n").message, "a key is empty or null");
  EXPECT_EQ(problem_of("x: &x {a: 1}\ny: {<<: *x}\n").remedy, "write the merged keys out");
  EXPECT_EQ(json_of("{'<<': 1}"), R"({"<<":1})");
}

TEST(Yaml, ReportsWhereTheSyntaxIsWrong) {
  const Read result = read("a: 1\n---\nb:\n\t- x\n---\nc: 1\n");
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_EQ(result.problems[0].origin, (Origin{.source = "test.yaml", .document = 2, .line = 4}));
  EXPECT_EQ(result.documents.size(), 1U);  // What came before.
  EXPECT_EQ(problem_of("a: b: c\n").message, "not valid YAML: a \":\" where no key can stand");
  EXPECT_EQ(problem_of("a: 1\nb: \"x\n").origin.line, 3U);
  EXPECT_EQ(problem_of("a: 1\nb: \xff\n").message, "not valid YAML: not valid UTF-8");
  EXPECT_EQ(problem_of("a: 1\nb: \xff\n").origin.line, 2U);
  EXPECT_EQ(problem_of("a: \x01\n").message, "not valid YAML: a control character");
  EXPECT_EQ(problem_of("a: [1, 2\nb: 3\n").origin.document, 1U);
}

TEST(Yaml, StopsAfterManyProblems) {
  std::string text;
  for (int i = 0; i < 1'000; ++i) text += "a: 1\na: 2\n---\n";
  EXPECT_EQ(read(text).problems.size(), 100U);
}

TEST(Yaml, ReadsAByteOrderMarkAndWindowsLines) {
  EXPECT_EQ(json_of("\xEF\xBB\xBF"
                    "a: 1\r\nb:\r\n- c\r\n"),
            R"({"a":1,"b":["c"]})");
}

TEST(YamlScalarText, WritesOneFormForEveryNumber) {
  std::string scratch;
  for (const std::string_view text :
       {"1000", "1e3", "1_000", "0x3e8", "+1000", "1000.0", "10.00e2"}) {
    const PlainScalar scalar = resolve_plain(text, scratch);
    EXPECT_EQ(scalar.kind, ScalarKind::integer) << text;
    EXPECT_EQ(scalar.json, "1000") << text;
  }
}

}  // namespace
}  // namespace makeway::yaml_test
