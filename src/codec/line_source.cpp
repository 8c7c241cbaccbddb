#include "codec/line_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace makeway {
namespace {

constexpr std::size_t buffer_size = std::size_t{256} << 10U;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::string_view gzip_mark = "\x1f\x8b";

/// Bytes of a buffer that are still to be used.
class Window {
 public:
  std::string_view rest() const { return {buffer_.data() + begin_, end_ - begin_}; }
  void take(std::size_t count) { begin_ += count; }
  /// Room behind what is left, which moves to the front.
  char* room() {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
    return buffer_.data() + end_;
  }
  std::size_t room_size() const { return buffer_.size() - end_; }
  void grow_by(std::size_t count) { end_ += count; }

 private:
  std::vector<char> buffer_ = std::vector<char>(buffer_size);
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace

struct LineSource::State {
  State(std::string path, int number, const UnpackLimits& unpack_limits)
      : name(std::move(path)), descriptor(number), limits(unpack_limits) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (is_gzip) inflateEnd(&stream);
    if (descriptor != STDIN_FILENO) ::close(descriptor);
  }

  Result<bool> read_bytes();
  Result<bool> start();
  Result<bool> fill();
  Result<bool> inflate_some();
  std::unexpected<Error> torn(std::string_view what) const {
    return input_error(fmt::format("{}: {}; check it with gzip -t and copy it again", name, what));
  }

  std::string name;
  int descriptor;
  UnpackLimits limits;
  std::size_t bytes_read = 0;
  bool started = false;
  bool is_gzip = false;
  bool between_members = true;
  z_stream stream{};
  Window bytes;  ///< As they are in the file.
  Window text;   ///< Decompressed; unused when the file is plain.
};

/// False at the end of the file.
Result<bool> LineSource::State::read_bytes() {
  for (;;) {
    char* const room = bytes.room();
    const ssize_t count = ::read(descriptor, room, bytes.room_size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return input_error(fmt::format("{}: {}; name a file, or - for standard input", name,
                                     std::generic_category().message(errno)));
    }
    bytes.grow_by(static_cast<std::size_t>(count));
    bytes_read += static_cast<std::size_t>(count);
    return count > 0;
  }
}

/// Sees what kind of text it is.
Result<bool> LineSource::State::start() {
  started = true;
  while (bytes.rest().size() < gzip_mark.size()) {
    const Result<bool> more = read_bytes();
    if (!more) return more;
    if (!*more) break;
  }
  is_gzip = bytes.rest().starts_with(gzip_mark);
  if (!is_gzip) return true;
  constexpr int gzip_only = 15 + 16;
  if (inflateInit2(&stream, gzip_only) != Z_OK) throw std::bad_alloc();
  return true;
}

/// More text behind the current one. False at the end.
Result<bool> LineSource::State::fill() {
  if (!started) {
    const Result<bool> begun = start();
    if (!begun) return begun;
    if (!is_gzip && !bytes.rest().empty()) return true;
  }
  return is_gzip ? inflate_some() : read_bytes();
}

Result<bool> LineSource::State::inflate_some() {
  for (;;) {
    if (bytes.rest().empty()) {
      const Result<bool> more = read_bytes();
      if (!more) return more;
      if (!*more) {
        if (between_members) return false;
        return torn("the gzip data ends too early");
      }
    }
    if (between_members && bytes.rest().front() == '\0') {
      bytes.take(1);  // Tapes and some copiers pad with zeros.
      continue;
    }
    const std::string_view input = bytes.rest();
    char* const output = text.room();
    const std::size_t room = text.room_size();
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream.avail_in = static_cast<uInt>(input.size());
    stream.next_out = reinterpret_cast<Bytef*>(output);
    stream.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status != Z_OK && status != Z_STREAM_END) {
      return torn(between_members ? "something follows the gzip data" : "the gzip data is damaged");
    }
    bytes.take(input.size() - stream.avail_in);
    const std::size_t produced = room - stream.avail_out;
    text.grow_by(produced);
    between_members = status == Z_STREAM_END;
    if (between_members) inflateReset(&stream);
    if (produced > 0) return true;
  }
}

LineSource::LineSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
LineSource::LineSource(LineSource&& other) noexcept = default;
LineSource& LineSource::operator=(LineSource&& other) noexcept = default;
LineSource::~LineSource() = default;

Result<LineSource> LineSource::open(const std::string& path, const UnpackLimits& limits) {
  const int descriptor = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return input_error(
        fmt::format("{}: {}; check the path", path, std::generic_category().message(errno)));
  }
  return LineSource(std::make_unique<State>(path, descriptor, limits));
}

Result<bool> LineSource::next(std::string& line) {
  line.clear();
  const bool first = !state_->started;
  bool any = false;
  for (;;) {
    Window& window = state_->is_gzip ? state_->text : state_->bytes;
    if (state_->started && !window.rest().empty()) {
      any = true;
      const std::string_view rest = window.rest();
      const std::size_t end = rest.find('\n');
      line += rest.substr(0, end);
      if (line.size() > source_bytes_max) {
        return input_error(fmt::format("{}: a line is larger than {} bytes; split it", state_->name,
                                       source_bytes_max));
      }
      if (state_->is_gzip && line.size() > state_->limits.bytes_max(state_->bytes_read)) {
        return unpacks_to_too_much(state_->name, state_->limits, state_->bytes_read);
      }
      window.take(std::min(end == std::string_view::npos ? end : end + 1, rest.size()));
      if (end != std::string_view::npos) break;
    }
    const Result<bool> more = state_->fill();
    if (!more) return more;
    if (!*more) break;
  }
  if (first && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
  if (line.ends_with('\r')) line.pop_back();
  return any;
}

}  // namespace makeway
