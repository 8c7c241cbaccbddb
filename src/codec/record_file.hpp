// Record files: a header, then records that are whole or not there.
//
//   header:  "makewayJ", format (4 bytes), length of the version (4), the version, CRC32C (4)
//   record:  length of the body (4), CRC32C of length and type (4), CRC32C of the body (4),
//            type (1), body: size of the text (4), the text packed with zlib
//
// Numbers are little-endian. Reading ends at the first record that is not whole: the records before
// it are exactly those that were written. A process that dies while it writes leaves a beginning of
// a record, or zeros where a file system was late: that is a torn end, and a writer may go on in
// its place. Anything else is damage. The length has a sum of its own, so that a flipped length is
// never taken for a torn end, which would throw away everything behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace makeway {

inline constexpr std::uint32_t record_file_format = 1;

/// `version`: of the program that writes, at most 255 bytes.
std::string record_file_header(std::string_view version);

/// A whole record. An error: the text is larger than a record can be.
Result<std::string> pack_record(std::uint8_t type, std::string_view text);

struct PackedRecord {
  std::uint8_t type = 0;
  std::string_view body;
  std::uint64_t offset = 0;  ///< Where it begins in the file.
};

/// The text of a whole record.
Result<std::string> unpack_record(const PackedRecord& record);

enum class FileEnd : std::uint8_t {
  whole,    ///< After a whole record, or right after the header.
  torn,     ///< In the middle of a record or of the header: what comes is missing.
  damaged,  ///< What is there is not what was written.
};

/// Reads a file that is in memory, or one window of it after the other.
class RecordReader {
 public:
  /// The bytes of a file, or its beginning (a kilobyte or more) where `is_whole` is false; they
  /// outlive it. An error says what is wrong with the header; one that is torn is none, there are
  /// just no records.
  static Result<RecordReader> open(std::string_view bytes, bool is_whole = true);

  /// None: the end, see below, or more is wanted.
  std::optional<PackedRecord> next();

  /// So many bytes from `offset` on are needed for what comes next; 0: the end was reached.
  std::uint64_t wants() const { return wants_; }
  /// The bytes from `offset` on, as many as were wanted or all that there are.
  void go_on(std::string_view bytes, bool reaches_end);
  /// A record begins there, behind the header.
  void skip_to(std::uint64_t offset) { offset_ = offset; }

  /// Once there is no next record.
  FileEnd end() const { return end_; }
  /// The end of the last whole record, or of the header; 0: the header itself is torn.
  std::uint64_t offset() const { return offset_; }
  const std::string& version() const { return version_; }

 private:
  RecordReader(std::string_view bytes, bool is_whole) : bytes_(bytes), reaches_end_(is_whole) {}
  std::optional<PackedRecord> stop(FileEnd end);
  std::optional<PackedRecord> want(std::uint64_t bytes);

  std::string_view bytes_;
  std::uint64_t origin_ = 0;  ///< Where they begin in the file.
  bool reaches_end_ = true;   ///< They go to the file's end.
  std::uint64_t wants_ = 0;
  std::string version_;
  std::uint64_t offset_ = 0;
  FileEnd end_ = FileEnd::whole;
};

}  // namespace makeway
