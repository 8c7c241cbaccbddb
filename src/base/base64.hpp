// Base64 (RFC 4648) as kubeconfig files hold certificates: padded, blanks and line ends allowed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace makeway {

std::string encode_base64(std::string_view bytes);

/// None: it is no base64.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace makeway
