#include "journal/journal_file_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "journal/journal_file.hpp"
#include "journal/journal_reader.hpp"

namespace makeway {
namespace {

constexpr std::uint32_t rotated_files_max = 10'000;
constexpr std::uint64_t window_min = 1'024;  // A header fits.

Error unreadable(const std::string& path, int error) {
  return {.message = fmt::format("{}: {}", path, std::generic_category().message(error))};
}

bool is_readable(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

}  // namespace

std::vector<std::string> journal_paths(const std::string& path) {
  std::vector<std::string> paths;
  std::uint32_t missing = 0;
  // A process that dies between two renames leaves one number out.
  for (std::uint32_t number = 1; number <= rotated_files_max && missing < 2; ++number) {
    const std::string each = rotated_path(path, number);
    missing = is_readable(each) ? 0 : missing + 1;
    if (missing == 0) paths.push_back(each);
  }
  std::ranges::reverse(paths);
  if (paths.empty() || is_readable(path)) paths.push_back(path);
  return paths;
}

/// What is no file on a disk cannot be read from the middle: all of it is kept.
std::optional<Error> JournalFileReader::open_file() {
  struct stat status = {};
  if (stat(path_.c_str(), &status) != 0) return unreadable(path_, errno);
  bytes_ = std::make_unique<std::string>();
  if (!S_ISREG(status.st_mode)) {
    Result<std::string> all = read_journal_bytes(path_);
    if (!all) return all.error();
    *bytes_ = *std::move(all);
    size_ = bytes_->size();
    return std::nullopt;
  }
  file_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file_.is_open() || fstat(file_.number(), &status) != 0) return unreadable(path_, errno);
  size_ = static_cast<std::uint64_t>(status.st_size);
  identity_ = {.device = status.st_dev, .number = status.st_ino};
  return load(0, window_);
}

bool JournalFileReader::reaches_end(std::uint64_t offset) const {
  return offset + bytes_->size() >= size_;
}

Result<std::string> JournalFileReader::bytes_at(std::uint64_t offset, std::uint64_t count) const {
  std::string bytes;
  if (offset >= size_) return bytes;
  bytes.resize(std::min(count, size_ - offset));
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t read = pread(file_.number(), bytes.data() + got, bytes.size() - got,
                               static_cast<off_t>(offset + got));
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return std::unexpected(unreadable(path_, errno));
    if (read == 0) break;  // It has become shorter.
    got += static_cast<std::size_t>(read);
  }
  bytes.resize(got);
  return bytes;
}

std::optional<Error> JournalFileReader::load(std::uint64_t offset, std::uint64_t count) {
  const std::uint64_t wanted = std::min(count, size_ - std::min(offset, size_));
  Result<std::string> bytes = bytes_at(offset, count);
  if (!bytes) return bytes.error();
  *bytes_ = *std::move(bytes);
  if (bytes_->size() < wanted) size_ = offset + bytes_->size();
  return std::nullopt;
}

Result<JournalFileReader> JournalFileReader::open(const std::string& path, std::uint64_t window) {
  JournalFileReader file(path);
  file.window_ = std::max(window, window_min);
  if (std::optional<Error> error = file.open_file()) return std::unexpected(std::move(*error));
  Result<RecordReader> reader = RecordReader::open(*file.bytes_, file.reaches_end(0));
  if (!reader) return input_error(fmt::format("{}: {}", path, reader.error().message));
  file.reader_ = *std::move(reader);
  return file;
}

std::optional<Error> JournalFileReader::look_again() {
  struct stat status = {};
  if (!file_.is_open()) return std::nullopt;
  if (fstat(file_.number(), &status) != 0) return unreadable(path_, errno);
  if (static_cast<std::uint64_t>(status.st_size) <= size_) return std::nullopt;
  size_ = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t from = reader_->offset();
  if (std::optional<Error> error = load(from, window_)) return error;
  reader_->go_on(*bytes_, reaches_end(from));
  return std::nullopt;
}

Result<std::optional<PackedRecord>> JournalFileReader::next() {
  while (true) {
    std::optional<PackedRecord> record = reader_->next();
    if (record || reader_->wants() == 0) return record;
    const std::uint64_t from = reader_->offset();
    if (std::optional<Error> error = load(from, std::max(window_, reader_->wants()))) {
      return std::unexpected(std::move(*error));
    }
    reader_->go_on(*bytes_, reaches_end(from));
  }
}

}  // namespace makeway
