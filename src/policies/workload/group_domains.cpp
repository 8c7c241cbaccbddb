#include "policies/workload/group_domains.hpp"

#include <algorithm>
#include <map>

namespace makeway {
namespace {

/// "rack=a", or nothing when the node lacks a label.
std::string domain_name(const Cluster& cluster, NodeIndex node,
                        const std::vector<std::string>& keys) {
  std::string name;
  for (const std::string& key : keys) {
    const std::optional<StringId> id = cluster.strings().find(key);
    const std::span<const LabelPair> labels = cluster.labels(cluster.nodes().labels[node]);
    const auto found = id ? std::ranges::find(labels, *id, &LabelPair::key) : labels.end();
    if (found == labels.end()) return {};
    if (!name.empty()) name += ',';
    name += key;
    name += '=';
    name += cluster.text(found->value);
  }
  return name;
}

}  // namespace

std::vector<GroupDomain> domains_of(Cycle& cycle, UnitIndex unit) {
  const Cluster& cluster = cycle.cluster;
  const Group& group = cluster.groups()[cluster.units()[unit].group];
  const std::span<const NodeIndex> nodes = cycle.survey.nodes();
  const bool reads = cycle.configuration.workload.group_domains == GroupDomains::topology;
  if (!reads || !group.object || group.object->policy.topology_keys.empty()) {
    return {{.name = {}, .nodes = {nodes.begin(), nodes.end()}}};
  }
  const std::vector<std::string>& keys = group.object->policy.topology_keys;
  std::map<std::string, GroupDomain> domains;
  for (std::uint32_t place = 0; place < nodes.size(); ++place) {
    const std::string name = domain_name(cluster, nodes[place], keys);
    if (name.empty()) continue;
    GroupDomain& domain = domains[name];
    domain.name = name;
    domain.nodes.push_back(nodes[place]);
  }
  for (const PodIndex pod : group.members) {
    const NodeIndex node = cluster.pods().node[pod];
    const bool stays = node.exists() && cluster.pods().deletion[pod] == no_time &&
                       cycle.after.node_of(pod).exists();
    if (!stays) continue;
    const std::string here = domain_name(cluster, node, keys);
    std::erase_if(domains, [&](const auto& domain) { return domain.first != here; });
  }
  std::vector<GroupDomain> result;
  result.reserve(domains.size());
  for (auto& [name, domain] : domains) result.push_back(std::move(domain));
  return result;
}

bool contains(Cycle& cycle, const GroupDomain& domain, NodeIndex node) {
  if (domain.nodes.size() == cycle.survey.nodes().size()) return true;
  const auto place = [&](NodeIndex other) { return cycle.survey.place_of(other); };
  return std::ranges::binary_search(domain.nodes, place(node), {}, place);
}

}  // namespace makeway
