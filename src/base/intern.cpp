#include "base/intern.hpp"

#include <algorithm>
#include <cstring>

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

void HashTable::insert(std::uint64_t hash, std::uint32_t id) {
  CHECK(id < erased_id);
  if ((used_ + 1) * 4 > slots_.size() * 3) grow();
  std::size_t at = tag_of(hash) & mask();
  while (slots_[at].id < erased_id) at = (at + 1) & mask();
  if (slots_[at].id == empty_id) ++used_;
  slots_[at] = {.tag = tag_of(hash), .id = id};
  ++live_;
}

void HashTable::erase(std::uint64_t hash, std::uint32_t id) {
  CHECK(!slots_.empty());
  std::size_t at = tag_of(hash) & mask();
  while (slots_[at].id != id) {
    CHECK(slots_[at].id != empty_id, "erased an entry that is not there");
    at = (at + 1) & mask();
  }
  slots_[at].id = erased_id;
  --live_;
}

void HashTable::grow() {
  const std::size_t wanted = std::max<std::size_t>(16, (live_ + 1) * 2);
  std::size_t size = 16;
  while (size < wanted) size *= 2;
  std::vector<Slot> old(size);
  old.swap(slots_);
  used_ = live_;
  for (const Slot& slot : old) {
    if (slot.id >= erased_id) continue;
    std::size_t at = slot.tag & mask();
    while (slots_[at].id != empty_id) at = (at + 1) & mask();
    slots_[at] = slot;
  }
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
