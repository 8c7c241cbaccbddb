// The canonical dump: loading it and dumping again changes nothing (issue 3, point 5).
#include "codec/dump.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "codec/load.hpp"

namespace makeway::dump_test {
namespace {

Cluster loaded(std::string_view text) {
  LoadResult result = load_text(text, "test");
  for (const Problem& problem : result.problems) ADD_FAILURE() << to_text(problem);
  return result.loaded ? std::move(result.loaded->cluster) : Cluster{};
}

TEST(Dump, APodIsWrittenWithItsTotal) {
  const Cluster cluster = loaded(R"(
apiVersion: v1
kind: Pod
metadata: {name: p, uid: u1, labels: {b: "2", a: "1"}}
spec:
  nodeName: n1
  schedulerName: default-scheduler
  overhead: {cpu: 100m}
  containers:
  - {name: x, resources: {requests: {cpu: 1, memory: 1Ki}}}
  - {name: z, resources: {requests: {cpu: 400m}}}
)");
  EXPECT_EQ(dump(cluster, DumpFormat::yaml), R"(apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata:
    name: p
    namespace: default
    uid: u1
    labels:
      a: "1"
      b: "2"
  spec:
    nodeName: n1
    containers:
    - name: total
      resources:
        requests:
          cpu: 1500m
          memory: "1024"
)");
}

TEST(Dump, JsonAndYamlSayTheSame) {
  const Cluster cluster = loaded(
      "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {zone: \"no\"}}, spec: "
      "{taints: [{key: k, effect: NoSchedule}]}, status: {allocatable: {cpu: 3, pods: 10}}}");
  const std::string json = dump(cluster, DumpFormat::json);
  const std::string yaml = dump(cluster, DumpFormat::yaml);
  EXPECT_EQ(dump(loaded(yaml), DumpFormat::json), json);
  EXPECT_EQ(dump(loaded(json), DumpFormat::yaml), yaml);
}

}  // namespace
}  // namespace makeway::dump_test
