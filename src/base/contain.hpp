// What failed inside of a piece of work, for a caller that goes on without its result (law 14).
#pragma once

#include <exception>
#include <new>
#include <optional>
#include <string>

#include "base/check.hpp"

namespace makeway {

/// What a failed CHECK, or another exception, said; none: the work was done. Out of memory is not
/// a bug of ours and passes through: the caller that gave us the input must learn of it.
template <class Work>
std::optional<std::string> failure_of(Work&& work) {
  try {
    const CheckContainment contained;
    work();
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& failed) {
    return failed.what();
  }
}

}  // namespace makeway
