// Scaling in the queue of writes: read, checked, patched with the version that was read.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/write_queue.hpp"
#include "support/live_server.hpp"

namespace makeway::kube {
namespace {

constexpr std::string_view web_scale = "/apis/apps/v1/namespaces/a/deployments/web/scale";

ApiResult<HttpAnswer> scale_answer(int replicas, std::string_view version = "7",
                                   std::string_view uid = "u") {
  return http_answer(
      200, fmt::format(R"({{"kind":"Scale","metadata":{{"name":"web","namespace":"a","uid":"{}",)"
                       R"("resourceVersion":"{}"}},"spec":{{"replicas":{}}}}})",
                       uid, version, replicas));
}

class ScaleQueueTest : public testing::Test {
 protected:
  ScaleQueueTest() {
    WriteJob job{.object = {.kind = RefKind::deployment,
                            .namespace_name = "a",
                            .name = "web",
                            .plane = "east"},
                 .ask = parse_ref("ReplicaSchedule a/reco"),
                 .seen = {.object = {.namespace_name = "a", .name = "web", .uid = "u"}}};
    for (const WriteKind kind : {WriteKind::read_scale, WriteKind::scale}) {
      WriteStep step{.kind = kind};
      step.replicas_from = 3;
      step.replicas_to = 2;
      job.steps.push_back(std::move(step));
    }
    queue.add("0123", Time{500}, {.jobs = {std::move(job)}}, now);
  }

  /// What is sent next: "PATCH 2 at 7", "GET"; empty: nothing.
  std::string next() {
    std::optional<Sending> found = queue.next(now, Time{1'000'000});
    if (!found) return {};
    sending = *std::move(found);
    EXPECT_EQ(sending.plane, "east");
    const std::string& path = sending.reads ? sending.call.read_path : sending.call.path;
    EXPECT_EQ(path.substr(0, path.find('?')), web_scale);
    return sending.reads || sending.call.write.method.empty() ? "GET" : sending.call.write.body;
  }
  void reply(const ApiResult<HttpAnswer>& result) { queue.answered(sending.job, result, now); }
  std::string refusal() {
    const std::vector<Receipt> receipts = queue.take_receipts();
    if (receipts.empty()) return {};
    EXPECT_EQ(ref_and_plane_text(receipts[0].object), "Deployment a/web of plane east");
    EXPECT_EQ(receipts[0].ask, parse_ref("ReplicaSchedule a/reco"));
    return receipts[0].reason;
  }

  WriteQueue queue{{}, {}};
  Time now{1'000};
  Sending sending;
};

TEST_F(ScaleQueueTest, WhatWasReadGuardsTheWrite) {
  EXPECT_EQ(next(), "GET");
  reply(scale_answer(3));
  EXPECT_EQ(next(), R"({"metadata":{"uid":"u","resourceVersion":"7"},"spec":{"replicas":2}})");
  EXPECT_EQ(sending.call.write.content_type, "application/merge-patch+json");
  reply(scale_answer(2, "8"));
  EXPECT_TRUE(queue.is_idle());
  EXPECT_EQ(queue.statistics().sent, 1U);
}

TEST_F(ScaleQueueTest, WhatIsDoneAlreadyIsNotWrittenAgain) {
  EXPECT_EQ(next(), "GET");
  reply(scale_answer(2));
  EXPECT_TRUE(queue.is_idle());
  EXPECT_EQ(refusal(), "");
}

TEST_F(ScaleQueueTest, AnotherNumberOrAnotherObjectIsNotTouched) {
  EXPECT_EQ(next(), "GET");
  reply(scale_answer(5));
  EXPECT_EQ(refusal(), "it has 5 replicas by now");
}

TEST_F(ScaleQueueTest, AnotherObjectOfItsNameIsNotTouched) {
  EXPECT_EQ(next(), "GET");
  reply(scale_answer(3, "7", "another"));
  EXPECT_EQ(refusal(), "another object has its name");
}

TEST_F(ScaleQueueTest, AConflictIsReadAgain) {
  EXPECT_EQ(next(), "GET");
  reply(scale_answer(3));
  next();
  reply(http_answer(409, R"({"kind":"Status","reason":"Conflict","code":409})"));
  now = now + Duration{3'000};
  EXPECT_EQ(next(), "GET");
  reply(scale_answer(3, "9"));
  EXPECT_EQ(next(), R"({"metadata":{"uid":"u","resourceVersion":"9"},"spec":{"replicas":2}})");
  reply(scale_answer(2, "10"));
  EXPECT_TRUE(queue.is_idle());
}

TEST_F(ScaleQueueTest, AnUnknownAnswerIsRead) {
  EXPECT_EQ(next(), "GET");
  reply(std::unexpected(ApiError{.failure = Failure::cut}));  // A reading is asked for again.
  now = now + Duration{3'000};
  EXPECT_EQ(next(), "GET");
  reply(scale_answer(3));
  next();
  reply(std::unexpected(ApiError{.failure = Failure::cut}));
  EXPECT_EQ(next(), "GET");
  EXPECT_TRUE(sending.reads);
  reply(scale_answer(3));  // Too early: the server may go on until its deadline.
  EXPECT_EQ(next(), "");
  now = now + Duration{10'000};
  EXPECT_EQ(next(), "GET");
  reply(scale_answer(2));
  EXPECT_TRUE(queue.is_idle());
  EXPECT_EQ(refusal(), "");
}

/// Neither what a plane does not answer, nor what waits behind that.
TEST_F(ScaleQueueTest, NoEventWaitsForAPlane) {
  EXPECT_EQ(next(), "GET");
  PlanJobs more;
  more.jobs.push_back({.object = {.kind = RefKind::deployment,
                                  .namespace_name = "a",
                                  .name = "web",
                                  .plane = "east"},
                       .ask = parse_ref("ReplicaSchedule a/reco"),
                       .steps = {{.kind = WriteKind::read_scale}}});
  more.events.push_back({.regarding = {.namespace_name = "a", .name = "pod", .uid = "p"},
                         .regarding_kind = "Pod",
                         .reason = "Preempted",
                         .action = "Preempting",
                         .note = "for web"});
  queue.add("0124", Time{600}, std::move(more), now);
  EXPECT_EQ(queue.unsent(), 0U) << "the home server has nothing to do";
  const std::optional<Sending> event = queue.next(now, Time{1'000'000});
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->plane, "");
  EXPECT_TRUE(event->call.path.contains("/events"));
  reply(scale_answer(3));
  EXPECT_EQ(next(), R"({"metadata":{"uid":"u","resourceVersion":"7"},"spec":{"replicas":2}})");
}

TEST_F(ScaleQueueTest, WhatWaitsForALostPlaneIsDropped) {
  queue.drop_plane("west", "lost");
  EXPECT_EQ(refusal(), "");
  queue.drop_plane("east", "the plane is not seen");
  EXPECT_EQ(refusal(), "the plane is not seen");
  EXPECT_TRUE(queue.is_idle());
}

}  // namespace
}  // namespace makeway::kube
