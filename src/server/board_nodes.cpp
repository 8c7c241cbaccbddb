// The nodes of a board: how much of them is held, by bands of priorities.
#include <algorithm>
#include <iterator>

#include "base/checked_math.hpp"
#include "control/shown_kernels.hpp"
#include "model/names.hpp"
#include "model/planes.hpp"
#include "server/board.hpp"

namespace makeway::server {
namespace {

constexpr std::size_t bands_max = 6;
constexpr std::size_t resources_max = 4;
/// With more priorities than this, bands are made of those that came first.
constexpr std::size_t priorities_max = 4'096;
constexpr std::size_t fixed_numbers = 3;

struct Layout {
  std::vector<ResourceIndex> columns;  ///< Which are shown.
  std::vector<std::size_t> place;      ///< By resource: which of `columns`; none: past the end.
  std::vector<std::int32_t> bands;

  std::size_t width() const { return 2 + bands.size(); }
  std::size_t numbers() const { return fixed_numbers + columns.size() * width(); }
  std::size_t band_of(std::int32_t priority) const {
    const auto above = std::ranges::upper_bound(bands, priority);
    return above == bands.begin()
               ? 0
               : static_cast<std::size_t>(std::distance(bands.begin(), above)) - 1;
  }
};

/// Cpu, memory, and what else nodes have, GPUs first: it is what people preempt for.
std::vector<ResourceIndex> columns_of(const Cluster& cluster) {
  std::set<ResourceIndex> there;
  for (const NodeIndex node : cluster.nodes_by_name()) {
    for (const ResourceAmount& item : cluster.requests(cluster.nodes().allocatable[node])) {
      if (item.amount > 0) there.insert(item.resource);
    }
  }
  std::vector<ResourceIndex> columns(there.begin(), there.end());
  std::erase_if(columns, [](ResourceIndex each) {
    return each == resource_storage || each == resource_pods;
  });
  const auto rank = [&](ResourceIndex each) {
    const std::string_view name = cluster.resources().name(each);
    if (name.contains("gpu")) return std::pair(0, name);
    if (each == resource_cpu) return std::pair(1, name);
    return std::pair(each == resource_memory ? 2 : 3, name);
  };
  std::ranges::sort(columns, {}, rank);
  if (columns.size() > resources_max) columns.resize(resources_max);
  return columns;
}

/// Few priorities are a band each; many are shared out evenly, by rank.
std::vector<std::int32_t> bands_of(const std::set<std::int32_t>& priorities) {
  std::vector<std::int32_t> all(priorities.begin(), priorities.end());
  if (all.size() <= bands_max) return all;
  std::vector<std::int32_t> bands;
  bands.reserve(bands_max);
  for (std::size_t band = 0; band < bands_max; ++band) {
    bands.push_back(all[band * all.size() / bands_max]);
  }
  return bands;
}

Layout layout_of(const Cluster& cluster, const ShownKernels& kernels,
                 std::set<std::int32_t>& priorities) {
  for (const PodIndex pod : cluster.each_row()) {
    if (priorities.size() >= priorities_max) break;
    priorities.insert(kernels.priority_of(pod));
  }
  Layout layout{.columns = columns_of(cluster), .bands = bands_of(priorities)};
  layout.place.assign(cluster.resources().size(), layout.columns.size());
  for (std::size_t at = 0; at < layout.columns.size(); ++at) {
    layout.place[layout.columns[at].value] = at;
  }
  return layout;
}

std::int64_t flags_of(const Cluster& cluster, NodeIndex node) {
  const NodeClaims claims = cluster.nodes().claims[node];
  return (cluster.nodes().flags[node].unschedulable ? 1 : 0) + (claims.sessions ? 2 : 0) +
         (claims.replicas ? 4 : 0);
}

/// Adds the amounts of the bound pods, to their band or to the leaving ones.
void add_pods(std::vector<std::int64_t>& numbers, const Cluster& cluster,
              const ShownKernels& kernels, NodeIndex node, const Layout& layout) {
  for (const PodIndex pod : cluster.order().pods(node)) {
    const bool leaves = cluster.pods().deletion[pod] != no_time;
    const std::size_t offset = leaves ? 1 : 2 + layout.band_of(kernels.priority_of(pod));
    for (const ResourceAmount& item : cluster.requests(cluster.pods().requests[pod])) {
      const std::size_t column = layout.place[item.resource.value];
      if (column == layout.columns.size()) continue;
      std::int64_t& sum = numbers[fixed_numbers + column * layout.width() + offset];
      sum = saturated_add(sum, item.amount);
    }
  }
}

std::vector<std::int64_t> numbers_of(const Cluster& cluster, const ShownKernels& kernels,
                                     NodeIndex node, const Layout& layout) {
  std::vector<std::int64_t> numbers(layout.numbers(), 0);
  numbers[0] = flags_of(cluster, node);
  numbers[1] = cluster.nodes().pods[node] + static_cast<std::int64_t>(kernels.kernels_on(node));
  numbers[2] = kernels.leaving_on(node);
  for (const ResourceAmount& item : cluster.requests(cluster.nodes().allocatable[node])) {
    const std::size_t column = layout.place[item.resource.value];
    if (column == layout.columns.size()) continue;
    numbers[fixed_numbers + column * layout.width()] = item.amount;
  }
  add_pods(numbers, cluster, kernels, node, layout);
  return numbers;
}

}  // namespace

BoardNodes board_nodes(const Cluster& cluster, const SessionSettings& sessions,
                       std::set<std::int32_t>& priorities) {
  const ShownKernels kernels(cluster, sessions);
  const Layout layout = layout_of(cluster, kernels, priorities);
  BoardNodes seen{.bands = layout.bands, .leaving = kernels.leaving()};
  for (const ResourceIndex column : layout.columns) {
    seen.resources.emplace_back(cluster.resources().name(column));
  }
  seen.nodes.reserve(cluster.node_count());
  const auto label = cluster.strings().find(names::plane);
  for (const NodeIndex node : cluster.nodes_by_name()) {
    seen.nodes.push_back({.plane = std::string(cluster.text(cluster.nodes().plane[node])),
                          .name = std::string(cluster.text(cluster.nodes().name[node])),
                          .shown_plane = std::string(cluster.text(
                              replica_plane(cluster, node, label).value_or(StringId{0}))),
                          .numbers = numbers_of(cluster, kernels, node, layout)});
  }
  return seen;
}

void write_board_nodes(DocumentWriter& writer, const BoardNodes& nodes) {
  writer.strings_field("resources", nodes.resources);
  write_list(writer, "bands", nodes.bands);
  writer.key("nodes");
  writer.begin_array();
  for (const BoardNode& node : nodes.nodes) {
    writer.begin_array();
    writer.string(node.name);
    writer.string(node.plane);
    for (const std::int64_t number : node.numbers) writer.integer(number);
    writer.end_array();
  }
  writer.end_array();
}

}  // namespace makeway::server
