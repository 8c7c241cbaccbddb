// JournalFile: the file that a journal is written to, and those that it was written to before.
//
// Rules
//  1. A record is written with one call before anything relies on it. It is then in the hands of
//     the operating system: the death of the process loses nothing, that of the machine the end.
//  2. A file that is there already is continued after its last whole record; a torn end is cut off.
//     One that is damaged, or was written by another version, is kept as FILE.1, and a new one
//     begins. What is no journal is refused.
//  3. Rotation: FILE becomes FILE.1, FILE.1 becomes FILE.2, and so on; the oldest is deleted.
//  4. Where writing fails (a full disk), the file ends with its last whole record, an alarm says
//     why, and everything later is only counted: no scheduler waits for its journal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "codec/descriptor.hpp"
#include "journal/journal_records.hpp"

namespace makeway {

struct JournalOptions {
  std::string path;
  std::string version;                                  ///< Of the program, for the header.
  std::uint64_t base_every = std::uint64_t{64} << 20U;  ///< So many bytes after the last base.
  std::uint64_t bytes_max = 0;   ///< A file that is larger is rotated; 0: it may grow for ever.
  std::uint32_t files_kept = 4;  ///< FILE.1 to FILE.4.
};

/// "FILE.3"; 0: the file itself.
std::string rotated_path(const std::string& path, std::uint32_t number);

class JournalFile {
 public:
  static Result<JournalFile> open(JournalOptions options);

  /// Once it has failed, it only counts.
  void append(JournalType type, std::string_view text);
  /// The next record is the first of a new file.
  void rotate();

  const JournalOptions& options() const { return options_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t records() const { return records_; }     ///< Written since it was opened.
  std::uint64_t lost() const { return lost_; }           ///< Records that were not written.
  const std::string& alarm() const { return alarm_; }    ///< Why it ended; empty: it goes on.
  const std::string& notice() const { return notice_; }  ///< What opening did; mostly nothing.
  std::uint64_t cycles_before() const { return cycles_before_; }  ///< In the continued file.

 private:
  explicit JournalFile(JournalOptions options) : options_(std::move(options)) {}

  /// None: it is open, empty or behind its last whole record.
  std::optional<Error> open_file();
  std::optional<Error> continue_file();
  std::optional<Error> keep_aside(std::string notice);
  std::optional<Error> move_files();
  void begin_file();
  void write_whole(std::string_view bytes);
  void fail(std::string why);

  JournalOptions options_;
  Descriptor file_;
  bool regular_ = false;  ///< A file on a disk: it can be read, cut and renamed.
  std::uint64_t size_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t cycles_before_ = 0;
  std::string alarm_;
  std::string notice_;
};

}  // namespace makeway
