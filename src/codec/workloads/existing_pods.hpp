// The pods of the input, by controller: what a controller finds when it counts.
//
// Home only: pods of other planes are not made here. Finished pods are not in the cluster; what
// they have achieved is in the status of their Job.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/cluster.hpp"

namespace makeway {

class ExistingPods {
 public:
  explicit ExistingPods(const Cluster& cluster);

  /// The pods of this controller. A uid that is known on both sides must agree.
  std::vector<PodIndex> of(std::string_view namespace_name, const OwnerReference& controller) const;
  /// The same for one pod.
  bool is_controlled(PodIndex pod, const OwnerReference& controller) const;
  /// The names of controllers of a kind that begin with `prefix`.
  std::vector<std::string> controllers(std::string_view namespace_name, std::string_view kind,
                                       std::string_view prefix) const;
  /// Pods without a controller.
  std::span<const PodIndex> orphans(std::string_view namespace_name) const;

  bool has(std::string_view namespace_name, std::string_view name) const;
  /// Not being deleted.
  bool is_active(PodIndex pod) const;
  bool is_pending(PodIndex pod) const;
  std::optional<std::string_view> label(PodIndex pod, std::string_view key) const;
  const Cluster& cluster() const { return *cluster_; }

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  ///< Namespace, kind, name.

  const Cluster* cluster_;
  std::map<Key, std::vector<PodIndex>> by_controller_;
  std::map<std::string, std::vector<PodIndex>, std::less<>> orphans_;
};

}  // namespace makeway
