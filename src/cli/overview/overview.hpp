// The overview of a cluster for people: its objects, how full it is, what each priority could free.
//
// Everything is counted over the whole cluster; long lists are cut (the section says so) unless
// `all` is set. Nodes and budgets come by name, priorities, groups and pending pods the most
// important first. Costs O(pods + nodes * priorities shown), and sorting of what is listed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "codec/load.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/regime.hpp"

namespace makeway::cli {

struct OverviewOptions {
  bool all = false;
  Palette palette{false};
  Configuration configuration;  ///< Says which policies claim nodes.
};

std::string overview_text(const Loaded& loaded, const OverviewOptions& options);

// The sections of the overview, and what they share. Private to overview*.cpp.

/// Longer lists are cut to this many rows.
inline constexpr std::size_t rows_max = 20;

struct ShownResource {
  ResourceIndex index;
  std::string name;
  std::string heading;  ///< "GPU"
};

/// Amounts per resource column.
using AmountRow = std::vector<std::int64_t>;

struct NodeUsage {
  NodeIndex node;
  AmountRow allocatable;
  AmountRow used;
  std::int64_t full_permille = 0;  ///< Of the resource that is used most, relatively.
  std::size_t fullest = 0;         ///< Its position in View::columns.
};

struct View {
  const Cluster& cluster;
  const OverviewOptions& options;
  Regimes regimes;
  std::vector<ShownResource> resources;  ///< All that nodes have or pods ask for, `pods` too.
  std::vector<ShownResource> columns;    ///< Those that tables show; without `pods`.
  std::vector<NodeUsage> nodes;          ///< By name.
  AmountRow allocatable;                 ///< Sums over the nodes.
  AmountRow used;
  AmountRow free;  ///< Sum of what is left on each node; an overcommitted node has nothing left.
};

View view_of(const Cluster& cluster, const OverviewOptions& options);

/// What would be left if only the `count` most important pods of the node stayed.
std::int64_t left_with_first(const View& view, const NodeUsage& node, std::size_t count,
                             ResourceIndex resource);

std::string title(const View& view, std::string_view name, std::string_view remark);
/// How many rows of a list to show.
std::size_t rows_shown(const View& view, std::size_t rows);
/// "  ... and 12 more (--all lists them)", or nothing.
std::string cut_line(std::size_t shown, std::size_t rows);

Tone tone_of_percent(std::int64_t percent);

// Each is empty when there is nothing to say.
std::string nodes_section(const View& view);
std::string priorities_section(const View& view);
std::string groups_section(const View& view);
std::string budgets_section(const View& view);
std::string pending_section(const View& view);
std::string queues_section(const View& view);
std::string sessions_section(const View& view);
std::string replicas_section(const View& view);
std::string planes_section(const View& view);
/// Empty: it is in no plane.
std::string plane_text(const Cluster& cluster, NodeIndex node);

}  // namespace makeway::cli
