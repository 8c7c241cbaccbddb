// ReferenceStore: the store as one would write it without caring about time. The oracle of Cluster.
//
// It keeps the objects in maps and derives everything from nothing whenever it is asked, in the
// most obvious way. It shares no code with Cluster besides the object types and the names. Rules:
//  1. A pod is a unit of its own, or belongs to the group it names in its namespace. If nothing
//  says
//     what the rules of that group are, its bound pods are units of their own.
//  2. A group's policy is its PodGroup's, else that of the Workload's template that it follows.
//  3. A group's priority is said by its PodGroup, else the template, else the Workload, else by the
//     lowest global default, else it is 0; of a group without a policy, by the lowest of its
//     pending pods. A class that is not here counts as 0. The preemption priority is the scheduling
//     priority unless a class that is here is named for it.
//  4. On a node: preemption priority, group over pod, size (of units that go whole), older start
//     (none: last), plane, namespace, name.
//  5. Names are meant in the plane of the object that says them; the key of an object is its plane,
//     namespace and name.
//  6. Existing nodes share a class when taints, `unschedulable` and their values of all keys that
//     any pod ever selected nodes by are equal; the host name is never such a key.
//  7. Sessions claim an existing node that a ResourceGroup lists or selects; replicas one that
//     carries a plane label, or is of another plane.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "model/objects.hpp"
#include "support/cluster_view.hpp"

namespace makeway {

class ReferenceStore {
 public:
  /// Objects must be normalized.
  void apply(const Change& change);

  ClusterView view() const;

  /// What is here, as upserts.
  std::vector<Change> objects() const;

 private:
  struct Priority {
    std::int32_t scheduling = 0;
    std::int32_t preemption = 0;
    bool never_preempts = false;
  };

  void remember_keys(const Pod& pod);
  void remove(const Removal& removal);
  const PriorityClass* find_class(const std::string& plane, const std::string& name) const;
  const PriorityClass* default_class(const std::string& plane) const;
  Priority pod_priority(const Pod& pod) const;
  Priority lowest_priority(const std::string& plane, const std::vector<const Pod*>& members) const;
  Priority claimed_priority(const std::string& plane, const std::vector<const Pod*>& members,
                            const std::vector<PriorityClaim>& claims) const;
  const Workload* workload_of(const ObjectKey& group) const;
  const GroupTemplate* template_of(const ObjectKey& group) const;
  bool has_rules(const ObjectKey& group) const;
  bool is_member(const Pod& pod) const;
  std::string unit_key(const Pod& pod) const;
  UnitView pod_unit(const Pod& pod) const;
  UnitView group_unit(const ObjectKey& group, const std::vector<const Pod*>& members) const;
  std::map<std::string, UnitView> units() const;
  NodeView node(const ObjectKey& node, const std::map<std::string, UnitView>& units) const;
  std::vector<NodeView> nodes(const std::map<std::string, UnitView>& units) const;
  bool listed(const Node& node) const;
  bool same_class(const Node& a, const Node& b) const;

  template <class... Objects>
  static std::tuple<std::map<ObjectKey, Objects>...> maps_of(KindList<Objects...>);
  template <class Object>
  std::map<ObjectKey, Object>& all() {
    return std::get<std::map<ObjectKey, Object>>(objects_);
  }
  template <class Object>
  const std::map<ObjectKey, Object>& all() const {
    return std::get<std::map<ObjectKey, Object>>(objects_);
  }

  decltype(maps_of(ObjectKinds{})) objects_;
  std::set<std::string> selecting_keys_;  ///< Ever seen.
};

}  // namespace makeway
