#include "journal/journal_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

#include "journal/journal_file.hpp"

namespace makeway {
namespace {

constexpr std::uint32_t rotated_files_max = 10'000;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OpenFile = std::unique_ptr<std::FILE, CloseFile>;

bool is_readable(const std::string& path) {
  return OpenFile(std::fopen(path.c_str(), "rb")) != nullptr;
}

/// FILE.2, FILE.1: those that are there, oldest first. Whoever dies between two renames leaves one
/// number out.
std::vector<std::string> rotated_files(const std::string& path) {
  std::vector<std::string> paths;
  std::uint32_t missing = 0;
  for (std::uint32_t number = 1; number <= rotated_files_max && missing < 2; ++number) {
    const std::string each = rotated_path(path, number);
    missing = is_readable(each) ? 0 : missing + 1;
    if (missing == 0) paths.push_back(each);
  }
  std::ranges::reverse(paths);
  return paths;
}

}  // namespace

Result<std::string> read_journal_bytes(const std::string& path) {
  const auto failed = [&](int error) {
    return input_error(fmt::format("{}: {}", path, std::generic_category().message(error)));
  };
  const OpenFile file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return failed(errno);
  std::string bytes;
  std::array<char, std::size_t{1} << 16U> buffer{};
  while (true) {
    const std::size_t read = std::fread(buffer.data(), 1, buffer.size(), file.get());
    bytes.append(buffer.data(), read);
    if (read == buffer.size()) continue;
    if (std::ferror(file.get()) != 0) return failed(errno);
    return bytes;
  }
}

Result<JournalReader> JournalReader::open(const std::string& path, JournalFiles files) {
  std::vector<std::string> paths;
  if (files == JournalFiles::with_rotated) paths = rotated_files(path);
  if (paths.empty() || is_readable(path)) paths.push_back(path);
  JournalReader reader(std::move(paths));
  if (std::optional<Error> error = reader.begin_part()) return std::unexpected(std::move(*error));
  return reader;
}

std::optional<Error> JournalReader::begin_part() {
  const std::string& path = paths_[parts_.size()];
  parts_.push_back({.path = path, .version = {}});
  Result<std::string> bytes = read_journal_bytes(path);
  if (!bytes) return bytes.error();
  bytes_ = std::make_unique<std::string>(*std::move(bytes));
  Result<RecordReader> reader = RecordReader::open(*bytes_);
  if (!reader) return Error{.message = fmt::format("{}: {}", path, reader.error().message)};
  reader_ = *std::move(reader);
  parts_.back().version = reader_->version();
  parts_.back().bytes = bytes_->size();
  return std::nullopt;
}

void JournalReader::end_part() {
  JournalPart& part = parts_.back();
  part.end = reader_->end();
  part.whole_bytes = reader_->offset();
  gap_ = gap_ || part.end != FileEnd::whole;
}

Result<std::optional<JournalEntry>> JournalReader::next() {
  while (true) {
    const std::uint64_t begin = reader_->offset();
    const std::optional<PackedRecord> packed = reader_->next();
    if (packed) {
      JournalPart& part = parts_.back();
      ++part.records;
      const Result<std::string> text = unpack_record(*packed);
      Result<JournalRecord> record =
          text ? read_journal_record(packed->type, *text) : std::unexpected(text.error());
      if (!record) {
        return input_error(
            fmt::format("{}: the record at byte {}: {}", part.path, begin, record.error().message));
      }
      const bool gap = gap_ && std::holds_alternative<BaseRecord>(*record);
      if (gap) gap_ = false;
      return JournalEntry{
          .record = *std::move(record), .bytes = reader_->offset() - begin, .after_gap = gap};
    }
    end_part();
    if (parts_.size() == paths_.size()) return std::optional<JournalEntry>();
    if (std::optional<Error> error = begin_part()) return std::unexpected(std::move(*error));
  }
}

}  // namespace makeway
