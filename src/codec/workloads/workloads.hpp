// Workloads: objects whose controllers make pods, and the pods that they would make (SPEC 7).
//
// All manifests of the input are collected first. Then every one that is not controlled by another
// one of the input is expanded: pods that are there are counted, pods that are missing are made.
// The order of the input means nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem.hpp"
#include "codec/workloads/resource_quotas.hpp"
#include "model/cluster.hpp"

namespace makeway {

/// What became of one workload.
struct WorkloadPods {
  std::string kind;
  std::string namespace_name;
  std::string name;
  std::uint64_t made = 0;
  std::uint64_t present = 0;
  std::string held;               ///< Why it asks for nothing; empty: it is not held.
  std::vector<PodIndex> pending;  ///< Of both.
  std::vector<PodIndex> running;  ///< On a node, and not being deleted.
  std::vector<Labels> templates;  ///< The labels of its pods, whether or not there are any.

  /// "Job shop/nightly"
  std::string object() const;
};

/// A workload whose pods are made even when it is suspended. Without a kind: any of that name.
struct AskedWorkload {
  std::string kind;
  std::string namespace_name;
  std::string name;

  friend bool operator==(const AskedWorkload&, const AskedWorkload&) = default;
};

/// Where the template of a made pod stands.
struct TemplatePlace {
  std::string_view object;
  std::string_view field;
  const Origin& origin;
};
/// Takes an object that was made. False: there is one of that name.
using MadePodSink = std::function<bool(const Change& object, const TemplatePlace& place)>;

/// What losing a pod that runs costs, by pod.
using LossShares = std::map<PodIndex, std::vector<LossShare>>;

/// The Deployments that control the ReplicaSets of home, by namespace and name of these.
using ReplicaSetOwners = std::map<std::pair<std::string, std::string>, std::string>;

struct Expanded {
  std::vector<WorkloadPods> workloads;  ///< By kind, namespace and name.
  ReplicaSetOwners replica_sets;
  Problems problems;
  LossShares losses;
};

class Workloads {
 public:
  Workloads();
  Workloads(const Workloads&) = delete;
  Workloads& operator=(const Workloads&) = delete;
  ~Workloads();

  /// Takes an object of a kind that `is_workload_kind` knows, as JSON.
  Problems add(std::string_view api_group, std::string_view kind, std::string_view json,
               const Origin& origin, std::string_view plane);
  /// `cluster` is what the rest of the input says; made pods may be added to it meanwhile.
  Expanded expand(const Cluster& cluster, std::span<const AskedWorkload> asked,
                  const MadePodSink& sink) const;
  /// Of home; those that do not count are left out, and `problems` says why.
  std::vector<ResourceQuota> quotas(Problems& problems) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Also what only helps to make pods or limits them: RuntimeClass, LimitRange, TrainingRuntime,
/// ResourceQuota.
bool is_workload_kind(std::string_view api_group, std::string_view kind);
/// "Job" for "job"; empty when no kind that makes pods is called that.
std::string_view workload_kind_called(std::string_view word);
/// Kinds that make pods of templates and are not supported yet: "kubeflow.org/v1 TFJob".
bool is_unsupported_workload(std::string_view api_version, std::string_view kind);

}  // namespace makeway
