#include "control/lost_capacity.hpp"

#include <algorithm>
#include <variant>

#include "model/queue_findings.hpp"

namespace makeway {

void LostCapacity::note(const std::vector<Change>& changes, Time now) {
  for (const Change& change : changes) {
    if (const auto* const node = std::get_if<Node>(&change)) {
      if (node->plane.empty()) note_node(*node, now);
      continue;
    }
    const auto* const gone = std::get_if<Removal>(&change);
    if (gone == nullptr || gone->kind != ObjectKind::node || !gone->plane.empty()) continue;
    offered_.erase(gone->name);
    std::erase_if(lost_, [&](const auto& each) { return each.first.first == gone->name; });
  }
}

void LostCapacity::note_node(const Node& node, Time now) {
  Amounts& before = offered_[node.name];
  for (const Amount& each : before) {
    const bool is_less = quota_in(node.allocatable, each.resource).value_or(0) < each.amount;
    if (is_less) lost_.try_emplace({node.name, each.resource}, Lost{each.amount, now});
  }
  std::erase_if(lost_, [&](const auto& each) {
    const auto& [key, lost] = each;
    return key.first == node.name && quota_in(node.allocatable, key.second).value_or(0) >= lost.had;
  });
  before = node.allocatable;
}

std::optional<LostCapacity::Loss> LostCapacity::newest(Time now) {
  std::erase_if(lost_, [&](const auto& each) { return each.second.since + grace_ <= now; });
  const auto found =
      std::ranges::max_element(lost_, {}, [](const auto& each) { return each.second.since; });
  if (found == lost_.end()) return std::nullopt;
  return Loss{.node = found->first.first,
              .resource = found->first.second,
              .since = found->second.since,
              .until = found->second.since + grace_};
}

}  // namespace makeway
