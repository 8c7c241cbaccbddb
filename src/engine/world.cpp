#include "engine/world.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/required_node.hpp"

namespace makeway {
namespace {

bool looks_at_others(const PodShape& shape) {
  return !shape.affinity.empty() || !shape.anti_affinity.empty() || !shape.spread.empty() ||
         !shape.claims.empty();
}

/// Whether somebody who leaves can cost it its place: whom it wants to be near, or who has a volume
/// of its own attached to a node that has more than it takes.
bool depends_on_others(Survey& survey, ShapeId id) {
  const PodShape& shape = survey.cluster().shape(id);
  if (!shape.affinity.empty() || !shape.spread.empty()) return true;
  return std::ranges::any_of(survey.claims_of(id).volumes, [&](const AttachedVolume& volume) {
    return survey.is_limited(volume.driver);
  });
}

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
      configuration_(configuration),
      survey_(cluster, configuration),
      rules_(survey_, configuration, now),
      budgets_(survey_),
      steps_{.left = configuration.engine.plan_steps_max},
      now_(cluster),
      after_(cluster),
      firm_(cluster),
      gone_rank_(cluster.pods().slots()),
      taken_(cluster.pods().slots()),
      decided_(cluster.pods().slots()) {
  find_nominated();
  find_leaving();
}

World::~World() = default;

void World::find_nominated() {
  for (const PodIndex pod : cluster_.nominated_pods()) {
    const NodeIndex node = cluster_.pods().nominated[pod];
    if (!cluster_.nodes().flags[node].exists) continue;
    if (!survey_.regimes().may_go(pod, node)) continue;  // Void.
    // Who only has its node reserved holds nothing there yet (section 5).
    const bool only_reserved =
        asks_pinned(pod) && cluster_.notes(cluster_.pods().notes[pod]).only_reserved();
    if (only_reserved || (ends_when_hopeless(pod) && !survey_.could_take(pod, node))) {
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
bool World::ends_when_hopeless(PodIndex pod) const {
  if (cluster_.pods().flags[pod].kernel) return false;
  return asks_pinned(pod) ||
         configuration_.workload.nomination_held_by == NominationHeldBy::placement;
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
    const bool counts = cluster_.nodes().flags[node].exists && rules_.credited(pod);
    if (!counts) continue;
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
    firm_.remove(item.pod);
    gone_.push_back(item.pod);
    gone_rank_.writable(item.pod) = static_cast<std::uint32_t>(gone_.size());
  }
  gone_before_ = gone_.size();
  differs_ = !gone_.empty();
  end_operation();
}

bool World::suppose_nothing_happened() {
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
  return configuration_.required_node.enabled && is_pinned(cluster_, pod);
}

bool World::is_hopeful(PodIndex pod) const {
  return std::ranges::find(hopeful_, pod) != hopeful_.end();
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
  firm_.place(pod, node);
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
    firm_.remove(victim);
    gone_.push_back(victim);
    gone_rank_.writable(victim) = static_cast<std::uint32_t>(gone_.size());
  }
  budgets_.commit(victims);
  end_operation();
}

void World::nominate(PodIndex pod, NodeIndex node, std::span<const PodIndex> victims) {
  const PodOnNode coming{.pod = pod, .node = node};
  nominate(std::span(&coming, 1), victims);
}

/// Whoever comes to a place that depends on others is promised it, unless it only hopes for it.
void World::promise(const PodOnNode& place, bool may_hope) {
  const bool depends = depends_on_others(survey_, cluster_.pods().shape[place.pod]);
  // Kernels have rules of their own about which nodes take them.
  may_hope = may_hope && !cluster_.pods().flags[place.pod].kernel;
  if (!depends && !may_hope) {
    coming_.push_back({.place = place, .turn = turns_});
    return;
  }
  const Scratch::Checkpoint before = after_.checkpoint();
  after_.remove(place.pod);
  PodFit& fit = fit_of(place.pod);
  const bool hopes = fit.check_unreserved(place.node) || leans_on_hopeful(fit, place.node, {}) ||
                     (may_hope && !keeps_promises(place.pod, place.node, {}));
  after_.rollback(before);
  if (hopes) {
    hopeful_.push_back(place.pod);
    return;
  }
  coming_.push_back({.place = place, .turn = turns_, .depends = depends});
  if (depends) add_promise(place);
}

void World::add_promise(const PodOnNode& place) {
  ++promises_made_;
  const PodColumns& pods = cluster_.pods();
  const PodShape& shape = cluster_.shape(pods.shape[place.pod]);
  std::vector<std::uint32_t> kind = {pods.shape[place.pod].value, pods.labels[place.pod].value,
                                     pods.namespace_name[place.pod].value,
                                     pods.notes[place.pod].value, pods.requests[place.pod].value};
  const auto add_domain = [&](const auto& term) {
    kind.push_back(survey_.topology(term.topology_key).domain[place.node]);
  };
  std::ranges::for_each(shape.affinity, add_domain);
  std::ranges::for_each(shape.spread, add_domain);
  if (!shape.claims.empty()) kind.push_back(place.node.value);
  if (!promise_kinds_.insert(std::move(kind)).second) return;
  promises_.push_back(place);
  firm_fit_of(place.pod);  // So that it is known what it heeds.
}

World::FitKey World::fit_key(PodIndex pod) const {
  const PodColumns& pods = cluster_.pods();
  return {pods.requests[pod],
          pods.shape[pod],
          pods.labels[pod],
          pods.namespace_name[pod],
          pods.notes[pod],
          survey_.regimes().of(pod),
          survey_.regimes().crosses(pod)};
}

PodFit& World::fit_of(PodIndex pod) {
  std::unique_ptr<PodFit>& fit = fits_[fit_key(pod)];
  if (!fit) fit = std::make_unique<PodFit>(survey_, after_, pod, decided_);
  return *fit;
}

PodFit& World::firm_fit_of(PodIndex pod) {
  std::unique_ptr<PodFit>& fit = firm_fits_[fit_key(pod)];
  if (!fit) fit = std::make_unique<PodFit>(survey_, firm_, pod, decided_);
  return *fit;
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
    firm_.remove(pod);
    gone_.push_back(pod);
    lent_.push_back(pod);
  }
  CHECK(
      std::erase_if(late_, [&](PodIndex pod) { return credited.contains(pod); }) == credited.size(),
      "only who is late is credited late");
  differs_ = differs_ || !gone_.empty();
  end_operation();
}

void World::return_late() {
  if (lent_.empty()) return;
  begin_operation();
  std::set<PodIndex> back;
  for (const PodIndex pod : lent_) {
    if (is_taken(pod)) {
      changed_nodes_.push_back(cluster_.pods().node[pod]);
      continue;
    }
    after_.put_back(std::span(&pod, 1));
    firm_.put_back(std::span(&pod, 1));
    back.insert(pod);
  }
  lent_.clear();
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
void World::suppose_earlier_asks_came(std::span<const NodeIndex> nodes) {
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
    suppose_earlier_asks_came(nodes);
    fresh.erase(taken.begin(), taken.end());
    std::vector<PodIndex> needed = reduce_leavers(fresh, fits);
    now_.rollback(before);
    if (!needed.empty()) return needed;
  }
  return reduce_leavers(leaving, fits);
}

// ---- Promises -----------------------------------------------------------------------------------

/// Looks whether pods that are to come still fit where they are to go, with nobody in the world who
/// only hopes for a place; in the end, and in their turns.
class World::PromiseKeeper {
 public:
  explicit PromiseKeeper(World& world) : world_(world), cluster_(world.cluster_) {}

  /// Remembers which promises stand before anything is tried.
  void learn_promises() const {
    PromiseWatch& watch = world_.promise_watch_;
    const bool tried = world_.after_.checkpoint() != world_.after_end_;
    if (tried || watch.size() > 0 || !world_.hopeful_.empty()) return;
    for (const PodOnNode& place : world_.promises_) {
      watch.learn(place.node, world_.fit_of(place.pod), fits(place));
    }
  }

  bool promises_fit() const {
    const std::vector<PodOnNode>& promises = world_.promises_;
    const PromiseWatch& watch = world_.promise_watch_;
    if (watch.size() != promises.size() || !world_.hopeful_.empty()) return all_fit(promises);
    return std::ranges::all_of(watch.doubtful(world_.after_.moves_since(world_.after_end_)),
                               [&](std::uint32_t position) { return fits(promises[position]); });
  }

  bool all_fit(std::span<const PodOnNode> places) const {
    Scratch& after = world_.after_;
    const Scratch::Checkpoint before = after.checkpoint();
    after.remove(world_.hopeful_);
    const bool all =
        std::ranges::all_of(places, [&](const PodOnNode& place) { return fits(place); });
    after.rollback(before);
    return all;
  }

  /// Of these nominations from before: which the ask has to respect, and are valid so far.
  std::vector<PodOnNode> held_against(PodIndex ask, std::span<const PodOnNode> nominated) const {
    std::vector<PodOnNode> held;
    if (!world_.heeds_before_) return held;
    const UnitIndex own = cluster_.pods().unit[ask];
    const std::int32_t priority = cluster_.units()[own].scheduling_priority;
    for (const PodOnNode& place : nominated) {
      const UnitIndex unit = cluster_.pods().unit[place.pod];
      if (unit == own || !world_.may_hold_room(place.pod)) continue;
      if (world_.after_.node_of(place.pod).exists()) continue;
      if (cluster_.units()[unit].scheduling_priority < priority) continue;
      if (all_fit(std::span(&place, 1))) held.push_back(place);
    }
    return held;
  }

  /// Of those who come together: who fits in no order, as two who only want to be near each other.
  std::vector<PodIndex> who_cannot_come(std::span<const PodOnNode> together) const {
    Scratch& after = world_.after_;
    const Scratch::Checkpoint before = after.checkpoint();
    std::vector<PodOnNode> open(together.begin(), together.end());
    for (bool came = true; came;) {
      came = std::erase_if(open, [&](const PodOnNode& place) {
               if (world_.fit_of(place.pod).check_unreserved(place.node)) return false;
               after.place(place.pod, place.node);
               return true;
             }) > 0;
    }
    after.rollback(before);
    std::vector<PodIndex> pods(open.size());
    std::ranges::transform(open, pods.begin(), &PodOnNode::pod);
    return pods;
  }

  /// Whether these fit when all come, one after the other; alone they may look uneven.
  bool can_come(std::span<const PodOnNode> held, std::span<const PodOnNode> arriving) const {
    const std::vector<PodIndex> stuck = who_cannot_come(arriving);
    return std::ranges::none_of(held, [&](const PodOnNode& place) {
      return std::ranges::find(stuck, place.pod) != stuck.end();
    });
  }

  /// Whether everybody who is to come still fits in its turn, before those after it have come, when
  /// these victims have left and these have come before all of them.
  bool keeps_turns(std::span<const PodOnNode> first, std::span<const PodIndex> victims) const {
    if (world_.promises_made_ == 0 || !anybody_heeded(first, victims)) return true;
    if (!world_.turns_known_) {
      walk_turns([](Coming& each, bool fits) {
        each.stands = fits;
        return true;
      });
      world_.turns_known_ = true;
    }
    Scratch& firm = world_.firm_;
    const Scratch::Checkpoint before = firm.checkpoint();
    for (const PodIndex victim : victims) {
      if (firm.node_of(victim).exists()) firm.remove(victim);
    }
    for (const PodOnNode& place : first) firm.place(place.pod, place.node);
    const bool kept =
        walk_turns([](const Coming& each, bool fits) { return fits || !each.stands; });
    firm.rollback(before);
    return kept;
  }

 private:
  /// Whether the pod is there already or not.
  bool fits(const PodOnNode& place) const {
    Scratch& after = world_.after_;
    const Scratch::Checkpoint before = after.checkpoint();
    if (after.node_of(place.pod).exists()) after.remove(place.pod);
    const bool fits = !world_.fit_of(place.pod).check_unreserved(place.node);
    after.rollback(before);
    return fits;
  }

  /// Whether one of these means anything to somebody who was promised a place, besides room.
  bool anybody_heeded(std::span<const PodOnNode> first, std::span<const PodIndex> victims) const {
    const auto heeded = [this](PodIndex pod) {
      return std::ranges::any_of(world_.firm_fits_, [&](const auto& entry) {
        return entry.second->constraints().heeds(pod);
      });
    };
    return std::ranges::any_of(victims, heeded) ||
           std::ranges::any_of(first, heeded, &PodOnNode::pod);
  }

  /// They come to `firm` turn by turn, and `each` hears whether it fits then; false ends it.
  template <class Each>
  bool walk_turns(const Each& each) const {
    Scratch& firm = world_.firm_;
    std::vector<Coming>& coming = world_.coming_;
    const Scratch::Checkpoint before = firm.checkpoint();
    bool goes_on = true;
    for (std::size_t begin = 0; begin < coming.size() && goes_on;) {
      std::size_t end = begin + 1;
      while (end < coming.size() && coming[end].turn == coming[begin].turn) ++end;
      goes_on = walk_turn(std::span(coming).subspan(begin, end - begin), each);
      begin = end;
    }
    firm.rollback(before);
    return goes_on;
  }

  /// Of those who come together each may be the one that another needs.
  template <class Each>
  bool walk_turn(std::span<Coming> together, const Each& each) const {
    Scratch& firm = world_.firm_;
    std::vector<Coming*> open;
    for (Coming& one : together) open.push_back(&one);
    const auto comes = [&](const Coming* one) {
      const PodOnNode& place = one->place;
      if (one->depends && world_.firm_fit_of(place.pod).check_unreserved(place.node)) return false;
      firm.place(place.pod, place.node);
      return true;
    };
    bool goes_on = true;
    for (bool came = true; came;) {
      came = std::erase_if(open, [&](Coming* one) {
               const bool fits = comes(one);
               if (fits) goes_on = each(*one, true) && goes_on;
               return fits;
             }) > 0;
    }
    for (Coming* one : open) {
      goes_on = each(*one, false) && goes_on;
      firm.place(one->place.pod, one->place.node);
    }
    return goes_on;
  }

  World& world_;
  const Cluster& cluster_;
};

void World::nominate(std::span<const PodOnNode> coming, std::span<const PodIndex> victims) {
  leave(victims);
  for (const PodIndex victim : victims) take(victim);
  const bool may_hope = victims.empty() && configuration_.workload.nomination_held_by ==
                                               NominationHeldBy::preempted_pods;
  std::vector<PodIndex> stuck;
  if (may_hope && coming.size() > 1) stuck = PromiseKeeper(*this).who_cannot_come(coming);
  for (const PodOnNode& place : coming) {
    changed_nodes_.push_back(place.node);
    after_.place(place.pod, place.node);
  }
  ++turns_;
  hopeful_.insert(hopeful_.end(), stuck.begin(), stuck.end());
  for (const PodOnNode& place : coming) {
    if (std::ranges::find(stuck, place.pod) == stuck.end()) promise(place, may_hope);
  }
  for (const PodOnNode& place : coming) settle(place.pod);
  differs_ = true;
  end_operation();
}

bool World::heeds_promises(PodIndex ask) const {
  if (anybody_promised()) return true;
  return heeds_before_ && !nominated_anyhow_.empty() &&
         looks_at_others(cluster_.shape(cluster_.pods().shape[ask]));
}

bool World::keeps_promises(PodIndex ask, NodeIndex node, std::span<const PodIndex> victims) {
  const PodOnNode coming{.pod = ask, .node = node};
  return keeps_promises(std::span(&coming, 1), victims);
}

bool World::keeps_promises(std::span<const PodOnNode> coming, std::span<const PodIndex> victims) {
  const auto heeds = [this](const PodOnNode& place) { return heeds_promises(place.pod); };
  if (std::ranges::none_of(coming, heeds)) return true;
  const bool looks = std::ranges::any_of(coming, [this](const PodOnNode& place) {
    return looks_at_others(cluster_.shape(cluster_.pods().shape[place.pod]));
  });
  const PromiseKeeper keeper(*this);
  keeper.learn_promises();
  const PodIndex ask = coming.front().pod;
  const std::vector<PodOnNode> held = keeper.held_against(ask, nominated_before_);
  std::vector<PodOnNode> arriving;
  if (looks || !promises_.empty() || !held.empty()) {
    arriving = keeper.held_against(ask, nominated_anyhow_);
    arriving.insert(arriving.end(), held.begin(), held.end());
  }
  const auto arrive = [&] {
    for (const PodOnNode& place : arriving) after_.place(place.pod, place.node);
  };
  const Scratch::Checkpoint before = after_.checkpoint();
  for (const PodOnNode& place : coming) {
    if (after_.node_of(place.pod).exists()) after_.remove(place.pod);
  }
  const Scratch::Checkpoint untouched = after_.checkpoint();
  for (const PodIndex victim : victims) {
    if (after_.node_of(victim).exists()) after_.remove(victim);
  }
  // Those for whom it is said already must not lean on who has not arrived.
  bool kept = keeper.promises_fit();
  for (const PodOnNode& place : coming) after_.place(place.pod, place.node);
  kept = kept && keeper.promises_fit() && (keeper.all_fit(held) || keeper.can_come(held, arriving));
  if (kept && !arriving.empty()) {
    // They will come, and find no place if somebody who is promised one would lose it by that.
    arrive();
    kept = !looks || keeper.all_fit(coming);
    if (kept && !keeper.promises_fit()) {
      // Not the fault of the ask if it would be so without the ask and its victims.
      after_.rollback(untouched);
      arrive();
      kept = !keeper.promises_fit();
    }
  }
  after_.rollback(before);
  return kept && keeper.keeps_turns({}, victims);
}

bool World::may_bind(PodIndex ask, NodeIndex node) {
  const PodOnNode coming{.pod = ask, .node = node};
  return may_bind(std::span(&coming, 1));
}

bool World::may_bind(std::span<const PodOnNode> coming) {
  return PromiseKeeper(*this).keeps_turns(coming, {});
}

bool World::leans_on_hopeful(PodFit& fit, NodeIndex node, std::span<const PodIndex> victims) {
  if (hopeful_.empty() || !fit.constraints().any()) return false;
  const Scratch::Checkpoint before = after_.checkpoint();
  after_.remove(hopeful_);
  for (const PodIndex victim : victims) {
    if (after_.node_of(victim).exists()) after_.remove(victim);
  }
  const bool refused = fit.check_unreserved(node).has_value();
  after_.rollback(before);
  return refused;
}

World::NominatedBeforeIgnored::NominatedBeforeIgnored(World& world)
    : world_(world), before_(std::exchange(world.heeds_before_, false)) {}

World::NominatedBeforeIgnored::~NominatedBeforeIgnored() { world_.heeds_before_ = before_; }

void World::NominationsIgnored::ignore(PodIndex pod) {
  if (!world_.may_hold_room(pod)) return;
  world_.decided_.writable(pod) = turn_is_over;
  pods_.push_back(pod);
}

World::NominationsIgnored::~NominationsIgnored() {
  for (const PodIndex pod : pods_) world_.decided_.writable(pod) = 0;
}

}  // namespace makeway
