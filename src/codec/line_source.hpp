// LineSource: the lines of a file or of standard input, plain or gzip, one at a time.
//
// For inputs that are too large to be read at once: it holds one line and two small buffers. gzip
// is recognised by its first bytes; several members are one text, anything torn is refused. A byte
// order mark is taken off; a line ends with LF or CR LF, the last one also without.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "codec/source.hpp"

namespace makeway {

class LineSource {
 public:
  /// `path` may be "-": standard input. The file is opened, not yet read. A line of gzip data may
  /// be as long as the limits allow for what was read so far.
  static Result<LineSource> open(const std::string& path, const UnpackLimits& limits = {});
  LineSource(LineSource&& other) noexcept;
  LineSource& operator=(LineSource&& other) noexcept;
  ~LineSource();

  /// False at the end. After an error nothing more can be read.
  Result<bool> next(std::string& line);

 private:
  struct State;
  explicit LineSource(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace makeway
