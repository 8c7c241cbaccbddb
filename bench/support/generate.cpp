#include "bench/support/generate.hpp"

#include <fmt/format.h>

#include <array>

namespace makeway::bench {
namespace {

constexpr std::array<std::string_view, 5> apps = {"checkout", "search", "ranking", "ingest",
                                                  "trainer"};

struct Facts {
  std::string_view app;
  std::string node;
  std::string uid;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mi = 0;
  std::int64_t gpu = 0;
  std::int64_t priority = 0;
  std::string started;
};

Facts facts_of(std::size_t index, std::size_t nodes, Prng& random) {
  const std::uint64_t id = random.next();
  return {
      .app = apps[index % apps.size()],
      .node = fmt::format("node-{:05}", index % nodes),
      .uid = fmt::format("{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}", index, id & 0xFFFFU,
                         (id >> 16U) & 0xFFFU, (id >> 28U) & 0xFFFU, id >> 16U),
      .cpu_milli = random.between(1, 16) * 250,
      .memory_mi = random.between(1, 64) * 256,
      .gpu = random.chance(20) ? random.between(1, 8) : 0,
      .priority = random.between(0, 9) * 100,
      .started = fmt::format("2026-01-{:02}T{:02}:{:02}:{:02}Z", random.between(1, 28),
                             random.between(0, 23), random.between(0, 59), random.between(0, 59))};
}

std::string pod_name(const Facts& facts, std::size_t index) {
  return fmt::format("{}-7d9f8c6b5d-{:06x}", facts.app, index);
}

constexpr std::string_view kubectl_pod = R"(        {{
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {{
                "annotations": {{
                    "checksum/config": "8f4e2d1c0b9a8f7e6d5c4b3a29181706f5e4d3c2b1a09f8e",
                    "prometheus.io/path": "/metrics",
                    "prometheus.io/port": "9090",
                    "prometheus.io/scrape": "true"
                }},
                "creationTimestamp": "{started}",
                "generateName": "{app}-7d9f8c6b5d-",
                "generation": 1,
                "labels": {{
                    "app.kubernetes.io/component": "server",
                    "app.kubernetes.io/name": "{app}",
                    "pod-template-hash": "7d9f8c6b5d",
                    "team": "platform"
                }},
                "name": "{name}",
                "namespace": "production",
                "ownerReferences": [
                    {{
                        "apiVersion": "apps/v1",
                        "blockOwnerDeletion": true,
                        "controller": true,
                        "kind": "ReplicaSet",
                        "name": "{app}-7d9f8c6b5d",
                        "uid": "3b6f0f5e-6a0e-4a53-9df1-5a1d2b1c7e11"
                    }}
                ],
                "resourceVersion": "184467",
                "uid": "{uid}"
            }},
            "spec": {{
                "containers": [
                    {{
                        "args": ["--listen=:8080", "--log-format=json",
                            "--config=/etc/{app}/config.yaml"],
                        "env": [
                            {{"name": "POD_NAME", "valueFrom": {{"fieldRef": {{"apiVersion":
                                "v1", "fieldPath": "metadata.name"}}}}}},
                            {{"name": "REGION", "value": "eu-central-1"}},
                            {{"name": "DATABASE_URL", "valueFrom": {{"secretKeyRef": {{"key":
                                "url", "name": "{app}-database"}}}}}}
                        ],
                        "image": "example.invalid/team/{app}:v2.31.4",
                        "imagePullPolicy": "IfNotPresent",
                        "livenessProbe": {{
                            "failureThreshold": 3,
                            "httpGet": {{"path": "/healthz", "port": 8080, "scheme": "HTTP"}},
                            "initialDelaySeconds": 10,
                            "periodSeconds": 10,
                            "successThreshold": 1,
                            "timeoutSeconds": 1
                        }},
                        "name": "server",
                        "ports": [
                            {{"containerPort": 8080, "name": "http", "protocol": "TCP"}},
                            {{"containerPort": 9090, "name": "metrics", "protocol": "TCP"}}
                        ],
                        "resources": {{
                            "limits": {{
                                "memory": "{memory}Mi"
                            }},
                            "requests": {{
                                "cpu": "{cpu}m",
                                "memory": "{memory}Mi"{gpu}
                            }}
                        }},
                        "terminationMessagePath": "/dev/termination-log",
                        "terminationMessagePolicy": "File",
                        "volumeMounts": [
                            {{"mountPath": "/etc/{app}", "name": "config", "readOnly": true}},
                            {{"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                                "name": "kube-api-access-x7k2p", "readOnly": true}}
                        ]
                    }}
                ],
                "dnsPolicy": "ClusterFirst",
                "enableServiceLinks": true,
                "nodeName": "{node}",
                "preemptionPolicy": "PreemptLowerPriority",
                "priority": {priority},
                "priorityClassName": "class-{priority}",
                "restartPolicy": "Always",
                "schedulerName": "default-scheduler",
                "securityContext": {{}},
                "serviceAccount": "{app}",
                "serviceAccountName": "{app}",
                "terminationGracePeriodSeconds": 30,
                "tolerations": [
                    {{
                        "effect": "NoExecute",
                        "key": "node.kubernetes.io/not-ready",
                        "operator": "Exists",
                        "tolerationSeconds": 300
                    }},
                    {{
                        "effect": "NoExecute",
                        "key": "node.kubernetes.io/unreachable",
                        "operator": "Exists",
                        "tolerationSeconds": 300
                    }}
                ],
                "volumes": [
                    {{"configMap": {{"defaultMode": 420, "name": "{app}-config"}}, "name":
                        "config"}},
                    {{"name": "kube-api-access-x7k2p", "projected": {{"defaultMode": 420,
                        "sources": [{{"serviceAccountToken": {{"expirationSeconds": 3607,
                            "path": "token"}}}}]}}}}
                ]
            }},
            "status": {{
                "conditions": [
                    {{"lastProbeTime": null, "lastTransitionTime": "{started}", "status":
                        "True", "type": "PodScheduled"}},
                    {{"lastProbeTime": null, "lastTransitionTime": "{started}", "status":
                        "True", "type": "Initialized"}},
                    {{"lastProbeTime": null, "lastTransitionTime": "{started}", "status":
                        "True", "type": "ContainersReady"}},
                    {{"lastProbeTime": null, "lastTransitionTime": "{started}", "status":
                        "True", "type": "Ready"}}
                ],
                "containerStatuses": [
                    {{
                        "containerID":
                            "containerd://5f1d8a0c6e9b4d7f2a3c1e8b0d6f4a29c7e5b3d1f0a8c6e4",
                        "image": "example.invalid/team/{app}:v2.31.4",
                        "imageID":
                            "example.invalid/team/{app}@sha256:0c1d2e3f405162738495a6b7c8d9eafb",
                        "lastState": {{}},
                        "name": "server",
                        "ready": true,
                        "restartCount": 0,
                        "started": true,
                        "state": {{"running": {{"startedAt": "{started}"}}}}
                    }}
                ],
                "hostIP": "10.12.3.4",
                "phase": "Running",
                "podIP": "10.128.7.9",
                "podIPs": [{{"ip": "10.128.7.9"}}],
                "qosClass": "Burstable",
                "startTime": "{started}"
            }}
        }})";

std::string kubectl_item(std::size_t index, const Facts& facts) {
  std::string gpu;
  if (facts.gpu > 0) {
    gpu = fmt::format(",\n                                \"nvidia.com/gpu\": \"{}\"", facts.gpu);
  }
  return fmt::format(fmt::runtime(kubectl_pod), fmt::arg("app", facts.app),
                     fmt::arg("name", pod_name(facts, index)), fmt::arg("uid", facts.uid),
                     fmt::arg("node", facts.node), fmt::arg("cpu", facts.cpu_milli),
                     fmt::arg("memory", facts.memory_mi), fmt::arg("gpu", gpu),
                     fmt::arg("priority", facts.priority), fmt::arg("started", facts.started));
}

}  // namespace

Node sample_node(std::size_t index) {
  return {.name = fmt::format("node-{:05}", index),
          .uid = fmt::format("uid-node-{:05}", index),
          .labels = {{"kubernetes.io/hostname", fmt::format("node-{:05}", index)},
                     {"topology.kubernetes.io/zone", fmt::format("zone-{}", index % 3)}},
          .allocatable = {{"cpu", 192'000},
                          {"memory", std::int64_t{1} << 40U},
                          {"nvidia.com/gpu", 8},
                          {"pods", 250}}};
}

Pod sample_pod(std::size_t index, std::size_t nodes, Prng& random) {
  const Facts facts = facts_of(index, nodes, random);
  Pod pod{.namespace_name = "production",
          .name = pod_name(facts, index),
          .uid = facts.uid,
          .labels = {{"app", std::string(facts.app)}, {"team", "platform"}},
          .node = facts.node,
          .priority = static_cast<std::int32_t>(facts.priority),
          .requests = {{"cpu", facts.cpu_milli}, {"memory", facts.memory_mi << 20U}},
          .started = parse_time(facts.started).value_or(Time{}),
          .ready = true};
  if (facts.gpu > 0) pod.requests.push_back({"nvidia.com/gpu", facts.gpu});
  return pod;
}

std::string kubectl_pod_list(std::size_t pods, std::size_t nodes) {
  Prng random(1);
  std::string text = "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n";
  for (std::size_t index = 0; index < pods; ++index) {
    text += kubectl_item(index, facts_of(index, nodes, random));
    text += index + 1 < pods ? ",\n" : "\n";
  }
  text += "    ],\n    \"kind\": \"List\",\n    \"metadata\": {\"resourceVersion\": \"\"}\n}\n";
  return text;
}

std::string wire_pod(std::size_t index, std::size_t nodes, Prng& random) {
  const std::string item = kubectl_item(index, facts_of(index, nodes, random));
  std::string line;
  line.reserve(item.size());
  bool is_indent = true;
  for (const char each : item) {
    is_indent = each == '\n' || (is_indent && each == ' ');
    if (!is_indent) line += each;
  }
  return line;
}

std::string compact_pod_list(std::size_t pods, std::size_t nodes) {
  Prng random(1);
  std::string text = R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[)";
  for (std::size_t index = 0; index < pods; ++index) {
    const Facts facts = facts_of(index, nodes, random);
    if (index > 0) text += ',';
    fmt::format_to(
        std::back_inserter(text),
        R"({{"metadata":{{"name":"{}","namespace":"production","uid":"{}",)"
        R"("creationTimestamp":"{}",)"
        R"("labels":{{"app":"{}","pod-template-hash":"7d9f8c6b5d","team":"platform"}}}},)"
        R"("spec":{{"containers":[{{"name":"main","image":"example.invalid/{}","resources":)"
        R"({{"requests":{{"cpu":"{}m","memory":"{}Mi"{}}}}}}}],"nodeName":"{}","priority":{},)"
        R"("schedulerName":"default-scheduler"}},)"
        R"("status":{{"phase":"Running","startTime":"{}"}}}})",
        pod_name(facts, index), facts.uid, facts.started, facts.app, facts.app, facts.cpu_milli,
        facts.memory_mi,
        facts.gpu == 0 ? std::string() : fmt::format(R"(,"nvidia.com/gpu":"{}")", facts.gpu),
        facts.node, facts.priority, facts.started);
  }
  text += "]}";
  return text;
}

}  // namespace makeway::bench
