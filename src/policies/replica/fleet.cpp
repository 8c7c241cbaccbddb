#include "policies/replica/fleet.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "model/find_resource.hpp"
#include "model/names.hpp"
#include "model/planes.hpp"
#include "model/replica_priority.hpp"

namespace makeway {

Fleet::Fleet(const Draft& draft)
    : draft_(draft),
      world_(draft.world),
      world_room_(draft.world),
      row_(draft.world.cluster().order().columns()),
      deployment_key_(cluster().strings().find(names::deployment).value_or(StringId{0})) {
  find_planes();
  find_columns();
  add_deployments();
  find_awaited();
  add_places();
  add_replicas();
  order_shares();
  order_places();
}

void Fleet::find_planes() {
  std::vector<std::string_view> names;
  std::size_t listed = 0;
  for (const auto& [key, schedule] : cluster().own<ReplicaSchedule>()) {
    listed += schedule.planes.size();
    for (const ReplicaPlane& plane : schedule.planes) {
      const auto at = std::ranges::lower_bound(names, std::string_view(plane.name));
      if (at == names.end() || *at != plane.name) names.insert(at, plane.name);
    }
  }
  for (const std::string_view name : names) planes_.push_back({.name = name});
  shares_.resize(listed);
}

void Fleet::find_columns() {
  std::set<std::string_view> names;
  for (const auto& [key, schedule] : cluster().own<ReplicaSchedule>()) {
    for (const Amount& amount : schedule.requests) names.insert(amount.resource);
  }
  names.erase(settings().resource);
  names.insert(pods_name);
  column_names_ = {settings().resource};
  column_names_.insert(column_names_.end(), names.begin(), names.end());
  for (const std::string_view name : column_names_) {
    columns_.push_back(find_resource(cluster().resources(), name).value_or(ResourceIndex{}));
  }
}

void Fleet::add_deployments() {
  std::map<std::vector<std::int64_t>, std::uint32_t> known;
  const StringPool& strings = cluster().strings();
  std::uint32_t end = 0;  // Of the shares so far.
  for (const auto& [key, schedule] : cluster().own<ReplicaSchedule>()) {
    std::vector<std::int64_t> request(columns());
    for (std::size_t column = 0; column < columns(); ++column) {
      const std::string_view name = column_names_[column];
      const auto found = std::ranges::find(schedule.requests, name, &Amount::resource);
      if (found != schedule.requests.end()) request[column] = found->amount;
      if (name == pods_name) request[column] = std::max<std::int64_t>(request[column], 1);
    }
    const auto number = static_cast<std::uint32_t>(known.size());
    const auto [at, is_new] = known.try_emplace(request, number);
    if (is_new) requests_.insert(requests_.end(), request.begin(), request.end());
    const std::uint32_t begin = end;
    const DeploymentIndex index = DeploymentIndex::from(deployments_.size());
    for (const ReplicaPlane& plane : schedule.planes) {
      const auto found = std::ranges::lower_bound(planes_, plane.name, {}, &FleetPlane::name);
      shares_[ShareIndex{end++}] = {
          .deployment = index,
          .plane = PlaneIndex::from(static_cast<std::size_t>(found - planes_.begin())),
          .listed = true,
          .committed = plane.committed,
          .score = plane.score};
    }
    deployments_.push_back({.object = &schedule,
                            .priority = priority_of(cluster(), schedule),
                            .request = at->second,
                            .begin = begin,
                            .end = end});
    const auto space = strings.find(schedule.namespace_name);
    const auto name = strings.find(schedule.deployment);
    if (space && name) by_name_.push_back({*space, *name, index});
  }
  std::ranges::sort(by_name_, {}, [](const ByName& item) {
    return std::pair(item.namespace_name, item.deployment);
  });
}

void Fleet::add_places() {
  const std::optional<StringId> key = cluster().strings().find(names::plane);
  place_of_ = IndexedVector<NodeIndex, PlaceIndex>(cluster().nodes().slots());
  std::map<StringId, PlaneIndex> by_value;
  for (std::uint32_t at = 0; at < planes_.size(); ++at) {
    const auto value = cluster().strings().find(planes_[PlaneIndex{at}].name);
    if (value) by_value[*value] = PlaneIndex{at};
  }
  std::vector<FleetPlace> found;
  std::uint32_t rank = 0;
  for (const NodeIndex node : cluster().nodes_by_name()) {
    const std::uint32_t own_rank = rank++;
    if (world_.survey().regimes().of(node) != Regime::replicas) continue;
    const std::optional<StringId> value = replica_plane(cluster(), node, key);
    const auto plane = value ? by_value.find(*value) : by_value.end();
    if (plane == by_value.end()) continue;
    found.push_back({.node = node,
                     .plane = plane->second,
                     .rank = own_rank,
                     .open = !cluster().nodes().flags[node].unschedulable});
  }
  std::ranges::stable_sort(found, {}, &FleetPlace::plane);
  room_.resize(found.size() * columns());
  free_room_.resize(found.size() * columns());
  nothing_.resize(columns());
  for (const FleetPlace& place : found) {
    const PlaceIndex index = places_.push_back(place);
    FleetPlane& plane = planes_[place.plane];
    if (plane.end == 0) plane.begin = index.value;
    plane.end = index.value + 1;
    place_of_[place.node] = index;
    add_room(index);
  }
}

void Fleet::find_awaited() {
  for (const PlanAsk& ask : draft_.plan.asks) {
    for (const PodPlacement& pod : ask.waits_for) {
      const auto found = cluster().find_pod(pod.namespace_name, pod.name, pod.plane);
      if (found) awaited_.insert(*found);
    }
  }
}

/// To the row: what victims of this cycle free, and perhaps pods that asks wait for.
void Fleet::give_leaving(NodeIndex node, bool awaited_too) const {
  for (const PodIndex pod : cluster().order().pods(node)) {
    const bool gone = world_room_.made_to_leave(pod) || (awaited_too && awaited_.contains(pod));
    if (gone) world_room_.give(pod, row_);
  }
}

/// `room` is not what is free soon: of the leaving pods only those count as gone that this cycle
/// evicts or waits for. Each other one may be claimed for a replica, and its room comes with it.
void Fleet::add_room(PlaceIndex place) {
  const NodeIndex node = places_[place].node;
  // Reservations of pinned pods keep their room, whatever the priorities.
  const HoldAsk replica{.pod = {}, .unit = {}, .rank = HoldRank::highest(), .turns_on = {}};
  world_room_.free_for(node, Horizon::now, replica, row_);
  copy_columns(row_, free_room(place));
  if (world_.after().touched(node)) {
    world_room_.take_arrivals(node, row_);
    // What they free beyond the need of their asks is there for others (law 8).
    give_leaving(node, true);
  }
  copy_columns(row_, room(place));
}

void Fleet::first_room(PlaceIndex place, std::vector<std::int64_t>& left) const {
  const NodeIndex node = places_[place].node;
  left.assign(columns(), 0);
  world_room_.free_at_start(node, row_);
  if (world_.after().touched(node)) give_leaving(node, false);
  copy_columns(row_, left);
}

DeploymentIndex Fleet::find_deployment(StringId namespace_name, StringId deployment) const {
  const auto key = std::pair(namespace_name, deployment);
  const auto found = std::ranges::lower_bound(by_name_, key, {}, [](const ByName& item) {
    return std::pair(item.namespace_name, item.deployment);
  });
  if (found == by_name_.end() || std::pair(found->namespace_name, found->deployment) != key) {
    return {};
  }
  return found->index;
}

DeploymentIndex Fleet::deployment_of(PodIndex pod) {
  const LabelSetId labels = cluster().pods().labels[pod];
  const StringId space = cluster().pods().namespace_name[pod];
  if (labels.value >= owners_.size()) owners_.resize(labels.value + std::size_t{1});
  PodOwner& owner = owners_[labels.value];
  if (!owner.known) {
    for (const LabelPair& label : cluster().labels(labels)) {
      if (label.key == deployment_key_) owner.label = label.value;
    }
  }
  if (owner.label == StringId{0}) {
    owner.known = true;
    return {};
  }
  if (owner.known && owner.namespace_name == space) return owner.deployment;
  owner.known = true;
  owner.namespace_name = space;
  owner.deployment = find_deployment(space, owner.label);
  return owner.deployment;
}

void Fleet::start_plane(PlaneIndex plane) {
  if (shares_by_plane_.empty()) {
    shares_by_plane_.resize(planes_.size());
    for (std::uint32_t at = 0; at < shares_.size(); ++at) {
      shares_by_plane_[shares_[ShareIndex{at}].plane.value].push_back(ShareIndex{at});
    }
  }
  shares_here_ = IndexedVector<DeploymentIndex, ShareIndex>(deployments_.size());
  for (const ShareIndex share : shares_by_plane_[plane.value]) {
    shares_here_[shares_[share].deployment] = share;
  }
}

ShareIndex Fleet::share_of(PodIndex pod, PlaneIndex plane) {
  const DeploymentIndex deployment = deployment_of(pod);
  if (!deployment.exists()) return {};
  ShareIndex& share = shares_here_[deployment];
  if (share.exists()) return share;
  share = shares_.push_back({.deployment = deployment, .plane = plane});
  unlisted_[{deployment, plane}] = share;
  return share;
}

std::optional<ShareIndex> Fleet::find_share(DeploymentIndex deployment, PlaneIndex plane) const {
  const FleetDeployment& row = deployments_[deployment];
  const auto listed = std::span(shares_.data() + row.begin, row.end - row.begin);
  const auto found = std::ranges::lower_bound(listed, plane, {}, &FleetShare::plane);
  if (found != listed.end() && found->plane == plane) {
    return ShareIndex{row.begin + static_cast<std::uint32_t>(found - listed.begin())};
  }
  const auto other = unlisted_.find({deployment, plane});
  if (other == unlisted_.end()) return std::nullopt;
  return other->second;
}

std::vector<ShareIndex> Fleet::unlisted_shares(DeploymentIndex deployment) const {
  std::vector<ShareIndex> shares;
  for (auto at = unlisted_.lower_bound({deployment, PlaneIndex{0}});
       at != unlisted_.end() && at->first.first == deployment; ++at) {
    shares.push_back(at->second);
  }
  return shares;
}

std::uint32_t Fleet::amounts_of(RequestId id) {
  if (amounts_row_.empty()) amounts_row_.resize(cluster().request_rows());
  std::uint32_t& known = amounts_row_[id.value];
  if (known != 0) return known - 1;
  const auto row = static_cast<std::uint32_t>(amounts_.size() / columns());
  amounts_.resize(amounts_.size() + columns());
  for (const ResourceAmount& item : cluster().requests(id)) {
    const auto found = std::ranges::find(columns_, item.resource);
    if (found == columns_.end()) continue;
    amounts_[row * columns() + static_cast<std::size_t>(found - columns_.begin())] = item.amount;
  }
  known = row + 1;
  return row;
}

void Fleet::add_replicas() {
  for (const auto& [key, schedule] : cluster().own<ReplicaSchedule>()) {
    for (const ReplicaClaim& claim : schedule.status.claims) {
      for (const ClaimedVictim& victim : claim.victims) {
        if (!victim.force_deleted) continue;
        const auto pod = find_claimed_victim(cluster(), claim, victim);
        if (!pod) continue;
        const auto [at, is_new] = force_deleted_.try_emplace(*pod, *victim.force_deleted);
        if (!is_new) at->second = std::min(at->second, *victim.force_deleted);
      }
    }
  }
  std::size_t pods = 0;
  // Kernels of sessions are among them.
  for (const FleetPlace& place : places_) pods += cluster().order().pods(place.node).size();
  replicas_.resize(pods);
  std::uint32_t count = 0;
  const bool by_priority_alone = world_.rules().replicas_by_priority_alone();
  PlaneIndex plane;
  for (std::uint32_t at = 0; at < places_.size(); ++at) {
    if (places_[PlaceIndex{at}].plane != plane) {
      plane = places_[PlaceIndex{at}].plane;
      start_plane(plane);
    }
    places_[PlaceIndex{at}].begin = count;
    const NodeIndex node = places_[PlaceIndex{at}].node;
    const std::span<const PodIndex> here = cluster().order().pods(node);
    const std::span<const std::uint8_t> guarded = cluster().order().guarded(node);
    for (std::size_t pod = 0; pod < here.size(); ++pod) {
      const bool plain = by_priority_alone && guarded[pod] == 0;
      FleetReplica& next = replicas_[ReplicaIndex{count}];
      if (add_replica(PlaceIndex{at}, here[pod], plain, next)) ++count;
    }
    places_[PlaceIndex{at}].end = count;
  }
  replicas_.resize(count);
}

/// False: it is no replica. A plain pod is neither leaving nor protected nor in a group: the store
/// knows that already, so nothing has to be looked up.
bool Fleet::add_replica(PlaceIndex place, PodIndex pod, bool plain, FleetReplica& replica) {
  const PodColumns& pods = cluster().pods();
  const bool leaving = !plain && world_.departures().leaving(pod);
  const ShareIndex share = share_of(pod, places_[place].plane);
  if (!share.exists() && !leaving) return false;
  // A pod that another policy has placed or evicted in this cycle is no replica here (law 8).
  if (world_.rules().settled(pod)) return false;
  replica = {.pod = pod,
             .share = share,
             .place = place,
             .amounts = amounts_of(pods.requests[pod]),
             .created = pods.created[pod],
             .awaited = leaving && awaited_.contains(pod)};
  replica.priority = share.exists() ? deployments_[shares_[share].deployment].priority
                                    : world_.rules().priority_of(pod);
  if (!plain) {
    const Unit& unit = cluster().units()[pods.unit[pod]];
    // Kubernetes picks the pod, so no plan can promise that a whole group goes. A leaving pod goes
    // anyway: its group does not keep it.
    const bool whole = !leaving && unit.kind == UnitKind::group && unit.mode == DisruptionMode::all;
    replica.is_protected =
        !share.exists() || whole || !world_.rules().protection_from_scale_down(pod).empty();
  }
  if (leaving) {
    classify_leaving(replica);
  } else {
    ++shares_[share].running;
  }
  return true;
}

std::optional<PlaceIndex> Fleet::find_place(std::string_view plane, std::string_view node) const {
  const std::optional<NodeIndex> found = find_node_in_plane(cluster(), plane, node);
  if (!found || found->value >= place_of_.size() || !place_of_[*found].exists()) {
    return std::nullopt;
  }
  return place_of_[*found];
}

std::optional<ReplicaIndex> Fleet::find_replica(PlaceIndex place, PodIndex pod) const {
  for (const ReplicaIndex index : in_order(place)) {
    if (replicas_[index].pod == pod) return index;
  }
  return std::nullopt;
}

std::optional<DeploymentIndex> Fleet::find_deployment(std::string_view namespace_name,
                                                      std::string_view deployment) const {
  const auto space = cluster().strings().find(namespace_name);
  const auto name = cluster().strings().find(deployment);
  if (!space || !name) return std::nullopt;
  const DeploymentIndex found = find_deployment(*space, *name);
  return found.exists() ? std::optional(found) : std::nullopt;
}

// ---- Classes ------------------------------------------------------------------------------------

namespace {

int higher_name_first(const Cluster& cluster, PodIndex a, PodIndex b) {
  const PodColumns& pods = cluster.pods();
  const int by_name = pods.name[b.value].compare(pods.name[a.value]);
  if (by_name != 0) return by_name;
  return cluster.text(pods.namespace_name[b]).compare(cluster.text(pods.namespace_name[a]));
}

}  // namespace

void Fleet::classify_leaving(FleetReplica& replica) const {
  const Departures& departures = world_.departures();
  const Time leaves_at = departures.leaves_at(replica.pod);
  const auto recorded = force_deleted_.find(replica.pod);
  const bool ours = recorded != force_deleted_.end();
  if (ours || cluster().pods().deletion_grace_seconds[replica.pod] == 0) {
    replica.victim_class = ReplicaClass::force_deleting;
    // Force-deletion makes it go earlier; its own time is counted on all the same.
    const Time since = ours ? std::max(recorded->second, leaves_at) : leaves_at;
    replica.expired = departures.is_patience_over(since);
    return;
  }
  replica.victim_class = ReplicaClass::terminating;
  replica.expired = departures.stuck(replica.pod);
  replica.force_from = Departures::forced_from(cluster(), settings(), replica.pod);
}

void Fleet::order_shares() {
  std::uint32_t begin = 0;
  for (std::uint32_t at = 0; at < shares_.size(); ++at) {
    FleetShare& share = shares_[ShareIndex{at}];
    share.begin = share.end = begin;
    begin += static_cast<std::uint32_t>(share.running);
  }
  in_share_.resize(begin);
  for (std::uint32_t at = 0; at < replicas_.size(); ++at) {
    const FleetReplica& replica = replicas_[ReplicaIndex{at}];
    if (replica.victim_class != ReplicaClass::committed) continue;
    in_share_[shares_[replica.share].end++] = ReplicaIndex{at};
  }
  for (std::uint32_t at = 0; at < shares_.size(); ++at) {
    if (shares_[ShareIndex{at}].running > shares_[ShareIndex{at}].committed) {
      mark_surplus(ShareIndex{at});
    }
  }
}

/// The pods that Kubernetes would most likely remove.
void Fleet::mark_surplus(ShareIndex index) {
  FleetShare& share = shares_[index];
  const std::span<ReplicaIndex> pods =
      std::span(in_share_).subspan(share.begin, share.end - share.begin);
  std::map<PlaceIndex, std::int64_t> siblings;
  for (const ReplicaIndex pod : pods) ++siblings[replicas_[pod].place];
  std::ranges::sort(pods, [&](ReplicaIndex left, ReplicaIndex right) {
    const FleetReplica& a = replicas_[left];
    const FleetReplica& b = replicas_[right];
    const bool a_ready = cluster().pods().flags[a.pod].ready;
    if (a_ready != cluster().pods().flags[b.pod].ready) return !a_ready;
    if (siblings[a.place] != siblings[b.place]) return siblings[a.place] > siblings[b.place];
    if (a.created != b.created) return a.created > b.created;
    return higher_name_first(cluster(), a.pod, b.pod) < 0;
  });
  share.surplus = share.running - share.committed;
  const ReplicaSchedule& schedule = *deployments_[share.deployment].object;
  for (const ReplicaIndex pod : pods.first(static_cast<std::size_t>(share.surplus))) {
    FleetReplica& replica = replicas_[pod];
    replica.victim_class = ReplicaClass::surplus;
    const std::optional<Time> since = surplus_since(schedule, replica.pod);
    replica.expired = since && !(now() - *since < settings().surplus_timeout);
    if (!replica.expired) ++share.surplus_moving;
  }
  if (share.committed == 0) replicas_[pods.back()].last = true;
}

std::optional<Time> Fleet::surplus_since(const ReplicaSchedule& schedule, PodIndex pod) const {
  const std::string_view name = cluster().pods().name[pod.value];
  const std::string_view plane = cluster().text(cluster().pods().plane[pod]);
  const std::vector<SurplusPod>& known = schedule.status.surplus;
  const auto found = std::ranges::find_if(
      known, [&](const SurplusPod& each) { return each.name == name && each.plane == plane; });
  return found == known.end() ? std::nullopt : std::optional(found->since);
}

bool Fleet::before_in_place(const FleetReplica& a, const FleetReplica& b) const {
  if (a.victim_class != b.victim_class) return a.victim_class < b.victim_class;
  if (a.priority != b.priority) return a.priority < b.priority;
  if (a.created != b.created) return a.created > b.created;
  return higher_name_first(cluster(), a.pod, b.pod) < 0;
}

void Fleet::order_places() {
  in_order_.resize(replicas_.size());
  for (std::uint32_t at = 0; at < in_order_.size(); ++at) in_order_[at] = ReplicaIndex{at};
  for (std::uint32_t at = 0; at < places_.size(); ++at) {
    const FleetPlace& place = places_[PlaceIndex{at}];
    const std::span<ReplicaIndex> here =
        std::span(in_order_).subspan(place.begin, place.end - place.begin);
    std::ranges::sort(here, [this](ReplicaIndex a, ReplicaIndex b) {
      return before_in_place(replicas_[a], replicas_[b]);
    });
    const bool conditional = std::ranges::any_of(here, [this](ReplicaIndex index) {
      const FleetReplica& replica = replicas_[index];
      // Only for some asks it may be used at all, or is force-deleted instead of waited for.
      return replica.victim_class == ReplicaClass::terminating && !replica.is_protected &&
             (replica.expired || now() >= replica.force_from);
    });
    if (conditional) conditional_places_.push_back(PlaceIndex{at});
  }
}

bool Fleet::some_pod_leaves(DeploymentIndex deployment, PlaneIndex plane) const {
  for (std::uint32_t at = planes_[plane].begin; at < planes_[plane].end; ++at) {
    for (const ReplicaIndex index : in_order(PlaceIndex{at})) {
      const FleetReplica& replica = replicas_[index];
      const bool leaves = replica.victim_class != ReplicaClass::committed;
      if (!leaves || !replica.share.exists()) continue;
      if (shares_[replica.share].deployment == deployment) return true;
    }
  }
  return false;
}

std::int64_t Fleet::spare(ShareIndex share) const {
  const FleetShare& row = shares_[share];
  // Its surplus does not go, so one more would not go either.
  if (row.surplus_moving < row.surplus) return 0;
  constexpr std::int64_t last_replica = 1;  // Scaling to zero may take very long.
  return std::min(row.committed, row.running) - last_replica - row.lowered;
}

bool Fleet::forcible(const FleetReplica& replica, std::int32_t ask_priority) const {
  return replica.victim_class == ReplicaClass::terminating && !replica.is_protected &&
         (replica.priority < ask_priority || settings().force_delete_any_priority);
}

bool Fleet::ever_usable(const FleetReplica& replica, std::int32_t ask_priority) const {
  switch (replica.victim_class) {
    case ReplicaClass::force_deleting: return !replica.expired;
    case ReplicaClass::terminating: return !replica.expired || forcible(replica, ask_priority);
    case ReplicaClass::surplus: return !replica.expired;
    case ReplicaClass::committed: return !replica.is_protected && replica.priority < ask_priority;
  }
  return false;
}

bool Fleet::usable(const FleetReplica& replica, std::int32_t ask_priority) const {
  if (replica.taken || replica.last) return false;
  // What it obtained in this cycle would only make up for what it loses: no action would follow.
  if (replica.victim_class == ReplicaClass::committed && shares_[replica.share].raised > 0) {
    return false;
  }
  return ever_usable(replica, ask_priority);
}

ReplicaAction Fleet::action(const FleetReplica& replica, std::int32_t ask_priority) const {
  if (replica.victim_class == ReplicaClass::committed) return ReplicaAction::scale_down;
  if (forcible(replica, ask_priority) && now() >= replica.force_from) {
    return ReplicaAction::force_delete;
  }
  return ReplicaAction::wait;
}

void Fleet::take(ReplicaIndex index) {
  FleetReplica& replica = replicas_[index];
  CHECK(!replica.taken, "a victim serves one claim");
  replica.taken = true;
  if (replica.victim_class == ReplicaClass::committed) ++shares_[replica.share].lowered;
}

void Fleet::release(ReplicaIndex index) {
  FleetReplica& replica = replicas_[index];
  CHECK(replica.taken, "only a victim can be put back");
  replica.taken = false;
  if (replica.victim_class == ReplicaClass::committed) --shares_[replica.share].lowered;
}

}  // namespace makeway
