// The name of an ask as users write it: [KIND/]NAMESPACE/NAME, or a bare NAME.
//
// KIND is pod or podgroup in any case, and counts as one only when a namespace and a name follow:
// "pod/web" is the pod web of the namespace pod. Without a kind, a pod of that name comes before a
// group. A group that has no object of its own is called workload/template[/replica], so a name may
// have slashes itself; such a name needs its kind, since three parts begin with one.
//
// A kind may also be one whose controller makes pods (Job, Deployment, ...): the ask is then for
// its pending pods, those that were made from its template included.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "codec/workloads/workloads.hpp"
#include "model/cluster.hpp"
#include "model/plan.hpp"
#include "model/request.hpp"

namespace makeway::cli {

struct WrittenAsk {
  std::optional<AskKind> kind;  ///< None: not said.
  std::string namespace_name;
  std::string name;
  std::string workload;  ///< "Job": all pods of that object; empty: not said.

  friend bool operator==(const WrittenAsk&, const WrittenAsk&) = default;
};

/// The error says what was expected. A `kind` that is said elsewhere need not be in the text.
Result<WrittenAsk> parse_ask(std::string_view text, std::optional<AskKind> kind = std::nullopt);

/// What a question is about; it need not ask for anything.
struct WrittenObject {
  WrittenAsk written;
  std::string plane;  ///< Empty: not said.
};

/// Also as plans call what is in another plane: "shop/web-1 of plane east".
Result<WrittenObject> parse_object(std::string_view text);

/// Whether a word in front of a name says what it is: "podgroup", "job".
bool is_ask_kind(std::string_view word);

/// Workloads that are planned even if they are suspended, because they are named.
std::vector<AskedWorkload> asked_workloads(std::span<const WrittenAsk> asks);

/// The asks of all that is written; those of a workload are its pods or their groups. A problem:
/// a workload has no pending pod.
Result<std::vector<AskName>> resolve_asks(std::span<const WrittenAsk> written,
                                          const Cluster& cluster,
                                          std::span<const WorkloadPods> workloads);

/// Fills in the kind. The unit need not be there.
AskName resolve_ask(const WrittenAsk& written, const Cluster& cluster);

/// Whether the cluster has such a unit, pending or not.
bool is_there(const AskName& ask, const Cluster& cluster);

/// "did you mean Pod shop/web-1?": the same name elsewhere, or the most similar one, first in its
/// own namespace; else up to three that are pending, nearest first; never nothing.
std::string near_misses(const AskName& ask, const Cluster& cluster, Time now);

// Party: the workload for which a pod runs or asks. What summaries count by, and equal replicas
// share.
//
// The first that there is: the group or session that it leaves or asks with, its controller (a
// ReplicaSet that belongs to a Deployment stands for that), any other owner, the pod itself.

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
