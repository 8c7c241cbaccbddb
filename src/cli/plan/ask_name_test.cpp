#include "cli/plan/ask_name.hpp"

#include <gtest/gtest.h>

#include "cli/plan/ask_kinds.hpp"
#include "codec/load.hpp"

namespace makeway::cli {
namespace {

Cluster sample() {
  LoadResult result = load_text(R"(
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop}
spec: {containers: [{name: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: test}
spec: {containers: [{name: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: checkout, namespace: shop}
spec: {containers: [{name: c}]}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: training, namespace: shop}
spec: {schedulingPolicy: {gang: {minCount: 2}}}
)",
                                "test");
  for (const Problem& problem : result.problems) ADD_FAILURE() << to_text(problem);
  return std::move(result.loaded->cluster);
}

TEST(AskKinds, ARowStandsAtTheNumberOfItsKind) {
  for (const AskKindRow& row : ask_kinds) EXPECT_EQ(&row_of_ask(row.kind), &row);
}

TEST(Ask, IsWrittenInThreeWays) {
  EXPECT_EQ(parse_ask("web"), (WrittenAsk{std::nullopt, "default", "web"}));
  EXPECT_EQ(parse_ask("shop/web"), (WrittenAsk{std::nullopt, "shop", "web"}));
  EXPECT_EQ(parse_ask("Pod/shop/web"), (WrittenAsk{AskKind::pod, "shop", "web"}));
  EXPECT_EQ(parse_ask("PODGROUP/shop/web"), (WrittenAsk{AskKind::pod_group, "shop", "web"}));
  EXPECT_EQ(parse_ask("pod/web"), (WrittenAsk{std::nullopt, "pod", "web"}));
  EXPECT_EQ(parse_ask("podgroup/shop/job/workers/0"),
            (WrittenAsk{AskKind::pod_group, "shop", "job/workers/0"}));
  EXPECT_EQ(parse_ask("shop/job/workers", AskKind::pod_group),
            (WrittenAsk{AskKind::pod_group, "shop", "job/workers"}));
  EXPECT_EQ(parse_ask("shop/web", AskKind::pod), (WrittenAsk{AskKind::pod, "shop", "web"}));
}

TEST(Ask, OfThreePartsBeginsWithAKind) {
  const Result<WrittenAsk> ask = parse_ask("service/shop/web");
  ASSERT_FALSE(ask.has_value());
  EXPECT_EQ(ask.error().message,
            "'service' is no kind of ask; expected [KIND/]NAMESPACE/NAME with KIND pod, "
            "podgroup, replicaschedule, session or a kind of workload such as job or deployment");
}

TEST(Ask, NeedsAllItsParts) {
  for (const char* text : {"", "/", "a/", "/a", "pod/a/", "pod//a"}) {
    EXPECT_FALSE(parse_ask(text).has_value()) << text;
  }
}

TEST(Ask, WithoutAKindIsAPodBeforeAGroup) {
  const Cluster cluster = sample();
  EXPECT_EQ(resolve_ask({{}, "shop", "web-1"}, cluster).kind, AskKind::pod);
  EXPECT_EQ(resolve_ask({{}, "shop", "training"}, cluster).kind, AskKind::pod_group);
  EXPECT_EQ(resolve_ask({{}, "shop", "missing"}, cluster).kind, AskKind::pod);
  EXPECT_EQ(resolve_ask({AskKind::pod, "shop", "training"}, cluster).kind, AskKind::pod);
}

TEST(Ask, OfAWorkloadIsForItsPendingPodsOrTheirGroup) {
  // SPEC 7, workload kinds: they are asked for by name.
  const LoadResult result = load_text(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: lone, namespace: shop}
spec: {parallelism: 2, template: {spec: {restartPolicy: Never, containers: [{name: c}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: gang, namespace: shop}
spec:
  parallelism: 2
  template:
    spec: {restartPolicy: Never, schedulingGroup: {podGroupName: g}, containers: [{name: c}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: done, namespace: shop}
spec: {parallelism: 0, template: {spec: {restartPolicy: Never, containers: [{name: c}]}}}
)",
                                      "test");
  ASSERT_TRUE(result.loaded.has_value());
  const auto resolved = [&](std::string_view text) {
    const std::vector<WrittenAsk> written = {*parse_ask(text)};
    return resolve_asks(written, result.loaded->cluster, result.loaded->workloads);
  };
  EXPECT_EQ(*parse_ask("JOB/shop/lone"), (WrittenAsk{std::nullopt, "shop", "lone", "Job"}));
  const std::vector<AskName> pods = {{AskKind::pod, "shop", "lone-22222"},
                                     {AskKind::pod, "shop", "lone-22224"}};
  EXPECT_EQ(*resolved("job/shop/lone"), pods);
  EXPECT_EQ(*resolved("shop/lone"), pods);
  EXPECT_EQ(*resolved("job/shop/gang"), (std::vector<AskName>{{AskKind::pod_group, "shop", "g"}}));
  EXPECT_EQ(resolved("job/shop/done").error().message,
            "Job shop/done has no pending pod; 0 of its pods are there");
  EXPECT_EQ(resolved("deployment/shop/lone").error().message,
            "there is no Deployment shop/lone in the input");
}

TEST(Ask, ThatIsNotThereHasNearMisses) {
  const Cluster cluster = sample();
  const auto near = [&](std::string space, std::string name) {
    return near_misses({AskKind::pod, std::move(space), std::move(name)}, cluster, Time{});
  };
  EXPECT_EQ(near("default", "web-1"), "did you mean Pod shop/web-1 or Pod test/web-1?");
  EXPECT_EQ(near("shop", "chekout"), "did you mean Pod shop/checkout?");
  EXPECT_EQ(near("default", "chekout"), "did you mean Pod shop/checkout?");
  EXPECT_EQ(near("shop", "training"), "did you mean PodGroup shop/training?");
  EXPECT_EQ(near("shop", "something-else"),
            "pending are Pod shop/checkout, Pod shop/web-1 and Pod test/web-1");
  EXPECT_EQ(near("test", "cxxxxxxxxxxx"),
            "pending are Pod test/web-1, Pod shop/checkout and Pod shop/web-1");
  EXPECT_EQ(near_misses({AskKind::pod, "a", "b"}, Cluster{}, Time{}), "nothing is pending");
}

}  // namespace
}  // namespace makeway::cli
