#include "kube/write_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "codec/json_text.hpp"

namespace makeway::kube {
namespace {

constexpr int unauthorized = 401;
constexpr int not_found = 404;
constexpr int too_many = 429;
constexpr int internal_error = 500;
constexpr std::string_view budget_cause = "DisruptionBudget";

bool is_success(int status) { return status >= 200 && status < 300; }

bool has_cause(std::string_view body, std::string_view wanted) {
  const auto tree = parse_json_value(body);
  if (!tree) return false;
  const JsonValue* const details = tree->find("details");
  if (details == nullptr) return false;
  return std::ranges::any_of(items_in(*details, "causes"), [&](const JsonValue& cause) {
    return text_in(cause, "reason") == wanted;
  });
}

/// Nothing was sent, so the same may be sent again.
bool was_never_sent(Failure failure) {
  return failure == Failure::dns || failure == Failure::refused || failure == Failure::tls ||
         failure == Failure::proxy || failure == Failure::credentials;
}

WriteAnswer without_answer(const ApiError& error) {
  return {.verdict = was_never_sent(error.failure) ? Verdict::again : Verdict::unknown,
          .status = 0,
          .reason = error.problem.message};
}

Verdict verdict_of(WriteKind kind, const ApiError& error, std::string_view body) {
  if (error.status == unauthorized) return Verdict::again;
  if (error.status == too_many) {
    return has_cause(body, budget_cause) ? Verdict::refused : Verdict::again;
  }
  if (error.status == internal_error) {
    const bool two_budgets = kind == WriteKind::evict && error.reason.empty();
    return kind == WriteKind::bind || two_budgets ? Verdict::refused : Verdict::unknown;
  }
  return error.status >= 400 && error.status < 500 ? Verdict::refused : Verdict::unknown;
}

bool is_of_scale(WriteKind kind) {
  return kind == WriteKind::read_scale || kind == WriteKind::scale;
}

std::optional<std::int64_t> replicas_in(std::string_view body) {
  const auto tree = parse_json_value(body);
  const JsonValue* const spec = tree ? tree->find("spec") : nullptr;
  if (spec == nullptr) return std::nullopt;
  const JsonValue* const replicas = spec->find("replicas");
  if (replicas == nullptr) return 0;  // As JSON leaves out a zero.
  return replicas->as_integer() == nullptr ? std::nullopt : std::optional(*replicas->as_integer());
}

WriteAnswer refused_reading(std::string reason) {
  return {.verdict = Verdict::refused, .status = 0, .reason = std::move(reason)};
}

}  // namespace

WriteAnswer judge_answer(WriteKind kind, const ApiResult<HttpAnswer>& result) {
  if (!result) return without_answer(result.error());
  const HttpAnswer& answer = *result;
  if (is_success(answer.status)) {
    WriteAnswer done{.verdict = Verdict::done, .status = answer.status};
    const bool is_own = kind == WriteKind::patch_own;
    if (kind != WriteKind::patch_pod && !is_own && !is_of_scale(kind)) return done;
    if (is_of_scale(kind)) done.replicas = replicas_in(answer.body.view());
    std::vector<ObjectState> objects_seen = read_object_states(
        answer.body.view(), is_own ? KeepConditions::all : KeepConditions::of_schedulers);
    if (!objects_seen.empty()) done.object = std::move(objects_seen.front());
    return done;
  }
  const ApiError error = refusal({}, answer.status, answer.body.view(), answer.retry_after);
  return {.verdict = verdict_of(kind, error, answer.body.view()),
          .status = answer.status,
          .reason = error.problem.message,
          .retry_after = error.retry_after};
}

WriteAnswer judge_reading(const WriteGoal& goal, const ApiResult<HttpAnswer>& result) {
  const bool erases = goal.kind == WriteKind::erase || goal.kind == WriteKind::evict;
  if (!result) {
    WriteAnswer nothing = without_answer(result.error());
    nothing.verdict = Verdict::unknown;
    return nothing;
  }
  WriteAnswer answer{
      .verdict = Verdict::unknown, .status = result->status, .retry_after = result->retry_after};
  if (result->status == not_found) {
    if (!erases) return refused_reading("it is gone");
    answer.verdict = Verdict::done;
    return answer;
  }
  std::vector<ObjectState> objects_seen = is_success(result->status)
                                              ? read_object_states(result->body.view())
                                              : std::vector<ObjectState>();
  if (objects_seen.empty()) return answer;
  ObjectState& seen = objects_seen.front();
  if (goal.kind == WriteKind::create_pod) {
    if (seen.owner_uid != goal.uid)
      return refused_reading("a pod of that name belongs to another owner");
    if (seen.leaving) return refused_reading("the pod of that name is leaving");
    answer.verdict = Verdict::done;
    return answer;
  }
  if (seen.uid != goal.uid) {
    if (!erases) return refused_reading("another object has its name");
    answer.verdict = Verdict::done;
    return answer;
  }
  bool shown = false;
  if (erases) {
    shown = seen.leaving;
  } else if (goal.kind == WriteKind::bind) {
    if (!seen.node.empty() && seen.node != goal.node) {
      return refused_reading(fmt::format("it is bound to {}", seen.node));
    }
    shown = !seen.node.empty();
  } else if (is_of_scale(goal.kind)) {
    answer.replicas = replicas_in(result->body.view());
    shown = answer.replicas == goal.replicas;
  } else {
    shown = !changes(goal.patch, seen);
  }
  if (!shown && !erases && seen.leaving) return refused_reading("it is leaving");
  if (shown) answer.verdict = Verdict::done;
  answer.object = std::move(seen);
  return answer;
}

}  // namespace makeway::kube
