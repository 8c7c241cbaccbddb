// EvictionLedger: no pod has to leave twice for the same ask without a cause (laws 6 and 7).
//
// An ask that has its victims has its place coming. It may choose others only because of one of
// these, and each must have been reported to the ledger or be in the plans:
//  - something happened on its nodes that no plan asked for, or something that matters everywhere;
//  - a part of its plan was not carried out;
//  - a pod that leaves its nodes does not do so in time (law 6), or a victim of its own is still
//    there and not leaving;
//  - a strictly higher ask, or a pinned pod, has a place on one of its nodes (law 7, section 5), or
//    anywhere if its constraints look at other pods.
// With queues everything that happens matters everywhere: room in a queue follows from all of them.
// Not judged: asks with constraints that look at other pods; where leaving room is not credited
// (law 6 is waived), pinned pods and sessions, and others once their victims are gone.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway {

class EvictionLedger {
 public:
  explicit EvictionLedger(const Configuration& configuration) : configuration_(configuration) {}

  /// Something that no plan asked for.
  void happened_on(const std::string& node);
  void happened_everywhere();
  /// Of this ask's plan, "Pod default/urgent", something was not carried out.
  void left_undone(const std::string& ask);

  /// Complaints about the plan, which is then remembered.
  std::vector<std::string> judge(const Cluster& cluster, const Plan& plan);

  /// Second choices that had a cause, and plans that had victims.
  std::uint64_t again() const { return again_; }
  std::uint64_t chosen() const { return chosen_; }

 private:
  using Key = std::pair<std::string, std::string>;  ///< Namespace and name.
  enum class Whereabouts : std::uint8_t { gone, leaving, stays };

  struct Entry {
    std::int32_t priority = 0;
    std::set<std::string> nodes;
    std::set<Key> victims;  ///< Pods; of a session: sessions.
    bool sessions = false;
    bool pinned = false;
    bool cause = false;
  };

  static Whereabouts whereabouts(const Cluster& cluster, const Entry& entry, const Key& victim);
  bool has_overdue_pods(const Cluster& cluster, const Entry& entry, Time now) const;
  bool has_cause(const Cluster& cluster, const Entry& entry, Time now) const;
  void note_takers(const Cluster& cluster, const Plan& plan);
  static Entry entry_of(const Cluster& cluster, const PlanAsk& ask);

  const Configuration& configuration_;
  std::map<std::string, Entry> entries_;  ///< By ask_text.
  std::uint64_t again_ = 0;
  std::uint64_t chosen_ = 0;
};

}  // namespace makeway
