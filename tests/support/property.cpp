#include "support/property.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "base/check.hpp"

namespace makeway {
namespace {

/// A misspelt number must not quietly become the default: it would look like a thorough run.
std::uint64_t number_from_environment(const char* variable, std::uint64_t fallback) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return fallback;
  const std::string_view digits(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool is_number = error == std::errc{} && end == digits.data() + digits.size();
  CHECK(is_number, "MAKEWAY_PROPERTY_* must be a number");
  return value;
}

}  // namespace

std::uint64_t property_cases() { return number_from_environment("MAKEWAY_PROPERTY_CASES", 2000); }

std::uint64_t property_first_seed() { return number_from_environment("MAKEWAY_PROPERTY_SEED", 1); }

void for_each_case(std::string_view name, const std::function<void(Prng&)>& check) {
  const std::uint64_t cases = property_cases();
  const std::uint64_t first = property_first_seed();
  fmt::print("property {}: {} cases, first seed {}\n", name, cases, first);
  std::fflush(stdout);  // A case that crashes must not take this line with it.
  for (std::uint64_t seed = first; seed - first < cases; ++seed) {
    SCOPED_TRACE(fmt::format("MAKEWAY_PROPERTY_SEED={} MAKEWAY_PROPERTY_CASES=1", seed));
    Prng prng(seed);
    check(prng);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace makeway
