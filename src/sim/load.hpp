// What a simulation is about: the nodes, and the tasks that arrive (SPEC section 9).
//
// A task is what a user submits: some equal pods with a run time. Of a job each pod runs for
// itself; of a gang they run together, as long as at least its minimum runs; a service loses no
// work when it is interrupted; a daemon is one pod on one node, and runs for ever; of a session the
// pods are its kernels; replicas are a deployment that is scaled per plane and runs until its time
// is over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "model/objects.hpp"

namespace makeway {

enum class TaskKind : std::uint8_t { job, gang, service, daemon, session, replicas };

/// By its value pods of tasks that are near each other, or apart, look at each other.
inline constexpr std::string_view application_label = "app";

struct SimTask {
  TaskKind kind = TaskKind::job;
  std::string name;
  std::string namespace_name = "default";
  Time arrival;
  Duration run;         ///< Of each pod; of a daemon nothing.
  Duration checkpoint;  ///< How often its work is saved; 0: never.
  Duration leave;       ///< How long a pod takes to leave after notice.
  Duration recreate;    ///< How long its controller takes to make a new pod; a person to come back.
  std::int64_t pods = 1;
  std::int64_t minimum = 1;  ///< Of a gang.
  bool whole = false;        ///< A gang leaves whole or not at all.
  std::int32_t priority = 0;
  std::string queue;
  Amounts requests;
  PodShape shape;
  std::string application;  ///< See `application_label`; empty: no task refers to it.
  // Of a session:
  SessionType session_type = SessionType::batch;
  std::string resource_group;
  std::string partition;  ///< Empty: its group is not divided.
  bool requeues = false;  ///< It says that it comes back by itself.
};

struct SimLoad {
  std::vector<Change> objects;     ///< Nodes, queues, and whatever else is there from the start.
  std::vector<SimTask> tasks;      ///< By arrival.
  std::vector<std::string> notes;  ///< What a reader of results has to know.
};

}  // namespace makeway
