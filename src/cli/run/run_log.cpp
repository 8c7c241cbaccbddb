#include "cli/run/run_log.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "codec/writer.hpp"

namespace makeway::cli {
namespace {

constexpr std::size_t value_bytes_max = 2'000;

std::string_view level_word(LogLevel level) {
  switch (level) {
    case LogLevel::info: return "info";
    case LogLevel::warning: return "warning";
    case LogLevel::error: break;
  }
  return "error";
}

/// What needs no quotes.
bool is_plain(std::string_view value) {
  return std::ranges::all_of(value, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || std::string_view("-._/:@+,%").contains(letter);
  });
}

void append_pair(std::string& line, std::string_view key, const LogValue& value) {
  if (!line.empty()) line += ' ';
  line += fmt::format("{}=", key);
  const std::string* const text = std::get_if<std::string>(&value);
  if (text == nullptr) {
    line += fmt::format("{}", std::get<std::int64_t>(value));
  } else if (is_plain(*text)) {
    line += *text;
  } else {
    append_json_string(line, *text);
  }
}

}  // namespace

std::string log_line(bool json, Time now, LogLevel level, std::string_view event,
                     const std::vector<LogField>& fields) {
  std::vector<LogField> pairs = {{"time", to_text(now)},
                                 {"level", std::string(level_word(level))},
                                 {"event", std::string(event)}};
  for (const auto& [key, value] : fields) {
    const std::string* const text = std::get_if<std::string>(&value);
    if (text == nullptr) {
      pairs.emplace_back(key, value);
    } else if (!text->empty()) {
      pairs.emplace_back(key, shorten(*text, value_bytes_max));
    }
  }
  std::string line;
  if (!json) {
    for (const auto& [key, value] : pairs) append_pair(line, key, value);
    return line + "\n";
  }
  JsonWriter writer(line, JsonStyle::compact);
  writer.begin_object();
  for (const auto& [key, value] : pairs) {
    if (const std::int64_t* const number = std::get_if<std::int64_t>(&value)) {
      writer.integer_field(key, *number);
    } else {
      writer.string_field(key, std::get<std::string>(value));
    }
  }
  writer.end_object();
  return line;
}

}  // namespace makeway::cli
