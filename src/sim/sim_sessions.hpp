// SimSessions: sessions of the simulated world, and the users who come back (SPEC section 6).
//
// Rules
//  1. A session starts with all of its kernels or not at all, and its kubelets count their room.
//  2. With notice it stops working and holds its room until its grace time is over; suspended, it
//     keeps its memory and loses no work.
//  3. A requeued session counts as pending after its back-off, by its own status. One that waits
//     for a user is resumed after `recreate`; one that has ended is started again after `recreate`,
//     under a new name, with the work that is left.
//  4. When a node is lost, its sessions are pending again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/plan.hpp"
#include "sim/sim_work.hpp"

namespace makeway {

class SimSessions {
 public:
  SimSessions(SimState& state, SimWork& work) : state_(state), work_(work) {}

  /// From a snapshot; it was shown already.
  void adopt(const Session& session);
  void arrive(std::uint32_t index);
  void run_ends(RunnerId id);
  /// The grace time is over.
  void leaves(const Event& event);
  /// Its user wants it back.
  void comes_back(const Event& event);

  /// Whether the action is about a session, or a kernel of one.
  bool knows(const PlanAction& action) const;
  void carry_out(const PlanAction& action, const Plan& plan);
  /// A session that is not nominated any more loses its nomination.
  void clear_nominations(const Plan& plan);
  /// Another client has written it, or it is new.
  void written(const Session& session);
  /// Another client has removed it.
  void removed(const Removal& gone);
  void node_is_lost(const std::string& node);
  /// Another client stops a kernel, and the session is pending again. False: none runs.
  bool second_writer();

  void list(std::vector<Change>& objects) const;

 private:
  using Key = std::pair<std::string, std::string>;  ///< Namespace, name.
  struct Entry {
    Session object;
    RunnerId runner = 0;
    std::int64_t attempt = 0;
    std::uint32_t turn = 0;  ///< What is expected of it counts only until this changes.
    bool stuck = false;      ///< It does not leave when its time is over.
  };

  static Key key_of_action(const PlanAction& action);
  void make(RunnerId runner, std::int64_t attempt);
  void write(Entry& entry, Session next);
  void occupy(const Session& session, std::int64_t sign);
  bool has_room(const Session& session) const;
  void expect_leave(Entry& entry, Time when);
  void expect(Entry& entry, EventKind what, Time when);
  void refuse(const Entry& entry, const std::string& plan, std::string reason);

  void start(Entry& entry, const PlanAsk& ask, const std::string& plan);
  void run_on(Entry& entry, const std::string& plan);
  void notice(Entry& entry, const PlanAction& action, const Plan& plan);
  void take_off(Entry& entry);
  void fall(Entry& entry);

  SimState& state_;
  SimWork& work_;
  std::map<Key, Entry> sessions_;
  std::map<RunnerId, Key> by_runner_;
};

}  // namespace makeway
