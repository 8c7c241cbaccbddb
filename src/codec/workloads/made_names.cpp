#include "codec/workloads/made_names.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

namespace makeway {
namespace {

/// Those of Kubernetes, in the order of their bytes.
constexpr std::string_view suffix_letters = "2456789bcdfghjklmnpqrstvwxz";
constexpr std::string_view hash_letters = "456789bcdf";
constexpr std::size_t base_max = 58;
constexpr std::size_t suffix_length = 5;

using Sha1State = std::array<std::uint32_t, 5>;

std::uint32_t sha1_word(const std::array<std::uint32_t, 80>& words, std::size_t at) {
  return std::rotl(words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16], 1);
}

/// One block of 64 bytes, as RFC 3174 says.
void add_block(std::string_view block, Sha1State& state) {
  std::array<std::uint32_t, 80> words{};
  for (std::size_t at = 0; at < 64; ++at) {
    words[at / 4] = (words[at / 4] << 8U) | static_cast<unsigned char>(block[at]);
  }
  for (std::size_t at = 16; at < words.size(); ++at) words[at] = sha1_word(words, at);
  auto [a, b, c, d, e] = state;
  for (std::size_t at = 0; at < words.size(); ++at) {
    std::uint32_t mixed = 0;
    if (at < 20) {
      mixed = ((b & c) | (~b & d)) + 0x5a827999U;
    } else if (at < 40) {
      mixed = (b ^ c ^ d) + 0x6ed9eba1U;
    } else if (at < 60) {
      mixed = ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcU;
    } else {
      mixed = (b ^ c ^ d) + 0xca62c1d6U;
    }
    const std::uint32_t next = std::rotl(a, 5) + mixed + e + words[at];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

}  // namespace

std::string with_suffix(std::string_view base, std::uint32_t number) {
  std::string suffix(suffix_length, suffix_letters.front());
  for (std::size_t at = suffix_length; at-- > 0;) {
    suffix[at] = suffix_letters[number % suffix_letters.size()];
    number /= static_cast<std::uint32_t>(suffix_letters.size());
  }
  return std::string(base.substr(0, base_max)) + suffix;
}

std::string template_hash(std::string_view template_text) {
  std::uint32_t hash = 2166136261U;
  for (const char byte : template_text) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 16777619U;
  }
  std::string letters = fmt::format("{:010}", hash);
  for (char& letter : letters) letter = hash_letters[static_cast<std::size_t>(letter - '0')];
  return letters;
}

std::string sha1_text(std::string_view text) {
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (unsigned shift = 64; shift > 0; shift -= 8) {
    padded += static_cast<char>((bits >> (shift - 8)) & 0xffU);
  }
  Sha1State state = {0x67452301U, 0xefcdab89U, 0x98badcfeU, 0x10325476U, 0xc3d2e1f0U};
  for (std::size_t at = 0; at < padded.size(); at += 64) {
    add_block(std::string_view(padded).substr(at, 64), state);
  }
  std::string digits;
  for (const std::uint32_t word : state) digits += fmt::format("{:08x}", word);
  return digits;
}

std::string made_uid(std::string_view object) {
  const std::string digits = sha1_text(object);
  const std::string_view all = digits;
  return fmt::format("{}-{}-{}-{}-{}", all.substr(0, 8), all.substr(8, 4), all.substr(12, 4),
                     all.substr(16, 4), all.substr(20, 12));
}

}  // namespace makeway
