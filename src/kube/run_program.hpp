// Runs a program, without a shell, and keeps what it says: bounded in time and in bytes.
//
// It has no standard input, and a process group of its own that is killed when the time is over, so
// that its children do not outlive it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace makeway::kube {

struct ProgramOrder {
  std::string command;  ///< A path, or a name that is looked for in PATH.
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  ///< Besides our own.
  Duration time_max{60'000};
  std::size_t bytes_max = std::size_t{1} << 20U;  ///< Of standard output.
};

struct ProgramResult {
  std::string out;
  std::string error;    ///< The first bytes of standard error.
  std::string failure;  ///< Why there is no exit status: "it took longer than 60s"; else empty.
  int status = -1;
};

ProgramResult run_program(const ProgramOrder& order);

}  // namespace makeway::kube
