#include "control/late_volumes.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace makeway {
namespace {

/// A claim of home that waits for its volume, as far as the loop knows.
bool is_shown_unbound(const Cluster& shown, const PersistentVolumeClaim& claim) {
  if (!claim.plane.empty()) return false;
  const auto& claims = shown.own<PersistentVolumeClaim>();
  const auto found = claims.find({claim.namespace_name, claim.name});
  return found != claims.end() && !found->second.bound;
}

std::set<std::string> volumes_in(const std::vector<Change>& changes) {
  std::set<std::string> names;
  for (const Change& change : changes) {
    const auto* const volume = std::get_if<PersistentVolume>(&change);
    if (volume != nullptr && volume->plane.empty()) names.insert(volume->name);
  }
  return names;
}

}  // namespace

std::vector<Change> LateVolumes::show(std::vector<Change> changes, const Cluster& shown, Time now) {
  const bool may_hold = std::ranges::any_of(changes, [](const Change& change) {
    return std::holds_alternative<PersistentVolumeClaim>(change);
  });
  if (!may_hold && held_.empty()) return changes;
  const std::set<std::string> coming = volumes_in(changes);
  const auto is_there = [&](const PersistentVolumeClaim& claim) {
    return coming.contains(claim.volume) ||
           shown.own<PersistentVolume>().contains({std::string(), claim.volume});
  };
  std::vector<Change> changed;
  changed.reserve(changes.size() + held_.size());
  for (Change& change : changes) {
    const ChangeKey key = key_of_change(change);
    const auto before = held_.find(key);
    const Time until = before == held_.end() ? now + wait_max_ : before->second.until;
    const auto* const claim = std::get_if<PersistentVolumeClaim>(&change);
    const bool is_late = claim != nullptr && claim->bound && !claim->lost && !claim->deletion &&
                         is_shown_unbound(shown, *claim) && !is_there(*claim);
    if (is_late) {
      held_.insert_or_assign(key, Held{.claim = *claim, .until = until});
      continue;
    }
    if (before != held_.end()) held_.erase(before);
    changed.push_back(std::move(change));
  }
  for (auto at = held_.begin(); at != held_.end();) {
    if (now < at->second.until && !is_there(at->second.claim)) {
      ++at;
      continue;
    }
    changed.emplace_back(std::move(at->second.claim));
    at = held_.erase(at);
  }
  return changed;
}

std::optional<Time> LateVolumes::next_due() const {
  std::optional<Time> next;
  for (const auto& [key, held] : held_) {
    if (!next || held.until < *next) next = held.until;
  }
  return next;
}

}  // namespace makeway
