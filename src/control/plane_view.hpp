// PlaneView: schedules over planes as decisions may see them, between the watches and the loop.
//
//  1. What is committed to a plane is what the Deployment there says (spec.replicas). The total
//     that a schedule wants is what its object commits plus its unmet; what is shown as unmet is
//     that total minus what is committed. So a scale is one write, and the spec stays as it is.
//  2. A plane that this run was not given is left alone, and what is committed to it is not wanted
//     elsewhere. A plane without the Deployment is none that the schedule may use.
//  3. An unwatched plane keeps what it has: its objects stay as they were last shown, what is
//     committed there is not wanted elsewhere, and its nodes are closed.
//  4. A schedule is not shown at all while one of its planes was never seen, since it is unknown
//     what is committed there, while an autoscaler scales one of its Deployments, and while it has
//     no selector where one is needed: none of its pods would count as its replica, and what is
//     committed would seem to be on its way for ever. Its pods are usage then.
//  5. A force-deletion that a schedule records is not shown when its pod is still there after
//     `unsent_after`, with time to leave: the API server never heard of it (the process died in
//     between), and it is to be decided again.
// One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "control/own_findings.hpp"
#include "model/objects.hpp"

namespace makeway {

/// A Deployment as it is now.
struct DeploymentUpdate {
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::optional<std::int64_t> replicas;  ///< None: it is gone.

  friend bool operator==(const DeploymentUpdate&, const DeploymentUpdate&) = default;
};

/// A HorizontalPodAutoscaler as it is now.
struct AutoscalerUpdate {
  std::string namespace_name;
  std::string name;
  std::string deployment;  ///< That it scales; empty: none, or it is gone.

  friend bool operator==(const AutoscalerUpdate&, const AutoscalerUpdate&) = default;
};

/// What a plane reports besides its objects.
struct PlaneUpdates {
  std::vector<DeploymentUpdate> deployments;
  std::vector<AutoscalerUpdate> autoscalers;
};

/// What is new of a plane since the last look.
struct PlaneState {
  std::string plane;
  bool sees = false;  ///< What was shown is current.
  std::vector<Change> changes;
  PlaneUpdates updates;
};

/// The Deployments of one plane.
class DeploymentCache {
 public:
  struct Known {
    std::string uid;
    std::int64_t replicas = 0;
  };

  void take(const PlaneUpdates& updates);
  /// Null: there is none.
  const Known* find(std::string_view namespace_name, std::string_view name) const;
  /// The name of an autoscaler that scales it; empty: there is none.
  std::string autoscaler_of(std::string_view namespace_name, std::string_view name) const;

 private:
  using Name = std::pair<std::string, std::string>;  ///< Namespace and name.

  std::map<Name, Known> deployments_;
  std::map<Name, std::string> autoscalers_;  ///< The name of the Deployment.
};

class PlaneView {
 public:
  static constexpr Duration unsent_after{10'000};

  /// `needs_selector`: a label alone makes no pod a replica (trust.mode cluster).
  explicit PlaneView(const std::vector<std::string>& planes, bool needs_selector = false);

  /// What the loop is shown instead: changes at home, then those of the planes.
  std::vector<Change> show(std::vector<Change> home, std::vector<PlaneState> planes, Time now);
  /// When `show` may have something new without a change.
  std::optional<Time> next_due() const { return next_due_; }
  /// Why a schedule is not shown (it cannot work), or which of its planes are left alone (it is
  /// doubtful), and what to do about it; by "namespace/name".
  const OwnFindings& notes() const { return notes_; }

 private:
  struct State {
    bool was_seen = false;  ///< Ever.
    bool sees = false;
    std::map<std::string, Node> nodes;  ///< As its server shows them.
    std::map<std::pair<std::string, std::string>, std::string> terminating;  ///< Uids of pods.
    DeploymentCache deployments;
  };
  using Name = std::pair<std::string, std::string>;

  void take_home(std::vector<Change> changes, std::vector<Change>& shown);
  void take_plane(PlaneState seen_object, std::vector<Change>& shown);
  static void note_pod(const Change& change, State& state);
  void show_schedules(std::vector<Change>& shown, Time now);
  void forget_unsent(ReplicaSchedule& schedule, Time now);
  std::optional<ReplicaSchedule> shown_of(const ReplicaSchedule& schedule, std::string& note) const;

  const bool needs_selector_;
  std::map<std::string, State> planes_;
  std::map<Name, ReplicaSchedule> schedules_;  ///< As the home server shows them.
  std::map<Name, ReplicaSchedule> shown_;
  OwnFindings notes_;
  bool is_stale_ = false;  ///< Schedules must be shown anew.
  std::optional<Time> next_due_;
};

}  // namespace makeway
