// SparseColumn: a value for each of many slots, of which few are ever written.
//
// Making one costs next to nothing, however many slots there are: memory comes in pages, with the
// first write. What was never written reads as T{}.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/check.hpp"

namespace makeway {

template <class IndexType, class T>
class SparseColumn {
 public:
  SparseColumn() = default;
  explicit SparseColumn(std::size_t slots) : slots_(slots), pages_((slots + mask) >> bits) {}

  T operator[](IndexType index) const {
    CHECK(index.value < slots_, "index out of range");
    const Page* const page = pages_[index.value >> bits].get();
    return page == nullptr ? T{} : (*page)[index.value & mask];
  }

  T& writable(IndexType index) {
    CHECK(index.value < slots_, "index out of range");
    std::unique_ptr<Page>& page = pages_[index.value >> bits];
    if (page == nullptr) page = std::make_unique<Page>();
    return (*page)[index.value & mask];
  }

 private:
  static constexpr std::size_t bits = 9;
  static constexpr std::size_t mask = (std::size_t{1} << bits) - 1;
  using Page = std::array<T, mask + 1>;

  std::size_t slots_ = 0;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace makeway
