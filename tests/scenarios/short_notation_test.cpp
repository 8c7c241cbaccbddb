#include "support/short_notation.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace makeway {
namespace {

std::string expanded(std::string_view text) {
  const Result<std::string> yaml = expand_short_notation(text);
  return yaml ? *yaml : "error: " + yaml.error().message;
}

TEST(ShortNotation, ANodeHasRoomFor110PodsUnlessItSaysSo) {
  EXPECT_EQ(expanded("node n1 cpu=8 gpu=4"), R"(apiVersion: v1
kind: Node
metadata: {"name": "n1"}
status: {"allocatable": {"cpu": "8", "nvidia.com/gpu": "4", "pods": "110"}}
)");
  EXPECT_EQ(expanded("node n1 pods=3 hostname cordoned taint=a:NoSchedule taint=b:c:NoExecute"),
            R"(apiVersion: v1
kind: Node
metadata: {"name": "n1", "labels": {"kubernetes.io/hostname": "n1"}}
status: {"allocatable": {"pods": "3"}}
spec: {"unschedulable": true, "taints": [{key: "a", effect: "NoSchedule"}, )"
            R"({key: "b", value: "c", effect: "NoExecute"}]}
)");
}

TEST(ShortNotation, APodOnItsNode) {
  EXPECT_EQ(expanded("pod team/low @n1 gpu=4 p=5 created=09:30 started=2025-12-31T23:59:00Z"),
            R"(apiVersion: v1
kind: Pod
metadata: {"namespace": "team", "name": "low", "creationTimestamp": "2026-01-01T09:30:00Z"}
spec: {"nodeName": "n1", "priority": 5, )"
            R"("containers": [{name: c, resources: {requests: {"nvidia.com/gpu": "4"}}}]}
status: {"startTime": "2025-12-31T23:59:00Z"}
)");
}

TEST(ShortNotation, AGangWithItsMembers) {
  EXPECT_EQ(expanded("gang t/g x2 min=1 cpu=1 p=9 mode=all"),
            R"(apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {"namespace": "t", "name": "g"}
spec: {"schedulingPolicy": {"gang": {"minCount": 1}}, "priority": 9, "disruptionMode": {"all": {}}}
---
apiVersion: v1
kind: Pod
metadata: {"namespace": "t", "name": "g-0"}
spec: {"schedulingGroup": {"podGroupName": "g"}, "priority": 9, )"
            R"("containers": )"
            R"([{name: c, resources: {requests: {"cpu": "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {"namespace": "t", "name": "g-1"}
spec: {"schedulingGroup": {"podGroupName": "g"}, "priority": 9, )"
            R"("containers": )"
            R"([{name: c, resources: {requests: {"cpu": "1"}}}]}
)");
}

TEST(ShortNotation, ASessionHasOneKernel) {
  EXPECT_EQ(expanded(R"(session s @n1 gpu=1 group=lab preempted-by="Session a/b")"),
            R"(apiVersion: makeway.dev/v1
kind: Session
metadata: {"name": "s"}
spec: {"resourceGroup": "lab", "kernels": )"
            R"([{"node": "n1", "resources": {"nvidia.com/gpu": "1"}, "name": main}]}
status: {"preemptedBy": "Session a/b"}
)");
}

TEST(ShortNotation, ARangeIsALineForEachNumber) {
  EXPECT_EQ(expanded("pod a-{9..11} @n{} cpu=1"),
            expanded("pod a-9 @n9 cpu=1\npod a-10 @n10 cpu=1\npod a-11 @n11 cpu=1\n"));
}

TEST(ShortNotation, MarksAmountsAndListsAreMaps) {
  EXPECT_EQ(expanded("queue q limit=cpu:2,gpu:1 namespaces=a,b label:x=1 makeway:y=\"2 3\""),
            R"(apiVersion: makeway.dev/v1
kind: Queue
metadata: {"name": "q", "labels": {"x": "1"}, "annotations": {"makeway.dev/y": "2 3"}}
spec: {"limit": {"cpu": "2", "nvidia.com/gpu": "1"}, "namespaces": ["a", "b"]}
)");
}

TEST(ShortNotation, YamlBetweenLinesIsKept) {
  const std::string_view yaml = "apiVersion: v1\nkind: Thing\nspec:\n  a: b  # kept\n";
  EXPECT_EQ(
      expanded(fmt::format("class a p=1\n---\n{}---\n# c\n\nclass b p=2\n", yaml)),
      fmt::format("{}---\n{}---\n{}", expanded("class a p=1"), yaml, expanded("class b p=2")));
}

TEST(ShortNotation, AnErrorNamesTheLineAndTheWord) {
  EXPECT_EQ(expanded("# c\nnod n1"), "error: line 2: 'nod': no such kind");
  EXPECT_EQ(expanded("node"), "error: line 1: 'node': a name is missing");
  EXPECT_EQ(expanded("pod a gpus=1"), "error: line 1: 'gpus=1': pod has no such word");
  EXPECT_EQ(expanded("queue a cpu=1"), "error: line 1: 'cpu=1': queue has no such word");
  EXPECT_EQ(expanded("queue a @n1"), "error: line 1: '@n1': queue has no such word");
  EXPECT_EQ(expanded("pod a lable:x=1"), "error: line 1: 'lable:x=1': pod has no such word");
  EXPECT_EQ(expanded("pod a p=high"), "error: line 1: 'p=high': a number is expected");
  EXPECT_EQ(expanded("pod a cpu=1 cpu=2"), "error: line 1: 'cpu=2': it is there twice");
  EXPECT_EQ(expanded("node a cordoned=yes"), "error: line 1: 'cordoned=yes': it takes no value");
  EXPECT_EQ(expanded("pod a pin"), "error: line 1: 'pin': it needs a value");
  EXPECT_EQ(expanded("pod a near=app:web"),
            "error: line 1: 'near=app:web': 2 parts are too few or too many");
  EXPECT_EQ(expanded("pod a created=noon"),
            "error: line 1: 'created=noon': a time such as "
            "09:30, 09:30:15 or 2026-01-01T09:30:15Z is expected");
  EXPECT_EQ(expanded("queue a limit=2"),
            "error: line 1: 'limit=2': amounts such as cpu:2,memory:1Gi are expected");
  EXPECT_EQ(expanded("pod a-{3..1} cpu=1"),
            "error: line 1: 'a-{3..1}': a range such as {1..3} is expected");
}

}  // namespace
}  // namespace makeway
