// Law 13: what an API server accepts never stops the others, and hides nothing of what is used.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "codec/load.hpp"
#include "codec/quantity.hpp"

namespace makeway {
namespace {

std::string list_of(const std::string& items) {
  return R"({"apiVersion": "v1", "kind": "List", "items": [)" + items + "]}";
}

std::string pod_text(std::string_view name, std::string_view node, const std::string& containers) {
  return fmt::format(R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{}"}},)"
                     R"( "spec": {{"nodeName": "{}", "priority": 7, "containers": [{}]}}}})",
                     name, node, containers);
}

std::string container(const std::string& requests) {
  return fmt::format(R"({{"name": "c", "resources": {{"requests": {{{}}}}}}})", requests);
}

const std::string node_text =
    R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status":)"
    R"( {"allocatable": {"cpu": "4", "pods": "110", "example.com/gpu": "2"}}})";

LoadResult keep_going(const std::string& items) {
  return load_text(list_of(items), "hostile", {}, {.keep_going = true});
}

std::int64_t used(const Cluster& cluster, std::string_view resource) {
  const std::span<const std::int64_t> columns = cluster.order().used(*cluster.find_node("n1"));
  for (std::uint32_t column = 0; column < columns.size(); ++column) {
    if (cluster.resources().name(ResourceIndex{column}) == resource) return columns[column];
  }
  return -1;
}

std::string many_names(int count) {
  std::string text;
  for (int number = 0; number < count; ++number) {
    text += fmt::format(R"({}"a.example/{:05}": "1")", number == 0 ? "" : ", ", number);
  }
  return text;
}

TEST(KeepGoing, WhatNodesOfferIsCountedWhateverPodsName) {
  // Before the node, and with names that come before it: all of it must not hide the gpu.
  const std::string noise = container(many_names(300) + R"(, "example.com/gpu": "1")");
  const LoadResult result = keep_going(pod_text("bound", "n1", noise) + ", " +
                                       pod_text("pending", "", noise) + ", " + node_text);
  ASSERT_TRUE(result.loaded.has_value());
  const Cluster& cluster = result.loaded->cluster;
  EXPECT_LE(cluster.resources().size(), 256U);
  EXPECT_EQ(used(cluster, "example.com/gpu"), 1);
  EXPECT_EQ(result.loaded->quarantine.objects(), 2U);
  const PodIndex pending = *cluster.find_pod("default", "pending");
  EXPECT_EQ(cluster.shape(cluster.pods().shape[pending]).unsupported.size(), 1U);
  const PodIndex bound = *cluster.find_pod("default", "bound");
  EXPECT_EQ(cluster.units()[cluster.pods().unit[bound]].preemption_priority, 7);
}

TEST(KeepGoing, EveryContainerCounts) {
  std::string containers = container(R"("cpu": "1m")");
  for (int number = 1; number < 1'500; ++number) {
    containers += ", " + container(R"("cpu": "1m")");
  }
  const LoadResult result = keep_going(node_text + ", " + pod_text("bound", "n1", containers));
  ASSERT_TRUE(result.loaded.has_value());
  EXPECT_EQ(used(result.loaded->cluster, "cpu"), 1'500);
  EXPECT_EQ(result.loaded->quarantine.problems().count(), 1U);
}

TEST(KeepGoing, AmountsAreClamped) {
  const LoadResult result = keep_going(
      node_text + ", " + pod_text("two", "n1", container(R"("memory": "2Ei", "cpu": "1e40")")));
  ASSERT_TRUE(result.loaded.has_value());
  EXPECT_EQ(used(result.loaded->cluster, "memory"), quantity_amount_max);
  EXPECT_EQ(used(result.loaded->cluster, "cpu"), quantity_amount_max);
}

TEST(KeepGoing, ManyNamesAndContainersCostWhatTheyAreLong) {
  std::string containers;
  for (int number = 0; number < 1'000; ++number) {
    containers +=
        (number == 0 ? "" : ", ") + container(fmt::format(R"("a.example/{}": "1")", number));
  }
  const LoadResult result =
      keep_going(node_text + ", " + pod_text("wide", "n1", container(many_names(100'000))) + ", " +
                 pod_text("long", "n1", containers));
  ASSERT_TRUE(result.loaded.has_value());
  EXPECT_LE(result.loaded->cluster.resources().size(), 256U);
}

TEST(KeepGoing, TextThatCannotBeReadStillEndsIt) {
  const LoadResult cut = load_text(R"({"apiVersion": "v1", "kind": "List", "items": [)", "cut", {},
                                   {.keep_going = true});
  EXPECT_FALSE(cut.loaded.has_value());
}

}  // namespace
}  // namespace makeway
