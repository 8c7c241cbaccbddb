// What must not travel in a header or a URL.
#pragma once

#include <algorithm>
#include <string_view>

namespace makeway::kube {

/// Whether it must not go into a header or a URL.
inline bool has_controls(std::string_view text) {
  return std::ranges::any_of(text, [](char byte) { return byte >= 0 && byte < ' '; });
}

}  // namespace makeway::kube
