// Text in, cluster or errors out, whatever the text (issue 3, evidence).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "codec/dump.hpp"
#include "codec/load.hpp"
#include "support/property.hpp"
#include "support/random_objects.hpp"
#include "support/random_planes.hpp"

namespace makeway::codec_properties {
namespace {

Cluster filled(const std::vector<Change>& objects) {
  Cluster cluster;
  cluster.begin_bulk();
  for (const Change& object : objects) cluster.apply(object);
  cluster.finish_bulk();
  return cluster;
}

RandomClusterOptions clean_options(Prng& random) {
  RandomClusterOptions options = random_options(random);
  options.features.dangling = false;
  options.features.huge_amounts = false;  // Beyond what a quantity may say.
  return options;
}

TEST(CodecProperties, ADumpLoadsToTheSameDump) {
  Skips refused;
  for_each_case("a dump loads to the same dump", [&](Prng& random) {
    std::vector<Change> objects = random_objects(random, clean_options(random));
    for (Change& object : objects) {
      // Loading computes a missing status from the spec: not the same dump, and not meant to be.
      if (auto* const budget = std::get_if<DisruptionBudget>(&object)) {
        budget->disruptions_allowed = budget->disruptions_allowed.value_or(0);
      }
    }
    if (random.chance(30)) repeat_in_plane(objects);
    const Cluster cluster = filled(objects);
    const DumpFormat format = random.chance(80) ? DumpFormat::json : DumpFormat::yaml;
    const std::string first = dump(cluster, format);
    const LoadResult again = load_text(first, "dump");
    if (!again.loaded) {
      // Random priorities may break a rule that only loading checks; nothing else may go wrong.
      for (const Problem& problem : again.problems) {
        EXPECT_TRUE(problem.message.contains("priority") ||
                    problem.message.contains("PriorityClass") ||
                    problem.message.contains("expected at most"))
            << to_text(problem);
      }
      return refused.add();
    }
    EXPECT_EQ(dump(again.loaded->cluster, format), first);
  });
  refused.expect_at_most(60, "are refused for their priorities");
}

TEST(CodecProperties, ShuffledObjectsGiveTheSameDump) {  // law 11
  for_each_case("shuffled objects give the same dump", [](Prng& random) {
    std::vector<Change> objects = random_objects(random, random_options(random));
    const std::string first = dump(filled(objects), DumpFormat::json);
    random.shuffle(objects);
    EXPECT_EQ(dump(filled(objects), DumpFormat::json), first);
  });
}

std::vector<std::string> corpus() {
  const char* const folder = std::getenv("MAKEWAY_SOURCE_DIR");
  std::vector<std::filesystem::path> paths;
  const std::filesystem::path root =
      std::filesystem::path(folder == nullptr ? "." : folder) / "tests/corpus/objects_fuzz";
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<std::string> texts;
  for (const std::filesystem::path& path : paths) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

/// Some bytes changed, removed, doubled, or replaced by what hurts parsers.
std::string mutated(std::string text, const std::vector<std::string>& others, Prng& random) {
  static const std::vector<std::string> tokens = {
      "null",    "[]",   "{}", "\"\"", "-1", "1e999", "99999999999999999999",
      "\\u0000", "&a ",  "*a", "<<:",  "\t", "---",   std::string(1, '\0'),
      "\xff",    "true", "\"", "{",    "}",  "[",     "]",
      ":",       "9Ei"};
  const std::uint64_t edits = 1 + random.below(4);
  for (std::uint64_t edit = 0; edit < edits && !text.empty(); ++edit) {
    const std::size_t at = random.below(text.size());
    const std::size_t length = 1 + random.below(std::min<std::size_t>(20, text.size() - at));
    switch (random.below(5)) {
      case 0: text[at] = static_cast<char>(random.below(256)); break;
      case 1: text.erase(at, length); break;
      case 2: text.insert(at, text.substr(at, length)); break;
      case 3: text.replace(at, length, random.pick(tokens)); break;
      default: {
        const std::string& other = random.pick(others);
        if (!other.empty()) text.insert(at, other.substr(random.below(other.size()), 40));
      }
    }
  }
  return text;
}

TEST(CodecProperties, MutatedDocumentsAreRefusedOrLoaded) {  // law 13
  const std::vector<std::string> texts = corpus();
  ASSERT_FALSE(texts.empty());
  // Five mutations a case: 10,000 documents in `make test`, 100,000 in `make check`.
  constexpr std::uint64_t mutations = 5;
  Skips refused;
  for_each_case("mutated documents are refused or loaded", [&](Prng& random) {
    for (std::uint64_t repeat = 0; repeat < mutations; ++repeat) {
      const std::string text = mutated(random.pick(texts), texts, random);
      const LoadResult result = load_text(text, "mutated");
      ASSERT_NE(result.loaded.has_value(), has_errors(result.problems));
      if (!result.loaded) {
        refused.add();
        continue;
      }
      const std::string first = dump(result.loaded->cluster, DumpFormat::json);
      const LoadResult again = load_text(first, "dump");
      ASSERT_TRUE(again.loaded.has_value()) << text << "\n" << first;
      ASSERT_EQ(dump(again.loaded->cluster, DumpFormat::json), first) << text;
    }
  });
  refused.expect_at_most(99, "are documents that are refused", mutations * property_cases());
}

}  // namespace
}  // namespace makeway::codec_properties
