// Amounts in the texts of queues, as their table shows them: cores with decimals.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "model/plan.hpp"
#include "model/resource.hpp"

namespace makeway {

inline std::string queue_amount(std::string_view resource, std::int64_t amount) {
  if (!counted_in_thousandths(resource) || amount % 1'000 == 0) {
    return exact_amount(resource, amount);
  }
  std::string text = fmt::format("{}.{:03}", amount / 1'000, amount % 1'000);
  while (text.ends_with('0')) text.pop_back();
  return text;
}

}  // namespace makeway
