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
  EXPECT_EQ(expanded("node n1 cpu=8 gpu=4"),
            R"(--- {apiVersion: v1, kind: Node, metadata: {"name": "n1"}, )"
            R"(status: {"allocatable": {"cpu": "8", "nvidia.com/gpu": "4", "pods": "110"}}}
)");
  EXPECT_EQ(expanded("node n1 pods=3 hostname cordoned taint=a:NoSchedule taint=b:c:NoExecute"),
            R"(--- {apiVersion: v1, kind: Node, )"
            R"(metadata: {"name": "n1", "labels": {"kubernetes.io/hostname": "n1"}}, )"
            R"(status: {"allocatable": {"pods": "3"}}, )"
            R"(spec: {"unschedulable": true, "taints": [{key: "a", effect: "NoSchedule"}, )"
            R"({key: "b", value: "c", effect: "NoExecute"}]}}
)");
}

TEST(ShortNotation, APodOnItsNode) {
  EXPECT_EQ(expanded("pod team/low @n1 gpu=4 p=5 created=09:30 started=2025-12-31T23:59:00Z"),
            R"(--- {apiVersion: v1, kind: Pod, )"
            R"(metadata: {"namespace": "team", "name": "low", )"
            R"("creationTimestamp": "2026-01-01T09:30:00Z"}, )"
            R"(spec: {"nodeName": "n1", "priority": 5, )"
            R"("containers": [{name: c, resources: {requests: {"nvidia.com/gpu": "4"}}}]}, )"
            R"(status: {"startTime": "2025-12-31T23:59:00Z"}}
)");
}

TEST(ShortNotation, AGangWithItsMembers) {
  const auto member = [](std::string_view name) {
    return fmt::format(
        R"(--- {{apiVersion: v1, kind: Pod, metadata: {{"namespace": "t", "name": "{}"}}, )"
        R"(spec: {{"schedulingGroup": {{"podGroupName": "g"}}, "priority": 9, )"
        R"("containers": [{{name: c, resources: {{requests: {{"cpu": "1"}}}}}}]}}}}
)",
        name);
  };
  EXPECT_EQ(expanded("gang t/g x2 min=1 cpu=1 p=9 mode=all"),
            R"(--- {apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, )"
            R"(metadata: {"namespace": "t", "name": "g"}, )"
            R"(spec: {"schedulingPolicy": {"gang": {"minCount": 1}}, "priority": 9, )"
            R"("disruptionMode": {"all": {}}}}
)" + member("g-0") +
                member("g-1"));
}

TEST(ShortNotation, ASessionHasOneKernel) {
  EXPECT_EQ(expanded(R"(session s @n1 gpu=1 group=lab preempted-by="Session a/b")"),
            R"(--- {apiVersion: makeway.dev/v1, kind: Session, metadata: {"name": "s"}, )"
            R"(spec: {"resourceGroup": "lab", "kernels": )"
            R"([{"node": "n1", "resources": {"nvidia.com/gpu": "1"}, "name": main}]}, )"
            R"(status: {"preemptedBy": "Session a/b"}}
)");
}

TEST(ShortNotation, ARangeIsALineForEachNumber) {
  EXPECT_EQ(expanded("pod a-{9..11} @n{} cpu=1"),
            expanded("pod a-9 @n9 cpu=1\npod a-10 @n10 cpu=1\npod a-11 @n11 cpu=1\n"));
  EXPECT_EQ(expanded("node {a..b}"), expanded("node a\nnode b"));
}

TEST(ShortNotation, MarksAmountsAndListsAreMaps) {
  EXPECT_EQ(expanded("queue q limit=cpu:2,gpu:1 namespaces=a,b label:x=1 makeway:y=\"2 3\""),
            R"(--- {apiVersion: makeway.dev/v1, kind: Queue, metadata: {"name": "q", )"
            R"("labels": {"x": "1"}, "annotations": {"makeway.dev/y": "2 3"}}, )"
            R"(spec: {"limit": {"cpu": "2", "nvidia.com/gpu": "1"}, "namespaces": ["a", "b"]}}
)");
}

TEST(ShortNotation, YamlBetweenLinesIsKeptAndLinesStayWhereTheyAre) {
  const std::string_view yaml = "apiVersion: v1\nkind: Thing\nspec:\n  a: b  # kept\n";
  EXPECT_EQ(expanded(fmt::format("class a p=1\n---\n{0}---\n{0}---\n# c\nclass b p=2", yaml)),
            fmt::format("{1}---\n{0}---\n{0}\n\n{2}", yaml, expanded("class a p=1"),
                        expanded("class b p=2")));
  EXPECT_EQ(expanded("class a p=1\nkind: Thing"), "error: line 2: a line --- is missing");
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
            "error: line 1: 'a-{3..1}': a range such as {1..3} or {a..c} is expected");
}

}  // namespace
}  // namespace makeway
