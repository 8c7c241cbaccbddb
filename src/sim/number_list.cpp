#include "sim/number_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/printable.hpp"

namespace makeway {

NumberPart take_number_part(std::string_view& text) {
  const std::size_t comma = std::min(text.find(','), text.size());
  const std::string_view part = text.substr(0, comma);
  text.remove_prefix(std::min(comma + 1, text.size()));
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos) return {.part = part, .name = part};
  return {.part = part,
          .name = part.substr(0, equals),
          .has_value = true,
          .value = part.substr(equals + 1)};
}

Result<std::int64_t> whole_number(const NumberPart& part, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const char* const begin = part.value.data();
  const char* const end = begin + part.value.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc() && stop == end && value >= least && value <= most) return value;
  return input_error(fmt::format("expected a whole number from {} to {}", least, most));
}

std::unexpected<Error> wrong_number_part(std::string_view flag, std::string_view part,
                                         std::string_view why,
                                         std::span<const std::string_view> known) {
  return input_error(fmt::format("--{} \"{}\": {}; known are {}", flag, shorten(part), why,
                                 fmt::join(known, ", ")));
}

}  // namespace makeway
