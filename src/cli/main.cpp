// The process: real streams, signals and the exit status. Everything else is a library.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/run.hpp"

namespace {

/// A stream that remembers its first failure instead of dying from it.
class FileSink final : public makeway::cli::TextSink {
 public:
  /// What was written to `before` comes first, also where both go to the same place.
  explicit FileSink(std::FILE* file, FileSink* before = nullptr) : file_(file), before_(before) {}

  void write(std::string_view text) override {
    if (before_ != nullptr && !text.empty()) before_->finish();
    if (failure_ != 0) return;
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) failure_ = errno;
  }
  int finish() {
    if (std::fflush(file_) != 0 && failure_ == 0) failure_ = errno;
    return failure_;
  }

 private:
  std::FILE* file_;
  FileSink* before_;
  int failure_ = 0;
};

bool is_set(const char* name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread starts
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

int run(std::vector<std::string> arguments) {
  FileSink out(stdout);
  FileSink error(stderr, &out);
  makeway::cli::Terminal terminal{.out = out,
                                  .error = error,
                                  .out_is_terminal = isatty(STDOUT_FILENO) == 1,
                                  .error_is_terminal = isatty(STDERR_FILENO) == 1,
                                  .colour_refused = is_set("NO_COLOR")};
  const makeway::cli::ExitStatus status = makeway::cli::run(arguments, terminal);
  const int failure = out.finish();
  // A reader that closed the pipe has seen what it wanted, as with `| head`.
  if (failure == 0 || failure == EPIPE) return static_cast<int>(status);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread is left
  error.write(std::string("makeway: cannot write the output: ") + std::strerror(failure) + "\n");
  return static_cast<int>(makeway::cli::ExitStatus::failed);
}

}  // namespace

int main(int argument_count, char** arguments) {
  // A closed pipe is an ordinary write error; it must not kill the process half-way.
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  try {
    return run(std::vector<std::string>(arguments + (argument_count > 0 ? 1 : 0),
                                        arguments + argument_count));
  } catch (const std::bad_alloc&) {
    std::fputs("makeway: out of memory\n", stderr);
  } catch (const std::exception& failure) {
    std::fputs("makeway: ", stderr);
    std::fputs(failure.what(), stderr);
    std::fputs("\n", stderr);
  }
  return static_cast<int>(makeway::cli::ExitStatus::failed);
}
