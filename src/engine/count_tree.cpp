#include "engine/count_tree.hpp"

#include <algorithm>
#include <bit>

namespace makeway {

CountTree::CountTree(std::span<const std::int64_t> numbers)
    : size_(numbers.size()), knots_(2 * std::bit_ceil(std::max<std::size_t>(size_, 1))) {
  if (size_ > 0) build(root(), numbers);
}

void CountTree::renew(std::size_t knot) {
  knots_[knot].least =
      std::min(knots_[2 * knot].least, knots_[2 * knot + 1].least) + knots_[knot].added;
}

void CountTree::build(const Place& place, std::span<const std::int64_t> numbers) {
  if (place.is_leaf()) {
    knots_[place.knot].least = numbers[place.begin];
    return;
  }
  build(place.left(), numbers);
  build(place.right(), numbers);
  renew(place.knot);
}

void CountTree::add(std::size_t begin, std::size_t end, std::int64_t amount) {
  if (begin < end) add(root(), begin, end, amount);
}

void CountTree::add(const Place& place, std::size_t begin, std::size_t end, std::int64_t amount) {
  if (end <= place.begin || place.end <= begin) return;
  if (begin <= place.begin && place.end <= end) {
    knots_[place.knot].least += amount;
    knots_[place.knot].added += amount;
    return;
  }
  add(place.left(), begin, end, amount);
  add(place.right(), begin, end, amount);
  renew(place.knot);
}

std::int64_t CountTree::least(std::size_t begin, std::size_t end) const {
  return begin < end ? least(root(), begin, end) : nothing;
}

std::int64_t CountTree::least(const Place& place, std::size_t begin, std::size_t end) const {
  if (end <= place.begin || place.end <= begin) return nothing;
  if (begin <= place.begin && place.end <= end) return knots_[place.knot].least;
  const std::int64_t below =
      std::min(least(place.left(), begin, end), least(place.right(), begin, end));
  return below == nothing ? nothing : below + knots_[place.knot].added;
}

std::size_t CountTree::first_at_most(std::int64_t limit, std::size_t begin) const {
  return begin < size_ ? first(root(), limit, begin) : size_;
}

std::size_t CountTree::first(const Place& place, std::int64_t limit, std::size_t begin) const {
  if (place.end <= begin || knots_[place.knot].least > limit) return size_;
  if (place.is_leaf()) return place.begin;
  const std::int64_t below = limit - knots_[place.knot].added;
  const std::size_t found = first(place.left(), below, begin);
  return found < size_ ? found : first(place.right(), below, begin);
}

}  // namespace makeway
