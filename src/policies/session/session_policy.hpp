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
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "policies/policy.hpp"
#include "policies/session/session_candidates.hpp"
#include "policies/session/session_victims.hpp"

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

/// Null: there are no sessions, or `session.enabled` is off.
std::unique_ptr<Policy> make_session_policy(const PolicyContext& context);

}  // namespace makeway
