// The judge's feasibility, filter by filter: one node, one ask, what stands around.
#include "judge/naive_fit.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/naive_refusal.hpp"

namespace makeway::naive_fit_test {
namespace {

Node node(std::string name, Labels labels = {}) {
  return {.name = std::move(name),
          .labels = std::move(labels),
          .allocatable = {{"cpu", 1000}, {"pods", 10}}};
}

Pod pod(std::string name, std::string on) {
  return {.namespace_name = "default", .name = std::move(name), .node = std::move(on)};
}

Pod ask(PodShape shape = {}) {
  Pod object = pod("ask", "");
  object.shape = std::move(shape);
  return object;
}

constexpr std::nullopt_t fits = std::nullopt;

TEST(NaiveFit, WhatIsNotSupportedIsRefused) {
  EXPECT_EQ(refusal(cluster_of(node("n1"), ask({.unsupported = {"a claim"}})), "n1"),
            RefusalReason::unsupported);
}

TEST(NaiveFit, ANodeThatIsOnlyNamedIsNoPlace) {
  EXPECT_EQ(refusal(cluster_of(pod("other", "n1"), ask()), "n1"), RefusalReason::unschedulable);
}

// ---- Unschedulable and taints -------------------------------------------------------------------

struct TolerationCase {
  std::string_view name;
  std::vector<Taint> taints;
  bool unschedulable = false;
  std::vector<Toleration> tolerations;
  std::optional<RefusalReason> expected;
};

class Tolerations : public testing::TestWithParam<TolerationCase> {};

TEST_P(Tolerations, AreHonoured) {
  Node tainted = node("n1");
  tainted.taints = GetParam().taints;
  tainted.unschedulable = GetParam().unschedulable;
  EXPECT_EQ(refusal(cluster_of(tainted, ask({.tolerations = GetParam().tolerations})), "n1"),
            GetParam().expected);
}

constexpr auto tainted = RefusalReason::taint;
constexpr auto cordoned = RefusalReason::unschedulable;
const Taint gpu{.key = "gpu", .value = "a"};
const Taint draining{.key = "drain", .effect = TaintEffect::no_execute};
const Taint better_not{.key = "gpu", .effect = TaintEffect::prefer_no_schedule};
const std::string cordon = "node.kubernetes.io/unschedulable";

INSTANTIATE_TEST_SUITE_P(
    Cases, Tolerations,
    testing::Values(
        TolerationCase{"no_taint", {}, false, {}, fits},
        TolerationCase{"no_schedule", {gpu}, false, {}, tainted},
        TolerationCase{"no_execute", {draining}, false, {}, tainted},
        TolerationCase{"prefer_no_schedule", {better_not}, false, {}, fits},
        TolerationCase{"equal", {gpu}, false, {{.key = "gpu", .value = "a"}}, fits},
        TolerationCase{"other_value", {gpu}, false, {{.key = "gpu", .value = "b"}}, tainted},
        TolerationCase{"exists", {gpu}, false, {{.key = "gpu", .exists = true}}, fits},
        TolerationCase{"everything", {gpu, draining}, false, {{.exists = true}}, fits},
        TolerationCase{
            "one_of_two", {gpu, draining}, false, {{.key = "gpu", .exists = true}}, tainted},
        TolerationCase{"other_effect",
                       {gpu},
                       false,
                       {{.key = "gpu", .exists = true, .effect = TaintEffect::no_execute}},
                       tainted},
        TolerationCase{"same_effect",
                       {gpu},
                       false,
                       {{.key = "gpu", .exists = true, .effect = TaintEffect::no_schedule}},
                       fits},
        TolerationCase{"cordoned", {}, true, {}, cordoned},
        TolerationCase{"cordon_tolerated", {}, true, {{.key = cordon, .exists = true}}, fits},
        TolerationCase{"cordon_tolerated_for_another_effect",
                       {},
                       true,
                       {{.key = cordon, .exists = true, .effect = TaintEffect::no_execute}},
                       cordoned}),
    [](const auto& test) { return std::string(test.param.name); });

// ---- Node selector and affinity -----------------------------------------------------------------

struct NodeAffinityCase {
  std::string_view name;
  PodShape shape;
  bool matches = false;
};

class NodeAffinity : public testing::TestWithParam<NodeAffinityCase> {};

TEST_P(NodeAffinity, IsHonoured) {
  const Cluster cluster =
      cluster_of(node("n1", {{"disk", "ssd"}, {"size", "7"}}), ask(GetParam().shape));
  EXPECT_EQ(refusal(cluster, "n1"),
            GetParam().matches ? std::nullopt : std::optional(RefusalReason::node_affinity));
}

PodShape selecting(Labels labels) { return {.node_selector = std::move(labels)}; }

PodShape terms(std::vector<NodeSelectorTerm> any) { return {.node_terms = std::move(any)}; }

PodShape label(std::string key, Operator operation, std::vector<std::string> values = {}) {
  return terms(
      {{.labels = {{.key = std::move(key), .operation = operation, .values = std::move(values)}}}});
}

PodShape field(Operator operation, std::string value) {
  return terms(
      {{.fields = {
            {.key = "metadata.name", .operation = operation, .values = {std::move(value)}}}}});
}

PodShape selector_and_term() {
  PodShape shape = label("size", Operator::in, {"8"});
  shape.node_selector = {{"disk", "ssd"}};
  return shape;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, NodeAffinity,
    testing::Values(
        NodeAffinityCase{"selector", selecting({{"disk", "ssd"}}), true},
        NodeAffinityCase{"selector_value", selecting({{"disk", "hdd"}}), false},
        NodeAffinityCase{"selector_key", selecting({{"nowhere", ""}}), false},
        NodeAffinityCase{"selector_and_term", selector_and_term(), false},
        NodeAffinityCase{"in", label("disk", Operator::in, {"hdd", "ssd"}), true},
        NodeAffinityCase{"not_in", label("disk", Operator::not_in, {"ssd"}), false},
        NodeAffinityCase{"not_in_absent", label("none", Operator::not_in, {"ssd"}), true},
        NodeAffinityCase{"exists", label("disk", Operator::exists), true},
        NodeAffinityCase{"exists_absent", label("none", Operator::exists), false},
        NodeAffinityCase{"does_not_exist", label("disk", Operator::does_not_exist), false},
        NodeAffinityCase{"does_not_exist_absent", label("none", Operator::does_not_exist), true},
        NodeAffinityCase{"greater", label("size", Operator::greater_than, {"6"}), true},
        NodeAffinityCase{"not_greater", label("size", Operator::greater_than, {"7"}), false},
        NodeAffinityCase{"less", label("size", Operator::less_than, {"8"}), true},
        NodeAffinityCase{"not_a_number", label("disk", Operator::less_than, {"8"}), false},
        NodeAffinityCase{"name", field(Operator::in, "n1"), true},
        NodeAffinityCase{"other_name", field(Operator::in, "n2"), false},
        NodeAffinityCase{"not_that_name", field(Operator::not_in, "n2"), true},
        NodeAffinityCase{"empty_term", terms({{}}), false},
        NodeAffinityCase{"any_term",
                         terms({{}, {.labels = {{.key = "disk", .operation = Operator::exists}}}}),
                         true},
        NodeAffinityCase{"all_of_a_term",
                         terms({{.labels = {{.key = "disk", .operation = Operator::exists}},
                                 .fields = {{.key = "metadata.name", .values = {"n2"}}}}}),
                         false}),
    [](const auto& test) { return std::string(test.param.name); });

// ---- Host ports and resources -------------------------------------------------------------------

struct PortCase {
  std::string_view name;
  HostPort wanted;
  HostPort taken;
  bool clash = false;
};

class HostPorts : public testing::TestWithParam<PortCase> {};

TEST_P(HostPorts, Clash) {
  Pod other = pod("other", "n1");
  other.shape.ports = {GetParam().taken};
  const Cluster cluster = cluster_of(node("n1"), other, ask({.ports = {GetParam().wanted}}));
  EXPECT_EQ(refusal(cluster, "n1"),
            GetParam().clash ? std::optional(RefusalReason::host_port) : std::nullopt);
  NaiveWorld world(cluster);
  NaiveFit fit(world, *cluster.find_pod("default", "ask"));
  fit.remove(*cluster.find_pod("default", "other"));
  EXPECT_TRUE(fit.fits(*cluster.find_node("n1")));
  fit.put_back(*cluster.find_pod("default", "other"));
  EXPECT_EQ(fit.fits(*cluster.find_node("n1")), !GetParam().clash);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, HostPorts,
    testing::Values(
        PortCase{"same", {.port = 80}, {.port = 80}, true},
        PortCase{"other_port", {.port = 80}, {.port = 81}, false},
        PortCase{"other_protocol", {.port = 80}, {.port = 80, .protocol = Protocol::udp}, false},
        PortCase{"all_against_one", {.port = 80}, {.port = 80, .ip = "10.0.0.1"}, true},
        PortCase{"one_against_all", {.port = 80, .ip = "10.0.0.1"}, {.port = 80}, true},
        PortCase{
            "two_addresses", {.port = 80, .ip = "10.0.0.1"}, {.port = 80, .ip = "10.0.0.2"}, false},
        PortCase{
            "same_address", {.port = 80, .ip = "10.0.0.1"}, {.port = 80, .ip = "10.0.0.1"}, true}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(NaiveFit, OnlyRequestedResourcesCount) {
  Pod other = pod("other", "n1");
  other.requests = {{"cpu", 2000}, {"gpu", 1}};
  Pod wants = ask();
  Cluster cluster = cluster_of(node("n1"), other, wants);
  EXPECT_EQ(refusal(cluster, "n1"), fits);  // Overfull of cpu, and it wants none.
  wants.requests = {{"cpu", 1}};
  cluster.apply(wants);
  EXPECT_EQ(refusal(cluster, "n1"), RefusalReason::resource);
  wants.requests = {{"gpu", 1}};
  cluster.apply(wants);
  EXPECT_EQ(refusal(cluster, "n1"), RefusalReason::resource);  // The node has none.
}

TEST(NaiveFit, PodsAreCounted) {
  Node small = node("n1");
  small.allocatable = {{"pods", 1}};
  Cluster cluster = cluster_of(small, ask());
  EXPECT_EQ(refusal(cluster, "n1"), fits);
  cluster.apply(pod("other", "n1"));
  EXPECT_EQ(refusal(cluster, "n1"), RefusalReason::resource);
}

TEST(NaiveFit, SumsThatDoNotFitIntoAnIntegerStayTrue) {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max() - 1;
  Pod a = pod("a", "n1");
  a.requests = {{"cpu", huge}};
  Pod b = pod("b", "n1");
  b.requests = {{"cpu", 500}};
  Pod wants = ask();
  wants.requests = {{"cpu", 500}};
  const Cluster cluster = cluster_of(node("n1"), a, b, wants);
  NaiveWorld world(cluster);
  NaiveFit fit(world, *cluster.find_pod("default", "ask"));
  const NodeIndex n1 = *cluster.find_node("n1");
  EXPECT_FALSE(fit.fits(n1));
  fit.remove(*cluster.find_pod("default", "a"));
  EXPECT_EQ(world.used(n1, resource_cpu), 500);
  EXPECT_TRUE(fit.fits(n1));
  fit.put_back(*cluster.find_pod("default", "a"));
  fit.remove(*cluster.find_pod("default", "b"));
  EXPECT_FALSE(fit.fits(n1));
}

TEST(NaiveFit, TakenPortsFollowEveryMove) {
  Cluster cluster;
  cluster.apply(node("n1"));
  for (const std::string name : {"a", "b"}) {
    Pod holder = pod(name, "n1");
    holder.shape.ports = {{.port = 80}};
    cluster.apply(holder);
  }
  cluster.apply(ask({.ports = {{.port = 80}, {.port = 81}}}));
  const auto at = [&](const char* name) { return *cluster.find_pod("default", name); };
  const NodeIndex there = *cluster.find_node("n1");
  NaiveWorld world(cluster);
  NaiveFit fit(world, at("ask"));
  EXPECT_TRUE(fit.refusal(there));
  fit.remove(at("a"));
  EXPECT_TRUE(fit.refusal(there));
  fit.remove(at("b"));
  EXPECT_FALSE(fit.refusal(there));
  fit.put_back(at("a"));
  EXPECT_TRUE(fit.refusal(there));
}

}  // namespace
}  // namespace makeway::naive_fit_test
