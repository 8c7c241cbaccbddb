#!/usr/bin/env bash
# Sends large documents of many kinds through plan, check and snapshot, and measures memory:
# tools/large-documents.sh [MEGABYTES] [KIND...]. Fails when a run takes more than 20 times the
# input plus 100 MB, or ends by a signal. Not part of make test: it takes minutes and gigabytes.
set -euo pipefail
cd "$(dirname "$0")/.."

megabytes=${1:-10}
shift || true
kinds=("$@")
if [[ ${#kinds[@]} -eq 0 ]]; then
  kinds=(pods-bound pods-pending pods-wrong labels containers nodes budgets groups queues
         sessions jobs deployments scalar nested)
fi
tools/build.sh release makeway > /dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# One object of the kind a line, until the size is reached.
write_document() {
  awk -v kind="$1" -v size=$((megabytes << 20)) '
    function times(text, count,  all) {
      if (count < 1) return ""
      all = times(text, int(count / 2))
      return all all (int(count) % 2 ? text : "")
    }
    function pod(i, node, cpu, rest) {
      return "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p" i \
        "\",\"namespace\":\"s" i % 100 "\",\"labels\":{\"app\":\"a" i % 1000 "\"" rest \
        "}},\"spec\":{" \
        (node == "" ? "" : "\"nodeName\":\"n" node "\",") "\"priority\":" i % 10 \
        ",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"" cpu "\"}}}]}}"
    }
    function named(api, of, i, spec) {
      return "{\"apiVersion\":\"" api "\",\"kind\":\"" of "\",\"metadata\":{\"name\":\"o" i \
        "\",\"namespace\":\"s" i % 100 "\"},\"spec\":{" spec "}}"
    }
    function node(i) {
      return "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n" i \
        "\"},\"status\":{\"allocatable\":{\"cpu\":\"64\",\"pods\":\"500\"}}}"
    }
    function object(i,  j, more) {
      if (kind == "pods-bound") return pod(i, i % 1000, "100m", "")
      if (kind == "pods-pending") return pod(i, "", "100m", "")
      if (kind == "pods-wrong") return pod(i, i % 1000, "2 cores", "")
      if (kind == "labels") {
        more = ""
        for (j = 0; j < 50; j++) more = more ",\"key-" j "\":\"value-" i "-" j "\""
        return pod(i, i % 1000, "100m", more)
      }
      if (kind == "containers") {
        return named("v1", "Pod", i, "\"nodeName\":\"n1\",\"containers\":[" \
          times("{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1m\"}}},", 99) \
          "{\"name\":\"c\"}]")
      }
      if (kind == "nodes") return node(1000 + i)
      if (kind == "budgets") {
        return named("policy/v1", "PodDisruptionBudget", i,
          "\"minAvailable\":1,\"selector\":{\"matchLabels\":{\"app\":\"a" i % 1000 "\"}}")
      }
      if (kind == "groups") {
        return named("scheduling.k8s.io/v1beta1", "PodGroup", i,
          "\"priority\":0,\"schedulingPolicy\":{\"gang\":{\"minCount\":2}}")
      }
      if (kind == "queues") {
        return "{\"apiVersion\":\"makeway.dev/v1\",\"kind\":\"Queue\"," \
          "\"metadata\":{\"name\":\"q" i "\"},\"spec\":{\"weight\":1}}"
      }
      if (kind == "sessions") {
        return named("makeway.dev/v1", "Session", i, "\"resourceGroup\":\"lab\",\"priority\":1," \
          "\"kernels\":[{\"name\":\"main\",\"resources\":{\"cpu\":\"1\"}}]")
      }
      if (kind == "jobs") {
        return named("batch/v1", "Job", i, "\"suspend\":true,\"template\":{\"spec\":{" \
          "\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\"}]}}")
      }
      return named("apps/v1", "Deployment", i, "\"replicas\":0,\"selector\":{\"matchLabels\":{" \
        "\"app\":\"web\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"web\"}},\"spec\":{" \
        "\"containers\":[{\"name\":\"c\"}]}}")
    }
    BEGIN {
      if (kind == "scalar") { print "kind: " times("x", size); exit }
      if (kind == "nested") { print times("[", size / 2) times("]", size / 2); exit }
      printf "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":["
      for (i = 0; i < 1000; i++) printf "%s%s\n", (i ? "," : ""), node(i)
      print ",{\"apiVersion\":\"makeway.dev/v1\",\"kind\":\"ResourceGroup\"," \
        "\"metadata\":{\"name\":\"lab\"},\"spec\":{\"nodes\":[\"n999\"]}}"
      for (i = 0; written < size; i++) {
        text = object(i)
        written += length(text) + 2
        print "," text
      }
      print "]}"
    }' > "$folder/$1.json"
}

failed=0
printf '%-14s %-28s %8s %9s %9s %8s\n' KIND COMMAND INPUT MEMORY LIMIT STATUS
for kind in "${kinds[@]}"; do
  write_document "$kind"
  input=$(($(stat -c %s "$folder/$kind.json") >> 10))
  limit=$((20 * input + (100 << 10)))
  for command in "plan --summary --keep-going" "plan -o json --keep-going" "check" "snapshot"; do
    status=0
    # shellcheck disable=SC2086
    /usr/bin/time -f %M -o "$folder/memory" timeout 600 build/makeway $command \
      -f "$folder/$kind.json" > /dev/null 2> "$folder/error" || status=$?
    memory=$(tail -n 1 "$folder/memory")
    verdict=$status
    if ((memory > limit || status > 100)); then
      verdict="$status !"
      failed=1
    fi
    printf '%-14s %-28s %5d MB %6d MB %6d MB %8s\n' "$kind" "$command" $((input >> 10)) \
      $((memory >> 10)) $((limit >> 10)) "$verdict"
  done
  rm -f "$folder/$kind.json"
done
exit $failed
