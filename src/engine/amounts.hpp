// Rows of amounts, one for each column, and requests as pairs of resource and amount: sums of them.
// They saturate. Rows of one sum are equally long; an empty one means nothing.
#pragma once

#include <cstdint>
#include <span>

#include "base/checked_math.hpp"
#include "model/cluster.hpp"

namespace makeway {

using AmountRow = std::span<std::int64_t>;
using ConstAmountRow = std::span<const std::int64_t>;

inline void add_row(AmountRow row, ConstAmountRow more) {
  for (std::size_t column = 0; column < more.size(); ++column) {
    row[column] = saturated_add(row[column], more[column]);
  }
}

inline void subtract_row(AmountRow row, ConstAmountRow less) {
  for (std::size_t column = 0; column < less.size(); ++column) {
    row[column] = saturated_sub(row[column], less[column]);
  }
}

inline RequestRow request_of(const Cluster& cluster, PodIndex pod) {
  return cluster.requests(cluster.pods().requests[pod]);
}

/// To a row by resource column.
inline void add_request(AmountRow row, RequestRow request) {
  for (const ResourceAmount& item : request) {
    std::int64_t& amount = row[item.resource.value];
    amount = saturated_add(amount, item.amount);
  }
}

inline void subtract_request(AmountRow row, RequestRow request) {
  for (const ResourceAmount& item : request) {
    std::int64_t& amount = row[item.resource.value];
    amount = saturated_sub(amount, item.amount);
  }
}

}  // namespace makeway
