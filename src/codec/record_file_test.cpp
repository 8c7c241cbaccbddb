// DESIGN (Control, Journal): records are whole or not there, whatever happens to the file.
#include "codec/record_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "codec/crc32c.hpp"

namespace makeway {
namespace {

using ReadRecords = std::vector<std::pair<int, std::string>>;

const ReadRecords& written_records() {
  static const ReadRecords records = {
      {1, "the first"}, {2, ""}, {3, std::string(300, 'x')}, {255, std::string("\0\n\xff", 3)}};
  return records;
}

std::string small_file() {
  std::string bytes = record_file_header("1.2.3");
  for (const auto& [type, text] : written_records()) {
    bytes += *pack_record(static_cast<std::uint8_t>(type), text);
  }
  return bytes;
}

struct ReadFile {
  ReadRecords records;
  FileEnd end = FileEnd::whole;
  std::uint64_t offset = 0;
  std::string error;  ///< Of the header.

  friend bool operator==(const ReadFile&, const ReadFile&) = default;
};

/// `window`: so many bytes at a time, or as many as are wanted.
ReadFile read_records(std::string_view bytes, std::size_t window) {
  constexpr std::size_t header_bytes = 64;
  ReadFile read;
  const std::size_t first = std::max(window, header_bytes);
  Result<RecordReader> reader = RecordReader::open(bytes.substr(0, first), first >= bytes.size());
  if (!reader) {
    read.error = reader.error().message;
    return read;
  }
  while (true) {
    const auto record = reader->next();
    if (!record && reader->wants() == 0) break;
    if (!record) {
      const std::size_t count = std::max<std::size_t>(window, reader->wants());
      reader->go_on(bytes.substr(reader->offset(), count),
                    reader->offset() + count >= bytes.size());
      continue;
    }
    const Result<std::string> text = unpack_record(*record);
    read.records.emplace_back(record->type, text ? *text : "cannot be unpacked");
  }
  read.end = reader->end();
  read.offset = reader->offset();
  return read;
}

/// However much of it is in memory at a time, the same is read.
ReadFile read_records(std::string_view bytes) {
  ReadFile whole = read_records(bytes, bytes.size());
  for (const std::size_t window : {1U, 40U, 100U}) EXPECT_EQ(read_records(bytes, window), whole);
  return whole;
}

bool is_prefix(const ReadRecords& part, const ReadRecords& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

TEST(Crc32cTest, KnownVectors) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c("6789", crc32c("12345")), 0xE3069283U);
  // Eight bytes at a time are the same as one after the other.
  std::string text;
  std::uint32_t one_by_one = 0;
  for (int byte = 0; byte < 100; ++byte) {
    text += static_cast<char>(byte * 37 + 11);
    one_by_one = crc32c(std::string_view(text).substr(text.size() - 1), one_by_one);
    EXPECT_EQ(crc32c(text), one_by_one) << byte;
  }
}

TEST(RecordFileTest, WhatIsWrittenIsRead) {
  const std::string bytes = small_file();
  const ReadFile read = read_records(bytes);
  EXPECT_EQ(read.records, written_records());
  EXPECT_EQ(read.end, FileEnd::whole);
  EXPECT_EQ(read.offset, bytes.size());
  EXPECT_EQ(RecordReader::open(bytes)->version(), "1.2.3");
}

TEST(RecordFileTest, CutAtAnyByteItReadsAsTheRecordsBefore) {
  const std::string bytes = small_file();
  std::size_t whole = 0;
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    SCOPED_TRACE(size);
    const ReadFile read = read_records(std::string_view(bytes).substr(0, size));
    EXPECT_EQ(read.error, "");
    EXPECT_TRUE(is_prefix(read.records, written_records()));
    EXPECT_NE(read.end, FileEnd::damaged);
    EXPECT_EQ(read.end == FileEnd::whole, read.offset == size && size > 0);
    if (read.end == FileEnd::whole) ++whole;
  }
  EXPECT_EQ(whole, written_records().size() + 1);
}

TEST(RecordFileTest, AnyFlippedByteIsNoticed) {
  const std::string bytes = small_file();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const unsigned flip : {0x01U, 0x80U, 0xFFU}) {
      SCOPED_TRACE(at);
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(static_cast<unsigned char>(flipped[at]) ^ flip);
      const ReadFile read = read_records(flipped);
      EXPECT_TRUE(is_prefix(read.records, written_records()));
      EXPECT_LT(read.records.size(), written_records().size());
      EXPECT_TRUE(!read.error.empty() || read.end != FileEnd::whole);
    }
  }
}

TEST(RecordFileTest, AFlippedLengthIsNoTornEnd) {
  std::string bytes = small_file();
  const std::size_t first_record = record_file_header("1.2.3").size();
  bytes[first_record + 2] = '\x7f';
  EXPECT_EQ(read_records(bytes).end, FileEnd::damaged);
  EXPECT_EQ(read_records(bytes).offset, first_record);
}

TEST(RecordFileTest, ZerosThatNeverReachedTheDiskAreATornEnd) {
  const std::string bytes = small_file();
  const ReadFile read = read_records(bytes + std::string(100, '\0'));
  EXPECT_EQ(read.records, written_records());
  EXPECT_EQ(read.end, FileEnd::torn);
  EXPECT_EQ(read.offset, bytes.size());
  EXPECT_EQ(read_records(bytes + std::string(100, '\0') + "x").end, FileEnd::damaged);
}

TEST(RecordFileTest, OtherFilesAreSaidToBeOthers) {
  EXPECT_EQ(read_records("apiVersion: v1").error, "it is no journal of makeway");
  std::string other = small_file();
  other[8] = 9;
  EXPECT_EQ(read_records(other).error, "its format is 9; this version reads format 1");
  other = small_file();
  other[17] = 'x';
  EXPECT_EQ(read_records(other).error, "its header is damaged");
}

TEST(RecordFileTest, AWrongSizeOfTheTextIsNotBelieved) {
  EXPECT_FALSE(unpack_record({.type = 1,
                              .body = std::string_view("\xff\xff\xff\x7f"
                                                       "abc",
                                                       7)}));
  EXPECT_FALSE(unpack_record({.type = 1, .body = "abc"}));
}

}  // namespace
}  // namespace makeway
