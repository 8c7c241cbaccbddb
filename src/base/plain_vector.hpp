// PlainVector: a vector of plain values that grows without a pause.
//
// std::vector copies everything when it grows: tens of milliseconds for a million pods, in one
// insertion. Beyond `mapped_from` bytes this one asks the kernel to move the pages instead, and
// memory that was not written yet costs nothing. Only for types that memcpy may move.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace makeway {

/// Memory for PlainVector; `bytes` is what was asked for last.
namespace plain_memory {
inline constexpr std::size_t mapped_from = std::size_t{1} << 20U;

/// Zero if it is mapped, anything otherwise.
void* allocate(std::size_t bytes);
/// What was there stays, as far as there is room for it.
void* reallocate(void* memory, std::size_t bytes, std::size_t new_bytes);
void release(void* memory, std::size_t bytes) noexcept;
}  // namespace plain_memory

template <class T>
class PlainVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  static_assert(alignof(T) <= alignof(std::max_align_t));

 public:
  PlainVector() = default;
  explicit PlainVector(std::size_t size, const T& value = T{}) { resize(size, value); }
  PlainVector(const PlainVector& other) {
    reserve(other.size_);
    append({other.data_, other.size_});
  }
  PlainVector(PlainVector&& other) noexcept { swap(other); }
  PlainVector& operator=(const PlainVector& other) {
    if (this != &other) {
      PlainVector copy(other);
      swap(copy);
    }
    return *this;
  }
  PlainVector& operator=(PlainVector&& other) noexcept {
    swap(other);
    return *this;
  }
  ~PlainVector() { plain_memory::release(static_cast<void*>(data_), bytes_of(capacity_)); }

  /// All bytes zero; costs nothing where it is large.
  static PlainVector zeros(std::size_t size) {
    PlainVector vector;
    vector.reserve(size);
    if (bytes_of(vector.capacity_) < plain_memory::mapped_from && size > 0) {
      std::memset(static_cast<void*>(vector.data_), 0, bytes_of(size));
    }
    vector.size_ = size;
    return vector;
  }

  T& operator[](std::size_t at) { return data_[at]; }
  const T& operator[](std::size_t at) const { return data_[at]; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  const T* begin() const { return data_; }
  T* end() { return data_ + size_; }
  const T* end() const { return data_ + size_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }

  void push_back(T value) {
    if (size_ == capacity_) reserve(grown(size_ + 1));
    data_[size_++] = value;
  }
  /// `items` are not its own.
  void append(std::span<const T> items) {
    if (items.empty()) return;
    if (size_ + items.size() > capacity_) reserve(grown(size_ + items.size()));
    std::memcpy(static_cast<void*>(data_ + size_), static_cast<const void*>(items.data()),
                bytes_of(items.size()));
    size_ += items.size();
  }
  void resize(std::size_t size, const T& value = T{}) {
    if (size > capacity_) {
      const T kept = value;  // It may be one of ours.
      reserve(grown(size));
      std::uninitialized_fill(data_ + size_, data_ + size, kept);
    } else if (size > size_) {
      std::uninitialized_fill(data_ + size_, data_ + size, value);
    }
    size_ = size;
  }
  void assign(std::size_t size, const T& value) {
    size_ = 0;
    resize(size, value);
  }
  void clear() { size_ = 0; }
  void reserve(std::size_t capacity) {
    if (capacity > capacity_) move_to(capacity);
  }
  void shrink_to_fit() {
    if (size_ < capacity_) move_to(size_);
  }
  void swap(PlainVector& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  static constexpr std::size_t bytes_of(std::size_t count) {
    return count * sizeof(std::array<T, 1>);
  }
  std::size_t grown(std::size_t wanted) const {
    return std::max({wanted, capacity_ * 2, std::size_t{8}});
  }
  void move_to(std::size_t capacity) {
    data_ = static_cast<T*>(plain_memory::reallocate(static_cast<void*>(data_), bytes_of(capacity_),
                                                     bytes_of(capacity)));
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace makeway
