// JournalFileReader: the packed records of one file of a journal, a window of it in memory at a
// time. The file may be written and renamed meanwhile: what it had when it was opened, or looked at
// again, is read.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "codec/descriptor.hpp"
#include "codec/record_file.hpp"

namespace makeway {

/// The same file, whatever it is called by now.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t number = 0;

  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

/// A journal's files that are there, oldest first: FILE.2, FILE.1, FILE. At least FILE.
std::vector<std::string> journal_paths(const std::string& path);

class JournalFileReader {
 public:
  static constexpr std::uint64_t standard_window = std::uint64_t{4} << 20U;

  /// `window`: so many bytes are read at once, more where a record is larger.
  static Result<JournalFileReader> open(const std::string& path,
                                        std::uint64_t window = standard_window);

  /// Until the next call. None: the end. An error: the file cannot be read.
  Result<std::optional<PackedRecord>> next();
  /// What was written since can be read, too. An error: the file cannot be read.
  std::optional<Error> look_again();
  /// A record begins there.
  void skip_to(std::uint64_t offset) { reader_->skip_to(offset); }
  /// What stands there; shorter where the file ends.
  Result<std::string> bytes_at(std::uint64_t offset, std::uint64_t count) const;

  /// Of the next record; at the end, behind the last whole one.
  std::uint64_t offset() const { return reader_->offset(); }
  FileEnd end() const { return reader_->end(); }
  const std::string& version() const { return reader_->version(); }
  std::uint64_t size() const { return size_; }
  FileIdentity identity() const { return identity_; }

 private:
  explicit JournalFileReader(std::string path) : path_(std::move(path)) {}
  std::optional<Error> open_file();
  /// None: what is there from that place on, up to so many bytes, is in the window.
  std::optional<Error> load(std::uint64_t offset, std::uint64_t count);
  bool reaches_end(std::uint64_t offset) const;

  std::string path_;
  Descriptor file_;  ///< None: all of it is in the window.
  std::uint64_t window_ = standard_window;
  std::uint64_t size_ = 0;
  FileIdentity identity_;
  std::unique_ptr<std::string> bytes_;  ///< Does not move when this does: `reader_` looks at it.
  std::optional<RecordReader> reader_;
};

}  // namespace makeway
