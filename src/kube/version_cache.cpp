#include "kube/version_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "kube/write_calls.hpp"

namespace makeway::kube {

namespace {

constexpr std::string_view out_of_service_taint = "node.kubernetes.io/out-of-service";

std::string cache_key(std::string_view namespace_name, std::string_view name) {
  return fmt::format("{}/{}", namespace_name, name);
}

/// Null: there is none.
template <class Map>
const auto* value_at(const Map& map, std::string_view key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

void keep(std::set<std::string, std::less<>>& keys, const std::string& key, bool kept) {
  if (kept) {
    keys.insert(key);
  } else {
    keys.erase(key);
  }
}

NodeState state_of(const Node& node) {
  const bool out =
      std::ranges::find(node.taints, out_of_service_taint, &Taint::key) != node.taints.end();
  return out ? NodeState::out_of_service : NodeState::alive;
}

}  // namespace

bool has_our_nomination(const ObjectState& pod) {
  const SeenCondition* const ours = pod.condition(nominated_condition);
  return !pod.nominated_node.empty() && ours != nullptr && ours->status == "True" &&
         noted_node(ours->message) == pod.nominated_node;
}

bool has_our_reservation(const ObjectState& pod) {
  const SeenCondition* const ours = pod.condition(reserved_condition);
  return pod.node.empty() && ours != nullptr && ours->status == "True";
}

void VersionCache::take(const std::vector<Change>& changes, std::vector<ObjectState> objects_seen,
                        std::uint64_t answers) {
  for (const Change& change : changes) {
    if (const auto* const node = std::get_if<Node>(&change)) nodes_[node->name] = state_of(*node);
    if (const auto* const pod = std::get_if<Pod>(&change)) take_pod(*pod);
    if (const auto* const queue = std::get_if<Queue>(&change)) queues_[queue->name] = *queue;
    if (const auto* const schedule = std::get_if<ReplicaSchedule>(&change)) {
      schedules_[cache_key(schedule->namespace_name, schedule->name)] = schedule->status;
    }
    if (const auto* const claim = std::get_if<PersistentVolumeClaim>(&change)) {
      CachedClaim& booked = claims_[cache_key(claim->namespace_name, claim->name)];
      booked.bound = claim->bound;
      booked.volume = claim->volume;
      booked.selected_node = claim->selected_node;
    }
    if (const auto* const volume = std::get_if<PersistentVolume>(&change)) {
      volumes_.insert(volume->name);
    }
    if (const auto* const group = std::get_if<PodGroup>(&change)) {
      const std::string key = cache_key(group->namespace_name, group->name);
      keep(whole_groups_, key, group->policy.mode == DisruptionMode::all);
    }
    if (const auto* const gone = std::get_if<Removal>(&change)) forget(*gone);
  }
  for (ObjectState& seen_object : objects_seen) {
    std::string key = cache_key(seen_object.namespace_name, seen_object.name);
    if (seen_object.kind == ObjectKind::persistent_volume_claim) {
      claims_[key].object = std::move(seen_object);
      continue;
    }
    if (is_own(row_of_kind(seen_object.kind))) {
      own_[seen_object.kind].insert_or_assign(std::move(key),
                                              CachedObject{std::move(seen_object), answers});
      continue;
    }
    if (seen_object.kind == ObjectKind::pod) {
      const bool is_nominated = has_our_nomination(seen_object);
      keep(promised_, key, is_nominated || has_our_reservation(seen_object));
      keep(awaiting_, key, is_nominated && seen_object.node.empty());
    }
    Cache& cache = seen_object.kind == ObjectKind::pod ? pods_ : groups_;
    cache.insert_or_assign(std::move(key), CachedObject{std::move(seen_object), answers});
  }
}

void VersionCache::take_pod(const Pod& pod) {
  std::vector<std::string> claims;
  for (const ClaimUse& use : pod.shape.claims) {
    const bool is_volume = use.kind == ClaimKind::volume || use.kind == ClaimKind::own_volume;
    if (is_volume && pod.node.empty()) claims.push_back(use.name);
  }
  const std::string key = cache_key(pod.namespace_name, pod.name);
  if (claims.empty()) {
    pod_claims_.erase(key);
  } else {
    pod_claims_[key] = std::move(claims);
  }
}

void VersionCache::forget(const Removal& gone) {
  const std::string key = cache_key(gone.namespace_name, gone.name);
  if (gone.kind == ObjectKind::node) nodes_.erase(gone.name);
  if (gone.kind == ObjectKind::persistent_volume) volumes_.erase(gone.name);
  if (gone.kind == ObjectKind::queue) queues_.erase(gone.name);
  if (gone.kind == ObjectKind::replica_schedule) schedules_.erase(key);
  if (gone.kind == ObjectKind::pod_group) {
    groups_.erase(key);
    whole_groups_.erase(key);
  }
  if (gone.kind == ObjectKind::persistent_volume_claim) claims_.erase(key);
  if (const auto kept = own_.find(gone.kind); kept != own_.end()) kept->second.erase(key);
  if (gone.kind != ObjectKind::pod) return;
  pods_.erase(key);
  pod_claims_.erase(key);
  promised_.erase(key);
  awaiting_.erase(key);
}

const std::vector<std::string>& VersionCache::claims_of(std::string_view namespace_name,
                                                        std::string_view name) const {
  static const std::vector<std::string> none;
  const auto found = pod_claims_.find(cache_key(namespace_name, name));
  return found == pod_claims_.end() ? none : found->second;
}

const CachedClaim* VersionCache::claim(std::string_view namespace_name,
                                       std::string_view name) const {
  return value_at(claims_, cache_key(namespace_name, name));
}

const CachedObject* VersionCache::pod(std::string_view namespace_name,
                                      std::string_view name) const {
  return value_at(pods_, cache_key(namespace_name, name));
}

const CachedObject* VersionCache::group(std::string_view namespace_name,
                                        std::string_view name) const {
  return value_at(groups_, cache_key(namespace_name, name));
}

const CachedObject* VersionCache::own(ObjectKind kind, std::string_view namespace_name,
                                      std::string_view name) const {
  const auto cache = own_.find(kind);
  if (cache == own_.end()) return nullptr;
  return value_at(cache->second, cache_key(namespace_name, name));
}

std::vector<const CachedObject*> VersionCache::all_own() const {
  std::vector<const CachedObject*> all;
  for (const auto& [kind, cache] : own_) {
    for (const auto& [key, seen_object] : cache) all.push_back(&seen_object);
  }
  return all;
}

const Queue* VersionCache::queue(std::string_view name) const { return value_at(queues_, name); }

const ReplicaStatus* VersionCache::replica_status(std::string_view namespace_name,
                                                  std::string_view name) const {
  return value_at(schedules_, cache_key(namespace_name, name));
}

bool VersionCache::leaves_whole(std::string_view namespace_name, std::string_view name) const {
  return whole_groups_.contains(cache_key(namespace_name, name));
}

NodeState VersionCache::node(std::string_view name) const {
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? NodeState::gone : found->second;
}

std::vector<const CachedObject*> VersionCache::promised() const {
  std::vector<const CachedObject*> found;
  found.reserve(promised_.size());
  for (const std::string& key : promised_) found.push_back(&pods_.at(key));
  return found;
}

const CachedObject* VersionCache::promised(std::string_view namespace_name,
                                           std::string_view name) const {
  const std::string key = cache_key(namespace_name, name);
  return promised_.contains(key) ? &pods_.find(key)->second : nullptr;
}

void recall(const ObjectState& seen_object, Pod& pod) {
  const SeenCondition* const nominated = seen_object.condition(nominated_condition);
  const bool is_ours = nominated != nullptr && nominated->status == "True" &&
                       noted_node(nominated->message) == pod.nominated_node;
  if (!is_ours) pod.nominated_node.clear();
  pod.notes.evicted_for.clear();
  pod.notes.plan.clear();
  pod.notes.promised = false;
  pod.notes.reserved_since.reset();
  // These say in dumps what controllers and views have found out.
  pod.kept = KeptBy::none;
  pod.notes.loss_units.clear();
  pod.notes.made_from.clear();
  pod.notes.wave = 0;
  pod.notes.wave_after.clear();
  const SeenCondition* const reserved = seen_object.condition(reserved_condition);
  if (reserved == nullptr || reserved->status != "True") return;
  if (const auto since = parse_time(reserved->changed)) {
    pod.notes.reserved_since = *since;
    pod.notes.promised = reserved->reason == "Promised";
  }
}

}  // namespace makeway::kube
