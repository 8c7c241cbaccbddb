// SimNodes: the nodes of the simulated world, whose kubelets count their room themselves.
//
// Resources are columns here, so that amounts are added up without looking for names. Planes may
// have nodes of the same name: nodes are named by `place_name` here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/load.hpp"

namespace makeway {

using ResourceVector = std::vector<std::int64_t>;  ///< By column.

struct SimNode {
  Node object;
  bool there = true;
  ResourceVector room;
  ResourceVector used;
  std::map<std::int32_t, ResourceVector> by_priority;
  Time lost_at;
  Duration away;  ///< All the time that it was lost before.
};

/// Which node of which plane: "n1" at home, else "east:n1".
std::string place_name(const std::string& plane, const std::string& node);

/// Whether so much fits beside what is used.
bool fits(const ResourceVector& wanted, const ResourceVector& used, const ResourceVector& room);

class SimNodes {
 public:
  explicit SimNodes(const SimLoad& load);

  std::size_t column(const std::string& resource);
  ResourceVector row(const Amounts& amounts);
  /// And one of the pods that a node takes.
  ResourceVector pod_row(const Amounts& amounts);
  const std::vector<std::string>& resources() const { return resources_; }

  /// Null: there is none, or it is lost.
  const SimNode* find(const std::string& name) const;
  bool has_room(const std::string& node, const ResourceVector& wanted) const;
  /// Nothing happens to a node that is not there.
  void occupy(const std::string& name, std::int32_t priority, const ResourceVector& amounts,
              std::int64_t sign);
  /// Whether a pod of the home plane may be placed there: selectors, taints, not cordoned.
  static bool may_run_on(const PodShape& shape, const SimNode& node);

  /// It is new, or was changed.
  void write(const Node& node);
  /// For ever; the pods that ran there are gone already.
  void remove(const std::string& name);
  void lose(const std::string& name, Time now);
  /// Empty, as it comes back.
  const Node& bring_back(const std::string& name, Time now);

  const std::vector<std::string>& names() const { return names_; }  ///< Sorted.
  /// Lost ones, too.
  const SimNode& at(const std::string& name) const { return nodes_.at(name); }

 private:
  std::unordered_map<std::string, SimNode> nodes_;
  std::vector<std::string> names_;
  std::map<std::string, std::size_t, std::less<>> columns_;
  std::vector<std::string> resources_;
};

}  // namespace makeway
