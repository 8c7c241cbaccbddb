// ResourceNames: how many different resources one cluster may name, when one object must not stop
// the others (law 13).
//
// Every name is a column of the store, so their number is limited. A pod may ask for anything, and
// an API server accepts it: names that nodes offer come first, whatever the order of the input, and
// what pods ask for beyond the limit is on no node.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/objects.hpp"

namespace makeway {

/// Different names of resources in one cluster; real ones have a few dozen.
inline constexpr std::size_t resource_names_max = 256;

class ResourceNames {
 public:
  ResourceNames();

  /// Whether the object asks for a resource that no node before it offers. A node's are offered
  /// from now on.
  bool names_new(const Change& object);
  /// Takes amounts beyond the limit out of `objects`, by name; returns the names of these objects.
  std::vector<bool> limit(std::span<Change* const> objects) const;

 private:
  std::set<std::string, std::less<>> offered_;
};

}  // namespace makeway
