#include "model/cluster_objects.hpp"

namespace makeway {
namespace {

template <class... Objects>
std::vector<Change> objects_of_kinds(const Cluster& cluster, KindList<Objects...> /*kinds*/) {
  std::vector<Change> objects;
  (cluster.each<Objects>([&](const auto& object) { objects.emplace_back(object); }), ...);
  return objects;
}

}  // namespace

std::vector<Change> objects_of(const Cluster& cluster) {
  return objects_of_kinds(cluster, ObjectKinds{});
}

}  // namespace makeway
