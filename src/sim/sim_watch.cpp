#include "sim/sim_watch.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace makeway {
namespace {

struct WatchKeyOf {
  WatchKey operator()(const Removal& gone) const {
    return {gone.kind, {gone.namespace_name, gone.name, gone.plane}};
  }
  template <ClusterObject Object>
  WatchKey operator()(const Object& object) const {
    return {row_of<Object>.kind, owned(key_of(object))};
  }
};

}  // namespace

WatchKey watch_key(const Change& change) { return std::visit(WatchKeyOf{}, change); }

void SimWatch::show(Change change, Time now) {
  if (faults_.options().late == 0) return batch_.changes.push_back(std::move(change));
  WatchKey key = watch_key(change);
  const auto found = held_.find(key);
  if (found != held_.end()) return found->second.changes.push_back(std::move(change));
  if (!faults_.strikes(&FaultOptions::late, now)) {
    return batch_.changes.push_back(std::move(change));
  }
  ++faults_.counts().late;
  const Time until = now + Duration{faults_.random().between(1, late_max.ms)};
  Held& held = held_[std::move(key)];
  held.until = until;
  held.changes.push_back(std::move(change));
  agenda_.expect({.when = until, .what = Happening::shown});
}

bool SimWatch::holds_back(ObjectKind kind, const std::string& namespace_name,
                          const std::string& name, const std::string& plane) const {
  return !held_.empty() && held_.contains({kind, {namespace_name, name, plane}});
}

void SimWatch::release(Time now) {
  for (auto at = held_.begin(); at != held_.end();) {
    if (at->second.until > now) {
      ++at;
      continue;
    }
    std::ranges::move(at->second.changes, std::back_inserter(batch_.changes));
    at = held_.erase(at);
  }
}

Batch SimWatch::take() { return std::exchange(batch_, {}); }

void SimWatch::list_anew(std::vector<Change> objects) {
  held_.clear();
  batch_ = {};
  batch_.changes = std::move(objects);
}

}  // namespace makeway
