#include "base/problem.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace makeway {
namespace {

TEST(Problem, ReportsEverythingInOneLine) {
  const Problem problem{.severity = Severity::error,
                        .origin = {.source = "pods.yaml", .document = 2, .line = 17},
                        .object = "Pod default/web-1",
                        .field = "spec.containers[0].resources.requests.cpu",
                        .value = "lots",
                        .message = "not a quantity",
                        .remedy = "write for example 250m"};
  EXPECT_EQ(to_text(problem),
            "pods.yaml, document 2 (line 17): Pod default/web-1: "
            "spec.containers[0].resources.requests.cpu \"lots\": not a quantity; "
            "write for example 250m");
}

TEST(Problem, LeavesOutWhatIsUnknown) {
  Problem problem;
  problem.message = "nothing to read";
  EXPECT_EQ(to_text(problem), "nothing to read");
  problem.origin.source = "-";
  EXPECT_EQ(to_text(problem), "-: nothing to read");
  problem.field = "kind";
  EXPECT_EQ(to_text(problem), "-: kind: nothing to read");
  problem.field.clear();
  problem.value = "x";
  EXPECT_EQ(to_text(problem), "-: \"x\": nothing to read");
}

TEST(Problem, WarningsAreNotErrors) {
  Problem warning;
  warning.severity = Severity::warning;
  EXPECT_FALSE(has_errors({}));
  EXPECT_FALSE(has_errors({warning, warning}));
  EXPECT_TRUE(has_errors({warning, Problem{}}));
}

/// Issue 20, point 4: memory is bounded, the counts are true.
TEST(Problems, KeepTheFirstOfEachSeverityAndCountTheRest) {
  Problems problems;
  for (int number = 0; number < 150; ++number) {
    problems.push_back({.message = std::to_string(number)});
    problems.push_back({.severity = Severity::warning, .message = std::to_string(number)});
  }
  EXPECT_EQ(problems.size(), 200U);
  EXPECT_EQ(problems.back().message, "99");
  EXPECT_EQ(problems.count(), 300U);
  EXPECT_EQ(problems.count(Severity::error), 150U);
  EXPECT_EQ(problems.left_out(Severity::warning), 50U);
  EXPECT_EQ(problems.left_out(), 100U);

  Problems all = {Problem{.message = "first"}};
  all.append(problems);
  EXPECT_EQ(all.front().message, "first");
  EXPECT_EQ(all.count(Severity::error), 151U);
  EXPECT_EQ(all.left_out(Severity::error), 51U);
  EXPECT_EQ(all.count(Severity::warning), 150U);

  all.make_warnings();
  EXPECT_EQ(all.count(Severity::error), 0U);
  EXPECT_EQ(all.count(Severity::warning), 301U);
  EXPECT_EQ(all.size(), 100U);
  EXPECT_FALSE(has_errors(all));
  all.clear();
  EXPECT_EQ(all.count(), 0U);
}

TEST(Problems, AnErrorBehindManyWarningsIsKept) {
  Problems problems;
  for (int number = 0; number < 150; ++number) problems.push_back({.severity = Severity::warning});
  problems.push_back({.message = "wrong"});
  EXPECT_TRUE(has_errors(problems));
  EXPECT_EQ(problems.back().message, "wrong");
}

TEST(Problems, CountByCause) {
  const auto on_missing_node = [](int number) {
    return Problem{
        .severity = Severity::warning,
        .object = fmt::format("Pod shop/web-{}", number),
        .field = "spec.nodeName",
        .value = fmt::format("n{}", number),
        .message = fmt::format("node {} is not there; shop/{} says 'n{}'", number, number, number)};
  };
  EXPECT_EQ(cause_of(on_missing_node(1)), cause_of(on_missing_node(23)));
  EXPECT_NE(cause_of(on_missing_node(1)), cause_of({.severity = Severity::warning}));
  Problems problems;
  for (int number = 0; number < 5'000; ++number) problems.push_back(on_missing_node(number));
  for (int number = 0; number < 9; ++number) {
    problems.push_back({.severity = Severity::warning, .message = "another"});
  }
  EXPECT_EQ(problems.size(), 103U);  // The other cause is not hidden.
  EXPECT_EQ(problems.count_of_cause(cause_of(on_missing_node(0))), 5'000U);
  EXPECT_EQ(problems.count_of_cause(cause_of(problems.back())), 9U);
  Problems all = {on_missing_node(0)};
  all.append(problems);
  EXPECT_EQ(all.count_of_cause(cause_of(on_missing_node(0))), 5'001U);
  EXPECT_EQ(all.count(), 5'010U);
  all.erase_if([](const Problem& problem) { return problem.message == "another"; });
  EXPECT_EQ(all.count_of_cause(cause_of(problems.back())), 6U);  // Those that were not kept.
}

TEST(Problems, ThatBecomeWarningsKeepTheirCounts) {
  Problems problems;
  for (int number = 0; number < 500; ++number) problems.push_back({.message = "same"});
  problems.make_warnings();
  EXPECT_EQ(problems.count_of_cause(cause_of(problems.front())), 500U);
}

TEST(Problems, ShortenWhatNoHonestInputHas) {
  const std::string long_text(1'000'000, 'x');
  const Problems problems = {Problem{.object = long_text,
                                     .field = long_text,
                                     .value = long_text,
                                     .message = long_text,
                                     .remedy = long_text}};
  const Problem& kept = problems.front();
  EXPECT_LT(kept.object.size() + kept.field.size() + kept.value.size() + kept.message.size() +
                kept.remedy.size(),
            20'000U);
  EXPECT_LT(to_text(kept).size(), 3'000U);
}

TEST(Problem, IsPrintable) {
  const Problem problem{.origin = {.source = "a\nb.yaml"},
                        .object = "Pod \x1B[2Jx",
                        // NOLINTNEXTLINE(misc-misleading-bidirectional): that is what it is about.
                        .field = "a\xE2\x80\xAE",
                        .value = "\xFF",
                        .message = "m\x7F",
                        .remedy = "r\xC2\x9B"};
  EXPECT_EQ(to_text(problem), R"(a\x0ab.yaml: Pod \x1b[2Jx: a\u202e "\xff": m\x7f; r\u009b)");
}

}  // namespace
}  // namespace makeway
