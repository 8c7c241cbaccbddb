// BugFiles: the files of one run in which cases are kept that show a bug of ours.
//
// A case holds what scheduling reads of a cluster, and a run may stand in a folder where others
// write. So a file is always new (never through a link, never over something that is there), only
// its owner may read it, and a run leaves at most ten. A case that was kept before, byte for byte,
// is not kept again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace makeway::cli {

class BugFiles {
 public:
  static constexpr std::size_t files_max = 10;

  struct Kept {
    std::string name;     ///< In the current folder; empty: it is not kept.
    std::string failure;  ///< Why it could not be written; empty: there are enough already.
  };

  /// Keeps a case as makeway-bug-<id>.json, or with a number where that name is taken.
  Kept keep(std::string_view id, std::string_view text);
  bool is_full() const { return files_ == files_max; }

 private:
  std::size_t files_ = 0;
};

}  // namespace makeway::cli
