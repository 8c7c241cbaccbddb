#include "engine/world.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/required_node.hpp"

namespace makeway {
World::World(const Cluster& cluster, const Configuration& configuration, Time now)
    : cluster_(cluster),
      common_(configuration),
      configuration_(&configuration),
      profiles_(differing_profiles(configuration)),
      survey_(cluster, configuration),
      rules_(survey_, configuration, now),
      budgets_(survey_),
      steps_{.left = configuration.engine.plan_steps_max},
      holds_(survey_, configuration),
      now_(cluster),
      after_(cluster),
      after_without_arrivals_(cluster),
      gone_rank_(cluster.pods().slots()),
      taken_(cluster.pods().slots()) {
  remove_leaving();
}

World::~World() = default;

// ---- Profiles -----------------------------------------------------------------------------------

std::size_t World::profile_number(UnitIndex unit) const {
  if (profiles_.empty()) return 0;
  const PodIndex pod = first_pod_of(cluster_, unit);
  if (!pod.exists()) return 0;
  const auto found =
      std::ranges::find(profiles_, scheduler_of(cluster_, pod), &ProfileRules::scheduler_name);
  return found == profiles_.end() ? 0 : static_cast<std::size_t>(found - profiles_.begin()) + 1;
}

const Configuration& World::rules_of(UnitIndex unit) const {
  const std::size_t number = profile_number(unit);
  return number == 0 ? common_ : profiles_[number - 1].configuration;
}

void World::turn_to(UnitIndex unit) {
  if (profiles_.empty()) return;
  configuration_ = &rules_of(unit);
  rules_.obey(*configuration_);
}

std::string_view World::profile() const {
  const auto found = std::ranges::find_if(profiles_, [this](const ProfileRules& each) {
    return &each.configuration == configuration_;
  });
  return found == profiles_.end() ? std::string_view{} : found->scheduler_name;
}

/// Pods that leave soon are gone from the room that asks see.
void World::remove_leaving() {
  late_.assign(departures().late().begin(), departures().late().end());
  for (const PodIndex pod : departures().soon()) {
    after_.remove(pod);
    after_without_arrivals_.remove(pod);
    gone_.push_back(pod);
    gone_rank_.writable(pod) = static_cast<std::uint32_t>(gone_.size());
  }
  gone_before_ = gone_.size();
  differs_ = !gone_.empty();
  end_operation();
}

World::LeavingRoomRule::LeavingRoomRule(World& world, std::span<const PodIndex> pods, bool credited)
    : world_(world), before_(world.after_.checkpoint()) {
  for (const PodIndex pod : pods) {
    const Departure departure = world.departures().of(pod);
    if (departure == Departure::none || departure == Departure::late) continue;
    if (world.rules_.settled(pod)) continue;
    const bool gone = credited && departure == Departure::soon;
    const bool there = world.after_.node_of(pod).exists();
    if (gone && there) world.after_.remove(pod);
    if (!gone && !there) world.after_.place(pod, world.cluster_.pods().node[pod]);
  }
}

bool World::revert_this_cycle() {
  bool any = false;
  for (const PodIndex pod : settled_log_) {
    if (cluster_.pods().node[pod].exists()) continue;
    after_.remove(pod);
    any = true;
  }
  after_.put_back(std::span(gone_).subspan(gone_before_));
  return any;
}

bool World::asks_pinned(PodIndex pod) const {
  return common_.required_node.enabled && is_pinned(cluster_, pod);
}

bool World::is_tentative(PodIndex pod) const {
  return std::ranges::find(tentative_nominations_, pod) != tentative_nominations_.end();
}

// ---- Operations ---------------------------------------------------------------------------------

void World::begin_operation() const {
  CHECK(now_.checkpoint() == now_end_ && after_.checkpoint() == after_end_,
        "a what-if was not undone");
}

void World::end_operation() {
  now_end_ = now_.checkpoint();
  after_end_ = after_.checkpoint();
  promise_watch_.forget();
  turns_known_ = false;
}

void World::settle(PodIndex pod) {
  CHECK(!rules_.settled(pod), "the pod was placed or evicted in this cycle already");
  rules_.settle(pod);
  settled_log_.push_back(pod);
}

void World::decided(PodIndex pod) {
  CHECK(!is_decided(pod), "a pod is decided once");
  holds_.decide(pod);
  note_nominated_node(pod);
}

void World::lose_nomination(PodIndex pod) {
  CHECK(!is_decided(pod), "a pod that is decided holds no room by a nomination");
  holds_.lose(pod);
  note_nominated_node(pod);
}

void World::note_nominated_node(PodIndex pod) {
  const NodeIndex nominated = cluster_.pods().nominated[pod];
  if (nominated.exists() && cluster_.nodes().flags[nominated].exists) {
    changed_nodes_.push_back(nominated);
  }
}

void World::bind(PodIndex pod, NodeIndex node) {
  begin_operation();
  changed_nodes_.push_back(node);
  now_.place(pod, node);
  after_.place(pod, node);
  after_without_arrivals_.place(pod, node);
  settle(pod);
  end_operation();
}

void World::leave(std::span<const PodIndex> victims) {
  begin_operation();
  for (const PodIndex victim : victims) {
    const NodeIndex node = cluster_.pods().node[victim];
    CHECK(node.exists() && now_.node_of(victim) == node, "a victim is where the cluster has it");
    settle(victim);
    changed_nodes_.push_back(node);
    differs_ = true;
    // A victim may be leaving already, and be credited as gone (`leavingRoom` of its policy).
    if (!after_.node_of(victim).exists()) continue;
    after_.remove(victim);
    after_without_arrivals_.remove(victim);
    gone_.push_back(victim);
    gone_rank_.writable(victim) = static_cast<std::uint32_t>(gone_.size());
    std::erase(late_, victim);  // It leaves as a victim now.
  }
  budgets_.commit(victims);
  end_operation();
}

// ---- Waiting ------------------------------------------------------------------------------------

void World::take(PodIndex leaving) {
  if (!is_taken(leaving)) taken_.writable(leaving) = 1;
}

void World::await(std::span<const PodIndex> leaving) {
  // A pod that one ask waits for is gone for all of them, however late.
  std::vector<PodIndex> late;
  std::ranges::copy_if(late_, std::back_inserter(late), [&](PodIndex pod) {
    return std::ranges::find(leaving, pod) != leaving.end();
  });
  if (!late.empty()) credit_late(late);
  for (const PodIndex pod : leaving) {
    CHECK(now_.node_of(pod).exists(), "a pod that an ask waits for is still there");
    take(pod);
  }
}

void World::credit_late(std::span<const PodIndex> pods) {
  begin_operation();
  const std::set<PodIndex> credited(pods.begin(), pods.end());
  for (const PodIndex pod : late_) {
    if (!credited.contains(pod)) continue;
    after_.remove(pod);
    after_without_arrivals_.remove(pod);
    gone_.push_back(pod);
    late_credits_.push_back(pod);
  }
  CHECK(
      std::erase_if(late_, [&](PodIndex pod) { return credited.contains(pod); }) == credited.size(),
      "only late pods are credited late");
  differs_ = differs_ || !gone_.empty();
  end_operation();
}

void World::return_late() {
  if (late_credits_.empty()) return;
  begin_operation();
  std::set<PodIndex> back;
  for (const PodIndex pod : late_credits_) {
    if (is_taken(pod)) {
      changed_nodes_.push_back(cluster_.pods().node[pod]);
      continue;
    }
    after_.put_back(std::span(&pod, 1));
    after_without_arrivals_.put_back(std::span(&pod, 1));
    back.insert(pod);
  }
  late_credits_.clear();
  std::erase_if(gone_, [&](PodIndex pod) { return back.contains(pod); });
  late_.insert(late_.end(), back.begin(), back.end());
  departures().sort_by_name(late_);
  end_operation();
}

/// Pods of other nodes first: they are put back first, since they seldom matter.
std::vector<PodIndex> World::leavers_of(std::span<const NodeIndex> nodes,
                                        Elsewhere elsewhere) const {
  std::vector<PodIndex> leaving;
  std::vector<NodeIndex> sorted(nodes.begin(), nodes.end());
  std::ranges::sort(sorted);
  const auto repeated = std::ranges::unique(sorted);
  sorted.erase(repeated.begin(), repeated.end());
  if (elsewhere == Elsewhere::matters) {
    std::ranges::copy_if(gone_, std::back_inserter(leaving), [&](PodIndex pod) {
      return !std::ranges::binary_search(sorted, cluster_.pods().node[pod]);
    });
    // Late pods first: an ask is spared waiting for them before it is spared others.
    std::ranges::stable_partition(leaving, [this](PodIndex pod) { return gone_rank_[pod] == 0; });
  }
  const std::size_t others = leaving.size();
  for (const NodeIndex node : sorted) {
    now_.for_each_pod(node, [&](PodIndex pod) {
      if (after_.node_of(pod) != node) leaving.push_back(pod);
    });
  }
  std::ranges::stable_sort(std::span(leaving).subspan(others), {},
                           [this](PodIndex pod) { return gone_rank_[pod]; });
  return leaving;
}

/// All are gone from `now`, and each that need not be comes back.
std::vector<PodIndex> World::reduce_leavers(std::span<const PodIndex> leaving,
                                            const std::function<bool()>& fits) {
  std::vector<PodIndex> needed;
  const Scratch::Checkpoint before = now_.checkpoint();
  now_.remove(leaving);
  const bool enough = fits();
  for (const PodIndex pod : leaving) {
    if (!enough) break;  // It waits for a pod to come, not for one to go.
    now_.place(pod, cluster_.pods().node[pod]);
    if (fits()) continue;
    now_.remove(pod);
    needed.push_back(pod);
  }
  now_.rollback(before);
  return needed;
}

/// In `now`: asks before that are to come to these nodes.
void World::place_earlier_asks(std::span<const NodeIndex> nodes) {
  for (const NodeIndex node : nodes) {
    const std::span<const PodIndex> placed = after_.placed(node);
    for (const PodIndex pod : std::vector<PodIndex>(placed.begin(), placed.end())) {
      if (!now_.node_of(pod).exists()) now_.place(pod, node);
    }
  }
}

std::vector<PodIndex> World::needed_leavers(std::span<const NodeIndex> nodes, Elsewhere elsewhere,
                                            const std::function<bool()>& fits) {
  const std::vector<PodIndex> leaving = leavers_of(nodes, elsewhere);
  std::vector<PodIndex> fresh = leaving;
  const auto taken =
      std::ranges::stable_partition(fresh, [this](PodIndex pod) { return !is_taken(pod); });
  if (!taken.empty()) {
    const Scratch::Checkpoint before = now_.checkpoint();
    now_.remove(std::span<const PodIndex>(taken));
    place_earlier_asks(nodes);
    fresh.erase(taken.begin(), taken.end());
    std::vector<PodIndex> needed = reduce_leavers(fresh, fits);
    now_.rollback(before);
    if (!needed.empty()) return needed;
  }
  return reduce_leavers(leaving, fits);
}

}  // namespace makeway
