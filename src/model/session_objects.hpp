// ResourceGroup, Session and Partition (SPEC section 6): people share servers through sessions.
//
// A resource group is a set of nodes; a node belongs to at most one. A session asks for room in one
// group, for all of its kernels at once, and leaves whole. Partitions divide a group into tiers.
// What a cycle decides about a session is kept in its status, so that a restart loses nothing; see
// session_lifecycle.hpp for how it changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "model/amounts.hpp"
#include "model/kinds.hpp"

namespace makeway {

enum class PreemptionOrder : std::uint8_t;  // model/configuration.hpp

struct ResourceGroup {
  std::string name;
  std::string uid;
  std::string plane;                    ///< Empty: home.
  std::vector<std::string> nodes;       ///< By name; sorted.
  Labels node_selector;                 ///< And every node with all of these labels; empty: none.
  std::vector<std::string> namespaces;  ///< Their sessions count (trust.hpp); sorted.
  std::optional<std::int64_t> preemptible_priority;  ///< None: session.preemptiblePriority.
  std::optional<PreemptionOrder> preemption_order;   ///< None: session.preemptionOrder.

  friend bool operator==(const ResourceGroup&, const ResourceGroup&) = default;
};

/// A part of a session on one node.
struct Kernel {
  std::string name;
  Amounts requests;
  std::string node;            ///< Empty: it has no place.
  std::string nominated_node;  ///< Room there is kept for it while victims leave.
  std::string pod_template;    ///< What its pod is made from, as JSON; it decides nothing here.

  friend auto operator<=>(const Kernel&, const Kernel&) = default;
};

enum class SessionType : std::uint8_t { batch, interactive, inference };

enum class SessionPhase : std::uint8_t {
  pending,
  running,    ///< Also while it is leaving: see ends_at.
  preempted,  ///< Off its nodes and off the queue; `fate` says how it comes back.
  suspended,  ///< On its nodes, where it holds nothing but memory.
  ended,
};

/// What becomes of a session that is preempted.
enum class SessionFate : std::uint8_t {
  ends,
  requeues,       ///< Pending again by itself, after its back-off.
  on_request,     ///< Pending again when a user resumes it.
  to_autoscaler,  ///< It ends; its autoscaler starts another one.
  suspends,       ///< Runs on where it is once there is room.
};

struct SessionStatus {
  SessionPhase phase = SessionPhase::pending;
  std::optional<Time> started;
  std::optional<Time> last_checkpoint;
  std::optional<Time> ends_at;  ///< Set while it is leaving: when its grace time is over.
  std::int64_t preemptions = 0;
  std::string preempted_by;  ///< "Session default/urgent"
  std::optional<Time> preempted_at;
  std::optional<SessionFate> fate;   ///< Of the last preemption, until it runs again.
  std::optional<Time> resume_after;  ///< The end of its back-off.

  friend bool operator==(const SessionStatus&, const SessionStatus&) = default;
};

struct Session {
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string plane;            ///< Empty: home.
  Labels labels;                ///< Kept for readers; they decide nothing here.
  Labels annotations;           ///< The same.
  std::optional<Time> created;  ///< Its place in the queue, also after it was preempted.
  std::string resource_group;
  std::string partition;                 ///< Empty: its group is not divided.
  std::optional<std::int32_t> priority;  ///< 0 to 100; none: session.defaultPriority.
  SessionType type = SessionType::batch;
  std::optional<bool> preemptible;  ///< Only with a partition; none: as the partition says.
  bool checkpointing = false;       ///< It can go on from its last checkpoint.
  std::optional<bool> requeue;      ///< None: as the mode of its partition says.
  bool autoscaler = false;          ///< A controller starts another one of it.
  std::vector<Kernel> kernels;      ///< Sorted by name.
  SessionStatus status;

  friend bool operator==(const Session&, const Session&) = default;
};

enum class PartitionMode : std::uint8_t {
  cancel,   ///< The session ends.
  requeue,  ///< It becomes pending again, if it may.
  suspend,  ///< It stays and gives up all but its memory.
};

/// Several may lie over the same nodes.
struct Partition {
  std::string name;
  std::string uid;
  std::string plane;  ///< Empty: home.
  std::string resource_group;
  std::vector<std::string> nodes;  ///< Of the group; sorted. Empty: all of it.
  std::int32_t tier = 1;           ///< Sessions preempt only in strictly lower tiers.
  bool preemptible = false;
  PartitionMode mode = PartitionMode::cancel;
  Duration grace_time;   ///< Between notice and end.
  Duration exempt_time;  ///< A session that has run for less is never a victim.

  friend bool operator==(const Partition&, const Partition&) = default;
};

}  // namespace makeway
