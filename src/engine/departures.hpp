// Departures: when the room of each leaving pod becomes free, and for which asks (SPEC law 6).
//
//   soon   within `engine.leaveWaitMax`: an ask that fits once the pod is gone waits for it
//   late   later than that: an ask waits for it only if nothing else is found. Kernels are never
//          late: they end when their session says. Nor is any pod where `victims` is the rule.
//   stuck  `engine.leaveTimeout` has passed since the deletion time: no ask waits for it
//
// For its own queue a pod that leaves soon or late has left already (SPEC section 3).
// Which pods are gone from the room that an ask sees is a rule (LeavingRoom): `credited`, those
// that leave soon; `victims`, none, and they may be evicted again (kube-scheduler). Pinned asks of
// YuniKorn credit none (PinnedLeavingRoom). Only these two files read deletion times to decide.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/survey.hpp"
#include "model/configuration.hpp"

namespace makeway {

enum class Departure : std::uint8_t { none, soon, late, stuck };

class Departures {
 public:
  /// Costs O(leaving pods).
  Departures(const Survey& survey, const Configuration& configuration, Time now);

  static bool leaving(const Cluster& cluster, PodIndex pod) {
    return cluster.pods().deletion[pod] != no_time;
  }
  bool leaving(PodIndex pod) const { return leaving(cluster_, pod); }
  Departure of(PodIndex pod) const { return leaving(pod) ? classify(pod) : Departure::none; }
  bool late(PodIndex pod) const { return of(pod) == Departure::late; }
  bool stuck(PodIndex pod) const { return of(pod) == Departure::stuck; }
  /// Soon or late. Its queue counts it as gone.
  bool departing(PodIndex pod) const { return leaving(pod) && !stuck(pod); }
  /// The deletion time, which contains the grace period.
  Time leaves_at(PodIndex pod) const { return cluster_.pods().deletion[pod]; }
  /// `engine.leaveTimeout` has passed since then.
  bool is_patience_over(Time since) const { return !(now_ - since < timeout_); }
  /// When the departure of a leaving pod changes: from late to soon, and from soon to stuck.
  struct Changes {
    Time soon_from;
    Time stuck_from;
  };
  static Changes changes(const Cluster& cluster, const EngineSettings& settings, PodIndex pod);
  /// From when a leaving replica may be deleted by force (SPEC section 4).
  static Time forced_from(const Cluster& cluster, const ReplicaSettings& settings, PodIndex pod);

  /// Pods that leave soon and whose room the rule of their kind credits: by node and importance.
  std::span<const PodIndex> soon() const { return soon_; }
  /// The same for pods that leave late: by name.
  std::span<const PodIndex> late() const { return late_; }
  /// Sorts by plane, namespace and name.
  void sort_by_name(std::vector<PodIndex>& pods) const;

 private:
  Departure classify(PodIndex pod) const;
  bool is_credited(PodIndex pod) const;

  const Cluster& cluster_;
  const Regimes& regimes_;
  LeavingRoom pods_rule_;
  Duration wait_max_;
  Duration timeout_;
  Time now_;
  std::vector<PodIndex> soon_;
  std::vector<PodIndex> late_;
};

}  // namespace makeway
