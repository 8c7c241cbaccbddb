#include "base/result.hpp"

#include "base/check.hpp"

namespace makeway {

std::string_view next_move(ErrorCode code) {
  switch (code) {
    case ErrorCode::fix_input: return "fix the input";
    case ErrorCode::fix_usage: return "see --help";
    case ErrorCode::retry: return "try again later";
    case ErrorCode::new_snapshot: return "observe the cluster again";
  }
  CHECK(false, "unknown error code");
}

}  // namespace makeway
