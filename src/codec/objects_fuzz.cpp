// Any bytes, read as a manifest: an error or a cluster, never a crash. A cluster that was accepted
// dumps to a text that loads again and dumps to the same bytes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "codec/dump.hpp"
#include "codec/load.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const makeway::LoadResult first = makeway::load_text(text, "fuzz");
  CHECK(first.loaded.has_value() != makeway::has_errors(first.problems));
  if (!first.loaded) return 0;
  const std::string dump = makeway::dump(first.loaded->cluster, makeway::DumpFormat::json);
  const makeway::LoadResult second = makeway::load_text(dump, "dump");
  CHECK(second.loaded.has_value(), "a dump does not load");
  CHECK(makeway::dump(second.loaded->cluster, makeway::DumpFormat::json) == dump,
        "a dump changes when it is loaded");
  return 0;
}
