#include "kube/write_queue.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/write_queue_scene.hpp"

namespace makeway::kube {
namespace {

ApiResult<HttpAnswer> cut_off() { return std::unexpected(ApiError{.failure = Failure::cut}); }

using WriteQueueTest = WriteQueueScene;

TEST_F(WriteQueueTest, OneWriteAnObjectManyObjects) {
  add({queued_job("p", {bind_step()}), queued_job("q", {bind_step()})});
  add({queued_job("p", {nominate_step()})});
  EXPECT_EQ(queue.unsent(), 3U);
  EXPECT_EQ(queue.sending_since(), Time{500});
  EXPECT_EQ(next(), "POST /api/v1/namespaces/a/pods/p/binding");
  const std::uint64_t first = sending.job;
  EXPECT_EQ(next(), "POST /api/v1/namespaces/a/pods/q/binding");
  EXPECT_EQ(next(), "");
  queue.answered(first, http_answer(201), now);
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/p/status");
  reply(http_answer(200, queued_pod("p", "2")));
  EXPECT_TRUE(queue.sending_since().has_value());
}

TEST_F(WriteQueueTest, BindsGoBeforeOtherWritesButNotPastTheirOwnObject) {
  WriteJob victim = queued_job("low", evict_steps());
  add({queued_job("u", {nominate_step()}), victim});
  add({queued_job("q", {nominate_step()}), queued_job("q", {bind_step()}),
       queued_job("p", {bind_step()})});
  EXPECT_EQ(next(), "POST /api/v1/namespaces/a/pods/p/binding");
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/u/status");
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/low/status");
  const std::uint64_t mark = sending.job;
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/q/status");
  const std::uint64_t nominated = sending.job;
  EXPECT_EQ(next(), "");
  queue.answered(mark, http_answer(200, queued_pod("low", "2")), now);
  queue.answered(nominated, http_answer(200, queued_pod("q", "3")), now);
  EXPECT_EQ(next(), "POST /api/v1/namespaces/a/pods/q/binding");
  EXPECT_EQ(next(), "DELETE /api/v1/namespaces/a/pods/low");
}

/// What a plan costs must not depend on how many others wait.
TEST_F(WriteQueueTest, ThousandsOfJobsGoOutInTheirOrder) {
  constexpr int count = 5'000;
  std::vector<WriteJob> jobs;
  for (int each = 0; each < count; ++each) {
    jobs.push_back(queued_job(fmt::format("u{}", each), {nominate_step()}));
    jobs.push_back(victim_of(fmt::format("v{}", each), {}, fmt::format("Pod a/u{}", each)));
    jobs.back().needs = {jobs.size() - 2};
  }
  add(std::move(jobs));
  for (int each = 0; each < count; ++each) {
    ASSERT_EQ(next(), fmt::format("PATCH /api/v1/namespaces/a/pods/u{}/status", each));
    reply(http_answer(200, queued_pod(fmt::format("u{}", each), "2")));
    queue.answered(mark_and_evict(fmt::format("v{}", each)), http_answer(201), now);
  }
  EXPECT_EQ(next(), "");
  EXPECT_TRUE(queue.is_idle());
  EXPECT_FALSE(queue.sending_since().has_value());
}

/// Its bind was never carried out, so it holds no room, and deleting it frees none.
TEST_F(WriteQueueTest, APodIsNotEvictedIfItsBindWasRefused) {
  add({queued_job("low", {bind_step()})});
  EXPECT_EQ(next(), "POST /api/v1/namespaces/a/pods/low/binding");
  reply(http_answer(504));
  WriteJob victim = queued_job("low", evict_steps());
  victim.ask = parse_ref("Pod a/u");
  victim.is_eviction = true;
  add({victim});
  EXPECT_EQ(next(), "GET /api/v1/namespaces/a/pods/low");
  reply(http_answer(200, queued_pod("low", "1")));
  EXPECT_EQ(next(), "");
  now = now + Duration{60'000};
  EXPECT_EQ(next(), "GET /api/v1/namespaces/a/pods/low");
  reply(http_answer(200, queued_pod("low", "1")));
  EXPECT_EQ(next(), "");
  EXPECT_EQ(refused().size(), 2U);
  EXPECT_TRUE(queue.is_idle());
}

// Black box, "who makes the spread uneven leaves": a pod whose eviction is decided does not count
// for a spread any more, so the next plan binds at once; but the eviction was refused.
TEST_F(WriteQueueTest, ABindWaitsForTheEvictionsOfItsAsk) {
  for (const bool refuses : {true, false}) {
    add({victim_of("low")});
    const std::uint64_t eviction = mark_and_evict("low");
    WriteJob bind = queued_job("u", {bind_step()});
    bind.placed = parse_ref("Pod a/u");
    add({bind});
    EXPECT_EQ(next(), "");
    queue.answered(eviction, refuses ? budget_says_no() : http_answer(201), now);
    EXPECT_EQ(next(), refuses ? "" : "POST /api/v1/namespaces/a/pods/u/binding");
    EXPECT_EQ(refused().size(), refuses ? 2U : 0U);
  }
}

/// A server that is slow must not be given the same nomination by every plan meanwhile.
TEST_F(WriteQueueTest, NominationsToOneNodeThatWaitAreOne) {
  WriteJob victim = queued_job("low", evict_steps());
  victim.needs = {0};
  victim.ask = parse_ref("Pod a/u");
  add({queued_job("u", {nominate_step()})});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/u/status");
  for (const std::string plan : {"2", "3", "4"}) {
    queue.add(plan, Time{600}, {.jobs = {queued_job("u", {nominate_step()})}}, now);
  }
  queue.add("5", Time{700}, {.jobs = {queued_job("u", {nominate_step()}), victim}}, now);
  EXPECT_EQ(queue.unsent(), 2U);
  EXPECT_EQ(next(), "");
  reply(http_answer(200, queued_pod("u", "2")));
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/u/status");
  reply(http_answer(404));
  EXPECT_EQ(next(), "");
  std::vector<std::string> plans;
  for (const Receipt& receipt : queue.take_receipts()) plans.push_back(receipt.plan);
  EXPECT_EQ(plans, (std::vector<std::string>{"2", "3", "4", "5", "5"}));
  EXPECT_TRUE(queue.is_idle());
}

TEST_F(WriteQueueTest, NominationsToAnotherNodeAreSentInTheirOrder) {
  WriteStep elsewhere = nominate_step();
  elsewhere.patch = nomination("n2", "0123", {});
  add({queued_job("u", {nominate_step()})});
  add({queued_job("u", {elsewhere})});
  add({queued_job("u", {nominate_step()})});
  EXPECT_EQ(queue.unsent(), 3U);
}

TEST_F(WriteQueueTest, VictimsWaitForTheNomination) {
  WriteJob victim = queued_job("low", evict_steps());
  victim.needs = {0};
  victim.ask = parse_ref("Pod a/u");
  add({queued_job("u", {nominate_step()}), victim});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/u/status");
  EXPECT_EQ(next(), "");
  sending.job = 1;
  reply(http_answer(200, queued_pod("u", "2")));
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/low/status");
  reply(http_answer(200, queued_pod("low", "3")));
  EXPECT_EQ(next(), "DELETE /api/v1/namespaces/a/pods/low");
  reply(http_answer(200));
  EXPECT_TRUE(queue.is_idle());
  EXPECT_TRUE(refused().empty());
}

TEST_F(WriteQueueTest, TheSameNominationIsSentOnce) {
  const std::string nominated =
      R"({"metadata":{"name":"u","namespace":"a","uid":"uid-u","resourceVersion":"2"},"status":{)"
      R"("nominatedNodeName":"n1","conditions":[{"type":"makeway.dev/Nominated","status":"True",)"
      R"("reason":"Nominated","message":"node n1, plan 0123"}]}})";
  WriteJob victim = queued_job("low", evict_steps());
  victim.needs = {0};
  add({queued_job("u", {nominate_step()})});
  // No watch has shown the first one yet; the second plan needs it for a victim.
  add({queued_job("u", {nominate_step()}), victim});
  add({queued_job("u", {bind_step()})});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/u/status");
  const Sending first = sending;
  EXPECT_EQ(next(), "");
  queue.answered(first.job, http_answer(200, nominated), now);
  EXPECT_EQ(next(), "POST /api/v1/namespaces/a/pods/u/binding");
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/low/status");
  EXPECT_TRUE(refused().empty());
}

TEST_F(WriteQueueTest, ANominationThatIsThereIsNotSentAgain) {
  const std::string nominated =
      R"({"metadata":{"name":"u","namespace":"a","uid":"uid-u","resourceVersion":"2"},"status":{)"
      R"("nominatedNodeName":"n1","conditions":[{"type":"makeway.dev/Nominated","status":"True",)"
      R"("reason":"Nominated","message":"node n1, plan 0123"}]}})";
  add({queued_job("u", {nominate_step()})});
  WriteJob wait = queued_job("u", {{.kind = WriteKind::await, .node = "n1"}});
  wait.needs = {0};
  wait.waits_because = "no volume yet";
  wait.awaits_volume = true;
  add({queued_job("u", {nominate_step()}), wait});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/u/status");
  reply(http_answer(200, nominated));
  EXPECT_EQ(next(), "");
  const std::vector<Receipt> receipts = queue.take_receipts();
  ASSERT_EQ(receipts.size(), 1U);
  EXPECT_EQ(receipts[0].reason, "no volume yet");
  EXPECT_TRUE(receipts[0].ends_by_itself());
  EXPECT_TRUE(queue.is_idle());
}

TEST_F(WriteQueueTest, AnotherNominationOrAnOlderOneIsSent) {
  const std::string elsewhere =
      R"({"metadata":{"name":"u","namespace":"a","uid":"uid-u","resourceVersion":"2"},"status":{)"
      R"("nominatedNodeName":"n2","conditions":[{"type":"makeway.dev/Nominated","status":"True",)"
      R"("reason":"Nominated","message":"node n2, plan 0123"}]}})";
  add({queued_job("u", {nominate_step()})});
  next();
  reply(http_answer(200, elsewhere));
  add({queued_job("u", {nominate_step()})});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/u/status");
  std::string ours = elsewhere;
  for (std::size_t at = ours.find("n2"); at != std::string::npos; at = ours.find("n2")) {
    ours.replace(at, 2, "n1");
  }
  reply(http_answer(200, ours));
  // What was seen after our answer counts: another client has removed it.
  WriteJob later = queued_job("u", {nominate_step()});
  later.seen.answers = queue.answers();
  add({later});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/u/status");
}

TEST_F(WriteQueueTest, ARefusedNominationSparesTheVictims) {
  WriteJob victim = queued_job("low", evict_steps());
  victim.needs = {0};
  add({queued_job("u", {nominate_step()}), victim});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/u/status");
  reply(http_answer(422, R"({"kind":"Status","reason":"Invalid","code":422})"));
  EXPECT_EQ(refused().size(), 2U);
  EXPECT_EQ(next(), "");
  EXPECT_TRUE(queue.is_idle());
}

TEST_F(WriteQueueTest, GuardsFollowOurOwnPatches) {
  add({queued_job("low", evict_steps(WriteKind::evict))});
  next();
  reply(http_answer(200, queued_pod("low", "42")));
  EXPECT_EQ(next(), "POST /api/v1/namespaces/a/pods/low/eviction");
  EXPECT_NE(sending.call.write.body.find(R"("resourceVersion":"42")"), std::string::npos);
  reply(http_answer(201));
  // A state read before the answer counts as the answer; a later one counts itself.
  WriteJob older = queued_job("low", {bind_step()});
  add({older});
  next();
  EXPECT_NE(sending.call.write.body.find(R"("resourceVersion":"42")"), std::string::npos);
  reply(http_answer(201));
  WriteJob newer = queued_job("low", {bind_step()});
  newer.seen.answers = queue.answers();
  newer.seen.object.version = "50";
  add({newer});
  next();
  EXPECT_NE(sending.call.write.body.find(R"("resourceVersion":"50")"), std::string::npos);
}

TEST_F(WriteQueueTest, OverloadIsSentAgainWhenTheServerSays) {
  add({queued_job("p", {bind_step()})});
  next();
  reply(http_answer(429, "later", Duration{2'000}));
  EXPECT_EQ(next(), "");
  EXPECT_GE(*queue.next_due(now), now + Duration{2'000});
  now = now + Duration{2'200};
  EXPECT_EQ(next(), "POST /api/v1/namespaces/a/pods/p/binding");
  reply(http_answer(201));
  EXPECT_TRUE(refused().empty());
}

TEST_F(WriteQueueTest, OverloadForTooLongIsARefusal) {
  add({queued_job("p", {bind_step()})});
  for (int times = 0; times < 100 && !queue.is_idle(); ++times) {
    if (!next().empty()) reply(http_answer(429, "later", Duration{10'000}));
    now = now + Duration{5'000};
  }
  EXPECT_EQ(refused().size(), 1U);
}

TEST_F(WriteQueueTest, AnUnknownBindIsReadAndNotSentTwice) {
  add({queued_job("p", {bind_step()})});
  next();
  reply(cut_off());
  EXPECT_EQ(next(), "GET /api/v1/namespaces/a/pods/p");
  reply(http_answer(200, queued_pod("p", "2", "n1")));
  EXPECT_TRUE(queue.is_idle() || !queue.sending_since());
  EXPECT_TRUE(refused().empty());
}

TEST_F(WriteQueueTest, WhatIsNotThereYetIsReadAgainAfterTheDeadline) {
  add({queued_job("p", {bind_step()})});
  const Time sent = now;
  next();
  now = now + Duration{100};
  reply(http_answer(504));
  EXPECT_EQ(next(), "GET /api/v1/namespaces/a/pods/p");
  reply(http_answer(200, queued_pod("p", "1")));
  EXPECT_EQ(next(), "");
  EXPECT_EQ(queue.next_due(now), sent + Duration{10'000});
  EXPECT_TRUE(queue.sending_since().has_value());
  now = sent + Duration{10'000};
  EXPECT_EQ(next(), "GET /api/v1/namespaces/a/pods/p");
  reply(http_answer(200, queued_pod("p", "1")));
  EXPECT_EQ(refused().size(), 1U);
  EXPECT_TRUE(queue.is_idle());
}

TEST_F(WriteQueueTest, AReadingThatFailsIsMadeAgain) {
  add({queued_job("low", evict_steps())});
  next();
  reply(http_answer(200, queued_pod("low", "2")));
  EXPECT_EQ(next(), "DELETE /api/v1/namespaces/a/pods/low");
  reply(cut_off());
  EXPECT_EQ(next(), "GET /api/v1/namespaces/a/pods/low");
  reply(http_answer(503));
  EXPECT_EQ(next(), "");
  now = *queue.next_due(now);
  EXPECT_EQ(next(), "GET /api/v1/namespaces/a/pods/low");
  reply(http_answer(404));
  EXPECT_TRUE(queue.is_idle());
  EXPECT_TRUE(refused().empty());
}

TEST_F(WriteQueueTest, AConflictOfABindIsReadAtOnce) {
  add({queued_job("p", {bind_step()}), queued_job("q", {bind_step()})});
  next();
  const std::uint64_t p = sending.job;
  next();
  const std::uint64_t q = sending.job;
  queue.answered(p, http_answer(409), now);
  queue.answered(q, http_answer(409), now);
  EXPECT_EQ(next(), "GET /api/v1/namespaces/a/pods/p");
  reply(http_answer(200, queued_pod("p", "2", "n1")));
  EXPECT_EQ(next(), "GET /api/v1/namespaces/a/pods/q");
  reply(http_answer(200, queued_pod("q", "2")));
  EXPECT_EQ(refused().size(), 1U);
}

TEST_F(WriteQueueTest, ABudgetThatRefusesSparesTheOthersOfTheAsk) {
  add({victim_of("low-1", "PodGroup a/train"), victim_of("low-2"),
       victim_of("low-3", "PodGroup a/train"), victim_of("other", {}, "Pod a/other-ask")});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/low-1/status");
  reply(http_answer(200, queued_pod("low-1", "2")));
  EXPECT_EQ(next(), "POST /api/v1/namespaces/a/pods/low-1/eviction");
  reply(budget_says_no());
  // No member of the group has left, so no member is evicted.
  const std::vector<std::string> texts = refused();
  ASSERT_EQ(texts.size(), 3U);
  EXPECT_EQ(texts[0], "Pod a/low-2: another victim of this ask stays");
  EXPECT_EQ(texts[1], "Pod a/low-3: another victim of this ask stays");
  EXPECT_TRUE(texts[2].starts_with("Pod a/low-1: "));
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/other/status");
  EXPECT_EQ(queue.statistics().left_behind, 0U);
}

// SPEC section 8, evict strict: refused half way, the rest of an `all` group is evicted.
TEST_F(WriteQueueTest, WhatHasLeftInPartLeavesWhole) {
  add({victim_of("m-0", "PodGroup a/train"), victim_of("m-1", "PodGroup a/train"),
       victim_of("m-2", "PodGroup a/train"), victim_of("lone")});
  const std::uint64_t first = mark_and_evict("m-0");
  queue.answered(first, http_answer(201), now);  // Done, and no job any more.
  const std::uint64_t second = mark_and_evict("m-1");
  queue.answered(second, budget_says_no(), now);
  EXPECT_EQ(refused(), std::vector<std::string>{"Pod a/lone: another victim of this ask stays"});
  const std::uint64_t third = mark_and_evict("m-2");
  queue.answered(third, http_answer(201), now);
  EXPECT_EQ(next(), "");
  // The refused one is tried again, a little later.
  now = *queue.next_due(now);
  EXPECT_EQ(next(), "POST /api/v1/namespaces/a/pods/m-1/eviction");
  reply(http_answer(201));
  EXPECT_TRUE(refused().empty());
  EXPECT_TRUE(queue.is_idle());
  EXPECT_EQ(queue.statistics().left_behind, 0U);
}

TEST_F(WriteQueueTest, AMemberThatStaysTooLongIsReported) {
  add({victim_of("m-0", "PodGroup a/train"), victim_of("m-1", "PodGroup a/train")});
  queue.answered(mark_and_evict("m-0"), http_answer(201), now);
  const Time left = now;
  queue.answered(mark_and_evict("m-1"), budget_says_no(), now);
  std::size_t tries = 1;
  while (queue.statistics().left_behind == 0) {
    now = *queue.next_due(now);
    ASSERT_EQ(next(), "POST /api/v1/namespaces/a/pods/m-1/eviction");
    reply(budget_says_no());
    ++tries;
  }
  EXPECT_GE(now, left + Duration{60'000});
  EXPECT_LT(now, left + Duration{63'000});
  EXPECT_LT(tries, 70U);
  const std::vector<std::string> texts = refused();
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_TRUE(texts[0].starts_with("Pod a/m-1: others of PodGroup a/train have left, and a budget"))
      << texts[0];
  EXPECT_EQ(next(), "POST /apis/events.k8s.io/v1/namespaces/a/events");
  EXPECT_NE(sending.call.write.body.find(R"("reason":"LeftBehind")"), std::string::npos);
}

// Both are under way when a budget refuses both, one after the other: no member has left.
TEST_F(WriteQueueTest, IfNoMemberLeftAllMembersStay) {
  add({victim_of("m-0", "PodGroup a/train"), victim_of("m-1", "PodGroup a/train")});
  const std::uint64_t first = mark_and_evict("m-0");
  const std::uint64_t second = mark_and_evict("m-1");
  queue.answered(first, budget_says_no(), now);
  EXPECT_TRUE(refused().empty());
  queue.answered(second, budget_says_no(), now);
  EXPECT_EQ(refused().size(), 2U);
  EXPECT_TRUE(queue.is_idle());
  EXPECT_EQ(queue.statistics().left_behind, 0U);
}

// SPEC section 8: a nomination is on the server before the first write that relies on it; what was
// seen may be older than our own clearing of it, which is still on its way.
TEST_F(WriteQueueTest, ANominationThatIsBeingTakenBackIsMadeAnew) {
  add({queued_job("u", {{.kind = WriteKind::patch_pod, .patch = cleared_nomination("0122")}})});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/u/status");
  const Sending clear = sending;
  WriteStep stands = nominate_step();
  stands.confirms = true;
  WriteJob victim = victim_of("low");
  victim.needs = {0};
  add({queued_job("u", {stands}), victim});
  EXPECT_EQ(next(), "");
  queue.answered(clear.job, http_answer(200, queued_pod("u", "2")), now);
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/u/status");
  EXPECT_NE(sending.call.write.body.find(R"("nominatedNodeName":"n1")"), std::string::npos);
  const Sending made = sending;
  EXPECT_EQ(next(), "");
  queue.answered(made.job,
                 http_answer(200, R"({"metadata":{"name":"u","namespace":"a","uid":"uid-u",)"
                                  R"("resourceVersion":"3"},"status":{"nominatedNodeName":"n1"}})"),
                 now);
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/low/status");
  // It stands now, and is not written a second time.
  add({queued_job("u", {stands})});
  EXPECT_EQ(next(), "");
  EXPECT_EQ(queue.unsent(), 0U);
}

TEST_F(WriteQueueTest, ANominationThatStandsIsNotWrittenAgain) {
  WriteStep stands = nominate_step();
  stands.confirms = true;
  WriteJob victim = victim_of("low");
  victim.needs = {0};
  add({queued_job("u", {stands}), victim});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/low/status");
  // The clearing that it waits for is refused: it still stands.
  add({queued_job("u", {{.kind = WriteKind::patch_pod, .patch = cleared_nomination("0122")}})});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/u/status");
  const Sending clear = sending;
  add({queued_job("u", {stands})});
  EXPECT_EQ(queue.unsent(), 1U);
  queue.answered(clear.job, http_answer(403), now);
  EXPECT_EQ(next(), "");
  EXPECT_EQ(queue.unsent(), 0U);
}

TEST_F(WriteQueueTest, ConditionsAndEventsWaitForEverythingElse) {
  WriteJob word = queued_job("w", {{.kind = WriteKind::patch_pod}});
  word.urgency = Urgency::condition;
  word.steps[0].patch.conditions = {{"PodScheduled", false, "Unschedulable", "no room"}};
  WriteJob bind = queued_job("p", {bind_step()});
  bind.event = EventRequest{.regarding = bind.seen.object, .reason = "Scheduled"};
  add({word, bind});
  EXPECT_EQ(queue.unsent(), 1U);
  EXPECT_EQ(next(), "POST /api/v1/namespaces/a/pods/p/binding");
  reply(http_answer(201));
  EXPECT_FALSE(queue.sending_since().has_value());
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/w/status");
  reply(http_answer(403));
  EXPECT_EQ(next(), "POST /apis/events.k8s.io/v1/namespaces/a/events");
  reply(http_answer(403));
  EXPECT_TRUE(queue.is_idle());
  EXPECT_TRUE(refused().empty());
  EXPECT_EQ(queue.statistics().events_dropped, 1U);
}

TEST_F(WriteQueueTest, AWaitingConditionGivesWayAndIsNotRepeatedSoon) {
  const auto word = [](std::string_view message) {
    WriteJob made = queued_job("p", {{.kind = WriteKind::patch_pod}});
    made.urgency = Urgency::condition;
    made.steps[0].patch.conditions = {
        {"PodScheduled", false, "Unschedulable", std::string(message)}};
    return made;
  };
  add({word("first")});
  add({queued_job("p", {bind_step()})});
  EXPECT_EQ(next(), "POST /api/v1/namespaces/a/pods/p/binding");
  reply(http_answer(409));
  EXPECT_EQ(next(), "GET /api/v1/namespaces/a/pods/p");
  reply(http_answer(404));
  EXPECT_EQ(next(), "");
  add({word("second")});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/p/status");
  reply(http_answer(200, queued_pod("p", "2")));
  WriteJob again = word("third");
  again.seen.object.conditions = {{"PodScheduled", "False", "Unschedulable", "second", ""}};
  add({again});
  EXPECT_EQ(next(), "");
  now = now + Duration{60'000};
  add({again});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/p/status");
}

TEST_F(WriteQueueTest, AConditionWhoseAnswerIsLostIsSaidAgain) {
  WriteJob word = queued_job("w", {{.kind = WriteKind::patch_pod}});
  word.urgency = Urgency::condition;
  word.steps[0].patch.conditions = {{"PodScheduled", false, "Unschedulable", "no room"}};
  add({word});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/w/status");
  reply(http_answer(504));
  EXPECT_EQ(next(), "");
  now = *queue.next_due(now);
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/w/status");
  reply(http_answer(504));
  // It is bound meanwhile, and the word is out of date.
  add({queued_job("w", {bind_step()})});
  EXPECT_EQ(next(), "POST /api/v1/namespaces/a/pods/w/binding");
  reply(http_answer(201));
  EXPECT_EQ(next(), "");
  EXPECT_TRUE(queue.is_idle());
}

// Rule 6: a word that has to be said again keeps no write waiting that places.
TEST_F(WriteQueueTest, AConditionThatFailsGivesWayToWhatWaitsBehindIt) {
  WriteJob word = queued_job("w", {{.kind = WriteKind::patch_pod}});
  word.urgency = Urgency::condition;
  word.steps[0].patch.conditions = {{"PodScheduled", false, "Unschedulable", "no room"}};
  add({word});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/w/status");
  add({queued_job("w", {bind_step()})});
  EXPECT_EQ(next(), "");
  reply(http_answer(504));
  EXPECT_EQ(next(), "POST /api/v1/namespaces/a/pods/w/binding");
  reply(http_answer(201));
  EXPECT_TRUE(queue.is_idle());
}

TEST_F(WriteQueueTest, AConditionThatMeetsAConflictOrAnotherUidIsWrittenAgainAtOnce) {
  WriteJob word = queued_job("w", {{.kind = WriteKind::patch_pod}});
  word.urgency = Urgency::condition;
  word.steps[0].patch.conditions = {{"PodScheduled", false, "Unschedulable", "no room"}};
  add({word});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/w/status");
  reply(http_answer(409));
  add({word});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/w/status");
  reply(http_answer(200, queued_pod("w", "2")));
  add({word});
  EXPECT_EQ(next(), "");
  word.seen.object.uid = "another one of that name";
  add({word});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/w/status");
}

// A nomination takes the word for autoscalers along; another message with the same reason is not
// written again within a minute, also before the watch has shown the first.
TEST_F(WriteQueueTest, AConditionThatANominationWroteIsNotWrittenAgainSoon) {
  add({queued_job("p", {{.kind = WriteKind::patch_pod,
                         .patch = nomination("n1", "0123", "1 pod must leave n1")}})});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/p/status");
  reply(http_answer(200, queued_pod("p", "2")));
  WriteJob word = queued_job("p", {{.kind = WriteKind::patch_pod}});
  word.urgency = Urgency::condition;
  word.steps[0].patch.conditions = {{"PodScheduled", false, "Unschedulable", "it waits"}};
  add({word});
  EXPECT_EQ(next(), "");
  word.steps[0].patch.conditions[0].reason = "SchedulingGated";
  add({word});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/p/status");
  reply(http_answer(200, queued_pod("p", "3")));
  now = now + Duration{60'000};
  add({word});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/p/status");
}

TEST_F(WriteQueueTest, ConditionsHaveAnAllowance) {
  std::vector<WriteJob> words;
  for (int count = 0; count < 30; ++count) {
    WriteJob word = queued_job(fmt::format("p{}", count), {nominate_step()});
    word.urgency = Urgency::condition;
    words.push_back(word);
  }
  add(words);
  const auto sent = [&] {
    int count = 0;
    while (!next().empty()) ++count;
    return count;
  };
  EXPECT_EQ(sent(), 10);
  now = *queue.next_due(now);
  EXPECT_EQ(sent(), 1);
  now = now + Duration{1'000};
  EXPECT_EQ(sent(), 10);
}

TEST_F(WriteQueueTest, WhatIsNotSentCanBeDropped) {
  WriteJob victim = queued_job("low", evict_steps());
  victim.is_eviction = true;
  add({victim, queued_job("p", {bind_step()}), queued_job("q", {bind_step()})});
  queue.drop(WriteQueue::Which::evictions, "paused");
  EXPECT_EQ(refused(), std::vector<std::string>{"Pod a/low: paused"});
  next();
  queue.drop(WriteQueue::Which::all, "closed");
  EXPECT_EQ(refused(), std::vector<std::string>{"Pod a/q: closed"});
  reply(http_answer(201));
  EXPECT_TRUE(refused().empty());
  EXPECT_TRUE(queue.is_idle());
}

}  // namespace
}  // namespace makeway::kube
