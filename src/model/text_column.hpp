// TextColumn: one text per slot, packed, for texts that are unique anyway (names, uids).
//
// Replaced and cleared texts leave garbage; once it is more than half of the buffer, the buffer is
// packed again, so memory stays within twice what is alive and `set` is amortised O(length).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace makeway {

class TextColumn {
 public:
  void resize(std::size_t slots) { entries_.resize(slots); }
  void set(std::size_t slot, std::string_view text);
  std::string_view operator[](std::size_t slot) const {
    const Entry& entry = entries_.at(slot);
    return std::string_view(buffer_).substr(entry.begin, entry.length);
  }
  std::size_t bytes() const { return buffer_.capacity() + entries_.capacity() * sizeof(Entry); }
  void shrink_to_fit();

 private:
  struct Entry {
    std::uint64_t begin : 40 = 0;   // A terabyte of names.
    std::uint64_t length : 24 = 0;  // No name is longer than 16 MB; `set` checks.
  };

  void pack();

  std::string buffer_;
  std::vector<Entry> entries_;
  std::size_t garbage_ = 0;
};

}  // namespace makeway
