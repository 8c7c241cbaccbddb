#include "bench/support/measure.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

namespace makeway::bench {

std::string target_text(double limit_us, double taken_us) {
  if (taken_us <= limit_us) return fmt::format("{:.0f}: met", limit_us);
  return fmt::format("{:.0f}: x {:.1f}", limit_us, taken_us / limit_us);
}

void times_field(JsonWriter& writer, std::string_view name, const Times& times) {
  writer.key(name);
  writer.begin_object();
  writer.key("median");
  writer.number(fmt::format("{:.1f}", times.median_us));
  writer.key("fastest");
  writer.number(fmt::format("{:.1f}", times.fastest_us));
  writer.end_object();
}

bool write_file(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file.fail()) fmt::print(stderr, "bench: cannot write {}\n", path);
  return !file.fail();
}

}  // namespace makeway::bench
