// Standard input in the short notation of scenarios, standard output as YAML. For scripts that
// read tests/scenarios, such as tools/compare-decisions.sh.
#include "support/short_notation.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

int main() {
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  const auto yaml = makeway::expand_short_notation(text);
  if (!yaml) {
    fmt::print(stderr, "{}\n", yaml.error().message);
    return 1;
  }
  fmt::print("{}", *yaml);
  return 0;
}
