// What the store interns: resource names, spans, and the hashes of object parts.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "model/columns.hpp"
#include "model/node_order.hpp"
#include "model/object_hash.hpp"
#include "model/resource.hpp"
#include "model/span_interner.hpp"

namespace makeway {
namespace {

TEST(ResourceTable, TheFirstFourColumnsAreFixed) {
  ResourceTable table;
  ASSERT_EQ(table.size(), 4U);
  EXPECT_EQ(table.name(resource_cpu), "cpu");
  EXPECT_EQ(table.name(resource_memory), "memory");
  EXPECT_EQ(table.name(resource_storage), "ephemeral-storage");
  EXPECT_EQ(table.name(resource_pods), "pods");
  EXPECT_EQ(table.intern("memory"), resource_memory);
  EXPECT_EQ(table.intern("nvidia.com/gpu"), ResourceIndex{4});
  EXPECT_EQ(table.intern("nvidia.com/gpu"), ResourceIndex{4});
  EXPECT_EQ(table.name(ResourceIndex{4}), "nvidia.com/gpu");
  EXPECT_EQ(table.size(), 5U);
}

TEST(SpanInterner, EqualSequencesShareAnId) {
  SpanInterner<RequestId, ResourceAmount> interner;
  EXPECT_TRUE(interner[RequestId{0}].empty());
  const std::vector<ResourceAmount> one = {{ResourceIndex{0}, 5}};
  const std::vector<ResourceAmount> two = {{ResourceIndex{0}, 5}, {ResourceIndex{1}, 6}};
  const RequestId first = interner.intern(one);
  const RequestId second = interner.intern(two);
  EXPECT_EQ(first, RequestId{1});
  EXPECT_EQ(second, RequestId{2});
  EXPECT_EQ(interner.intern(one), first);
  EXPECT_EQ(interner.intern(two), second);
  EXPECT_EQ(interner.intern({}), RequestId{0});
  EXPECT_EQ(interner.size(), 3U);
  ASSERT_EQ(interner[second].size(), 2U);
  EXPECT_EQ(interner[second][1].amount, 6);
  ASSERT_EQ(interner[first].size(), 1U);
}

TEST(SpanInternerDeathTest, UnknownIdsAreABug) {
  const SpanInterner<RequestId, ResourceAmount> interner;
  EXPECT_DEATH(static_cast<void>(interner[RequestId{1}]), "out of range");
}

TEST(ObjectHash, EqualValuesHaveEqualHashes) {
  const PodShape shape{.node_selector = {{"zone", "a"}}, .ports = {{.port = 80}}};
  const PodShape copy{.node_selector = {{"zone", "a"}}, .ports = {{.port = 80}}};
  EXPECT_EQ(hash_of(shape), hash_of(copy));
  EXPECT_EQ(hash_of(PodNotes{.queue = "q"}), hash_of(PodNotes{.queue = "q"}));
}

TEST(ObjectHash, EveryPartCounts) {
  std::set<std::uint64_t> shapes;
  const std::vector<PodShape> different = {
      {},
      {.node_selector = {{"a", "b"}}},
      {.node_selector = {{"b", "a"}}},
      {.node_terms = {{.labels = {{.key = "a"}}, .fields = {}}}},
      {.node_terms = {{.labels = {}, .fields = {{.key = "a"}}}}},
      {.node_terms = {{.labels = {{.key = "a", .operation = Operator::exists}}, .fields = {}}}},
      {.node_terms = {{.labels = {{.key = "a", .values = {"v"}}}, .fields = {}}}},
      {.tolerations = {{.key = "a"}}},
      {.tolerations = {{.key = "a", .exists = true}}},
      {.tolerations = {{.key = "a", .effect = TaintEffect::no_schedule}}},
      {.ports = {{.port = 80}}},
      {.ports = {{.port = 80, .protocol = Protocol::udp}}},
      {.ports = {{.port = 80, .ip = "::1"}}},
      {.affinity = {{.topology_key = "zone"}}},
      {.affinity = {{.selector = LabelSelector{}, .topology_key = "zone"}}},
      {.affinity = {{.namespace_selector = LabelSelector{}, .topology_key = "zone"}}},
      {.affinity = {{.namespaces = {"n"}, .topology_key = "zone"}}},
      {.anti_affinity = {{.topology_key = "zone"}}},
      {.spread = {{.topology_key = "zone"}}},
      {.spread = {{.topology_key = "zone", .skew_max = 2}}},
      {.spread = {{.topology_key = "zone", .domains_min = 2}}},
      {.spread = {{.topology_key = "zone", .honor_node_affinity = false}}},
      {.spread = {{.topology_key = "zone", .honor_node_taints = true}}},
      {.spread = {{.topology_key = "zone", .selector = LabelSelector{}}}},
      {.claims = {{.name = "zone"}}},
      {.claims = {{.kind = ClaimKind::resource, .name = "zone"}}},
      {.claims = {{.namespace_name = "zone"}}},
      {.claims = {{.local = "zone"}}},
      {.claims = {{.pod = "zone"}}},
      {.claims = {{.pod_uid = "zone"}}},
      {.unsupported = {"zone"}},
      {.preferences = {.nodes = {{.weight = 1, .term = {}}}}},
      {.preferences = {.nodes = {{.weight = 2, .term = {}}}}},
      {.preferences = {.pods = {{.weight = 1, .term = {.topology_key = "zone"}}}}},
      {.preferences = {.pods = {{.weight = -1, .term = {.topology_key = "zone"}}}}},
      {.preferences = {.spread = {{.topology_key = "zone"}}}},
  };
  for (const PodShape& shape : different) shapes.insert(hash_of(shape));
  EXPECT_EQ(shapes.size(), different.size());

  const std::vector<PodNotes> notes = {{},
                                       {.preemption_priority_class = "x"},
                                       {.queue = "x"},
                                       {.required_node = "x"},
                                       {.reserved_since = Time{0}},
                                       {.promised = true},
                                       {.made_from = "x"},
                                       {.wave = 1},
                                       {.wave_after = "x"},
                                       {.marks = {{.key = "x", .value = "y"}}},
                                       {.evicted_for = "x"},
                                       {.plan = "x"},
                                       {.last_checkpoint = Time{0}},
                                       {.preemption_cost_seconds = 0},
                                       {.preemption_cost_seconds = 1}};
  std::set<std::uint64_t> hashes;
  for (const PodNotes& note : notes) hashes.insert(hash_of(note));
  EXPECT_EQ(hashes.size(), notes.size());
}

}  // namespace
}  // namespace makeway
