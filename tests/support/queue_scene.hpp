// A tiny cluster with queues in the short notation, and its table, for tests of single functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/queue/queue_table.hpp"
#include "support/short_cluster.hpp"

namespace makeway {

struct QueueScene : ShortWorld {
  using ShortWorld::ShortWorld;

  /// "" stands for pods outside every queue.
  QueueRow row(std::string_view queue) const {
    for (std::uint32_t at = 0; at < table.size(); ++at) {
      if (table.entry(QueueRow{at}).name == queue) return QueueRow{at};
    }
    return table.outside();
  }
  std::string_view queue(QueueRow row) const {
    return row.exists() && row != table.outside() ? table.entry(row).name : "";
  }
  std::size_t column(std::string_view name = "nvidia.com/gpu") const {
    return table.column(resource(name));
  }
  QueueNumbers& gpus(std::string_view queue) { return table.at(row(queue), column()); }
  std::vector<std::uint8_t> all_rows() const {
    return std::vector<std::uint8_t>(table.rows(), std::uint8_t{1});
  }

  QueueTable table{world.survey(), world.holds(), configuration, world.rules()};
};

}  // namespace makeway
