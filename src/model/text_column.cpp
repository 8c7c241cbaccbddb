#include "model/text_column.hpp"

#include <algorithm>

namespace makeway {
namespace {
constexpr std::uint64_t column_text_length_max = (1ULL << 24U) - 1;
constexpr std::uint64_t begin_max = (1ULL << 40U) - 1;

constexpr std::size_t room_for(std::size_t length) { return (length + 7) / 8 * 8; }
}  // namespace

std::uint64_t TextColumn::place_for(std::size_t length) {
  const std::size_t room = room_for(length);
  const auto free = free_.find(room);
  if (free == free_.end() || free->second.empty()) {
    const std::uint64_t begin = buffer_.size();
    buffer_.resize(begin + room);
    return begin;
  }
  const std::uint64_t begin = free->second.back();
  free->second.pop_back();
  return begin;
}

void TextColumn::set(std::size_t slot, std::string_view text) {
  CHECK(text.size() <= column_text_length_max, "text too long for a column");
  CHECK(slot < entries_.size(), "index out of range");
  Entry& entry = entries_[slot];
  const std::size_t room = room_for(entry.length);
  if (room != room_for(text.size())) {
    if (room > 0) free_[room].push_back(entry.begin);
    entry.begin = text.empty() ? 0 : place_for(text.size()) & begin_max;
  }
  entry.length = text.size() & column_text_length_max;
  std::ranges::copy(text, buffer_.begin() + entry.begin);
}

void TextColumn::shrink_to_fit() {
  std::size_t total = 0;
  for (const Entry& entry : entries_) total += room_for(entry.length);
  PlainVector<char> packed;
  packed.reserve(total);
  for (Entry& entry : entries_) {
    const std::size_t begin = packed.size();
    packed.append({buffer_.data() + entry.begin, room_for(entry.length)});
    entry.begin = begin & begin_max;
  }
  buffer_ = std::move(packed);
  free_.clear();
  entries_.shrink_to_fit();
}

}  // namespace makeway
