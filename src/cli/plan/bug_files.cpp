#include "cli/plan/bug_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "codec/descriptor.hpp"

namespace makeway::cli {
namespace {

/// Whether the whole text was written; else errno says why not.
bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// Whether an ordinary file, not a link to one, has exactly this text.
bool has_text(const std::string& name, std::string_view text) {
  const Descriptor file(::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) return false;
  struct stat status{};
  bool same = ::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode) &&
              static_cast<std::size_t>(status.st_size) == text.size();
  std::array<char, 1U << 14U> buffer{};
  while (same && !text.empty()) {
    const ssize_t count = ::read(file.number(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    same = count > 0 &&
           text.starts_with(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
    if (same) text.remove_prefix(static_cast<std::size_t>(count));
  }
  return same;
}

/// Writes a file that was not there; returns why that was impossible, 0 when it was not.
int write_new(const std::string& name, std::string_view text) {
  constexpr mode_t only_owner = S_IRUSR | S_IWUSR;
  const int descriptor =
      ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, only_owner);
  if (descriptor < 0) return errno;
  int failure = write_all(descriptor, text) ? 0 : errno;
  if (::close(descriptor) != 0 && failure == 0) failure = errno;
  if (failure != 0) ::unlink(name.c_str());  // Half a case reproduces nothing.
  return failure;
}

}  // namespace

BugFiles::Kept BugFiles::keep(std::string_view id, std::string_view text) {
  constexpr int names_max = 10;
  if (is_full()) return {};
  int failure = EEXIST;
  for (int number = 1; number <= names_max && failure == EEXIST; ++number) {
    const std::string name = number == 1 ? fmt::format("makeway-bug-{}.json", id)
                                         : fmt::format("makeway-bug-{}-{}.json", id, number);
    failure = write_new(name, text);
    if (failure == 0 || (failure == EEXIST && has_text(name, text))) {
      ++files_;
      return {.name = name, .failure = {}};
    }
  }
  return {.name = {}, .failure = std::generic_category().message(failure)};
}

}  // namespace makeway::cli
