// SimGround: what the parts of the simulated world share.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "sim/agenda.hpp"
#include "sim/sim_budgets.hpp"
#include "sim/sim_metrics.hpp"
#include "sim/sim_nodes.hpp"
#include "sim/sim_options.hpp"
#include "sim/sim_watch.hpp"

namespace makeway {

struct SimGround {
  SimGround(const SimLoad& from, const SimOptions& how);

  void show(Change change) { watch.show(std::move(change), now); }
  /// An action of the plan is not carried out. `by_fault`: the planner could not know; otherwise
  /// the plan was wrong.
  void refuse(Receipt receipt, bool by_fault);
  /// A pod runs, or does not any more: its budgets will say so.
  void count_running(const Pod& pod, std::int64_t more);
  /// When a pod is gone that has a deletion timestamp; none: never.
  std::optional<Time> gone_at(const Pod& pod);

  const SimLoad& load;  ///< Outlives it.
  SimOptions options;
  Time now;
  Agenda agenda;
  Faults faults;
  SimWatch watch;
  SimNodes nodes;
  SimBudgets budgets;
  SimMetrics metrics;
};

/// "default/web" at home, else "east:default/web".
std::string sim_name(const std::string& namespace_name, const std::string& name,
                     const std::string& plane = {});
std::string sim_name(const Pod& pod);
/// Where it runs, by `place_name`.
std::string place_of(const Pod& pod);

}  // namespace makeway
