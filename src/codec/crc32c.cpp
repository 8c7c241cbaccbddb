#include "codec/crc32c.hpp"

#include <array>

namespace makeway {
namespace {

constexpr std::uint32_t polynomial_reflected = 0x82F63B78U;

constexpr std::size_t step_bytes = 8;
using CrcTable = std::array<std::uint32_t, 256>;

/// Table n says what a byte does to the sum when n bytes come after it: so the eight bytes of a
/// step are looked up beside each other, which is several times as fast as one after the other.
consteval std::array<CrcTable, step_bytes> make_crc_tables() {
  std::array<CrcTable, step_bytes> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) {
      rest = (rest & 1U) != 0 ? (rest >> 1U) ^ polynomial_reflected : rest >> 1U;
    }
    tables[0][byte] = rest;
  }
  for (std::size_t after = 1; after < step_bytes; ++after) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t rest = tables[after - 1][byte];
      tables[after][byte] = (rest >> 8U) ^ tables[0][rest & 0xFFU];
    }
  }
  return tables;
}

constexpr std::array<CrcTable, step_bytes> crc_tables = make_crc_tables();

std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

std::uint32_t after_step(std::uint32_t rest, std::string_view bytes) {
  for (std::size_t byte = 0; byte < 4; ++byte) rest ^= byte_at(bytes, byte) << (8 * byte);
  std::uint32_t next = 0;
  for (std::size_t byte = 0; byte < 4; ++byte) {
    next ^= crc_tables[step_bytes - 1 - byte][(rest >> (8 * byte)) & 0xFFU];
    next ^= crc_tables[step_bytes - 5 - byte][byte_at(bytes, byte + 4)];
  }
  return next;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  std::uint32_t rest = ~before;
  for (; bytes.size() >= step_bytes; bytes.remove_prefix(step_bytes))
    rest = after_step(rest, bytes);
  for (const char byte : bytes) {
    rest = (rest >> 8U) ^ crc_tables[0][(rest ^ static_cast<unsigned char>(byte)) & 0xFFU];
  }
  return ~rest;
}

}  // namespace makeway
