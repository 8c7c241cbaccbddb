#include "engine/world.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/required_node.hpp"

namespace makeway {
namespace {

/// Sorts by the name of the node, then as `before` says.
template <class Before>
void sort_by_node(const Cluster& cluster, std::vector<PodOnNode>& pods, const Before& before) {
  std::ranges::sort(pods, [&](const PodOnNode& a, const PodOnNode& b) {
    if (a.node == b.node) return before(a.pod, b.pod);
    return cluster.text(cluster.nodes().name[a.node]) < cluster.text(cluster.nodes().name[b.node]);
  });
}

}  // namespace

World::World(const Cluster& cluster, const Configuration& configuration, Time now)
    : cluster_(cluster),
      common_(configuration),
      configuration_(&configuration),
      profiles_(differing_profiles(configuration)),
      survey_(cluster, configuration),
      rules_(survey_, configuration, now),
      budgets_(survey_),
      steps_{.left = configuration.engine.plan_steps_max},
      now_(cluster),
      after_(cluster),
      after_without_arrivals_(cluster),
      gone_rank_(cluster.pods().slots()),
      taken_(cluster.pods().slots()),
      decided_(cluster.pods().slots()) {
  find_nominated();
  find_leaving();
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

void World::find_nominated() {
  for (const PodIndex pod : cluster_.nominated_pods()) {
    const NodeIndex node = cluster_.pods().nominated[pod];
    if (!cluster_.nodes().flags[node].exists) continue;
    if (!survey_.regimes().may_go(pod, node)) continue;  // Void.
    // Who only has its node reserved holds nothing there yet (section 5).
    const bool only_reserved =
        asks_pinned(pod) && cluster_.notes(cluster_.pods().notes[pod]).only_reserved();
    if (only_reserved || (void_when_infeasible(pod) && !survey_.could_take(pod, node))) {
      survey_.void_nomination_of(pod);
      continue;
    }
    if (asks_pinned(pod) && can_use(pod, node)) survey_.keep_room_of(pod);
    const bool looks = looks_at_others(cluster_.shape(cluster_.pods().shape[pod]));
    (looks ? nominated_before_ : nominated_anyhow_).push_back({.pod = pod, .node = node});
  }
  for (std::vector<PodOnNode>* list : {&nominated_before_, &nominated_anyhow_}) {
    sort_by_node(cluster_, *list, [this](PodIndex a, PodIndex b) {
      return cluster_.pod_key(a) < cluster_.pod_key(b);
    });
  }
}

/// Whether a nomination to a node that would not take the pod, were it empty, holds nothing.
/// kube-scheduler has no such rule; kernels have rules of their own about which nodes take them.
bool World::void_when_infeasible(PodIndex pod) const {
  if (cluster_.pods().flags[pod].kernel) return false;
  return asks_pinned(pod) || common_.workload.nomination_held_by == NominationHeldBy::placement;
}

/// Whether the pinned pod would fit on the node, were it empty.
bool World::can_use(PodIndex pod, NodeIndex node) {
  const std::string_view name = cluster_.text(cluster_.nodes().name[node]);
  return required_node_of(cluster_, pod) == name && survey_.could_take(pod, node);
}

void World::find_leaving() {
  std::vector<PodOnNode> leaving;
  for (const PodIndex pod : cluster_.leaving_pods()) {
    const NodeIndex node = cluster_.pods().node[pod];
    if (!rules_.credited(pod)) continue;  // On a lost node, too: it may hold a claim.
    if (rules_.late(pod)) {
      late_.push_back(pod);
    } else {
      leaving.push_back({.pod = pod, .node = node});
    }
  }
  sort_late();
  sort_by_node(cluster_, leaving,
               [this](PodIndex a, PodIndex b) { return cluster_.more_important(a, b); });
  for (const PodOnNode& item : leaving) {
    after_.remove(item.pod);
    after_without_arrivals_.remove(item.pod);
    gone_.push_back(item.pod);
    gone_rank_.writable(item.pod) = static_cast<std::uint32_t>(gone_.size());
  }
  gone_before_ = gone_.size();
  differs_ = !gone_.empty();
  end_operation();
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
  CHECK(!rules_.settled(pod), "somebody has decided about the pod in this cycle already");
  rules_.settle(pod);
  settled_log_.push_back(pod);
}

void World::decided(PodIndex pod) {
  CHECK(!is_decided(pod), "a pod is decided once");
  decided_.writable(pod) = turn_is_over;
  note_nominated_node(pod);
}

void World::lose_nomination(PodIndex pod) {
  CHECK(!is_decided(pod), "a pod that is decided holds no room by a nomination");
  decided_.writable(pod) = nomination_is_lost;
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

// ---- Who waits for whom -------------------------------------------------------------------------

void World::take(PodIndex leaving) {
  if (!is_taken(leaving)) taken_.writable(leaving) = 1;
}

void World::await(std::span<const PodIndex> leaving) {
  // Whoever is waited for is gone for everybody, however late.
  std::vector<PodIndex> late;
  std::ranges::copy_if(late_, std::back_inserter(late), [&](PodIndex pod) {
    return std::ranges::find(leaving, pod) != leaving.end();
  });
  if (!late.empty()) credit_late(late);
  for (const PodIndex pod : leaving) {
    CHECK(now_.node_of(pod).exists(), "who is awaited is still there");
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
      "only who is late is credited late");
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
  sort_late();
  end_operation();
}

/// By name, whatever the order of slots.
void World::sort_late() {
  const PodColumns& pods = cluster_.pods();
  std::ranges::sort(late_, {}, [&](PodIndex pod) {
    return std::tuple(cluster_.text(pods.plane[pod]), cluster_.text(pods.namespace_name[pod]),
                      std::string_view(pods.name[pod.value]));
  });
}

/// Those of other nodes first: they are put back first, since they seldom matter.
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
    // Late ones first: they are spared the waiting for before others are.
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

/// They are gone from `now`, and whoever need not be comes back.
std::vector<PodIndex> World::reduce_leavers(std::span<const PodIndex> leaving,
                                            const std::function<bool()>& fits) {
  std::vector<PodIndex> needed;
  const Scratch::Checkpoint before = now_.checkpoint();
  now_.remove(leaving);
  const bool enough = fits();
  for (const PodIndex pod : leaving) {
    if (!enough) break;  // It waits for somebody to come, not for somebody to go.
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
