#include "codec/source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include "base/check.hpp"
#include "base/problem.hpp"
#include "codec/descriptor.hpp"

namespace makeway {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t first_read_size = 64U << 10U;

std::unexpected<Error> world_error(std::string_view path, int error_number) {
  const std::string reason = std::generic_category().message(error_number);
  const auto refuse = [&](std::string_view remedy) {
    return input_error(fmt::format("{}: {}; {}", path, reason, remedy));
  };
  switch (error_number) {
    case ENOENT: return refuse("check the path");
    case ENOTDIR: return refuse("a part of the path is not a folder; check it");
    case EACCES:
    case EPERM: return refuse("give this user the right to read it");
    case ELOOP: return refuse("the link points at itself; fix it");
    case ENAMETOOLONG: return refuse("use a shorter path");
    default: break;
  }
  return std::unexpected(
      Error{.code = ErrorCode::retry, .message = fmt::format("{}: {}", path, reason)});
}

bool has_known_extension(std::string_view name) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  static constexpr std::array<std::string_view, 4> extensions = {".yaml", ".yml", ".json",
                                                                 ".jsonl"};
  return std::ranges::any_of(extensions, [&](std::string_view extension) {
    return name.size() > extension.size() && name.ends_with(extension);
  });
}

/// Appends the files of a folder, unsorted.
Result<std::size_t> list_folder(const std::string& folder, std::vector<SourceFile>& files) {
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  const std::size_t before = files.size();
  while (!error && entry != fs::recursive_directory_iterator()) {
    const std::string name = entry->path().filename().string();
    const bool hidden = name.starts_with('.');
    std::error_code ignored;  // An entry that vanishes while we look is no file.
    const bool is_folder = entry->is_directory(ignored);
    if (hidden && is_folder) entry.disable_recursion_pending();
    if (is_folder && entry.depth() >= source_depth_max) {
      return input_error(fmt::format("{}: nested more than {} folders deep; name a folder below",
                                     folder, source_depth_max));
    }
    if (!hidden && has_known_extension(name) && entry->is_regular_file(ignored)) {
      if (files.size() - before == source_files_max) {
        return input_error(
            fmt::format("{}: more than {} files; name a folder below", folder, source_files_max));
      }
      files.push_back({entry->path().string()});
    }
    entry.increment(error);
  }
  if (error) return world_error(folder, error.value());
  if (files.size() == before) {
    return input_error(fmt::format(
        "{}: no *.yaml, *.yml, *.json, *.jsonl or *.gz of these in this folder; name a file, or "
        "another folder",
        folder));
  }
  return files.size() - before;
}

std::unexpected<Error> too_large(std::string_view name, std::size_t bytes_max) {
  return input_error(fmt::format("{}: larger than {} bytes; split it", name, bytes_max));
}

/// Everything up to the end, straight into the buffer.
Result<PaddedText> read_all(int descriptor, const std::string& name, std::size_t size_expected) {
  PaddedText bytes;
  // One byte more than the file has, so that the end is seen without growing first.
  bytes.reserve(std::max(size_expected + 1, first_read_size));
  for (;;) {
    if (bytes.room().empty()) bytes.reserve(bytes.size() * 2);
    const std::span<char> room = bytes.room();
    const ssize_t count = ::read(descriptor, room.data(), room.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return world_error(name, errno);
    if (count == 0) return bytes;
    bytes.grow_by(static_cast<std::size_t>(count));
    if (bytes.size() > source_bytes_max) return too_large(name, source_bytes_max);
  }
}

std::string_view kind_that_cannot_be_read(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return "is a folder";
  if (S_ISSOCK(status.st_mode)) return "is a socket";
  if (S_ISBLK(status.st_mode)) return "is a block device";
  if (S_ISCHR(status.st_mode)) return "is a character device";
  return {};
}

Result<PaddedText> read_bytes(const SourceFile& file) {
  if (file.path == "-") return read_all(STDIN_FILENO, file.path, 0);
  struct stat status{};
  if (::stat(file.path.c_str(), &status) != 0) return world_error(file.path, errno);
  if (const std::string_view kind = kind_that_cannot_be_read(status); !kind.empty()) {
    return input_error(
        fmt::format("{}: {}; name a file, or - for standard input", file.path, kind));
  }
  const Descriptor descriptor(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.is_open()) return world_error(file.path, errno);
  const auto size = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
  if (size > source_bytes_max) return too_large(file.path, source_bytes_max);
  return read_all(descriptor.number(), file.path, size);
}

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

/// zlib's stream with its end.
class Inflater {
 public:
  Inflater() {
    constexpr int gzip_only = 15 + 16;
    if (inflateInit2(&stream_, gzip_only) != Z_OK) throw std::bad_alloc();
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

std::unexpected<Error> torn(std::string_view name, std::string_view what) {
  return input_error(fmt::format("{}: {}; check it with gzip -t and copy it again", name, what));
}

/// Decompresses one member; returns how many input bytes it took.
Result<std::size_t> inflate_member(std::string_view input, PaddedText& output,
                                   std::string_view name, std::size_t bytes_max) {
  constexpr std::size_t step_max = 1U << 30U;  // zlib counts in 32 bits.
  Inflater inflater;
  z_stream& stream = inflater.stream();
  std::size_t taken = 0;
  for (;;) {
    if (output.room().empty()) output.reserve(std::min(output.size() * 2, bytes_max + 1));
    const std::size_t input_step = std::min(input.size() - taken, step_max);
    const std::size_t output_step = std::min(output.room().size(), step_max);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data() + taken));
    stream.avail_in = static_cast<uInt>(input_step);
    stream.next_out = reinterpret_cast<Bytef*>(output.room().data());
    stream.avail_out = static_cast<uInt>(output_step);
    const int status = inflate(&stream, Z_NO_FLUSH);
    taken += input_step - stream.avail_in;
    output.grow_by(output_step - stream.avail_out);
    if (output.size() > bytes_max) return taken;  // The caller says so.
    if (status == Z_STREAM_END) return taken;
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_BUF_ERROR ||
        (status == Z_OK && taken == input.size() && stream.avail_out != 0)) {
      return torn(name, "the gzip data ends too early");
    }
    if (status != Z_OK) return torn(name, "the gzip data is damaged");
  }
}

Result<PaddedText> inflate_all(std::string_view input, std::string_view name,
                               const UnpackLimits& limits) {
  const std::size_t packed = input.size();
  const std::size_t bytes_max = limits.bytes_max(packed);
  PaddedText output;
  output.reserve(std::min(bytes_max, std::max(input.size() * 4, first_read_size)) + 1);
  while (!input.empty()) {
    const bool only_zeros = std::ranges::all_of(input, [](char byte) { return byte == 0; });
    if (only_zeros) break;  // Tapes and some copiers pad with zeros.
    if (!is_gzip(input)) return torn(name, "something follows the gzip data");
    const auto taken = inflate_member(input, output, name, bytes_max);
    if (!taken) return std::unexpected(taken.error());
    if (output.size() > bytes_max) return unpacks_to_too_much(name, limits, packed);
    input.remove_prefix(*taken);
  }
  return output;
}

bool is_utf16(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return true;
  // Without a mark: the first character is ASCII, so one of its two bytes is zero.
  return text.size() >= 2 && (text[0] == 0) != (text[1] == 0);
}

}  // namespace

std::size_t UnpackLimits::bytes_max(std::size_t packed) const {
  const auto ratio = static_cast<std::size_t>(ratio_max);
  const std::size_t wanted = packed > source_bytes_max / ratio ? source_bytes_max : packed * ratio;
  return std::min(std::max(wanted, always), source_bytes_max);
}

std::unexpected<Error> unpacks_to_too_much(std::string_view name, const UnpackLimits& limits,
                                           std::size_t packed) {
  const std::size_t bytes_max = limits.bytes_max(packed);
  if (bytes_max == source_bytes_max) return too_large(name, source_bytes_max);
  return input_error(
      fmt::format("{}: unpacks to more than {} bytes, over {} times its packed size; "
                  "unpack it yourself if that is meant",
                  name, bytes_max, limits.ratio_max));
}

PaddedText::PaddedText(std::string_view text) {
  reserve(std::max<std::size_t>(text.size(), 1));
  if (!text.empty()) std::memcpy(buffer_.get(), text.data(), text.size());
  grow_by(text.size());
  finish();
}

namespace {

/// A large text is written once and read once: most of its cost would be one page fault per 4 KB.
/// A hint only; where it is not understood nothing changes.
void use_huge_pages(char* memory, std::size_t size) {
  constexpr std::uintptr_t huge_page = 2U << 20U;
  const std::uintptr_t begin =
      (reinterpret_cast<std::uintptr_t>(memory) + huge_page - 1) / huge_page * huge_page;
  const std::uintptr_t end =
      (reinterpret_cast<std::uintptr_t>(memory) + size) / huge_page * huge_page;
  if (begin >= end) return;
  char* const aligned = memory + (begin - reinterpret_cast<std::uintptr_t>(memory));
  static_cast<void>(::madvise(aligned, end - begin, MADV_HUGEPAGE));
}

}  // namespace

void PaddedText::reserve(std::size_t size) {
  if (buffer_ != nullptr && begin_ + size <= capacity_) return;
  const std::size_t capacity = begin_ + size;
  char* const before = buffer_.release();
  auto* memory = static_cast<char*>(std::realloc(before, capacity + text_padding));
  if (memory == nullptr) {
    buffer_.reset(before);
    throw std::bad_alloc();
  }
  buffer_.reset(memory);
  capacity_ = capacity;
  use_huge_pages(memory, capacity);
}

void PaddedText::grow_by(std::size_t size) {
  CHECK(size <= capacity_ - end_);
  end_ += size;
}

void PaddedText::remove_prefix(std::size_t size) {
  CHECK(size <= end_ - begin_);
  begin_ += size;
}

void PaddedText::finish() {
  if (buffer_ == nullptr) reserve(1);
  std::memset(buffer_.get() + end_, 0, text_padding);
}

Result<std::vector<SourceFile>> list_sources(std::span<const std::string> paths) {
  std::vector<SourceFile> files;
  bool standard_input = false;
  for (const std::string& path : paths) {
    if (path == "-") {
      if (standard_input) {
        return input_error("-: standard input can be read only once; name it once");
      }
      standard_input = true;
      files.push_back({path});
      continue;
    }
    if (path.empty()) return input_error("an empty path; name a file, a folder or -");
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return world_error(path, errno);
    if (!S_ISDIR(status.st_mode)) {
      files.push_back({path});
      continue;
    }
    const std::size_t before = files.size();
    const auto count = list_folder(path, files);
    if (!count) return std::unexpected(count.error());
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return files;
}

Result<SourceText> read_source(const SourceFile& file, const UnpackLimits& limits) {
  auto bytes = read_bytes(file);
  if (!bytes) return std::unexpected(bytes.error());
  auto text = decode_text(std::move(*bytes), file.path, limits);
  if (!text) return std::unexpected(text.error());
  return SourceText{.name = file.path, .text = std::move(*text)};
}

Result<PaddedText> decode_text(PaddedText bytes, std::string_view name,
                               const UnpackLimits& limits) {
  PaddedText text = std::move(bytes);
  if (is_gzip(text.view())) {
    auto inflated = inflate_all(text.view(), name, limits);
    if (!inflated) return std::unexpected(inflated.error());
    text = std::move(*inflated);
  }
  if (is_utf16(text.view())) {
    return input_error(
        fmt::format("{}: not UTF-8 but UTF-16; convert it with iconv -f UTF-16 -t UTF-8", name));
  }
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.view().starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  text.finish();
  return text;
}

TextFormat detect_format(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return TextFormat::yaml;
  if (text[first] != '{') return text[first] == '[' ? TextFormat::json : TextFormat::yaml;
  const std::size_t second = text.find_first_not_of(" \t\r\n", first + 1);
  if (second == std::string_view::npos) return TextFormat::yaml;
  return text[second] == '"' || text[second] == '}' ? TextFormat::json : TextFormat::yaml;
}

}  // namespace makeway
