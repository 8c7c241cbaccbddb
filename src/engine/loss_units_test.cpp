// Which pods stop when others are lost (SPEC section 7).
#include "engine/loss_units.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "support/plan_scene.hpp"

namespace makeway {
namespace {

using Names = std::vector<std::string>;

Pod sharing(Pod pod, std::vector<LossShare> shares) {
  pod.notes.loss_units = std::move(shares);
  return pod;
}

struct LossScene {
  Cluster cluster;

  explicit LossScene(const std::vector<Pod>& pods) {
    cluster.apply(scene::node("n1", 100));
    for (const Pod& pod : pods) cluster.apply(pod);
  }

  /// "unit: those that stay", after some were lost to asks before.
  Names stopped(const Names& victims, const Names& before = {}) const {
    const auto all_of = [this](const Names& names) {
      std::set<PodIndex> pods;
      for (const std::string& name : names) pods.insert(*cluster.find_pod("default", name));
      return pods;
    };
    const std::set<PodIndex> lost = all_of(victims);
    const std::set<PodIndex> gone = all_of(before);
    const LossUnits units(cluster);
    Names found;
    const auto all = units.stopped_by(
        std::vector(lost.begin(), lost.end()),
        [this](PodIndex pod) { return cluster.pods().deletion[pod] == no_time; },
        [&](PodIndex pod) { return !gone.contains(pod); });
    for (const LossUnits::Stopped& each : all) {
      std::string text = std::string(each.unit) + ":";
      for (const PodIndex pod : each.rest) {
        text += " " + std::string(cluster.pods().name[pod.value]);
      }
      found.push_back(text);
    }
    return found;
  }
};

Pod bound(const std::string& name) { return scene::pod(name, "n1", 0, 1); }

TEST(LossUnits, AnyLossStopsTheRest) {
  const std::vector<LossShare> train = {{.unit = "train", .part = "all"}};
  const LossScene scene({sharing(bound("a"), train), sharing(bound("b"), train),
                         sharing(scene::leaving(bound("c")), train),
                         sharing(scene::pod("d", "", 0, 1), train), bound("lone")});
  EXPECT_EQ(scene.stopped({"a"}), Names{"train: b"});
  EXPECT_EQ(scene.stopped({"a", "b"}), Names{});  // No pod is left to stop.
  EXPECT_EQ(scene.stopped({"lone"}), Names{});
}

TEST(LossUnits, PartsCountTheirOwnLosses) {
  const auto share = [](const char* part, std::int64_t allowed) {
    return std::vector<LossShare>{{.unit = "set", .part = part, .allowed = allowed}};
  };
  const LossScene scene({sharing(bound("a"), share("x", 1)), sharing(bound("b"), share("x", 1)),
                         sharing(bound("c"), share("y", 0)), sharing(bound("d"), share("", 0))});
  EXPECT_EQ(scene.stopped({"a"}), Names{});
  EXPECT_EQ(scene.stopped({"a", "b"}), Names{"set: c d"});
  EXPECT_EQ(scene.stopped({"c"}), Names{"set: a b d"});
  EXPECT_EQ(scene.stopped({"d"}), Names{});
}

TEST(LossUnits, WhatHasStoppedStopsNoMore) {
  const std::vector<LossShare> one = {{.unit = "job", .part = "job", .allowed = 1}};
  const LossScene scene({sharing(bound("a"), one), sharing(bound("b"), one),
                         sharing(bound("c"), one), sharing(bound("d"), one)});
  EXPECT_EQ(scene.stopped({"b"}, {"a"}), Names{"job: c d"});
  EXPECT_EQ(scene.stopped({"c"}, {"a", "b"}), Names{});
}

TEST(LossUnits, APodMayBeInSeveral) {
  const LossScene scene({sharing(bound("head"), {{.unit = "ray", .part = "head"}}),
                         sharing(bound("w1"), {{.unit = "ray"}, {.unit = "one", .part = "one"}}),
                         sharing(bound("w2"), {{.unit = "ray"}, {.unit = "one", .part = "one"}}),
                         sharing(bound("w3"), {{.unit = "ray"}})});
  EXPECT_EQ(scene.stopped({"head"}), Names{"ray: w1 w2 w3"});
  EXPECT_EQ(scene.stopped({"w1"}), Names{"one: w2"});
  EXPECT_EQ(scene.stopped({"head", "w1"}), (Names{"one: w2", "ray: w2 w3"}));
}

}  // namespace
}  // namespace makeway
