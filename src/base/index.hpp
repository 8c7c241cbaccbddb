// Index<Tag>: a slot number that cannot be mixed up with another kind of slot number.
//
//   struct NodeTag;
//   using NodeIndex = Index<NodeTag>;
//   IndexedVector<NodeIndex, std::int64_t> free;   // free[pod] does not compile
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/plain_vector.hpp"

namespace makeway {

template <class Tag>
struct Index {
  static constexpr std::uint32_t none_value = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t value = none_value;

  /// The default index points nowhere.
  constexpr bool exists() const { return value != none_value; }

  static constexpr Index from(std::size_t slot) {
    CHECK(slot < none_value, "more than 2^32 - 1 slots");
    return Index{static_cast<std::uint32_t>(slot)};
  }

  friend constexpr auto operator<=>(const Index&, const Index&) = default;
};

/// A vector whose subscript is one kind of index only; bounds are always checked.
template <class IndexType, class T>
class IndexedVector {
 public:
  IndexedVector() = default;
  explicit IndexedVector(std::size_t size, const T& value = T{}) : items_(size, value) {}

  decltype(auto) operator[](IndexType index) {
    CHECK(index.value < items_.size(), "index out of range");
    return items_[index.value];
  }
  decltype(auto) operator[](IndexType index) const {
    CHECK(index.value < items_.size(), "index out of range");
    return items_[index.value];
  }

  IndexType push_back(T value) {
    items_.push_back(std::move(value));
    return IndexType::from(items_.size() - 1);
  }

  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  void resize(std::size_t size) { items_.resize(size); }
  void clear() { items_.clear(); }
  void shrink_to_fit() { items_.shrink_to_fit(); }
  std::size_t bytes() const { return items_.capacity() * sizeof(T); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  const T* data() const { return items_.data(); }

 private:
  // Plain values grow without a pause. (Of truth values std::vector makes bits.)
  static constexpr bool is_plain = std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>;
  std::conditional_t<is_plain, PlainVector<T>, std::vector<T>> items_;
};

}  // namespace makeway
