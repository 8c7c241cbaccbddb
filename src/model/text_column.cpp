#include "model/text_column.hpp"

#include "base/check.hpp"

namespace makeway {
namespace {
constexpr std::size_t garbage_worth_packing = 4096;
constexpr std::uint64_t column_text_length_max = (1ULL << 24U) - 1;
constexpr std::uint64_t begin_max = (1ULL << 40U) - 1;
}  // namespace

void TextColumn::set(std::size_t slot, std::string_view text) {
  CHECK(text.size() <= column_text_length_max, "text too long for a column");
  Entry& entry = entries_.at(slot);
  garbage_ += entry.length;
  if (text.size() <= entry.length) {
    buffer_.replace(entry.begin, text.size(), text);  // It fits where the old one stood.
    garbage_ -= text.size();
  } else {
    entry.begin = buffer_.size() & begin_max;
    buffer_ += text;
  }
  entry.length = text.size() & column_text_length_max;
  if (garbage_ > garbage_worth_packing && garbage_ > buffer_.size() / 2) pack();
}

void TextColumn::pack() {
  std::string packed;
  for (Entry& entry : entries_) {
    const std::size_t begin = packed.size();
    packed.append(buffer_, entry.begin, entry.length);
    entry.begin = begin & begin_max;
  }
  buffer_ = std::move(packed);
  garbage_ = 0;
}

void TextColumn::shrink_to_fit() {
  pack();
  buffer_.shrink_to_fit();
  entries_.shrink_to_fit();
}

}  // namespace makeway
