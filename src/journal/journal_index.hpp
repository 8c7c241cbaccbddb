// JournalIndex: where the cycles of a journal are, so that a question about one of them reads what
// it needs and not everything before it.
//
// Rules
//  1. It is brought up to date before a question, and reads only what was written since. Of that it
//     unpacks bases and cycles, never changes.
//  2. A cycle is found from the last base before it (a "chapter"): a journal that began there would
//     give the same cycle.
//  3. A file is known by its identity and by the head of the last record that was read, so it may
//     be renamed, and one that took its place is noticed.
//  4. Bounded: so many cycles, newest first, and so many chapters; of more, the oldest cycles are
//     counted and not named, and every other old chapter is forgotten, so that a question reads on
//     from the one before it.
//
// One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "journal/journal_file_reader.hpp"
#include "journal/journal_records.hpp"

namespace makeway {

struct IndexedCycle {
  std::uint64_t number = 0;
  Time now;
  std::size_t asks = 0;
  bool acts = false;

  friend bool operator==(const IndexedCycle&, const IndexedCycle&) = default;
};

struct IndexLimits {
  std::size_t cycles = 20'000;
  std::size_t chapters = 4'096;  ///< Of a file.
};

class JournalIndex {
 public:
  explicit JournalIndex(std::string path, IndexLimits limits = {})
      : path_(std::move(path)), limits_(limits) {}

  /// Rule 1. An error: why it stopped early; what was read before counts. `is_over` is asked after
  /// each record; where it says so, the next call goes on from there.
  std::optional<Error> refresh(const std::function<bool()>& is_over = never);

  /// Oldest first.
  std::vector<IndexedCycle> cycles() const;
  std::uint64_t left_out() const;  ///< Older ones, rule 4.

  /// Rule 2.
  struct Chapter {
    FileIdentity file;
    std::uint64_t offset = 0;        ///< Of its base.
    std::vector<std::string> paths;  ///< Of its file and those after it.
    std::string rules;               ///< The record of the configuration before it.
    bool is_same(const Chapter& other) const {
      return file == other.file && offset == other.offset;
    }
  };
  /// None: no chapter comes before that cycle.
  std::optional<Chapter> chapter_of(std::uint64_t cycle) const;

  /// Bytes that were read so far, for tests.
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct Base {
    std::uint64_t offset = 0;
    std::uint64_t cycles = 0;  ///< So many came before it.
    std::size_t rules = 0;     ///< So many records of the file's configurations did.
  };
  struct File {
    FileIdentity identity;
    std::string path;
    std::uint64_t until = 0;         ///< Read up to there.
    std::uint64_t last = 0;          ///< Where the last record begins.
    std::string last_head;           ///< Its first bytes.
    std::vector<std::string> rules;  ///< Records of configurations, without repetitions.
    std::vector<Base> bases;
    std::deque<IndexedCycle> cycles;
    std::uint64_t left_out = 0;
    void leave_out();
  };
  static bool never() { return false; }
  std::optional<Error> read_on(File& file, JournalFileReader& reader,
                               const std::function<bool()>& is_over);
  std::optional<Error> note(File& file, const PackedRecord& packed) const;
  static bool goes_on(const File& file, const JournalFileReader& reader);
  File known(const JournalFileReader& reader);
  void forget_old();

  std::string path_;
  IndexLimits limits_;
  std::vector<File> files_;  ///< Oldest first.
  std::uint64_t bytes_read_ = 0;
};

}  // namespace makeway
