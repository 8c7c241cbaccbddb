// Notes about documents of a manifest that do not count: kinds that are not read, and workloads
// that make no pods. Each document is named, so that its author finds it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codec/load.hpp"

namespace makeway::cli {

/// "the manifest, document 2 (line 9): example.com/v1 Foo default/a: this kind asks for no room
/// here and is left out". `text` is what `loaded` was made from.
std::vector<std::string> unread_notes(std::string_view text, const Loaded& loaded);

/// Why the manifest has no asks, and which kinds would be asks.
std::string no_asks_text(std::string_view text, const Loaded& loaded);

}  // namespace makeway::cli
