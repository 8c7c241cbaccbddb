#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kube/write_calls.hpp"
#include "support/live_server.hpp"

namespace makeway::kube {
namespace {

std::string status_body(int code, std::string_view reason, std::string_view cause = {}) {
  return fmt::format(
      R"({{"kind":"Status","status":"Failure","reason":"{}","code":{},"message":"m","details":)"
      R"({{"causes":[{{"reason":"{}"}}]}}}})",
      reason, code, cause);
}

constexpr auto binding = WriteKind::bind;
constexpr auto patching = WriteKind::patch_pod;
constexpr auto erasing = WriteKind::erase;
constexpr auto evicting = WriteKind::evict;

struct AnswerCase {
  std::string_view name;
  WriteKind kind;
  int status;
  std::string body;
  Verdict verdict;
};

TEST(WriteAnswers, AreJudgedByCodeReasonAndCause) {
  const std::vector<AnswerCase> cases = {
      {"bound", binding, 201, R"({"kind":"Status","status":"Success"})", Verdict::done},
      {"deleted", erasing, 200, "{}", Verdict::done},
      {"gone", erasing, 404, status_body(404, "NotFound"), Verdict::refused},
      {"bind of a gone pod", binding, 404, status_body(404, "NotFound"), Verdict::refused},
      {"conflict", binding, 409, status_body(409, "Conflict"), Verdict::refused},
      {"forbidden", evicting, 403, status_body(403, "Forbidden"), Verdict::refused},
      {"wrong uid", patching, 422, status_body(422, "Invalid"), Verdict::refused},
      {"bad request", binding, 400, status_body(400, "BadRequest"), Verdict::refused},
      {"not a patch", WriteKind::patch_group, 415, "no", Verdict::refused},
      {"unauthorized", binding, 401, status_body(401, "Unauthorized"), Verdict::again},
      {"budget", evicting, 429, status_body(429, "TooManyRequests", "DisruptionBudget"),
       Verdict::refused},
      {"overload", evicting, 429, "Too many requests, please try again later.", Verdict::again},
      {"overload as a Status", binding, 429, status_body(429, "TooManyRequests"), Verdict::again},
      {"bind 500", binding, 500, status_body(500, ""), Verdict::refused},
      {"bind 500 with a reason", binding, 500, status_body(500, "InternalError"), Verdict::refused},
      {"two budgets", evicting, 500, status_body(500, ""), Verdict::refused},
      {"eviction failed", evicting, 500, status_body(500, "InternalError"), Verdict::unknown},
      {"patch failed", patching, 500, status_body(500, "InternalError"), Verdict::unknown},
      {"delete failed", erasing, 500, "", Verdict::unknown},
      {"bad gateway", binding, 502, "<html>", Verdict::unknown},
      {"unavailable", binding, 503, status_body(503, "ServiceUnavailable"), Verdict::unknown},
      {"timeout", binding, 504, status_body(504, "Timeout"), Verdict::unknown},
      {"redirect", binding, 302, "", Verdict::unknown},
  };
  for (const AnswerCase& each : cases) {
    SCOPED_TRACE(each.name);
    EXPECT_EQ(judge_answer(each.kind, http_answer(each.status, each.body)).verdict, each.verdict);
  }
}

TEST(WriteAnswers, NoAnswerIsNotNo) {
  const auto without = [](Failure failure) {
    return judge_answer(binding, std::unexpected(ApiError{.failure = failure})).verdict;
  };
  for (const Failure failure :
       {Failure::timeout, Failure::cut, Failure::malformed, Failure::too_large}) {
    EXPECT_EQ(without(failure), Verdict::unknown) << name_of(failure);
  }
  for (const Failure failure :
       {Failure::dns, Failure::refused, Failure::tls, Failure::proxy, Failure::credentials}) {
    EXPECT_EQ(without(failure), Verdict::again) << name_of(failure);
  }
}

TEST(WriteAnswers, TellWhenToComeBackAndTheNewVersion) {
  EXPECT_EQ(judge_answer(binding, http_answer(429, "later", Duration{7'000})).retry_after,
            Duration{7'000});
  const WriteAnswer patched = judge_answer(
      patching, http_answer(200, R"({"metadata":{"name":"p","resourceVersion":"8"}})"));
  ASSERT_TRUE(patched.object.has_value());
  EXPECT_EQ(patched.object->version, "8");
}

std::string read_pod(std::string_view uid, std::string_view node, std::string_view more = {}) {
  return fmt::format(
      R"({{"metadata":{{"name":"p","namespace":"a","uid":"{}"{}}},"spec":{{"nodeName":"{}"}}}})",
      uid, more, node);
}

struct ReadingCase {
  std::string_view name;
  WriteKind kind;
  int status;
  std::string body;
  Verdict verdict;
};

TEST(WriteAnswers, AReadingTellsWhatBecameOfIt) {
  const std::string leaving = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")";
  const std::vector<ReadingCase> cases = {
      {"bound as wanted", binding, 200, read_pod("U", "n1"), Verdict::done},
      {"bound elsewhere", binding, 200, read_pod("U", "n2"), Verdict::refused},
      {"another pod, same node", binding, 200, read_pod("V", "n1"), Verdict::refused},
      {"not yet", binding, 200, read_pod("U", ""), Verdict::unknown},
      {"leaving", binding, 200, read_pod("U", "", leaving), Verdict::refused},
      {"gone", binding, 404, "", Verdict::refused},
      {"unavailable", binding, 503, "", Verdict::unknown},
      {"deleted", erasing, 404, "", Verdict::done},
      {"being deleted", erasing, 200, read_pod("U", "n1", leaving), Verdict::done},
      {"replaced", evicting, 200, read_pod("V", "n1"), Verdict::done},
      {"still there", evicting, 200, read_pod("U", "n1"), Verdict::unknown},
  };
  for (const ReadingCase& each : cases) {
    SCOPED_TRACE(each.name);
    const WriteGoal goal{.kind = each.kind, .uid = "U", .node = "n1"};
    EXPECT_EQ(judge_reading(goal, http_answer(each.status, each.body)).verdict, each.verdict);
  }
  const WriteGoal nominates{.kind = patching, .uid = "U", .patch = nomination("n1", "1", {})};
  EXPECT_EQ(judge_reading(nominates, http_answer(200, read_pod("U", ""))).verdict,
            Verdict::unknown);
  EXPECT_EQ(
      judge_reading(
          nominates,
          http_answer(200, R"({"metadata":{"name":"p","uid":"U"},"status":{"nominatedNodeName":)"
                           R"("n1","conditions":[{"type":"makeway.dev/Nominated","status":"True",)"
                           R"("reason":"Nominated","message":"node n1, plan 1"}]}})"))
          .verdict,
      Verdict::done);
}

TEST(WriteAnswers, AKernelsPodThatIsThereIsItsSessionsOrNot) {
  const auto owned = [](std::string_view owner, std::string_view more = {}) {
    return fmt::format(
        R"(,"ownerReferences":[{{"kind":"Session","uid":"{}","controller":true}}]{})", owner, more);
  };
  const std::string leaving = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")";
  constexpr auto creating = WriteKind::create_pod;
  EXPECT_EQ(judge_answer(creating, http_answer(409, status_body(409, "AlreadyExists"))).verdict,
            Verdict::refused);  // Until the pod is read.
  const std::vector<ReadingCase> cases = {
      {"made before", creating, 200, read_pod("P", "n1", owned("S")), Verdict::done},
      {"of another session", creating, 200, read_pod("P", "n1", owned("T")), Verdict::refused},
      {"of no session", creating, 200, read_pod("P", "n1"), Verdict::refused},
      {"leaving", creating, 200, read_pod("P", "n1", owned("S", leaving)), Verdict::refused},
      {"gone meanwhile", creating, 404, "", Verdict::refused},
      {"unavailable", creating, 503, "", Verdict::unknown},
  };
  for (const ReadingCase& each : cases) {
    SCOPED_TRACE(each.name);
    const WriteGoal goal{.kind = each.kind, .uid = "S"};
    EXPECT_EQ(judge_reading(goal, http_answer(each.status, each.body)).verdict, each.verdict);
  }
}

}  // namespace
}  // namespace makeway::kube
