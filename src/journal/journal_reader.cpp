#include "journal/journal_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

namespace makeway {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OpenFile = std::unique_ptr<std::FILE, CloseFile>;

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
  JournalReader reader(files == JournalFiles::one ? std::vector<std::string>{path}
                                                  : journal_paths(path));
  if (std::optional<Error> error = reader.begin_part()) return std::unexpected(std::move(*error));
  return reader;
}

Result<JournalReader> JournalReader::open_at(std::vector<std::string> paths, std::uint64_t offset) {
  JournalReader reader(std::move(paths));
  if (std::optional<Error> error = reader.begin_part()) return std::unexpected(std::move(*error));
  reader.reader_->skip_to(offset);
  return reader;
}

std::optional<Error> JournalReader::begin_part() {
  const std::string& path = paths_[parts_.size()];
  parts_.push_back({.path = path});
  Result<JournalFileReader> reader = JournalFileReader::open(path);
  if (!reader) return reader.error();
  reader_ = *std::move(reader);
  parts_.back().version = reader_->version();
  parts_.back().bytes = reader_->size();
  return std::nullopt;
}

void JournalReader::end_part() {
  JournalPart& part = parts_.back();
  part.end = reader_->end();
  part.whole_bytes = reader_->offset();
  gap_ = gap_ || part.end != FileEnd::whole;
}

Result<std::optional<JournalEntry>> JournalReader::next() {
  const Result<std::optional<JournalText>> text = next_text();
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::optional<JournalEntry>();
  Result<JournalEntry> entry = understood(**text);
  if (!entry) return std::unexpected(entry.error());
  return *std::move(entry);
}

Result<JournalEntry> JournalReader::understood(const JournalText& text) const {
  Result<JournalRecord> record = read_journal_record(text.type, text.text);
  if (!record) return not_understood(text.offset, record.error());
  return JournalEntry{
      .record = *std::move(record), .bytes = text.bytes, .after_gap = text.after_gap};
}

std::unexpected<Error> JournalReader::not_understood(std::uint64_t offset,
                                                     const Error& error) const {
  return input_error(
      fmt::format("{}: the record at byte {}: {}", parts_.back().path, offset, error.message));
}

Result<std::optional<JournalText>> JournalReader::next_text() {
  while (true) {
    const std::uint64_t begin = reader_->offset();
    const Result<std::optional<PackedRecord>> read = reader_->next();
    if (!read) return std::unexpected(read.error());
    if (const std::optional<PackedRecord>& packed = *read) {
      ++parts_.back().records;
      Result<std::string> text = unpack_record(*packed);
      if (!text) return not_understood(begin, text.error());
      const bool gap = gap_ && packed->type == static_cast<std::uint8_t>(JournalType::base);
      if (gap) gap_ = false;
      return JournalText{.type = packed->type,
                         .text = *std::move(text),
                         .offset = begin,
                         .bytes = reader_->offset() - begin,
                         .after_gap = gap};
    }
    end_part();
    if (parts_.size() == paths_.size()) return std::optional<JournalText>();
    if (std::optional<Error> error = begin_part()) return std::unexpected(std::move(*error));
  }
}

}  // namespace makeway
