#include "page/sha256.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace makeway {
namespace {

constexpr std::size_t block_bytes = 64;
constexpr std::size_t rounds = 64;

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, rounds> round_constants = {
    0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5,
    0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174,
    0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA,
    0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967,
    0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85,
    0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070,
    0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3,
    0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2};

using Words = std::array<std::uint32_t, 8>;
/// The same of the square roots of the first eight.
constexpr Words first_words = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                               0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};

std::uint32_t word_at(std::string_view block, std::size_t index) {
  std::uint32_t word = 0;
  for (std::size_t at = 4 * index; at < 4 * index + 4; ++at) {
    word = (word << 8U) | static_cast<unsigned char>(block[at]);
  }
  return word;
}

std::array<std::uint32_t, rounds> schedule_of(std::string_view block) {
  std::array<std::uint32_t, rounds> schedule{};
  for (std::size_t at = 0; at < 16; ++at) schedule[at] = word_at(block, at);
  for (std::size_t at = 16; at < rounds; ++at) {
    const std::uint32_t before = schedule[at - 15];
    const std::uint32_t last = schedule[at - 2];
    schedule[at] = schedule[at - 16] + schedule[at - 7] +
                   (std::rotr(before, 7) ^ std::rotr(before, 18) ^ (before >> 3U)) +
                   (std::rotr(last, 17) ^ std::rotr(last, 19) ^ (last >> 10U));
  }
  return schedule;
}

void add_block(Words& words, std::string_view block) {
  const std::array<std::uint32_t, rounds> schedule = schedule_of(block);
  auto [a, b, c, d, e, f, g, h] = words;
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                ((e & f) ^ (~e & g)) + round_constants[round] + schedule[round];
    const std::uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const Words more = {a, b, c, d, e, f, g, h};
  for (std::size_t at = 0; at < words.size(); ++at) words[at] += more[at];
}

/// The last bytes, a one, zeros, and the length in bits.
std::string padded(std::string_view rest, std::uint64_t length_bytes) {
  std::string text(rest);
  text += '\x80';
  while (text.size() % block_bytes != block_bytes - 8) text += '\0';
  for (unsigned shift = 64; shift > 0; shift -= 8) {
    text += static_cast<char>((length_bytes * 8) >> (shift - 8));
  }
  return text;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t next = at; next < at + 3; ++next) {
      group = (group << 8U) | (next < bytes.size() ? static_cast<unsigned char>(bytes[next]) : 0U);
    }
    for (std::size_t digit = 0; digit < 4; ++digit) {
      const bool there = at + digit <= bytes.size();
      text += there ? digits[(group >> (18U - 6U * digit)) & 0x3FU] : '=';
    }
  }
  return text;
}

}  // namespace

std::string sha256_base64(std::string_view bytes) {
  Words words = first_words;
  std::string_view rest = bytes;
  for (; rest.size() >= block_bytes; rest.remove_prefix(block_bytes)) {
    add_block(words, rest.substr(0, block_bytes));
  }
  const std::string end = padded(rest, bytes.size());
  for (std::size_t at = 0; at < end.size(); at += block_bytes) {
    add_block(words, std::string_view(end).substr(at, block_bytes));
  }
  std::string digest;
  for (const std::uint32_t word : words) {
    for (const unsigned shift : {24U, 16U, 8U, 0U}) digest += static_cast<char>(word >> shift);
  }
  return base64(digest);
}

}  // namespace makeway
