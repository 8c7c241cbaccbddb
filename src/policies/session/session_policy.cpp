// Sessions ask for room in their resource groups (SPEC section 6).
//
// A group's sessions take turns by tier, priority, creation and name. Among sessions of one tier
// and priority, those that hold a valid nomination come first: what was freed for them is theirs
// (law 7). The steps are those of every ask (policies/shared/ask_driver.hpp); here they mean:
//   now, soon  its kernels fit on nodes of the group
//   preempt    other sessions leave for it (session_victims.hpp) if it is the one of its group that
//              may preempt (`session.preemptors`), and not before `engine.preemptionDelay`
// A suspended session asks only for its room where it is, and evicts nothing.
//
// Kernels are rows of the cluster's pods, so what sessions and pods take from each other's nodes is
// counted in one place, the worlds of the cycle. Pods there are usage and never leave for a
// session; kernels never leave for a pod.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "model/session_names.hpp"
#include "policies/policy.hpp"
#include "policies/session/session_actions.hpp"
#include "policies/session/session_candidates.hpp"
#include "policies/session/session_explain.hpp"
#include "policies/session/session_victims.hpp"
#include "policies/shared/ask_driver.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"
#include "policies/shared/waiting.hpp"

namespace makeway {

/// When a session is asked. The list of a group is sorted by what the list of all asks is sorted
/// by, so that both orders hold.
struct SessionTurn {
  std::int32_t priority = 0;
  Time created;
  SessionIndex session;
  bool only_nomination = false;  ///< It is asked only whether its nomination holds.
};

class SessionPolicy : public Policy {
 public:
  explicit SessionPolicy(const PolicyContext& context);

  std::optional<Problem> collect_turns(std::vector<AskTurn>& turns) override;
  void decide(const AskTurn& turn) override;
  void close() override;
  void finish(PlanAsk& ask, Losses& losses) override;

 private:
  class PendingAsk;
  class SuspendedAsk;

  /// All turns, group by group.
  std::vector<SessionTurn> turns() const;
  /// Whether there is such a session, and it is pending or suspended.
  bool asks(const AskName& name) const;
  void take(const SessionTurn& turn);
  AskName name_of(const SessionTurn& turn) const;
  /// Sessions whose grace time is over are to end.
  void end_grace();
  /// Says in the plan how the groups look, for people.
  void describe_groups();

  struct GroupState {
    SessionIndex preemptor;           ///< It may preempt in this cycle, once that is known.
    SessionIndex head;                ///< The first that did not fit.
    std::vector<SessionIndex> order;  ///< Decided sessions, in that order.
  };
  /// What is known about sessions that ask for the same in the same places. Room shrinks while
  /// none leaves, so what did not fit once does not fit.
  using KindIndex = Index<struct DemandKindTag>;
  struct Kind {
    std::uint64_t growth = 0;
    bool no_room = false;  ///< Neither now nor when leaving ones have left.
    bool no_help = false;  ///< Not even if all left that may.
  };

  struct KeptRoom {
    SessionIndex session;
    SessionPlace place;
    DemandIndex demand;
  };

  void find_kinds();
  Kind& kind_of(const SessionEntry& entry);
  bool fits_nominated(const SessionEntry& entry, std::vector<SessionPlace>& places);
  bool keeps_nomination(const SessionEntry& entry, PlanAsk& ask);
  std::vector<SessionPlace> find_beside_nominated(const SessionEntry& entry);
  std::vector<KeptRoom> kept_for_others(const SessionEntry& entry);
  void keep_for_absent(const SessionEntry& entry);
  void count_nodes(const SessionEntry& entry, PlanAsk& ask);
  bool may_have_room(const SessionEntry& entry);
  bool fits_in(RoomRows& room, Outcome outcome, const SessionEntry& entry, PlanAsk& ask);
  bool fits_now(const SessionEntry& entry, PlanAsk& ask);
  bool fits_soon(const SessionEntry& entry, PlanAsk& ask);
  std::span<const SessionKernel>::iterator lost_kernel(const SessionEntry& entry) const;
  bool resumes_in(RoomRows& room, Outcome outcome, const SessionEntry& entry, PlanAsk& ask);
  void stay_suspended(const SessionEntry& entry, PlanAsk& ask);
  void preempt(const SessionEntry& entry, PlanAsk& ask);
  bool may_preempt(const SessionEntry& entry, PlanAsk& ask);
  void settle(const SessionEntry& entry, const std::vector<SessionPlace>& places, PlanAsk& ask,
              std::span<const PodIndex> victims = {});
  std::vector<PodIndex> rows_of_victims(const std::vector<SessionIndex>& victims);
  PlanAsk start_ask(const SessionEntry& entry) const;
  void conclude(SessionIndex session, PlanAsk ask);

  PolicyContext context_;
  Draft& draft_;
  World& world_;
  SessionTable table_;
  SessionRoom room_;
  SessionPlacer placer_;
  SessionCandidates candidates_;
  SessionVictims victims_;
  IndexedVector<SessionGroupIndex, GroupState> groups_;
  IndexedVector<KindIndex, Kind> kinds_;
  IndexedVector<SessionIndex, KindIndex> kind_of_;             ///< By session that asks.
  IndexedVector<SessionIndex, std::uint8_t> decided_;          ///< By session.
  std::vector<SessionTurn> turns_;                             ///< That are in the list of asks.
  IndexedVector<SessionIndex, std::uint8_t> has_turn_;         ///< In this plan.
  IndexedVector<SessionIndex, std::uint8_t> kept_for_absent_;  ///< Its room, for good.
};

SessionPolicy::SessionPolicy(const PolicyContext& context)
    : context_(context),
      draft_(context.draft),
      world_(context.draft.world),
      table_(world_.cluster(), world_.configuration().session, world_.rules().now()),
      room_(world_, table_),
      placer_(table_, StepMeter(world_.steps(), world_.configuration().engine.placement_steps_max,
                                "engine.placementStepsMax")),
      candidates_(table_, world_.configuration()),
      victims_(table_, world_.configuration().session, placer_),
      groups_(table_.groups().size()),
      decided_(table_.sessions().size()),
      has_turn_(table_.sessions().size()),
      kept_for_absent_(table_.sessions().size()) {
  find_kinds();
}

/// Sessions that ask for the same kernels in the same places are of one kind.
void SessionPolicy::find_kinds() {
  std::map<std::vector<std::uint32_t>, KindIndex> known;
  std::vector<std::uint32_t> key;
  kind_of_ = IndexedVector<SessionIndex, KindIndex>(table_.sessions().size());
  for (std::uint32_t slot = 0; slot < table_.sessions().size(); ++slot) {
    const SessionIndex at{slot};
    const SessionEntry& entry = table_.sessions()[at];
    if (entry.standing != SessionStanding::pending) continue;
    key.clear();
    for (const SessionKernel& kernel : table_.kernels(entry)) key.push_back(kernel.demand.value);
    std::ranges::sort(key);
    key.push_back(entry.group.value);
    key.push_back(entry.partition.value);
    kind_of_[at] = known.try_emplace(key, KindIndex::from(known.size())).first->second;
  }
  kinds_.resize(known.size());
}

SessionPolicy::Kind& SessionPolicy::kind_of(const SessionEntry& entry) {
  Kind& kind = kinds_[kind_of_[table_.index_of(entry)]];
  if (kind.growth != room_.growth()) kind = {.growth = room_.growth()};
  return kind;
}

// ---- Turns --------------------------------------------------------------------------------------

std::vector<SessionTurn> SessionPolicy::turns() const {
  std::vector<SessionTurn> turns;
  std::vector<SessionIndex> asking;
  const auto rank = [this](SessionIndex index) {
    const SessionEntry& entry = table_.sessions()[index];
    return std::tuple(-entry.tier, -entry.priority);
  };
  const auto later = [](const SessionTurn& a, const SessionTurn& b) {
    return std::tie(b.priority, a.created) > std::tie(a.priority, b.created);
  };
  for (const SessionGroup& group : table_.groups()) {
    asking.clear();
    std::ranges::copy_if(group.sessions, std::back_inserter(asking), [this](SessionIndex index) {
      const SessionStanding standing = table_.sessions()[index].standing;
      return standing == SessionStanding::pending || standing == SessionStanding::suspended;
    });
    std::ranges::sort(asking, {}, [&](SessionIndex index) {
      return std::tuple(rank(index), table_.sessions()[index].created, index);
    });
    const std::size_t first = turns.size();
    const auto add = [&](SessionIndex index, bool only_nomination) {
      const SessionEntry& entry = table_.sessions()[index];
      SessionTurn turn{.priority = entry.priority,
                       .created = entry.created,
                       .session = index,
                       .only_nomination = only_nomination};
      // No session overtakes another of its own group by what the list of all asks is sorted by.
      if (turns.size() > first && later(turns.back(), turn)) {
        turn.priority = turns.back().priority;
        turn.created = turns.back().created;
      }
      turns.push_back(turn);
    };
    for (auto begin = asking.begin(); begin != asking.end();) {
      const auto end = std::find_if(
          begin, asking.end(), [&](SessionIndex index) { return rank(index) != rank(*begin); });
      std::for_each(begin, end, [&](SessionIndex index) {
        if (table_.sessions()[index].nominated) add(index, true);
      });
      std::for_each(begin, end, [&](SessionIndex index) { add(index, false); });
      begin = end;
    }
  }
  return turns;
}

bool SessionPolicy::asks(const AskName& name) const {
  const SessionIndex found = table_.find(name.namespace_name, name.name);
  if (!found.exists()) return false;
  const SessionStanding standing = table_.sessions()[found].standing;
  return standing == SessionStanding::pending || standing == SessionStanding::suspended;
}

AskName SessionPolicy::name_of(const SessionTurn& turn) const {
  const Session& session = *table_.sessions()[turn.session].object;
  return {.kind = AskKind::session, .namespace_name = session.namespace_name, .name = session.name};
}

// ---- One session --------------------------------------------------------------------------------

PlanAsk SessionPolicy::start_ask(const SessionEntry& entry) const {
  PlanAsk ask;
  ask.kind = AskKind::session;
  ask.namespace_name = entry.object->namespace_name;
  ask.plane = entry.object->plane;
  ask.name = entry.object->name;
  ask.priority = entry.priority;
  if (entry.object->created) {
    ask.pending_seconds =
        std::max<std::int64_t>(0, (table_.now() - *entry.object->created).ms / 1000);
  }
  PlanSession& session = ask.session.emplace();
  session.resource_group = entry.object->resource_group;
  session.partition = entry.object->partition;
  session.tier = entry.tier;
  session.runs_on = entry.standing == SessionStanding::suspended;
  ask.explanation.nodes_considered =
      session.runs_on ? 0 : static_cast<std::int64_t>(table_.open_nodes(entry).size());
  return ask;
}

/// Whether its kernels fit, in what will be, where room was kept for them.
bool SessionPolicy::fits_nominated(const SessionEntry& entry, std::vector<SessionPlace>& places) {
  const std::span<const SessionKernel> kernels = table_.kernels(entry);
  const std::span<const SessionPlace> open = table_.open_nodes(entry);
  RoomRows& after = room_.after();
  places.clear();
  for (const SessionKernel& kernel : kernels) {
    const NodeIndex node = world_.cluster().pods().nominated[kernel.row];
    const SessionPlace place = node.exists() ? table_.place_of(node) : SessionPlace{};
    if (!place.exists() || !std::ranges::binary_search(open, place)) break;
    if (!after.fits(place, table_.demand(kernel.demand))) break;
    after.take(place, table_.demand(kernel.demand));
    places.push_back(place);
  }
  for (std::size_t at = 0; at < places.size(); ++at) {
    after.give(places[at], table_.demand(kernels[at].demand));
  }
  return places.size() == kernels.size();
}

namespace {

/// Whether all kernels find room at once where they are to go.
bool all_fit(const SessionTable& table, const SessionEntry& entry,
             const std::vector<SessionPlace>& places, RoomRows& room) {
  const std::span<const SessionKernel> kernels = table.kernels(entry);
  std::size_t done = 0;
  while (done < kernels.size() && room.fits(places[done], table.demand(kernels[done].demand))) {
    room.take(places[done], table.demand(kernels[done].demand));
    ++done;
  }
  for (std::size_t at = 0; at < done; ++at) {
    room.give(places[at], table.demand(kernels[at].demand));
  }
  return done == kernels.size();
}

}  // namespace

/// Its nomination holds: it starts there, or elsewhere if only that is possible now, or waits.
bool SessionPolicy::keeps_nomination(const SessionEntry& entry, PlanAsk& ask) {
  std::vector<SessionPlace> places;
  if (!fits_nominated(entry, places)) return false;
  ask.outcome = Outcome::fits;
  if (!all_fit(table_, entry, places, room_.both())) {
    const std::vector<SessionPlace> elsewhere = find_beside_nominated(entry);
    ask.outcome = elsewhere.empty() ? Outcome::waits : Outcome::fits;
    if (!elsewhere.empty()) places = elsewhere;
  }
  settle(entry, places, ask);
  return true;
}

/// Room for it now that is not kept for others.
std::vector<SessionPlace> SessionPolicy::find_beside_nominated(const SessionEntry& entry) {
  const std::vector<KeptRoom> kept = kept_for_others(entry);
  for (const KeptRoom& room : kept) room_.both().take(room.place, table_.demand(room.demand));
  std::vector<SessionPlace> found = placer_.find(entry, room_.both());
  for (const KeptRoom& room : kept) room_.both().give(room.place, table_.demand(room.demand));
  return found;
}

/// What is nominated to other sessions that have not had their turn and block this one (law 7).
std::vector<SessionPolicy::KeptRoom> SessionPolicy::kept_for_others(const SessionEntry& entry) {
  std::vector<KeptRoom> kept;
  for (const SessionIndex index : table_.group_of(entry).sessions) {
    const SessionEntry& other = table_.sessions()[index];
    if (!other.nominated || &other == &entry || decided_[index] != 0) continue;
    const Hold hold{.pod = table_.kernels(other).front().row,
                    .unit = {},
                    .node = {},
                    .rank = {.tier = other.tier, .priority = other.priority}};
    const HoldAsk asking{.pod = {},
                         .unit = {},
                         .rank = {.tier = entry.tier, .priority = entry.priority},
                         .turns_on = {}};
    if (kept_for_absent_[index] != 0 || !blocks(hold, asking)) continue;
    std::vector<SessionPlace> places;
    if (other.standing != SessionStanding::pending || !fits_nominated(other, places)) continue;
    for (std::size_t at = 0; at < places.size(); ++at) {
      kept.push_back(
          {.session = index, .place = places[at], .demand = table_.kernels(other)[at].demand});
    }
  }
  return kept;
}

/// A session without a turn in this plan, because it was not asked for or is left out, keeps what
/// is nominated to it for good: nothing decides about it, so this is never given back.
void SessionPolicy::keep_for_absent(const SessionEntry& entry) {
  for (const KeptRoom& room : kept_for_others(entry)) {
    if (has_turn_[room.session] != 0) continue;
    room_.keep_for_good(room.place, table_.demand(room.demand));
    kept_for_absent_[room.session] = 1;
  }
}

/// How many nodes take a kernel now, and how many more if all left that may; with explanations.
void SessionPolicy::count_nodes(const SessionEntry& entry, PlanAsk& ask) {
  const std::span<const ResourceAmount> demand =
      table_.demand(table_.kernels(entry).front().demand);
  const RoomRows& emptied = victims_.without_all(entry, candidates_.of(entry), room_.after());
  for (const SessionPlace place : table_.open_nodes(entry)) {
    if (room_.both().fits(place, demand)) {
      ++ask.explanation.nodes_fitting;
    } else if (emptied.fits(place, demand)) {
      ++ask.explanation.nodes_with_preemption;
    }
  }
}

/// Room that it may use; what does not fit soon does not fit now.
bool SessionPolicy::may_have_room(const SessionEntry& entry) {
  Kind& kind = kind_of(entry);
  kind.no_room = kind.no_room || room_.too_large(entry);
  return !kind.no_room;
}

bool SessionPolicy::fits_in(RoomRows& room, Outcome outcome, const SessionEntry& entry,
                            PlanAsk& ask) {
  const std::vector<SessionPlace>& places = placer_.find(entry, room);
  if (places.empty()) return false;
  ask.outcome = outcome;
  settle(entry, places, ask);
  return true;
}

bool SessionPolicy::fits_now(const SessionEntry& entry, PlanAsk& ask) {
  return may_have_room(entry) && fits_in(room_.both(), Outcome::fits, entry, ask);
}

bool SessionPolicy::fits_soon(const SessionEntry& entry, PlanAsk& ask) {
  Kind& kind = kind_of(entry);
  if (kind.no_room) return false;
  if (world_.differs() && fits_in(room_.after(), Outcome::waits, entry, ask)) return true;
  kind.no_room = !placer_.stopped();
  if (placer_.stopped()) ask.bounds_reached.emplace_back(placer_.bound());
  return false;
}

/// The first kernel whose node is gone, or in its group no more.
std::span<const SessionKernel>::iterator SessionPolicy::lost_kernel(
    const SessionEntry& entry) const {
  const SessionGroup& group = table_.group_of(entry);
  return std::ranges::find_if(table_.kernels(entry), [&](const SessionKernel& kernel) {
    return kernel.place < group.nodes_begin || kernel.place >= group.nodes_end;
  });
}

/// A suspended session has its memory where it is; the rest of it may fit again.
bool SessionPolicy::resumes_in(RoomRows& room, Outcome outcome, const SessionEntry& entry,
                               PlanAsk& ask) {
  const std::span<const SessionKernel> kernels = table_.kernels(entry);
  if (lost_kernel(entry) != kernels.end()) return false;
  const Cluster& cluster = world_.cluster();
  std::size_t done = 0;
  for (; done < kernels.size(); ++done) {
    const SessionKernel& kernel = kernels[done];
    const RequestRow amounts = request_of(cluster, kernel.row);
    if (!room.fits(kernel.place, amounts)) break;
    room.take(kernel.place, amounts);
  }
  for (std::size_t at = 0; at < done; ++at) {
    room.give(kernels[at].place, request_of(cluster, kernels[at].row));
  }
  if (done < kernels.size()) return false;
  ask.outcome = outcome;
  std::vector<SessionPlace> places;
  places.reserve(kernels.size());
  for (const SessionKernel& kernel : kernels) places.push_back(kernel.place);
  settle(entry, places, ask);
  return true;
}

void SessionPolicy::stay_suspended(const SessionEntry& entry, PlanAsk& ask) {
  ask.outcome = Outcome::not_found;
  const std::span<const SessionKernel> kernels = table_.kernels(entry);
  const auto lost = lost_kernel(entry);
  if (lost == kernels.end()) {
    return set_reason(world_.cluster(), ask, {.code = ReasonCode::session_suspended});
  }
  const auto at = static_cast<std::size_t>(lost - kernels.begin());
  set_reason(
      world_.cluster(), ask,
      {.code = ReasonCode::session_node_lost, .arguments = {entry.object->kernels[at].node}});
}

// ---- Preemption ---------------------------------------------------------------------------------

bool SessionPolicy::may_preempt(const SessionEntry& entry, PlanAsk& ask) {
  GroupState& group = groups_[entry.group];
  const SessionIndex self = table_.index_of(entry);
  const bool head_only = world_.configuration().session.preemptors == Preemptors::head_only;
  const SessionIndex first = head_only ? group.head : group.preemptor;
  if (!first.exists() || first == self) return true;
  ask.outcome = kind_of(entry).no_help ? Outcome::infeasible : Outcome::not_found;
  explain_not_its_turn(world_, table_, first, ask);
  return false;
}

void SessionPolicy::preempt(const SessionEntry& entry, PlanAsk& ask) {
  if (!may_preempt(entry, ask)) return;
  const std::span<const SessionIndex> candidates = candidates_.of(entry);
  ask.session->candidates = static_cast<std::int64_t>(candidates.size());
  Kind& kind = kind_of(entry);
  const bool infeasible = kind.no_help || (candidates.empty() && kind.no_room);
  const bool found =
      !infeasible &&
      victims_.find(entry, candidates, room_.after(),
                    {.put_back = world_.configuration().session.put_back,
                     .fewest = table_.group_of(entry).order == PreemptionOrder::fewest},
                    StepMeter(world_.steps(), world_.configuration().engine.victim_steps_max,
                              "engine.victimStepsMax"));
  if (!infeasible) {
    for (const std::string& bound : victims_.bounds()) {
      note_bound(ask.bounds_reached, bound);
    }
  }
  if (!found) {
    const bool proven = ask.bounds_reached.empty();
    kind.no_help = kind.no_help || proven;
    ask.outcome = proven ? Outcome::infeasible : Outcome::not_found;
    explain_no_help(table_, entry, candidates.size(), ask);
    if (draft_.explain) {
      const RoomRows& room = victims_.without_all(entry, candidates, room_.after());
      explain_refusals(world_, table_, candidates_, entry, room, ask);
    }
    return;
  }
  groups_[entry.group].preemptor = table_.index_of(entry);
  ask.session->may_preempt = true;
  if (waits_out_delay(world_, entry.object->created.value_or(no_time), ask)) return;
  ask.outcome = Outcome::preempts;
  explain_victims(world_, table_, candidates_, victims_, entry, candidates, ask);
  const std::vector<SessionPlace> places = victims_.places();
  settle(entry, places, ask, rows_of_victims(victims_.victims()));
}

// ---- What becomes of it -------------------------------------------------------------------------

/// What leaves with them; a suspended session keeps its memory.
std::vector<PodIndex> SessionPolicy::rows_of_victims(const std::vector<SessionIndex>& victims) {
  std::vector<PodIndex> leaving;
  for (const SessionIndex index : victims) {
    const SessionEntry& entry = table_.sessions()[index];
    const bool suspends = victims_.fate(index) == SessionFate::suspends;
    for (const SessionKernel& kernel : table_.kernels(entry)) {
      for (const PodIndex row : {kernel.row, suspends ? PodIndex{} : kernel.memory_row}) {
        if (row.exists() && world_.cluster().pods().node[row].exists()) leaving.push_back(row);
      }
    }
  }
  return leaving;
}

void SessionPolicy::settle(const SessionEntry& entry, const std::vector<SessionPlace>& places,
                           PlanAsk& ask, std::span<const PodIndex> victims) {
  const std::span<const SessionKernel> kernels = table_.kernels(entry);
  const bool runs_on = entry.standing == SessionStanding::suspended;
  if (ask.outcome == Outcome::waits) explain_waiting(world_, table_, entry, places, ask);
  for (std::size_t at = 0; at < kernels.size(); ++at) {
    const NodeIndex node = table_.nodes()[places[at]];
    ask.placements.push_back({.namespace_name = entry.object->namespace_name,
                              .name = entry.object->name + "/" + entry.object->kernels[at].name,
                              .node = node_name(world_.cluster(), node)});
    for (const PodIndex row : {kernels[at].row, runs_on ? PodIndex{} : kernels[at].memory_row}) {
      if (!row.exists()) continue;
      if (ask.outcome == Outcome::fits) {
        world_.bind(row, node);
      } else {
        world_.nominate(row, node, victims);
        victims = {};
      }
    }
  }
  if (ask.outcome == Outcome::fits) explain_fit(table_, entry, ask);
}

void SessionPolicy::conclude(SessionIndex session, PlanAsk ask) {
  const SessionEntry& entry = table_.sessions()[session];
  decided_[session] = 1;
  GroupState& group = groups_[entry.group];
  group.order.push_back(session);
  const bool runs_on = entry.standing == SessionStanding::suspended;
  if (ask.outcome != Outcome::fits && !runs_on && !group.head.exists()) group.head = session;
  for (const SessionKernel& kernel : table_.kernels(entry)) {
    world_.decided(kernel.row);
    if (kernel.memory_row.exists()) world_.decided(kernel.memory_row);
  }
  draft_.plan.asks.push_back(std::move(ask));
}

/// A pending session: any nodes of its group, other sessions may leave.
class SessionPolicy::PendingAsk : public AskStrategy {
 public:
  PendingAsk(SessionPolicy& policy, const SessionEntry& entry, PlanAsk& ask)
      : policy_(policy), entry_(entry), ask_(ask) {}

  PlanAsk& answer() override { return ask_; }
  bool fits_now() override { return policy_.fits_now(entry_, ask_); }
  bool fits_soon() override { return policy_.fits_soon(entry_, ask_); }
  void preempt() override { policy_.preempt(entry_, ask_); }

 private:
  SessionPolicy& policy_;
  const SessionEntry& entry_;
  PlanAsk& ask_;
};

/// A suspended session: the nodes where it is, and no other session leaves.
class SessionPolicy::SuspendedAsk : public AskStrategy {
 public:
  SuspendedAsk(SessionPolicy& policy, const SessionEntry& entry, PlanAsk& ask)
      : policy_(policy), entry_(entry), ask_(ask) {}

  PlanAsk& answer() override { return ask_; }
  bool fits_now() override {
    return policy_.resumes_in(policy_.room_.both(), Outcome::fits, entry_, ask_);
  }
  bool fits_soon() override {
    return policy_.resumes_in(policy_.room_.after(), Outcome::waits, entry_, ask_);
  }
  void preempt() override { policy_.stay_suspended(entry_, ask_); }

 private:
  SessionPolicy& policy_;
  const SessionEntry& entry_;
  PlanAsk& ask_;
};

void SessionPolicy::take(const SessionTurn& turn) {
  if (decided_[turn.session] != 0) return;
  const SessionEntry& entry = table_.sessions()[turn.session];
  room_.refresh();
  placer_.start();
  PlanAsk ask = start_ask(entry);
  if (!turn.only_nomination) keep_for_absent(entry);
  if (draft_.explain && !ask.session->runs_on) count_nodes(entry, ask);
  if (turn.only_nomination) {
    if (!keeps_nomination(entry, ask)) return;
  } else if (entry.standing == SessionStanding::suspended) {
    SuspendedAsk suspended(*this, entry, ask);
    drive_ask(world_, suspended);
  } else {
    PendingAsk pending(*this, entry, ask);
    drive_ask(world_, pending);
  }
  conclude(turn.session, std::move(ask));
}

// ---- Among the other policies -------------------------------------------------------------------

std::optional<Problem> SessionPolicy::collect_turns(std::vector<AskTurn>& turns) {
  const PlanRequest& request = context_.request;
  std::set<SessionIndex> asked;
  for (const AskName& name : request.asks) {
    if (name.kind != AskKind::session) continue;
    if (!asks(name)) {
      return ask_problem(name, "there is no such pending session",
                         "makeway snapshot lists the sessions");
    }
    if (!request.placements.empty()) {
      return ask_problem(name, "places cannot be given for a session", "give none");
    }
    asked.insert(table_.find(name.namespace_name, name.name));
  }
  // In whatever order they were named, they take turns as they always do.
  std::vector<SessionTurn> asking = this->turns();
  std::erase_if(asking, [&](const SessionTurn& turn) {
    return !request.asks.empty() && !asked.contains(turn.session);
  });
  for (const SessionTurn& turn : asking) {
    if (!request.left_out.empty() && is_left_out(request, name_of(turn))) continue;
    turns.push_back({.policy = this,
                     .priority = turn.priority,
                     .created = turn.created,
                     .pod = {},
                     .limited = {},
                     .number = static_cast<std::uint32_t>(turns_.size())});
    has_turn_[turn.session] = 1;
    turns_.push_back(turn);
  }
  return std::nullopt;
}

void SessionPolicy::decide(const AskTurn& turn) {
  context_.deciding.start(name_of(turns_[turn.number]));
  take(turns_[turn.number]);
}

void SessionPolicy::close() {
  end_grace();
  describe_groups();
}

void SessionPolicy::end_grace() {
  for (const SessionGroup& group : table_.groups()) {
    for (const SessionIndex index : group.sessions) {
      const SessionEntry& entry = table_.sessions()[index];
      const SessionStatus& status = entry.object->status;
      // Without a fate it was not preempted: what ends it does so.
      const bool over = entry.standing == SessionStanding::leaving && status.fate &&
                        *status.ends_at <= table_.now();
      if (over) add_ended_grace(*entry.object, draft_.plan);
    }
  }
}

/// What it costs is in the entry already.
void SessionPolicy::finish(PlanAsk& ask, Losses& /*losses*/) {
  add_session_actions(world_.cluster(), ask, draft_.plan);
}

std::unique_ptr<Policy> make_session_policy(const PolicyContext& context) {
  const World& world = context.draft.world;
  // Also where none of them is asked for: a grace that has ended ends.
  const bool any = !world.cluster().own<Session>().empty();
  const bool asked = std::ranges::find(context.request.asks, AskKind::session, &AskName::kind) !=
                     context.request.asks.end();
  if (!world.configuration().session.enabled || !(any || asked)) return nullptr;
  return std::make_unique<SessionPolicy>(context);
}

// ---- The table of a group -----------------------------------------------------------------------

namespace {

PlanSessionEntry described(const SessionTable& table, const SessionEntry& entry) {
  const Session& session = *entry.object;
  PlanSessionEntry shown{.namespace_name = session.namespace_name,
                         .name = session.name,
                         .plane = session.plane,
                         .type = session.type,
                         .priority = entry.priority,
                         .partition = session.partition,
                         .tier = entry.tier,
                         .nodes = {},
                         .since = {},
                         .why_not = {},
                         .preemptions = session.status.preemptions,
                         .preempted_by = session.status.preempted_by,
                         .fate = session.status.fate,
                         .resume_after = session.status.resume_after};
  for (const SessionKernel& kernel : table.kernels(entry)) {
    if (kernel.node.exists()) shown.nodes.push_back(node_name(table.cluster(), kernel.node));
  }
  std::ranges::sort(shown.nodes);
  const auto repeated = std::ranges::unique(shown.nodes);
  shown.nodes.erase(repeated.begin(), repeated.end());
  switch (entry.standing) {
    case SessionStanding::pending: shown.since = session.created; break;
    case SessionStanding::leaving: shown.since = session.status.ends_at; break;
    case SessionStanding::running:
    case SessionStanding::suspended: shown.since = session.status.started; break;
    case SessionStanding::off_queue: shown.since = session.status.preempted_at; break;
    case SessionStanding::ended: break;
  }
  return shown;
}

/// The first ones of each list, up to `limit`; all are counted.
class GroupExplainer {
 public:
  GroupExplainer(const SessionTable& table, SessionCandidates& candidates, std::size_t limit)
      : table_(table), candidates_(candidates), limit_(limit) {}

  PlanSessionEntry* add(const SessionEntry& entry, PlanSessionList& list) const {
    ++list.count;
    if (list.first.size() == limit_) return nullptr;
    list.first.push_back(described(table_, entry));
    return &list.first.back();
  }

  /// Sessions that leave first, then those that stay, by name.
  void add_running(SessionGroupIndex group, PlanSessionList& list) {
    for (const SessionIndex index : candidates_.all(group)) {
      const SessionEntry& entry = table_.sessions()[index];
      if (entry.standing != SessionStanding::running) continue;
      if (PlanSessionEntry* const shown = add(entry, list)) shown->preemptible = true;
    }
    for (const SessionIndex index : table_.groups()[group].sessions) {
      const SessionEntry& entry = table_.sessions()[index];
      if (entry.standing != SessionStanding::running || candidates_.preemptible(entry)) continue;
      if (PlanSessionEntry* const shown = add(entry, list)) {
        const std::optional<Reason> why = candidates_.why_not(entry);
        if (why) shown->why_not = write_text(table_.cluster(), *why);
      }
    }
  }

 private:
  const SessionTable& table_;
  SessionCandidates& candidates_;
  std::size_t limit_;
};

}  // namespace

void SessionPolicy::describe_groups() {
  GroupExplainer explainer(table_, candidates_,
                           draft_.explain ? plan_sessions_all : plan_sessions_listed_max);
  for (std::uint32_t slot = 0; slot < groups_.size(); ++slot) {
    const SessionGroupIndex at{slot};
    const SessionGroup& group = table_.groups()[at];
    PlanResourceGroup& shown = draft_.plan.resource_groups.emplace_back();
    shown.name = group.object->name;
    shown.nodes = group.nodes_end.value - group.nodes_begin.value;
    shown.preemptible_priority = group.preemptible_priority;
    shown.preemption_order = choice_name(group.order);
    shown.divided = group.divided;
    for (const SessionIndex index : groups_[at].order) {
      const SessionEntry& entry = table_.sessions()[index];
      if (entry.standing == SessionStanding::pending) explainer.add(entry, shown.pending);
    }
    explainer.add_running(at, shown.running);
    std::vector<SessionIndex> off_queue;
    for (const SessionIndex index : group.sessions) {
      const SessionEntry& entry = table_.sessions()[index];
      if (entry.standing == SessionStanding::leaving) explainer.add(entry, shown.leaving);
      if (entry.standing == SessionStanding::suspended) explainer.add(entry, shown.suspended);
      if (entry.standing == SessionStanding::off_queue) off_queue.push_back(index);
    }
    // A session that comes back by itself is first, then by name.
    std::ranges::stable_sort(off_queue, {}, [this](SessionIndex index) {
      const std::optional<Time>& back = table_.sessions()[index].object->status.resume_after;
      return back.value_or(Time{std::numeric_limits<std::int64_t>::max()});
    });
    for (const SessionIndex index : off_queue) {
      explainer.add(table_.sessions()[index], shown.off_queue);
    }
  }
}

}  // namespace makeway
