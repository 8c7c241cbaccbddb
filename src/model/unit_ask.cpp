#include "model/unit_ask.hpp"

namespace makeway {

AskName ask_name_of(const Cluster& cluster, UnitIndex index) {
  const Unit& unit = cluster.units()[index];
  if (unit.kind == UnitKind::pod) {
    return {.kind = AskKind::pod,
            .namespace_name = std::string(cluster.text(cluster.pods().namespace_name[unit.pod])),
            .name = std::string(cluster.pods().name[unit.pod.value])};
  }
  const Group& group = cluster.groups()[unit.group];
  return {.kind = AskKind::pod_group,
          .namespace_name = std::string(cluster.text(group.namespace_name)),
          .name = std::string(cluster.text(group.name))};
}

}  // namespace makeway
