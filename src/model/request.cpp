#include "model/request.hpp"

#include <algorithm>

#include "model/names.hpp"
#include "model/object_text.hpp"

namespace makeway {

AskName ask_name_of(const PlanAsk& ask) {
  return {.kind = ask.kind, .namespace_name = ask.namespace_name, .name = ask.name};
}

std::string ask_text(const AskName& ask) {
  return object_text(choice_name(ask.kind), ask.namespace_name, ask.name);
}

const Profile* find_profile(std::span<const Profile> profiles, std::string_view scheduler_name) {
  if (scheduler_name.empty()) scheduler_name = names::default_scheduler;
  const auto found = std::ranges::find(profiles, scheduler_name, &Profile::scheduler_name);
  return found == profiles.end() ? nullptr : &*found;
}

}  // namespace makeway
