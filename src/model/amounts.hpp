// Labels and amounts: the values that all objects are made of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace makeway {

struct Label {
  std::string key;
  std::string value;

  friend auto operator<=>(const Label&, const Label&) = default;
};
using Labels = std::vector<Label>;  ///< Sorted by key, keys unique.

struct Amount {
  std::string resource;
  std::int64_t amount = 0;

  friend auto operator<=>(const Amount&, const Amount&) = default;
};
using Amounts = std::vector<Amount>;  ///< Sorted by resource, unique, never zero or negative.

/// Like Amounts, but zero is kept: "none of it" is not the same as "nothing is said".
using Quotas = std::vector<Amount>;

}  // namespace makeway
