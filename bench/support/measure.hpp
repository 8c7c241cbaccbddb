// Times of repeated work, and how results are printed and written: what the planning benchmarks
// share.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "codec/writer.hpp"

namespace makeway::bench {

struct Times {
  double median_us = 0;
  double fastest_us = 0;
};

/// As often as asked, or as half a second holds, but at least three times if that is not too long.
template <class Work>
Times time_of(std::size_t repeat, const Work& work) {
  constexpr double enough_us = 500'000;
  constexpr std::size_t repeat_max = 51;
  std::vector<double> microseconds;
  double total = 0;
  const auto wants_more = [&] {
    const std::size_t done = microseconds.size();
    if (repeat > 0 || done == 0) return done < std::max<std::size_t>(repeat, 1);
    return (total < enough_us && done < repeat_max) || (done < 3 && total < 4 * enough_us);
  };
  while (wants_more()) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - begin;
    microseconds.push_back(taken.count());
    total += taken.count();
  }
  std::ranges::sort(microseconds);
  return {.median_us = microseconds[microseconds.size() / 2], .fastest_us = microseconds.front()};
}

/// "200: met", "200: x 3.1" for three times as long.
std::string target_text(double limit_us, double taken_us);

/// `"name":{"median":1.0,"fastest":0.9}`
void times_field(JsonWriter& writer, std::string_view name, const Times& times);

/// False, and a line on standard error: it could not be written.
bool write_file(const std::string& path, std::string_view text);

}  // namespace makeway::bench
