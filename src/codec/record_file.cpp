#include "codec/record_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <limits>

#include "base/check.hpp"
#include "base/printable.hpp"
#include "codec/crc32c.hpp"

namespace makeway {
namespace {

constexpr std::string_view file_magic = "makewayJ";
constexpr std::size_t number_bytes = 4;
constexpr std::size_t version_bytes_max = 255;
constexpr std::size_t header_fixed_bytes = file_magic.size() + 2 * number_bytes;
constexpr std::size_t record_head_bytes = 3 * number_bytes + 1;
/// zlib packs at most 1,032 to 1; a size beyond that was not written by us.
constexpr std::uint64_t packing_ratio_max = 1'100;
constexpr std::uint64_t tiny_text = 64;

void append_number(std::string& bytes, std::uint32_t number) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    bytes += static_cast<char>((number >> shift) & 0xFFU);
  }
}

/// The bytes are there.
std::uint32_t number_at(std::string_view bytes, std::uint64_t at) {
  std::uint32_t number = 0;
  for (unsigned byte = 0; byte < number_bytes; ++byte) {
    number |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + byte]))
              << (8 * byte);
  }
  return number;
}

std::string sum_of_head(std::uint32_t length, std::uint8_t type) {
  std::string head;
  append_number(head, length);
  head += static_cast<char>(type);
  std::string sum;
  append_number(sum, crc32c(head));
  return sum;
}

bool is_all_zero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace

std::string record_file_header(std::string_view version) {
  CHECK(version.size() <= version_bytes_max);
  std::string header(file_magic);
  append_number(header, record_file_format);
  append_number(header, static_cast<std::uint32_t>(version.size()));
  header += version;
  append_number(header, crc32c(header));
  return header;
}

Result<std::string> pack_record(std::uint8_t type, std::string_view text) {
  if (text.size() > std::numeric_limits<std::uint32_t>::max() / 2) {
    return input_error(fmt::format("a record of {} bytes is too large", text.size()));
  }
  std::string body;
  append_number(body, static_cast<std::uint32_t>(text.size()));
  uLongf packed = compressBound(text.size());
  body.resize(number_bytes + packed);
  const int status =
      compress2(reinterpret_cast<Bytef*>(body.data() + number_bytes), &packed,
                reinterpret_cast<const Bytef*>(text.data()), text.size(), Z_BEST_SPEED);
  CHECK(status == Z_OK, "zlib had room and memory");
  body.resize(number_bytes + packed);
  std::string record;
  record.reserve(record_head_bytes + body.size());
  const auto length = static_cast<std::uint32_t>(body.size());
  append_number(record, length);
  record += sum_of_head(length, type);
  append_number(record, crc32c(body));
  record += static_cast<char>(type);
  record += body;
  return record;
}

Result<std::string> unpack_record(const PackedRecord& record) {
  const auto broken = [&] {
    return input_error(fmt::format("the record at byte {} cannot be unpacked", record.offset));
  };
  if (record.body.size() < number_bytes) return broken();
  const std::uint64_t size = number_at(record.body, 0);
  const std::string_view packed = record.body.substr(number_bytes);
  if (size > packed.size() * packing_ratio_max + tiny_text) return broken();
  std::string text(size, '\0');
  uLongf unpacked = size;
  // zlib wants a place to write to, also for nothing.
  char nothing = 0;
  char* const to = text.empty() ? &nothing : text.data();
  const int status = uncompress(reinterpret_cast<Bytef*>(to), &unpacked,
                                reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  if (status != Z_OK || unpacked != size) return broken();
  return text;
}

Result<RecordReader> RecordReader::open(std::string_view bytes, bool is_whole) {
  RecordReader reader(bytes, is_whole);
  const auto torn = [&] {
    reader.end_ = FileEnd::torn;
    return reader;
  };
  const std::string_view magic = bytes.substr(0, file_magic.size());
  if (magic != file_magic.substr(0, magic.size())) {
    return input_error("it is no journal of makeway");
  }
  if (bytes.size() < file_magic.size() + number_bytes) return torn();
  const std::uint32_t format = number_at(bytes, file_magic.size());
  if (format != record_file_format) {
    return input_error(
        fmt::format("its format is {}; this version reads format {}", format, record_file_format));
  }
  if (bytes.size() < header_fixed_bytes) return torn();
  const std::uint64_t length = number_at(bytes, file_magic.size() + number_bytes);
  if (length > version_bytes_max) return input_error("its header is damaged");
  const std::uint64_t end = header_fixed_bytes + length;
  if (bytes.size() < end + number_bytes) return torn();
  if (number_at(bytes, end) != crc32c(bytes.substr(0, end))) {
    return input_error("its header is damaged");
  }
  reader.version_ = bytes.substr(header_fixed_bytes, length);
  reader.offset_ = end + number_bytes;
  return reader;
}

std::optional<PackedRecord> RecordReader::want(std::uint64_t bytes) {
  wants_ = bytes;
  return std::nullopt;
}

void RecordReader::go_on(std::string_view bytes, bool reaches_end) {
  bytes_ = bytes;
  origin_ = offset_;
  reaches_end_ = reaches_end;
  wants_ = 0;
}

std::optional<PackedRecord> RecordReader::stop(FileEnd end) {
  // Zeros up to the end: the file grew, and what was to stand there never reached the disk.
  const std::string_view rest = bytes_.substr(offset_ - origin_);
  const bool is_zero = end == FileEnd::damaged && is_all_zero(rest);
  if (is_zero && !reaches_end_) return want(2 * rest.size());
  end_ = is_zero ? FileEnd::torn : end;
  return std::nullopt;
}

std::optional<PackedRecord> RecordReader::next() {
  if (offset_ == 0) return std::nullopt;
  const bool is_beyond = offset_ - origin_ > bytes_.size();
  const std::string_view rest = is_beyond ? std::string_view{} : bytes_.substr(offset_ - origin_);
  if (!reaches_end_ && rest.size() < record_head_bytes) return want(record_head_bytes);
  if (is_beyond) {
    end_ = FileEnd::torn;  // The file has become shorter.
    return std::nullopt;
  }
  if (rest.empty()) return stop(FileEnd::whole);
  if (rest.size() < record_head_bytes) return stop(FileEnd::torn);
  const std::uint32_t length = number_at(rest, 0);
  const auto type = static_cast<std::uint8_t>(rest[record_head_bytes - 1]);
  if (rest.substr(number_bytes, number_bytes) != sum_of_head(length, type)) {
    return stop(FileEnd::damaged);
  }
  if (rest.size() - record_head_bytes < length) {
    if (!reaches_end_) return want(record_head_bytes + std::uint64_t{length});
    return stop(FileEnd::torn);
  }
  const std::string_view body = rest.substr(record_head_bytes, length);
  if (number_at(rest, 2 * number_bytes) != crc32c(body)) return stop(FileEnd::damaged);
  const PackedRecord record{.type = type, .body = body, .offset = offset_};
  offset_ += record_head_bytes + length;
  return record;
}

}  // namespace makeway
