// SessionJudge: the order of asks, the sessions that leave, and where the kernels go.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "judge/check_plan_sessions.hpp"

namespace makeway {

SessionJudge::SessionJudge(PlanWalk& walk)
    : walk_(walk), rules_(walk.cluster(), walk.configuration(), walk.time()) {
  for (const auto& [key, session] : walk.cluster().own<Session>()) {
    const bool named = std::ranges::any_of(
        session.kernels, [](const Kernel& kernel) { return !kernel.nominated_node.empty(); });
    if (named) nominated_.push_back(&session);
  }
}

void SessionJudge::judge(const HeardAsk& ask) {
  const Session* const session = rules_.find(ask.entry->namespace_name, ask.entry->name);
  if (session == nullptr) return;
  if (!rules_.waits_for_its_turn(*session)) {
    return walk_.report(3, ask, "it is not pending, or still off the queue");
  }
  Turn turn{.heard = ask,
            .entry = *ask.entry,
            .session = *session,
            .runs_on = session->status.phase == SessionPhase::suspended,
            .victims = {},
            .places = {}};
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

void SessionJudge::judge_entry(const Turn& turn) {
  const PlanSession& said = *turn.entry.session;
  const Session& session = turn.session;
  if (turn.entry.priority != rules_.priority(session)) {
    report(
        2, turn,
        fmt::format("its priority is {}, not {}", rules_.priority(session), turn.entry.priority));
  }
  if (said.resource_group != session.resource_group || said.partition != session.partition ||
      said.tier != rules_.tier(session)) {
    report(9, turn,
           fmt::format("it belongs to group {} partition {} tier {}, and that is not what it says",
                       session.resource_group, session.partition, rules_.tier(session)));
  }
  if (said.runs_on != turn.runs_on) {
    report(9, turn, turn.runs_on ? "it is suspended, and that is not said" : "it is not suspended");
  }
}

// ---- Turns --------------------------------------------------------------------------------------

void SessionJudge::judge_order(const Turn& turn, GroupState& group) {
  if (group.last != nullptr && !rules_.tried_before(*group.last, turn.session)) {
    report(2, turn, fmt::format("its turn is before that of {}", session_text(*group.last)));
  }
  group.last = &turn.session;
}

/// Only the first that does not fit and that preemption can help.
void SessionJudge::judge_preemptor(const Turn& turn, GroupState& group) {
  const bool preempts = !turn.entry.victims.empty();
  const bool head_only = walk_.configuration().session.preemptors == Preemptors::head_only;
  if (preempts) {
    const std::string& before = head_only ? group.blocked_by : group.preemptor;
    if (!before.empty()) {
      report(2, turn,
             fmt::format("it may not preempt: {} comes before it and does not fit", before));
    }
    if (!turn.entry.session->may_preempt) report(9, turn, "it preempts, and says that it may not");
    const Duration delay = walk_.configuration().engine.preemption_delay;
    if (delay.ms > 0 && turn.session.created && walk_.time() < *turn.session.created + delay) {
      report(2, turn,
             fmt::format("it may not preempt before {}", to_text(*turn.session.created + delay)));
    }
    if (group.preemptor.empty()) group.preemptor = turn.heard.text;
  }
  // A session that waits for its delay before it preempts is the one that may preempt.
  const bool delayed = turn.entry.outcome == Outcome::waits && turn.entry.waits_until;
  if (delayed && group.preemptor.empty()) group.preemptor = turn.heard.text;
  // A suspended session is not in the queue.
  const bool queued = turn.entry.outcome != Outcome::fits && !turn.runs_on;
  if (queued && group.blocked_by.empty()) {
    group.blocked_by = turn.heard.text;
  }
}

// ---- Victims ------------------------------------------------------------------------------------

bool SessionJudge::is_victim(const Turn& turn, const Session& session) const {
  return std::ranges::find(turn.victims, &session) != turn.victims.end();
}

void SessionJudge::find_victims(Turn& turn) {
  const std::vector<PlanSessionVictim>& said = turn.entry.session->victims;
  const bool same = std::ranges::equal(said, turn.entry.victims,
                                       [](const PlanSessionVictim& one, const PlanVictim& other) {
                                         return one.namespace_name == other.namespace_name &&
                                                one.name == other.name && one.plane == other.plane;
                                       });
  if (!same) report(9, turn, "its victims are not the sessions that it says leave");
  for (const PlanVictim& each : turn.entry.victims) {
    const std::string text = fmt::format("victim {}/{}", each.namespace_name, each.name);
    const Session* const victim = rules_.find(each.namespace_name, each.name);
    if (victim == nullptr) {
      report(3, turn, text + " is no session");
    } else if (is_victim(turn, *victim)) {
      report(3, turn, text + " is listed twice");
    } else {
      judge_victim(turn, *victim);
      turn.victims.push_back(victim);
    }
  }
}

void SessionJudge::judge_victim(const Turn& turn, const Session& victim) {
  const std::string text = fmt::format("victim {}/{}", victim.namespace_name, victim.name);
  const auto taken = taken_.find({victim.namespace_name, victim.name});
  if (taken != taken_.end()) {
    report(8, turn, fmt::format("{} also leaves for {}", text, taken->second));
  }
  const std::string protection = rules_.protection(turn.session, victim);
  if (!protection.empty()) {
    report(2, turn, fmt::format("{} may not be preempted: {}", text, protection));
  }
  if (rules_.leaving(victim)) report(6, turn, text + " is leaving already");
}

std::vector<const Session*> SessionJudge::candidates(const Turn& turn) const {
  std::vector<const Session*> found;
  for (const Session* const each : rules_.may_leave_for(turn.session)) {
    if (rules_.leaving(*each)) continue;
    if (!taken_.contains({each->namespace_name, each->name})) found.push_back(each);
  }
  return found;
}

// ---- Places -------------------------------------------------------------------------------------

void SessionJudge::find_places(Turn& turn) {
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
      return report(3, turn, fmt::format("kernel {} has no place", name));
    }
    const PodPlacement* const at = found->second;
    const auto node = walk_.cluster().find_node(at->node);
    if (turn.runs_on && at->node != kernel.node) {
      return report(3, turn, fmt::format("kernel {} is suspended on node {}", name, kernel.node));
    }
    if (!node || std::ranges::find(nodes, *node) == nodes.end()) {
      return report(3, turn, fmt::format("kernel {} may not run on node {}", name, at->node));
    }
    places.push_back(*node);
  }
  if (said.size() != places.size()) {
    return report(3, turn, "it has places for kernels that are not its own");
  }
  turn.places = std::move(places);
}

std::vector<std::vector<PodIndex>> SessionJudge::own_rows(const Turn& turn) const {
  std::vector<std::vector<PodIndex>> rows;
  const auto& all = walk_.cluster().kernel_rows();
  const auto own = all.find({turn.session.namespace_name, turn.session.name});
  if (own == all.end()) return rows;
  for (const KernelRows& kernel : own->second) {
    rows.push_back({kernel.row});
    if (kernel.memory.exists() && !turn.runs_on) rows.back().push_back(kernel.memory);
  }
  return rows;
}

std::vector<PodIndex> SessionJudge::leaving_rows(const Session& session) const {
  std::vector<PodIndex> rows;
  const auto& all = walk_.cluster().kernel_rows();
  const auto own = all.find({session.namespace_name, session.name});
  if (own == all.end()) return rows;
  const bool memory_stays = rules_.fate(session) == SessionFate::suspends;
  for (const KernelRows& kernel : own->second) {
    rows.push_back(kernel.row);
    if (kernel.memory.exists() && !memory_stays) rows.push_back(kernel.memory);
  }
  return rows;
}

/// Sessions have their own rule about the room of sessions that leave.
void SessionJudge::adjust_leaving(const Turn& turn, KernelRoom& room) const {
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
void SessionJudge::take_held(const Turn& turn, KernelRoom& room) const {
  const Cluster& cluster = walk_.cluster();
  for (const NodeIndex node : rules_.nodes(turn.session)) {
    for (const PodIndex row : cluster.nodes().nominated[node]) {
      const bool own = std::ranges::find(turn.heard.pods, row) != turn.heard.pods.end();
      if (!own && !walk_.is_decided(row)) room.take(row, node);
    }
  }
}

void SessionJudge::add_leaving(KernelRoom& room, const Session& session) const {
  for (const PodIndex row : leaving_rows(session)) {
    if (!walk_.is_gone(row)) room.add(row, walk_.cluster().pods().node[row]);
  }
}

/// A node of each kernel; none where its node is gone, or in its group no more.
std::vector<NodeIndex> SessionJudge::suspended_on(const Session& session) const {
  const std::vector<NodeIndex>& known = rules_.group_nodes(session);
  std::vector<NodeIndex> nodes;
  for (const Kernel& kernel : session.kernels) {
    const NodeIndex node = walk_.cluster().find_node(kernel.node).value_or(NodeIndex{});
    nodes.push_back(std::ranges::find(known, node) == known.end() ? NodeIndex{} : node);
  }
  return nodes;
}

KernelNodes& SessionJudge::nodes_for(const Session& session) {
  const std::vector<NodeIndex>& nodes = rules_.nodes(session);
  const auto known = nodes_.find(&nodes);
  return known != nodes_.end() ? known->second
                               : nodes_.emplace(&nodes, KernelNodes(nodes)).first->second;
}

void SessionJudge::judge_places(const Turn& turn, const GroupState& group) {
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

KernelRoom SessionJudge::with_victims_gone(const Turn& turn, KernelRoom room) const {
  for (const Session* const victim : turn.victims) add_leaving(room, *victim);
  return room;
}

/// Laws 1 and 6, and the choice of victims.
void SessionJudge::judge_needed(const Turn& turn, const KernelRoom& now, const KernelRoom& after) {
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
void SessionJudge::judge_irreducible(const Turn& turn, KernelRoom after) {
  after = with_victims_gone(turn, std::move(after));
  for (const Session* const victim : turn.victims) {
    KernelRoom beside = after;
    for (const PodIndex row : leaving_rows(*victim)) {
      if (!walk_.is_gone(row)) beside.take(row, walk_.cluster().pods().node[row]);
    }
    if (!beside.fits(turn.places)) continue;
    report(4, turn,
           fmt::format("victim {}/{} need not leave: its kernels fit beside it",
                       victim->namespace_name, victim->name));
  }
}

/// Of several sets, the one whose sessions leave first is right: the last victim by the order is
/// needed whatever the places. Without putting back, all before it leave, too.
void SessionJudge::judge_choice(const Turn& turn, const KernelRoom& after) {
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
      report(9, turn,
             fmt::format("{} stays, and leaves before victim {}/{} by the order",
                         session_text(*each), last.namespace_name, last.name));
    }
  }
  const bool enough = turn.runs_on ? room.fits(turn.places) : room.find() == Finding::yes;
  if (!enough) return;
  report(9, turn,
         fmt::format("victim {}/{} is no choice of the order: those before it are enough",
                     last.namespace_name, last.name));
}

/// Law 10: there is no room, unless a bound stopped the search; nor would there be if all left that
/// may, if it is the one to preempt.
void SessionJudge::judge_without_room(const Turn& turn, const KernelRoom& after,
                                      const GroupState& group) {
  if (!turn.entry.bounds_reached.empty()) return;
  const std::string_view outcome = choice_name(turn.entry.outcome);
  const auto fits = [&](const KernelRoom& room) {
    return turn.runs_on ? room.fits(suspended_on(turn.session)) : room.find() == Finding::yes;
  };
  if (fits(after)) {
    return report(10, turn, fmt::format("it is called {}, and there is room for it", outcome));
  }
  const bool head_only = walk_.configuration().session.preemptors == Preemptors::head_only;
  const bool may = head_only ? group.blocked_by == turn.heard.text : group.preemptor.empty();
  if (!may || turn.runs_on || turn.entry.waits_until) return;
  KernelRoom room = after;
  for (const Session* const each : candidates(turn)) add_leaving(room, *each);
  if (!fits(room)) return;
  report(10, turn, fmt::format("it is called {}, and preemption can help it", outcome));
}

// ---- Nominations (law 7) ------------------------------------------------------------------------

/// Beside what pinned pods were promised there: neither side takes what the other holds.
bool SessionJudge::all_fit(const std::vector<HeardAsk::RowPlace>& rows) {
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

std::vector<HeardAsk::RowPlace> SessionJudge::nominated_rows(const Session& holder) const {
  std::vector<HeardAsk::RowPlace> found;
  const auto& all = walk_.cluster().kernel_rows();
  const auto own = all.find({holder.namespace_name, holder.name});
  if (own == all.end() || own->second.size() != holder.kernels.size()) return found;
  const std::vector<NodeIndex>& nodes = rules_.nodes(holder);
  for (std::size_t kernel = 0; kernel < own->second.size(); ++kernel) {
    const auto node = walk_.cluster().find_node(holder.kernels[kernel].nominated_node);
    if (!node || std::ranges::find(nodes, *node) == nodes.end()) return {};
    for (const PodIndex row : {own->second[kernel].row, own->second[kernel].memory}) {
      if (row.exists()) found.push_back({.row = row, .node = *node});
    }
  }
  return found;
}

/// Whether it could have come to where it is nominated, and cannot once the ask has come.
bool SessionJudge::holder_loses(const Turn& turn, const Session& holder) {
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

/// A nominated session comes before others of its rank. Where one of these makes room before it is
/// placed, its nomination was no longer valid, and the freed room belongs to the session whose turn
/// it is.
void SessionJudge::void_nominations(const Turn& turn) {
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
void SessionJudge::judge_nominations(const Turn& turn) {
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
    report(7, turn, fmt::format("it takes room that is nominated to {}", session_text(*holder)));
  }
}

}  // namespace makeway
