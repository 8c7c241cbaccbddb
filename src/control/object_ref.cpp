#include "control/object_ref.hpp"

#include <algorithm>
#include <utility>

#include "model/object_text.hpp"

namespace makeway {
namespace {

constexpr bool begins_with_ask_kinds() {
  for (std::size_t at = 0; at < choice_names<AskKind>.size(); ++at) {
    if (choice_names<AskKind>[at] != choice_names<RefKind>[at]) return false;
  }
  return true;
}
struct StoredKind {
  RefKind kind;
  ObjectKind stored;
};
constexpr std::array stored_kinds = {
    StoredKind{RefKind::pod, ObjectKind::pod},
    StoredKind{RefKind::pod_group, ObjectKind::pod_group},
    StoredKind{RefKind::queue, ObjectKind::queue},
    StoredKind{RefKind::replica_schedule, ObjectKind::replica_schedule},
    StoredKind{RefKind::session, ObjectKind::session},
    StoredKind{RefKind::resource_group, ObjectKind::resource_group},
    StoredKind{RefKind::partition, ObjectKind::partition},
    StoredKind{RefKind::persistent_volume_claim, ObjectKind::persistent_volume_claim}};

static_assert(begins_with_ask_kinds(), "a kind of ask is converted by its number");

}  // namespace

ObjectRef ref_of(const AskName& ask) {
  return {.kind = static_cast<RefKind>(ask.kind),
          .namespace_name = ask.namespace_name,
          .name = ask.name};
}

ObjectRef ref_of(const PlanAsk& ask) { return ref_of(ask_name_of(ask)); }

ObjectRef pod_ref(std::string namespace_name, std::string name, std::string plane) {
  return {.kind = RefKind::pod,
          .namespace_name = std::move(namespace_name),
          .name = std::move(name),
          .plane = std::move(plane)};
}

std::optional<ObjectRef> ask_of(const PlanAction& action) { return parse_ref(action.ask); }

std::optional<AskName> as_ask(const ObjectRef& ref) {
  if (static_cast<std::size_t>(ref.kind) >= choice_names<AskKind>.size()) return std::nullopt;
  return AskName{.kind = static_cast<AskKind>(ref.kind),
                 .namespace_name = ref.namespace_name,
                 .name = ref.name};
}

std::optional<RefKind> ref_kind(ObjectKind kind) {
  const auto* const found = std::ranges::find(stored_kinds, kind, &StoredKind::stored);
  return found == stored_kinds.end() ? std::nullopt : std::optional(found->kind);
}

std::optional<ChangeKey> store_key(const ObjectRef& ref) {
  const auto* const found = std::ranges::find(stored_kinds, ref.kind, &StoredKind::kind);
  if (found == stored_kinds.end()) return std::nullopt;
  return ChangeKey{found->stored, ref.plane, ref.namespace_name, ref.name};
}

std::string ref_text(const ObjectRef& ref) {
  return object_text(choice_name(ref.kind), ref.namespace_name, ref.name);
}

std::string name_text(const ObjectRef& ref) {
  return ref.namespace_name.empty() ? ref.name : ref.namespace_name + "/" + ref.name;
}

std::string ref_and_plane_text(const ObjectRef& ref) {
  std::string text = ref_text(ref);
  if (!ref.plane.empty()) text.append(of_plane).append(ref.plane);
  return text;
}

std::optional<ObjectRef> parse_ref(std::string_view text) {
  const std::size_t space = std::min(text.find(' '), text.size());
  const auto* const kind = std::ranges::find(choice_names<RefKind>, text.substr(0, space));
  if (kind == choice_names<RefKind>.end()) return std::nullopt;
  const std::string_view key = text.substr(std::min(space + 1, text.size()));
  const std::size_t slash = key.find('/');
  const bool has_namespace = slash != std::string_view::npos;
  return ObjectRef{.kind = static_cast<RefKind>(kind - choice_names<RefKind>.begin()),
                   .namespace_name = std::string(has_namespace ? key.substr(0, slash) : ""),
                   .name = std::string(has_namespace ? key.substr(slash + 1) : key)};
}

}  // namespace makeway
