// What a board shows of what it was fed with.
#include "server/board.hpp"

#include <gtest/gtest.h>

namespace makeway::server {
namespace {

constexpr Time board_now{1'000'000};

Node board_node(const std::string& name, std::int64_t cpu_milli) {
  Node node;
  node.name = name;
  node.allocatable = {{"cpu", cpu_milli}, {"pods", 10}};
  return node;
}

Pod board_pod(const std::string& name, std::int32_t priority, const std::string& node) {
  Pod pod;
  pod.namespace_name = "shop";
  pod.name = name;
  pod.priority = priority;
  pod.requests = {{"cpu", 1'000}};
  pod.scheduler = "makeway";
  pod.created = Time{900'000};
  pod.node = node;
  return pod;
}

class BoardTest : public testing::Test {
 protected:
  void SetUp() override { board.take(SeenStart{.preset = "makeway"}); }
  void show(std::vector<Change> changes) {
    board.take(SeenBatch{.now = board_now, .changes = std::move(changes)});
  }
  void expect_in_state(std::string_view part) {
    const std::string state = board.state();
    EXPECT_TRUE(state.contains(part)) << part << "\nis not in\n" << state;
  }

  Board board{{"makeway"}};
};

/// Flags, pods and leaving pods; then of cpu the room, what leaves, and the bands 5 and 10.
TEST_F(BoardTest, NodesAreNumbersByBandsOfPriority) {
  Pod leaving = board_pod("c", 10, "n1");
  leaving.deletion = board_now;
  show({board_node("n1", 8'000), board_pod("a", 5, "n1"), board_pod("b", 10, "n1"),
        board_pod("d", 10, "n1"), leaving});
  expect_in_state(
      R"("resources":["cpu"],"bands":[5,10],"nodes":[["n1","",0,4,1,8000,1000,1000,2000]])");
}

/// When, waiting, preemptions, decision times, then the use of cpu in thousandths.
TEST_F(BoardTest, FiguresOverTimeAreKeptOnceASecond) {
  show({board_node("n1", 8'000), board_pod("a", 5, "n1"), board_pod("b", 5, "")});
  expect_in_state(R"("series":[[1000000,1,0,0,0,125]])");
  show({board_pod("c", 5, "n1")});
  expect_in_state(R"("series":[[1000000,1,0,0,0,125]])");
  board.take(SeenBatch{.now = board_now + Duration{1'000}, .changes = {}});
  expect_in_state(R"("series":[[1000000,1,0,0,0,125],[1001000,1,0,0,0,250]])");
}

TEST_F(BoardTest, ManyPrioritiesShareBands) {
  std::vector<Change> changes = {board_node("n1", 20'000)};
  for (std::int32_t priority = 0; priority < 12; ++priority) {
    changes.emplace_back(board_pod("p" + std::to_string(priority), priority, "n1"));
  }
  show(std::move(changes));
  expect_in_state(R"("bands":[0,2,4,6,8,10],)");
  expect_in_state(R"(["n1","",0,12,0,20000,0,2000,2000,2000,2000,2000,2000])");
}

TEST_F(BoardTest, WaitingAsksAreSentWithTheirLastAnswer) {
  Pod other = board_pod("other", 50, "");
  other.scheduler = "default-scheduler";
  show({board_node("n1", 1'000), board_pod("low", 1, ""), board_pod("high", 9, ""), other});
  board.take(SeenCycle{.now = board_now,
                       .answers = {{.ask = {.namespace_name = "shop", .name = "low"},
                                    .outcome = Outcome::infeasible,
                                    .reason = "short of cpu"}}});
  expect_in_state(
      R"("asks":{"count":2,"rows":[{"kind":"Pod","namespace":"shop","name":"high","priority":9,)"
      R"("pods":1,"since":900000,"outcome":"","reason":""},{"kind":"Pod","namespace":"shop",)"
      R"("name":"low","priority":1,"pods":1,"since":900000,"outcome":"infeasible",)"
      R"("reason":"short of cpu"}]})");
  show({board_pod("low", 1, "n1")});
  board.look();
  EXPECT_EQ(board.answer_of({.namespace_name = "shop", .name = "low"}), nullptr);
}

TEST_F(BoardTest, ChangesContainOnlyWhatChanged) {
  show({board_node("n1", 8'000), board_node("n2", 8'000)});
  EXPECT_TRUE(board.changes().contains(R"(["n2","",0,0,0,8000,0])"));
  EXPECT_EQ(board.changes(), "");
  show({board_pod("a", 0, "n2")});
  const std::string banded = board.changes();  // There is a first band: all rows read otherwise.
  EXPECT_TRUE(banded.contains(R"(["n1","",0,0,0,8000,0,0])")) << banded;
  show({board_pod("b", 0, "n2")});
  const std::string changes = board.changes();
  EXPECT_TRUE(changes.contains(R"("nodes":[["n2","",0,2,0,8000,0,2000]],"gone":[])")) << changes;
  EXPECT_FALSE(changes.contains("\"asks\"")) << changes;
  EXPECT_FALSE(changes.contains("\"run\"")) << changes;
  show({Removal{.kind = ObjectKind::node, .name = "n1"}});
  const std::string gone = board.changes();
  EXPECT_TRUE(gone.contains(R"("nodes":[],"gone":["/n1"])")) << gone;
}

TEST_F(BoardTest, PreemptionsAreSentOnceWithCauseAndAlternative) {
  PlanAsk ask{.namespace_name = "shop", .name = "urgent", .priority = 9};
  ask.outcome = Outcome::preempts;
  ask.placements = {{.namespace_name = "shop", .name = "urgent", .node = "n1"}};
  ask.victims = {{.namespace_name = "shop",
                  .name = "low",
                  .node = "n1",
                  .priority = 1,
                  .reason = "lower priority (1 < 9)",
                  .cause_alternative = "node n2",
                  .cause_key = "victims: 2 against 1"}};
  LawfulPlan made;
  made.plan.emplace();
  made.plan->asks.push_back(ask);
  made.plan->actions = {{.type = ActionType::bind}, {.type = ActionType::evict}};
  made.decide_us = 70;
  made.check_us = 7;
  show({board_node("n1", 1'000)});
  board.take(seen_cycle({.now = board_now, .due = {}, .judged = true, .made = made}));
  const std::string feed =
      R"([{"id":1,"when":1000000,"cycle":1,"ask":"Pod shop/urgent","priority":9,"node":"n1",)"
      R"("alternative":"node n2","key":"victims: 2 against 1","count":1,"victims":[{"who":)"
      R"json("shop/low","node":"n1","priority":1,"reason":"lower priority (1 < 9)"}]}])json";
  EXPECT_TRUE(board.changes().contains("\"feed\":" + feed)) << board.state();
  expect_in_state("\"feed\":" + feed);
  expect_in_state(
      R"("cycles":1,"preemptions":1,"victims":1,"binds":1,"refused":0,"p50":77,"p99":77)");
  board.take(seen_cycle({.now = board_now, .due = {}, .judged = true, .made = made}));
  const std::string next = board.changes();
  EXPECT_TRUE(next.contains("\"id\":2,")) << next;
  EXPECT_FALSE(next.contains("\"id\":1,")) << next;
}

TEST_F(BoardTest, SessionsThatEndedAndQueuesThatAreGoneDoNotCount) {
  Session ended;
  ended.namespace_name = "shop";
  ended.name = "ended";
  ended.status.phase = SessionPhase::ended;
  Queue queue;
  queue.name = "team";
  show({ended, queue});
  board.take(SeenCycle{.now = board_now, .queues = {{.name = "team"}}});
  expect_in_state(R"("sessions":{"count":0,"rows":[]})");
  expect_in_state(R"("queues":{"count":1,)");
  show({Removal{.kind = ObjectKind::queue, .name = "team"}});
  expect_in_state(R"("queues":{"count":0,"rows":[]})");
}

/// In the store a kernel is above every priority; here it has its session's, 10 by default.
TEST_F(BoardTest, KernelsHaveThePriorityOfTheirSession) {
  Session session;
  session.namespace_name = "shop";
  session.name = "train";
  session.kernels = {{.name = "main", .requests = {{"cpu", 3'000}}, .node = "n1"}};
  session.status.phase = SessionPhase::running;
  show({board_node("n1", 8'000), session});
  expect_in_state(R"("bands":[10],"nodes":[["n1","",0,1,0,8000,0,3000]])");
}

/// Of a kernel in a partition the memory is a row of its own, and one kernel leaves.
TEST_F(BoardTest, AKernelThatLeavesIsOne) {
  Session session;
  session.namespace_name = "shop";
  session.name = "train";
  session.partition = "low";
  session.kernels = {{.name = "main", .requests = {{"cpu", 3'000}, {"memory", 64}}, .node = "n1"}};
  session.status.phase = SessionPhase::running;
  session.status.ends_at = board_now;
  show({board_node("n1", 8'000), session});
  expect_in_state(R"("leaving":1,)");
  expect_in_state(R"("nodes":[["n1","",0,1,1,8000,3000,0]])");
}

/// A node of a file with several clusters says its plane by a label; of a plane that is a cluster
/// of its own it is part of its key.
TEST_F(BoardTest, PlanesAreThoseOfKeysAndOfLabels) {
  Node labelled = board_node("n1", 8'000);
  labelled.labels = {{"makeway.dev/plane", "east"}};
  Node elsewhere = board_node("n1", 4'000);
  elsewhere.plane = "west";
  show({labelled, elsewhere, board_node("n2", 1'000), board_pod("a", 5, "n1")});
  expect_in_state(R"("planes":[{"name":"","nodes":1,"pods":0,"room":[1000],"used":[0]},)"
                  R"({"name":"east","nodes":1,"pods":1,"room":[8000],"used":[1000]},)"
                  R"({"name":"west","nodes":1,"pods":0,"room":[4000],"used":[0]}])");
}

/// Names of others stay inside their strings, and a line of an event stream is one line.
TEST_F(BoardTest, HostileNamesStayText) {
  show({board_node("n\"1\n</script>\xE2\x80\xA8", 1'000)});
  const std::string state = board.state();
  EXPECT_TRUE(state.contains(R"(["n\"1\n</script>\u2028","",)")) << state;
  EXPECT_FALSE(state.contains('\n'));
}

TEST_F(BoardTest, ANewLoopBeginsWithNothing) {
  show({board_node("n1", 1'000)});
  board.take(SeenStart{.preset = "kube-1.37"});
  expect_in_state(R"("preset":"kube-1.37","carriesOut":true,"begun":false)");
  expect_in_state(R"("nodes":[])");
}

}  // namespace
}  // namespace makeway::server
