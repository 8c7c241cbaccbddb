// Lines of a watch, however the bytes come: events are handed on as soon as they are whole.
//
// The length of a line is bounded (an object of Kubernetes has at most 3 MiB); a longer line, or
// one that is no event, ends the watch.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/problem.hpp"
#include "codec/api_text.hpp"

namespace makeway::kube {

class WatchLines {
 public:
  static constexpr std::size_t line_bytes_default = std::size_t{16} << 20U;

  explicit WatchLines(std::size_t line_bytes_max = line_bytes_default)
      : line_bytes_max_(line_bytes_max) {}

  /// False: the watch is to end.
  using Visit = std::function<bool(const WatchEvent&)>;
  enum class Verdict : bool { stop, go_on };
  /// What was wrong is in `problem`.
  Verdict take(std::string_view bytes, const Visit& visit);
  const std::optional<Problem>& problem() const { return problem_; }
  void clear();

 private:
  Verdict line(std::string_view text, const Visit& visit);
  Verdict refuse(Problem problem);

  std::size_t line_bytes_max_;
  std::string rest_;  ///< A line that has not ended.
  std::optional<Problem> problem_;
};

}  // namespace makeway::kube
