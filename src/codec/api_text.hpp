// What a Kubernetes API server wraps around objects: pages of lists, and lines of watches.
//
// Only the wrapping is read here; the objects are for the decoders (decode.hpp), which take the
// same text. A wrong text is a problem: broken JSON, no list, an event without an object.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/problem.hpp"
#include "codec/source.hpp"

namespace makeway {

/// {"kind":"PodList","metadata":{"resourceVersion":"7","continue":"..."},"items":[...]}
struct ListPage {
  std::string kind;
  std::string resource_version;
  std::string continue_token;                     ///< Empty: it is the last page.
  std::set<std::string, std::less<>> item_kinds;  ///< Where items say it; mostly they do not.

  /// All items may be of this kind.
  bool holds_only(std::string_view kind_of_items) const {
    return item_kinds.empty() || (item_kinds.size() == 1 && item_kinds.contains(kind_of_items));
  }
};

/// The problem has no origin and no object: the caller knows which server it asked.
std::expected<ListPage, Problem> read_list_page(const PaddedText& text);

enum class WatchEventType : std::uint8_t { added, modified, deleted, bookmark, error };

/// {"type":"ADDED","object":{...}}
struct WatchEvent {
  WatchEventType type = WatchEventType::error;
  std::string_view object;  ///< As JSON, inside the line, with the line's padding behind it.
  std::string kind;
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string resource_version;
  bool ends_initial_events = false;  ///< A bookmark behind everything that was there at first.
};

std::expected<WatchEvent, Problem> read_watch_event(const PaddedText& line);

}  // namespace makeway
