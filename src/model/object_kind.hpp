// The kinds of objects, and what Makeway's own kinds have in common.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace makeway {

enum class ObjectKind : std::uint8_t {
  node,
  pod,
  priority_class,
  disruption_budget,
  pod_group,
  workload,
  namespace_object,
  queue,
  replica_schedule,
  resource_group,
  session,
  partition,
};

/// An object of makeway.dev/v1. Few enough for ordered maps; decoded, stored and listed alike.
template <class Object>
concept OwnObject = requires {
  { Object::kind } -> std::convertible_to<ObjectKind>;
  { Object::kind_name } -> std::convertible_to<std::string_view>;
  { Object::is_namespaced } -> std::convertible_to<bool>;
};

using OwnKey = std::pair<std::string, std::string>;  ///< Namespace, or nothing, and name.

template <OwnObject Object>
OwnKey own_key(const Object& object) {
  if constexpr (Object::is_namespaced) {
    return {object.namespace_name, object.name};
  } else {
    return {std::string(), object.name};
  }
}

}  // namespace makeway
