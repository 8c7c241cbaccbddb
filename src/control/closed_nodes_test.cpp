#include "control/closed_nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace makeway {
namespace {

constexpr Duration closing_minute{60'000};
constexpr Time closing_start{1'000'000};

Time minutes_on(std::int64_t minutes) {
  return closing_start + Duration{minutes * closing_minute.ms};
}

// SPEC section 8, kubelet refusals: that node is closed to that owner, 1 min doubling.
TEST(ClosedNodes, AreClosedForAMinuteThenForTwice) {
  ClosedNodes closed({.first = closing_minute, .max = {60 * closing_minute.ms}});
  closed.refused("u1", "n1", closing_start);
  EXPECT_EQ(closed.closed_to("u1", closing_start), std::vector<std::string>{"n1"});
  EXPECT_TRUE(closed.closed_to("u2", closing_start).empty());
  EXPECT_EQ(closed.next_opening(), minutes_on(1));
  EXPECT_TRUE(closed.take_opened(closing_start + Duration{closing_minute.ms - 1}).empty());
  EXPECT_EQ(closed.take_opened(minutes_on(1)), std::vector<std::string>{"u1"});
  EXPECT_TRUE(closed.closed_to("u1", minutes_on(1)).empty());
  EXPECT_TRUE(closed.take_opened(minutes_on(1)).empty());
  closed.refused("u1", "n1", minutes_on(1));
  EXPECT_EQ(closed.next_opening(), minutes_on(3));
  closed.refused("u1", "n1", minutes_on(3));
  EXPECT_EQ(closed.next_opening(), minutes_on(7));
}

TEST(ClosedNodes, AreForgivenAfterAsLongAgain) {
  ClosedNodes closed({.first = closing_minute, .max = {60 * closing_minute.ms}});
  closed.refused("u1", "n1", closing_start);
  closed.refused("u1", "n1", closing_start);
  EXPECT_EQ(closed.next_opening(), minutes_on(2));
  EXPECT_EQ(closed.take_opened(minutes_on(2)), std::vector<std::string>{"u1"});
  EXPECT_FALSE(closed.empty());
  EXPECT_TRUE(closed.take_opened(minutes_on(4)).empty());
  EXPECT_TRUE(closed.empty());
  closed.refused("u1", "n1", minutes_on(4));
  EXPECT_EQ(closed.next_opening(), minutes_on(5));
}

TEST(ClosedNodes, StayClosedForAnHourAtMost) {
  ClosedNodes closed({.first = closing_minute, .max = {60 * closing_minute.ms}});
  for (int times = 0; times < 20; ++times) closed.refused("u1", "n1", closing_start);
  EXPECT_EQ(closed.next_opening(), minutes_on(60));
}

TEST(ClosedNodes, EveryTermKeepsThePodAway) {
  Pod free;
  keep_away(free, {"n1", "n2"});
  ASSERT_EQ(free.shape.node_terms.size(), 1U);
  EXPECT_EQ(free.shape.node_terms[0].fields,
            (std::vector<Requirement>{
                {.key = "metadata.name", .operation = Operator::not_in, .values = {"n1", "n2"}}}));
  Pod choosy;
  choosy.shape.node_terms = {
      {}, {.labels = {{.key = "zone", .operation = Operator::in, .values = {"a"}}}}};
  keep_away(choosy, {"n1"});
  // What selects no node still selects none.
  EXPECT_EQ(std::ranges::count_if(choosy.shape.node_terms,
                                  [](const NodeSelectorTerm& term) { return term.fields.empty(); }),
            1);
  Pod same;
  keep_away(same, {});
  EXPECT_EQ(same, Pod{});
}

}  // namespace
}  // namespace makeway
