// ObjectRef: which object an ask, an action, a condition, a write or a receipt is about.
//
// Compared by value and used as a key. Its text ("Pod default/web") is written to logs, journals,
// documents and annotations; `parse_ref` is the one place that reads it.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/configuration.hpp"

namespace makeway {

/// What may be asked for or written. The first ones are those of AskKind, in its order.
enum class RefKind : std::uint8_t {
  pod,
  pod_group,
  queue,
  replica_schedule,
  session,
  resource_group,
  partition,
  persistent_volume_claim,
  deployment,
};
template <>
inline constexpr std::array<std::string_view, 9> choice_names<RefKind> = {
    "Pod",       "PodGroup",      "Queue",     "ReplicaSchedule",
    "Session",   "ResourceGroup", "Partition", "PersistentVolumeClaim",
    "Deployment"};

struct ObjectRef {
  RefKind kind = RefKind::pod;
  std::string namespace_name;  ///< Empty: its kind has none.
  std::string name;
  std::string plane = {};  ///< Empty: the home cluster. NOLINT(readability-redundant-member-init)

  friend auto operator<=>(const ObjectRef&, const ObjectRef&) = default;
};

ObjectRef pod_ref(std::string namespace_name, std::string name, std::string plane = {});

/// "Pod default/web", without its plane.
std::string ref_text(const ObjectRef& ref);
/// Empty: none.
std::string ref_text(const std::optional<ObjectRef>& ref);
/// "default/web"
std::string name_text(const ObjectRef& ref);
/// "Deployment shop/web of plane east"
std::string ref_and_plane_text(const ObjectRef& ref);
/// From the text without a plane. None: no kind of these.
std::optional<ObjectRef> parse_ref(std::string_view text);

}  // namespace makeway
