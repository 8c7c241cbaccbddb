// Whatever the bytes: parsing never crashes, both paths agree, and what was accepted is written as
// a text that parses to the same amount.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "codec/quantity.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using makeway::Scale;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto exact = makeway::parse_quantity_exact(text);
  for (const Scale scale : {Scale::one, Scale::milli}) {
    const auto amount = makeway::parse_quantity(text, scale);
    if (!amount) {
      CHECK(!amount.error().message.empty());
      continue;
    }
    CHECK(exact.has_value());
    CHECK(makeway::rounded_up(*exact, scale) == *amount);
    CHECK(makeway::parse_quantity(makeway::quantity_text(*amount, scale), scale) == *amount);
    CHECK(!makeway::human_bytes(*amount).empty());
  }
  return 0;
}
