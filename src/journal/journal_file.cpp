#include "journal/journal_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>
#include <utility>

#include "codec/record_file.hpp"
#include "journal/journal_file_reader.hpp"

namespace makeway {
namespace {

constexpr mode_t journal_mode = 0600;  // It names objects of tenants.

std::string system_text(int error) { return std::generic_category().message(error); }

Error file_error(const std::string& path, int error) {
  return {.code = ErrorCode::retry, .message = fmt::format("{}: {}", path, system_text(error))};
}

bool has_cycle_number(const PackedRecord& record) {
  return record.type == static_cast<std::uint8_t>(JournalType::cycle) ||
         record.type == static_cast<std::uint8_t>(JournalType::base);
}

/// The number of the newest cycle in the file, which is read to its end. An error: it cannot be.
Result<std::uint64_t> newest_cycle(JournalFileReader& reader) {
  std::uint8_t type = 0;
  std::string body;  // A copy: what was read is overwritten.
  while (true) {
    const Result<std::optional<PackedRecord>> record = reader.next();
    if (!record) return std::unexpected(record.error());
    if (!*record) break;
    if (!has_cycle_number(**record)) continue;
    type = (*record)->type;
    body = (*record)->body;
  }
  if (body.empty()) return 0;
  const Result<std::string> text = unpack_record({.type = type, .body = body});
  if (!text) return 0;
  const Result<JournalRecord> record = read_journal_record(type, *text);
  if (!record) return 0;
  if (const auto* const cycle = std::get_if<CycleRecord>(&*record)) return cycle->number;
  if (const auto* const base = std::get_if<BaseRecord>(&*record)) return base->cycles;
  return 0;
}

/// Of another file; 0: there is none.
std::uint64_t newest_cycle_in(const std::string& path) {
  Result<JournalFileReader> reader = JournalFileReader::open(path);
  return reader ? newest_cycle(*reader).value_or(0) : 0;
}

}  // namespace

std::string rotated_path(const std::string& path, std::uint32_t number) {
  return number == 0 ? path : fmt::format("{}.{}", path, number);
}

Result<JournalFile> JournalFile::open(JournalOptions options) {
  JournalFile file(std::move(options));
  if (std::optional<Error> error = file.open_file()) return std::unexpected(std::move(*error));
  if (std::optional<Error> error = file.continue_file()) return std::unexpected(std::move(*error));
  return file;
}

std::optional<Error> JournalFile::open_file() {
  const std::string& path = options_.path;
  file_ = Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, journal_mode));
  if (!file_.is_open()) return file_error(path, errno);
  struct stat status = {};
  if (fstat(file_.number(), &status) != 0) return file_error(path, errno);
  regular_ = S_ISREG(status.st_mode);
  if (!regular_) return std::nullopt;
  if (flock(file_.number(), LOCK_EX | LOCK_NB) != 0) {
    return Error{.message = fmt::format("{}: another process is writing it", path)};
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  return std::nullopt;
}

void JournalFile::begin_file() { write_whole(record_file_header(options_.version)); }

std::optional<Error> JournalFile::continue_file() {
  const std::string& path = options_.path;
  if (size_ == 0) {
    // A process that died between two renames has left the number there.
    if (regular_) cycles_before_ = newest_cycle_in(rotated_path(path, 1));
    begin_file();
    return std::nullopt;
  }
  // All of it, a window at a time: behind damage in its middle nothing would ever be read.
  Result<JournalFileReader> reader = JournalFileReader::open(path);
  if (!reader) return reader.error();
  const Result<std::uint64_t> newest = newest_cycle(*reader);
  if (!newest) return newest.error();
  cycles_before_ = *newest;
  if (reader->end() == FileEnd::damaged) {
    return keep_aside(fmt::format("{} is damaged at byte {}", path, reader->offset()));
  }
  if (reader->offset() > 0 && reader->version() != options_.version) {
    return keep_aside(fmt::format("{} was written by {}", path, reader->version()));
  }
  if (reader->end() == FileEnd::torn) {
    notice_ = fmt::format("{}: a torn end of {} bytes is dropped", path, size_ - reader->offset());
    if (ftruncate(file_.number(), static_cast<off_t>(reader->offset())) != 0) {
      return file_error(path, errno);
    }
    size_ = reader->offset();
  }
  if (size_ == 0) begin_file();
  return std::nullopt;
}

std::optional<Error> JournalFile::keep_aside(std::string notice) {
  if (options_.files_kept == 0) options_.files_kept = 1;  // Nothing is thrown away unasked.
  notice_ = fmt::format("{}: it is kept as {}", notice, rotated_path(options_.path, 1));
  if (std::optional<Error> error = move_files()) return error;
  begin_file();
  return std::nullopt;
}

/// FILE to FILE.1 and so on; a new empty one is open then.
std::optional<Error> JournalFile::move_files() {
  file_.close();
  const auto name = [&](std::uint32_t number) { return rotated_path(options_.path, number); };
  if (options_.files_kept == 0) {
    if (std::remove(options_.path.c_str()) != 0) return file_error(options_.path, errno);
  }
  for (std::uint32_t number = options_.files_kept; number > 0; --number) {
    const int status = std::rename(name(number - 1).c_str(), name(number).c_str());
    if (status != 0 && (number == 1 || errno != ENOENT)) {
      return file_error(name(number - 1), errno);
    }
  }
  size_ = 0;
  return open_file();
}

void JournalFile::rotate() {
  if (!alarm_.empty() || !regular_) return;
  std::optional<Error> error = move_files();
  if (error) return fail(std::move(error->message));
  begin_file();
}

void JournalFile::append(JournalType type, std::string_view text) {
  if (!alarm_.empty()) {
    ++lost_;
    return;
  }
  const Result<std::string> record = pack_record(static_cast<std::uint8_t>(type), text);
  if (record) {
    write_whole(*record);
  } else {
    fail(fmt::format("{}: {}", options_.path, record.error().message));
  }
  ++(alarm_.empty() ? records_ : lost_);
}

void JournalFile::write_whole(std::string_view bytes) {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t written = write(file_.number(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int error = written < 0 ? errno : EIO;
      return fail(fmt::format("{}: {}", options_.path, system_text(error)));
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  size_ += bytes.size();
}

void JournalFile::fail(std::string why) {
  alarm_ = std::move(why);
  // What was written of the record goes; if not even that works, readers drop it as a torn end.
  if (regular_ && file_.is_open() && ftruncate(file_.number(), static_cast<off_t>(size_)) != 0) {
    alarm_ += fmt::format("; its torn end stays: {}", system_text(errno));
  }
  file_.close();
}

}  // namespace makeway
