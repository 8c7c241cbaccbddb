#include "sim/time_grid.hpp"

#include <gtest/gtest.h>

namespace makeway {
namespace {

constexpr Time grid_start{1'000'000};

Time grid_after(std::int64_t ms) { return grid_start + Duration{ms}; }

TEST(TimeGrid, KeepsMeansByColumn) {
  TimeGrid grid(grid_start, Duration{10});
  grid.add(0, grid_after(0), 4);
  grid.add(0, grid_after(9), 6);
  grid.add(1, grid_after(20), 7);
  EXPECT_EQ(grid.rows(), 2U);
  EXPECT_EQ(grid.columns(), 3U);
  EXPECT_EQ(grid.mean(0, 0), 5);
  EXPECT_EQ(grid.mean(0, 1), std::nullopt);
  EXPECT_EQ(grid.mean(1, 2), 7);
  EXPECT_EQ(grid.mean(2, 0), std::nullopt);
  EXPECT_EQ(grid.filled(), (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(grid.begin_of(2), grid_after(20));
}

TEST(TimeGrid, JoinsNeighboursWhenTimeGetsLong) {
  TimeGrid grid(grid_start, Duration{10});
  // Columns 0, 1, 2 and 239; the next instant needs a width of 20.
  grid.add(0, grid_after(5), 2);
  grid.add(0, grid_after(15), 4);
  grid.add(0, grid_after(15), 6);
  grid.add(0, grid_after(25), 8);
  grid.add(0, grid_after(2'395), 10);
  grid.add(0, grid_after(2'400), 12);
  EXPECT_EQ(grid.columns(), 121U);
  EXPECT_EQ(grid.mean(0, 0), 4);  // (2 + 4 + 6) / 3
  EXPECT_EQ(grid.mean(0, 1), 8);
  EXPECT_EQ(grid.mean(0, 119), 10);
  EXPECT_EQ(grid.mean(0, 120), 12);
  EXPECT_EQ(grid.begin_of(120), grid_after(2'400));
}

TEST(TimeGrid, StaysSmallOverYears) {
  TimeGrid grid(grid_start, Duration{1});
  for (std::int64_t day = 0; day < 3'650; ++day) grid.add(0, grid_after(day * 86'400'000), 1);
  EXPECT_LE(grid.columns(), TimeGrid::columns_max);
  for (const std::size_t column : grid.filled()) EXPECT_EQ(grid.mean(0, column), 1);
}

TEST(TimeGrid, WhatCameBeforeTheStartCountsAsTheStart) {
  TimeGrid grid(grid_start, Duration{10});
  grid.add(0, Time{0}, 3);
  EXPECT_EQ(grid.mean(0, 0), 3);
}

}  // namespace
}  // namespace makeway
