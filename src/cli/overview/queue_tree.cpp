#include "cli/overview/queue_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <tuple>

namespace makeway::cli {

std::vector<QueueLine> queue_lines(const std::vector<QueueName>& queues) {
  std::map<std::string_view, std::size_t> positions;
  for (std::size_t position = 0; position < queues.size(); ++position) {
    positions.emplace(queues[position].name, position);
  }
  std::map<std::string_view, std::vector<std::size_t>> children;  // Of "": those without a parent.
  for (const auto& [name, position] : positions) {
    const std::string_view parent = queues[position].parent;
    children[positions.contains(parent) ? parent : std::string_view()].push_back(position);
  }
  std::vector<QueueLine> rows;
  std::vector<QueueLine> open;  // A stack: the next row is its last.
  const auto add = [&](std::string_view parent, std::size_t depth) {
    const auto found = children.find(parent);
    if (found == children.end()) return;
    for (const std::size_t position : std::views::reverse(found->second)) {
      open.push_back({.position = position, .depth = depth});
    }
  };
  add({}, 0);
  while (!open.empty()) {
    const QueueLine row = open.back();
    open.pop_back();
    rows.push_back(row);
    add(queues[row.position].name, row.depth + 1);
  }
  return rows;
}

std::string indented(std::string_view name, std::size_t depth) {
  constexpr std::size_t depth_max = 8;  // Beyond, the names matter more than the shape.
  return fmt::format("{:{}}{}", "", 2 * std::min(depth, depth_max), name);
}

}  // namespace makeway::cli
