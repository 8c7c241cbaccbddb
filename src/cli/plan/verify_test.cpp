#include <gtest/gtest.h>

#include "cli/plan/batch.hpp"

namespace makeway::cli {
namespace {

Expectation expectation(std::string_view json) {
  Problems problems;
  Expectation expected = read_expectation(*parse_json_value(json), problems);
  for (const Problem& problem : problems) ADD_FAILURE() << to_text(problem);
  return expected;
}

Plan plan_with(Outcome outcome, std::vector<std::string> victims = {}) {
  PlanAsk ask{.namespace_name = "default",
              .name = "ask",
              .outcome = outcome,
              .placements = {{"default", "ask", "n1"}}};
  for (std::string& name : victims) {
    ask.victims.push_back({.namespace_name = "default", .name = std::move(name)});
  }
  return {.asks = {std::move(ask)}};
}

std::vector<std::string> keys(std::string_view json, const Plan& free, const Plan& placed) {
  std::vector<std::string> result;
  for (const Mismatch& mismatch : compare({}, expectation(json), free, placed)) {
    result.push_back(mismatch.key);
  }
  return result;
}

std::vector<std::string> keys(std::string_view json, const Plan& plan) {
  return keys(json, plan, plan);
}

using Keys = std::vector<std::string>;

TEST(Verify, ComparesOnlyWhatIsThere) {
  const Plan plan = plan_with(Outcome::preempts, {"b", "a"});
  EXPECT_EQ(keys("{}", plan), Keys{});
  EXPECT_EQ(keys(R"({"outcome":"preempts","victims":["default/a","default/b"],"node":"n1",)"
                 R"("budgetViolations":0,"candidates":[]})",
                 plan),
            Keys{});
  EXPECT_EQ(
      keys(R"({"outcome":"fits","victims":["default/a"],"node":"n2","budgetViolations":1})", plan),
      (Keys{"outcome", "victims", "node", "budgetViolations"}));
}

TEST(Verify, WaitingAndNotFoundAgreeWithInfeasible) {
  for (const Outcome outcome : {Outcome::waits, Outcome::not_found, Outcome::infeasible}) {
    EXPECT_EQ(keys(R"({"outcome":"infeasible","victims":[]})", plan_with(outcome)), Keys{});
    EXPECT_EQ(keys(R"({"outcome":"fits"})", plan_with(outcome)), Keys{"outcome"});
  }
}

TEST(Verify, WaitingAndNotFoundAreMeantExactly) {
  for (const Outcome outcome : {Outcome::waits, Outcome::not_found, Outcome::infeasible}) {
    const Plan plan = plan_with(outcome);
    EXPECT_EQ(keys(R"({"outcome":"waits"})", plan).empty(), outcome == Outcome::waits);
    EXPECT_EQ(keys(R"({"outcome":"not-found"})", plan).empty(), outcome == Outcome::not_found);
  }
}

TEST(Verify, ComparesTheNodeOfEveryOutcome) {
  for (const Outcome outcome : {Outcome::fits, Outcome::preempts, Outcome::waits}) {
    EXPECT_EQ(keys(R"({"node":"n1"})", plan_with(outcome)), Keys{});
    EXPECT_EQ(keys(R"({"node":"n2"})", plan_with(outcome)), Keys{"node"});
  }
  Plan nowhere = plan_with(Outcome::infeasible);
  nowhere.asks.front().placements.clear();
  const std::vector<Mismatch> found =
      compare({}, expectation(R"({"node":"n2"})"), nowhere, nowhere);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(value_text(found.front().got), "none");
}

TEST(Verify, AFitMustUseOneOfTheNodes) {
  EXPECT_EQ(keys(R"({"fitsNodes":["n2","n1"]})", plan_with(Outcome::fits)), Keys{});
  EXPECT_EQ(keys(R"({"fitsNodes":["n2"]})", plan_with(Outcome::fits)), Keys{"fitsNodes"});
}

TEST(Verify, TakesVictimsFromThePlacedPlan) {
  const Plan free = plan_with(Outcome::preempts, {"a"});
  const Plan placed = plan_with(Outcome::infeasible, {"b"});
  EXPECT_EQ(keys(R"({"outcome":"preempts","victims":["default/b"]})", free, placed), Keys{});
}

TEST(Verify, TakesBudgetViolationsFromTheScore) {
  Plan plan = plan_with(Outcome::preempts, {"a"});
  plan.asks.front().victims.front().violates_budget = true;
  EXPECT_EQ(keys(R"({"budgetViolations":1})", plan), Keys{});
  plan.asks.front().score = {{ScoreKey::budget_violations, 3}};
  EXPECT_EQ(keys(R"({"budgetViolations":3})", plan), Keys{});
}

TEST(Verify, NeedsOneAsk) { EXPECT_EQ(keys(R"({"outcome":"fits"})", Plan{}), Keys{"ask"}); }

TEST(Verify, RefusesWhatIsNoExpectation) {
  for (const char* json : {"3", R"({"outcome":3})", R"({"victims":"a"})", R"({"victims":[1]})",
                           R"({"budgetViolations":"1"})", R"({"placements":{"a":"b"}})"}) {
    Problems problems;
    read_expectation(*parse_json_value(json), problems);
    EXPECT_FALSE(problems.empty()) << json;
  }
}

TEST(Verify, RefusesUnknownFields) {
  const auto problem = [](std::string_view json) {
    Problems problems;
    read_expectation(*parse_json_value(json), problems);
    return problems.empty() ? std::string{} : to_text(problems.front());
  };
  EXPECT_EQ(problem(R"({"vicitms":[]})"),
            "expect.vicitms: nothing of that name is compared; did you mean victims?");
  EXPECT_EQ(problem(R"({"zzzzzzzz":null})"),
            "expect.zzzzzzzz: nothing of that name is compared; known are outcome, victims, node, "
            "fitsNodes, budgetViolations");
  EXPECT_EQ(problem(R"({"outcome":"preempt"})"),
            "expect.outcome \"preempt\": there is no such outcome; did you mean preempts?");
  EXPECT_EQ(problem(R"({"candidates":[],"groupDisruptions":1,"placements":null})"), "");
}

TEST(Verify, ListsMismatchesAndSumsUp) {
  Verification all{.cases = 1'418, .agree = 1'418};
  EXPECT_EQ(verification_text(all), "1,418 cases: 1,418 agree\n");
  EXPECT_TRUE(all.all_agree());
  Verification some{
      .cases = 3,
      .agree = 1,
      .differ = 1,
      .failed = 1,
      .mismatches = {{.id = {.data = std::string("a")},
                      .key = "victims",
                      .expected = {.data = JsonValue::Array{}},
                      .got = {.data = JsonValue::Array{{std::string("x")}, {std::string("y")}}}}}};
  EXPECT_EQ(verification_text(some),
            "a: victims\n  expected  none\n  got       x, y\n"
            "3 cases: 1 agree, 1 differ, 1 could not be compared\n");
  EXPECT_FALSE(some.all_agree());
  const auto json = parse_json_value(verification_json(some));
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ(*json->find("differ")->as_integer(), 1);
  EXPECT_EQ(*json->find("mismatches")->as_array()->front().find("key")->as_string(), "victims");
}

}  // namespace
}  // namespace makeway::cli
