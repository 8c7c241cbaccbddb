// Where input comes from: files, folders and standard input, plain or gzip.
//
// Rules:
//  1. A file that is named is read whatever it is called. In a folder, and in those below it, only
//     *.yaml, *.yml, *.json, *.jsonl and these with .gz are taken, hidden ones never; links to
//     folders are not followed. Files come in the order of their paths.
//  2. gzip is recognised by its first bytes. Several members are one text; anything torn is
//     refused, and what unpacks to far more than its size (UnpackLimits).
//  3. A byte order mark is taken off; what is not UTF-8 text is refused with the remedy.
//  4. The text is followed by zero bytes that readers may look at, so parsers need no copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace makeway {

/// Zero bytes behind every text; as many as simdjson wants.
inline constexpr std::size_t text_padding = 64;
/// The largest text, after decompression. A larger one is probably the wrong file.
inline constexpr std::size_t source_bytes_max = std::size_t{8} << 30U;
/// How much a gzip text may unpack to: a small file must not fill the memory.
struct UnpackLimits {
  std::int64_t ratio_max = 64;                 ///< Times its packed size.
  std::size_t always = std::size_t{1} << 30U;  ///< Bytes that are allowed whatever that is.

  /// In bytes; never more than `source_bytes_max`.
  std::size_t bytes_max(std::size_t packed) const;
};

/// The most files and the deepest nesting of one folder.
inline constexpr std::size_t source_files_max = 1'000'000;
inline constexpr int source_depth_max = 64;

/// A text in memory that it never initialises twice. Moves, does not copy.
class PaddedText {
 public:
  PaddedText() = default;
  /// A padded copy.
  explicit PaddedText(std::string_view text);
  PaddedText(PaddedText&& other) noexcept { swap(other); }
  PaddedText& operator=(PaddedText&& other) noexcept {
    swap(other);
    return *this;
  }
  ~PaddedText() = default;

  const char* data() const { return buffer_ == nullptr ? "" : buffer_.get() + begin_; }
  std::size_t size() const { return end_ - begin_; }
  std::string_view view() const { return {data(), size()}; }
  /// Bytes that may be read from data() on, the padding included.
  std::size_t readable_size() const { return buffer_ == nullptr ? 0 : size() + text_padding; }

  // To fill it: make room, write behind the end, say how much that was, and finish.
  void reserve(std::size_t size);
  std::span<char> room() { return {buffer_.get() + end_, capacity_ - end_}; }
  void grow_by(std::size_t size);
  void remove_prefix(std::size_t size);
  void finish();

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };

  void swap(PaddedText& other) noexcept {
    std::swap(buffer_, other.buffer_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
    std::swap(capacity_, other.capacity_);
  }

  std::unique_ptr<char, Free> buffer_;  // malloc'ed: realloc can move pages instead of bytes.
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t capacity_ = 0;  ///< Without the padding, which is always there too.
};

struct SourceFile {
  std::string path;  ///< "-" is standard input.

  friend auto operator<=>(const SourceFile&, const SourceFile&) = default;
};

struct SourceText {
  std::string name;  ///< For messages: the path, or "-".
  PaddedText text;
};

/// What the paths stand for; "-" may come once.
Result<std::vector<SourceFile>> list_sources(std::span<const std::string> paths);

/// The whole text, decompressed.
Result<SourceText> read_source(const SourceFile& file, const UnpackLimits& limits = {});

/// What `read_source` does once the bytes are there; `name` is for messages.
Result<PaddedText> decode_text(PaddedText bytes, std::string_view name,
                               const UnpackLimits& limits = {});

/// "x.gz: unpacks to more than ..."
std::unexpected<Error> unpacks_to_too_much(std::string_view name, const UnpackLimits& limits,
                                           std::size_t packed);

enum class TextFormat : std::uint8_t { json, yaml };

/// By the first bytes that are not blank: "[", or "{" with a quoted key, begin JSON; a mapping in
/// braces with a bare key is YAML. Names lie too often.
TextFormat detect_format(std::string_view text);

}  // namespace makeway
