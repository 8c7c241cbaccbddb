#include "page/sha256.hpp"

#include <openssl/evp.h>

#include <array>

#include "base/base64.hpp"
#include "base/check.hpp"

namespace makeway {

std::string sha256_base64(std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) == 1);
  return encode_base64(std::string(digest.begin(), digest.end()));
}

}  // namespace makeway
