// Plans made up by hand: what people read. Real ones are in tests/scenarios.
#include "cli/plan/plan_text.hpp"

#include <gtest/gtest.h>

namespace makeway::cli {
namespace {

PlanAsk ask(std::string name, Outcome outcome) {
  return {.namespace_name = "shop", .name = std::move(name), .priority = 1000, .outcome = outcome};
}

PlanVictim victim(const std::string& name, std::int32_t priority) {
  return {.namespace_name = "shop",
          .name = name,
          .node = "n1",
          .unit = "Pod shop/" + name,
          .priority = priority,
          .reason = "lower priority"};
}

Plan plan_of(std::vector<PlanAsk> asks) {
  return {.id = "00ff", .preset = "makeway", .now = Time{0}, .asks = std::move(asks)};
}

constexpr std::string_view last_line =
    "Configuration makeway, time 1970-01-01T00:00:00Z, plan 00ff.\n";

/// Without the last line, which is always there.
std::string text_of(std::vector<PlanAsk> asks, bool explain = false) {
  std::string text = plan_text(plan_of(std::move(asks)), {.explain = explain});
  EXPECT_TRUE(text.ends_with(last_line)) << text;
  return text.substr(0, text.size() - last_line.size());
}

PlanAsk preempting() {
  PlanAsk result = ask("urgent", Outcome::preempts);
  result.placements = {{"shop", "urgent", "n1"}};
  result.victims = {victim("low", 10), victim("lower", 5)};
  result.score = {{ScoreKey::budget_violations, 0},
                  {ScoreKey::highest_priority, 10},
                  {ScoreKey::victims, 2},
                  {ScoreKey::lost_work, 90}};
  result.reason = "2 pods must leave";
  return result;
}

TEST(PlanText, OfNothing) { EXPECT_EQ(text_of({}), "Nothing is pending.\n"); }

TEST(PlanText, ListsFitsAsOneLiners) {
  PlanAsk first = ask("a", Outcome::fits);
  first.placements = {{"shop", "a", "n1"}};
  first.reason = "not shown";
  PlanAsk second = ask("b", Outcome::fits);
  second.placements = {{"shop", "b", "n2"}};
  EXPECT_EQ(text_of({first, second}),
            "+ Pod shop/a (priority 1000) fits on n1\n"
            "+ Pod shop/b (priority 1000) fits on n2\n"
            "\n"
            "Plan: 2 asks: 2 fit.\n");
}

TEST(PlanText, ShowsVictims) {
  EXPECT_EQ(text_of({preempting()}),
            "~ Pod shop/urgent (priority 1000) preempts 2 pods on n1\n"
            "  2 pods must leave\n"
            "     VICTIM      PRIORITY  NODE  WHY\n"
            "  -  shop/low          10  n1    lower priority\n"
            "  -  shop/lower         5  n1    lower priority\n"
            "\n"
            "Plan: 1 ask: 1 preempts 2 pods.\n");
}

TEST(PlanText, ShowsUnitsAndBudgetsWhereTheyMatter) {
  PlanAsk group = preempting();
  group.victims[0].unit = "PodGroup shop/job";
  group.victims[1].violates_budget = true;
  group.victims[1].budget = "shop/web";
  EXPECT_TRUE(text_of({group}).contains(
      "     VICTIM      UNIT               PRIORITY  NODE  WHY             BUDGET\n"
      "  -  shop/low    PodGroup shop/job        10  n1    lower priority  -\n"
      "  -  shop/lower  -                         5  n1    lower priority  violates shop/web\n"));
}

TEST(PlanText, SaysWhatIsWaitedFor) {
  PlanAsk waiting = ask("urgent", Outcome::waits);
  waiting.placements = {{"shop", "urgent", "n1"}};
  waiting.waits_for = {{"shop", "old", "n1"}};
  waiting.waits_until = Time{30'000};
  waiting.reason = "room is on its way";
  EXPECT_EQ(text_of({waiting}),
            "* Pod shop/urgent (priority 1000) waits for room on n1\n"
            "  room is on its way\n"
            "  leaving: shop/old (n1)\n"
            "  until 1970-01-01T00:00:30Z\n"
            "\n"
            "Plan: 1 ask: 1 waits.\n");
}

TEST(PlanText, SumsUpEveryOutcome) {
  PlanAsk fitting = ask("a", Outcome::fits);
  EXPECT_EQ(totals_text(plan_of({fitting, preempting(), preempting(), ask("w", Outcome::waits),
                                 ask("i", Outcome::infeasible), ask("j", Outcome::infeasible),
                                 ask("n", Outcome::not_found)})),
            "Plan: 7 asks: 1 fits, 2 preempt 4 pods, 1 waits, 2 are infeasible, "
            "1 finds no placement.");
}

TEST(PlanText, NamesWaivedLaws) {
  Plan plan = plan_of({});
  plan.laws_waived = {WaivedLaw::law_6, WaivedLaw::law_4_gangs};
  EXPECT_TRUE(plan_text(plan, {}).contains(
      "Laws waived by the configuration: 6 (room that is already being freed is used first), 4\n"
      "(no unnecessary victims, for gangs).\n"))
      << plan_text(plan, {});
}

TEST(PlanText, NamesPodsThatAreNoAsks) {
  Plan plan = plan_of({ask("a", Outcome::fits)});
  plan.others_pending = 1;
  EXPECT_TRUE(plan_text(plan, {}).contains("1 other pending pod was not considered.\n"));
  plan.others_pending = 1'200;
  EXPECT_TRUE(plan_text(plan, {}).contains("1,200 other pending pods were not considered.\n"));
}

TEST(PlanText, SaysWhenThereIsNoTime) {
  EXPECT_TRUE(plan_text(plan_of({}), {.time_is_known = false})
                  .ends_with("Configuration makeway, no time in the input, plan 00ff.\n"));
}

TEST(PlanText, KeepsTheTableOfPlacesNarrow) {
  PlanAsk wide = preempting();
  wide.score.clear();
  for (std::size_t at = 0; at < choice_names<ScoreKey>.size(); ++at) {
    wide.score.push_back({static_cast<ScoreKey>(at), 2'000'000});
  }
  const auto raw_sum = static_cast<std::size_t>(ScoreKey::raw_priority_sum);
  wide.score[raw_sum].value = (std::int64_t{2} << 31U) + 15;
  wide.score.erase(wide.score.begin());  // With all keys the table ends before the raw sum.
  ScoreTerms other = wide.score;
  for (ScoreTerm& term : other) term.value += 1;
  wide.explanation = {
      .nodes_considered = 2,
      .alternatives = {{.node = "n2", .score = other, .victims = 2, .lost_on = "name"},
                       {.node = "n3",
                        .score = other,
                        .victims = 2,
                        .lost_on = "victims: 3 "
                                   "against 2"}}};
  const std::string text = text_of({wide}, true);
  EXPECT_TRUE(text.contains(" 2 x 2^31 + 15 ")) << text;
  EXPECT_TRUE(text.contains("They also differ in ")) << text;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    EXPECT_LE(text.find('\n', begin) - begin, 100U) << text;
  }
}

TEST(PlanText, ExplainsTheChoice) {
  PlanAsk explained = preempting();
  explained.explanation = {
      .nodes_considered = 3'200,
      .nodes_fitting = 0,
      .nodes_with_preemption = 2,
      .potential_victims = 4,
      .alternatives = {{.node = "n2",
                        .score = {{ScoreKey::budget_violations, 0},
                                  {ScoreKey::highest_priority, 10},
                                  {ScoreKey::victims, 2},
                                  {ScoreKey::lost_work, 3'600}},
                        .victims = 2,
                        .victim_units = 2,
                        .lost_on = "lost-work: 3600 against 90"}},
      .spared = {{.namespace_name = "shop", .name = "lucky", .priority = 20}},
      .spared_count = 2,
      .refusals = {{.reason = RefusalReason::unschedulable, .nodes = 3'198, .example = "n3"}}};
  EXPECT_TRUE(
      text_of({explained}, true)
          .contains("  Why n1: of 3,200 nodes, none has room now and 2 once victims leave.\n"
                    "                     LOST\n"
                    "     NODE  VICTIMS   WORK  LOST ON\n"
                    "  >  n1          2  1m30s  chosen\n"
                    "     n2          2     1h  lost-work\n"
                    "  Spared, with their priority: shop/lucky (20) and 1 more; 2 of 4 pods that "
                    "could have\n"
                    "  been evicted.\n"
                    "  Nodes that cannot take it:\n"
                    "    3,198 nodes: cordoned (for example n3)\n"))
      << text_of({explained}, true);
}

TEST(PlanText, ExplainsWhyThereIsNoPlace) {
  PlanAsk nowhere = ask("urgent", Outcome::infeasible);
  nowhere.reason = "no node can hold it";
  nowhere.explanation = {.nodes_considered = 3'201,
                         .refusals = {{.reason = RefusalReason::resource,
                                       .detail = "nvidia.com/gpu",
                                       .amount_min = 2,
                                       .nodes = 3'200,
                                       .example = "n1"},
                                      {.reason = RefusalReason::taint,
                                       .detail = "dedicated=infra:NoSchedule",
                                       .nodes = 1,
                                       .example = "n9"}}};
  EXPECT_EQ(text_of({nowhere}, true),
            "! Pod shop/urgent (priority 1000) is infeasible\n"
            "  no node can hold it\n"
            "  Why it cannot run on 3,201 nodes:\n"
            "    3,200 nodes: short of nvidia.com/gpu by at least 2 (for example n1)\n"
            "    node n9: taint dedicated=infra:NoSchedule is not tolerated\n"
            "\n"
            "Plan: 1 ask: 1 is infeasible.\n");
}

TEST(PlanText, NamesThePlaneOfPodsOnOtherPlanes) {
  PlanAsk nowhere = ask("urgent", Outcome::infeasible);
  PlanRefusal refusal{.reason = RefusalReason::resource, .detail = "cpu", .nodes = 2};
  for (const char* const plane : {"", "east"}) {
    nowhere.explanation.spared.push_back(
        {.namespace_name = "shop", .name = "web", .plane = plane, .priority = 20});
    refusal.holders.push_back(
        {.namespace_name = "shop", .name = "web", .plane = plane, .priority = 20, .why = "high"});
  }
  nowhere.explanation.refusals = {refusal};
  const std::string text = text_of({nowhere}, true);
  EXPECT_TRUE(text.contains("shop/web (20), shop/web of plane east (20)")) << text;
  EXPECT_TRUE(text.contains("held by shop/web (20): high\n")) << text;
  EXPECT_TRUE(text.contains("held by shop/web of plane east (20): high\n")) << text;
}

TEST(PlanText, HasAWordForEveryRefusal) {
  std::string_view none;
  for (std::size_t at = 0; at < choice_names<RefusalReason>.size(); ++at) {
    const PlanRefusal refusal{
        .reason = static_cast<RefusalReason>(at), .detail = "x", .amount_min = 1, .nodes = 2};
    EXPECT_NE(refusal_text(refusal), none);
  }
  EXPECT_EQ(refusal_text({.reason = RefusalReason::resource,
                          .detail = "memory",
                          .amount_min = 3'221'225'472,
                          .nodes = 1}),
            "short of memory by 3Gi");
}

TEST(PlanText, CannotBeDrivenByItsInput) {
  PlanAsk nasty = ask("a\x1b[31m", Outcome::infeasible);
  nasty.reason = "bell \a";
  EXPECT_FALSE(text_of({nasty}, true).contains('\x1b'));
  EXPECT_FALSE(text_of({nasty}, true).contains('\a'));
}

TEST(PlanText, IsColouredByMeaning) {
  const std::string text = plan_text(plan_of({preempting()}), {.palette = Palette(true)});
  EXPECT_TRUE(text.starts_with("\x1b[33m~\x1b[0m \x1b[1mPod shop/urgent\x1b[0m")) << text;
}

}  // namespace
}  // namespace makeway::cli
