#include "base/intern.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/prng.hpp"

namespace makeway {
namespace {

TEST(HashOf, DependsOnEveryByteAndOnTheLength) {
  const std::string text = "namespace/some-longer-name-0123456789";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::string_view part = std::string_view(text).substr(0, length);
    EXPECT_EQ(hash_of(part), hash_of(std::string(part)));
    if (length > 0) {
      EXPECT_NE(hash_of(part), hash_of(part.substr(1)));
    }
    for (std::size_t at = 0; at < length; ++at) {
      std::string changed(part);
      changed[at] = '#';
      EXPECT_NE(hash_of(part), hash_of(changed)) << "byte " << at << " of " << length;
    }
  }
  // A zero byte is a byte: "a" and "a\0" differ although both have the same padded word.
  EXPECT_NE(hash_of("a"), hash_of(std::string_view("a\0", 2)));
  EXPECT_EQ(hash_of(std::string_view{}), hash_of(""));
}

TEST(HashCombine, DependsOnTheOrder) {
  EXPECT_NE(hash_combine(hash_combine(0, 1), 2), hash_combine(hash_combine(0, 2), 1));
}

TEST(HashTable, FindsNothingWhenEmpty) {
  const HashTable table;
  EXPECT_EQ(table.find(1, [](std::uint32_t) { return true; }), std::nullopt);
}

TEST(HashTable, CollisionsAreDistinguishedByTheCaller) {
  HashTable table;
  for (std::uint32_t id = 0; id < 100; ++id) table.insert(42, id);  // All hashes are equal.
  for (std::uint32_t wanted = 0; wanted < 100; ++wanted) {
    EXPECT_EQ(table.find(42, [&](std::uint32_t id) { return id == wanted; }), wanted);
  }
  EXPECT_EQ(table.find(42, [](std::uint32_t) { return false; }), std::nullopt);
  EXPECT_EQ(table.find(43, [](std::uint32_t) { return true; }), std::nullopt);
}

TEST(HashTable, AnErasedEntryDoesNotHideTheNext) {
  HashTable table;
  table.insert(42, 1);
  table.insert(42, 2);
  table.erase(42, 1);
  EXPECT_EQ(table.find(42, [](std::uint32_t) { return true; }), 2U);
  table.insert(42, 3);
  table.erase(42, 2);
  EXPECT_EQ(table.find(42, [](std::uint32_t) { return true; }), 3U);
}

TEST(HashTable, ChurnDoesNotMakeItGrow) {
  HashTable table;
  for (std::uint32_t id = 0; id < 100'000; ++id) {
    table.insert(mix64(id), id);
    if (id >= 10) table.erase(mix64(id - 10), id - 10);
  }
  // Ten live entries and the graves of a hundred thousand.
  EXPECT_LE(table.bytes(), 64U * 8);
  for (std::uint32_t id = 99'990; id < 100'000; ++id) {
    EXPECT_EQ(table.find(mix64(id), [&](std::uint32_t found) { return found == id; }), id);
  }
}

TEST(HashTable, AgreesWithAMapUnderRandomChanges) {
  Prng random(11);
  for (int round = 0; round < 20; ++round) {
    HashTable table;
    std::map<std::uint32_t, std::uint64_t> expected;  // id -> hash
    const std::uint64_t hashes = 1 + random.below(500);
    for (int step = 0; step < 2'000; ++step) {
      const auto id = static_cast<std::uint32_t>(random.below(300));
      const auto entry = expected.find(id);
      if (entry == expected.end()) {
        const std::uint64_t hash = random.chance(50) ? random.below(hashes) : random.next();
        table.insert(hash, id);
        expected.emplace(id, hash);
      } else {
        table.erase(entry->second, id);
        expected.erase(entry);
      }
    }
    for (std::uint32_t id = 0; id < 300; ++id) {
      const auto entry = expected.find(id);
      const std::uint64_t hash = entry == expected.end() ? mix64(id) : entry->second;
      const auto found = table.find(hash, [&](std::uint32_t candidate) { return candidate == id; });
      ASSERT_EQ(found.has_value(), entry != expected.end()) << "round " << round << " id " << id;
    }
  }
}

TEST(HashTableDeathTest, ErasingWhatIsNotThereIsABug) {
  HashTable table;
  EXPECT_DEATH(table.erase(1, 1), "erased an entry that is not there");
  table.insert(1, 1);
  EXPECT_DEATH(table.erase(1, 2), "erased an entry that is not there");
  EXPECT_DEATH(table.insert(1, 0xFFFFFFFEU), "first_mark");
}

TEST(StringPool, IdsAreDenseAndTheEmptyTextIsZero) {
  StringPool pool;
  EXPECT_EQ(pool.size(), 1U);
  EXPECT_EQ(pool.intern(""), StringId{0});
  EXPECT_EQ(pool.intern(std::string_view{}), StringId{0});
  EXPECT_EQ(pool.intern("a"), StringId{1});
  EXPECT_EQ(pool.intern("b"), StringId{2});
  EXPECT_EQ(pool.intern("a"), StringId{1});
  EXPECT_EQ(pool.text(StringId{2}), "b");
  EXPECT_EQ(pool.size(), 3U);
}

TEST(StringPool, FindDoesNotAdd) {
  StringPool pool;
  EXPECT_EQ(pool.find("a"), std::nullopt);
  EXPECT_EQ(pool.size(), 1U);
  const StringId id = pool.intern("a");
  EXPECT_EQ(pool.find("a"), id);
  EXPECT_EQ(pool.find(std::string_view{}), StringId{0});
}

TEST(StringPool, TextsSurviveGrowthAndTheirSource) {
  StringPool pool;
  std::string source = "first";
  const std::string_view stored = pool.text(pool.intern(source));
  source = "other";
  const std::string huge(1'000'000, 'h');  // Larger than a block.
  const StringId huge_id = pool.intern(huge);
  for (int i = 0; i < 20'000; ++i) pool.intern(fmt::format("text-{}", i));
  EXPECT_EQ(stored, "first");
  EXPECT_EQ(pool.text(huge_id), huge);
  EXPECT_EQ(pool.intern("text-19999"), StringId{20'002});
}

TEST(StringPool, BytesGrowWithTheTextsOnly) {
  StringPool pool;
  for (int i = 0; i < 1'000; ++i) pool.intern(fmt::format("text-{}", i));
  const std::size_t before = pool.bytes();
  for (int i = 0; i < 1'000; ++i) pool.intern(fmt::format("text-{}", i));
  EXPECT_EQ(pool.bytes(), before);
  pool.intern(std::string(1'000'000, 'x'));
  EXPECT_GE(pool.bytes(), before + 1'000'000);
}

TEST(StringPool, AgreesWithAMapOnRandomTexts) {
  Prng random(12);
  StringPool pool;
  std::map<std::string, StringId, std::less<>> expected = {{"", StringId{0}}};
  for (int step = 0; step < 20'000; ++step) {
    std::string text;
    const std::uint64_t length = random.below(20);
    for (std::uint64_t i = 0; i < length; ++i) text += static_cast<char>(random.below(3));
    const auto known = expected.find(text);
    const std::optional<StringId> found = pool.find(text);
    ASSERT_EQ(found.has_value(), known != expected.end());
    const StringId id = pool.intern(text);
    if (known == expected.end()) {
      ASSERT_EQ(id, StringId::from(expected.size()));
      expected.emplace(text, id);
    } else {
      ASSERT_EQ(id, known->second);
    }
  }
  ASSERT_EQ(pool.size(), expected.size());
  for (const auto& [text, id] : expected) EXPECT_EQ(pool.text(id), text);
}

struct Point {
  int x = 0;
  int y = 0;

  friend bool operator==(const Point&, const Point&) = default;
};

// So bad a hash that everything collides: equality has to carry it all.
std::uint64_t hash_of(const Point& point) { return point.x == 0 ? 1U : 2U; }

struct PointTag;
using PointId = Index<PointTag>;

TEST(Interner, EqualValuesGetEqualIds) {
  Interner<PointId, Point> points;
  for (int round = 0; round < 2; ++round) {
    for (int x = 0; x < 20; ++x) {
      for (int y = 0; y < 5; ++y) {
        EXPECT_EQ(points.intern({.x = x, .y = y}).value, static_cast<std::uint32_t>(x * 5 + y));
      }
    }
  }
  EXPECT_EQ(points.size(), 100U);
  EXPECT_EQ(points[PointId{7}], (Point{.x = 1, .y = 2}));
}

}  // namespace
}  // namespace makeway
