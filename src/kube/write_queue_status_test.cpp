// Statuses of queues among the writes (SPEC section 8): at most one a second, and before any pod
// is evicted for them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/write_queue_scene.hpp"

namespace makeway::kube {
namespace {

using WriteQueueStatuses = WriteQueueScene;

WriteJob status_job(std::string status, bool can_wait) {
  ObjectState seen;
  seen.kind = ObjectKind::queue;
  seen.name = "team";
  seen.uid = "q";
  seen.version = "1";
  return {.object = *parse_ref("Queue team"),
          .seen = {.object = std::move(seen)},
          .steps = {{.kind = WriteKind::patch_own, .status = std::move(status)}},
          .can_wait = can_wait};
}
ApiResult<HttpAnswer> status_written(std::string_view version) {
  return http_answer(
      200,
      fmt::format(R"({{"metadata":{{"name":"team","uid":"q","resourceVersion":"{}"}}}})", version));
}
constexpr std::string_view status_path = "PATCH /apis/makeway.dev/v1/queues/team/status";

TEST_F(WriteQueueStatuses, AStatusIsSentOnceASecondAndTheNewestCounts) {
  add({status_job(R"({"used":1})", true)});
  EXPECT_EQ(queue.unsent(), 0U);  // Nothing waits for it.
  EXPECT_EQ(next(), status_path);
  reply(status_written("2"));
  add({status_job(R"({"used":2})", true)});
  add({status_job(R"({"used":3})", true)});
  EXPECT_EQ(next(), "");
  EXPECT_EQ(queue.next_due(now), now + Duration{1'000});
  now = now + Duration{1'000};
  EXPECT_EQ(next(), status_path);
  // Guarded by our own answer, which no watch has shown yet.
  EXPECT_EQ(sending.call.write.body,
            R"({"metadata":{"uid":"q","resourceVersion":"2"},"status":{"used":3}})");
  reply(status_written("3"));
  EXPECT_EQ(next(), "");
  EXPECT_TRUE(queue.is_idle());
}

TEST_F(WriteQueueStatuses, AnEvictionForAQueueMakesStatusesHurry) {
  add({status_job(R"({"used":1})", true)});
  EXPECT_EQ(next(), status_path);
  reply(status_written("2"));
  add({status_job(R"({"used":2})", true)});
  EXPECT_EQ(next(), "");
  // Of a plan whose statuses are those of the one before.
  add({victim_of("low", {}, "Queue team")});
  EXPECT_EQ(next(), status_path);
  EXPECT_EQ(next(), "");  // The victim waits.
  reply(status_written("3"));
  mark_and_evict("low");
}

TEST_F(WriteQueueStatuses, ARefusedStatusSparesTheVictimsOfQueues) {
  add({status_job(R"({"used":1})", false)});
  EXPECT_EQ(next(), status_path);
  add({victim_of("low", {}, "Queue team"), victim_of("other")});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/other/status");
  const std::uint64_t other = sending.job;
  queue.answered(other - 2, http_answer(409), now);
  const std::vector<std::string> receipts = refused();
  ASSERT_EQ(receipts.size(), 2U);
  EXPECT_TRUE(receipts[0].starts_with("Queue team: ")) << receipts[0];
  EXPECT_EQ(receipts[1], "Pod a/low: a write that it depends on was refused");
  queue.answered(other, http_answer(200, queued_pod("other", "2")), now);
  EXPECT_EQ(next(), "POST /api/v1/namespaces/a/pods/other/eviction");
}

/// The plan was decided as if the status were there: its receipt had not come yet.
TEST_F(WriteQueueStatuses, APlanMadeBeforeARefusedStatusEvictsNoPodForQueues) {
  add({status_job(R"({"used":1})", false)});
  EXPECT_EQ(next(), status_path);
  reply(http_answer(409));
  add({victim_of("low", {}, "Queue team"), victim_of("other")});
  EXPECT_EQ(refused().back(), "Pod a/low: a write that it depends on was refused");
  mark_and_evict("other");
  queue.add("0124", Time{500},
            {.jobs = {victim_of("low", {}, "Queue team")}, .heard = queue.statuses_refused()}, now);
  mark_and_evict("low");
}

WriteJob word_job(std::string_view type, std::string message) {
  WriteJob job = status_job({}, false);
  job.urgency = Urgency::condition;
  job.steps[0].patch.conditions = {
      {.type = std::string(type), .value = false, .reason = "No", .message = std::move(message)}};
  return job;
}

/// Before, the second one took the place of the first, which was never written.
TEST_F(WriteQueueStatuses, ConditionsOfTwoTypesAreBothWritten) {
  add({word_job("makeway.dev/Accepted", "a"), word_job("makeway.dev/Scheduled", "b"),
       word_job("makeway.dev/Scheduled", "c")});
  EXPECT_EQ(next(), status_path);
  EXPECT_NE(sending.call.write.body.find("Accepted"), std::string::npos);
  reply(http_answer(200, R"({"metadata":{"name":"team","uid":"q","resourceVersion":"2"},"status":)"
                         R"({"conditions":[{"type":"makeway.dev/Accepted","status":"False",)"
                         R"("reason":"No","message":"a"}]}})"));
  EXPECT_EQ(next(), status_path);
  // The newer of its type, and what the first one wrote stays in the list.
  const std::string& body = sending.call.write.body;
  EXPECT_NE(body.find(R"("resourceVersion":"2")"), std::string::npos) << body;
  EXPECT_NE(body.find(R"({"type":"makeway.dev/Accepted","status":"False","reason":"No",)"
                      R"("message":"a"})"),
            std::string::npos)
      << body;
  EXPECT_NE(body.find(R"("message":"c")"), std::string::npos) << body;
  reply(http_answer(504));
  now = *queue.next_due(now);
  EXPECT_EQ(next(), status_path);  // Words may be said twice.
  reply(status_written("3"));
  EXPECT_EQ(next(), "");
  EXPECT_TRUE(queue.is_idle());
}

}  // namespace
}  // namespace makeway::kube
