// SpanInterner: equal sequences become equal ids; all of them live in one flat vector.
//
// For label sets and request rows: short sequences of plain words, millions of them, most of them
// equal to one seen before. Lookup costs one hash over the sequence.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/intern.hpp"

namespace makeway {

/// `Item` needs == and hash_of(Item).
template <class IndexType, class Item>
class SpanInterner {
 public:
  SpanInterner() { intern({}); }  // Id 0 is the empty sequence.

  IndexType intern(std::span<const Item> items) {
    std::uint64_t hash = items.size();
    for (const Item& item : items) hash = hash_combine(hash, hash_of(item));
    const auto found = table_.find(
        hash, [&](std::uint32_t id) { return std::ranges::equal((*this)[IndexType{id}], items); });
    if (found) return IndexType{*found};
    items_.insert(items_.end(), items.begin(), items.end());
    ends_.push_back(items_.size());
    const IndexType id = IndexType::from(ends_.size() - 1);
    table_.insert(hash, id.value);
    return id;
  }

  std::span<const Item> operator[](IndexType id) const {
    CHECK(id.value < ends_.size(), "index out of range");
    const std::size_t begin = id.value == 0 ? 0 : ends_[id.value - 1];
    return std::span(items_).subspan(begin, ends_[id.value] - begin);
  }

  std::size_t size() const { return ends_.size(); }

  std::size_t bytes() const {
    return items_.capacity() * sizeof(Item) + ends_.capacity() * sizeof(std::size_t) +
           table_.bytes();
  }

  void shrink_to_fit() {
    items_.shrink_to_fit();
    ends_.shrink_to_fit();
  }

 private:
  std::vector<Item> items_;
  std::vector<std::size_t> ends_;
  HashTable table_;
};

}  // namespace makeway
