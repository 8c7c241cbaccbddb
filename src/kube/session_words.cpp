#include "kube/session_words.hpp"

#include <fmt/format.h>

#include <utility>

#include "kube/tenant_text.hpp"

namespace makeway::kube {
namespace {

/// What becomes of it when its pods have left.
std::string then_text(const Session& session) {
  const SessionStatus& status = session.status;
  switch (status.fate.value_or(SessionFate::ends)) {
    case SessionFate::requeues:
      return status.resume_after
                 ? fmt::format("it is in the queue again from {} on", to_text(*status.resume_after))
                 : "it is in the queue again";
    case SessionFate::on_request:
      return fmt::format("`makeway session resume {}/{}` brings it back", session.namespace_name,
                         session.name);
    case SessionFate::to_autoscaler: return "it ends, and its autoscaler starts another one";
    case SessionFate::suspends:
    case SessionFate::ends: break;
  }
  return "it ends";
}

}  // namespace

ConditionUpdate started_word() { return session_word(true, "Scheduled", {}); }

ConditionUpdate waiting_word(const PlanAsk& ask, std::string_view brake, bool names_causes) {
  const bool has_room = ask.outcome == Outcome::preempts || ask.outcome == Outcome::waits;
  std::string message = ask.reason;
  if (!brake.empty()) message += fmt::format(" ({})", brake);
  if (!names_causes) message = tenant_text(message, ask.namespace_name, ask.waits_for);
  return session_word(false, has_room ? "WaitsForRoom" : "Unschedulable", message);
}

ConditionUpdate ending_word(std::string reason, std::string_view why, const Session& session) {
  return session_word(false, std::move(reason), fmt::format("{}; {}", why, then_text(session)));
}

}  // namespace makeway::kube
