#include "policies/workload/group/group_domains.hpp"

#include <algorithm>
#include <ranges>
#include <tuple>

namespace makeway {
namespace {

/// Nodes with equal values of the labels down to one level.
struct Part {
  std::uint32_t parent = 0;  ///< Of the next wider level.
  std::vector<NodeIndex> nodes;
  bool labelled = true;  ///< Its nodes have the label of this level: it is a domain.
  std::int64_t running = 0;
};
using Parts = std::vector<Part>;

/// A domain of the list, and what places it there.
struct Listed {
  GroupDomain domain;
  std::size_t level = 0;
  std::int64_t running = 0;
};

/// Each part by the values of one label. Sorts, so that many small parts cost no more than few.
Parts divided(const Parts& parts, const Topology& topology) {
  struct Entry {
    std::uint32_t value = 0;
    std::uint32_t order = 0;
    NodeIndex node;
  };
  Parts result;
  std::vector<Entry> entries;
  for (std::uint32_t parent = 0; parent < parts.size(); ++parent) {
    entries.clear();
    entries.reserve(parts[parent].nodes.size());
    for (const NodeIndex node : parts[parent].nodes) {
      entries.push_back({.value = topology.domain[node],
                         .order = static_cast<std::uint32_t>(entries.size()),
                         .node = node});
    }
    std::ranges::sort(entries, {},
                      [](const Entry& entry) { return std::pair(entry.value, entry.order); });
    for (std::size_t at = 0; at < entries.size(); ++at) {
      if (at == 0 || entries[at].value != entries[at - 1].value) {
        result.push_back(
            {.parent = parent, .nodes = {}, .labelled = entries[at].value != Topology::no_domain});
      }
      result.back().nodes.push_back(entries[at].node);
    }
  }
  return result;
}

class Dividing {
 public:
  Dividing(World& world, UnitIndex unit)
      : world_(world),
        cluster_(world.cluster()),
        group_(cluster_.groups()[cluster_.units()[unit].group]) {}

  std::vector<GroupDomain> run();

 private:
  void read_levels();
  std::vector<NodeIndex> running_nodes() const;
  bool stay_with(std::span<const NodeIndex> running);
  void count_running(std::span<const NodeIndex> running);
  std::vector<Listed> list();
  GroupDomain domain_of(std::size_t level, Part& part) const;
  std::string name_of(std::size_t level, NodeIndex node) const;

  World& world_;
  const Cluster& cluster_;
  const Group& group_;
  std::vector<std::string_view> keys_;  ///< Widest first, the required ones before the others.
  std::size_t required_ = 0;            ///< So many of them.
  std::vector<Parts> levels_;  ///< The required domains, then a level for each preferred key.
};

void Dividing::read_levels() {
  if (world_.configuration().workload.group_domains != GroupDomains::topology) return;
  if (const GroupPolicy* const policy = cluster_.policy_of(group_)) {
    keys_.assign(policy->topology_keys.begin(), policy->topology_keys.end());
  }
  required_ = keys_.size();
  if (!group_.object) return;
  for (const std::string& key : std::views::reverse(group_.object->preferred_topology)) {
    if (std::ranges::find(keys_, key) == keys_.end()) keys_.emplace_back(key);
  }
}

/// Where members run and stay, and where this cycle has placed some.
std::vector<NodeIndex> Dividing::running_nodes() const {
  std::vector<NodeIndex> nodes;
  for (const PodIndex pod : group_.members) {
    const NodeIndex node = world_.after().node_of(pod);
    if (node.exists() && !Departures::leaving(cluster_, pod)) nodes.push_back(node);
  }
  return nodes;
}

/// Leaves the required domain in which members run; false: they are in several, or in none.
bool Dividing::stay_with(std::span<const NodeIndex> running) {
  if (running.empty() || required_ == 0) return true;
  for (const std::string_view key : keys_ | std::views::take(required_)) {
    const Topology& topology = world_.survey().topology(key);
    const std::uint32_t here = topology.domain[running.front()];
    const auto is_here = [&](NodeIndex node) { return topology.domain[node] == here; };
    if (here == Topology::no_domain || !std::ranges::all_of(running, is_here)) return false;
    std::erase_if(levels_.front(), [&](const Part& part) { return !is_here(part.nodes.front()); });
  }
  return true;
}

void Dividing::count_running(std::span<const NodeIndex> running) {
  if (running.empty()) return;
  IndexedVector<NodeIndex, std::int64_t> members(cluster_.nodes().slots());
  for (const NodeIndex node : running) ++members[node];
  for (Parts& parts : levels_) {
    for (Part& part : parts) {
      for (const NodeIndex node : part.nodes) part.running += members[node];
    }
  }
}

std::string Dividing::name_of(std::size_t level, NodeIndex node) const {
  std::string name;
  const std::span<const LabelPair> labels = cluster_.labels(cluster_.nodes().labels[node]);
  for (const std::string_view key : keys_ | std::views::take(required_ + level)) {
    const std::optional<StringId> id = cluster_.strings().find(key);
    const auto found = id ? std::ranges::find(labels, *id, &LabelPair::key) : labels.end();
    if (found == labels.end()) continue;
    if (!name.empty()) name += ',';
    name += key;
    name += '=';
    name += cluster_.text(found->value);
  }
  return name;
}

GroupDomain Dividing::domain_of(std::size_t level, Part& part) const {
  GroupDomain domain;
  if (required_ + level > 0) {
    domain.name = name_of(level, part.nodes.front());
    domain.level = keys_[required_ + level - 1];
  }
  domain.nodes = std::move(part.nodes);
  domain.preferred = level > 0;
  return domain;
}

/// From the narrowest level up. A part whose nodes are already listed as one domain is not listed
/// again; that domain stands for it.
std::vector<Listed> Dividing::list() {
  constexpr std::size_t no_domain = SIZE_MAX;
  std::vector<Listed> listed;
  std::vector<std::size_t> stands_for;  // By part of the level: the place of such a domain.
  std::vector<std::size_t> sizes;       // Of the level's parts; domains take their nodes.
  std::vector<std::size_t> narrower;
  std::vector<std::size_t> narrower_sizes;
  for (std::size_t level = levels_.size(); level-- > 0;) {
    Parts& parts = levels_[level];
    stands_for.assign(parts.size(), no_domain);
    sizes.clear();
    for (const Part& part : parts) sizes.push_back(part.nodes.size());
    for (std::size_t child = 0; child < narrower.size(); ++child) {
      const std::uint32_t parent = levels_[level + 1][child].parent;
      if (narrower_sizes[child] == sizes[parent]) stands_for[parent] = narrower[child];
    }
    for (std::size_t place = 0; place < parts.size(); ++place) {
      if (stands_for[place] != no_domain || !parts[place].labelled) continue;
      stands_for[place] = listed.size();
      const std::int64_t running = parts[place].running;
      listed.push_back(
          {.domain = domain_of(level, parts[place]), .level = level, .running = running});
    }
    std::swap(narrower, stands_for);
    std::swap(narrower_sizes, sizes);
  }
  for (const std::size_t place : narrower) listed[place].domain.widest = true;
  return listed;
}

std::vector<GroupDomain> Dividing::run() {
  read_levels();
  const std::span<const NodeIndex> nodes = world_.survey().nodes();
  levels_.push_back({{.nodes = {nodes.begin(), nodes.end()}}});
  for (const std::string_view key : keys_ | std::views::take(required_)) {
    levels_.front() = divided(levels_.front(), world_.survey().topology(key));
    std::erase_if(levels_.front(), [](const Part& part) { return !part.labelled; });
  }
  const std::vector<NodeIndex> running = running_nodes();
  if (!stay_with(running)) return {};
  for (const std::string_view key : keys_ | std::views::drop(required_)) {
    levels_.push_back(divided(levels_.back(), world_.survey().topology(key)));
  }
  if (levels_.size() > 1) count_running(running);
  std::vector<Listed> listed = list();
  const auto order = [](const Listed& item) {
    const std::int64_t members = item.level == 0 ? 0 : item.running;
    return std::tuple(members == 0, -static_cast<std::int64_t>(item.level), -members,
                      std::string_view(item.domain.name));
  };
  std::ranges::sort(listed, {}, order);
  std::vector<GroupDomain> result;
  result.reserve(listed.size());
  for (Listed& item : listed) {
    item.domain.rank = static_cast<std::uint32_t>(result.size());
    result.push_back(std::move(item.domain));
  }
  return result;
}

}  // namespace

std::vector<GroupDomain> domains_of(World& world, UnitIndex unit) {
  return Dividing(world, unit).run();
}

bool contains(World& world, const GroupDomain& domain, NodeIndex node) {
  if (world.survey().position_of(node) == Survey::no_position) return false;
  if (domain.nodes.size() == world.survey().nodes().size()) return true;
  const auto place = [&](NodeIndex other) { return world.survey().position_of(other); };
  return std::ranges::binary_search(domain.nodes, place(node), {}, place);
}

bool contains(World& world, const GroupDomain& domain, std::span<const PodOnNode> places) {
  return std::ranges::all_of(
      places, [&](const PodOnNode& place) { return contains(world, domain, place.node); });
}

}  // namespace makeway
