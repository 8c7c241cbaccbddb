// Any bytes, read as a line of a batch: a case or problems, never a crash, and never both.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "codec/batch_line.hpp"
#include "codec/writer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string line(reinterpret_cast<const char*>(data), size);
  const std::string before = line;
  const makeway::BatchReading reading = makeway::read_batch_line(line);
  CHECK(line == before, "reading changed the line");
  CHECK(reading.item.has_value() == reading.problems.empty());
  std::string echo;
  makeway::JsonWriter writer(echo, makeway::JsonStyle::compact);
  write_value(reading.id, writer);
  if (!reading.item) return 0;
  CHECK(!reading.item->snapshot.empty());
  const char* const begin = reading.item->snapshot.data();
  CHECK(begin >= line.data(), "the snapshot begins before the line");
  CHECK(begin + reading.item->snapshot.size() <= line.data() + line.size(),
        "the snapshot ends after the line");
  return 0;
}
