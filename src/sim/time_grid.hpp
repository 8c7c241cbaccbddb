// TimeGrid: means of many values over time, in bounded memory.
//
// Time is divided into at most `columns_max` columns of equal width. When it gets longer, two
// neighbours become one and the width doubles, so that a simulation of years costs what one of
// hours does. Values of a cell are summed up and counted: its mean does not depend on when columns
// were joined. add: O(1), amortised.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "base/wide.hpp"

namespace makeway {

class TimeGrid {
 public:
  static constexpr std::size_t columns_max = 240;

  TimeGrid(Time start, Duration width) : start_(start), width_(width) {}

  /// Rows begin to exist with their first value; instants before the start count as the start.
  void add(std::size_t row, Time when, std::int64_t value);

  std::size_t rows() const { return rows_.size(); }
  std::size_t columns() const { return columns_; }
  Time begin_of(std::size_t column) const {
    return start_ + Duration{width_.ms * static_cast<std::int64_t>(column)};
  }
  /// None: there was no value.
  std::optional<std::int64_t> mean(std::size_t row, std::size_t column) const;
  /// The columns in which some row has a value.
  std::vector<std::size_t> filled() const;

 private:
  struct Cell {
    Wide sum = 0;
    std::int64_t count = 0;
  };

  void join_neighbours();

  Time start_;
  Duration width_;
  std::size_t columns_ = 0;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace makeway
