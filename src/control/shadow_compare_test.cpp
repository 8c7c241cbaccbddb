// SPEC section 8, Shadow: what our decision is, compared with theirs.
#include <gtest/gtest.h>

#include <string_view>

#include "control/shadow_loop.hpp"

namespace makeway {
namespace {

ShadowVictim victim(std::string name, std::int32_t priority, std::int64_t seconds) {
  return {.namespace_name = "a",
          .name = std::move(name),
          .node = "n",
          .priority = priority,
          .run_seconds = seconds};
}

struct CompareCase {
  std::string_view name;
  ShadowChoice ours;
  ShadowChoice theirs;
  ShadowVerdict verdict;
};

class ShadowCompare : public testing::TestWithParam<CompareCase> {};

TEST_P(ShadowCompare, Verdict) {
  EXPECT_EQ(compare(GetParam().ours, GetParam().theirs), GetParam().verdict);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ShadowCompare,
    testing::Values(
        CompareCase{"neither_found_a_place", {}, {}, ShadowVerdict::neither},
        CompareCase{"only_they_did", {}, {.nodes = {"n1"}}, ShadowVerdict::only_theirs},
        CompareCase{"only_we_did",
                    {.nodes = {"n1"}, .victims = {victim("v", 1, 1)}},
                    {},
                    ShadowVerdict::only_ours},
        CompareCase{"the_same", {.nodes = {"n1"}}, {.nodes = {"n1"}}, ShadowVerdict::same},
        CompareCase{"the_same_members_on_nodes",
                    {.nodes = {"n1", "n1", "n2"}},
                    {.nodes = {"n1", "n1", "n2"}},
                    ShadowVerdict::same},
        CompareCase{"members_lie_otherwise",
                    {.nodes = {"n1", "n1", "n2"}},
                    {.nodes = {"n1", "n2", "n2"}},
                    ShadowVerdict::other_node},
        CompareCase{"another_node_without_victims",
                    {.nodes = {"n1"}},
                    {.nodes = {"n2"}},
                    ShadowVerdict::other_node},
        CompareCase{"the_same_victims_are_the_same_whatever_is_known_of_them",
                    {.nodes = {"n1"}, .victims = {victim("v", 1, 5)}},
                    {.nodes = {"n1"}, .victims = {victim("v", 2, 9)}},
                    ShadowVerdict::same},
        CompareCase{"no_victims_are_fewer",
                    {.nodes = {"n1"}},
                    {.nodes = {"n2"}, .victims = {victim("v", 1, 1)}},
                    ShadowVerdict::fewer_victims},
        CompareCase{"fewer_victims_of_a_higher_priority",
                    {.nodes = {"n1"}, .victims = {victim("v", 9, 9)}},
                    {.nodes = {"n1"}, .victims = {victim("w", 1, 1), victim("x", 1, 1)}},
                    ShadowVerdict::fewer_victims},
        CompareCase{"more_victims",
                    {.nodes = {"n1"}, .victims = {victim("w", 1, 1), victim("x", 1, 1)}},
                    {.nodes = {"n1"}, .victims = {victim("v", 9, 9)}},
                    ShadowVerdict::more_victims},
        CompareCase{"a_lower_highest_priority",
                    {.nodes = {"n1"}, .victims = {victim("a", 5, 9), victim("b", 5, 9)}},
                    {.nodes = {"n1"}, .victims = {victim("c", 6, 1), victim("d", 1, 1)}},
                    ShadowVerdict::cheaper_victims},
        CompareCase{"a_higher_sum",
                    {.nodes = {"n1"}, .victims = {victim("a", 6, 1), victim("b", 5, 1)}},
                    {.nodes = {"n1"}, .victims = {victim("c", 6, 9), victim("d", 1, 9)}},
                    ShadowVerdict::dearer_victims},
        CompareCase{"had_run_for_less_long",
                    {.nodes = {"n1"}, .victims = {victim("a", 6, 1)}},
                    {.nodes = {"n2"}, .victims = {victim("b", 6, 2)}},
                    ShadowVerdict::cheaper_victims},
        CompareCase{"as_dear",
                    {.nodes = {"n1"}, .victims = {victim("a", 6, 1)}},
                    {.nodes = {"n1"}, .victims = {victim("b", 6, 1)}},
                    ShadowVerdict::other_victims}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ShadowTotals, AddUpVictimsOnlyWhereBothFoundAPlace) {
  ShadowTotals totals;
  ShadowResult both{.ours = {.nodes = {"n1"}, .victims = {victim("a", 6, 10)}},
                    .theirs = {.nodes = {"n1"}, .victims = {victim("b", 7, 20)}},
                    .verdict = ShadowVerdict::cheaper_victims};
  totals.add(both);
  both.theirs = {};
  both.verdict = ShadowVerdict::only_ours;
  totals.add(both);
  EXPECT_EQ(totals.compared(), 2);
  EXPECT_EQ(totals.of(ShadowVerdict::only_ours), 1);
  EXPECT_EQ(totals.ours, (ShadowTotals::Side{.victims = 1, .priority_sum = 6, .run_seconds = 10}));
  EXPECT_EQ(totals.theirs,
            (ShadowTotals::Side{.victims = 1, .priority_sum = 7, .run_seconds = 20}));
}

}  // namespace
}  // namespace makeway
