#include "engine/promise_watch.hpp"

#include <algorithm>

namespace makeway {

void PromiseWatch::forget() {
  size_ = 0;
  always_.clear();
  by_node_.clear();
  by_domain_.clear();
  by_fit_.clear();
}

void PromiseWatch::learn(NodeIndex node, PodFit& fit, bool stands) {
  const std::uint32_t position = size_++;
  if (!stands || !fit.constraints().only_spread()) {
    always_.push_back(position);
    return;
  }
  Alike& alike = by_fit_[&fit];
  if (alike.positions.empty()) alike.least = fit.constraints().least_counts();
  alike.positions.push_back(position);
  by_node_[node].push_back(position);
  for (const Topology* topology : fit.constraints().spread_topologies()) {
    by_domain_[topology][topology->domain[node]].push_back(position);
  }
}

std::vector<std::uint32_t> PromiseWatch::doubtful(std::span<const Scratch::Move> moves) const {
  Positions found = always_;
  const auto add = [&](const auto& lists, auto key) {
    const auto at = lists.find(key);
    if (at != lists.end()) found.insert(found.end(), at->second.begin(), at->second.end());
  };
  NodeIndex last;
  for (const Scratch::Move& move : moves) {
    if (move.node == last) continue;
    last = move.node;
    add(by_node_, move.node);
    for (const auto& [topology, lists] : by_domain_) add(lists, topology->domain[move.node]);
  }
  for (const auto& [fit, alike] : by_fit_) {
    // A pod that repels it may have come.
    const bool stands = fit->constraints().only_spread() &&
                        std::ranges::equal(fit->constraints().least_counts(), alike.least,
                                           std::ranges::greater_equal{});
    if (!stands) found.insert(found.end(), alike.positions.begin(), alike.positions.end());
  }
  return found;
}

}  // namespace makeway
