#include "codec/object_state.hpp"

#include <gtest/gtest.h>

#include "codec/source.hpp"

namespace makeway {
namespace {

std::vector<ObjectState> states_of(std::string_view text,
                                   KeepConditions keep = KeepConditions::of_schedulers) {
  std::string padded(text);
  padded.resize(text.size() + text_padding, ' ');
  return read_object_states(std::string_view(padded).substr(0, text.size()), keep);
}

TEST(ObjectState, OfAPod) {
  const auto states = states_of(
      R"({"kind":"Pod","metadata":{"name":"p","namespace":"a","uid":"u","resourceVersion":"7",)"
      R"("generation":3,"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"nodeName":"n1"},)"
      R"("status":{"phase":"Running","nominatedNodeName":"n2","conditions":[)"
      R"({"type":"Ready","status":"True"},)"
      R"({"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no \"room\"",)"
      R"("lastTransitionTime":"2026-01-01T00:00:00Z"},)"
      R"({"type":"makeway.dev/Nominated","status":"True","message":"node n2, plan 1"}]}})");
  ASSERT_EQ(states.size(), 1U);
  const ObjectState& pod = states.front();
  EXPECT_EQ(pod.namespace_name, "a");
  EXPECT_EQ(pod.name, "p");
  EXPECT_EQ(pod.uid, "u");
  EXPECT_EQ(pod.version, "7");
  EXPECT_EQ(pod.generation, 3);
  EXPECT_TRUE(pod.leaving);
  EXPECT_EQ(pod.node, "n1");
  EXPECT_EQ(pod.nominated_node, "n2");
  EXPECT_EQ(pod.phase, "Running");
  ASSERT_EQ(pod.conditions.size(), 2U);
  EXPECT_EQ(pod.condition("PodScheduled")->message, "no \"room\"");
  EXPECT_EQ(pod.condition("PodScheduled")->changed, "2026-01-01T00:00:00Z");
  EXPECT_EQ(noted_node(pod.condition("makeway.dev/Nominated")->message), "n2");
  EXPECT_EQ(pod.condition("Ready"), nullptr);
}

TEST(ObjectState, OfAnObjectOfOursWithAForeignCondition) {
  constexpr std::string_view text =
      R"({"metadata":{"name":"q"},"status":{"conditions":[)"
      R"({"type":"example.com/Reviewed","status":"True","observedGeneration":4}]}})";
  EXPECT_TRUE(states_of(text).at(0).conditions.empty());
  const SeenCondition seen = states_of(text, KeepConditions::all).at(0).conditions.at(0);
  EXPECT_EQ(seen.type, "example.com/Reviewed");
  EXPECT_EQ(seen.generation, 4);
}

TEST(ObjectState, OfAList) {
  const auto states =
      states_of(R"({"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[)"
                R"({"metadata":{"name":"p","resourceVersion":"1"}},{"metadata":{}},)"
                R"({"metadata":{"name":"q","resourceVersion":"2"}}]})");
  ASSERT_EQ(states.size(), 2U);
  EXPECT_EQ(states[0].version, "1");
  EXPECT_EQ(states[1].name, "q");
}

TEST(ObjectState, OfWhatIsNone) {
  EXPECT_TRUE(states_of("no JSON").empty());
  EXPECT_TRUE(states_of("[1,2]").empty());
  EXPECT_TRUE(states_of(R"({"kind":"Status","status":"Failure"})").empty());
  EXPECT_TRUE(states_of(R"({"items":7})").empty());
}

TEST(ObjectState, NotesNameANode) {
  EXPECT_EQ(note_of("n1", "0123"), "node n1, plan 0123");
  EXPECT_EQ(noted_node("node n1, plan 0123"), "n1");
  EXPECT_EQ(noted_node("plan 0123"), "");
}

}  // namespace
}  // namespace makeway
