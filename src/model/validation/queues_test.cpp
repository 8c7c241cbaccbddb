// Queues that cannot be meant, and which objects may name them (SPEC section 3, law 13).
#include <gtest/gtest.h>

#include "model/names.hpp"
#include "model/validation/validation.hpp"

namespace makeway {
namespace {

Queue queue(std::string name, std::string parent = {}) {
  return {.name = std::move(name), .parent = std::move(parent)};
}

Pod pod(std::string name, std::string queue, std::string group = {}) {
  Pod result{.namespace_name = "shop", .name = std::move(name), .group = std::move(group)};
  if (!queue.empty()) {
    result.labels = {{.key = std::string(names::queue), .value = std::move(queue)}};
  }
  return result;
}

Node node() {
  return {.name = "n1", .allocatable = {{"cpu", 9000}, {"memory", 1000}, {"pods", 110}}};
}

Cluster cluster_of(const std::vector<Change>& objects) {
  Cluster cluster;
  for (const Change& object : objects) cluster.apply(object);
  return cluster;
}

std::string texts(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems) text += to_text(problem) + "\n";
  return text;
}

std::string errors(const std::vector<Change>& objects) {
  return texts(find_errors(cluster_of(objects)));
}

std::string warnings(std::vector<Change> objects) {
  objects.emplace_back(node());
  return texts(lint(cluster_of(objects)));
}

TEST(QueueErrors, AParentIsThere) {
  EXPECT_EQ(errors({queue("a", "team"), queue("team")}), "");
  EXPECT_EQ(errors({queue("a", "teem"), queue("team")}),
            "Queue a: spec.parent \"teem\": no Queue of this name is in the input; add it "
            "(kubectl get queues.makeway.dev -o yaml) or correct the name\n");
}

TEST(QueueErrors, ParentsFormATree) {
  // d hangs below the circle of a, b and c; it is not its own ancestor.
  const std::string rest =
      ": the queue is its own ancestor; parents form a tree: leave spec.parent out in the queue at "
      "its top\n";
  EXPECT_EQ(errors({queue("a", "b"), queue("b", "c"), queue("c", "a"), queue("d", "a")}),
            "Queue a: spec.parent \"b\"" + rest + "Queue b: spec.parent \"c\"" + rest +
                "Queue c: spec.parent \"a\"" + rest);
  EXPECT_EQ(errors({queue("self", "self")}), "Queue self: spec.parent \"self\"" + rest);
}

TEST(QueueErrors, TheDefaultQueueHasNoChildren) {
  const std::string_view expected =
      "Queue a: spec.parent \"default\": pods that name no queue belong to this one, so it has no "
      "children; give the children a parent of their own\n";
  EXPECT_EQ(errors({queue("a", "default"), queue("default")}), expected);
  EXPECT_EQ(errors({queue("a", "default"), pod("web", "")}), expected);
}

TEST(QueueErrors, ALimitIsNotBelowTheGuarantee) {
  Queue small = queue("a");
  small.guarantee = {{"cpu", 2000}, {"memory", 10}};
  small.limit = {{"cpu", 1500}, {"memory", 10}};
  EXPECT_EQ(errors({small}),
            "Queue a: spec.limit[cpu] \"1500m\": it is below the guarantee of 2000m; raise the "
            "limit or lower the guarantee\n");
}

TEST(QueueErrors, PodsAndGroupsNameALeaf) {
  const std::string remedy = "; name a queue without children that is in the input\n";
  const PodGroup group{.namespace_name = "shop", .name = "train", .queue = "team"};
  Pod noted = pod("noted", "");
  noted.notes.queue = "reserch";
  Pod kueue = pod("kueue", "");
  kueue.labels = {{.key = std::string(names::kueue_queue), .value = "reserch"}};
  EXPECT_EQ(
      errors({queue("team"), queue("research", "team"), group, noted, kueue,
              pod("fine", "research"), pod("free", ""), pod("usual", "default"),
              pod("member", "reserch", "train"), pod("above", "team")}),
      "PodGroup shop/train: queue \"team\": this queue has children, and pods belong to "
      "leaves" +
          remedy +
          "Pod shop/above: metadata.labels[makeway.dev/queue] \"team\": this queue has "
          "children, and pods belong to leaves" +
          remedy +
          "Pod shop/usual: metadata.labels[makeway.dev/queue] \"default\": no Queue of this "
          "name is in the input, so the label does not count; add the Queue or correct the "
          "name\n"
          "Pod shop/kueue: metadata.labels[kueue.x-k8s.io/queue-name] \"reserch\": no Queue "
          "of this name is in the input, so the label does not count; 2 more name it; add the "
          "Queue or correct the name\n");
}

TEST(QueueErrors, ALabelThatNamesNoQueueIsOnlyAWarning) {
  for (const Problem& problem :
       find_errors(cluster_of({queue("team"), pod("web", "reserch"), pod("fine", "team")}))) {
    EXPECT_EQ(problem.severity, Severity::warning) << problem.message;
  }
}

TEST(QueueErrors, NamespacesAreListedOnceAndOnLeaves) {
  Queue team = queue("team");
  team.namespaces = {"shop"};
  Queue research = queue("research", "team");
  research.namespaces = {"labs", "shop"};
  Queue vision = queue("vision");
  vision.namespaces = {"labs"};
  EXPECT_EQ(errors({team, research, vision}),
            "Queue team: spec.namespaces \"shop\": this queue has children, and pods belong to "
            "leaves; list the namespaces in queues without children\n"
            "Queue team: spec.namespaces \"shop\": the namespace is listed twice, first in queue "
            "research; leave it in one queue\n"
            "Queue vision: spec.namespaces \"labs\": the namespace is listed twice, first in queue "
            "research; leave it in one queue\n");
}

TEST(QueueErrors, WithoutQueuesANameMeansNothing) {
  EXPECT_EQ(errors({pod("web", "research")}), "");
}

TEST(QueueWarnings, GuaranteesFitIntoTheClusterAndTheParent) {
  Queue team = queue("team");
  team.limit = {{"cpu", 5000}};
  Queue a = queue("a", "team");
  a.guarantee = {{"cpu", 4000}};
  Queue b = queue("b", "team");
  b.guarantee = {{"cpu", 2000}};
  Queue c = queue("c");
  c.guarantee = {{"cpu", 5000}};
  const std::vector<Change> pods = {pod("a", "a"), pod("b", "b"), pod("c", "c")};
  std::vector<Change> objects = {team, a, b, c};
  objects.insert(objects.end(), pods.begin(), pods.end());
  // The team's floor is 6 cores, cut to its limit of 5; together with c that is 10 of 9.
  EXPECT_EQ(warnings(objects),
            "Queue: spec.guarantee[cpu] \"10000m\": together the queues are guaranteed more than "
            "the cluster has, 9000m; they share that in proportion; lower the guarantees\n"
            "Queue team: spec.limit[cpu] \"5000m\": its children are guaranteed more, 6000m; they "
            "share the limit in proportion; raise the limit or lower the guarantees\n");
}

TEST(QueueWarnings, ALimitOfZeroKeepsPodsFromRunning) {
  Queue team = queue("team");
  team.limit = {{"memory", 0}};
  Pod one = pod("one", "a");
  one.requests = {{"cpu", 100}, {"memory", 10}};
  Pod two = pod("two", "a");
  two.requests = {{"memory", 10}};
  EXPECT_EQ(warnings({team, queue("a", "team"), one, two}),
            "Queue team: spec.limit[memory] \"0\": 2 pods of queue a ask for it, and none may "
            "run\n");
}

TEST(QueueWarnings, AGuaranteeWithoutPodsLiesIdle) {
  Queue a = queue("a");
  a.guarantee = {{"cpu", 4000}};
  EXPECT_EQ(warnings({a}),
            "Queue a: spec.guarantee: no pod belongs to the queue, so what it is guaranteed lies "
            "idle\n");
  a.name = "default";
  EXPECT_EQ(warnings({a, pod("web", "")}), "");
}

TEST(QueueWarnings, APodBelongsToTheQueueOfItsGroup) {
  const PodGroup group{.namespace_name = "shop", .name = "train", .queue = "a"};
  EXPECT_EQ(warnings({queue("a"), queue("b"), group, pod("web", "b", "train")}),
            "Pod shop/web: metadata.labels[makeway.dev/queue] \"b\": its group belongs to queue a, "
            "and that counts; name the same queue in both\n");
}

}  // namespace
}  // namespace makeway
