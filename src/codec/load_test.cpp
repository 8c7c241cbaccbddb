// Loading manifests into a cluster (issue 3, point 6; law 13: bad input is refused whole).
#include "codec/load.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "codec/dump.hpp"

namespace makeway {
namespace {

Cluster loaded(std::string_view text) {
  LoadResult result = load_text(text, "test");
  for (const Problem& problem : result.problems) ADD_FAILURE() << to_text(problem);
  return result.loaded ? std::move(result.loaded->cluster) : Cluster{};
}

Pod pod_of(std::string_view text, std::string_view space = "default", std::string_view name = "p") {
  const Cluster cluster = loaded(text);
  const auto index = cluster.find_pod(space, name);
  EXPECT_TRUE(index.has_value());
  return index ? cluster.pod(*index) : Pod{};
}

std::vector<std::string> problems_of(std::string_view text) {
  const LoadResult result = load_text(text, "test");
  EXPECT_FALSE(result.loaded.has_value());
  std::vector<std::string> texts;
  for (const Problem& problem : result.problems) texts.push_back(to_text(problem));
  return texts;
}

std::string pod_yaml(std::string_view spec) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {app: web, rev: r1}}\nspec:\n" +
         std::string(spec);
}

TEST(Load, APodWithoutANamespaceIsInDefault) {
  const Pod pod = pod_of("{apiVersion: v1, kind: Pod, metadata: {name: p}}");
  EXPECT_EQ(pod.namespace_name, "default");
  EXPECT_TRUE(pod.node.empty());
}

TEST(Load, ListsOfMixedKindsAndTypedListsAreOpened) {
  const Cluster cluster = loaded(R"({"apiVersion":"v1","items":[
    {"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"capacity":{"cpu":"2"}}},
    {"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}},
                                                 {"metadata":{"name":"b"}}]}],"kind":"List"})");
  EXPECT_EQ(cluster.node_count(), 1U);
  EXPECT_EQ(cluster.pod_count(), 2U);
}

TEST(Load, SeveralJsonDocumentsInOneTextAreAllRead) {
  std::string text;
  for (int index = 0; index < 3; ++index) {
    text += R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p)" + std::to_string(index) +
            "\"}}\n";
  }
  EXPECT_EQ(loaded(text).pod_count(), 3U);
}

TEST(Load, ALargeFirstDocumentMayBeFollowedByAnother) {
  std::string first = R"({"apiVersion":"v1","kind":"PodList","items":[)";
  for (int index = 0; index < 3'000; ++index) {
    if (index > 0) first += ",";
    first += R"({"metadata":{"name":"pod-)" + std::to_string(index) + R"("},"spec":{}})";
  }
  const std::string text =
      first + "]}\n{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"last\"}}";
  EXPECT_GT(first.size(), 65'536U);
  EXPECT_EQ(loaded(text).pod_count(), 3'001U);
}

TEST(Load, OtherKindsAreSkippedAndCounted) {
  const LoadResult result = load_text(
      "{apiVersion: v1, kind: ConfigMap}\n---\n{apiVersion: v1, kind: Service}\n---\n"
      "{apiVersion: v1, kind: ConfigMap}\n---\n"
      "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup}",
      "test");
  ASSERT_TRUE(result.loaded.has_value());
  EXPECT_EQ(
      result.loaded->statistics.skipped,
      (std::map<std::string, std::uint64_t>{
          {"scheduling.volcano.sh/v1beta1 PodGroup", 1}, {"v1 ConfigMap", 2}, {"v1 Service", 1}}));
}

TEST(Load, FinishedPodsAreLeftOut) {
  const LoadResult result = load_text(
      "{apiVersion: v1, kind: Pod, metadata: {name: a}, status: {phase: Succeeded}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: b}, status: {phase: Failed}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: c}, status: {phase: Running}}",
      "test");
  ASSERT_TRUE(result.loaded.has_value());
  EXPECT_EQ(result.loaded->cluster.pod_count(), 1U);
  EXPECT_EQ(result.loaded->statistics.finished_pods, 2U);
}

TEST(Load, PrioritiesComeByClassByGlobalDefaultOrAreZero) {
  const std::string pods =
      "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {priorityClassName: high}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: b}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: c}, spec: {priority: 7}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: d}, "
      "spec: {priorityClassName: system-node-critical}}\n---\n";
  const std::string high =
      "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, "
      "value: 1000}\n";
  const std::string normal =
      "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: normal}, "
      "value: 50, globalDefault: true}\n";
  const auto priority = [](const Cluster& cluster, std::string_view name) {
    return cluster.units()[cluster.pods().unit[*cluster.find_pod("default", name)]]
        .scheduling_priority;
  };
  const Cluster without = loaded(pods + high);
  EXPECT_EQ(priority(without, "a"), 1000);
  EXPECT_EQ(priority(without, "b"), 0);
  EXPECT_EQ(priority(without, "c"), 7);
  EXPECT_EQ(priority(without, "d"), 2'000'001'000);
  EXPECT_EQ(priority(loaded(pods + high + normal), "b"), 50);
}

TEST(Load, MatchLabelKeysTakeTheValuesOfThePod) {
  const Pod pod = pod_of(pod_yaml(R"(
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: zone
        labelSelector: {matchLabels: {app: web}}
        matchLabelKeys: [rev, missing]
        mismatchLabelKeys: [app]
  topologySpreadConstraints:
  - {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [rev]}
  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway})"));
  ASSERT_EQ(pod.shape.anti_affinity.size(), 1U);
  EXPECT_EQ(pod.shape.anti_affinity[0].namespaces, std::vector<std::string>{"default"});
  EXPECT_EQ(pod.shape.anti_affinity[0].selector->requirements,
            (std::vector<Requirement>{{"app", Operator::in, {"web"}},
                                      {"app", Operator::not_in, {"web"}},
                                      {"rev", Operator::in, {"r1"}}}));
  ASSERT_EQ(pod.shape.spread.size(), 1U) << "ScheduleAnyway only influences scoring";
  EXPECT_EQ(pod.shape.spread[0].skew_max, 2);
  EXPECT_EQ(pod.shape.spread[0].selector->requirements,
            (std::vector<Requirement>{{"rev", Operator::in, {"r1"}}}));
}

TEST(Load, HostPortsOfContainersAndSidecarsCount) {
  const Pod pod = pod_of(pod_yaml(R"(
  initContainers:
  - {name: once, ports: [{hostPort: 1, containerPort: 1}]}
  - {name: side, restartPolicy: Always, ports: [{hostPort: 2, hostIP: 0.0.0.0}]}
  containers:
  - {name: main, ports: [{containerPort: 80}, {hostPort: 53, protocol: UDP, hostIP: 10.0.0.1}]})"));
  EXPECT_EQ(pod.shape.ports,
            (std::vector<HostPort>{{2, Protocol::tcp, ""}, {53, Protocol::udp, "10.0.0.1"}}));
}

TEST(Load, OnTheHostNetworkEveryPortIsAHostPort) {
  const Pod pod = pod_of(pod_yaml(R"(
  hostNetwork: true
  containers: [{name: main, ports: [{containerPort: 80}]}])"));
  EXPECT_EQ(pod.shape.ports, (std::vector<HostPort>{{80, Protocol::tcp, ""}}));
}

TEST(Load, WhatMakewayCannotCheckIsRememberedWhileThePodIsPending) {
  const std::string spec = R"(
  volumes: [{name: v, iscsi: {}}, {name: c, configMap: {}}]
  schedulingGates: [{name: quota}])";
  EXPECT_EQ(pod_of(pod_yaml(spec)).shape.unsupported,
            (std::vector<std::string>{"iscsi v", "schedulingGate quota"}));
  EXPECT_TRUE(pod_of(pod_yaml("  nodeName: n1" + spec)).shape.unsupported.empty());
}

TEST(Load, ClaimsOfAPod) {
  const std::string spec = R"(
  volumes:
  - {name: v, persistentVolumeClaim: {claimName: data}}
  - {name: scratch, ephemeral: {volumeClaimTemplate: {}}}
  resourceClaims:
  - {name: gpu, resourceClaimName: shared}
  - {name: made, resourceClaimTemplateName: t}
  - {name: waiting, resourceClaimTemplateName: t}
  - {name: unneeded, resourceClaimTemplateName: t}
status: {resourceClaimStatuses: [{name: made, resourceClaimName: made-x}, {name: unneeded}]})";
  std::vector<std::string> names;
  for (const ClaimUse& use : pod_of(pod_yaml(spec)).shape.claims) {
    names.push_back(use.local + "=" + use.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"=data", "scratch=p-scratch", "=shared",
                                             "waiting=", "made=made-x"}));
}

TEST(Load, GroupsOfEveryVersionOfTheApi) {
  const Cluster cluster = loaded(R"(
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: beta}
spec: {schedulingPolicy: {gang: {minCount: 4}}, disruptionMode: {all: {}}, priority: 5}
---
apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: {name: alpha}
spec: {schedulingPolicy: {basic: {}}, disruptionMode: PodGroup}
---
apiVersion: scheduling.k8s.io/v1alpha1
kind: Workload
metadata: {name: old}
spec: {podGroups: [{name: g, policy: {gang: {minCount: 2, preemptionMode: PodGroup}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {workloadRef: {name: old, podGroup: g, podGroupReplicaKey: "0"}}
)");
  const auto unit = [&](std::string_view name) {
    return cluster.units()[cluster.groups()[*cluster.find_group("default", name)].unit];
  };
  EXPECT_EQ(unit("beta").minimum, 4);
  EXPECT_EQ(unit("beta").mode, DisruptionMode::all);
  EXPECT_EQ(unit("beta").scheduling_priority, 5);
  EXPECT_FALSE(unit("alpha").gang);
  EXPECT_EQ(unit("alpha").mode, DisruptionMode::all);
  EXPECT_EQ(unit("old/g/0").minimum, 2);
  EXPECT_EQ(unit("old/g/0").mode, DisruptionMode::all);
  EXPECT_EQ(unit("old/g/0").size, 1);
}

TEST(Load, TheFieldsOfTheSeedAndTheReferencesOfEveryVersion) {  // SPEC section 2
  const Cluster cluster = loaded(R"(
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: 10}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 100}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: top}, value: 1000}
---
apiVersion: scheduling.k8s.io/v1alpha1
kind: Workload
metadata: {name: seed}
spec:
  priorityClassName: low
  preemptionPriorityClassName: high
  podGroups: [{name: g, policy: {gang: {minCount: 2, preemptionMode: Pod}}}]
---
{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {workloadRef: {name: seed, podGroup: g}}}
---
apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: {name: alpha, annotations: {makeway.dev/preemption-priority-class: top}}
spec:
  schedulingPolicy: {gang: {minCount: 3}}
  podGroupTemplateRef: {workload: {workloadName: seed, podGroupTemplateName: g}}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: beta}
spec:
  schedulingPolicy: {basic: {}}
  workloadRef: {workloadName: seed, templateName: g}
  priorityClassName: high
  preemptionPolicy: Never
  schedulingConstraints: {topology: [{key: rack}]}
)");
  const auto unit = [&](std::string_view name) {
    return cluster.units()[cluster.groups()[*cluster.find_group("default", name)].unit];
  };
  EXPECT_EQ(unit("seed/g").scheduling_priority, 10);
  EXPECT_EQ(unit("seed/g").preemption_priority, 100);
  EXPECT_EQ(unit("seed/g").minimum, 2);
  EXPECT_EQ(unit("seed/g").mode, DisruptionMode::single);
  EXPECT_EQ(unit("alpha").scheduling_priority, 10) << "from its Workload";
  EXPECT_EQ(unit("alpha").preemption_priority, 1000) << "its own annotation";
  EXPECT_EQ(unit("alpha").minimum, 3);
  EXPECT_EQ(unit("beta").scheduling_priority, 100) << "the PodGroup over its Workload";
  EXPECT_EQ(unit("beta").preemption_priority, 100) << "the Workload's class says it";
  EXPECT_TRUE(unit("beta").never_preempts);
  EXPECT_EQ(cluster.groups()[*cluster.find_group("default", "beta")].object->policy.topology_keys,
            std::vector<std::string>{"rack"});
}

TEST(Load, ABudgetWithoutStatusFollowsFromItsSpec) {
  const std::string pods =
      "{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {app: x}}, spec: {nodeName: n1}}\n"
      "---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: b, labels: {app: x}}, spec: {nodeName: n1}}\n"
      "---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: c, labels: {app: x}}}\n---\n";
  const auto allowed = [&](std::string_view spec) {
    const Cluster cluster = loaded(
        pods + "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, spec: {" +
        std::string(spec) + ", selector: {matchLabels: {app: x}}}}");
    return *cluster.budgets().at(0)->disruptions_allowed;
  };
  EXPECT_EQ(allowed("minAvailable: 1"), 1) << "two are healthy, one must stay";
  EXPECT_EQ(allowed("minAvailable: 50%"), 0) << "half of three rounds up to two";
  EXPECT_EQ(allowed("maxUnavailable: 2"), 1) << "three expected, one must stay";
  EXPECT_EQ(allowed("maxUnavailable: 0"), 0);
}

TEST(LoadErrors, NameFileDocumentObjectFieldValueAndRemedy) {
  EXPECT_EQ(problems_of("# first\n{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n" +
                        pod_yaml("  priority: high\n  containers: "
                                 "[{name: a, resources: {requests: {cpu: 1 core}}}]")),
            (std::vector<std::string>{
                "test, document 2 (line 4): Pod default/p: spec.priority \"high\": expected an "
                "integer, found a string",
                "test, document 2 (line 4): Pod default/p: "
                "spec.containers[0].resources.requests.cpu \"1 core\": not a quantity; expected a "
                "number and at most one suffix of n u m k M G T P E, Ki Mi Gi "
                "Ti Pi Ei, or an exponent like e3 (500m, 1.5, 2Gi)"}));
}

TEST(LoadErrors, AnUnknownClassIsRefusedWithItsOrigin) {
  const auto problems = problems_of(pod_yaml("  priorityClassName: hihg"));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_TRUE(problems[0].starts_with(
      "test, document 1 (line 1): Pod default/p: spec.priorityClassName \"hihg\": no "
      "PriorityClass of this name"))
      << problems[0];
}

TEST(LoadErrors, APreemptionPriorityBelowTheSchedulingPriorityIsRefused) {  // SPEC section 2
  const auto problems = problems_of(
      "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: 1}\n"
      "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: "
      "{makeway.dev/preemption-priority-class: low}}, spec: {priority: 5}}");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].find("preempt each other forever"), std::string::npos) << problems[0];
}

TEST(LoadErrors, AnObjectThatIsThereTwiceIsRefused) {
  const std::string pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}}";
  EXPECT_EQ(
      problems_of(pod + "\n---\n" + pod),
      std::vector<std::string>{"test, document 2 (line 3): Pod default/p: it is defined twice; the "
                               "other definition is in test, document 1; remove one of them"});
}

TEST(LoadErrors, ATornTextIsRefused) {
  EXPECT_EQ(problems_of(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p")").size(), 1U);
  EXPECT_EQ(problems_of("kind: [").size(), 1U);
}

TEST(LoadErrors, ASyntaxErrorOfJsonHasItsLineAndColumn) {
  const std::string start = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},)";
  const auto line_of = [](std::string_view text) {
    const LoadResult result = load_text(text, "test");
    return result.problems.empty() ? 0 : result.problems.front().origin.line;
  };
  EXPECT_EQ(line_of(start + "\n\"spec\":{\"nodeName\":\"a\xff\"}}"), 2U);    // No UTF-8.
  EXPECT_EQ(line_of(start + "\r\n\r\n\"spec\":{\"nodeName\" \"a\"}}"), 3U);  // No colon.
  EXPECT_EQ(line_of("\n\n" + start + "\"spec\":{\"nodeName\":\"a\tb\"}}"), 3U);
  EXPECT_EQ(line_of(start + "\"spec\":{\n}\n"), 2U);  // Cut off.
  // Columns are characters: one behind the two bytes of a letter.
  EXPECT_TRUE(problems_of(start + "\n\"é\":1 2}").front().contains("at column 7 ("))
      << problems_of(start + "\n\"é\":1 2}").front();
}

TEST(LoadErrors, ManyAreReportedTogetherAndTheRestIsCounted) {
  std::string text;
  for (int index = 0; index < 150; ++index) {
    text += "{apiVersion: v1, kind: Pod, metadata: {name: Bad}}\n---\n";
  }
  const LoadResult result = load_text(text, "test");
  EXPECT_FALSE(result.loaded.has_value());
  EXPECT_EQ(result.problems.size(), 100U);
  EXPECT_EQ(result.problems.left_out(), 50U);
}

/// Issue 20, point 4 (cases/hostile/bomb-empty-items): a mistake costs no memory once there are
/// enough of them.
TEST(LoadErrors, MistakesInOneDocumentAreBounded) {
  std::string text = R"({"apiVersion":"v1","kind":"List","items":[)";
  for (int index = 0; index < 10'000; ++index) text += "{},";
  text += R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"Bad"}}]})";
  const LoadResult result = load_text(text, "test");
  EXPECT_EQ(result.problems.size(), 101U);
  EXPECT_EQ(result.problems.count(Severity::error), 10'001U);
  EXPECT_EQ(result.problems.back().object, "Pod default/Bad");  // A cause of its own is not hidden.
  EXPECT_EQ(to_text(result.problems[99]),
            "test: items[99].kind: expected an object with a kind; set apiVersion and kind, or "
            "leave the file out if it is no manifest");
}

TEST(LoadErrors, MistakesInOneObjectAreBounded) {
  std::string text =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"tolerations":[)";
  for (int index = 0; index < 1'000; ++index) text += "7,";
  text += "7]}}";
  const LoadResult result = load_text(text, "test");
  EXPECT_EQ(result.problems.size(), 100U);
  EXPECT_EQ(result.problems.count(Severity::error), 2'002U);  // No mapping, and no key.
  EXPECT_EQ(result.problems.back().object, "Pod default/p");
}

TEST(LoadErrors, KindsThatAreNotReadAreBounded) {
  std::string text;
  for (int index = 0; index < 300; ++index) {
    text += fmt::format(R"({{"apiVersion":"v1","kind":"Kind{}"}})", index);
  }
  const LoadResult result = load_text(text, "test");
  ASSERT_TRUE(result.loaded.has_value());
  EXPECT_EQ(result.loaded->statistics.skipped.size(), 101U);
  EXPECT_EQ(result.loaded->statistics.skipped.at("of other kinds"), 200U);
}

TEST(LoadErrors, UnknownFieldsOfOurKindsAreErrorsThoseOfKubernetesAreNot) {
  EXPECT_EQ(loaded("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {futureField: 1}}")
                .pod_count(),
            1U);
  const auto problems = problems_of(
      "{apiVersion: makeway.dev/v1, kind: Configuration, spec: {workload: {evictfor: all}}}");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].find("evictFor"), std::string::npos) << problems[0];
}

// ---- Found in review, by reading and by hostile input ------------------------------------------

void expect_refused(std::string_view text, std::string_view part) {
  const auto problems = problems_of(text);
  ASSERT_FALSE(problems.empty());
  EXPECT_NE(problems[0].find(part), std::string::npos) << problems[0];
}

std::string reloaded(std::string_view text) {
  const std::string first = dump(loaded(text), DumpFormat::json);
  EXPECT_EQ(dump(loaded(first), DumpFormat::json), first);
  return first;
}

TEST(LoadHostile, AnEndlessUidIsRefused) {
  std::string text = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","uid":")";
  text.resize(text.size() + 17'000'000, 'u');
  text += "\"}}";
  expect_refused(text, "metadata.uid");
}

TEST(LoadHostile, NamesOfOtherObjectsMustBeNames) {
  for (const std::string_view spec :
       {"schedulingGroup: {podGroupName: a/b}", "nodeName: N1", "nodeName: \"n\\x1b[31m\"",
        "workloadRef: {name: w, podGroup: a/b}"}) {
    expect_refused(
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {" + std::string(spec) + "}}",
        "RFC 1123");
  }
}

TEST(LoadHostile, ProblemsDoNotDriveTheTerminal) {
  const auto problems = problems_of(
      "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":"
      "\"p\\u001b[2J\\n\"}}");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].find('\x1b'), std::string::npos);
  EXPECT_EQ(problems[0].find('\n'), std::string::npos);
}

TEST(LoadHostile, KeysThatComeTwiceAreRefused) {
  const std::string head = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},)";
  expect_refused(head + R"("spec":{},"spec":{}})", "appears twice");
  expect_refused(
      head + R"("spec":{"containers":[{"resources":{"requests":{"cpu":"1","cpu":"2"}}}]}})",
      "appears twice");
  expect_refused(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p",)"
                 R"("labels":{"a":"1","b":"2","a":"3"}}})",
                 "appears twice");
}

TEST(LoadHostile, TwoTemplatesOfOneNameAreRefused) {
  expect_refused(
      "{apiVersion: scheduling.k8s.io/v1beta1, kind: Workload, metadata: {name: w}, "
      "spec: {podGroupTemplates: [{name: a}, {name: a}]}}",
      "two templates");
}

TEST(LoadHostile, PortsOutsideTheirRangeAreRefused) {
  expect_refused(pod_yaml("  hostNetwork: true\n"
                          "  containers: [{name: a, ports: [{containerPort: 99999999}]}]"),
                 "containerPort");
}

TEST(LoadHostile, TooManyDifferentResourcesAreRefused) {
  std::string text;
  for (int index = 0; index < 300; ++index) {
    text += fmt::format(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p{0}}}, "
        "spec: {{containers: [{{name: a, resources: {{requests: {{r{0}: 1}}}}}}]}}}}\n---\n",
        index);
  }
  expect_refused(text, "different resources");
}

TEST(LoadDetails, ANullLabelIsTheEmptyText) {
  const Pod pod = pod_of(pod_yaml("  nodeSelector: {node-role.kubernetes.io/worker: }"));
  EXPECT_EQ(pod.shape.node_selector, (Labels{{"node-role.kubernetes.io/worker", ""}}));
}

TEST(LoadDetails, OtherListsAreSkippedAndCounted) {
  const LoadResult result = load_text(
      "{apiVersion: example.com/v1, kind: AllowList, items: [10.0.0.1]}\n---\n"
      "{apiVersion: v1, kind: ServiceList, items: [{metadata: {name: s}}]}",
      "test");
  ASSERT_TRUE(result.loaded.has_value());
  EXPECT_EQ(result.loaded->statistics.skipped,
            (std::map<std::string, std::uint64_t>{{"example.com/v1 AllowList", 1},
                                                  {"v1 ServiceList", 1}}));
}

TEST(LoadDetails, JsonDocumentsMayBeSeparatedLikeYaml) {
  EXPECT_EQ(loaded(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}
---
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}
---
)")
                .pod_count(),
            2U);
}

TEST(LoadDetails, AnAnnotationWinsOverALabelAndStaysSoInADump) {
  const std::string text =
      "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {makeway.dev/allow-preemption: "
      "\"false\", makeway.dev/protected: \"true\", makeway.dev/owner: \"true\"}, annotations: "
      "{makeway.dev/allow-preemption: \"true\", makeway.dev/protected: \"false\"}}}";
  const Pod pod = pod_of(text);
  EXPECT_FALSE(pod.opted_out);
  EXPECT_FALSE(pod.is_protected);
  EXPECT_TRUE(pod.is_owner);
  EXPECT_EQ(pod_of(reloaded(text)), pod);
}

TEST(LoadDetails, PodLevelResizeCountsTheLargest) {
  const Pod pod = pod_of(
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {resources: {requests: {cpu: 1}}, "
      "containers: [{name: a}]}, status: {resources: {requests: {cpu: 5}}, allocatedResources: "
      "{cpu: 3}, containerStatuses: [{name: a, resources: null}]}}");
  EXPECT_EQ(pod.requests, (Amounts{{"cpu", 5'000}}));
}

TEST(LoadDetails, AMirrorPodIsKnownByItsAnnotationWhateverItSays) {
  EXPECT_TRUE(pod_of("{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: "
                     "{kubernetes.io/config.mirror: \"\"}}}")
                  .mirror);
}

TEST(LoadDetails, SkippedKindsThatLookLikeOursAreWarnedOf) {
  const LoadResult result = load_text(
      "{apiVersion: v1, kind: pods}\n---\n{apiVersion: v1, kind: PriorityClass}\n---\n"
      "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup}\n---\n"
      "{apiVersion: v1, kind: Service}",
      "test");
  ASSERT_TRUE(result.loaded.has_value());
  std::vector<std::string> values;
  for (const Problem& problem : result.loaded->warnings) values.push_back(problem.value);
  EXPECT_EQ(values, (std::vector<std::string>{"scheduling.volcano.sh/v1beta1 PodGroup",
                                              "v1 PriorityClass", "v1 pods"}));
}

TEST(LoadErrors, AnEmptyTextIsRefused) {
  EXPECT_EQ(problems_of(" \n"), std::vector<std::string>{"test: the file is empty; leave it out"});
}

}  // namespace
}  // namespace makeway
