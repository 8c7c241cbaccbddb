#include "model/request.hpp"

#include "model/object_text.hpp"

namespace makeway {

AskName ask_name_of(const PlanAsk& ask) {
  return {.kind = ask.kind, .namespace_name = ask.namespace_name, .name = ask.name};
}

std::string ask_text(const AskName& ask) {
  return object_text(choice_name(ask.kind), ask.namespace_name, ask.name);
}

}  // namespace makeway
