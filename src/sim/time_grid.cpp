#include "sim/time_grid.hpp"

#include <algorithm>

namespace makeway {

void TimeGrid::add(std::size_t row, Time when, std::int64_t value) {
  const std::int64_t since = std::max<std::int64_t>(0, (when - start_).ms);
  while (since / width_.ms >= static_cast<std::int64_t>(columns_max)) join_neighbours();
  const auto column = static_cast<std::size_t>(since / width_.ms);
  columns_ = std::max(columns_, column + 1);
  if (row >= rows_.size()) rows_.resize(row + 1);
  std::vector<Cell>& cells = rows_[row];
  if (column >= cells.size()) cells.resize(column + 1);
  cells[column].sum += value;
  ++cells[column].count;
}

void TimeGrid::join_neighbours() {
  width_.ms *= 2;
  columns_ = (columns_ + 1) / 2;
  for (std::vector<Cell>& cells : rows_) {
    for (std::size_t at = 0; at < cells.size(); ++at) {
      if (at % 2 == 0) {
        cells[at / 2] = cells[at];
      } else {
        cells[at / 2].sum += cells[at].sum;
        cells[at / 2].count += cells[at].count;
      }
    }
    cells.resize((cells.size() + 1) / 2);
  }
}

std::optional<std::int64_t> TimeGrid::mean(std::size_t row, std::size_t column) const {
  if (row >= rows_.size() || column >= rows_[row].size()) return std::nullopt;
  const Cell& cell = rows_[row][column];
  if (cell.count == 0) return std::nullopt;
  return static_cast<std::int64_t>(cell.sum / cell.count);
}

std::vector<std::size_t> TimeGrid::filled() const {
  std::vector<std::size_t> result;
  for (std::size_t column = 0; column < columns_; ++column) {
    const auto has = [&](const std::vector<Cell>& cells) {
      return column < cells.size() && cells[column].count > 0;
    };
    if (std::ranges::any_of(rows_, has)) result.push_back(column);
  }
  return result;
}

}  // namespace makeway
