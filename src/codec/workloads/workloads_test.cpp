// SPEC 7, workload kinds: which pods an object becomes, and what they look like. Expected values
// follow facts/workload-kinds.md; tests/scenarios/plan_workload_kinds.txt has the plans.
#include "codec/workloads/workloads.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/dump.hpp"
#include "codec/load.hpp"
#include "codec/workloads/expansion.hpp"
#include "codec/workloads/made_names.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

constexpr std::string_view template_text =
    "{metadata: {labels: {app: x}, annotations: {note: kept}}, spec: {restartPolicy: RESTART, "
    "containers: [{name: c, image: i, resources: {limits: {cpu: 2}}}]}}";

/// A manifest with TEMPLATE filled in.
std::string filled(std::string text, std::string_view restart = "Never") {
  const auto replace_all = [&text](std::string_view what, std::string_view with) {
    for (std::size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + with.size())) {
      text.replace(at, what.size(), with);
    }
  };
  replace_all("TEMPLATE", template_text);
  replace_all("RESTART", restart);
  return text;
}

Loaded loaded_from(const std::string& text) {
  LoadResult result = load_text(text, "test");
  for (const Problem& problem : result.problems) ADD_FAILURE() << to_text(problem);
  return result.loaded ? std::move(*result.loaded) : Loaded{};
}

std::vector<std::string> problems_of(const std::string& text) {
  std::vector<std::string> texts;
  for (const Problem& problem : load_text(text, "test").problems) {
    texts.push_back(fmt::format("{}: {} \"{}\": {}", problem.object, problem.field, problem.value,
                                problem.message));
  }
  return texts;
}

std::vector<std::string> pod_names(const Loaded& loaded) {
  std::vector<std::string> names;
  for (const PodIndex pod : loaded.cluster.pods_by_name()) {
    names.emplace_back(loaded.cluster.pods().name[pod.value]);
  }
  return names;
}

Pod pod_called(const Loaded& loaded, std::string_view name) {
  const auto found = loaded.cluster.find_pod("default", name);
  if (!found) {
    ADD_FAILURE() << "there is no " << name << " among " << fmt::format("{}", pod_names(loaded));
    return {};
  }
  return loaded.cluster.pod(*found);
}

std::string_view label_of(const Pod& pod, std::string_view key) {
  return find_label(pod.labels, key).value_or("(none)");
}

std::string owner_text(const Pod& pod) {
  if (pod.owners.size() != 1) return fmt::format("{} owners", pod.owners.size());
  return fmt::format("{} {}{}", pod.owners[0].kind, pod.owners[0].name,
                     pod.owners[0].controller ? "" : " (no controller)");
}

using Names = std::vector<std::string>;

TEST(MadeNames, KeysAreThoseOfSha1) {
  // RFC 3174, and a text of more than one block.
  EXPECT_EQ(sha1_text("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(sha1_text(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

TEST(MadeNames, SuffixesCountInTheLettersOfKubernetes) {
  EXPECT_EQ(with_suffix("web-", 0), "web-22222");
  EXPECT_EQ(with_suffix("web-", 1), "web-22224");
  EXPECT_EQ(with_suffix("web-", 27), "web-22242");
  EXPECT_EQ(with_suffix(std::string(80, 'a'), 0), std::string(58, 'a') + "22222");
}

TEST(WorkloadKinds, JobPodsCarryTheirTemplateAndTheirOwner) {
  const Loaded loaded = loaded_from(filled(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u}, spec: {parallelism: 2, "
      "template: TEMPLATE}}"));
  EXPECT_EQ(pod_names(loaded), (Names{"j-22222", "j-22224"}));
  const Pod pod = pod_called(loaded, "j-22222");
  EXPECT_EQ(owner_text(pod), "Job j");
  EXPECT_EQ(pod.owners[0].uid, "u");
  EXPECT_EQ(label_of(pod, "app"), "x");
  EXPECT_EQ(label_of(pod, "job-name"), "j");
  EXPECT_EQ(label_of(pod, "batch.kubernetes.io/job-name"), "j");
  EXPECT_EQ(label_of(pod, "controller-uid"), "u");
  EXPECT_EQ(label_of(pod, "batch.kubernetes.io/job-completion-index"), "(none)");
  EXPECT_EQ(pod.notes.made_from, "Job default/j");
  // A missing request is the limit; the tolerations that admission adds.
  EXPECT_EQ(pod.requests, (Amounts{{.resource = "cpu", .amount = 2000}}));
  ASSERT_EQ(pod.shape.tolerations.size(), 2U);
  EXPECT_EQ(pod.shape.tolerations[0].key, "node.kubernetes.io/not-ready");
  EXPECT_EQ(pod.shape.tolerations[1].key, "node.kubernetes.io/unreachable");
}

struct JobCase {
  std::string_view name;
  std::string_view spec;
  std::string_view status;
  std::vector<std::string> pods;
};

class JobCounts : public testing::TestWithParam<JobCase> {};

TEST_P(JobCounts, AsTheControllerCounts) {
  const Loaded loaded = loaded_from(filled(
      fmt::format("{{apiVersion: batch/v1, kind: Job, metadata: {{name: j}}, spec: {{{}template: "
                  "TEMPLATE}}, status: {{{}}}}}",
                  GetParam().spec, GetParam().status)));
  EXPECT_EQ(pod_names(loaded), GetParam().pods);
}

INSTANTIATE_TEST_SUITE_P(
    SpecSection7, JobCounts,
    testing::Values(
        JobCase{"BothUnset", "", "", {"j-22222"}},
        JobCase{"WorkQueue", "parallelism: 2, ", "", {"j-22222", "j-22224"}},
        JobCase{"WorkQueueWithASuccess", "parallelism: 2, ", "succeeded: 1", {}},
        JobCase{"FewerCompletions", "parallelism: 3, completions: 2, ", "", {"j-22222", "j-22224"}},
        JobCase{"SomeSucceeded", "parallelism: 3, completions: 4, ", "succeeded: 3", {"j-22222"}},
        JobCase{"NoParallelism", "parallelism: 0, ", "", {}},
        JobCase{"Suspended", "suspend: true, ", "", {}},
        JobCase{"ManagedElsewhere", "managedBy: kueue.x-k8s.io/multikueue, ", "", {}},
        JobCase{"Finished", "", "conditions: [{type: Complete, status: 'True'}]", {}},
        JobCase{"ConditionThatDoesNotHold",
                "",
                "conditions: [{type: Complete, status: 'False'}]",
                {"j-22222"}},
        JobCase{"Indexed",
                "parallelism: 2, completions: 3, completionMode: Indexed, ",
                "",
                {"j-0-22222", "j-1-22222"}},
        JobCase{"IndexedSomeDone",
                "parallelism: 3, completions: 9, completionMode: Indexed, ",
                "succeeded: 5, completedIndexes: '0-2,4,6'",
                {"j-3-22222", "j-5-22222", "j-7-22222"}},
        JobCase{"IndexedAlmostDone",
                "parallelism: 3, completions: 3, completionMode: Indexed, ",
                "succeeded: 2, completedIndexes: 0-1",
                {"j-2-22222"}},
        JobCase{"IndexedManyDone",
                "parallelism: 1, completions: 2147483647, completionMode: Indexed, ",
                "succeeded: 2147483646, completedIndexes: 0-2147483645",
                {"j-2147483646-22222"}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(WorkloadKinds, OnlyPodsThatCountFillAJob) {
  const std::string text = filled(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u}, spec: {parallelism: 3, "
      "template: TEMPLATE}}");
  const auto pod = [](std::string_view name, std::string_view uid, std::string_view rest) {
    return fmt::format(
        "\n---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {}, ownerReferences: [{{kind: Job, "
        "name: j, uid: {}, controller: true}}]{}}}, spec: {{containers: [{{name: c}}]}}}}",
        name, uid, rest);
  };
  const Loaded loaded =
      loaded_from(text + pod("own", "u", "") + pod("stranger", "v", "") +
                  pod("leaving", "u", ", deletionTimestamp: '2026-01-01T00:00:00Z'"));
  // Of three, one is there; a pod of an earlier Job of that name and one that leaves do not count.
  EXPECT_EQ(pod_names(loaded), (Names{"j-22222", "j-22224", "leaving", "own", "stranger"}));
  ASSERT_EQ(loaded.workloads.size(), 1U);
  EXPECT_EQ(loaded.workloads[0].made, 2U);
  EXPECT_EQ(loaded.workloads[0].present, 1U);
  EXPECT_EQ(loaded.workloads[0].pending.size(), 3U);
}

TEST(WorkloadKinds, DeploymentPodsBelongToAReplicaSetWithAHash) {
  const Loaded loaded = loaded_from(
      filled("{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {selector: "
             "{matchLabels: {app: x}}, template: TEMPLATE}}",
             "Always"));
  ASSERT_EQ(pod_names(loaded).size(), 1U);
  const Pod pod = pod_called(loaded, pod_names(loaded)[0]);
  const std::string hash(label_of(pod, "pod-template-hash"));
  EXPECT_EQ(hash.size(), 10U);
  EXPECT_EQ(hash.find_first_not_of("456789bcdf"), std::string::npos);
  EXPECT_EQ(owner_text(pod), fmt::format("ReplicaSet d-{}", hash));
  EXPECT_EQ(pod.name, fmt::format("d-{}-22222", hash));
}

TEST(WorkloadKinds, StatefulSetPodsComeOneAfterTheOther) {
  const std::string text = filled(
      "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {replicas: 12, "
      "ordinals: "
      "{start: 1}, MORE selector: {matchLabels: {app: x}}, template: TEMPLATE}}",
      "Always");
  const auto with = [&text](std::string_view more) {
    std::string changed = text;
    return changed.replace(changed.find("MORE"), 4, more);
  };
  const Loaded ordered = loaded_from(with(""));
  const Pod tenth = pod_called(ordered, "s-10");
  EXPECT_EQ(tenth.notes.wave, 9);
  EXPECT_EQ(tenth.notes.wave_after, "s-9 is ready");
  EXPECT_EQ(label_of(tenth, "statefulset.kubernetes.io/pod-name"), "s-10");
  EXPECT_EQ(label_of(tenth, "apps.kubernetes.io/pod-index"), "10");
  EXPECT_EQ(owner_text(tenth), "StatefulSet s");
  EXPECT_EQ(pod_called(ordered, "s-1").notes.wave, 0);
  EXPECT_EQ(pod_called(loaded_from(with("podManagementPolicy: Parallel,")), "s-10").notes.wave, 0);
}

TEST(WorkloadKinds, JobSetPodsCarryItsLabelsAndThoseOfTheirJob) {
  const Loaded loaded = loaded_from(
      "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: s, uid: u}, spec: "
      "{replicatedJobs: [{name: a, template: {spec: {template: {spec: {containers: [{name: "
      "c}]}}}}}, {name: b, replicas: 2, template: {spec: {template: {spec: {containers: [{name: "
      "c}]}}}}}]}}");
  EXPECT_EQ(pod_names(loaded), (Names{"s-a-0-0-22222", "s-b-0-0-22222", "s-b-1-0-22222"}));
  const Pod pod = pod_called(loaded, "s-b-1-0-22222");
  EXPECT_EQ(owner_text(pod), "Job s-b-1");
  const std::string prefix = "jobset.sigs.k8s.io/";
  EXPECT_EQ(label_of(pod, prefix + "jobset-name"), "s");
  EXPECT_EQ(label_of(pod, prefix + "jobset-uid"), "u");
  EXPECT_EQ(label_of(pod, prefix + "replicatedjob-name"), "b");
  EXPECT_EQ(label_of(pod, prefix + "replicatedjob-replicas"), "2");
  EXPECT_EQ(label_of(pod, prefix + "global-replicas"), "3");
  EXPECT_EQ(label_of(pod, prefix + "job-index"), "1");
  EXPECT_EQ(label_of(pod, prefix + "job-global-index"), "2");
  EXPECT_EQ(label_of(pod, prefix + "job-key"), sha1_text("default/s-b-1"));
  EXPECT_EQ(label_of(pod, prefix + "restart-attempt"), "0");
  EXPECT_EQ(label_of(pod, "batch.kubernetes.io/job-name"), "s-b-1");
  EXPECT_EQ(label_of(pod, "batch.kubernetes.io/job-completion-index"), "0");
}

TEST(WorkloadKinds, JobsOfAJobSetMayHaveNodesOfTheirOwn) {
  const Loaded loaded = loaded_from(
      "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: s, annotations: "
      "{alpha.jobset.sigs.k8s.io/exclusive-topology: rack, alpha.jobset.sigs.k8s.io/node-selector: "
      "'true'}}, spec: {replicatedJobs: [{name: a, template: {spec: {template: {spec: {containers: "
      "[{name: c}]}}}}}]}}");
  const Pod pod = pod_called(loaded, "s-a-0-0-22222");
  EXPECT_EQ(pod.shape.node_selector,
            (Labels{{.key = "alpha.jobset.sigs.k8s.io/namespaced-job", .value = "default_s-a-0"}}));
  EXPECT_TRUE(pod.shape.affinity.empty());
  ASSERT_EQ(pod.shape.tolerations.size(), 3U);
  EXPECT_EQ(pod.shape.tolerations[0].key, "alpha.jobset.sigs.k8s.io/no-schedule");
}

TEST(WorkloadKinds, AllWorkloadsTogetherAreBounded) {
  // 40,000 each: the first fits, the second reaches the bound, the third does not report it again.
  std::string text;
  for (const std::string_view name : {"a", "b", "c"}) {
    text += fmt::format(
        "{{apiVersion: batch/v1, kind: Job, metadata: {{name: {}}}, spec: {{parallelism: 40000, "
        "template: {{spec: {{restartPolicy: Never, containers: [{{name: c}}]}}}}}}}}\n---\n",
        name);
  }
  EXPECT_EQ(problems_of(text), (Names{"Job default/b: spec \"\": more than 50000 pods, or 64 MiB "
                                      "of them, would be made from templates"}));
}

TEST(WorkloadKinds, JobsOfAJobSetThatHaveEndedNeedNoPods) {
  const Loaded loaded = loaded_from(
      "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: s, uid: u}, spec: "
      "{replicatedJobs: [{name: a, replicas: 2, template: {spec: {template: {spec: {containers: "
      "[{name: c}]}}}}}]}}\n---\n"
      "{apiVersion: batch/v1, kind: Job, metadata: {name: s-a-0, ownerReferences: [{kind: JobSet, "
      "name: s, uid: u, controller: true}]}, spec: {template: {spec: {restartPolicy: Never, "
      "containers: [{name: c}]}}}, status: {succeeded: 1, conditions: [{type: Complete, status: "
      "'True'}]}}");
  EXPECT_EQ(pod_names(loaded), (Names{"s-a-1-0-22222"}));
}

TEST(WorkloadKinds, GroupsOfALeaderWorkerSet) {
  const Loaded loaded = loaded_from(
      "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: l, "
      "annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: rack}}, spec: {startupPolicy: "
      "LeaderReady, leaderWorkerTemplate: {size: 4, subGroupPolicy: {subGroupSize: 2}, "
      "leaderTemplate: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}, "
      "workerTemplate: {spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}}}}}");
  EXPECT_EQ(pod_names(loaded), (Names{"l-0", "l-0-1", "l-0-2", "l-0-3"}));
  const std::string prefix = "leaderworkerset.sigs.k8s.io/";
  const Pod leader = pod_called(loaded, "l-0");
  EXPECT_EQ(owner_text(leader), "StatefulSet l");
  EXPECT_EQ(label_of(leader, prefix + "worker-index"), "0");
  EXPECT_EQ(leader.shape.anti_affinity.size(), 1U);
  EXPECT_EQ(leader.requests, (Amounts{{.resource = "cpu", .amount = 1000}}));
  const Pod worker = pod_called(loaded, "l-0-3");
  EXPECT_EQ(owner_text(worker), "StatefulSet l-0");
  EXPECT_EQ(label_of(worker, prefix + "group-key"), sha1_text("default/l-0"));
  // 4 divides by 2: leader and worker 1, workers 2 and 3.
  EXPECT_EQ(label_of(worker, prefix + "subgroup-index"), "1");
  EXPECT_EQ(label_of(worker, prefix + "subgroup-key"), sha1_text("l-0/1"));
  EXPECT_EQ(worker.notes.wave, 1);
  EXPECT_EQ(worker.notes.wave_after, "l-0 is ready");
  EXPECT_EQ(worker.shape.affinity.size(), 1U);
  EXPECT_TRUE(worker.shape.anti_affinity.empty());
}

TEST(WorkloadKinds, MpiRuntimesOfTrainJobsCountNodesWithoutTheLauncher) {
  // numNodes 3 with the launcher as one of them: launcher and 2 nodes; the launcher waits for them.
  const Loaded loaded = loaded_from(
      "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainingRuntime, metadata: {name: mpi}, "
      "spec: {mlPolicy: {numNodes: 1, mpi: {runLauncherAsNode: true}}, template: {spec: "
      "{replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: [{name: "
      "node}]}}}}}, {name: launcher, dependsOn: [{name: node, status: Ready}], template: "
      "{metadata: "
      "{labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec: {template: {spec: "
      "{containers: [{name: node}]}}}}}]}}}}\n---\n"
      "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, metadata: {name: t}, spec: "
      "{runtimeRef: {name: mpi, kind: TrainingRuntime}, trainer: {numNodes: 3, resourcesPerNode: "
      "{requests: {cpu: 7}}}, runtimePatches: [{trainingRuntimeSpec: {template: {spec: "
      "{replicatedJobs: [{name: node, template: {spec: {template: {spec: {nodeSelector: {gpu: "
      "big}}}}}}]}}}}]}}");
  EXPECT_EQ(pod_names(loaded),
            (Names{"t-launcher-0-0-22222", "t-node-0-0-22222", "t-node-0-1-22222"}));
  const Pod node = pod_called(loaded, "t-node-0-1-22222");
  EXPECT_EQ(node.requests, (Amounts{{.resource = "cpu", .amount = 7000}}));
  EXPECT_EQ(node.shape.node_selector, (Labels{{.key = "gpu", .value = "big"}}));
  const Pod launcher = pod_called(loaded, "t-launcher-0-0-22222");
  EXPECT_EQ(launcher.notes.wave_after, "node is ready");
  EXPECT_TRUE(launcher.shape.node_selector.empty());
}

TEST(WorkloadKinds, PodsOfRayAndPyTorchCostWhatTheirOperatorsAdd) {
  const Loaded loaded = loaded_from(
      "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: r}, spec: "
      "{enableInTreeAutoscaling: true, headGroupSpec: {template: {spec: {containers: [{name: c, "
      "resources: {requests: {cpu: 1, memory: 1Gi}}}]}}}, workerGroupSpecs: [{groupName: Big, "
      "replicas: 1, template: {spec: {containers: [{name: c, resources: {requests: {cpu: "
      "100m}}}]}}}]}}\n---\n"
      "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: p}, spec: "
      "{pytorchReplicaSpecs: {Worker: {template: {spec: {containers: [{name: pytorch}]}}}, Master: "
      "{replicas: 1, template: {spec: {containers: [{name: pytorch}]}}}}}}");
  EXPECT_EQ(pod_names(loaded),
            (Names{"p-master-0", "p-worker-0", "r-big-worker-22222", "r-head-22222"}));
  constexpr std::int64_t mebi = std::int64_t{1} << 20U;
  EXPECT_EQ(pod_called(loaded, "r-head-22222").requests,
            (Amounts{{.resource = "cpu", .amount = 1500},
                     {.resource = "memory", .amount = (1024 + 512) * mebi}}));
  EXPECT_EQ(
      pod_called(loaded, "r-big-worker-22222").requests,
      (Amounts{{.resource = "cpu", .amount = 200}, {.resource = "memory", .amount = 256 * mebi}}));
  EXPECT_TRUE(pod_called(loaded, "p-master-0").requests.empty());
  const Pod worker = pod_called(loaded, "p-worker-0");
  EXPECT_EQ(worker.requests, (Amounts{{.resource = "cpu", .amount = 50},
                                      {.resource = "memory", .amount = 10 * mebi}}));
  EXPECT_EQ(label_of(worker, "training.kubeflow.org/replica-type"), "worker");
  EXPECT_EQ(owner_text(worker), "PyTorchJob p");
}

TEST(WorkloadKinds, ProblemsAreThoseOfTheTemplateAndReportedOnce) {
  EXPECT_EQ(problems_of(filled("{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: "
                               "{replicas: 9, selector: {matchLabels: {app: x}}, template: "
                               "{metadata: {labels: {app: x}}, spec: {priorityClassName: gone, "
                               "containers: [{name: c}]}}}}")),
            (Names{"Deployment default/d: spec.template.spec.priorityClassName \"gone\": no "
                   "PriorityClass of this name is in the input"}));
}

struct BadCase {
  std::string_view name;
  std::string_view text;
  std::string_view problem;
};

class BadWorkloads : public testing::TestWithParam<BadCase> {};

TEST_P(BadWorkloads, AreRefused) {
  EXPECT_EQ(problems_of(filled(std::string(GetParam().text))),
            (Names{std::string(GetParam().problem)}));
}

INSTANTIATE_TEST_SUITE_P(
    SpecSection7, BadWorkloads,
    testing::Values(
        BadCase{"TooMany",
                "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: "
                "2000000000, template: TEMPLATE}}",
                "Job default/j: spec.parallelism \"2000000000\": expected 0 to 50000"},
        BadCase{"Negative",
                "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {completions: -1, "
                "template: TEMPLATE}}",
                "Job default/j: spec.completions \"-1\": expected 0 to 2147483647"},
        BadCase{"NoTemplate",
                "{apiVersion: v1, kind: ReplicationController, metadata: {name: r}, spec: {}}",
                "ReplicationController default/r: spec.template \"\": expected the template of its "
                "pods"},
        BadCase{"NoSpec", "{apiVersion: batch/v1, kind: Job, metadata: {name: j}}",
                "Job default/j: spec \"\": expected a mapping"},
        BadCase{"WrongType", "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: 5}",
                "Job default/j: spec \"5\": expected a mapping, found an integer"},
        BadCase{
            "NoJson",
            R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"a":tru}})",
            "Job default/j: spec.a \"\": not valid JSON: The JSON element does not have the "
            "requested type."},
        BadCase{"SelectorOfOthers",
                "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r}, spec: {selector: "
                "{matchLabels: {app: z}}, template: {metadata: {labels: {app: x}}, spec: "
                "{containers: [{name: c}]}}}}",
                "ReplicaSet default/r: spec.selector \"\": it does not select the pods of the "
                "template"},
        BadCase{"GroupsTimesSize",
                "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: "
                "l}, spec: {replicas: 50000, leaderWorkerTemplate: {size: 50000, workerTemplate: "
                "{spec: {containers: [{name: c}]}}}}}",
                "LeaderWorkerSet default/l: spec.leaderWorkerTemplate.size \"50000\": 50000 groups "
                "of it are "
                "more than 50000 pods"},
        BadCase{"TwoWantOneName",
                "{apiVersion: v1, kind: List, items: [{apiVersion: apps/v1, kind: StatefulSet, "
                "metadata: {name: a-master}, spec: {selector: {matchLabels: {app: x}}, template: "
                "{metadata: {labels: {app: x}}, spec: {containers: [{name: c}]}}}}, {apiVersion: "
                "batch/v1, kind: Job, metadata: {name: a-master}, spec: {template: {spec: "
                "{containers: [{name: c}]}}}}]}",
                "Job default/a-master: spec.template.spec.restartPolicy \"\": expected Never or "
                "OnFailure"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(WorkloadKinds, ASnapshotKeepsMadePodsAndTheirMarks) {
  const Loaded loaded = loaded_from(
      filled("{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {replicas: 2, "
             "selector: {matchLabels: {app: x}}, template: TEMPLATE}}",
             "Always"));
  const std::string text = dump(loaded.cluster, DumpFormat::json);
  const Loaded again = loaded_from(text);
  EXPECT_EQ(pod_called(again, "s-1"), pod_called(loaded, "s-1"));
  EXPECT_EQ(pod_called(again, "s-1").notes.made_from, "StatefulSet default/s");
  EXPECT_EQ(pod_called(again, "s-1").notes.wave, 1);
}

TEST(WorkloadKinds, ANameMayBeLeftToTheServer) {
  const Loaded loaded = loaded_from(
      filled("{apiVersion: batch/v1, kind: Job, metadata: {generateName: j-}, spec: {template: "
             "TEMPLATE}}"));
  EXPECT_EQ(pod_names(loaded), (Names{"j-22222-22222"}));
}

TEST(WorkloadKinds, TheOrderOfTheInputMeansNothing) {
  const std::string job =
      filled("{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: TEMPLATE}}");
  const std::string set =
      filled("{apiVersion: v1, kind: PodTemplate, metadata: {name: a}, template: TEMPLATE}");
  const std::string first = dump(loaded_from(job + "\n---\n" + set).cluster, DumpFormat::json);
  const std::string second = dump(loaded_from(set + "\n---\n" + job).cluster, DumpFormat::json);
  EXPECT_EQ(first, second);
}

TEST(WorkloadKinds, PodsOfSuspendedOnesAreMadeIfAskedFor) {
  EXPECT_EQ(workload_kind_called("jObSeT"), "JobSet");
  EXPECT_EQ(workload_kind_called("pod"), "");
  EXPECT_EQ(workload_kind_called("LimitRange"), "");
  EXPECT_TRUE(is_unsupported_workload("kubeflow.org/v1", "TFJob"));
  EXPECT_TRUE(is_unsupported_workload("batch.volcano.sh/v1alpha1", "Job"));
  EXPECT_FALSE(is_unsupported_workload("batch/v1", "Job"));
}

}  // namespace
}  // namespace makeway
