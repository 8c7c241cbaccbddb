#include "journal/journal_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace makeway {
namespace {

constexpr std::uint64_t head_bytes = 13;  ///< Of a record; its sums are among them.

bool is_of(const PackedRecord& record, JournalType type) {
  return record.type == static_cast<std::uint8_t>(type);
}

}  // namespace

bool JournalIndex::goes_on(const File& file, const JournalFileReader& reader) {
  if (file.until == 0) return true;
  const Result<std::string> head = reader.bytes_at(file.last, head_bytes);
  return reader.size() >= file.until && head && *head == file.last_head;
}

/// What is known of it, taken out; else nothing is.
JournalIndex::File JournalIndex::known(const JournalFileReader& reader) {
  const auto found = std::ranges::find(files_, reader.identity(), &File::identity);
  if (found == files_.end() || !goes_on(*found, reader)) return {.identity = reader.identity()};
  return std::exchange(*found, File{});
}

std::optional<Error> JournalIndex::refresh(const std::function<bool()>& is_over) {
  std::vector<File> files;
  std::optional<Error> error;
  for (const std::string& path : journal_paths(path_)) {
    Result<JournalFileReader> reader = JournalFileReader::open(path);
    if (!reader) {
      error = reader.error();
      break;
    }
    File file = known(*reader);
    file.path = path;
    error = read_on(file, *reader, is_over);
    if (file.until > 0) file.last_head = reader->bytes_at(file.last, head_bytes).value_or("");
    files.push_back(std::move(file));
    if (error) break;
  }
  files_ = std::move(files);
  forget_old();
  return error;
}

std::optional<Error> JournalIndex::read_on(File& file, JournalFileReader& reader,
                                           const std::function<bool()>& is_over) {
  if (file.until > 0) reader.skip_to(file.until);
  while (!is_over()) {
    const Result<std::optional<PackedRecord>> packed = reader.next();
    if (!packed) return packed.error();
    if (!*packed) return std::nullopt;
    if (std::optional<Error> error = note(file, **packed)) return error;
    bytes_read_ += reader.offset() - (*packed)->offset;
    file.until = reader.offset();
    file.last = (*packed)->offset;
  }
  return std::nullopt;
}

std::optional<Error> JournalIndex::note(File& file, const PackedRecord& packed) const {
  const bool is_rules = is_of(packed, JournalType::configuration);
  if (!is_rules && !is_of(packed, JournalType::base) && !is_of(packed, JournalType::cycle)) {
    return std::nullopt;
  }
  const auto wrong = [&](const Error& error) {
    return Error{.message = fmt::format("{}: the record at byte {}: {}", file.path, packed.offset,
                                        error.message)};
  };
  Result<std::string> text = unpack_record(packed);
  if (!text) return wrong(text.error());
  if (is_rules) {
    if (file.rules.empty() || file.rules.back() != *text) file.rules.push_back(*std::move(text));
    return std::nullopt;
  }
  const Result<JournalRecord> record = read_journal_record(packed.type, *text);
  if (!record) return wrong(record.error());
  if (const auto* const base = std::get_if<BaseRecord>(&*record)) {
    file.bases.push_back(
        {.offset = packed.offset, .cycles = base->cycles, .rules = file.rules.size()});
  } else if (const auto* const cycle = std::get_if<CycleRecord>(&*record)) {
    file.cycles.push_back({.number = cycle->number,
                           .now = cycle->now,
                           .asks = cycle->due.size(),
                           .acts = !cycle->plan.empty()});
    if (file.cycles.size() > limits_.cycles) file.leave_out();
  }
  return std::nullopt;
}

void JournalIndex::File::leave_out() {
  cycles.pop_front();
  ++left_out;
}

std::uint64_t JournalIndex::left_out() const {
  std::uint64_t count = 0;
  for (const File& file : files_) count += file.left_out;
  return count;
}

/// Rule 4.
void JournalIndex::forget_old() {
  std::size_t count = 0;
  for (File& file : files_) {
    count += file.cycles.size();
    if (file.bases.size() <= limits_.chapters) continue;
    std::vector<Base> kept;
    for (std::size_t at = 0; at < file.bases.size(); at += 2) kept.push_back(file.bases[at]);
    file.bases = std::move(kept);
  }
  for (File& file : files_) {
    while (count > limits_.cycles && !file.cycles.empty()) {
      file.leave_out();
      --count;
    }
  }
}

std::vector<IndexedCycle> JournalIndex::cycles() const {
  std::vector<IndexedCycle> all;
  for (const File& file : files_) all.insert(all.end(), file.cycles.begin(), file.cycles.end());
  return all;
}

std::optional<JournalIndex::Chapter> JournalIndex::chapter_of(std::uint64_t cycle) const {
  for (std::size_t at = files_.size(); at-- > 0;) {
    const File& file = files_[at];
    for (std::size_t base = file.bases.size(); base-- > 0;) {
      const Base& each = file.bases[base];
      if (each.cycles >= cycle || each.rules == 0) continue;
      Chapter chapter{
          .file = file.identity, .offset = each.offset, .rules = file.rules[each.rules - 1]};
      for (std::size_t next = at; next < files_.size(); ++next) {
        chapter.paths.push_back(files_[next].path);
      }
      return chapter;
    }
  }
  return std::nullopt;
}

}  // namespace makeway
