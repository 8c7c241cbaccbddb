// SessionJudge: sessions in a plan (SPEC section 6), one after the other in the order of the plan.
// Private to check_plan*.cpp; shares no code with the policy.
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
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "judge/check_plan_session_room.hpp"
#include "judge/check_plan_session_rules.hpp"
#include "judge/check_plan_walk.hpp"

namespace makeway {

class SessionJudge {
 public:
  explicit SessionJudge(PlanWalk& walk);

  /// Before the walk settles the ask.
  void judge(const HeardAsk& ask);

 private:
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

  void report(int law, const Turn& turn, std::string text) {
    walk_.report(law, turn.heard, std::move(text));
  }
  void judge_entry(const Turn& turn);
  void judge_order(const Turn& turn, GroupState& group);
  void find_victims(Turn& turn);
  void judge_victim(const Turn& turn, const Session& victim);
  void judge_preemptor(const Turn& turn, GroupState& group);
  void find_places(Turn& turn);
  void judge_places(const Turn& turn, const GroupState& group);
  void judge_needed(const Turn& turn, const KernelRoom& now, const KernelRoom& after);
  void judge_irreducible(const Turn& turn, KernelRoom after);
  void judge_choice(const Turn& turn, const KernelRoom& after);
  void judge_without_room(const Turn& turn, const KernelRoom& after, const GroupState& group);
  void void_nominations(const Turn& turn);
  void judge_nominations(const Turn& turn);
  void judge_document(const Turn& turn);
  void judge_fate(const Turn& turn, const Session& victim, const PlanSessionVictim& said);
  void judge_cause(const Turn& turn, const Session& victim, const PlanVictim& said);

  /// Where the kernels of a suspended session are.
  std::vector<NodeIndex> suspended_on(const Session& session) const;
  std::vector<std::vector<PodIndex>> own_rows(const Turn& turn) const;
  /// The rows that give room when the session leaves: not the memory of one that is suspended.
  std::vector<PodIndex> leaving_rows(const Session& session) const;
  void adjust_leaving(const Turn& turn, KernelRoom& room) const;
  void take_held(const Turn& turn, KernelRoom& room) const;
  void add_leaving(KernelRoom& room, const Session& session) const;
  KernelRoom with_victims_gone(const Turn& turn, KernelRoom room) const;
  KernelNodes& nodes_for(const Session& session);
  std::vector<const Session*> candidates(const Turn& turn) const;
  bool is_victim(const Turn& turn, const Session& session) const;
  std::vector<HeardAsk::RowPlace> nominated_rows(const Session& holder) const;
  bool holder_loses(const Turn& turn, const Session& holder);
  bool all_fit(const std::vector<HeardAsk::RowPlace>& rows);

  PlanWalk& walk_;
  SessionRules rules_;
  std::vector<const Session*> nominated_;                       ///< As long as that may be valid.
  std::map<std::string, OpenNodes> open_nodes_;                 ///< By group.
  std::map<const std::vector<NodeIndex>*, KernelNodes> nodes_;  ///< By those of `rules_`.
  std::map<std::string, GroupState> groups_;
  std::map<SessionKey, std::string> taken_;  ///< Victims, and the asks that they are for.
};

/// Law 9: the actions about sessions are those that the entries mean.
void judge_session_actions(Hearing& hearing);

}  // namespace makeway
