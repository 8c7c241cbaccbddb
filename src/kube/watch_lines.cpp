#include "kube/watch_lines.hpp"

#include <fmt/format.h>

#include <utility>

namespace makeway::kube {

WatchLines::Verdict WatchLines::take(std::string_view bytes, const Visit& visit) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (part.size() > line_bytes_max_ - rest_.size()) {
      return refuse(
          {.message = fmt::format("an event of a watch has more than {} bytes", line_bytes_max_)});
    }
    if (end == std::string_view::npos) {
      rest_ += part;
      return Verdict::go_on;
    }
    bytes.remove_prefix(end + 1);
    if (rest_.empty()) {
      if (line(part, visit) == Verdict::stop) return Verdict::stop;
      continue;
    }
    rest_ += part;
    const std::string whole = std::exchange(rest_, {});
    if (line(whole, visit) == Verdict::stop) return Verdict::stop;
  }
  return Verdict::go_on;
}

WatchLines::Verdict WatchLines::line(std::string_view text, const Visit& visit) {
  if (text.find_first_not_of(" \t\r") == std::string_view::npos) return Verdict::go_on;
  const PaddedText padded(text);
  const auto event = read_watch_event(padded);
  if (!event) return refuse(event.error());
  return visit(*event) ? Verdict::go_on : Verdict::stop;
}

WatchLines::Verdict WatchLines::refuse(Problem problem) {
  problem_ = std::move(problem);
  rest_.clear();
  return Verdict::stop;
}

void WatchLines::clear() {
  rest_.clear();
  problem_.reset();
}

}  // namespace makeway::kube
