// What the parts of check_plan share: the plan with its names looked up, and the list of breaches.
// Private to check_plan*.cpp.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/check_plan.hpp"
#include "judge/naive_fit.hpp"

namespace makeway {

struct NaiveQueues;
class NaiveRegimes;
class PlanWalk;
struct OwnRules;

/// Breaches of laws that the configuration does not waive.
class Breaches {
 public:
  Breaches(const Configuration& configuration, const Plan& plan)
      : configuration_(configuration), plan_(plan) {}

  /// Names the ask of the plan that is called like this, if there is one.
  template <class... Args>
  void add(int law, const std::string& ask, fmt::format_string<Args...> text, Args&&... args) {
    add(law, ask, fmt::format(text, std::forward<Args>(args)...), asks_called(ask));
  }
  void add(int law, const std::string& ask, std::string text, std::vector<AskName> asks);
  /// Names the queue stage.
  template <class... Args>
  void add_of_queues(int law, const std::string& ask, fmt::format_string<Args...> text,
                     Args&&... args) {
    add(law, ask, fmt::format(text, std::forward<Args>(args)...), {{.kind = AskKind::queue}});
  }
  std::vector<LawBreach> take() { return std::move(breaches_); }

 private:
  std::vector<AskName> asks_called(const std::string& ask) const;

  const Configuration& configuration_;
  const Plan& plan_;
  std::vector<LawBreach> breaches_;
};

struct HeardVictim {
  const PlanVictim* entry = nullptr;
  PodIndex pod;
  std::string text;  ///< "victim default/low"
};

/// An entry of the plan whose ask is there and pending; of a queue, that is a leaf. A queue has
/// neither unit nor pods.
struct HeardAsk {
  const PlanAsk* entry = nullptr;
  std::string text;  ///< "Pod default/urgent"
  UnitIndex unit;
  /// By which it must have been decided: those of its profile (SPEC section 8).
  const Configuration* rules = nullptr;
  std::string pinned_to;                ///< Judged by SPEC section 5: the only node it can run on.
  std::int32_t priority = 0;            ///< The unit's scheduling priority.
  std::vector<PodIndex> pods;           ///< The pod, or the members of the group.
  std::vector<HeardVictim> victims;     ///< Those that are bound pods, each once.
  const OwnRules* own_rules = nullptr;  ///< Null: it and its victims are pods.
  // Of a session (check_plan_sessions.cpp):
  std::vector<PodIndex> rows_leaving;  ///< Of its victims' kernels; each once.
  struct RowPlace {
    PodIndex row;
    NodeIndex node;
  };
  std::vector<RowPlace> rows_coming;  ///< Of its own kernels.
};

/// Whether the ask's victims take the rest of this group along when it falls below its minimum.
inline bool leaves_below_minimum(const Unit& unit, const HeardAsk& ask) {
  return unit.evict_below_minimum && ask.rules->workload.honour_below_minimum;
}

struct Hearing {
  const Cluster& cluster;
  const Configuration& configuration;  ///< What counts for all asks.
  const Plan& plan;
  std::vector<HeardAsk> asks;
  Breaches breaches;
  const NaiveQueues* queues = nullptr;    ///< Never null while judging.
  const NaiveRegimes* regimes = nullptr;  ///< Never null while judging.
};

/// The only node that the pod can run on; empty: there is none such, or its group asks for it.
std::string pinned_to(const Cluster& cluster, PodIndex pod);
/// SPEC 5: whether a pod that is nominated to this node is pinned to it and able to run there: then
/// the room is its own, whatever the priority of the ask.
bool keeps_its_node(NaiveWorld& world, const Configuration& configuration, PodIndex pod,
                    NodeIndex node);
/// Whether it is pinned in one of these ways.
bool counts_as_pinned(const Cluster& cluster, PodIndex pod, const std::vector<PinnedBy>& ways);
/// When the pinned pod's reservation began: now, unless it says so.
Time reserved_since(const Cluster& cluster, PodIndex pod, Time now);

/// Which pods may be evicted, and which are leaving already.
class EvictionRules {
 public:
  EvictionRules(const Cluster& cluster, const Configuration& configuration, Time now)
      : cluster_(cluster), configuration_(configuration), now_(now) {}

  /// The priority that protects it: the unit's preemption priority, where it is honoured.
  std::int32_t priority(PodIndex pod) const;
  enum class OptOut : std::uint8_t { protects, is_a_class };
  /// Why it may not be evicted whatever the priorities, or nothing.
  std::string_view protection(PodIndex pod, OptOut opt_out = OptOut::protects) const;
  /// The same when its deployment is scaled down (SPEC section 4), the only way for a replica.
  std::string_view protection_from_scale_down(PodIndex pod,
                                              OptOut opt_out = OptOut::protects) const;
  /// The same when a pinned pod asks.
  std::string_view protection_from_pinned(PodIndex pod) const;
  bool may_leave_for_pinned(PodIndex pod, std::int32_t ask_priority) const;
  bool leaving(PodIndex pod) const { return cluster_.pods().deletion[pod] != no_time; }
  /// Leaving for so long that its room is not counted on any more.
  bool overdue(PodIndex pod) const;
  /// Leaving so late that an ask waits for it only if there is no other way (law 6).
  bool late(PodIndex pod) const;
  /// The bound pods that leave together with it, itself included.
  std::vector<PodIndex> leaves_with(PodIndex pod) const;
  /// Whether an ask of that priority may evict it and what leaves with it. Under strict budgets
  /// this is certain only of pods that no budget governs.
  bool may_leave(PodIndex pod, std::int32_t ask_priority) const;
  bool governed(PodIndex pod, const DisruptionBudget& budget) const;

 private:
  bool governed_strictly(PodIndex pod) const;

  const Cluster& cluster_;
  const Configuration& configuration_;
  Time now_;
};

/// How a kind of ask is judged that is no pod or group, and whose victims are none.
struct OwnRules {
  AskKind kind;
  /// Nothing: it is not there.
  std::optional<HeardAsk> (*find)(const Cluster& cluster, const PlanAsk& entry);
  /// Judges one ask after the other in the order of the plan, and settles each.
  std::function<void(const HeardAsk&)> (*judge)(PlanWalk& walk);
  /// Whether it is about an object of the kind or a part of one.
  bool (*concerns)(const PlanAction& action);
  /// Law 9: these actions are those that the entries mean.
  void (*judge_actions)(Hearing& hearing);
};
extern const OwnRules session_rules;  // check_plan_sessions.cpp
inline constexpr std::array all_own_rules = {&session_rules};

void judge_queues(Hearing& hearing);    ///< The queue stage: laws 1, 3, 4, 8 and 9.
void judge_victims(Hearing& hearing);   ///< Laws 2, 5 and 8; of law 6: no second eviction.
void judge_places(Hearing& hearing);    ///< Laws 1, 3, 4, 6, 7 and 10.
void judge_document(Hearing& hearing);  ///< Law 9.
void judge_replicas(Hearing& hearing);  ///< All laws, for the asks of SPEC section 4.

}  // namespace makeway
