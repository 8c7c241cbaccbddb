// SessionJudge: sessions in a plan (SPEC section 6), one after the other in the order of the plan.
//
// What is judged, beside what judge_form says about every ask:
//   turns       by tier, priority, then age; only one session has victims (law 2), the first
//               that does not fit and that preemption can help.
//   victims     run, may be preempted by this ask (2), are not leaving already (6), leave whole
//               (5), and leave once (8).
//   places      all kernels, on nodes of the group or partition, together, now or after (3), and
//               not on what is nominated to another session (7).
//   victims are needed: it fits neither now (1) nor once those that leave anyway have left (6); not
//               one of them could stay (4); those that leave first by the order are not enough (9).
//   the claim that there is no room (10), and what the plan says becomes of each victim (9).
// That kernels find room is claimed only where a search of all ways ended (KernelRoom).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "judge/check_plan_session_rules.hpp"
#include "judge/check_plan_walk.hpp"
#include "model/session_names.hpp"

namespace makeway {

namespace {

/// Of a session, or of a victim that is one.
template <class Named>
std::vector<KernelRows> rows_of(const Cluster& cluster, const Named& session) {
  const auto found = cluster.kernel_rows().find({session.namespace_name, session.name});
  return found == cluster.kernel_rows().end() ? std::vector<KernelRows>{} : found->second;
}

/// Those of the kernel itself, and of its memory unless that stays where it is.
std::vector<PodIndex> moving(const KernelRows& rows, bool memory_stays) {
  std::vector<PodIndex> found = {rows.row};
  if (rows.memory.exists() && !memory_stays) found.push_back(rows.memory);
  return found;
}

template <class Named>
std::vector<PodIndex> moving_rows(const Cluster& cluster, const Named& session, bool memory_stays) {
  std::vector<PodIndex> found;
  for (const KernelRows& kernel : rows_of(cluster, session)) {
    std::ranges::copy(moving(kernel, memory_stays), std::back_inserter(found));
  }
  return found;
}

std::optional<HeardAsk> find_session(const Cluster& cluster, const PlanAsk& entry) {
  const auto& sessions = cluster.own<Session>();
  const auto own = sessions.find({entry.namespace_name, entry.name});
  if (own == sessions.end() || !entry.session) return std::nullopt;
  HeardAsk heard{.entry = &entry, .text = ask_text(entry)};
  heard.own_rules = &session_rules;
  heard.priority = entry.priority;
  heard.pods = moving_rows(cluster, entry, false);
  const std::vector<KernelRows> rows = rows_of(cluster, entry);
  for (const PodPlacement& placement : entry.placements) {
    const auto node = cluster.find_node(placement.node);
    for (std::size_t at = 0; at < rows.size() && node; ++at) {
      if (placement.name != entry.name + "/" + own->second.kernels[at].name) continue;
      for (const PodIndex row : moving(rows[at], entry.session->runs_on)) {
        heard.rows_coming.push_back({.row = row, .node = *node});
      }
    }
  }
  for (const PlanSessionVictim& victim : entry.session->victims) {
    std::ranges::copy(moving_rows(cluster, victim, victim.fate == SessionFate::suspends),
                      std::back_inserter(heard.rows_leaving));
  }
  return heard;
}

bool concerns_session(const PlanAction& action) {
  const bool kernel = action.name.find('/') != std::string::npos;
  const bool own_type = action.type == ActionType::requeue || action.type == ActionType::suspend ||
                        action.type == ActionType::resume;
  // Of pods it says where they run; of a session whose grace time is over it does not.
  const bool ends = action.type == ActionType::evict && action.node.empty();
  return kernel || own_type || ends || (action.ask && action.ask->kind == RefKind::session);
}

}  // namespace

void PlanWalk::settle_session(const HeardAsk& ask) {
  for (const PodIndex row : ask.rows_leaving) {
    if (!cluster_.pods().node[row].exists()) continue;  // It does not run, and that is a breach.
    victims_.insert(row);
    victim_nodes_.insert(cluster_.pods().node[row]);
    if (gone_.insert(row).second) own_after().remove(row);
  }
  std::vector<Place> coming;
  for (const HeardAsk::RowPlace& place : ask.rows_coming) {
    if (after().where(place.row).exists()) continue;
    coming.push_back({.pod = place.row, .node = place.node});
  }
  if (ask.entry->outcome == Outcome::fits) {
    for (const Place& place : coming) {
      now_.place(place.pod, place.node);
      if (after_) after_->place(place.pod, place.node);
    }
  } else {
    nominate(ask, coming);
  }
  decided_.insert(ask.pods.begin(), ask.pods.end());
}

namespace {

std::set<std::string> nodes_of(const Session& session) {
  std::set<std::string> nodes;
  for (const Kernel& kernel : session.kernels) nodes.insert(kernel.node);
  return nodes;
}

class SessionJudge {
  using SessionKey = std::pair<std::string, std::string>;

  /// What is remembered of a group from ask to ask.
  struct GroupState {
    const Session* last = nullptr;  ///< The ask before.
    std::string preemptor;          ///< The session that has victims.
    std::string blocked_by;         ///< The first that does not fit at all.
  };

  /// One ask, looked up.
  struct Turn {
    const HeardAsk& heard;
    const PlanAsk& entry;
    const Session& session;
    bool runs_on = false;
    std::vector<const Session*> victims;  ///< Those that are sessions, each once.
    std::vector<NodeIndex> places;        ///< In the order of its kernels; empty: none.
  };

 public:
  explicit SessionJudge(PlanWalk& walk)
      : walk_(walk), rules_(walk.cluster(), walk.configuration(), walk.time()) {
    for (const auto& [key, session] : walk.cluster().own<Session>()) {
      const bool named = std::ranges::any_of(
          session.kernels, [](const Kernel& kernel) { return !kernel.nominated_node.empty(); });
      if (named) nominated_.push_back(&session);
    }
  }

  /// Before the walk settles the ask.
  void judge(const HeardAsk& ask) {
    const Session* const session = rules_.find(ask.entry->namespace_name, ask.entry->name);
    if (session == nullptr) return;
    if (!rules_.waits_for_its_turn(*session)) {
      return walk_.report(3, ask, "it is not pending, or still off the queue");
    }
    Turn turn{.heard = ask,
              .entry = *ask.entry,
              .session = *session,
              .runs_on = session->status.phase == SessionPhase::suspended};
    GroupState& group = groups_[session->resource_group];
    judge_entry(turn);
    judge_order(turn, group);
    find_victims(turn);
    find_places(turn);
    judge_preemptor(turn, group);
    judge_places(turn, group);
    judge_document(turn);
    for (const Session* const victim : turn.victims) {
      taken_.try_emplace({victim->namespace_name, victim->name}, ask.text);
    }
  }

 private:
  void judge_entry(const Turn& turn) {
    const PlanSession& said = *turn.entry.session;
    const Session& session = turn.session;
    if (turn.entry.priority != rules_.priority(session)) {
      report(2, turn, "its priority is {}, not {}", rules_.priority(session), turn.entry.priority);
    }
    if (said.resource_group != session.resource_group || said.partition != session.partition ||
        said.tier != rules_.tier(session)) {
      report(9, turn, "it belongs to group {} partition {} tier {}, and that is not what it says",
             session.resource_group, session.partition, rules_.tier(session));
    }
    if (said.runs_on != turn.runs_on) {
      report(9, turn, "{}",
             turn.runs_on ? "it is suspended, and that is not said" : "it is not suspended");
    }
  }

  // ---- Turns ------------------------------------------------------------------------------------

  void judge_order(const Turn& turn, GroupState& group) {
    if (group.last != nullptr && !rules_.tried_before(*group.last, turn.session)) {
      report(2, turn, "its turn is before that of {}", session_text(*group.last));
    }
    group.last = &turn.session;
  }

  /// Only the first that does not fit and that preemption can help.
  void judge_preemptor(const Turn& turn, GroupState& group) {
    const bool preempts = !turn.entry.victims.empty();
    const bool head_only = walk_.configuration().session.preemptors == Preemptors::head_only;
    if (preempts) {
      const std::string& before = head_only ? group.blocked_by : group.preemptor;
      if (!before.empty()) {
        report(2, turn, "it may not preempt: {} comes before it and does not fit", before);
      }
      if (!turn.entry.session->may_preempt)
        report(9, turn, "it preempts, and says that it may not");
      const Duration delay = walk_.configuration().engine.preemption_delay;
      if (delay.ms > 0 && turn.session.created && walk_.time() < *turn.session.created + delay) {
        report(2, turn, "it may not preempt before {}", to_text(*turn.session.created + delay));
      }
      if (group.preemptor.empty()) group.preemptor = turn.heard.text;
    }
    // A session that waits for its delay before it preempts is the one that may preempt.
    const bool delayed = turn.entry.outcome == Outcome::waits && turn.entry.waits_until;
    if (delayed && group.preemptor.empty()) group.preemptor = turn.heard.text;
    // A suspended session is not in the queue.
    const bool queued = turn.entry.outcome != Outcome::fits && !turn.runs_on;
    if (queued && group.blocked_by.empty()) group.blocked_by = turn.heard.text;
  }

  // ---- Victims ----------------------------------------------------------------------------------

  bool is_victim(const Turn& turn, const Session& session) const {
    return std::ranges::find(turn.victims, &session) != turn.victims.end();
  }

  void find_victims(Turn& turn) {
    const std::vector<PlanSessionVictim>& said = turn.entry.session->victims;
    const bool same = std::ranges::equal(
        said, turn.entry.victims, [](const PlanSessionVictim& one, const PlanVictim& other) {
          return one.namespace_name == other.namespace_name && one.name == other.name &&
                 one.plane == other.plane;
        });
    if (!same) report(9, turn, "its victims are not the sessions that it says leave");
    for (const PlanVictim& each : turn.entry.victims) {
      const std::string text = fmt::format("victim {}/{}", each.namespace_name, each.name);
      const Session* const victim = rules_.find(each.namespace_name, each.name);
      if (victim == nullptr) {
        report(3, turn, "{} is no session", text);
      } else if (is_victim(turn, *victim)) {
        report(3, turn, "{} is listed twice", text);
      } else {
        judge_victim(turn, *victim);
        turn.victims.push_back(victim);
      }
    }
  }

  void judge_victim(const Turn& turn, const Session& victim) {
    const std::string text = fmt::format("victim {}/{}", victim.namespace_name, victim.name);
    const auto taken = taken_.find({victim.namespace_name, victim.name});
    if (taken != taken_.end()) report(8, turn, "{} also leaves for {}", text, taken->second);
    const std::string protection = rules_.protection(turn.session, victim);
    if (!protection.empty()) report(2, turn, "{} may not be preempted: {}", text, protection);
    if (rules_.leaving(victim)) report(6, turn, "{} is leaving already", text);
  }

  std::vector<const Session*> candidates(const Turn& turn) const {
    std::vector<const Session*> found;
    for (const Session* const each : rules_.may_leave_for(turn.session)) {
      if (rules_.leaving(*each)) continue;
      if (!taken_.contains({each->namespace_name, each->name})) found.push_back(each);
    }
    return found;
  }

  // ---- Places -----------------------------------------------------------------------------------

  void find_places(Turn& turn) {
    const std::vector<PodPlacement>& said = turn.entry.placements;
    if (said.empty()) return;
    const std::vector<NodeIndex>& nodes =
        turn.runs_on ? rules_.group_nodes(turn.session) : rules_.nodes(turn.session);
    std::map<std::string_view, const PodPlacement*> by_name;
    for (const PodPlacement& each : said) by_name.try_emplace(each.name, &each);
    std::vector<NodeIndex> places;
    for (const Kernel& kernel : turn.session.kernels) {
      const std::string name = turn.session.name + "/" + kernel.name;
      const auto found = by_name.find(name);
      if (found == by_name.end() || found->second->namespace_name != turn.session.namespace_name) {
        return report(3, turn, "kernel {} has no place", name);
      }
      const PodPlacement* const at = found->second;
      const auto node = walk_.cluster().find_node(at->node);
      if (turn.runs_on && at->node != kernel.node) {
        return report(3, turn, "kernel {} is suspended on node {}", name, kernel.node);
      }
      if (!node || std::ranges::find(nodes, *node) == nodes.end()) {
        return report(3, turn, "kernel {} may not run on node {}", name, at->node);
      }
      places.push_back(*node);
    }
    if (said.size() != places.size()) {
      return report(3, turn, "it has places for kernels that are not its own");
    }
    turn.places = std::move(places);
  }

  std::vector<std::vector<PodIndex>> own_rows(const Turn& turn) const {
    std::vector<std::vector<PodIndex>> rows;
    for (const KernelRows& kernel : rows_of(walk_.cluster(), turn.session)) {
      rows.push_back(moving(kernel, turn.runs_on));
    }
    return rows;
  }

  /// The rows that give room when the session leaves: not the memory of one that is suspended.
  std::vector<PodIndex> leaving_rows(const Session& session) const {
    return moving_rows(walk_.cluster(), session, rules_.fate(session) == SessionFate::suspends);
  }

  /// Sessions have their own rule about the room of sessions that leave.
  void adjust_leaving(const Turn& turn, KernelRoom& room) const {
    const Cluster& cluster = walk_.cluster();
    for (const NodeIndex node : rules_.nodes(turn.session)) {
      if (cluster.nodes().leaving[node] == 0) continue;
      for (const PodIndex row : cluster.order().pods(node)) {
        if (!cluster.pods().flags[row].kernel || !walk_.rules().leaving(row)) continue;
        if (walk_.is_earlier_victim(row)) continue;
        const bool gone = !walk_.rules().overdue(row);
        if (gone && !walk_.is_gone(row)) room.add(row, node);
        if (!gone && walk_.is_gone(row)) room.take(row, node);
      }
    }
  }

  /// What others are nominated to and may come for: more than what is surely theirs.
  void take_held(const Turn& turn, KernelRoom& room) const {
    const Cluster& cluster = walk_.cluster();
    for (const NodeIndex node : rules_.nodes(turn.session)) {
      for (const PodIndex row : cluster.nodes().nominated[node]) {
        const bool own = std::ranges::find(turn.heard.pods, row) != turn.heard.pods.end();
        if (!own && !walk_.is_decided(row)) room.take(row, node);
      }
    }
  }

  void add_leaving(KernelRoom& room, const Session& session) const {
    for (const PodIndex row : leaving_rows(session)) {
      if (!walk_.is_gone(row)) room.add(row, walk_.cluster().pods().node[row]);
    }
  }

  /// Where the kernels of a suspended session are.
  /// A node of each kernel; none where its node is gone, or in its group no more.
  std::vector<NodeIndex> suspended_on(const Session& session) const {
    const std::vector<NodeIndex>& known = rules_.group_nodes(session);
    std::vector<NodeIndex> nodes;
    for (const Kernel& kernel : session.kernels) {
      const NodeIndex node = walk_.cluster().find_node(kernel.node).value_or(NodeIndex{});
      nodes.push_back(std::ranges::find(known, node) == known.end() ? NodeIndex{} : node);
    }
    return nodes;
  }

  KernelNodes& nodes_for(const Session& session) {
    const std::vector<NodeIndex>& nodes = rules_.nodes(session);
    const auto known = nodes_.find(&nodes);
    return known != nodes_.end() ? known->second
                                 : nodes_.emplace(&nodes, KernelNodes(nodes)).first->second;
  }

  void judge_places(const Turn& turn, const GroupState& group) {
    std::vector<NodeIndex> own;
    if (turn.runs_on) own = suspended_on(turn.session);
    std::erase_if(own, [](NodeIndex node) { return !node.exists(); });
    KernelNodes suspended(std::move(own));
    KernelNodes& nodes = turn.runs_on ? suspended : nodes_for(turn.session);
    const std::vector<std::vector<PodIndex>> rows = own_rows(turn);
    OpenNodes* const open = turn.runs_on ? nullptr : &open_nodes_[turn.session.resource_group];
    const bool placed = !turn.places.empty();
    const bool evicts = !turn.victims.empty();
    const auto now = [&] { return KernelRoom(walk_.now(), nodes, rows, open); };
    if (turn.entry.outcome == Outcome::fits && placed && !now().fits(turn.places)) {
      report(3, turn, "its kernels do not fit now");
    }
    KernelRoom after(walk_.after(), nodes, rows, open);
    adjust_leaving(turn, after);
    if (placed && !with_victims_gone(turn, after).fits(turn.places)) {
      report(3, turn, "its kernels do not fit, even when all leaving sessions are gone");
    }
    if (evicts) void_nominations(turn);
    if (placed) judge_nominations(turn);
    take_held(turn, after);
    if (evicts) judge_needed(turn, now(), after);
    if (evicts && placed) judge_irreducible(turn, after);
    if (turn.entry.placements.empty()) judge_without_room(turn, after, group);
  }

  KernelRoom with_victims_gone(const Turn& turn, KernelRoom room) const {
    for (const Session* const victim : turn.victims) add_leaving(room, *victim);
    return room;
  }

  /// Laws 1 and 6, and the choice of victims.
  void judge_needed(const Turn& turn, const KernelRoom& now, const KernelRoom& after) {
    if (!turn.entry.bounds_reached.empty()) return;
    const auto fits = [&](const KernelRoom& room) {
      return turn.runs_on ? room.fits(turn.places) : room.find() == Finding::yes;
    };
    KernelRoom both = now;
    both.limit(after);
    if (fits(both)) {
      report(1, turn, "it has victims, and fits without them");
    } else if (fits(after)) {
      report(6, turn, "it has victims, and fits once others have left");
    } else {
      judge_choice(turn, after);
    }
  }

  /// Law 4. Rows of victims of another ask free nothing, so they are not needed.
  void judge_irreducible(const Turn& turn, KernelRoom after) {
    after = with_victims_gone(turn, std::move(after));
    for (const Session* const victim : turn.victims) {
      KernelRoom beside = after;
      for (const PodIndex row : leaving_rows(*victim)) {
        if (!walk_.is_gone(row)) beside.take(row, walk_.cluster().pods().node[row]);
      }
      if (!beside.fits(turn.places)) continue;
      report(4, turn, "victim {}/{} need not leave: its kernels fit beside it",
             victim->namespace_name, victim->name);
    }
  }

  /// Of several sets, the one whose sessions leave first is right: the last victim by the order is
  /// needed whatever the places. Without putting back, all before it leave, too.
  void judge_choice(const Turn& turn, const KernelRoom& after) {
    const auto before = [this](const Session* one, const Session* other) {
      return rules_.leaves_before(*one, *other);
    };
    const Session& last = **std::ranges::max_element(turn.victims, before);
    const bool greedy = walk_.configuration().session.put_back == PutBack::none &&
                        rules_.order(last) != PreemptionOrder::fewest;
    KernelRoom room = after;
    for (const Session* const each : candidates(turn)) {
      if (!rules_.leaves_before(*each, last)) continue;
      add_leaving(room, *each);
      if (greedy && !is_victim(turn, *each)) {
        report(9, turn, "{} stays, and leaves before victim {}/{} by the order",
               session_text(*each), last.namespace_name, last.name);
      }
    }
    const bool enough = turn.runs_on ? room.fits(turn.places) : room.find() == Finding::yes;
    if (!enough) return;
    report(9, turn, "victim {}/{} is no choice of the order: those before it are enough",
           last.namespace_name, last.name);
  }

  /// Law 10: there is no room, unless a bound stopped the search; nor would there be if all left
  /// that may, if it is the one to preempt.
  void judge_without_room(const Turn& turn, const KernelRoom& after, const GroupState& group) {
    if (!turn.entry.bounds_reached.empty()) return;
    const std::string_view outcome = choice_name(turn.entry.outcome);
    const auto fits = [&](const KernelRoom& room) {
      return turn.runs_on ? room.fits(suspended_on(turn.session)) : room.find() == Finding::yes;
    };
    if (fits(after)) return report(10, turn, "it is called {}, and there is room for it", outcome);
    const bool head_only = walk_.configuration().session.preemptors == Preemptors::head_only;
    const bool may = head_only ? group.blocked_by == turn.heard.text : group.preemptor.empty();
    if (!may || turn.runs_on || turn.entry.waits_until) return;
    KernelRoom room = after;
    for (const Session* const each : candidates(turn)) add_leaving(room, *each);
    if (!fits(room)) return;
    report(10, turn, "it is called {}, and preemption can help it", outcome);
  }

  // ---- Nominations (law 7) ----------------------------------------------------------------------

  /// Beside what pinned pods were promised there: neither side takes what the other holds.
  bool all_fit(const std::vector<HeardAsk::RowPlace>& rows) {
    NaiveWorld& after = walk_.after();
    std::vector<PodIndex> come;
    const auto place = [&](PodIndex row, NodeIndex node) {
      after.place(row, node);
      come.push_back(row);
    };
    for (const HeardAsk::RowPlace& each : rows) place(each.row, each.node);
    for (const HeardAsk::RowPlace& each : rows) {
      for (const PodIndex pod : walk_.cluster().nodes().nominated[each.node]) {
        const bool held = walk_.regimes().crosses(pod) && !walk_.is_decided(pod) &&
                          keeps_its_node(after, walk_.configuration(), pod, each.node);
        if (held && !after.where(pod).exists()) place(pod, each.node);
      }
    }
    const bool fits = std::ranges::all_of(rows, [&](const HeardAsk::RowPlace& each) {
      after.remove(each.row);
      const bool alone = !NaiveFit(after, each.row).refusal(each.node);
      after.place(each.row, each.node);
      return alone;
    });
    for (const PodIndex row : come) after.remove(row);
    return fits;
  }

  std::vector<HeardAsk::RowPlace> nominated_rows(const Session& holder) const {
    std::vector<HeardAsk::RowPlace> found;
    const std::vector<KernelRows> own = rows_of(walk_.cluster(), holder);
    if (own.size() != holder.kernels.size()) return found;
    const std::vector<NodeIndex>& nodes = rules_.nodes(holder);
    for (std::size_t kernel = 0; kernel < own.size(); ++kernel) {
      const auto node = walk_.cluster().find_node(holder.kernels[kernel].nominated_node);
      if (!node || std::ranges::find(nodes, *node) == nodes.end()) return {};
      for (const PodIndex row : moving(own[kernel], false)) {
        found.push_back({.row = row, .node = *node});
      }
    }
    return found;
  }

  /// Whether it could have come to where it is nominated, and cannot once the ask has come.
  bool holder_loses(const Turn& turn, const Session& holder) {
    const std::vector<HeardAsk::RowPlace> rows = nominated_rows(holder);
    NaiveWorld& after = walk_.after();
    const bool decided = std::ranges::any_of(rows, [&](const HeardAsk::RowPlace& each) {
      return walk_.is_decided(each.row) || after.where(each.row).exists();
    });
    if (rows.empty() || decided || !all_fit(rows)) return false;
    std::vector<HeardAsk::RowPlace> away;
    for (const Session* const victim : turn.victims) {
      for (const PodIndex row : leaving_rows(*victim)) {
        if (!after.where(row).exists()) continue;
        away.push_back({.row = row, .node = after.where(row)});
        after.remove(row);
      }
    }
    for (const HeardAsk::RowPlace& each : turn.heard.rows_coming) after.place(each.row, each.node);
    const bool fits = all_fit(rows);
    for (const HeardAsk::RowPlace& each : turn.heard.rows_coming) after.remove(each.row);
    for (const HeardAsk::RowPlace& each : away) after.place(each.row, each.node);
    return !fits;
  }

  /// A nominated session comes before others of its rank. Where one of these makes room before it
  /// is placed, its nomination was no longer valid, and the freed room belongs to the session whose
  /// turn it is.
  void void_nominations(const Turn& turn) {
    std::erase_if(nominated_, [&](const Session* holder) {
      if (holder == &turn.session || holder->resource_group != turn.session.resource_group ||
          rules_.priority(*holder) != rules_.priority(turn.session) ||
          rules_.tier(*holder) != rules_.tier(turn.session)) {
        return false;
      }
      const std::vector<HeardAsk::RowPlace> rows = nominated_rows(*holder);
      const bool decided = std::ranges::any_of(
          rows, [&](const HeardAsk::RowPlace& each) { return walk_.is_decided(each.row); });
      return !decided && !all_fit(rows);
    });
  }

  /// Room is held against asks of equal or lower priority, unless it was theirs too.
  void judge_nominations(const Turn& turn) {
    const bool own = std::ranges::equal(
        turn.session.kernels, turn.places, [this](const Kernel& kernel, NodeIndex node) {
          return std::string_view(kernel.nominated_node) == walk_.node_name(node);
        });
    if (own) return;
    for (const Session* const holder : nominated_) {
      if (holder == &turn.session || !rules_.waits_for_its_turn(*holder)) continue;
      if (holder->resource_group != turn.session.resource_group) continue;
      if (rules_.priority(*holder) < rules_.priority(turn.session)) continue;
      if (rules_.tier(*holder) < rules_.tier(turn.session)) continue;
      if (!holder_loses(turn, *holder)) continue;
      report(7, turn, "it takes room that is nominated to {}", session_text(*holder));
    }
  }

  // -----------------------------------------------------------------------------------------------

  void judge_document(const Turn& turn) {
    PlanCost total;
    const std::vector<PlanSessionVictim>& fates = turn.entry.session->victims;
    for (std::size_t at = 0; at < turn.entry.victims.size(); ++at) {
      const PlanVictim& said = turn.entry.victims[at];
      const Session* const victim = rules_.find(said.namespace_name, said.name);
      if (victim == nullptr) continue;
      judge_cause(turn, *victim, said);
      if (at < fates.size()) judge_fate(turn, *victim, fates[at]);
      total = sum(total, said.cost);
      const bool first = at == 0 || turn.victims.size() != turn.entry.victims.size();
      if (!first && rules_.leaves_before(*turn.victims[at - 1], *victim)) {
        report(9, turn, "its victims are not listed most important first");
      }
    }
    if (turn.entry.cost != total) report(9, turn, "it does not lose what its victims lose");
    if (turn.victims.empty()) return;
    const auto count = static_cast<std::int64_t>(candidates(turn).size());
    if (turn.entry.session->candidates != count) {
      report(9, turn, "{} sessions may be preempted for it, and the plan says {}", count,
             turn.entry.session->candidates);
    }
  }

  void judge_cause(const Turn& turn, const Session& victim, const PlanVictim& said) {
    const auto wrong = [&](std::string_view text) {
      report(9, turn, "victim {}/{} {}", victim.namespace_name, victim.name, text);
    };
    if (said.reason.empty()) wrong("has no reason");
    if (said.cause_for != turn.heard.text) wrong("does not name the ask that it is preempted for");
    if (said.cause_rule.empty()) wrong("does not say under which rule it leaves");
    if (said.cause_alternative.empty()) wrong("does not say what it was compared with");
    if (said.cause_key.empty()) wrong("does not say what decided");
    if (said.uid != victim.uid) wrong("has another uid");
    if (said.unit != session_text(victim)) wrong("leaves as another unit");
    if (said.priority != rules_.priority(victim)) wrong("has another priority");
    if (said.node != fmt::format("{}", fmt::join(nodes_of(victim), ","))) wrong("runs elsewhere");
    const PlanCost truth = rules_.cost(victim);
    if (said.cost != truth) {
      wrong(fmt::format("loses {} pod-seconds and {} GPU-seconds, not {} and {}", truth.pod_seconds,
                        truth.gpu_seconds, said.cost.pod_seconds, said.cost.gpu_seconds));
    }
  }

  void judge_fate(const Turn& turn, const Session& victim, const PlanSessionVictim& said) {
    const auto wrong = [&](int law, const std::string& text) {
      report(law, turn, "victim {}/{} {}", victim.namespace_name, victim.name, text);
    };
    const std::set<std::string> nodes = nodes_of(victim);
    if (said.nodes != std::vector(nodes.begin(), nodes.end())) {
      wrong(5, fmt::format("leaves whole: {}, not {}", fmt::join(nodes, ","),
                           fmt::join(said.nodes, ",")));
    }
    if (said.tier != rules_.tier(victim)) wrong(9, "has another tier");
    const SessionFate fate = rules_.fate(victim);
    if (said.fate != fate) {
      wrong(9, fmt::format("{}, and is said to be: {}", choice_name(fate), choice_name(said.fate)));
    }
    if (said.ends_at != rules_.ends_at(victim)) {
      wrong(9, fmt::format("ends at {}, not {}", to_text(rules_.ends_at(victim)),
                           to_text(said.ends_at)));
    }
    const std::optional<Time> back = rules_.resume_after(victim);
    const auto when = [](const std::optional<Time>& time) {
      return time ? to_text(*time) : "never";
    };
    if (said.resume_after != back) {
      wrong(9, fmt::format("is pending again {}, not {}", when(back), when(said.resume_after)));
    }
    if (said.preemptions != victim.status.preemptions + 1) {
      wrong(9, fmt::format("was preempted {} times, this one included",
                           victim.status.preemptions + 1));
    }
  }

  template <class... Args>
  void report(int law, const Turn& turn, fmt::format_string<Args...> text, Args&&... args) {
    walk_.report(law, turn.heard, text, std::forward<Args>(args)...);
  }

  PlanWalk& walk_;
  SessionRules rules_;
  std::vector<const Session*> nominated_;                       ///< As long as that may be valid.
  std::map<std::string, OpenNodes> open_nodes_;                 ///< By group.
  std::map<const std::vector<NodeIndex>*, KernelNodes> nodes_;  ///< By those of `rules_`.
  std::map<std::string, GroupState> groups_;
  std::map<SessionKey, std::string> taken_;  ///< Victims, and the asks that they are for.
};

std::function<void(const HeardAsk&)> session_judge(PlanWalk& walk) {
  return [&walk, judge = SessionJudge(walk)](const HeardAsk& ask) mutable {
    judge.judge(ask);
    walk.settle_session(ask);
  };
}

// ---- Actions ------------------------------------------------------------------------------------

using SessionActionKey = std::tuple<ActionType, std::string, std::string, std::string, std::string,
                                    std::optional<Time>>;  ///< Type, object, uid, node, ask, until.

ActionType action_of(SessionFate fate) {
  if (fate == SessionFate::requeues) return ActionType::requeue;
  return fate == SessionFate::suspends ? ActionType::suspend : ActionType::evict;
}

void expect_actions(const Hearing& hearing, const HeardAsk& ask,
                    std::map<SessionActionKey, int>& open) {
  const PlanAsk& entry = *ask.entry;
  const auto& sessions = hearing.cluster.own<Session>();
  const auto own = sessions.find({entry.namespace_name, entry.name});
  const std::string uid = own == sessions.end() ? std::string() : own->second.uid;
  const bool fits = entry.outcome == Outcome::fits;
  if (entry.session->runs_on) {
    const std::string name = fmt::format("{}/{}", entry.namespace_name, entry.name);
    if (fits) ++open[{ActionType::resume, name, uid, {}, {}, {}}];
  } else {
    for (const PodPlacement& place : entry.placements) {
      ++open[{fits ? ActionType::bind : ActionType::nominate,
              fmt::format("{}/{}", place.namespace_name, place.name),
              uid,
              place.node,
              {},
              {}}];
    }
  }
  for (std::size_t at = 0; at < std::min(entry.victims.size(), entry.session->victims.size());
       ++at) {
    const PlanVictim& victim = entry.victims[at];
    const PlanSessionVictim& then = entry.session->victims[at];
    const auto until = then.ends_at > hearing.plan.now ? std::optional(then.ends_at) : std::nullopt;
    ++open[{action_of(then.fate), fmt::format("{}/{}", victim.namespace_name, victim.name),
            victim.uid, victim.node, ask.text, until}];
  }
}

/// Sessions that got notice in an earlier cycle and whose grace time is over.
void expect_ends(const Hearing& hearing, std::map<SessionActionKey, int>& open) {
  for (const auto& [key, session] : hearing.cluster.own<Session>()) {
    const SessionStatus& status = session.status;
    if (status.phase != SessionPhase::running || !status.ends_at || !status.fate) continue;
    if (*status.ends_at > hearing.plan.now) continue;
    ++open[{action_of(*status.fate),
            fmt::format("{}/{}", session.namespace_name, session.name),
            session.uid,
            {},
            ref_text(parse_ref(status.preempted_by)),
            {}}];
  }
}

/// "Session a/b" for "a/b" and for its kernel "a/b/main".
std::string session_called(const std::string& object) {
  const std::size_t name = object.find('/') + 1;
  return "Session " + object.substr(0, object.find('/', name));
}

void judge_session_actions(Hearing& hearing) {
  std::map<SessionActionKey, int> open;
  if (hearing.configuration.session.enabled) expect_ends(hearing, open);
  for (const HeardAsk& ask : hearing.asks) {
    if (ask.own_rules == &session_rules) expect_actions(hearing, ask, open);
  }
  for (const PlanAction& action : hearing.plan.actions) {
    if (!concerns_session(action) || action.type == ActionType::wait) continue;
    --open[{action.type, fmt::format("{}/{}", action.namespace_name, action.name), action.uid,
            action.node, ref_text(action.ask), action.until}];
  }
  for (const auto& [key, count] : open) {
    if (count == 0) continue;
    const auto& [type, object, uid, node, ask, until] = key;
    hearing.breaches.add(9, ask.empty() ? session_called(object) : ask,
                         "action {} {} on node {} {}", choice_name(type), object, node,
                         count > 0 ? "is missing" : "has no reason");
  }
}

}  // namespace

constinit const OwnRules session_rules = {.kind = AskKind::session,
                                          .find = find_session,
                                          .judge = session_judge,
                                          .concerns = concerns_session,
                                          .judge_actions = judge_session_actions};

}  // namespace makeway
