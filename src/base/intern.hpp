// Interning: equal values become equal small numbers, so that later comparisons cost nothing.
//
// HashTable  open addressing from a hash to ids that the caller stores.
// StringPool text <-> StringId. Ids are dense, in order of first appearance, and mean nothing:
//            every order that a user can see goes by the text.
// Interner   any value with == and a hash_of() <-> an id.
//
// Nothing is ever forgotten; `Cluster::compacted` starts afresh when churn has left garbage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "base/index.hpp"
#include "base/plain_vector.hpp"
#include "base/prng.hpp"

namespace makeway {

/// Order-dependent mixing of a running hash with one more word.
constexpr std::uint64_t hash_combine(std::uint64_t seed, std::uint64_t word) {
  return mix64(seed ^ (word * 0x9E3779B97F4A7C15U));
}

std::uint64_t hash_of(std::string_view text);

/// Maps a hash to an id; whether two things are equal is the caller's `same(id)`. It grows step by
/// step: while there is an older table, every insertion moves a few of its entries.
class HashTable {
 public:
  template <class Same>
  std::optional<std::uint32_t> find(std::uint64_t hash, const Same& same) const {
    const std::optional<std::uint32_t> found = find_in(slots_, hash, same);
    return found || older_.empty() ? found : find_in(older_, hash, same);
  }

  /// The caller has made sure that no equal entry exists.
  void insert(std::uint64_t hash, std::uint32_t id);

  /// The entry must exist.
  void erase(std::uint64_t hash, std::uint32_t id);

  std::size_t bytes() const { return (slots_.capacity() + older_.capacity()) * sizeof(Slot); }

 private:
  // So that fresh memory is a table without entries.
  static constexpr std::uint32_t empty_mark = 0;
  static constexpr std::uint32_t erased_mark = 1;
  static constexpr std::uint32_t first_mark = 2;  ///< Of id 0.

  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t mark = empty_mark;
  };
  using Slots = PlainVector<Slot>;

  template <class Same>
  static std::optional<std::uint32_t> find_in(const Slots& slots, std::uint64_t hash,
                                              const Same& same) {
    if (slots.empty()) return std::nullopt;
    const std::uint32_t tag = tag_of(hash);
    const std::size_t mask = slots.size() - 1;
    for (std::size_t at = tag & mask;; at = (at + 1) & mask) {
      const Slot& slot = slots[at];
      if (slot.mark == empty_mark) return std::nullopt;
      if (slot.mark == erased_mark || slot.tag != tag) continue;
      if (same(slot.mark - first_mark)) return slot.mark - first_mark;
    }
  }

  // The tag keeps the hash's low bits: enough to place the entry again when the table grows (up to
  // 2^32 slots) and to distinguish most unequal entries.
  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash); }
  static bool erase_in(Slots& slots, const Slot& wanted);
  void put(const Slot& slot);
  void grow();
  void move_some(std::size_t slots);

  Slots slots_;
  Slots older_;            ///< What is not moved yet; usually empty.
  std::size_t moved_ = 0;  ///< So many slots of it are.
  std::size_t used_ = 0;   ///< Entries and erased slots of `slots_`: both lengthen a probe.
  std::size_t live_ = 0;
};

struct StringTag;
using StringId = Index<StringTag>;

class StringPool {
 public:
  /// Id 0 is the empty string.
  StringPool();

  StringId intern(std::string_view text);
  std::optional<StringId> find(std::string_view text) const;
  std::string_view text(StringId id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }
  std::size_t bytes() const;

 private:
  std::string_view store(std::string_view text);

  IndexedVector<StringId, std::string_view> texts_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_used_ = 0;
  std::size_t block_size_ = 0;
  std::size_t bytes_ = 0;
  HashTable table_;
};

/// Values are found by `hash_of(value)` (an overload beside the type) and `==`. Id 0 is the default
/// value, the most frequent one: it is recognised without hashing.
template <class IndexType, class T>
class Interner {
 public:
  Interner() {
    values_.push_back(T{});
    table_.insert(hash_of(T{}), 0);
  }

  IndexType intern(const T& value) {
    if (value == values_[IndexType{0}]) return IndexType{0};
    const std::uint64_t hash = hash_of(value);
    const auto found =
        table_.find(hash, [&](std::uint32_t id) { return values_[IndexType{id}] == value; });
    if (found) return IndexType{*found};
    const IndexType id = values_.push_back(value);
    table_.insert(hash, id.value);
    return id;
  }

  const T& operator[](IndexType id) const { return values_[id]; }
  std::size_t size() const { return values_.size(); }
  std::size_t table_bytes() const { return table_.bytes() + values_.bytes(); }

 private:
  IndexedVector<IndexType, T> values_;
  HashTable table_;
};

}  // namespace makeway
