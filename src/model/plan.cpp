#include "model/plan.hpp"

#include <fmt/format.h>

namespace makeway {

std::string ask_text(const PlanAsk& ask) {
  return fmt::format("{} {}/{}", choice_name(ask.kind), ask.namespace_name, ask.name);
}

}  // namespace makeway
