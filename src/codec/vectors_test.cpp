// The peers' cases as realistic input: each snapshot loads, and its dump loads to the same dump,
// also when the objects come in another order (law 11).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/prng.hpp"
#include "codec/dump.hpp"
#include "codec/json_value.hpp"
#include "codec/load.hpp"
#include "codec/source.hpp"
#include "codec/writer.hpp"

namespace makeway {
namespace {

std::string source_folder() {
  const char* const folder = std::getenv("MAKEWAY_SOURCE_DIR");
  return folder == nullptr ? "." : folder;
}

std::string dump_of(std::string_view text) {
  const LoadResult result = load_text(text, "vector");
  for (const Problem& problem : result.problems) ADD_FAILURE() << to_text(problem);
  return result.loaded ? dump(result.loaded->cluster, DumpFormat::json) : std::string();
}

std::string text_of(const JsonValue& value) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  write_value(value, writer);
  return text;
}

std::string shuffled(const JsonValue& snapshot, Prng& random) {
  JsonValue copy = snapshot;
  for (JsonMember& member : std::get<JsonValue::Object>(copy.data)) {
    if (member.key == "items") random.shuffle(std::get<JsonValue::Array>(member.value.data));
  }
  return text_of(copy);
}

class Vectors : public testing::TestWithParam<const char*> {};

TEST_P(Vectors, LoadAndDumpStably) {
  const Result<SourceText> source =
      read_source({.path = source_folder() + "/tests/vectors/" + GetParam()});
  ASSERT_TRUE(source.has_value()) << source.error().message;
  Prng random(1);
  std::string_view rest = source->text.view();
  std::size_t cases = 0;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const auto line = parse_json_value(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ASSERT_TRUE(line.has_value());
    ++cases;
    SCOPED_TRACE(*line->find("id")->as_string());
    const JsonValue& snapshot = *line->find("snapshot");
    const std::string first = dump_of(text_of(snapshot));
    ASSERT_FALSE(first.empty());
    ASSERT_EQ(dump_of(first), first);
    ASSERT_EQ(dump_of(shuffled(snapshot, random)), first);
  }
  EXPECT_GT(cases, 100U);
}

INSTANTIATE_TEST_SUITE_P(All, Vectors,
                         testing::Values("kube-1.37/pod-basic.jsonl.gz",
                                         "kube-1.37/pod-full.jsonl.gz",
                                         "kube-1.37/group-basic.jsonl.gz",
                                         "kube-1.37/group-full.jsonl.gz",
                                         "yunikorn/required-node.jsonl.gz"));

}  // namespace
}  // namespace makeway
