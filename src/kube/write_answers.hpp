// What an answer to a write means (SPEC section 8, "Every write carries timeout=5s").
//
//   2xx                                                         done
//   429 without the cause DisruptionBudget                      again: overload, nothing was tried
//   no connection came about, or our credentials were not read  again: nothing was sent
//   401                                                         again, with new credentials
//   400 to 499 otherwise                                        refused
//   500 of a bind; 500 without a reason of an eviction          refused (two budgets), never again
//   other 5xx, cut, timeout, an answer that cannot be read      unknown: the object is read
//
// Decisions look at the code, the reason and the causes, never at a message. No answer is not "no":
// after an unknown one the object is read. What it shows may be too early: the server may go on
// until its deadline has passed, so "not there" counts only after that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codec/object_state.hpp"
#include "kube/api_error.hpp"
#include "kube/http_client.hpp"
#include "kube/write_calls.hpp"

namespace makeway::kube {

enum class Verdict : std::uint8_t { done, refused, again, unknown };

struct WriteAnswer {
  Verdict verdict = Verdict::unknown;
  int status = 0;      ///< 0: there was none.
  std::string reason;  ///< For people.
  std::optional<Duration> retry_after;
  std::optional<ObjectState> object;                    ///< As the server shows it after a patch.
  std::optional<std::int64_t> replicas = std::nullopt;  ///< Of a Deployment's scale.
};

WriteAnswer judge_answer(WriteKind kind, const ApiResult<HttpAnswer>& result);

/// What a write wanted, for the reading of the object afterwards.
struct WriteGoal {
  WriteKind kind = WriteKind::bind;
  std::string uid;            ///< Of a create: of the controller.
  std::string node;           ///< Of a bind.
  StatusPatch patch;          ///< Of a patch.
  std::int64_t replicas = 0;  ///< Of a scale.
};

/// Done, refused (it cannot come about any more), or unknown (it is not there yet).
WriteAnswer judge_reading(const WriteGoal& goal, const ApiResult<HttpAnswer>& result);

}  // namespace makeway::kube
