// Party: the workload for which a pod runs or asks. What summaries count by, and equal replicas
// share.
//
// The first that there is: the group or session that it leaves or asks with, its controller (a
// ReplicaSet that belongs to a Deployment stands for that), any other owner, the pod itself.
#pragma once

#include <span>
#include <string>

#include "codec/workloads/workloads.hpp"
#include "model/cluster.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

struct Party {
  std::string kind;  ///< "Job"
  std::string namespace_name;
  std::string name;

  friend auto operator<=>(const Party&, const Party&) = default;
  /// The pod has no owner.
  bool is_pod() const { return kind == "Pod"; }
};

/// "Job research/sweep"
std::string party_text(const Party& party);

class Parties {
 public:
  /// Null: only what the plan itself says is known; of ReplicaSets only what pods say.
  explicit Parties(const Cluster* cluster, const ReplicaSetOwners* replica_sets = nullptr)
      : cluster_(cluster), replica_sets_(replica_sets) {}

  Party of(const PlanAsk& ask) const;
  Party of(const PlanVictim& victim) const;
  static Party of(const PlanReplicaVictim& victim);

 private:
  Party of_pod(const ObjectKeyView& key) const;

  const Cluster* cluster_;
  const ReplicaSetOwners* replica_sets_;
};

/// From this many on, asks of one party with the same outcome are shown together.
inline constexpr std::size_t replicas_grouped_min = 3;

/// "5 pods of Job research/sweep, Pod shop/web and 3 more": the first few, by owner.
std::string few_asks(std::span<const PlanAsk* const> asks, const Parties& parties);

}  // namespace makeway::cli
