#include "model/selector.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/objects.hpp"

namespace makeway {
namespace {

struct RequirementCase {
  std::string name;
  Operator operation = Operator::in;
  std::vector<std::string> values;
  std::optional<std::string_view> label;
  bool matches = false;
};

class RequirementTable : public testing::TestWithParam<RequirementCase> {};

TEST_P(RequirementTable, Matches) {
  const RequirementCase& test = GetParam();
  const Requirement requirement{.key = "k", .operation = test.operation, .values = test.values};
  EXPECT_EQ(matches(requirement, test.label), test.matches);
}

std::vector<RequirementCase> requirement_cases() {
  constexpr std::nullopt_t missing = std::nullopt;
  using enum Operator;
  return {
      {"in_takes_a_listed_value", in, {"a", "b"}, "b", true},
      {"in_refuses_another_value", in, {"a", "b"}, "c", false},
      {"in_refuses_a_prefix", in, {"abc"}, "ab", false},
      {"in_refuses_a_missing_key", in, {"a"}, missing, false},
      {"in_takes_an_empty_value_that_is_listed", in, {"", "a"}, "", true},
      {"in_does_not_take_a_missing_key_for_an_empty_value", in, {""}, missing, false},
      {"in_of_nothing_takes_nothing", in, {}, "a", false},
      {"not_in_refuses_a_listed_value", not_in, {"a", "b"}, "a", false},
      {"not_in_takes_another_value", not_in, {"a", "b"}, "c", true},
      {"not_in_takes_a_missing_key", not_in, {"a", "b"}, missing, true},
      {"not_in_of_nothing_takes_everything", not_in, {}, "a", true},
      {"exists_takes_any_value", exists, {}, "x", true},
      {"exists_takes_an_empty_value", exists, {}, "", true},
      {"exists_refuses_a_missing_key", exists, {}, missing, false},
      {"does_not_exist_takes_a_missing_key", does_not_exist, {}, missing, true},
      {"does_not_exist_refuses_an_empty_value", does_not_exist, {}, "", false},
      {"greater_than_is_strict", greater_than, {"5"}, "5", false},
      {"greater_than_takes_more", greater_than, {"5"}, "6", true},
      {"greater_than_compares_numbers_not_texts", greater_than, {"5"}, "10", true},
      {"greater_than_knows_negative_numbers", greater_than, {"-5"}, "-4", true},
      {"greater_than_refuses_a_missing_key", greater_than, {"5"}, missing, false},
      {"less_than_is_strict", less_than, {"5"}, "5", false},
      {"less_than_takes_less", less_than, {"5"}, "4", true},
      {"less_than_compares_numbers_not_texts", less_than, {"9"}, "10", false},
      {"less_than_refuses_a_missing_key", less_than, {"5"}, missing, false},
      {"a_value_that_is_no_number_fails", less_than, {"5"}, "four", false},
      {"a_value_with_a_tail_fails", less_than, {"5"}, "4x", false},
      {"a_fraction_fails", less_than, {"5"}, "4.5", false},
      {"an_empty_value_fails", less_than, {"5"}, "", false},
      {"a_value_beyond_int64_fails", greater_than, {"5"}, "9223372036854775808", false},
      {"the_largest_int64_is_a_number", greater_than, {"5"}, "9223372036854775807", true},
      {"a_border_that_is_no_number_fails", greater_than, {"x"}, "4", false},
      {"two_borders_fail", greater_than, {"1", "2"}, "4", false},
      {"no_border_fails", greater_than, {}, "4", false},
  };
}

INSTANTIATE_TEST_SUITE_P(Operators, RequirementTable, testing::ValuesIn(requirement_cases()),
                         [](const auto& test) { return test.param.name; });

TEST(FindLabel, FindsByKey) {
  const Labels labels = {{"a", "1"}, {"b", ""}, {"d", "4"}};
  EXPECT_EQ(find_label(labels, "a"), "1");
  EXPECT_EQ(find_label(labels, "b"), "");
  EXPECT_EQ(find_label(labels, "d"), "4");
  EXPECT_EQ(find_label(labels, "c"), std::nullopt);
  EXPECT_EQ(find_label(labels, "e"), std::nullopt);
  EXPECT_EQ(find_label({}, "a"), std::nullopt);
}

TEST(LabelSelector, AllRequirementsMustHold) {
  const LabelSelector selector{
      .requirements = {{.key = "app", .operation = Operator::in, .values = {"web"}},
                       {.key = "canary", .operation = Operator::does_not_exist}}};
  EXPECT_TRUE(matches(selector, {{"app", "web"}}));
  EXPECT_FALSE(matches(selector, {{"app", "web"}, {"canary", "yes"}}));
  EXPECT_FALSE(matches(selector, {{"app", "db"}}));
  EXPECT_FALSE(matches(selector, {}));
}

TEST(LabelSelector, WithoutRequirementsItSelectsEverything) {
  EXPECT_TRUE(matches(LabelSelector{}, {}));
  EXPECT_TRUE(matches(LabelSelector{}, {{"a", "b"}}));
}

TEST(Governs, OnlyPodsOfItsNamespaceThatItSelects) {
  DisruptionBudget budget{.namespace_name = "default", .name = "web"};
  const Labels web = {{"app", "web"}};
  EXPECT_FALSE(governs(budget, "default", web)) << "no selector";
  budget.selector.emplace();
  EXPECT_FALSE(governs(budget, "default", web)) << "an empty selector";
  budget.selector->requirements = {{.key = "app", .operation = Operator::in, .values = {"web"}}};
  EXPECT_TRUE(governs(budget, "default", web));
  EXPECT_FALSE(governs(budget, "other", web));
  EXPECT_FALSE(governs(budget, "default", {{"app", "db"}}));
}

TEST(Governs, NoPodWithoutLabels) {
  // kube-scheduler skips pods without labels even when the selector would take them.
  const DisruptionBudget budget{
      .namespace_name = "default",
      .name = "not-web",
      .selector =
          LabelSelector{{{.key = "app", .operation = Operator::not_in, .values = {"web"}}}}};
  EXPECT_FALSE(governs(budget, "default", {}));
  EXPECT_TRUE(governs(budget, "default", {{"a", "b"}}));
}

}  // namespace
}  // namespace makeway
