// Resource groups and their sessions in the overview of a cluster.
#include <fmt/format.h>

#include <map>

#include "cli/overview/overview_sections.hpp"
#include "cli/text.hpp"
#include "model/session_names.hpp"

namespace makeway::cli {
namespace {

using PhaseCounts = std::array<std::uint64_t, choice_names<SessionPhase>.size()>;

}  // namespace

std::string sessions_section(const View& view) {
  const Cluster& cluster = view.cluster;
  std::map<std::string_view, PhaseCounts> counts;
  std::map<std::string_view, std::uint64_t> partitions;
  for (const auto& [key, group] : cluster.own<ResourceGroup>()) counts[group.name] = {};
  for (const auto& [key, session] : cluster.own<Session>()) {
    ++counts[session.resource_group][static_cast<std::size_t>(session.status.phase)];
  }
  for (const auto& [key, partition] : cluster.own<Partition>()) {
    ++partitions[partition.resource_group];
  }
  if (counts.empty()) return {};
  std::vector<Column> columns = {{.heading = "RESOURCE GROUP"}};
  for (const std::string_view phase : choice_names<SessionPhase>) {
    std::string heading(phase);
    for (char& byte : heading) byte = static_cast<char>(byte - 'a' + 'A');
    columns.push_back({.heading = std::move(heading), .align = Align::right});
  }
  columns.push_back({.heading = "PARTITIONS", .align = Align::right});
  Table table(std::move(columns));
  const std::size_t shown = rows_shown(view, counts.size());
  std::size_t row = 0;
  for (const auto& [group, phases] : counts) {
    if (row++ == shown) break;
    std::vector<Cell> cells = {{.text = std::string(group)}};
    for (const std::uint64_t count : phases) {
      cells.push_back({.text = count == 0 ? std::string("-") : grouped(count)});
    }
    const std::uint64_t parts = partitions[group];
    cells.push_back({.text = parts == 0 ? std::string("-") : grouped(parts)});
    table.row(std::move(cells));
  }
  return title(view, "Sessions", "") + table.text(view.options.palette) +
         cut_line(shown, counts.size());
}

}  // namespace makeway::cli
