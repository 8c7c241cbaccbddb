// SHA-256, for the policy of a page: which script and style a browser may use.
#pragma once

#include <string>
#include <string_view>

namespace makeway {

/// The digest of the bytes in base64, as Content-Security-Policy writes it. O(bytes).
std::string sha256_base64(std::string_view bytes);

}  // namespace makeway
