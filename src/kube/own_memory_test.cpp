#include <gtest/gtest.h>

#include "kube/version_cache.hpp"

namespace makeway::kube {
namespace {

ObjectState noted(std::string type, std::string reason, std::string message) {
  return {.name = "p",
          .conditions = {{std::move(type), "True", std::move(reason), std::move(message),
                          "2026-01-01T00:00:00Z"}}};
}

TEST(OwnMemory, ANominationCountsWithOurConditionForTheSameNode) {
  Pod pod{.name = "p", .nominated_node = "n1"};
  recall(noted("makeway.dev/Nominated", "Nominated", "node n1, plan 1"), pod);
  EXPECT_EQ(pod.nominated_node, "n1");
  recall(noted("makeway.dev/Nominated", "Nominated", "node n2, plan 1"), pod);
  EXPECT_EQ(pod.nominated_node, "");
  pod.nominated_node = "n1";
  recall({.name = "p"}, pod);
  EXPECT_EQ(pod.nominated_node, "");
  pod.nominated_node = "n1";
  ObjectState cleared = noted("makeway.dev/Nominated", "Cleared", "node n1, plan 1");
  cleared.conditions.front().status = "False";
  recall(cleared, pod);
  EXPECT_EQ(pod.nominated_node, "");
}

TEST(OwnMemory, AReservationIsOurConditionAndItsTime) {
  Pod pod{.name = "p"};
  recall(noted("makeway.dev/Reserved", "Promised", "node n1, plan 1"), pod);
  EXPECT_EQ(pod.notes.reserved_since, *parse_time("2026-01-01T00:00:00Z"));
  EXPECT_TRUE(pod.notes.promised);
  recall(noted("makeway.dev/Reserved", "Reserved", "node n1, plan 1"), pod);
  EXPECT_FALSE(pod.notes.promised);
}

TEST(OwnMemory, AnnotationsAreForPeople) {
  Pod pod{.name = "p"};
  pod.notes.evicted_for = "Pod a/b";
  pod.notes.plan = "1";
  pod.notes.promised = true;
  pod.notes.reserved_since = Time{1};
  recall({.name = "p"}, pod);
  EXPECT_EQ(pod.notes, PodNotes{});
}

}  // namespace
}  // namespace makeway::kube
