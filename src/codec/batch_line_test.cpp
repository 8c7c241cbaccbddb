#include "codec/batch_line.hpp"

#include <gtest/gtest.h>

namespace makeway::batch_line_test {
namespace {

struct Read {
  explicit Read(std::string text) : line(std::move(text)), reading(read_batch_line(line)) {}

  std::string problem() const {
    return reading.problems.empty() ? std::string{} : to_text(reading.problems.front());
  }

  std::string line;  ///< The case has views into it.
  BatchReading reading;
};

TEST(BatchLine, IsACase) {
  const Read read(R"({"id":"a","ask":"shop/web","askKind":"podGROUP","note":[1,{"x":2}],)"
                  R"("snapshot" : {"kind":"List","items":[]},"now":"2026-01-01T00:00:00Z",)"
                  R"("placements":{"shop/b":"n2","shop/a":"n1"},"expect":{"outcome":"fits"}})");
  ASSERT_TRUE(read.reading.item.has_value()) << read.problem();
  const BatchCase& item = *read.reading.item;
  EXPECT_EQ(*read.reading.id.as_string(), "a");
  EXPECT_EQ(item.asks, std::vector<std::string>{"shop/web"});
  EXPECT_EQ(item.ask_kind, AskKind::pod_group);
  EXPECT_EQ(item.snapshot, R"({"kind":"List","items":[]})");
  EXPECT_EQ(item.now, *parse_time("2026-01-01T00:00:00Z"));
  EXPECT_EQ(item.placements, (std::vector<PodPlacement>{{"shop", "a", "n1"}, {"shop", "b", "n2"}}));
  EXPECT_EQ(*item.expect->find("outcome")->as_string(), "fits");
  EXPECT_FALSE(item.configuration.has_value());
  EXPECT_EQ(read.reading.unknown_keys, std::vector<std::string>{"note"});
}

TEST(BatchLine, NeedsOnlyASnapshot) {
  const Read read(R"({"snapshot":{},"now":null,"expect":null})");
  ASSERT_TRUE(read.reading.item.has_value()) << read.problem();
  EXPECT_TRUE(read.reading.id.is_null());
  EXPECT_TRUE(read.reading.item->asks.empty());
  EXPECT_FALSE(read.reading.item->now || read.reading.item->expect);
}

TEST(BatchLine, MayBeABareList) {
  const Read read(R"({"apiVersion":"v1","kind":"List","items":[]})");
  ASSERT_TRUE(read.reading.item.has_value()) << read.problem();
  EXPECT_EQ(read.reading.item->snapshot, read.line);
  EXPECT_TRUE(read.reading.unknown_keys.empty());
}

TEST(BatchLine, KnowsTheKeysOfABugReport) {
  const Read read(R"({"id":1,"snapshot":{},"breaches":["law 2"]})");
  EXPECT_TRUE(read.reading.item.has_value()) << read.problem();
  EXPECT_TRUE(read.reading.unknown_keys.empty());
}

TEST(BatchLine, MayBeCutOff) {
  const std::string whole =
      R"({"id":"a","snapshot":{"kind":"List","items":[{"x":"\"}"}]},"ask":"b"})";
  ASSERT_TRUE(Read(whole).reading.item.has_value());
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const Read read(whole.substr(0, size));
    EXPECT_FALSE(read.reading.item.has_value()) << read.line;
    EXPECT_TRUE(read.problem().ends_with("; the line may be cut off")) << read.problem();
  }
  EXPECT_FALSE(Read(R"({"snapshot":{}} x)").problem().contains("cut off"));
  EXPECT_FALSE(Read("nonsense").problem().contains("cut off"));
}

TEST(BatchLine, TakesPlacementsAsAList) {
  const Read read(R"({"snapshot":{},"placements":[{"namespace":"a","name":"b","node":"c"}]})");
  ASSERT_TRUE(read.reading.item.has_value()) << read.problem();
  EXPECT_EQ(read.reading.item->placements, (std::vector<PodPlacement>{{"a", "b", "c"}}));
}

TEST(BatchLine, KnowsItsIdEvenWhenTheRestIsWrong) {
  const Read read(R"({"id":17,"ask":"a/b"})");
  EXPECT_FALSE(read.reading.item.has_value());
  EXPECT_EQ(*read.reading.id.as_integer(), 17);
  EXPECT_EQ(read.problem(), "snapshot: the line has no snapshot; give it a List of objects");
}

TEST(BatchLine, IsRefusedWithTheField) {
  EXPECT_EQ(Read(R"({"snapshot":{},"askKind":"Job"})").problem(),
            "askKind \"Job\": expected Pod or PodGroup");
  EXPECT_EQ(Read(R"({"snapshot":{},"ask":3})").problem(),
            "ask: expected a string, found an integer");
  EXPECT_TRUE(Read(R"({"snapshot":{},"now":"yesterday"})").problem().starts_with("now "));
  EXPECT_EQ(Read(R"({"snapshot":{},"placements":{"web":"n1"}})").problem(),
            "placements: a placement lacks its namespace, name or node; write "
            "{\"namespace/name\": \"node\"}");
  EXPECT_FALSE(Read(R"({"snapshot":{},"placements":3})").problem().empty());
  EXPECT_TRUE(Read(R"({"id":1,"id":2,"snapshot":{}})").problem().contains("twice"));
}

TEST(BatchLine, ThatIsNoJsonIsRefused) {
  for (const char* text : {"", "x", "[1]", "3", "{", R"({"id":)", R"({"snapshot":{"a":[1,2})",
                           R"({"snapshot":{}} x)", R"({"snapshot":{}}{)", R"({"id":"a\qb"})"}) {
    const Read read(text);
    EXPECT_FALSE(read.reading.item.has_value()) << text;
    EXPECT_FALSE(read.problem().empty()) << text;
  }
}

}  // namespace
}  // namespace makeway::batch_line_test
