// Knobs that were there once: what replaces each of them.
//
// A document or `--set` that names one is refused with that answer. A journal is the exception: its
// configuration was recorded by a program that had the knob (codec/recorded_configuration.hpp).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/problem.hpp"

namespace makeway {

struct RemovedKnob {
  std::string_view path;
  /// The only value that this program knows. Empty: the value had no effect on decisions.
  std::string_view value;
  std::string_view replacement;  ///< "the order is fixed"
};

/// Those that became constants or disappeared. Rules of bundles are in model/compatibility.hpp.
std::span<const RemovedKnob> removed_knobs();

/// A knob of the old section `trust`, of which `trust.mode` now selects all values together.
struct RemovedTrustKnob {
  std::string_view path;
  std::string_view files;
  std::string_view cluster;
};
std::span<const RemovedTrustKnob> removed_trust_knobs();

/// Why the path is not a knob any more and what to do instead; nothing when it never was one.
std::optional<Problem> removed_knob_problem(std::string_view path, std::string_view value);

}  // namespace makeway
