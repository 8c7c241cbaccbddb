// Runs a command of the shell for a test and keeps what it said.
#pragma once

#include <string>

namespace makeway {

struct ShellResult {
  std::string out;
  int status = -1;  ///< -1: it did not start, or did not end by itself.
};

ShellResult run_shell(const std::string& command);

}  // namespace makeway
