#!/usr/bin/env bash
# Prints a made-up dump of a busy cluster, the same each time: 5,000 nodes, 23,000 running and 500
# pending pods of several teams. For trying `makeway plan` as an on-call engineer would.
#
#   tools/night-dump.sh > night.yaml && build/makeway plan -f night.yaml
set -euo pipefail

awk '
function class(name, value) {
  print "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass"
  printf "metadata: {name: %s}\nvalue: %d\n", name, value
}

function budget(space, app, unavailable) {
  print "---\napiVersion: policy/v1\nkind: PodDisruptionBudget"
  printf "metadata: {name: %s, namespace: %s}\n", app, space
  printf "spec: {maxUnavailable: %d, selector: {matchLabels: {app: %s}}}\n", unavailable, app
}

function node(name, cpu, gpu) {
  printf "---\napiVersion: v1\nkind: Node\nmetadata: {name: %s}\n", name
  if (gpu) print "spec: {taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}"
  printf "status:\n  allocatable: {cpu: %d, memory: %dGi, pods: 110", cpu, cpu * 4
  print gpu ? sprintf(", nvidia.com/gpu: %d}", gpu) : "}"
}

# The pods of a Deployment carry the hash of its ReplicaSet.
function metadata(space, app, kind, name,  of_deployment) {
  of_deployment = kind == "ReplicaSet"
  printf "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n  namespace: %s\n", name, space
  printf "  labels: {app: %s%s}\n", app, of_deployment ? ", pod-template-hash: 5c9f" : ""
  printf "  ownerReferences:\n  - {apiVersion: apps/v1, kind: %s, controller: true, ", kind
  printf "name: %s, uid: %s-%s}\n", of_deployment ? app "-5c9f" : app, space, app
}

function spec(priority, cpu, gpu) {
  printf "spec:\n  priority: %d\n", priority
  if (gpu) print "  tolerations: [{key: nvidia.com/gpu, operator: Exists}]"
  printf "  containers:\n  - name: main\n    resources: {requests: {cpu: %d, ", cpu
  printf "memory: %dGi%s}}\n", cpu * 2, gpu ? sprintf(", nvidia.com/gpu: %d", gpu) : ""
}

# A number below n (Park and Miller), the same on every machine.
function draw(n) { state = (state * 16807) % 2147483647; return state % n }

function running(space, app, kind, priority, cpu, gpu, node_name, leaving) {
  metadata(space, app, kind, app "-" counts[app]++)
  if (leaving) print "  deletionTimestamp: 2026-11-16T03:00:20Z\n  deletionGracePeriodSeconds: 30"
  spec(priority, cpu, gpu)
  printf "  nodeName: %s\nstatus:\n  phase: Running\n", node_name
  printf "  startTime: 2026-11-%02dT%02d:00:00Z\n", 1 + draw(15), draw(24)
}

function pending(count, space, app, kind, priority, cpu, gpu,  at) {
  for (at = 0; at < count; at++) {
    metadata(space, app, kind, app "-new-" at)
    printf "  creationTimestamp: 2026-11-16T02:%02d:00Z\n", at % 60
    spec(priority, cpu, gpu)
  }
}

# 32 cores: services, and batch pods between them.
function cpu_node(i,  name) {
  name = sprintf("cpu-%04d", i)
  node(name, 32, 0)
  running("search", "index", "StatefulSet", 500, 6, 0, name, 0)
  running("shop", "checkout", "ReplicaSet", 1000, 6, 0, name, 0)
  running("shop", "cart", "ReplicaSet", 1000, 8, 0, name, 0)
  running("ads", "bidder", "ReplicaSet", 500, 4, 0, name, 0)
  if (i % 100 == 7) return
  running("data", "etl", "Job", 100, draw(3) ? 6 : 7, 0, name, i % 400 == 3)
}

# 64 cores and 8 GPUs: inference, training and notebooks.
function gpu_node(i,  name) {
  name = sprintf("gpu-%04d", i)
  node(name, 64, 8)
  running("serving", "chat", "ReplicaSet", 1000, 24, 4, name, 0)
  running("research", "train-" int(i / 50), "Job", 100, 24, 3, name, 0)
  running("research", "notebook", "StatefulSet", 500, 12, 1, name, 0)
}

BEGIN {
  state = 20261116
  class("production", 1000); class("standard", 500); class("batch", 100)
  budget("shop", "checkout", 30); budget("search", "index", 0)
  for (i = 0; i < 4000; i++) cpu_node(i)
  for (i = 0; i < 1000; i++) gpu_node(i)
  pending(120, "shop", "checkout", "ReplicaSet", 1000, 6, 0)
  pending(40, "search", "rank", "ReplicaSet", 500, 2, 0)
  pending(60, "serving", "chat", "ReplicaSet", 1000, 8, 2)
  pending(180, "research", "sweep", "Job", 100, 4, 1)
  pending(48, "research", "pretrain", "Job", 500, 48, 8)
  pending(12, "ads", "warehouse", "StatefulSet", 500, 48, 0)
  pending(40, "data", "report", "Job", 100, 1, 0)
}' < /dev/null
