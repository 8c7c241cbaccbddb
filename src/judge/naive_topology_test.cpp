// The judge's feasibility where other pods matter: spread, affinity, anti-affinity.
#include "judge/naive_topology.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/naive_fit.hpp"
#include "support/naive_refusal.hpp"

namespace makeway::naive_topology_test {
namespace {

constexpr auto skewed = RefusalReason::spread;
constexpr std::nullopt_t fits = std::nullopt;

Node node(std::string name, Labels labels = {}) {
  return {.name = std::move(name), .labels = std::move(labels), .allocatable = {{"pods", 10}}};
}

Node in_zone(std::string name, std::string value) {
  return node(std::move(name), {{"zone", std::move(value)}});
}

Pod pod(std::string name, std::string on, std::string app = "web") {
  return {.namespace_name = "default",
          .name = std::move(name),
          .labels = {{"app", std::move(app)}},
          .node = std::move(on)};
}

Pod ask(PodShape shape, std::string app = "web") {
  Pod object = pod("ask", "", std::move(app));
  object.shape = std::move(shape);
  return object;
}

LabelSelector web() { return {{{.key = "app", .values = {"web"}}}}; }

SpreadConstraint spread() { return {.topology_key = "zone", .selector = web()}; }

PodAffinityTerm near_web() {
  return {.selector = web(), .namespaces = {"default"}, .topology_key = "zone"};
}

// ---- Spread -------------------------------------------------------------------------------------

TEST(NaiveSpread, TheSkewIsCountedAgainstTheLeastCrowdedDomain) {
  Cluster cluster = cluster_of(in_zone("a1", "a"), in_zone("a2", "a"), in_zone("b1", "b"),
                               pod("p1", "a1"), ask({.spread = {spread()}}));
  EXPECT_EQ(refusal(cluster, "a1"), skewed);
  EXPECT_EQ(refusal(cluster, "a2"), skewed);
  EXPECT_EQ(refusal(cluster, "b1"), fits);
  SpreadConstraint two = spread();
  two.skew_max = 2;
  cluster.apply(ask({.spread = {two}}));
  EXPECT_EQ(refusal(cluster, "a1"), fits);
}

TEST(NaiveSpread, CountsPodsOfTheNamespaceThatMatchAndStay) {
  Cluster cluster = cluster_of(in_zone("a1", "a"), in_zone("b1", "b"), ask({.spread = {spread()}}));
  Pod leaving = pod("leaving", "a1");
  leaving.deletion = Time{0};
  Pod elsewhere = pod("elsewhere", "a1");
  elsewhere.namespace_name = "other";
  cluster.apply(leaving);
  cluster.apply(elsewhere);
  cluster.apply(pod("another", "a1", "database"));
  EXPECT_EQ(refusal(cluster, "a1"), fits);
  cluster.apply(pod("counts", "a1"));
  EXPECT_EQ(refusal(cluster, "a1"), skewed);
}

TEST(NaiveSpread, AnAskThatDoesNotMatchItselfDoesNotCount) {
  Cluster cluster = cluster_of(in_zone("a1", "a"), in_zone("b1", "b"), pod("p1", "a1"),
                               ask({.spread = {spread()}}, "database"));
  EXPECT_EQ(refusal(cluster, "a1"), fits);
}

TEST(NaiveSpread, ANodeWithoutTheKeyIsRefused) {
  const Cluster cluster = cluster_of(node("bare"), in_zone("a1", "a"), ask({.spread = {spread()}}));
  EXPECT_EQ(refusal(cluster, "bare"), RefusalReason::spread_label);
  EXPECT_EQ(refusal(cluster, "a1"), fits);
}

TEST(NaiveSpread, OnlyNodesWithAllKeysCount) {
  SpreadConstraint by_rack = spread();
  by_rack.topology_key = "rack";
  by_rack.skew_max = 9;
  // b1 has no rack: zone b is no domain, so zone a is the least crowded one itself.
  Cluster cluster = cluster_of(node("a1", {{"rack", "1"}, {"zone", "a"}}), in_zone("b1", "b"),
                               pod("p1", "a1"), ask({.spread = {by_rack, spread()}}));
  EXPECT_EQ(refusal(cluster, "a1"), fits);
  cluster.apply(node("b1", {{"rack", "2"}, {"zone", "b"}}));
  EXPECT_EQ(refusal(cluster, "a1"), skewed);
}

TEST(NaiveSpread, FewerDomainsThanTheMinimumCountAsOneEmptyDomain) {
  SpreadConstraint wide = spread();
  Cluster cluster = cluster_of(in_zone("a1", "a"), pod("p1", "a1"), ask({.spread = {wide}}));
  EXPECT_EQ(refusal(cluster, "a1"), fits);
  wide.domains_min = 2;
  cluster.apply(ask({.spread = {wide}}));
  EXPECT_EQ(refusal(cluster, "a1"), skewed);
  cluster.apply(in_zone("b1", "b"));
  cluster.apply(pod("p2", "b1"));
  EXPECT_EQ(refusal(cluster, "a1"), fits);
}

TEST(NaiveSpread, AnEmptySelectorCountsOnlyTheAsk) {
  SpreadConstraint all = spread();
  all.selector = LabelSelector{};
  Cluster cluster = cluster_of(in_zone("a1", "a"), in_zone("b1", "b"), pod("p1", "a1"),
                               pod("p2", "a1"), ask({.spread = {all}}));
  EXPECT_EQ(refusal(cluster, "a1"), fits);
  all.skew_max = 0;  // Not valid, but shows that the ask counts as one.
  cluster.apply(ask({.spread = {all}}));
  EXPECT_EQ(refusal(cluster, "a1"), skewed);
  all.selector.reset();
  cluster.apply(ask({.spread = {all}}));
  EXPECT_EQ(refusal(cluster, "a1"), fits);
}

TEST(NaiveSpread, InclusionPoliciesSayWhichNodesCount) {
  const auto laws = [](bool honor_affinity, bool honor_taints) {
    SpreadConstraint constraint = spread();
    constraint.honor_node_affinity = honor_affinity;
    constraint.honor_node_taints = honor_taints;
    Node tainted = node("b1", {{"disk", "ssd"}, {"zone", "b"}});
    tainted.taints = {{.key = "gpu"}};
    const Node other = node("c1", {{"disk", "hdd"}, {"zone", "c"}});
    PodShape shape{.node_selector = {{"disk", "ssd"}}, .spread = {constraint}};
    return refusal(cluster_of(node("a1", {{"disk", "ssd"}, {"zone", "a"}}), tainted, other,
                              pod("p1", "a1"), ask(shape)),
                   "a1");
  };
  EXPECT_EQ(laws(true, true), fits);     // Only zone a is left.
  EXPECT_EQ(laws(true, false), skewed);  // Zone b is empty.
  EXPECT_EQ(laws(false, true), skewed);  // Zone c is empty.
  EXPECT_EQ(laws(false, false), skewed);
}

TEST(NaiveSpread, FollowsWhatIf) {
  const Cluster cluster = cluster_of(in_zone("a1", "a"), in_zone("b1", "b"), pod("p1", "a1"),
                                     pod("p2", ""), ask({.spread = {spread()}}));
  NaiveWorld world(cluster);
  NaiveFit fit(world, *cluster.find_pod("default", "ask"));
  const NodeIndex a1 = *cluster.find_node("a1");
  EXPECT_FALSE(fit.fits(a1));
  fit.place(*cluster.find_pod("default", "p2"), *cluster.find_node("b1"));
  EXPECT_TRUE(fit.fits(a1));
  fit.remove(*cluster.find_pod("default", "p2"));
  EXPECT_FALSE(fit.fits(a1));
  fit.remove(*cluster.find_pod("default", "p1"));
  EXPECT_TRUE(fit.fits(a1));
}

// ---- Affinity -----------------------------------------------------------------------------------

TEST(NaiveAffinity, WantsAMatchingPodInTheDomain) {
  Cluster cluster = cluster_of(in_zone("a1", "a"), in_zone("a2", "a"), in_zone("b1", "b"),
                               node("bare"), pod("p1", "a1"), ask({.affinity = {near_web()}}));
  EXPECT_EQ(refusal(cluster, "a1"), fits);
  EXPECT_EQ(refusal(cluster, "a2"), fits);
  EXPECT_EQ(refusal(cluster, "b1"), RefusalReason::affinity);
  EXPECT_EQ(refusal(cluster, "bare"), RefusalReason::affinity);
}

TEST(NaiveAffinity, TheFirstOfItsKindMayStartAnywhereWithTheKey) {
  Cluster cluster = cluster_of(in_zone("a1", "a"), node("bare"), ask({.affinity = {near_web()}}));
  EXPECT_EQ(refusal(cluster, "a1"), fits);
  EXPECT_EQ(refusal(cluster, "bare"), RefusalReason::affinity);
  cluster.apply(pod("p1", "bare"));  // It is in no domain: as if it were not there.
  EXPECT_EQ(refusal(cluster, "a1"), fits);
  cluster.apply(pod("p2", "ghost"));  // Nor is a pod on a node that is only named.
  EXPECT_EQ(refusal(cluster, "a1"), fits);
  cluster.apply(ask({.affinity = {near_web()}}, "database"));
  EXPECT_EQ(refusal(cluster, "a1"), RefusalReason::affinity);
}

TEST(NaiveAffinity, OnePodMatchesAllTerms) {
  PodAffinityTerm near_front = near_web();
  near_front.selector = LabelSelector{{{.key = "tier", .values = {"front"}}}};
  Pod both = pod("both", "a1");
  both.labels.push_back({"tier", "front"});
  Pod front = pod("front", "b1", "other");
  front.labels.push_back({"tier", "front"});
  Cluster cluster = cluster_of(in_zone("a1", "a"), in_zone("b1", "b"), front, pod("web", "b1"),
                               ask({.affinity = {near_web(), near_front}}));
  EXPECT_EQ(refusal(cluster, "b1"), RefusalReason::affinity);  // Two pods, none matches both.
  cluster.apply(both);
  EXPECT_EQ(refusal(cluster, "a1"), fits);
}

TEST(NaiveAffinity, NamespacesAreNamedOrSelected) {
  Pod elsewhere = pod("p1", "a1");
  elsewhere.namespace_name = "team";
  PodAffinityTerm term = near_web();
  Cluster cluster =
      cluster_of(in_zone("a1", "a"), elsewhere, ask({.affinity = {term}}, "database"));
  EXPECT_EQ(refusal(cluster, "a1"), RefusalReason::affinity);
  term.namespaces = {"team"};
  cluster.apply(ask({.affinity = {term}}, "database"));
  EXPECT_EQ(refusal(cluster, "a1"), fits);
  term.namespaces = {};
  term.namespace_selector = LabelSelector{{{.key = "kind", .values = {"team"}}}};
  cluster.apply(ask({.affinity = {term}}, "database"));
  EXPECT_EQ(refusal(cluster, "a1"), RefusalReason::affinity);
  cluster.apply(Namespace{.name = "team", .labels = {{"kind", "team"}}});
  EXPECT_EQ(refusal(cluster, "a1"), fits);
  term.namespace_selector = LabelSelector{};  // Every namespace.
  cluster.apply(ask({.affinity = {term}}, "database"));
  EXPECT_EQ(refusal(cluster, "a1"), fits);
  term.selector.reset();  // No pod at all.
  cluster.apply(ask({.affinity = {term}}, "database"));
  EXPECT_EQ(refusal(cluster, "a1"), RefusalReason::affinity);
}

// ---- Anti-affinity ------------------------------------------------------------------------------

TEST(NaiveAntiAffinity, TheAskRepels) {
  const Cluster cluster =
      cluster_of(in_zone("a1", "a"), in_zone("a2", "a"), in_zone("b1", "b"), node("bare"),
                 pod("p1", "a1"), pod("p2", "bare"), ask({.anti_affinity = {near_web()}}));
  EXPECT_EQ(refusal(cluster, "a1"), RefusalReason::anti_affinity);
  EXPECT_EQ(refusal(cluster, "a2"), RefusalReason::anti_affinity);
  EXPECT_EQ(refusal(cluster, "b1"), fits);
  EXPECT_EQ(refusal(cluster, "bare"), fits);  // Without the key there is no domain to share.
}

TEST(NaiveAntiAffinity, TheAskIsRepelled) {
  Pod hermit = pod("hermit", "a1", "hermit");
  hermit.shape.anti_affinity = {near_web()};
  Cluster cluster =
      cluster_of(in_zone("a1", "a"), in_zone("a2", "a"), in_zone("b1", "b"), hermit, ask({}));
  EXPECT_EQ(refusal(cluster, "a2"), RefusalReason::repelled);
  EXPECT_EQ(refusal(cluster, "b1"), fits);
  cluster.apply(ask({}, "database"));
  EXPECT_EQ(refusal(cluster, "a2"), fits);
}

TEST(NaiveAntiAffinity, FollowsWhatIf) {
  Pod hermit = pod("hermit", "a1", "hermit");
  hermit.shape.anti_affinity = {near_web()};
  Pod pending = hermit;
  pending.name = "pending";
  pending.node = "";
  const Cluster cluster =
      cluster_of(in_zone("a1", "a"), in_zone("b1", "b"), hermit, pending, ask({}));
  NaiveWorld world(cluster);
  NaiveFit fit(world, *cluster.find_pod("default", "ask"));
  fit.remove(*cluster.find_pod("default", "hermit"));
  EXPECT_TRUE(fit.fits(*cluster.find_node("a1")));
  fit.place(*cluster.find_pod("default", "pending"), *cluster.find_node("b1"));
  EXPECT_FALSE(fit.fits(*cluster.find_node("b1")));
}

}  // namespace
}  // namespace makeway::naive_topology_test
