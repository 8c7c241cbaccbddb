// NaiveClaims against the rules of kube-scheduler's plugins, one by one (issue 19, point 8).
#include "judge/naive_claims.hpp"

#include <gtest/gtest.h>

#include "model/normalize.hpp"
#include "support/naive_refusal.hpp"

namespace makeway {
namespace {

constexpr std::string_view zone_label = "topology.kubernetes.io/zone";

/// A node in zone a, and a pod that uses the claim `data`, bound to `disk`.
struct ClaimScene {
  Labels labels = {{std::string(zone_label), "a"}};
  PersistentVolumeClaim claim{
      .namespace_name = "default", .name = "data", .volume = "disk", .bound = true};
  PersistentVolume volume{.name = "disk", .available = false, .driver = "d", .handle = "h"};
  StorageClass storage{.name = "fast", .provisioner = "d", .waits_for_pod = true};
  ClaimUse use{.kind = ClaimKind::volume, .name = "data"};
  std::vector<Change> others;

  std::optional<RefusalReason> answer() const {
    Cluster cluster;
    cluster.apply(
        Node{.name = "n1", .labels = labels, .allocatable = {{"cpu", 1000}, {"pods", 10}}});
    cluster.apply(claim);
    cluster.apply(volume);
    cluster.apply(storage);
    for (const Change& each : others) cluster.apply(each);
    Pod pod{.namespace_name = "default", .name = "ask", .uid = "u1"};
    pod.shape.claims = {use};
    normalize(pod);
    cluster.apply(pod);
    return refusal(cluster, "n1");
  }
};

NodeSelectorTerm in_zone(std::string value) {
  return {.labels = {{.key = std::string(zone_label),
                      .operation = Operator::in,
                      .values = {std::move(value)}}},
          .fields = {}};
}

Pod user(std::string name, std::string on, std::string claim) {
  Pod pod{.namespace_name = "default", .name = std::move(name), .node = std::move(on)};
  pod.shape.claims = {{.kind = ClaimKind::volume, .name = std::move(claim)}};
  normalize(pod);
  return pod;
}

TEST(NaiveClaims, ABoundClaimIsFollowedToItsVolume) {
  ClaimScene scene;
  EXPECT_EQ(scene.answer(), std::nullopt);
  scene.volume.node_terms = {in_zone("b"), in_zone("a")};
  EXPECT_EQ(scene.answer(), std::nullopt);
  scene.volume.node_terms = {in_zone("b")};
  EXPECT_EQ(scene.answer(), RefusalReason::claim_node);
  scene.claim.volume = "gone";
  EXPECT_EQ(scene.answer(), RefusalReason::claim);
}

TEST(NaiveClaims, ZonesOfAVolumeAreAListAndOldNamesMeanTheNewOnes) {
  ClaimScene scene;
  scene.volume.zones = {{std::string(zone_label), "b__a"}};
  EXPECT_EQ(scene.answer(), std::nullopt);
  scene.volume.zones = {{std::string(zone_label), "b__aa"}};
  EXPECT_EQ(scene.answer(), RefusalReason::claim_node);
  scene.volume.zones = {{"failure-domain.beta.kubernetes.io/zone", "a"}};
  EXPECT_EQ(scene.answer(), std::nullopt);
  scene.volume.zones = {{"topology.kubernetes.io/region", "r"}};
  EXPECT_EQ(scene.answer(), RefusalReason::claim_node) << "the node has a zone and no region";
  scene.labels = {};
  EXPECT_EQ(scene.answer(), std::nullopt) << "a cluster of one zone";
}

TEST(NaiveClaims, AClaimThatCannotBeUsedKeepsThePodOffEveryNode) {
  ClaimScene scene;
  scene.claim.lost = true;
  EXPECT_EQ(scene.answer(), RefusalReason::claim);
  scene.claim.lost = false;
  scene.claim.deletion = Time{1};
  EXPECT_EQ(scene.answer(), RefusalReason::claim);
  scene.claim.deletion.reset();
  scene.claim.bound = false;
  EXPECT_EQ(scene.answer(), RefusalReason::claim) << "not bound to its volume yet";
  scene.use.name = "other";
  EXPECT_EQ(scene.answer(), RefusalReason::claim) << "no such claim";
}

TEST(NaiveClaims, AnUnboundClaimWaitsOrGoesWhereItsClassMakesVolumes) {
  ClaimScene scene;
  scene.claim.volume.clear();
  scene.claim.bound = false;
  EXPECT_EQ(scene.answer(), RefusalReason::claim) << "no class at all";
  scene.claim.storage_class = "fast";
  EXPECT_EQ(scene.answer(), std::nullopt);
  scene.storage.topologies = {in_zone("b")};
  EXPECT_EQ(scene.answer(), RefusalReason::claim_node);
  scene.storage.topologies.clear();
  scene.claim.selected_node = "n2";
  EXPECT_EQ(scene.answer(), RefusalReason::claim_node);
  scene.claim.selected_node.clear();
  scene.storage.provisioner = "kubernetes.io/no-provisioner";
  EXPECT_EQ(scene.answer(), RefusalReason::claim);
  scene.others = {PersistentVolume{.name = "free", .storage_class = "fast"}};
  EXPECT_EQ(scene.answer(), RefusalReason::unsupported);
  scene.storage.waits_for_pod = false;
  EXPECT_EQ(scene.answer(), RefusalReason::claim) << "bound at once, by another controller";
}

TEST(NaiveClaims, AClaimWithoutAClassHasTheNewestDefault) {
  ClaimScene scene;
  scene.claim.volume.clear();
  scene.claim.bound = false;
  scene.storage.is_default = true;
  EXPECT_EQ(scene.answer(), std::nullopt);
  scene.others = {
      StorageClass{.name = "newer", .created = Time{5}, .provisioner = "d", .is_default = true}};
  EXPECT_EQ(scene.answer(), RefusalReason::claim) << "the newer one binds at once";
}

TEST(NaiveClaims, AClaimForOnePodIsNotShared) {
  ClaimScene scene;
  scene.others = {user("other", "n2", "data")};
  EXPECT_EQ(scene.answer(), std::nullopt);
  scene.claim.one_pod = true;
  EXPECT_EQ(scene.answer(), RefusalReason::volume_in_use) << "on whatever node";
  scene.others = {user("other", "", "data")};
  EXPECT_EQ(scene.answer(), std::nullopt) << "it is pending, too";
}

TEST(NaiveClaims, ANodeTakesSoManyVolumesEachCountedOnce) {
  ClaimScene scene;
  const PersistentVolumeClaim more{
      .namespace_name = "default", .name = "more", .volume = "disk2", .bound = true};
  const PersistentVolume disk2{.name = "disk2", .driver = "d", .handle = "h2"};
  scene.others = {CsiNode{.name = "n1", .limits = {{.driver = "d", .count = 1}}}, more, disk2};
  EXPECT_EQ(scene.answer(), std::nullopt);
  scene.others.emplace_back(user("other", "n1", "more"));
  EXPECT_EQ(scene.answer(), RefusalReason::volume_limit);
  scene.others.emplace_back(user("same", "n1", "data"));
  EXPECT_EQ(scene.answer(), std::nullopt) << "its volume is there: nothing new";
}

TEST(NaiveClaims, WhatIsMadeForAPodIsItsOwn) {
  ClaimScene scene;
  scene.use = {.kind = ClaimKind::own_volume, .local = "scratch"};
  scene.claim.name = "ask-scratch";
  EXPECT_EQ(scene.answer(), RefusalReason::claim) << "no owner";
  scene.claim.owner = "ask";
  EXPECT_EQ(scene.answer(), std::nullopt);
  scene.claim.owner_uid = "u2";
  EXPECT_EQ(scene.answer(), RefusalReason::claim) << "of an earlier pod of that name";
}

TEST(NaiveClaims, AnAllocatedResourceClaimSaysWhere) {
  ClaimScene scene;
  scene.use = {.kind = ClaimKind::resource, .name = "gpu"};
  EXPECT_EQ(scene.answer(), RefusalReason::claim) << "it is not there";
  ResourceClaim claim{.namespace_name = "default", .name = "gpu"};
  const auto with = [&] {
    scene.others = {claim};
    return scene.answer();
  };
  EXPECT_EQ(with(), RefusalReason::unsupported);
  claim.allocated = true;
  EXPECT_EQ(with(), std::nullopt);
  claim.node_terms = {
      {.labels = {},
       .fields = {{.key = "metadata.name", .operation = Operator::in, .values = {"n2"}}}}};
  EXPECT_EQ(with(), RefusalReason::claim_node);
  claim.node_terms.front().fields.front().values = {"n1"};
  EXPECT_EQ(with(), std::nullopt);
  claim.reserved_for.resize(256);
  EXPECT_EQ(with(), RefusalReason::claim);
}

}  // namespace
}  // namespace makeway
