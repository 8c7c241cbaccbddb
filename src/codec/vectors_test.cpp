// The peers' cases as realistic input: each snapshot loads, and its dump loads to the same dump,
// also when the objects come in another order (law 11).
#include <gtest/gtest.h>

#include <string>

#include "base/prng.hpp"
#include "codec/dump.hpp"
#include "codec/json_value.hpp"
#include "codec/load.hpp"
#include "support/vector_file.hpp"

namespace makeway {
namespace {

std::string dump_of(std::string_view text) {
  const LoadResult result = load_text(text, "vector");
  for (const Problem& problem : result.problems) ADD_FAILURE() << to_text(problem);
  return result.loaded ? dump(result.loaded->cluster, DumpFormat::json) : std::string();
}

std::string shuffled(const JsonValue& snapshot, Prng& random) {
  JsonValue copy = snapshot;
  for (JsonMember& member : std::get<JsonValue::Object>(copy.data)) {
    if (member.key == "items") random.shuffle(std::get<JsonValue::Array>(member.value.data));
  }
  return json_text(copy);
}

class Vectors : public testing::TestWithParam<const char*> {};

TEST_P(Vectors, LoadAndDumpStably) {
  // All of them take a minute, six under the sanitizers; peer_tests load every one.
  constexpr std::size_t one_in = 4;
  Prng random(1);
  std::size_t at = 0;
  const std::size_t cases = for_each_vector(GetParam(), [&](const VectorCase& item) {
    if (at++ % one_in != 0) return;
    const std::string first = dump_of(json_text(item.snapshot()));
    ASSERT_FALSE(first.empty());
    ASSERT_EQ(dump_of(first), first);
    ASSERT_EQ(dump_of(shuffled(item.snapshot(), random)), first);
  });
  EXPECT_GT(cases, 2U);
}

INSTANTIATE_TEST_SUITE_P(
    All, Vectors,
    testing::Values("kube-1.37/pod-basic.jsonl.gz", "kube-1.37/pod-full.jsonl.gz",
                    "kube-1.37/pod-rich.jsonl.gz", "kube-1.37/pod-volumes.jsonl.gz",
                    "kube-1.37/group-basic.jsonl.gz", "kube-1.37/group-full.jsonl.gz",
                    "kube-1.37/group-large.jsonl.gz", "kube-1.37/group-volumes.jsonl.gz",
                    "yunikorn/required-node.jsonl.gz"));

}  // namespace
}  // namespace makeway
