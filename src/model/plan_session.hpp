// What a plan says about sessions beyond what every ask has, and about their resource groups.
//
// A session is one entry among the asks; its placements are its kernels ("train/main"), its victims
// whole sessions. PlanSession adds what becomes of each victim. PlanResourceGroup shows a group
// as this cycle sees it, for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/session_objects.hpp"

namespace makeway {

/// A session that has to leave, in the order of the ask's victims.
struct PlanSessionVictim {
  std::string namespace_name;
  std::string name;
  std::string plane;  ///< Empty: home.
  std::int32_t tier = 0;
  std::vector<std::string> nodes;  ///< Sorted; where its kernels run.
  SessionFate fate = SessionFate::ends;
  Time ends_at;                      ///< Now, or at the end of its grace time.
  std::optional<Time> resume_after;  ///< When it counts as pending again.
  std::int64_t preemptions = 0;      ///< This one included.

  friend bool operator==(const PlanSessionVictim&, const PlanSessionVictim&) = default;
};

struct PlanSession {
  std::string resource_group;
  std::string partition;
  std::int32_t tier = 0;  ///< 0: its group is not divided.
  bool runs_on = false;   ///< It is suspended and asks for its room where it is.
  /// It may preempt others: the one of its group that may (`session.preemptors`).
  bool may_preempt = false;
  std::int64_t candidates = 0;  ///< Running sessions that it may preempt.
  std::vector<PlanSessionVictim> victims;

  friend bool operator==(const PlanSession&, const PlanSession&) = default;
};

/// A session as its group sees it.
struct PlanSessionEntry {
  std::string namespace_name;
  std::string name;
  std::string plane;  ///< Empty: home.
  SessionType type = SessionType::batch;
  std::int32_t priority = 0;
  std::string partition;
  std::int32_t tier = 0;
  std::vector<std::string> nodes;
  std::optional<Time> since;  ///< Running: its start. Leaving: when it ends. Pending: its creation.
  bool preemptible = false;   ///< Running: whether it may be preempted now.
  std::string why_not;        ///< "priority 10 is above 5", ...
  // What it went through:
  std::int64_t preemptions = 0;
  std::string preempted_by;
  std::optional<SessionFate> fate;
  std::optional<Time> resume_after;

  friend bool operator==(const PlanSessionEntry&, const PlanSessionEntry&) = default;
};

/// How many sessions of a list are written without explanations.
inline constexpr std::size_t plan_sessions_listed_max = 20;
inline constexpr std::size_t plan_sessions_all = ~std::size_t{0};

struct PlanSessionList {
  std::int64_t count = 0;
  std::vector<PlanSessionEntry> first;  ///< All of them with explanations, else the first ones.

  friend bool operator==(const PlanSessionList&, const PlanSessionList&) = default;
};

struct PlanResourceGroup {
  std::string name;
  std::int64_t nodes = 0;
  std::int64_t preemptible_priority = 0;
  std::string preemption_order;
  bool divided = false;       ///< It has partitions.
  PlanSessionList pending;    ///< In the order in which they were tried.
  PlanSessionList running;    ///< Those that leave first, then those that stay, by name.
  PlanSessionList leaving;    ///< By namespace and name.
  PlanSessionList suspended;  ///< The same.
  PlanSessionList off_queue;  ///< Those that come back first are first.

  friend bool operator==(const PlanResourceGroup&, const PlanResourceGroup&) = default;
};

}  // namespace makeway
