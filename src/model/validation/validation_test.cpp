// Priorities and groups that cannot be meant (SPEC section 2, law 13): each problem names object,
// field, value and remedy.
#include "model/validation/validation.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "model/validation/doubts.hpp"

namespace makeway::validation_test {
namespace {

Pod pod(std::string name, std::string group, std::optional<std::int32_t> priority) {
  return {.namespace_name = "default",
          .name = std::move(name),
          .group = std::move(group),
          .priority = priority};
}

PodGroup group(std::string name, PriorityClaim priority) {
  return {.namespace_name = "default", .name = std::move(name), .priority = std::move(priority)};
}

Workload workload(std::string name, PriorityClaim priority,
                  std::vector<GroupTemplate> templates = {}) {
  return {.namespace_name = "default",
          .name = std::move(name),
          .priority = std::move(priority),
          .templates = std::move(templates)};
}

/// With the classes low 10, high 100 and top 1000.
Cluster cluster_of(const std::vector<Change>& objects) {
  Cluster cluster;
  cluster.apply(PriorityClass{.name = "low", .value = 10});
  cluster.apply(PriorityClass{.name = "high", .value = 100});
  cluster.apply(PriorityClass{.name = "top", .value = 1000});
  for (const Change& object : objects) cluster.apply(object);
  return cluster;
}

std::string texts(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems) text += to_text(problem) + "\n";
  return text;
}

struct ValidationCase {
  std::string_view name;
  std::vector<Change> objects;
  std::string_view expected;
};
using ValidationTable = testing::TestWithParam<ValidationCase>;
const auto case_name = [](const testing::TestParamInfo<ValidationCase>& test) {
  return std::string(test.param.name);
};

class PriorityErrors : public ValidationTable {};
TEST_P(PriorityErrors, NameObjectFieldValueAndRemedy) {
  EXPECT_EQ(texts(find_errors(cluster_of(GetParam().objects))), GetParam().expected);
}

constexpr std::string_view annotation =
    "metadata.annotations[makeway.dev/preemption-priority-class]";

std::string below(std::string_view object, std::string_view field, std::string_view of = {}) {
  return fmt::format(
      "{}: {} \"low\": the preemption priority 10 is below the scheduling priority 100{}, so two "
      "workloads could preempt each other forever; name a class of at least 100\n",
      object, field, of);
}

std::string unknown(std::string_view object, std::string_view field) {
  return fmt::format(
      "{}: {} \"hihg\": no PriorityClass of this name is in the input; add it "
      "(kubectl get priorityclasses -o yaml) or correct the name\n",
      object, field);
}

Pod yielding_pod() {
  Pod object = pod("p", "", 100);
  object.notes.preemption_priority_class = "low";
  return object;
}

PodGroup of_workload(PodGroup object, std::string_view template_name) {
  object.workload = "w";
  object.template_name = template_name;
  return object;
}

const std::string pod_below = below("Pod default/p", annotation);
const std::string group_below = below("PodGroup default/g", annotation);
const std::string workload_below =
    below("Workload default/w", annotation, " of PodGroup default/g");
const std::string template_below =
    below("Workload default/w", "spec.podGroupTemplates[t].preemptionPriorityClassName",
          " of PodGroup default/g");
const std::string unknown_in_group = unknown("PodGroup default/g", "spec.priorityClassName");
const std::string unknown_preemption = unknown("PodGroup default/g", annotation);
const std::string unknown_in_workload = unknown("Workload default/w", "spec.priorityClassName");
const std::string unknown_in_template =
    unknown("Workload default/w", "spec.podGroupTemplates[t].priorityClassName");

INSTANTIATE_TEST_SUITE_P(
    Cases, PriorityErrors,
    testing::Values(
        ValidationCase{"a_pod_below", {yielding_pod()}, pod_below},
        ValidationCase{"a_group_below",
                       {group("g", {.priority_class = "high", .preemption_priority_class = "low"})},
                       group_below},
        ValidationCase{"the_workload_says_it_of_a_group",
                       {workload("w", {.preemption_priority_class = "low"}),
                        of_workload(group("g", {.priority_class = "high"}), "")},
                       workload_below},
        ValidationCase{
            "a_template_says_it_of_a_group",
            {workload("w", {}, {{.name = "t", .priority = {.preemption_priority_class = "low"}}}),
             of_workload(group("g", {.priority_class = "high"}), "t")},
            template_below},
        ValidationCase{
            "equal_is_allowed",
            {group("g", {.priority_class = "high", .preemption_priority_class = "high"})},
            ""},
        ValidationCase{"above_is_allowed",
                       {group("g", {.priority_class = "low", .preemption_priority_class = "high"})},
                       ""},
        ValidationCase{"an_unknown_class_of_a_group",
                       {group("g", {.priority_class = "hihg"})},
                       unknown_in_group},
        ValidationCase{
            "a_number_needs_no_class", {group("g", {.priority_class = "hihg", .priority = 5})}, ""},
        ValidationCase{"an_unknown_preemption_class",
                       {group("g", {.preemption_priority_class = "hihg"})},
                       unknown_preemption},
        ValidationCase{"an_unknown_class_of_a_workload",
                       {workload("w", {.priority_class = "hihg"})},
                       unknown_in_workload},
        ValidationCase{"an_unknown_class_of_a_template",
                       {workload("w", {}, {{.name = "t", .priority = {.priority_class = "hihg"}}})},
                       unknown_in_template}),
    case_name);

// ---- Caps -------------------------------------------------------------------------------------

PodGroup boosted() {
  return group("g", {.priority_class = "low", .preemption_priority_class = "top"});
}

Problems caps(const Cluster& cluster, const std::function<void(WorkloadSettings&)>& change) {
  Configuration configuration;
  change(configuration.workload);
  return find_cap_errors(cluster, configuration);
}

TEST(PriorityCaps, AreOffByDefault) {
  EXPECT_EQ(texts(find_cap_errors(cluster_of({boosted()}), {})), "");
}

TEST(PriorityCaps, LimitTheDistance) {
  const Cluster cluster = cluster_of({boosted()});
  const auto distance = [](std::int64_t most) {
    return [most](WorkloadSettings& settings) { settings.preemption_priority_above_max = most; };
  };
  EXPECT_EQ(texts(caps(cluster, distance(990))), "");
  EXPECT_EQ(texts(caps(cluster, distance(989))),
            "PodGroup default/g: metadata.annotations[makeway.dev/preemption-priority-class] "
            "\"top\": the preemption priority 1000 lies 990 above the scheduling priority 10; "
            "allowed is 989 (workload.preemptionPriorityAboveMax); name a class of at most 999\n");
}

TEST(PriorityCaps, LimitTheNamespacesOfAClass) {
  const auto range = [](WorkloadSettings& settings) {
    settings.preemption_priority_from = 50;
    settings.preemption_priority_to = 200;
  };
  EXPECT_EQ(texts(caps(cluster_of({boosted()}), range)),
            "PodGroup default/g: metadata.annotations[makeway.dev/preemption-priority-class] "
            "\"top\": a preemption priority of its own (1000) is allowed only for scheduling "
            "priorities from 50 to 200, and here it is 10 (workload.preemptionPriorityFrom, "
            "preemptionPriorityTo); leave it out, or ask the administrator\n");
  const PodGroup inside =
      group("g", {.priority_class = "high", .preemption_priority_class = "top"});
  EXPECT_EQ(texts(caps(cluster_of({inside}), range)), "");
  const PodGroup equal = group("g", {.priority_class = "low", .preemption_priority_class = "low"});
  EXPECT_EQ(texts(caps(cluster_of({equal}), range)), "") << "it does not differ";
}

TEST(PriorityCaps, HoldForPodsByName) {
  Pod b = pod("b", "", 10);
  b.notes.preemption_priority_class = "top";
  Pod a = b;
  a.name = "a";
  const Problems problems = caps(cluster_of({b, a}), [](WorkloadSettings& settings) {
    settings.preemption_priority_above_max = 0;
  });
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].object, "Pod default/a");
  EXPECT_EQ(problems[1].object, "Pod default/b");
  EXPECT_EQ(problems[1].remedy, "name a class of at most 10");
}

TEST(PriorityCaps, DoNotMatterWherePreemptionPrioritiesAreNotRead) {
  EXPECT_EQ(texts(caps(cluster_of({boosted()}),
                       [](WorkloadSettings& settings) {
                         settings.preemption_priority_above_max = 0;
                         settings.honour_preemption_priority = false;
                       })),
            "");
}

// ---- Lint -------------------------------------------------------------------------------------

class GroupLint : public ValidationTable {};
TEST_P(GroupLint, WarnsOfWhatIsProbablyNotMeant) {
  Cluster cluster = cluster_of(GetParam().objects);
  cluster.apply(Node{.name = "n1", .allocatable = {{"pods", 110}}});
  EXPECT_EQ(texts(lint(cluster)), GetParam().expected);
}

PodGroup gang(std::int32_t minimum) {
  PodGroup object = group("g", {.priority_class = "high"});
  object.policy = {.minimum = minimum, .gang = true};
  return object;
}

PodGroup whole(PodGroup object) {
  object.policy.mode = DisruptionMode::all;
  return object;
}

PodGroup child(PodGroup object) {
  object.parent = "tree";
  return object;
}

Pod marked(Pod object) {
  object.is_protected = true;
  return object;
}

Pod with_class(Pod object, std::string_view preemption_class) {
  object.notes.preemption_priority_class = preemption_class;
  return object;
}

constexpr std::string_view other_priorities =
    "PodGroup default/g: spec.priorityClassName \"high\": PodsNotMatchingPriority: 2 of its 3 pods "
    "carry another priority, the first is default/b with 10 instead of 100; the group's priority "
    "applies; give the pods the group's class\n";
constexpr std::string_view above_size =
    "PodGroup default/g: spec.schedulingPolicy.gang.minCount \"2\": fewer pods exist (1): it "
    "cannot start; create the missing pods or lower the minimum\n";
constexpr std::string_view two_numbers =
    "PodGroup default/g: spec.priority \"7\": its class high has 100; the number applies; leave "
    "one of them out\n";
constexpr std::string_view no_workload =
    "PodGroup default/g: its Workload w is not in the input; the group has the default priority; "
    "add it (kubectl get workloads -A -o yaml)\n";
constexpr std::string_view no_template =
    "PodGroup default/g: its Workload w has no template t; correct the name\n";
constexpr std::string_view two_priorities =
    "Workload default/w: spec.podGroupTemplates[b].priorityClassName \"low\": template a has "
    "another priority; Makeway reads both, an API server refuses them; give all templates the same "
    "class\n";
constexpr std::string_view composite =
    "PodGroup default/g: spec.parentCompositePodGroupName \"tree\": composite groups are not read; "
    "this group stands for itself\n";
constexpr std::string_view marked_alone =
    "Pod default/p: metadata.annotations[makeway.dev/protected] \"true\": it belongs to no group; "
    "the mark is for members; what must never leave says makeway.dev/allow-preemption: \"false\"\n";
constexpr std::string_view marked_in_vain =
    "Pod default/p: metadata.annotations[makeway.dev/protected] \"true\": its group leaves whole, "
    "so the mark means nothing; what must never leave says makeway.dev/allow-preemption: "
    "\"false\"\n";
constexpr std::string_view class_in_vain =
    "Pod default/p: metadata.annotations[makeway.dev/preemption-priority-class] \"top\": the pod "
    "belongs to PodGroup default/g, whose preemption priority (100) counts; set the annotation on "
    "the group\n";

INSTANTIATE_TEST_SUITE_P(
    Cases, GroupLint,
    testing::Values(
        ValidationCase{"a_minimum_above_the_size", {gang(2), pod("a", "g", 100)}, above_size},
        ValidationCase{"templates_of_two_priorities",
                       {workload("w", {},
                                 {{.name = "a", .priority = {.priority_class = "high"}},
                                  {.name = "b", .priority = {.priority_class = "low"}}})},
                       two_priorities},
        ValidationCase{"a_protected_lone_pod", {marked(pod("p", "", 1))}, marked_alone},
        ValidationCase{"a_protected_member_of_a_whole_group",
                       {whole(gang(1)), marked(pod("p", "g", 100))},
                       marked_in_vain},
        ValidationCase{"a_protected_member", {gang(1), marked(pod("p", "g", 100))}, ""},
        ValidationCase{"a_class_on_a_member",
                       {gang(1), with_class(pod("p", "g", 100), "top")},
                       class_in_vain}),
    case_name);

class GroupDoubts : public ValidationTable {};
TEST_P(GroupDoubts, AreReportedInPlans) {
  EXPECT_EQ(texts(find_doubts(cluster_of(GetParam().objects), {})), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, GroupDoubts,
    testing::Values(
        ValidationCase{
            "a_silent_group_without_its_workload", {of_workload(group("g", {}), "t")}, no_workload},
        ValidationCase{"a_group_that_speaks_needs_no_workload",
                       {of_workload(group("g", {.priority_class = "high"}), "t")},
                       ""},
        ValidationCase{"a_template_that_is_not_there",
                       {workload("w", {}), of_workload(group("g", {}), "t")},
                       no_template},
        ValidationCase{"a_group_in_a_tree", {child(gang(1)), pod("p", "g", 100)}, composite}),
    case_name);

TEST(Doubts, PodsOfOtherPriorities) {
  const Cluster cluster =
      cluster_of({gang(1), pod("c", "g", 11), pod("a", "g", 100), pod("b", "g", 10)});
  EXPECT_EQ(texts(find_doubts(cluster, {})), other_priorities);
}

TEST(Doubts, ANumberBesideAnotherClass) {  // The rest: tests/scenarios/plan_doubts.txt.
  const Cluster cluster = cluster_of({group("g", {.priority_class = "high", .priority = 7})});
  EXPECT_EQ(texts(find_doubts(cluster, {})), two_numbers);
}

}  // namespace
}  // namespace makeway::validation_test
