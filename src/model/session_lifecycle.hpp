// The life of a session from cycle to cycle, as pure functions on its object.
//
//   pending ──start──> running ──notice──> running, leaving ──take off──> preempted ──> pending
//                        ^                                         ├────> suspended
//                        └─────────────── run on <─────────────────┘
//                                                                  └────> ended
//
// What a plan decides is one of these steps; everything that the next cycle needs stands in the
// object's status. A preempted session keeps its name, configuration and creation time, so its
// place in the queue is its old one. It is off the queue until `resume_after`; from then on it
// counts as pending without any write.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/configuration.hpp"
#include "model/objects.hpp"

namespace makeway {

/// Where a session stands at one moment.
enum class SessionStanding : std::uint8_t {
  pending,
  running,
  leaving,
  suspended,
  off_queue,
  ended
};

SessionStanding standing_of(const Session& session, Time now);

/// Since when it runs. Where that was not recorded: since it was created, which is the earliest
/// that it can be; else since now.
Time runs_since(const Session& session, Time now);

/// What becomes of the session when it is preempted; `partition` is null where its group is not
/// divided.
SessionFate fate_of(const SessionSettings& settings, const Session& session,
                    const Partition* partition);

/// How long a session stays off the queue after so many preemptions: doubled each time.
Duration backoff_after(const SessionSettings& settings, std::int64_t preemptions);

/// One kernel and its node.
struct KernelPlace {
  std::string kernel;
  std::string node;
};

/// Its kernels run on these nodes from now on.
Session start_session(Session session, std::span<const KernelPlace> places, Time now);
/// Room is kept for its kernels there.
Session nominate_session(Session session, std::span<const KernelPlace> places);

/// What a preemption means for one session.
struct SessionNotice {
  std::string by;  ///< "Session default/urgent"
  SessionFate fate = SessionFate::ends;
  Time now;
  Time ends_at;
  std::optional<Time> resume_after;
};
Session notice_session(Session session, const SessionNotice& notice);

/// A leaving session has left: its nodes, or with `suspends` all but its memory.
Session take_off_session(Session session);
/// A suspended session has its room again.
Session run_on_session(Session session);
/// Resumes a preempted session: pending, without the rest of its back-off. A suspended one gives up
/// its nodes and its memory there. An error says why there is nothing to resume.
Result<Session> resume_session(Session session);

}  // namespace makeway
