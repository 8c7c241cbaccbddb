#include "support/property.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
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

namespace {

void run_cases(std::uint64_t cases, std::string_view name,
               const std::function<void(Prng&)>& check) {
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

/// From so many cases on the share of those that were skipped means something.
constexpr std::uint64_t cases_for_shares = 100;

}  // namespace

void for_each_case(std::string_view name, const std::function<void(Prng&)>& check) {
  run_cases(property_cases(), name, check);
}

void for_one_case_in(std::uint64_t many, std::string_view name,
                     const std::function<void(Prng&)>& check) {
  run_cases(std::max<std::uint64_t>(1, property_cases() / many), name, check);
}

void Skips::expect_at_most(std::uint64_t percent, std::string_view why, std::uint64_t cases) const {
  fmt::print("{} of {} cases {}\n", count_, cases, why);
  if (cases < cases_for_shares) return;
  EXPECT_LE(count_ * 100, cases * percent) << "too many cases " << why;
}

}  // namespace makeway
