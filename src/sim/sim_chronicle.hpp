// SimChronicle: what a report says of a simulation besides its metrics: the preemptions, how full
// the nodes were, what queues had and deserved, and which decisions stand out.
//
// A caller that wants one passes it to the world (SimOptions::chronicle). It only records: results
// are the same with and without it, and without it nothing of this is computed.
//
// Rules
//  1. Memory is bounded, however long the simulation and however large the cluster: time is divided
//     (time_grid.hpp), nodes are put together in rows, priorities in ranges, queues and decisions
//     beyond a number are left out, and the report says so.
//  2. "Slow" is measured in virtual time: how long an ask waited for the decision that gave it a
//     place. Processor time would be another one on every machine, and the bytes are to be the
//     same.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/plan.hpp"
#include "sim/sim_nodes.hpp"
#include "sim/time_grid.hpp"

namespace makeway {

/// Victims by the priority of the ask that evicted them, and by their own. Priorities are grouped
/// in ranges of `grain` (1, 10, 100, ...), such that there are few of each. Queues that take back
/// what they deserve have no priority.
class PreemptionMatrix {
 public:
  static constexpr std::size_t priorities_max = 16;

  /// Both by the lowest priority of their range; none: a queue asks.
  using Key = std::pair<std::optional<std::int64_t>, std::int64_t>;

  void add(std::optional<std::int32_t> asker, std::int32_t victim);

  std::int64_t grain() const { return grain_; }
  const std::map<Key, std::int64_t>& counts() const { return counts_; }

 private:
  bool has_too_many() const;
  void coarsen();

  std::int64_t grain_ = 1;
  std::map<Key, std::int64_t> counts_;
};

/// The lowest number of its range: -7 with a grain of 10 is in the range of -10.
std::int64_t range_of(std::int64_t priority, std::int64_t grain);

struct ChronicledVictim {
  std::string name;  ///< "default/low"
  std::string node;
  std::int32_t priority = 0;
  std::string reason;
};

/// A decision that stands out.
struct ChronicledDecision {
  Time when;
  std::string ask;                       ///< "Pod default/urgent"
  std::optional<std::int32_t> priority;  ///< None: a queue asks.
  Outcome outcome = Outcome::fits;
  std::int64_t waited_seconds = 0;  ///< Until this decision; 0 where that is not known.
  std::string place;                ///< Its node, or how many nodes.
  std::int64_t victims = 0;
  std::vector<ChronicledVictim> first_victims;  ///< At most `victims_listed_max`.
  PlanCost cost;
  std::string reason;
  // Why these and not others (law 9); empty without victims.
  std::string rule;
  std::string alternative;
  std::string key;
};

class SimChronicle {
 public:
  static constexpr std::size_t node_rows_max = 120;
  static constexpr std::size_t queues_max = 200;
  static constexpr std::size_t decisions_max = 50;
  static constexpr std::size_t victims_listed_max = 8;

  /// `pace`: how often samples are taken at first.
  SimChronicle(Time start, Duration pace)
      : node_use_(start, pace), queue_used_(start, pace), queue_deserved_(start, pace) {}

  /// How full the nodes are, of one column of their resources.
  void sampled(Time now, const SimNodes& nodes, std::size_t scarce);
  /// A plan is carried out.
  void planned(const Plan& plan, std::string_view scarce);

  const PreemptionMatrix& matrix() const { return matrix_; }
  /// Thousandths, by row of nodes.
  const TimeGrid& node_use() const { return node_use_; }
  /// Names of the nodes of a row, which are neighbours by name: "n1", "n1 to n4".
  const std::vector<std::string>& node_rows() const { return node_rows_; }
  /// Amounts of the scarce resource; rows as in `queues`.
  const TimeGrid& queue_used() const { return queue_used_; }
  const TimeGrid& queue_deserved() const { return queue_deserved_; }
  const std::map<std::string, std::size_t, std::less<>>& queues() const { return queues_; }
  bool has_more_queues() const { return has_more_queues_; }
  /// Longest wait first; each ask once.
  const std::vector<ChronicledDecision>& slowest() const { return slowest_; }
  /// Most victims first.
  const std::vector<ChronicledDecision>& most_disruptive() const { return most_disruptive_; }

 private:
  void name_rows(const std::vector<std::string>& names);
  void note_queues(const Plan& plan, std::string_view scarce);
  void note_decision(const PlanAsk& ask, Time now);

  PreemptionMatrix matrix_;
  TimeGrid node_use_;
  TimeGrid queue_used_;
  TimeGrid queue_deserved_;
  std::size_t nodes_in_row_ = 0;  ///< 0: the nodes were not sampled yet.
  std::vector<std::string> node_rows_;
  std::map<std::string, std::size_t, std::less<>> queues_;
  bool has_more_queues_ = false;
  std::vector<ChronicledDecision> slowest_;
  std::vector<ChronicledDecision> most_disruptive_;
};

}  // namespace makeway
