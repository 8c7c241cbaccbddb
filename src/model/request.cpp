#include "model/request.hpp"

#include "model/object_text.hpp"

namespace makeway {
namespace {

constexpr bool begins_with_ask_kinds() {
  for (std::size_t at = 0; at < choice_names<AskKind>.size(); ++at) {
    if (choice_names<AskKind>[at] != choice_names<RefKind>[at]) return false;
  }
  return true;
}

static_assert(begins_with_ask_kinds(), "a kind of ask is converted by its number");

}  // namespace

AskName ask_name_of(const PlanAsk& ask) {
  return {.kind = ask.kind, .namespace_name = ask.namespace_name, .name = ask.name};
}

ObjectRef ref_of(const AskName& ask) {
  return {.kind = static_cast<RefKind>(ask.kind),
          .namespace_name = ask.namespace_name,
          .name = ask.name};
}

ObjectRef ref_of(const PlanAsk& ask) {
  return {.kind = static_cast<RefKind>(ask.kind),
          .namespace_name = ask.namespace_name,
          .name = ask.name};
}

std::optional<AskName> as_ask(const ObjectRef& ref) {
  if (static_cast<std::size_t>(ref.kind) >= choice_names<AskKind>.size()) return std::nullopt;
  return AskName{.kind = static_cast<AskKind>(ref.kind),
                 .namespace_name = ref.namespace_name,
                 .name = ref.name};
}

std::string ask_text(const AskName& ask) {
  return object_text(choice_name(ask.kind), ask.namespace_name, ask.name);
}

}  // namespace makeway
