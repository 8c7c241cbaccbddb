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

// ---- Promises -----------------------------------------------------------------------------------
//
// Which pod is promised which place, and whether a trial leaves it to that pod
// (docs/decisions/0013-promises.md).

namespace {

/// Whether a pod that leaves can cost it its place: one that it wants to be near, or with a volume
/// of its own attached to a node that has more than it takes.
bool depends_on_others(Survey& survey, ShapeId id) {
  const PodShape& shape = survey.cluster().shape(id);
  if (!shape.affinity.empty() || !shape.spread.empty()) return true;
  return std::ranges::any_of(survey.claims_of(id).volumes, [&](const AttachedVolume& volume) {
    return survey.is_limited(volume.driver);
  });
}

}  // namespace

/// Checks whether pods that are to come still fit where they are to go, with no tentative
/// nomination in the world; in the end, and in their turns.
class World::PromiseKeeper {
 public:
  explicit PromiseKeeper(World& world) : world_(world), cluster_(world.cluster_) {}

  /// Remembers which promises stand before anything is tried.
  void learn_promises() const {
    PromiseWatch& watch = world_.promise_watch_;
    const bool tried = world_.after_.checkpoint() != world_.after_end_;
    if (tried || watch.size() > 0 || !world_.tentative_nominations_.empty()) return;
    for (const PodOnNode& place : world_.promises_) {
      watch.learn(place.node, world_.fit_of(place.pod), fits(place));
    }
  }

  bool promises_fit() const {
    const std::vector<PodOnNode>& promises = world_.promises_;
    const PromiseWatch& watch = world_.promise_watch_;
    if (watch.size() != promises.size() || !world_.tentative_nominations_.empty())
      return all_fit(promises);
    return std::ranges::all_of(watch.doubtful(world_.after_.moves_since(world_.after_end_)),
                               [&](std::uint32_t position) { return fits(promises[position]); });
  }

  bool all_fit(std::span<const PodOnNode> places) const {
    Scratch& after = world_.after_;
    const Scratch::Checkpoint before = after.checkpoint();
    after.remove(world_.tentative_nominations_);
    const bool all =
        std::ranges::all_of(places, [&](const PodOnNode& place) { return fits(place); });
    after.rollback(before);
    return all;
  }

  /// Of these nominations from before: those that block the ask, and are valid so far. One may
  /// be so only once others of them have come.
  std::vector<PodOnNode> held_against(PodIndex ask, std::span<const Hold> nominated) const {
    std::vector<PodOnNode> held = respected_by(ask, nominated);
    std::optional<std::vector<PodIndex>> stuck;
    std::erase_if(held, [&](const PodOnNode& place) {
      if (all_fit(std::span(&place, 1))) return false;
      if (!stuck) {
        std::vector<PodOnNode> all = respected_by(ask, world_.holds_.constrained());
        const std::vector<PodOnNode> others = respected_by(ask, world_.holds_.unconstrained());
        all.insert(all.end(), others.begin(), others.end());
        stuck = find_stuck(all);
      }
      return std::ranges::find(*stuck, place.pod) != stuck->end();
    });
    return held;
  }

  /// Of pods that come together: those that fit in no order, as two that only want to be together.
  std::vector<PodIndex> find_stuck(std::span<const PodOnNode> together) const {
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
    const std::vector<PodIndex> stuck = find_stuck(arriving);
    return std::ranges::none_of(held, [&](const PodOnNode& place) {
      return std::ranges::find(stuck, place.pod) != stuck.end();
    });
  }

  /// Whether every pod that is to come still fits in its turn, before those after it come, when
  /// these victims have left and these have come before all of them.
  bool keeps_turns(std::span<const PodOnNode> first, std::span<const PodIndex> victims) const {
    if (world_.promises_made_ == 0 || !any_relevant(first, victims)) return true;
    if (!world_.turns_known_) {
      walk_turns([](Coming& each, bool fits) {
        each.stands = fits;
        return true;
      });
      world_.turns_known_ = true;
    }
    Scratch& without_arrivals = world_.after_without_arrivals_;
    const Scratch::Checkpoint before = without_arrivals.checkpoint();
    for (const PodIndex victim : victims) {
      if (without_arrivals.node_of(victim).exists()) without_arrivals.remove(victim);
    }
    for (const PodOnNode& place : first) without_arrivals.place(place.pod, place.node);
    const bool kept =
        walk_turns([](const Coming& each, bool fits) { return fits || !each.stands; });
    without_arrivals.rollback(before);
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

  std::vector<PodOnNode> respected_by(PodIndex ask, std::span<const Hold> nominated) const {
    std::vector<PodOnNode> respected;
    if (!world_.respect_earlier_nominations_ || nominated.empty()) return respected;
    HoldAsk own = world_.holds_.ask_of(ask);
    own.unit = cluster_.pods().unit[ask];
    for (const Hold& hold : nominated) {
      if (!world_.holds_.blocks(hold, own, world_.after_)) continue;
      respected.push_back({.pod = hold.pod, .node = hold.node});
    }
    return respected;
  }

  /// Whether one of these matters to a pod that was promised a place, besides room.
  bool any_relevant(std::span<const PodOnNode> first, std::span<const PodIndex> victims) const {
    const auto relevant = [this](PodIndex pod) {
      return std::ranges::any_of(world_.arrival_fits_, [&](const auto& entry) {
        return entry.second->constraints().heeds(pod);
      });
    };
    return std::ranges::any_of(victims, relevant) ||
           std::ranges::any_of(first, relevant, &PodOnNode::pod);
  }

  /// They come to `after_without_arrivals` turn by turn, and `each` hears whether it fits then;
  /// false ends it.
  template <class Each>
  bool walk_turns(const Each& each) const {
    Scratch& without_arrivals = world_.after_without_arrivals_;
    std::vector<Coming>& coming = world_.coming_;
    const Scratch::Checkpoint before = without_arrivals.checkpoint();
    bool goes_on = true;
    for (std::size_t begin = 0; begin < coming.size() && goes_on;) {
      std::size_t end = begin + 1;
      while (end < coming.size() && coming[end].turn == coming[begin].turn) ++end;
      goes_on = walk_turn(std::span(coming).subspan(begin, end - begin), each);
      begin = end;
    }
    without_arrivals.rollback(before);
    return goes_on;
  }

  /// Of pods that come together each may be the one that another needs.
  template <class Each>
  bool walk_turn(std::span<Coming> together, const Each& each) const {
    Scratch& without_arrivals = world_.after_without_arrivals_;
    std::vector<Coming*> open;
    for (Coming& one : together) open.push_back(&one);
    const auto comes = [&](const Coming* one) {
      const PodOnNode& place = one->place;
      if (one->depends && world_.arrival_fit_of(place.pod).check_unreserved(place.node))
        return false;
      without_arrivals.place(place.pod, place.node);
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
      without_arrivals.place(one->place.pod, one->place.node);
    }
    return goes_on;
  }

  World& world_;
  const Cluster& cluster_;
};

// ---- Arrivals -----------------------------------------------------------------------------------

void World::nominate(PodIndex pod, NodeIndex node, std::span<const PodIndex> victims) {
  const PodOnNode coming{.pod = pod, .node = node};
  nominate(std::span(&coming, 1), victims);
}

/// A place that depends on other pods is promised, unless the nomination is tentative.
void World::promise(const PodOnNode& place, bool may_be_tentative) {
  const bool depends = depends_on_others(survey_, cluster_.pods().shape[place.pod]);
  // Kernels have rules of their own about which nodes take them.
  may_be_tentative = may_be_tentative && !cluster_.pods().flags[place.pod].kernel;
  if (!depends && !may_be_tentative) {
    coming_.push_back({.place = place, .turn = turns_});
    return;
  }
  const Scratch::Checkpoint before = after_.checkpoint();
  after_.remove(place.pod);
  PodFit& fit = fit_of(place.pod);
  const bool tentative = fit.check_unreserved(place.node) ||
                         needs_tentative_nomination(fit, place.node, {}) ||
                         (may_be_tentative && !keeps_promises(place.pod, place.node, {}));
  after_.rollback(before);
  if (tentative) {
    tentative_nominations_.push_back(place.pod);
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
  arrival_fit_of(place.pod);  // So that it is known what it heeds.
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
  if (!fit) fit = std::make_unique<PodFit>(survey_, after_, pod, holds_);
  return *fit;
}

PodFit& World::arrival_fit_of(PodIndex pod) {
  std::unique_ptr<PodFit>& fit = arrival_fits_[fit_key(pod)];
  if (!fit) fit = std::make_unique<PodFit>(survey_, after_without_arrivals_, pod, holds_);
  return *fit;
}

/// Pods of one turn come by name, as their places stand in the plan: the order in which a search
/// found the places must not decide whether one can follow another.
void World::nominate(std::span<const PodOnNode> coming, std::span<const PodIndex> victims) {
  std::vector<PodOnNode> by_name(coming.begin(), coming.end());
  const PodColumns& pods = cluster_.pods();
  std::ranges::stable_sort(by_name, {}, [&](const PodOnNode& place) {
    return std::string_view(pods.name[place.pod.value]);
  });
  leave(victims);
  for (const PodIndex victim : victims) take(victim);
  const bool may_be_tentative = victims.empty() && may_move();
  std::vector<PodIndex> stuck;
  if (may_be_tentative && coming.size() > 1) stuck = PromiseKeeper(*this).find_stuck(by_name);
  for (const PodOnNode& place : by_name) {
    changed_nodes_.push_back(place.node);
    after_.place(place.pod, place.node);
  }
  ++turns_;
  tentative_nominations_.insert(tentative_nominations_.end(), stuck.begin(), stuck.end());
  for (const PodOnNode& place : by_name) {
    if (std::ranges::find(stuck, place.pod) == stuck.end()) promise(place, may_be_tentative);
  }
  for (const PodOnNode& place : by_name) {
    if (may_move() || is_tentative(place.pod)) uncertain_arrivals_.push_back(place.pod);
    settle(place.pod);
  }
  differs_ = true;
  end_operation();
}

// ---- What may be done ---------------------------------------------------------------------------

bool World::must_check_promises(PodIndex ask) const {
  if (has_promises()) return true;
  return respect_earlier_nominations_ && !holds_.unconstrained().empty() &&
         looks_at_others(cluster_.shape(cluster_.pods().shape[ask]));
}

bool World::keeps_promises(PodIndex ask, NodeIndex node, std::span<const PodIndex> victims) {
  const PodOnNode coming{.pod = ask, .node = node};
  return keeps_promises(std::span(&coming, 1), victims);
}

bool World::keeps_promises(std::span<const PodOnNode> coming, std::span<const PodIndex> victims) {
  const auto heeds = [this](const PodOnNode& place) { return must_check_promises(place.pod); };
  if (std::ranges::none_of(coming, heeds)) return true;
  const bool looks = std::ranges::any_of(coming, [this](const PodOnNode& place) {
    return looks_at_others(cluster_.shape(cluster_.pods().shape[place.pod]));
  });
  const PromiseKeeper keeper(*this);
  keeper.learn_promises();
  const PodIndex ask = coming.front().pod;
  const std::vector<PodOnNode> held = keeper.held_against(ask, holds_.constrained());
  std::vector<PodOnNode> arriving;
  if (looks || !promises_.empty() || !held.empty()) {
    arriving = keeper.held_against(ask, holds_.unconstrained());
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
  // Earlier places must not depend on pods that have not arrived.
  bool kept = keeper.promises_fit();
  for (const PodOnNode& place : coming) after_.place(place.pod, place.node);
  kept = kept && keeper.promises_fit() && (keeper.all_fit(held) || keeper.can_come(held, arriving));
  if (kept && !arriving.empty()) {
    // They will come, and find no place if a promised place would be lost by that.
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

bool World::needs_uncertain_arrival(PodFit& fit, NodeIndex node,
                                    std::span<const PodIndex> victims) {
  if (uncertain_arrivals_.empty() || !fit.constraints().any()) return false;
  if (!may_move()) return needs_tentative_nomination(fit, node, victims);
  // `after_without_arrivals` is the world without all of them: what is tried in `after` is tried
  // there.
  const Scratch::Checkpoint before = after_without_arrivals_.checkpoint();
  for (const Scratch::Move& move : after_.moves_since(after_end_)) {
    const bool there = after_without_arrivals_.node_of(move.pod).exists();
    if (move.came && !there) after_without_arrivals_.place(move.pod, move.node);
    if (!move.came && there) after_without_arrivals_.remove(move.pod);
  }
  for (const PodIndex victim : victims) {
    if (after_without_arrivals_.node_of(victim).exists()) after_without_arrivals_.remove(victim);
  }
  std::unique_ptr<PodFit>& alone = ask_fits_without_arrivals_[fit_key(fit.ask())];
  if (!alone) alone = std::make_unique<PodFit>(survey_, after_without_arrivals_, fit.ask(), holds_);
  const bool refused = alone->check_unreserved(node).has_value();
  after_without_arrivals_.rollback(before);
  return refused;
}

bool World::needs_tentative_nomination(PodFit& fit, NodeIndex node,
                                       std::span<const PodIndex> victims) {
  if (tentative_nominations_.empty() || !fit.constraints().any()) return false;
  const Scratch::Checkpoint before = after_.checkpoint();
  after_.remove(tentative_nominations_);
  for (const PodIndex victim : victims) {
    if (after_.node_of(victim).exists()) after_.remove(victim);
  }
  const bool refused = fit.check_unreserved(node).has_value();
  after_.rollback(before);
  return refused;
}

World::NominatedBeforeIgnored::NominatedBeforeIgnored(World& world)
    : world_(world), before_(std::exchange(world.respect_earlier_nominations_, false)) {}

World::NominatedBeforeIgnored::~NominatedBeforeIgnored() {
  world_.respect_earlier_nominations_ = before_;
}

void World::NominationsIgnored::ignore(PodIndex pod) {
  if (!world_.holds_.is_open(pod)) return;
  world_.holds_.ignore(pod);
  pods_.push_back(pod);
}

World::NominationsIgnored::~NominationsIgnored() {
  for (const PodIndex pod : pods_) world_.holds_.open(pod);
}

}  // namespace makeway
