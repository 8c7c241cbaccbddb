#include "control/closed_nodes.hpp"

#include <algorithm>

#include "model/normalize.hpp"

namespace makeway {

void ClosedNodes::refused(const std::string& owner, const std::string& node, Time now) {
  Closed& closed = owners_[owner][node];
  if (refusals_reset_at(closed) <= now) closed.refusals = 0;
  closed.until = backoff_.next_try(now, ++closed.refusals);
  closed.opened = false;
}

std::vector<std::string> ClosedNodes::closed_to(const std::string& owner, Time now) const {
  std::vector<std::string> closed;
  const auto found = owners_.find(owner);
  if (found == owners_.end()) return closed;
  for (const auto& [node, each] : found->second) {
    if (now < each.until) closed.push_back(node);
  }
  return closed;
}

std::vector<std::string> ClosedNodes::take_opened(Time now) {
  std::vector<std::string> opened;
  for (auto owner = owners_.begin(); owner != owners_.end();) {
    bool any = false;
    for (auto& [node, closed] : owner->second) {
      if (closed.opened || now < closed.until) continue;
      any = closed.opened = true;
    }
    if (any) opened.push_back(owner->first);
    std::erase_if(owner->second, [&](const auto& each) {
      return each.second.opened && refusals_reset_at(each.second) <= now;
    });
    owner = owner->second.empty() ? owners_.erase(owner) : std::next(owner);
  }
  return opened;
}

std::optional<Time> ClosedNodes::next_opening() const {
  std::optional<Time> next;
  for (const auto& [owner, nodes] : owners_) {
    for (const auto& [node, closed] : nodes) {
      if (!closed.opened && (!next || closed.until < *next)) next = closed.until;
    }
  }
  return next;
}

std::string controller_of(const Pod& pod) {
  const auto found = std::ranges::find_if(pod.owners, &OwnerReference::controller);
  return found == pod.owners.end() ? std::string() : found->uid;
}

void keep_away(Pod& pod, const std::vector<std::string>& nodes) {
  if (nodes.empty()) return;
  const Requirement elsewhere{
      .key = "metadata.name", .operation = Operator::not_in, .values = nodes};
  std::vector<NodeSelectorTerm>& terms = pod.shape.node_terms;
  const bool goes_anywhere = terms.empty();
  if (goes_anywhere) terms.emplace_back();
  for (NodeSelectorTerm& term : terms) {
    // A term that says nothing selects no node, and must go on selecting none.
    const bool selects_none = !goes_anywhere && term.labels.empty() && term.fields.empty();
    if (!selects_none) term.fields.push_back(elsewhere);
  }
  normalize(pod);
}

}  // namespace makeway
