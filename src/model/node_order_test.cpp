#include "model/node_order.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace makeway::node_order_test {
namespace {

constexpr std::int64_t amount_max = std::numeric_limits<std::int64_t>::max();

/// A NodeOrder whose pod k requests `cpu[k]` of column 0.
struct Fixture {
  NodeOrder order;
  std::vector<std::vector<ResourceAmount>> rows;

  PodIndex pod(std::int64_t cpu, std::int64_t memory = 0) {
    rows.push_back({{ResourceIndex{0}, cpu}, {ResourceIndex{1}, memory}});
    return PodIndex::from(rows.size() - 1);
  }
  RequestRow row(PodIndex pod) const { return rows.at(pod.value); }
  auto lookup() const {
    return [this](PodIndex pod) { return row(pod); };
  }
  void insert(std::uint32_t node, std::size_t position, PodIndex pod, std::int32_t priority) {
    order.insert(NodeIndex{node}, position,
                 {.pod = pod, .priority = priority, .requests = row(pod)}, lookup());
  }
  void erase(std::uint32_t node, std::size_t position) {
    order.erase(NodeIndex{node}, position, lookup());
  }
  std::int64_t cpu(std::uint32_t node, std::size_t count) const {
    return order.used_by_first(NodeIndex{node}, count)[0];
  }
};

TEST(NodeOrder, AnEmptyNodeUsesNothing) {
  Fixture fixture;
  fixture.order.resize_nodes(1);
  EXPECT_TRUE(fixture.order.pods(NodeIndex{0}).empty());
  EXPECT_EQ(fixture.order.count_at_least(NodeIndex{0}, 0), 0U);
  ASSERT_EQ(fixture.order.used(NodeIndex{0}).size(), 4U);
  for (const std::int64_t amount : fixture.order.used(NodeIndex{0})) EXPECT_EQ(amount, 0);
}

TEST(NodeOrder, RunningSumsFollowTheOrder) {
  Fixture fixture;
  fixture.order.resize_nodes(1);
  fixture.insert(0, 0, fixture.pod(100, 7), 10);
  fixture.insert(0, 1, fixture.pod(30), 5);
  fixture.insert(0, 1, fixture.pod(2, 1), 7);  // Between the two: later sums move.
  EXPECT_EQ(fixture.cpu(0, 0), 0);
  EXPECT_EQ(fixture.cpu(0, 1), 100);
  EXPECT_EQ(fixture.cpu(0, 2), 102);
  EXPECT_EQ(fixture.cpu(0, 3), 132);
  EXPECT_EQ(fixture.order.used(NodeIndex{0})[1], 8);
  EXPECT_EQ(
      std::vector(fixture.order.pods(NodeIndex{0}).begin(), fixture.order.pods(NodeIndex{0}).end()),
      (std::vector<PodIndex>{PodIndex{0}, PodIndex{2}, PodIndex{1}}));

  fixture.erase(0, 0);
  EXPECT_EQ(fixture.cpu(0, 1), 2);
  EXPECT_EQ(fixture.cpu(0, 2), 32);
  EXPECT_EQ(fixture.order.used(NodeIndex{0})[1], 1);
  fixture.erase(0, 1);
  fixture.erase(0, 0);
  EXPECT_TRUE(fixture.order.pods(NodeIndex{0}).empty());
  EXPECT_EQ(fixture.cpu(0, 0), 0);
}

TEST(NodeOrder, SumsSaturate) {
  Fixture fixture;
  fixture.order.resize_nodes(1);
  fixture.insert(0, 0, fixture.pod(amount_max - 1), 3);
  fixture.insert(0, 1, fixture.pod(1), 2);
  fixture.insert(0, 2, fixture.pod(1), 1);
  EXPECT_EQ(fixture.cpu(0, 1), amount_max - 1);
  EXPECT_EQ(fixture.cpu(0, 2), amount_max);
  EXPECT_EQ(fixture.cpu(0, 3), amount_max);
  fixture.erase(0, 0);  // What saturated is summed anew, not subtracted.
  EXPECT_EQ(fixture.cpu(0, 2), 2);
}

TEST(NodeOrder, CountAtLeastIncludesTheBorder) {
  Fixture fixture;
  fixture.order.resize_nodes(1);
  std::size_t position = 0;
  for (const std::int32_t priority : {100, 5, 5, 5, 0, -3}) {
    fixture.insert(0, position++, fixture.pod(1), priority);
  }
  const auto count = [&](std::int32_t priority) {
    return fixture.order.count_at_least(NodeIndex{0}, priority);
  };
  EXPECT_EQ(count(std::numeric_limits<std::int32_t>::max()), 0U);
  EXPECT_EQ(count(101), 0U);
  EXPECT_EQ(count(100), 1U);
  EXPECT_EQ(count(6), 1U);
  EXPECT_EQ(count(5), 4U);
  EXPECT_EQ(count(4), 4U);
  EXPECT_EQ(count(0), 5U);
  EXPECT_EQ(count(-3), 6U);
  EXPECT_EQ(count(std::numeric_limits<std::int32_t>::min()), 6U);
}

TEST(NodeOrder, GrowingBlocksMoveAndKeepTheirContents) {
  Fixture fixture;
  fixture.order.resize_nodes(2);
  constexpr std::size_t pods = 100;  // Far beyond the first block of either node.
  for (std::size_t i = 0; i < pods; ++i) {
    fixture.insert(0, 0, fixture.pod(1), static_cast<std::int32_t>(i));
    fixture.insert(1, i, fixture.pod(1000), -static_cast<std::int32_t>(i));
  }
  for (std::size_t count = 0; count <= pods; ++count) {
    EXPECT_EQ(fixture.cpu(0, count), static_cast<std::int64_t>(count));
    EXPECT_EQ(fixture.cpu(1, count), static_cast<std::int64_t>(count) * 1000);
  }
  EXPECT_EQ(fixture.order.pods(NodeIndex{0}).front(), PodIndex{2 * (pods - 1)});
  EXPECT_EQ(fixture.order.pods(NodeIndex{0}).back(), PodIndex{0});
  EXPECT_EQ(fixture.order.pods(NodeIndex{1}).front(), PodIndex{1});
  EXPECT_EQ(fixture.order.count_at_least(NodeIndex{0}, 40), 60U);
  EXPECT_EQ(fixture.order.count_at_least(NodeIndex{1}, -40), 41U);
}

TEST(NodeOrder, BlocksThatWereLeftAreUsedAgain) {
  // A node that grows to 64 pods climbs through blocks of 4, 8, 12, ... 32, 40, 48, 56 and 64:
  // 352 places in all. Every later node finds the smaller ones that the first left behind, so 100
  // nodes need 100 * 64 + 288 places and not 100 * 352; vectors may double what they need.
  constexpr std::uint32_t nodes = 100;
  Fixture fixture;
  fixture.order.resize_nodes(nodes);
  const auto fill = [&](std::uint32_t node) {
    for (std::size_t i = 0; i < 64; ++i) fixture.insert(node, i, fixture.pod(1), 0);
  };
  for (std::uint32_t node = 0; node < nodes; ++node) fill(node);
  constexpr std::size_t place = sizeof(PodIndex) + sizeof(std::int32_t) + 4 * sizeof(std::int64_t);
  EXPECT_LE(fixture.order.bytes(),
            2 * (nodes * std::size_t{64} + 288) * place + nodes * std::size_t{16});

  // A node that empties keeps its block.
  const std::size_t before = fixture.order.bytes();
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (std::size_t i = 0; i < 64; ++i) fixture.erase(node, 0);
  }
  for (std::uint32_t node = 0; node < nodes; ++node) fill(node);
  EXPECT_EQ(fixture.order.bytes(), before);
  for (std::uint32_t node = 0; node < nodes; ++node) EXPECT_EQ(fixture.cpu(node, 64), 64);
}

TEST(NodeOrder, RebuildReplacesEverything) {
  Fixture fixture;
  fixture.order.resize_nodes(1);
  fixture.insert(0, 0, fixture.pod(9), 9);
  const std::array<ResourceAmount, 1> extended = {{{ResourceIndex{5}, 3}}};
  const PodIndex a = fixture.pod(1);
  const PodIndex b = fixture.pod(20);
  const std::vector<NodeOrder::Entry> entries = {
      {.pod = a, .priority = 4, .requests = fixture.row(a)},
      {.pod = b, .priority = 2, .requests = fixture.row(b)},
      {.pod = PodIndex{7}, .priority = 1, .requests = extended}};
  const std::vector<std::uint32_t> counts = {0, 2, 1};
  fixture.order.rebuild(entries, counts, 6);
  EXPECT_EQ(fixture.order.columns(), 6U);
  EXPECT_TRUE(fixture.order.pods(NodeIndex{0}).empty());
  EXPECT_EQ(fixture.order.used(NodeIndex{0}).size(), 6U);
  EXPECT_EQ(fixture.cpu(1, 1), 1);
  EXPECT_EQ(fixture.cpu(1, 2), 21);
  EXPECT_EQ(fixture.order.used(NodeIndex{1})[5], 0);
  EXPECT_EQ(fixture.order.used(NodeIndex{2})[5], 3);
  fixture.insert(0, 0, a, 4);  // The node without a block gets one.
  EXPECT_EQ(fixture.cpu(0, 1), 1);
}

TEST(NodeOrderDeathTest, MorePodsThanTheNodeHasIsABug) {
  Fixture fixture;
  fixture.order.resize_nodes(1);
  EXPECT_DEATH(static_cast<void>(fixture.order.used_by_first(NodeIndex{0}, 1)), "more pods");
  EXPECT_DEATH(static_cast<void>(fixture.order.pods(NodeIndex{1})), "out of range");
}

}  // namespace
}  // namespace makeway::node_order_test
