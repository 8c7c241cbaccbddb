#include "codec/crc32c.hpp"

#include <array>

namespace makeway {
namespace {

constexpr std::uint32_t polynomial_reflected = 0x82F63B78U;

consteval std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) {
      rest = (rest & 1U) != 0 ? (rest >> 1U) ^ polynomial_reflected : rest >> 1U;
    }
    table.at(byte) = rest;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> crc_table = make_crc_table();

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  std::uint32_t rest = ~before;
  for (const char byte : bytes) {
    rest = (rest >> 8U) ^ crc_table[(rest ^ static_cast<unsigned char>(byte)) & 0xFFU];
  }
  return ~rest;
}

}  // namespace makeway
