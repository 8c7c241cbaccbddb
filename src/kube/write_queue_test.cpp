#include "kube/write_queue.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/live_server.hpp"

namespace makeway::kube {
namespace {

ApiResult<HttpAnswer> cut_off() { return std::unexpected(ApiError{.failure = Failure::cut}); }

std::string queued_pod(std::string_view name, std::string_view version, std::string_view node = {},
                       std::string_view more = {}) {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"a","uid":"uid-{0}","resourceVersion":"{1}"{3}}},)"
      R"("spec":{{"nodeName":"{2}"}}}})",
      name, version, node, more);
}

WriteJob queued_job(const std::string& name, std::vector<WriteStep> steps) {
  return {.object = "Pod a/" + name,
          .ask = {},
          .unit = {},
          .seen = {.object =
                       {.namespace_name = "a", .name = name, .uid = "uid-" + name, .version = "1"}},
          .steps = std::move(steps),
          .needs = {}};
}
WriteStep bind_step() { return {.kind = WriteKind::bind, .node = "n1", .patch = {}}; }
WriteStep nominate_step() {
  return {.kind = WriteKind::patch_pod, .node = {}, .patch = nomination("n1", "0123", {})};
}
std::vector<WriteStep> evict_steps(WriteKind kind = WriteKind::erase) {
  return {{.kind = WriteKind::patch_pod,
           .node = {},
           .patch = eviction_mark({.kind = "Pod", .name = "a/u", .uid = "u"}, "0123", false)},
          {.kind = kind, .node = {}, .patch = {}}};
}

WriteJob victim_of(const std::string& name, std::string unit = {}, std::string ask = "Pod a/u") {
  WriteJob victim = queued_job(name, evict_steps(WriteKind::evict));
  victim.is_eviction = true;
  victim.ask = std::move(ask);
  victim.unit = unit.empty() ? victim.object : std::move(unit);
  return victim;
}
ApiResult<HttpAnswer> budget_says_no() {
  return http_answer(429, R"({"kind":"Status","code":429,"details":{"causes":[)"
                          R"({"reason":"DisruptionBudget"}]}})");
}

class WriteQueueTest : public testing::Test {
 protected:
  void add(std::vector<WriteJob> jobs) {
    queue.add("0123", Time{500}, {.jobs = std::move(jobs), .refused = {}}, now);
  }
  /// "DELETE /api/...": what is sent next; empty: nothing.
  std::string next() {
    std::optional<Sending> found = queue.next(now, Time{1'000'000});
    if (!found) return {};
    sending = *std::move(found);
    const std::string& path = sending.reads ? sending.call.read_path : sending.call.path;
    return (sending.reads ? "GET" : sending.call.write.method) + " " +
           path.substr(0, path.find('?'));
  }
  void reply(const ApiResult<HttpAnswer>& result) { queue.answered(sending.job, result, now); }
  /// The job whose eviction has been sent.
  std::uint64_t mark_and_evict(const std::string& name) {
    EXPECT_EQ(next(), fmt::format("PATCH /api/v1/namespaces/a/pods/{}/status", name));
    reply(http_answer(200, queued_pod(name, "2")));
    EXPECT_EQ(next(), fmt::format("POST /api/v1/namespaces/a/pods/{}/eviction", name));
    return sending.job;
  }
  std::vector<std::string> refused() {
    std::vector<std::string> texts;
    for (const Receipt& receipt : queue.take_receipts()) {
      texts.push_back(receipt.object + ": " + receipt.reason);
    }
    return texts;
  }

  WriteQueue queue{{}, {}};
  Time now{10'000};
  Sending sending;  ///< The last one.
};

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

/// Its bind was never carried out, so it holds no room, and to delete it would help nobody.
TEST_F(WriteQueueTest, NobodyLeavesWhoseBindWasRefused) {
  add({queued_job("low", {bind_step()})});
  EXPECT_EQ(next(), "POST /api/v1/namespaces/a/pods/low/binding");
  reply(http_answer(504));
  WriteJob victim = queued_job("low", evict_steps());
  victim.ask = "Pod a/u";
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

// Black box, "who makes the spread uneven leaves": whoever is told to leave counts no more for a
// spread, so that the next plan binds at once; but the eviction was refused.
TEST_F(WriteQueueTest, ABindWaitsForTheEvictionsOfItsAsk) {
  for (const bool refuses : {true, false}) {
    add({victim_of("low")});
    const std::uint64_t eviction = mark_and_evict("low");
    WriteJob bind = queued_job("u", {bind_step()});
    bind.placed = "Pod a/u";
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
  victim.ask = "Pod a/u";
  add({queued_job("u", {nominate_step()})});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/u/status");
  for (const std::string plan : {"2", "3", "4"}) {
    queue.add(plan, Time{600}, {.jobs = {queued_job("u", {nominate_step()})}, .refused = {}}, now);
  }
  queue.add("5", Time{700}, {.jobs = {queued_job("u", {nominate_step()}), victim}, .refused = {}},
            now);
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
  victim.ask = "Pod a/u";
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

TEST_F(WriteQueueTest, WhoWaitsForANominationThatIsThereIsNotSent) {
  const std::string nominated =
      R"({"metadata":{"name":"u","namespace":"a","uid":"uid-u","resourceVersion":"2"},"status":{)"
      R"("nominatedNodeName":"n1","conditions":[{"type":"makeway.dev/Nominated","status":"True",)"
      R"("reason":"Nominated","message":"node n1, plan 0123"}]}})";
  add({queued_job("u", {nominate_step()})});
  WriteJob wait = queued_job("u", {{.kind = WriteKind::await, .node = "n1", .patch = {}}});
  wait.needs = {0};
  wait.waits_because = "no volume yet";
  add({queued_job("u", {nominate_step()}), wait});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/u/status");
  reply(http_answer(200, nominated));
  EXPECT_EQ(next(), "");
  EXPECT_EQ(refused(), std::vector<std::string>{"Pod a/u: no volume yet"});
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
  // What was seen after our answer counts: somebody has taken it back.
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
  // A sight from before the answer is as good as the answer; one from after it counts itself.
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
  // Nobody of the group has left, so nobody of it does.
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

TEST_F(WriteQueueTest, WhoIsLeftBehindForTooLongIsReported) {
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

// Both are under way when a budget refuses the one and then the other: nobody has left.
TEST_F(WriteQueueTest, WhereNobodyLeftAfterAllEverybodyStays) {
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
  add({queued_job(
      "u", {{.kind = WriteKind::patch_pod, .node = {}, .patch = cleared_nomination("0122")}})});
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
  add({queued_job(
      "u", {{.kind = WriteKind::patch_pod, .node = {}, .patch = cleared_nomination("0122")}})});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/u/status");
  const Sending clear = sending;
  add({queued_job("u", {stands})});
  EXPECT_EQ(queue.unsent(), 1U);
  queue.answered(clear.job, http_answer(403), now);
  EXPECT_EQ(next(), "");
  EXPECT_EQ(queue.unsent(), 0U);
}

TEST_F(WriteQueueTest, ConditionsAndEventsWaitForEverythingElse) {
  WriteJob word = queued_job("w", {{.kind = WriteKind::patch_pod, .node = {}, .patch = {}}});
  word.urgency = Urgency::condition;
  word.steps[0].patch.conditions = {{"PodScheduled", false, "Unschedulable", "no room"}};
  WriteJob bind = queued_job("p", {bind_step()});
  bind.event = EventWish{.regarding = bind.seen.object, .reason = "Scheduled"};
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
    WriteJob made = queued_job("p", {{.kind = WriteKind::patch_pod, .node = {}, .patch = {}}});
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

// A nomination takes the word for autoscalers along; another message with the same reason is no
// news within a minute, also before the watch has shown the first.
TEST_F(WriteQueueTest, AWordThatANominationToldIsNotToldAgainSoon) {
  add({queued_job("p", {{.kind = WriteKind::patch_pod,
                         .node = {},
                         .patch = nomination("n1", "0123", "1 pod must leave n1")}})});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/p/status");
  reply(http_answer(200, queued_pod("p", "2")));
  WriteJob word = queued_job("p", {{.kind = WriteKind::patch_pod, .node = {}, .patch = {}}});
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

// ---- Statuses of queues -------------------------------------------------------------------------

WriteJob status_job(std::string status, bool can_wait) {
  ObjectSight seen;
  seen.kind = ObjectKind::queue;
  seen.name = "team";
  seen.uid = "q";
  seen.version = "1";
  return {.object = "Queue team",
          .ask = {},
          .unit = {},
          .seen = {.object = std::move(seen)},
          .steps = {{.kind = WriteKind::patch_own,
                     .node = {},
                     .patch = {},
                     .status = std::move(status)}},
          .needs = {},
          .can_wait = can_wait};
}
ApiResult<HttpAnswer> status_written(std::string_view version) {
  return http_answer(
      200,
      fmt::format(R"({{"metadata":{{"name":"team","uid":"q","resourceVersion":"{}"}}}})", version));
}
constexpr std::string_view status_path = "PATCH /apis/makeway.dev/v1/queues/team/status";

TEST_F(WriteQueueTest, AStatusIsSentOnceASecondAndTheNewestCounts) {
  add({status_job(R"({"used":1})", true)});
  EXPECT_EQ(queue.unsent(), 0U);  // Nobody waits for it.
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

TEST_F(WriteQueueTest, AnEvictionForAQueueMakesStatusesHurry) {
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

TEST_F(WriteQueueTest, ARefusedStatusSparesTheVictimsOfQueues) {
  add({status_job(R"({"used":1})", false)});
  EXPECT_EQ(next(), status_path);
  add({victim_of("low", {}, "Queue team"), victim_of("other")});
  EXPECT_EQ(next(), "PATCH /api/v1/namespaces/a/pods/other/status");
  const std::uint64_t other = sending.job;
  queue.answered(other - 2, http_answer(409), now);
  const std::vector<std::string> receipts = refused();
  ASSERT_EQ(receipts.size(), 2U);
  EXPECT_TRUE(receipts[0].starts_with("Queue team: ")) << receipts[0];
  EXPECT_EQ(receipts[1], "Pod a/low: what it relies on was refused");
  queue.answered(other, http_answer(200, queued_pod("other", "2")), now);
  EXPECT_EQ(next(), "POST /api/v1/namespaces/a/pods/other/eviction");
}

/// The plan was decided as if the status were there: its receipt had not come yet.
TEST_F(WriteQueueTest, WhoHasNotHeardOfARefusedStatusEvictsNobodyForQueues) {
  add({status_job(R"({"used":1})", false)});
  EXPECT_EQ(next(), status_path);
  reply(http_answer(409));
  add({victim_of("low", {}, "Queue team"), victim_of("other")});
  EXPECT_EQ(refused().back(), "Pod a/low: what it relies on was refused");
  mark_and_evict("other");
  queue.add("0124", Time{500},
            {.jobs = {victim_of("low", {}, "Queue team")},
             .refused = {},
             .heard = queue.statuses_refused()},
            now);
  mark_and_evict("low");
}

}  // namespace
}  // namespace makeway::kube
