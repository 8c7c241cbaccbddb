// CountTree: numbers in a row, to whole ranges of which something is added at once; and which of
// them is the least, or the first that is small enough.
//
// A binary tree over the row: a node keeps what was added to all of its numbers, and the least of
// them. O(log n) for everything, O(n) to make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace makeway {

class CountTree {
 public:
  /// Larger than every number.
  static constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::max();

  explicit CountTree(std::span<const std::int64_t> numbers);

  std::size_t size() const { return size_; }
  /// To those in [begin, end).
  void add(std::size_t begin, std::size_t end, std::int64_t amount);
  std::int64_t at(std::size_t place) const { return least(place, place + 1); }
  /// `nothing` of an empty range.
  std::int64_t least(std::size_t begin, std::size_t end) const;
  /// The first from `begin` on that is at most `limit`; size() where there is none.
  std::size_t first_at_most(std::int64_t limit, std::size_t begin) const;

 private:
  struct Knot {
    std::int64_t least = nothing;  ///< With what was added here and below, not above.
    std::int64_t added = 0;
  };
  /// A knot and the range below it.
  struct Place {
    std::size_t knot = 1;
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t middle() const { return begin + (end - begin) / 2; }
    bool is_leaf() const { return end - begin == 1; }
    Place left() const { return {.knot = 2 * knot, .begin = begin, .end = middle()}; }
    Place right() const { return {.knot = 2 * knot + 1, .begin = middle(), .end = end}; }
  };
  Place root() const { return {.knot = 1, .begin = 0, .end = size_}; }

  void build(const Place& place, std::span<const std::int64_t> numbers);
  void add(const Place& place, std::size_t begin, std::size_t end, std::int64_t amount);
  std::int64_t least(const Place& place, std::size_t begin, std::size_t end) const;
  std::size_t first(const Place& place, std::int64_t limit, std::size_t begin) const;
  void renew(std::size_t knot);

  std::size_t size_;
  std::vector<Knot> knots_;  ///< The root is 1, the children of k are 2k and 2k + 1.
};

}  // namespace makeway
