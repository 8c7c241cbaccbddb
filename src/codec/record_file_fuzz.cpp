// Fuzzes the reader of record files: whatever the bytes are, reading ends, what it hands out is
// inside of the file, and what is written again reads as the same records.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "codec/record_file.hpp"

namespace {

constexpr std::size_t text_bytes_max = 1U << 20U;  // Enough to try, too little to fill the memory.

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  makeway::Result<makeway::RecordReader> reader = makeway::RecordReader::open(bytes);
  if (!reader) return 0;
  std::vector<std::string> texts;
  std::string again = makeway::record_file_header(reader->version());
  while (const auto record = reader->next()) {
    CHECK(record->body.data() >= bytes.data());
    CHECK(record->body.data() + record->body.size() <= bytes.data() + bytes.size());
    if (record->body.size() > text_bytes_max / 1'100) continue;
    const makeway::Result<std::string> text = makeway::unpack_record(*record);
    if (!text) continue;
    texts.push_back(*text);
    again += *makeway::pack_record(record->type, *text);
  }
  CHECK(reader->offset() <= size);
  makeway::Result<makeway::RecordReader> second = makeway::RecordReader::open(again);
  CHECK(second.has_value());
  for (const std::string& text : texts) {
    const auto record = second->next();
    CHECK(record.has_value());
    CHECK(*makeway::unpack_record(*record) == text);
  }
  CHECK(!second->next());
  CHECK(second->end() == makeway::FileEnd::whole);
  return 0;
}
