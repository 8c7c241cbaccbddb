// The value inside a Result is reached only by asking for it.
#include "base/time.hpp"

namespace makeway {

Time start(std::string_view text) {
  const Result<Time> parsed = parse_time(text);
#ifdef MUST_FAIL
  return parsed;
#else
  return parsed.value_or(Time{});
#endif
}

}  // namespace makeway
