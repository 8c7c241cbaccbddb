// MemberPlaces: where can the pending members of a group go, by trying everything.
//
// Feasibility is the judge's (NaiveFit, one NaiveWorld for each kind of member); no code of the
// search is used. Members of one kind differ in nothing that a place depends on, so which of them
// goes where is not tried twice.
//
// Places count when
//   - in some order each member fits when its turn comes, those before it being there;
//   - in the end each fits beside all the others, with and without the pods that hold room on its
//     node by a nomination: pending ones of other units, of at least the ask's priority, or pinned
//     to it.
// Exponential in the number of members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "judge/naive_fit.hpp"
#include "model/cluster.hpp"

namespace makeway {

struct MemberPlace {
  PodIndex pod;
  NodeIndex node;
};

class MemberPlaces {
 public:
  /// Pending pods of one unit. At first every pod is where the cluster says.
  MemberPlaces(const Cluster& cluster, const Configuration& configuration,
               const std::vector<PodIndex>& members);

  void remove(PodIndex pod);
  void put_back(PodIndex pod);

  /// Whether pods elsewhere can matter: some member looks at others, or a pod repels others. If
  /// not, the fewer pods there are the better, and members may come in any order.
  bool pods_elsewhere_matter() const { return elsewhere_matters_; }
  /// False: no member ever fits there, whatever leaves.
  bool of_use(NodeIndex node) const;
  /// Places for as many members as possible, and not more than `most`; none for fewer than `least`.
  std::vector<MemberPlace> best(const std::vector<NodeIndex>& nodes, std::size_t least,
                                std::size_t most);
  /// Whether each fits beside the others; all are placed for that and taken away again.
  bool stand(const std::vector<MemberPlace>& places);

 private:
  struct Kind {
    Kind(const Cluster& cluster, PodIndex pod) : world(cluster), fit(world, pod) {}

    NaiveWorld world;
    NaiveFit fit;
    std::vector<PodIndex> members;  ///< By name.
    std::size_t placed = 0;         ///< The first ones.
  };
  /// One member of the kind is on the node.
  struct Step {
    std::size_t kind = 0;
    std::size_t node = 0;  ///< Position in `nodes_`.
  };

  void place(PodIndex pod, NodeIndex node);
  bool stands(const MemberPlace& place);
  bool all_stand();
  void try_step(Step step);
  void grow(Step from);

  const Cluster& cluster_;
  std::vector<std::unique_ptr<Kind>> kinds_;    ///< They hold references to their own world.
  std::vector<std::vector<PodIndex>> holders_;  ///< By node.
  bool elsewhere_matters_ = false;
  // While `best` looks for places.
  std::vector<NodeIndex> nodes_;
  std::size_t least_ = 0;
  std::size_t most_ = 0;
  std::vector<MemberPlace> placed_;
  std::vector<MemberPlace> best_;
  std::vector<std::uint8_t> counts_;  ///< By kind and node.
  std::set<std::vector<std::uint8_t>> seen_;
};

}  // namespace makeway
