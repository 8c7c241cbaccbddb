#include "model/normalize.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "model/objects.hpp"

namespace makeway {
namespace {

/// The canonical form, and a check that it is its own.
template <class T>
T normalized(T value) {
  normalize(value);
  T again = value;
  normalize(again);
  EXPECT_EQ(again, value) << "not idempotent";
  return value;
}

TEST(Normalize, LabelsAreSortedAndTheLastOfAKeyCounts) {
  EXPECT_EQ(normalized(Labels{{"b", "1"}, {"a", "2"}}), (Labels{{"a", "2"}, {"b", "1"}}));
  EXPECT_EQ(normalized(Labels{{"a", "9"}, {"b", "1"}, {"a", "2"}, {"a", "3"}}),
            (Labels{{"a", "3"}, {"b", "1"}}));
  EXPECT_EQ(normalized(Labels{{"a", "1"}, {"a", "1"}}), (Labels{{"a", "1"}}));
  EXPECT_EQ(normalized(Labels{}), Labels{});
}

TEST(Normalize, AmountsAreSortedAddedUpAndNeverZero) {
  EXPECT_EQ(normalized(Amounts{{"memory", 5}, {"cpu", 2}, {"cpu", 3}, {"zero", 0}, {"less", -1}}),
            (Amounts{{"cpu", 5}, {"memory", 5}}));
  EXPECT_EQ(normalized(Amounts{{"", 5}}), Amounts{}) << "a resource without a name is none";
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(normalized(Amounts{{"cpu", most}, {"cpu", most}}), (Amounts{{"cpu", most}}));
}

TEST(Normalize, SelectorsAreSortedInside) {
  const LabelSelector given{
      .requirements = {{.key = "b", .operation = Operator::exists},
                       {.key = "a", .operation = Operator::in, .values = {"y", "x", "y"}},
                       {.key = "b", .operation = Operator::exists}}};
  const LabelSelector expected{
      .requirements = {{.key = "a", .operation = Operator::in, .values = {"x", "y"}},
                       {.key = "b", .operation = Operator::exists}}};
  EXPECT_EQ(normalized(given), expected);
}

TEST(Normalize, ShapesThatMeanTheSameBecomeEqual) {
  const LabelSelector disordered{.requirements = {{.key = "b", .operation = Operator::exists},
                                                  {.key = "a", .operation = Operator::exists}}};
  const LabelSelector ordered{.requirements = {{.key = "a", .operation = Operator::exists},
                                               {.key = "b", .operation = Operator::exists}}};
  const PodShape a{.node_selector = {{"y", "1"}, {"x", "1"}},
                   .node_terms = {{.labels = disordered.requirements, .fields = {}}},
                   .tolerations = {{.key = "t"}, {.key = "s"}, {.key = "t"}},
                   .ports = {{.port = 80}, {.port = 22}},
                   .affinity = {{.selector = disordered, .namespaces = {"q", "p", "q"}}},
                   .anti_affinity = {{.namespace_selector = disordered}},
                   .spread = {{.topology_key = "zone", .selector = disordered}},
                   .unsupported = {"b", "a", "b"}};
  const PodShape b{.node_selector = {{"x", "1"}, {"y", "1"}},
                   .node_terms = {{.labels = ordered.requirements, .fields = {}}},
                   .tolerations = {{.key = "s"}, {.key = "t"}},
                   .ports = {{.port = 22}, {.port = 80}},
                   .affinity = {{.selector = ordered, .namespaces = {"p", "q"}}},
                   .anti_affinity = {{.namespace_selector = ordered}},
                   .spread = {{.topology_key = "zone", .selector = ordered}},
                   .unsupported = {"a", "b"}};
  EXPECT_EQ(normalized(a), b);
}

TEST(Normalize, ABoundPodHasNoNominationAndNoOpenNeeds) {
  Pod pod{.name = "p", .nominated_node = "n2"};
  pod.shape.unsupported = {"schedulingGate quota"};
  EXPECT_EQ(normalized(pod), pod) << "pending: both stay";
  pod.node = "n1";
  const Pod bound = normalized(pod);
  EXPECT_EQ(bound.nominated_node, "");
  EXPECT_TRUE(bound.shape.unsupported.empty());
}

TEST(Normalize, ALeavingPodHasNoNomination) {  // SPEC 1, law 7: it will never come
  Pod pod{.name = "p", .nominated_node = "n2", .deletion = Time{1000}};
  pod.shape.unsupported = {"schedulingGate quota"};
  EXPECT_EQ(normalized(pod).nominated_node, "");
  EXPECT_EQ(normalized(pod).shape.unsupported, pod.shape.unsupported) << "it is still pending";
}

TEST(Normalize, UsesOfClaimsNameTheirPod) {
  Pod pod{.namespace_name = "shop", .name = "p", .uid = "u"};
  pod.shape.claims = {{.kind = ClaimKind::resource, .name = "gpu", .local = "gone"},
                      {.kind = ClaimKind::own_volume, .local = "scratch"},
                      {.kind = ClaimKind::volume, .name = "data"},
                      {.kind = ClaimKind::volume, .name = "data"}};
  const ClaimUse data{.kind = ClaimKind::volume, .namespace_name = "shop", .name = "data"};
  const ClaimUse scratch{.kind = ClaimKind::own_volume,
                         .namespace_name = "shop",
                         .name = "p-scratch",
                         .local = "scratch",
                         .pod = "p",
                         .pod_uid = "u"};
  const ClaimUse gpu{.kind = ClaimKind::resource, .namespace_name = "shop", .name = "gpu"};
  EXPECT_EQ(normalized(pod).shape.claims, (std::vector<ClaimUse>{data, scratch, gpu}));
  pod.node = "n1";
  EXPECT_EQ(normalized(pod).shape.claims, (std::vector<ClaimUse>{data, scratch}))
      << "devices of a bound pod do not matter any more; its volumes count for its node";
}

TEST(Normalize, DefaultsOfAPodAreLeftOut) {
  const Pod pod = normalized(Pod{.name = "p",
                                 .scheduler = "default-scheduler",
                                 .requests = {{"pods", 4}, {"cpu", 1}},
                                 .owners = {{.kind = "Job", .name = "b"},
                                            {.kind = "Job", .name = "a"},
                                            {.kind = "Job", .name = "b"}}});
  EXPECT_EQ(pod.scheduler, "");
  EXPECT_EQ(pod.requests, (Amounts{{"cpu", 1}}))
      << "every pod takes one of `pods`, whatever it says";
  ASSERT_EQ(pod.owners.size(), 2U);
  EXPECT_EQ(pod.owners.front().name, "a");
  EXPECT_EQ(normalized(Pod{.name = "p", .scheduler = "other"}).scheduler, "other");
}

TEST(Normalize, NodesBudgetsAndWorkloads) {
  const Node node = normalized(Node{.name = "n",
                                    .taints = {{.key = "b"}, {.key = "a"}, {.key = "b"}},
                                    .allocatable = {{"pods", 110}, {"cpu", 0}}});
  ASSERT_EQ(node.taints.size(), 2U);
  EXPECT_EQ(node.taints.front().key, "a");
  EXPECT_EQ(node.allocatable, (Amounts{{"pods", 110}}));

  DisruptionBudget budget{.name = "b", .disrupted_pods = {"y", "x"}};
  normalize(budget);
  EXPECT_EQ(budget.disrupted_pods, (std::vector<std::string>{"x", "y"}));

  const Workload workload =
      normalized(Workload{.name = "w", .templates = {{.name = "workers"}, {.name = "leader"}}});
  EXPECT_EQ(workload.templates.front().name, "leader");
}

}  // namespace
}  // namespace makeway
