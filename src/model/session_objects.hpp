// ResourceGroup, Session and Partition (SPEC section 6).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "model/amounts.hpp"
#include "model/object_kind.hpp"

namespace makeway {

struct ResourceGroup {
  static constexpr ObjectKind kind = ObjectKind::resource_group;
  static constexpr std::string_view kind_name = "ResourceGroup";
  static constexpr bool is_namespaced = false;

  std::string name;
  std::string uid;
  std::vector<std::string> nodes;  ///< Sorted.

  friend bool operator==(const ResourceGroup&, const ResourceGroup&) = default;
};

/// A part of a session on one node.
struct Kernel {
  std::string name;
  std::string node;  ///< Empty: it has no place.
  Amounts requests;

  friend auto operator<=>(const Kernel&, const Kernel&) = default;
};

struct Session {
  static constexpr ObjectKind kind = ObjectKind::session;
  static constexpr std::string_view kind_name = "Session";
  static constexpr bool is_namespaced = true;

  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string resource_group;
  std::string partition;
  std::vector<Kernel> kernels;  ///< Sorted by name.

  friend bool operator==(const Session&, const Session&) = default;
};

struct Partition {
  static constexpr ObjectKind kind = ObjectKind::partition;
  static constexpr std::string_view kind_name = "Partition";
  static constexpr bool is_namespaced = false;

  std::string name;
  std::string uid;

  friend bool operator==(const Partition&, const Partition&) = default;
};

}  // namespace makeway
