// The process: real streams, signals and the exit status. Everything else is a library.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/run.hpp"
#include "cli/tty_screen.hpp"

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
  void flush() override { finish(); }
  bool is_closed() const override { return failure_ != 0; }
  int finish() {
    if (std::fflush(file_) != 0 && failure_ == 0) failure_ = errno;
    return failure_;
  }

 private:
  std::FILE* file_;
  FileSink* before_;
  int failure_ = 0;
};

/// A user at a keyboard.
class Keyboard final : public makeway::cli::LineInput {
 public:
  std::optional<std::string> line(makeway::Duration at_most) override {
    // A terminal gives whole lines.
    constexpr std::size_t line_max = 1'000;
    pollfd waits{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (::poll(&waits, 1, static_cast<int>(at_most.ms)) <= 0) return std::nullopt;
    std::array<char, line_max> typed{};
    const ssize_t got = ::read(STDIN_FILENO, typed.data(), typed.size());
    if (got < 0 && errno == EINTR) return std::nullopt;
    const std::string_view text(typed.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    return std::string(text.substr(0, text.find('\n')));
  }
};

/// Empty where it is not set.
std::string_view variable(const char* name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread starts
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

/// Whether a locale is set and it is none of UTF-8.
bool is_ascii_only() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = variable(name);
    if (locale.empty()) continue;
    return !locale.contains("UTF-8") && !locale.contains("utf8") && !locale.contains("utf-8");
  }
  return false;
}

/// 0: not set. A screen narrower than forty columns shows no table anyway.
std::size_t columns() {
  constexpr std::size_t columns_min = 40;
  constexpr std::size_t columns_max = 1'000;
  const std::string_view text = variable("COLUMNS");
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number == 0) return 0;
  return std::clamp(number, columns_min, columns_max);
}

/// `kubectl makeway` looks for a program of that name in PATH; a link to makeway is enough.
makeway::kube::KubeEnvironment kube_environment(std::string_view program) {
  makeway::kube::KubeEnvironment environment;
  environment.kubeconfig = variable("KUBECONFIG");
  environment.home = variable("HOME");
  environment.service_host = variable("KUBERNETES_SERVICE_HOST");
  environment.service_port = variable("KUBERNETES_SERVICE_PORT");
  environment.is_plugin = program.substr(program.rfind('/') + 1) == "kubectl-makeway";
  return environment;
}

int run(std::string_view program, const std::vector<std::string>& arguments) {
  FileSink out(stdout);
  FileSink error(stderr, &out);
  Keyboard keyboard;
  makeway::cli::TtyScreen screen;
  // A dumb terminal shows neither colours nor a line that overwrites itself.
  const bool dumb = variable("TERM") == "dumb";
  const bool out_is_terminal = isatty(STDOUT_FILENO) == 1 && !dumb;
  const bool in_is_terminal = isatty(STDIN_FILENO) == 1;
  makeway::cli::Terminal terminal{.out = out,
                                  .error = error,
                                  .out_is_terminal = out_is_terminal,
                                  .error_is_terminal = isatty(STDERR_FILENO) == 1 && !dumb,
                                  .colour_refused = !variable("NO_COLOR").empty() || dumb,
                                  .ascii_only = is_ascii_only(),
                                  .columns = columns(),
                                  .kube = kube_environment(program),
                                  .input = in_is_terminal ? &keyboard : nullptr,
                                  .screen = in_is_terminal && out_is_terminal ? &screen : nullptr};
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
  // A file that may not grow any more is a write that fails.
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
  try {
    const std::string_view program = argument_count > 0 ? arguments[0] : "";
    return run(program, std::vector<std::string>(arguments + (argument_count > 0 ? 1 : 0),
                                                 arguments + argument_count));
  } catch (const std::exception&) {
    // Exceptions of a command were reported already; this one was thrown before the command.
    std::fputs("makeway: out of memory\n", stderr);
  }
  return static_cast<int>(makeway::cli::ExitStatus::failed);
}
