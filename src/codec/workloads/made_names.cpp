#include "codec/workloads/made_names.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "base/check.hpp"

namespace makeway {
namespace {

/// Those of Kubernetes, in the order of their bytes.
constexpr std::string_view suffix_letters = "2456789bcdfghjklmnpqrstvwxz";
constexpr std::string_view hash_letters = "456789bcdf";
constexpr std::size_t base_max = 58;
constexpr std::size_t suffix_length = 5;

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
  std::array<unsigned char, 20> digest{};
  CHECK(EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha1(), nullptr) == 1);
  std::string digits;
  for (const unsigned char byte : digest) digits += fmt::format("{:02x}", byte);
  return digits;
}

std::string made_uid(std::string_view object) {
  const std::string digits = sha1_text(object);
  const std::string_view all = digits;
  return fmt::format("{}-{}-{}-{}-{}", all.substr(0, 8), all.substr(8, 4), all.substr(12, 4),
                     all.substr(16, 4), all.substr(20, 12));
}

}  // namespace makeway
