#include "control/waiting_asks.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace makeway {
namespace {

Pod waiting_pod(std::string name, std::int32_t priority, Time created) {
  Pod pod{.namespace_name = "default", .name = std::move(name)};
  pod.priority = priority;
  pod.created = created;
  pod.scheduler = "makeway";
  return pod;
}

Session session_in(std::string name, SessionPhase phase) {
  Session session{.namespace_name = "default", .name = std::move(name)};
  session.created = Time{5'000};
  session.status.phase = phase;
  return session;
}

std::string text_of(const WaitingAsks& waiting) {
  std::string text;
  for (const WaitingAsk& ask : waiting.all()) {
    text += fmt::format("{} {} x{}\n", ask_text(ask.name), ask.priority, ask.pods);
  }
  return text;
}

TEST(WaitingAsks, HighestPriorityFirstThenLongestThenByName) {
  Cluster cluster;
  cluster.apply(waiting_pod("young", 5, Time{9'000}));
  cluster.apply(waiting_pod("old", 5, Time{1'000}));
  cluster.apply(waiting_pod("b", 7, Time{3'000}));
  cluster.apply(waiting_pod("a", 7, Time{3'000}));
  cluster.apply(waiting_pod("timeless", 5, no_time));
  Pod bound = waiting_pod("bound", 9, Time{1'000});
  bound.node = "n1";
  cluster.apply(bound);
  WaitingAsks waiting;
  waiting.look(cluster, {});
  EXPECT_EQ(text_of(waiting),
            "Pod default/a 7 x1\nPod default/b 7 x1\nPod default/old 5 x1\n"
            "Pod default/young 5 x1\nPod default/timeless 5 x1\n");
  EXPECT_EQ(waiting.all().back().since, std::nullopt);
}

TEST(WaitingAsks, OnlyPodsOfOurSchedulers) {
  Cluster cluster;
  cluster.apply(waiting_pod("ours", 0, Time{1'000}));
  Pod other = waiting_pod("other", 0, Time{1'000});
  other.scheduler = "default-scheduler";
  cluster.apply(other);
  WaitingAsks waiting;
  const std::vector<std::string> ours = {"makeway"};
  waiting.look(cluster, {}, ours);
  EXPECT_EQ(text_of(waiting), "Pod default/ours 0 x1\n");
}

/// A group is one ask, and waits since its first pod came.
TEST(WaitingAsks, PodsOfAGroupWaitAsOne) {
  Cluster cluster;
  for (const std::int64_t number : {2, 1, 3}) {
    Pod pod = waiting_pod(fmt::format("train-{}", number), 3, Time{number * 1'000});
    pod.group = "train";
    cluster.apply(pod);
  }
  WaitingAsks waiting;
  waiting.look(cluster, {});
  EXPECT_EQ(text_of(waiting), "PodGroup default/train 3 x3\n");
  EXPECT_EQ(waiting.all().front().since, Time{1'000});
}

/// session.defaultPriority is 10. A session that ended, runs, or resumes only on request does not
/// wait.
TEST(WaitingAsks, SessionsWaitUntilTheyRun) {
  Cluster cluster;
  cluster.apply(session_in("pending", SessionPhase::pending));
  cluster.apply(session_in("running", SessionPhase::running));
  cluster.apply(session_in("ended", SessionPhase::ended));
  cluster.apply(session_in("suspended", SessionPhase::suspended));
  Session requeued = session_in("requeued", SessionPhase::preempted);
  requeued.priority = 50;
  requeued.status.fate = SessionFate::requeues;
  cluster.apply(requeued);
  Session asked = session_in("on-request", SessionPhase::preempted);
  asked.status.fate = SessionFate::on_request;
  cluster.apply(asked);
  WaitingAsks waiting;
  Configuration configuration;
  waiting.look(cluster, configuration);
  EXPECT_EQ(text_of(waiting),
            "Session default/requeued 50 x1\nSession default/pending 10 x1\n"
            "Session default/suspended 10 x1\n");
  EXPECT_EQ(waiting.all().front().remark, "");
  configuration.session.enabled = false;
  waiting.look(cluster, configuration);
  EXPECT_EQ(waiting.all().front().remark, "these rules start no sessions (session.enabled: false)");
}

TEST(WaitingAsks, SchedulesWaitForTheirUnmetReplicas) {
  Cluster cluster;
  cluster.apply(ReplicaSchedule{.namespace_name = "default", .name = "met"});
  cluster.apply(
      ReplicaSchedule{.namespace_name = "default", .name = "web", .priority = 4, .unmet = 2});
  WaitingAsks waiting;
  Configuration configuration;
  waiting.look(cluster, configuration);
  EXPECT_EQ(text_of(waiting), "ReplicaSchedule default/web 4 x2\n");
  configuration.replica.enabled = false;
  waiting.look(cluster, configuration);
  EXPECT_EQ(text_of(waiting), "");
}

TEST(WaitingAsks, AnswersAreForgottenWithTheWaiting) {
  const AskName name{.namespace_name = "default", .name = "a"};
  Cluster cluster;
  cluster.apply(waiting_pod("a", 0, Time{1'000}));
  WaitingAsks waiting;
  waiting.look(cluster, {});
  EXPECT_EQ(waiting.answer_of(name), nullptr);
  Plan plan;
  plan.asks = {{.namespace_name = "default", .name = "a"}};
  plan.asks.front().outcome = Outcome::preempts;
  plan.asks.front().reason = "1 pod must leave";
  waiting.note(plan);
  waiting.look(cluster, {});
  ASSERT_NE(waiting.answer_of(name), nullptr);
  EXPECT_EQ(waiting.answer_of(name)->outcome, Outcome::preempts);
  EXPECT_EQ(waiting.answer_of(name)->reason, "1 pod must leave");
  Pod bound = waiting_pod("a", 0, Time{1'000});
  bound.node = "n1";
  cluster.apply(bound);
  waiting.look(cluster, {});
  EXPECT_EQ(waiting.answer_of(name), nullptr);
  waiting.note(name, {});
  waiting.forget_answers();
  EXPECT_EQ(waiting.answer_of(name), nullptr);
}

}  // namespace
}  // namespace makeway
