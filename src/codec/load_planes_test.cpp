// The plane is part of every object's key: what a load says, and what a dump says again (DESIGN,
// Control; SPEC section 4: names are the plane's own).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/dump.hpp"
#include "codec/load.hpp"

namespace makeway {
namespace {

constexpr std::string_view manifests = R"(
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {makeway.dev/plane: somewhere}}
status: {allocatable: {cpu: 4, pods: 110}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {queue: a}}
spec: {nodeName: n1, priorityClassName: high, containers: [{name: c}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 1, selector: {matchLabels: {queue: a}}}
---
apiVersion: makeway.dev/v1
kind: Session
metadata: {name: train, annotations: {team: blue}}
spec: {resourceGroup: gpu, kernels: [{name: main}]}
)";

Cluster loaded_as(std::string_view text, std::string_view plane) {
  LoadResult result = load_text(text, "test", plane);
  for (const Problem& problem : result.problems) ADD_FAILURE() << to_text(problem);
  return result.loaded ? std::move(result.loaded->cluster) : Cluster{};
}

std::vector<std::string> refusals_of(std::string_view text, std::string_view plane = {}) {
  const LoadResult result = load_text(text, "test", plane);
  EXPECT_FALSE(result.loaded.has_value());
  std::vector<std::string> texts;
  for (const Problem& problem : result.problems) texts.push_back(to_text(problem));
  return texts;
}

TEST(LoadPlanes, WhatIsLoadedAsAPlaneBelongsToIt) {
  const Cluster cluster = loaded_as(manifests, "east");
  EXPECT_EQ(cluster.find_node("n1"), std::nullopt);
  EXPECT_EQ(cluster.find_pod("default", "web"), std::nullopt);
  const auto pod = cluster.find_pod("default", "web", "east");
  ASSERT_TRUE(pod);
  EXPECT_EQ(cluster.pods().node[*pod], *cluster.find_node("n1", "east")) << "its own node";
  EXPECT_EQ(cluster.pods().priority[*pod], 1000) << "and its own class";
  EXPECT_EQ(cluster.budgets().front()->disruptions_allowed, 0);
  EXPECT_EQ(cluster.pod_key(*pod), "default/web of plane east");
  EXPECT_TRUE(cluster.own<Session>().empty()) << "sessions are scheduled at home only";
}

TEST(LoadPlanes, ADumpSaysThePlaneAndIsReadBack) {
  const std::string first = dump(loaded_as(manifests, "east"), DumpFormat::yaml);
  const Cluster again = loaded_as(first, "");
  EXPECT_EQ(dump(again, DumpFormat::yaml), first);
  EXPECT_TRUE(again.find_pod("default", "web", "east"));
  EXPECT_EQ(dump(loaded_as(first, "east"), DumpFormat::yaml), first) << "it may be said twice";
}

TEST(LoadPlanes, ALabelIsNoKey) {
  const Cluster cluster = loaded_as(manifests.substr(0, manifests.find("---")), "");
  EXPECT_TRUE(cluster.find_node("n1"));
  EXPECT_EQ(cluster.find_node("n1", "somewhere"), std::nullopt);
}

TEST(LoadPlanes, NamesRepeatBetweenPlanesOnly) {
  const std::string pods = R"(
{apiVersion: v1, kind: Pod, metadata: {name: a}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: {makeway.dev/key-plane: east}}}
)";
  EXPECT_EQ(loaded_as(pods, "").pod_count(), 2U);
  const std::string third = pods +
                            "---\n{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: "
                            "{makeway.dev/key-plane: east}}}\n";
  EXPECT_EQ(refusals_of(third),
            std::vector<std::string>{
                "test, document 3 (line 6): Pod default/a of plane east: it is defined twice; the "
                "other definition is in test, document 2; remove one of them"});
}

TEST(LoadPlanes, AnObjectBelongsToOnePlane) {
  EXPECT_EQ(refusals_of("{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: "
                        "{makeway.dev/key-plane: east}}}",
                        "west"),
            std::vector<std::string>{
                "test, document 1 (line 1): Pod default/a of plane west: "
                "metadata.annotations[makeway.dev/key-plane] "
                "\"east\": the input is plane west; an object belongs to one plane; leave the "
                "annotation out"});
}

TEST(LoadPlanes, AClassOfAnotherPlaneIsUnknown) {
  const std::vector<std::string> problems = refusals_of(R"(
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: v1
kind: Pod
metadata: {name: web, annotations: {makeway.dev/key-plane: east}}
spec: {priorityClassName: high, containers: [{name: c}]}
)");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_TRUE(problems.front().contains(
      "Pod default/web of plane east: spec.priorityClassName \"high\": no PriorityClass"))
      << problems.front();
}

}  // namespace
}  // namespace makeway
