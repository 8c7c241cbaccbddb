// Sandbox: a folder of its own in which command lines run, in process.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace makeway {

struct RunResult {
  std::string out;
  std::string error;
  int status = 0;
};

/// The working folder of the process while it lives; removed with everything in it afterwards.
class Sandbox {
 public:
  Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;
  ~Sandbox();

  void write(std::string_view name, std::string_view text) const;
  /// "makeway ARGUMENTS [> FILE]", "makeway ARGUMENTS | show [PATH...]" (folded_json.hpp) or "same
  /// FILE FILE"; anything else fails.
  RunResult run(std::string_view line) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path before_;
  std::filesystem::path folder_;
};

std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, std::string_view text);

/// Words as a shell would split them, with quotes and without anything else.
std::vector<std::string> split_words(std::string_view line);

/// From ctest; a program started by hand searches the parent folders of the current one.
std::filesystem::path repository_root();

/// MAKEWAY_REWRITE=1: expectations are written instead of compared.
bool rewriting();

/// Lines without their newline; a last one that is not ended counts too.
std::vector<std::string> lines_in(std::string_view text);

}  // namespace makeway
