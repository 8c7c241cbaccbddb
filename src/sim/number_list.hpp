// "nodes=10,pods=500": whole numbers by name, as --generate and --faults take them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.hpp"

namespace makeway {

template <class Options>
struct NumberField {
  std::string_view name;
  std::int64_t Options::* value;
  std::int64_t least;
  std::int64_t most;
};

/// One part of the list, and what is left of it.
struct NumberPart {
  std::string_view part;
  std::string_view name;
  bool has_value = false;
  std::string_view value;
};
NumberPart take_number_part(std::string_view& text);
Result<std::int64_t> whole_number(const NumberPart& part, std::int64_t least, std::int64_t most);
std::unexpected<Error> wrong_number_part(std::string_view flag, std::string_view part,
                                         std::string_view why,
                                         std::span<const std::string_view> known);

/// Parts that are not named keep their defaults.
template <class Options, std::size_t Size>
Result<Options> parse_number_list(std::string_view flag, std::string_view text,
                                  const std::array<NumberField<Options>, Size>& fields) {
  Options options;
  std::array<std::string_view, Size> known{};
  for (std::size_t at = 0; at < Size; ++at) known[at] = fields[at].name;
  while (!text.empty()) {
    const NumberPart part = take_number_part(text);
    const auto field = std::ranges::find(fields, part.name, &NumberField<Options>::name);
    if (field == fields.end()) {
      return wrong_number_part(flag, part.part, "there is no such part", known);
    }
    if (!part.has_value) return wrong_number_part(flag, part.part, "expected NAME=NUMBER", known);
    const Result<std::int64_t> value = whole_number(part, field->least, field->most);
    if (!value) return wrong_number_part(flag, part.part, value.error().message, known);
    options.*field->value = *value;
  }
  return options;
}

}  // namespace makeway
