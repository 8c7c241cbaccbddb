#include "control/shown_kernels.hpp"

#include <gtest/gtest.h>

namespace makeway {
namespace {

Session shown_session(std::string name, SessionPhase phase) {
  Session session{.namespace_name = "default", .name = std::move(name), .resource_group = "people"};
  session.kernels = {{.name = "main", .requests = {{"cpu", 2'000}, {"memory", 8}}, .node = "n1"}};
  session.status.phase = phase;
  return session;
}

PodIndex kernel_of(const Cluster& cluster, std::string_view name) {
  return cluster.kernel_rows().find(ObjectKeyView{"default", name, {}})->second.front().row;
}

/// session.defaultPriority is 10. A kernel of a partition has two rows, and counts once; suspended
/// it is there with its memory, ended it is not.
TEST(ShownKernels, HaveThePriorityOfTheirSessionAndCountOnce) {
  Cluster cluster;
  Session own = shown_session("own", SessionPhase::running);
  own.priority = 50;
  cluster.apply(own);
  cluster.apply(shown_session("usual", SessionPhase::running));
  Session divided = shown_session("divided", SessionPhase::running);
  divided.partition = "low";
  cluster.apply(divided);
  Session suspended = shown_session("suspended", SessionPhase::suspended);
  suspended.partition = "low";
  cluster.apply(suspended);
  cluster.apply(shown_session("pending", SessionPhase::pending));
  cluster.apply(shown_session("ended", SessionPhase::ended));
  Pod pod{.namespace_name = "default", .name = "web"};
  pod.priority = 7;
  pod.node = "n1";
  cluster.apply(pod);
  const ShownKernels shown(cluster, {});
  EXPECT_EQ(shown.priority_of(kernel_of(cluster, "own")), 50);
  EXPECT_EQ(shown.priority_of(kernel_of(cluster, "usual")), 10);
  EXPECT_EQ(shown.name_of(kernel_of(cluster, "own")), "default/own/main");
  EXPECT_EQ(shown.kernels_on(*cluster.find_node("n1")), 4U);
  const PodIndex web = *cluster.find_pod("default", "web");
  EXPECT_EQ(shown.priority_of(web), 7);
  EXPECT_EQ(shown.name_of(web), "default/web");
}

/// Both rows of a kernel of a partition leave with it, unless its memory stays for the day when it
/// goes on: then it is the one row that leaves.
TEST(ShownKernels, LeaveOnceEach) {
  Cluster cluster;
  Session whole = shown_session("whole", SessionPhase::running);
  Session divided = shown_session("divided", SessionPhase::running);
  Session rests = shown_session("rests", SessionPhase::running);
  divided.partition = rests.partition = "low";
  whole.status.ends_at = divided.status.ends_at = rests.status.ends_at = Time{1'000};
  rests.status.fate = SessionFate::suspends;
  cluster.apply(whole);
  cluster.apply(divided);
  cluster.apply(rests);
  Pod pod{.namespace_name = "default", .name = "web"};
  pod.node = "n2";
  pod.deletion = Time{1'000};
  cluster.apply(pod);
  const ShownKernels shown(cluster, {});
  EXPECT_EQ(cluster.leaving_pods().size(), 5U);  // As rows.
  EXPECT_EQ(shown.leaving_on(*cluster.find_node("n1")), 3);
  EXPECT_EQ(shown.leaving_on(*cluster.find_node("n2")), 1);
  EXPECT_EQ(shown.leaving(), 4);
}

}  // namespace
}  // namespace makeway
