#include <gtest/gtest.h>

#include "control/brakes.hpp"

namespace makeway {
namespace {

Node losing_node(std::int64_t gpus) {
  Node node{.name = "n1", .allocatable = {{"cpu", 4'000}}};
  if (gpus > 0) node.allocatable.push_back({"example.com/gpu", gpus});
  return node;
}

TEST(LostCapacity, LastsUntilItIsBackOrItsTimeIsUp) {
  LostCapacity lost(Duration{300'000});
  lost.note({losing_node(8)}, Time{0});
  EXPECT_FALSE(lost.newest(Time{0}).has_value());
  lost.note({losing_node(0)}, Time{1'000});
  const auto loss = lost.newest(Time{2'000});
  ASSERT_TRUE(loss.has_value());
  EXPECT_EQ(loss->node, "n1");
  EXPECT_EQ(loss->resource, "example.com/gpu");
  EXPECT_EQ(loss->since, Time{1'000});
  EXPECT_EQ(loss->until, Time{301'000});
  lost.note({losing_node(4)}, Time{3'000});  // Not all of it.
  EXPECT_EQ(lost.newest(Time{4'000})->since, Time{1'000});
  EXPECT_TRUE(lost.newest(Time{300'999}).has_value());
  EXPECT_FALSE(lost.newest(Time{301'000}).has_value());
  lost.note({losing_node(0)}, Time{400'000});
  lost.note({losing_node(4)}, Time{401'000});
  EXPECT_FALSE(lost.newest(Time{401'000}).has_value());
}

TEST(LostCapacity, ARemovedNodeIsNotLostCapacity) {
  LostCapacity lost(Duration{300'000});
  lost.note({losing_node(8)}, Time{0});
  lost.note({losing_node(0)}, Time{1'000});
  lost.note({Removal{.kind = ObjectKind::node, .name = "n1"}}, Time{2'000});
  EXPECT_FALSE(lost.newest(Time{2'000}).has_value());
}

TEST(LostCapacity, WithoutATimeNothingIsLost) {
  LostCapacity lost(Duration{0});
  lost.note({losing_node(8)}, Time{0});
  lost.note({losing_node(0)}, Time{1'000});
  EXPECT_FALSE(lost.newest(Time{1'000}).has_value());
}

}  // namespace
}  // namespace makeway
