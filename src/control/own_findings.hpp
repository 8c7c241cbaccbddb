// OwnFindings: what there is to say about objects of our kinds in a live cluster, in the words of
// `makeway check`. It becomes the condition makeway.dev/Accepted of the object.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace makeway {

struct OwnFinding {
  /// Doubtful: it counts, and is probably a mistake. It cannot work: it counts, but without the
  /// effect that its author expects. In quarantine: it counts without what is wrong (law 13).
  enum class Level : std::uint8_t { doubtful, cannot_work, quarantined };
  Level level = Level::doubtful;
  std::string text;

  friend bool operator==(const OwnFinding&, const OwnFinding&) = default;
};

/// By "Queue research", or another name that their author chose.
using OwnFindings = std::map<std::string, OwnFinding>;

}  // namespace makeway
