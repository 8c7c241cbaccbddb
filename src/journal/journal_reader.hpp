// JournalReader: the records of a journal in order, over all of its files, oldest first.
//
//   Result<JournalReader> reader = JournalReader::open("run.journal", JournalFiles::with_rotated);
//   while (true) {
//     Result<std::optional<JournalEntry>> entry = reader->next();
//     if (!entry || !*entry) break;  // An error, or the end.
//   }
//
// A few megabytes of one file are in memory at a time. A file that ends torn or damaged ends there;
// the next one begins with a base, so reading goes on, and the entry says that something is missing
// before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "codec/record_file.hpp"
#include "journal/journal_file_reader.hpp"
#include "journal/journal_records.hpp"

namespace makeway {

/// The whole file.
Result<std::string> read_journal_bytes(const std::string& path);

enum class JournalFiles : std::uint8_t { one, with_rotated };

struct JournalEntry {
  JournalRecord record;
  std::uint64_t bytes = 0;  ///< In the file.
  /// The base is not what the records before it led to: something is missing between them.
  bool after_gap = false;
};

/// A record whose text was not read yet.
struct JournalText {
  std::uint8_t type = 0;
  std::string text;
  std::uint64_t offset = 0;  ///< Where it begins in its file.
  std::uint64_t bytes = 0;
  bool after_gap = false;  ///< As in JournalEntry.
};

/// What was read of a file.
struct JournalPart {
  std::string path;
  std::string version;  ///< Of the program that wrote it; empty: its header is torn.
  std::uint64_t bytes = 0;
  std::uint64_t whole_bytes = 0;  ///< Up to the end of the last whole record.
  std::uint64_t records = 0;
  FileEnd end = FileEnd::whole;
};

class JournalReader {
 public:
  static Result<JournalReader> open(const std::string& path, JournalFiles files);
  /// These files, the first one from a base on that begins there.
  static Result<JournalReader> open_at(std::vector<std::string> paths, std::uint64_t offset);

  /// None: the end of the last file. An error: a file cannot be read, or a record in it not be
  /// understood.
  Result<std::optional<JournalEntry>> next();

  /// The same before it is understood: for callers that want a few of many records.
  Result<std::optional<JournalText>> next_text();
  Result<JournalEntry> understood(const JournalText& text) const;
  /// Of the file that it is in; that of no file on a disk is empty.
  FileIdentity file() const { return reader_->identity(); }

  /// What was written to the file that it is in since that was opened can be read, too.
  std::optional<Error> look_again() { return reader_->look_again(); }

  /// Those that were begun.
  const std::vector<JournalPart>& parts() const { return parts_; }

 private:
  explicit JournalReader(std::vector<std::string> paths) : paths_(std::move(paths)) {}
  std::optional<Error> begin_part();
  void end_part();
  std::unexpected<Error> not_understood(std::uint64_t offset, const Error& error) const;

  std::vector<std::string> paths_;  ///< Oldest first.
  std::vector<JournalPart> parts_;
  std::optional<JournalFileReader> reader_;
  bool gap_ = false;
};

}  // namespace makeway
