// RunLog: one line an event, for people and machines.
//
//   time=2026-11-17T14:00:00Z level=info event=bind plan=0123456789abcdef ask="Pod shop/web"
//   node=n1
//   {"time":"2026-11-17T14:00:00Z","level":"info","event":"bind","plan":"0123456789abcdef",...}
//
// Untrusted text is escaped (base/printable.hpp). One thread writes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "cli/terminal.hpp"

namespace makeway::cli {

enum class LogLevel : std::uint8_t { info, warning, error };

/// JSON distinguishes texts and numbers.
using LogValue = std::variant<std::string, std::int64_t>;
using LogField = std::pair<std::string_view, LogValue>;

/// With its line feed.
std::string log_line(bool json, Time now, LogLevel level, std::string_view event,
                     const std::vector<LogField>& fields);

class RunLog {
 public:
  RunLog(TextSink& sink, bool json, std::function<Time()> now)
      : sink_(sink), json_(json), now_(std::move(now)) {}

  /// Fields whose text is empty are left out.
  void tell(LogLevel level, std::string_view event, const std::vector<LogField>& fields = {}) {
    sink_.write(log_line(json_, now_(), level, event, fields));
    sink_.flush();
  }

 private:
  TextSink& sink_;
  bool json_;
  std::function<Time()> now_;
};

}  // namespace makeway::cli
