// TextColumn: one text per slot, packed, for texts that are unique anyway (names, uids).
//
// Texts take multiples of 8 bytes. The place of one that was replaced or cleared is given to the
// next of that size, so `set` costs O(length), and memory is what was alive at the most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "base/plain_vector.hpp"

namespace makeway {

class TextColumn {
 public:
  void resize(std::size_t slots) { entries_.resize(slots); }
  void set(std::size_t slot, std::string_view text);
  std::string_view operator[](std::size_t slot) const {
    CHECK(slot < entries_.size(), "index out of range");
    const Entry& entry = entries_[slot];
    return {buffer_.data() + entry.begin, entry.length};
  }
  std::size_t bytes() const { return buffer_.capacity() + entries_.capacity() * sizeof(Entry); }
  /// Packs everything again. O(all).
  void shrink_to_fit();

 private:
  struct Entry {
    std::uint64_t begin : 40 = 0;   // A terabyte of names.
    std::uint64_t length : 24 = 0;  // No name is longer than 16 MB; `set` checks.
  };

  std::uint64_t place_for(std::size_t length);

  PlainVector<char> buffer_;
  PlainVector<Entry> entries_;
  std::map<std::size_t, std::vector<std::uint64_t>> free_;  ///< By the room that they have.
};

}  // namespace makeway
