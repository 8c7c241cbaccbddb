#include "base/intern.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace makeway {

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0x9E3779B97F4A7C15U ^ text.size();
  while (text.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), 8);
    hash = (hash ^ word) * 0xBF58476D1CE4E5B9U;
    hash ^= hash >> 32U;
    text.remove_prefix(8);
  }
  std::uint64_t tail = 0;
  if (!text.empty()) std::memcpy(&tail, text.data(), text.size());  // Empty may mean null.
  return mix64(hash ^ tail);
}

void HashTable::put(const Slot& slot) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = slot.tag & mask;
  while (slots_[at].mark > erased_mark) at = (at + 1) & mask;
  if (slots_[at].mark == empty_mark) ++used_;
  slots_[at] = slot;
}

void HashTable::insert(std::uint64_t hash, std::uint32_t id) {
  CHECK(id < std::numeric_limits<std::uint32_t>::max() - first_mark);
  // Enough that the older table is empty long before this one is full.
  constexpr std::size_t moved_at_once = 8;
  if ((used_ + 1) * 4 > slots_.size() * 3) grow();
  move_some(moved_at_once);
  put({.tag = tag_of(hash), .mark = id + first_mark});
  ++live_;
}

bool HashTable::erase_in(Slots& slots, const Slot& wanted) {
  if (slots.empty()) return false;
  const std::size_t mask = slots.size() - 1;
  for (std::size_t at = wanted.tag & mask; slots[at].mark != empty_mark; at = (at + 1) & mask) {
    if (slots[at].mark != wanted.mark) continue;
    slots[at].mark = erased_mark;
    return true;
  }
  return false;
}

void HashTable::erase(std::uint64_t hash, std::uint32_t id) {
  const Slot wanted{.tag = tag_of(hash), .mark = id + first_mark};
  const bool erased = erase_in(slots_, wanted) || erase_in(older_, wanted);
  CHECK(erased, "erased an entry that is not there");
  --live_;
}

void HashTable::move_some(std::size_t slots) {
  if (older_.empty()) return;
  const std::size_t end = std::min(older_.size(), moved_ + std::min(slots, older_.size()));
  for (; moved_ < end; ++moved_) {
    Slot& slot = older_[moved_];
    if (slot.mark <= erased_mark) continue;
    put(slot);
    slot.mark = erased_mark;  // Not empty: others may stand behind it.
  }
  if (moved_ == older_.size()) Slots().swap(older_);
}

void HashTable::grow() {
  move_some(older_.size());
  const std::size_t wanted = std::max<std::size_t>(16, (live_ + 1) * 2);
  std::size_t size = 16;
  while (size < wanted) size *= 2;
  older_ = Slots::zeros(size);
  older_.swap(slots_);
  moved_ = 0;
  used_ = 0;
}

namespace {
constexpr std::size_t block_bytes = 64UL * 1024;
}

StringPool::StringPool() {
  texts_.push_back({});
  table_.insert(hash_of(std::string_view{}), 0);
}

std::string_view StringPool::store(std::string_view text) {
  if (text.empty()) return "";  // There may be no block yet.
  if (block_used_ + text.size() > block_size_) {
    block_size_ = std::max(block_bytes, text.size());
    block_used_ = 0;
    blocks_.push_back(std::make_unique<char[]>(block_size_));
    bytes_ += block_size_;
  }
  char* const target = blocks_.back().get() + block_used_;
  std::memcpy(target, text.data(), text.size());
  block_used_ += text.size();
  return {target, text.size()};
}

StringId StringPool::intern(std::string_view text) {
  if (text.empty()) return StringId{0};
  const std::uint64_t hash = hash_of(text);
  const auto found =
      table_.find(hash, [&](std::uint32_t id) { return texts_[StringId{id}] == text; });
  if (found) return StringId{*found};
  const StringId id = texts_.push_back(store(text));
  table_.insert(hash, id.value);
  return id;
}

std::optional<StringId> StringPool::find(std::string_view text) const {
  const auto found =
      table_.find(hash_of(text), [&](std::uint32_t id) { return texts_[StringId{id}] == text; });
  if (!found) return std::nullopt;
  return StringId{*found};
}

std::size_t StringPool::bytes() const { return bytes_ + texts_.bytes() + table_.bytes(); }

}  // namespace makeway
