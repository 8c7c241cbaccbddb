// The part of the completion scripts behind `--set`: knobs and their values, read off the table of
// knobs. Knobs whose values cannot be listed (integers, durations, texts) are offered without one.
#pragma once

#include <string>

namespace makeway::cli {

/// A function that offers the values of the knob $1 that begin with $2.
std::string bash_knob_values();

/// A function for the argument of --set.
std::string zsh_knob_values();

/// A function that prints what the current word may become.
std::string fish_knob_values();

}  // namespace makeway::cli
