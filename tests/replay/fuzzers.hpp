// The fuzzers of the program by name (src/*/<name>.cpp), without libFuzzer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace makeway::test {

struct Fuzzer {
  std::string_view name;
  int (*run)(const std::uint8_t* data, std::size_t size);
};

std::span<const Fuzzer> all_fuzzers();

}  // namespace makeway::test
