// The preemptions of a plan, for users: which pods leave, and for which ask.
//
// One entry for each ask that evicts a pod, whatever its kind. A pod that leaves by itself, or that
// an earlier plan has reported (a claim that is kept), is not among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/plan.hpp"

namespace makeway {

struct ReportedVictim {
  std::string name;  ///< "default/low", "default/low of plane east", "Session default/train".
  std::string node;  ///< Several: the first and how many more.
  std::int32_t priority = 0;
  std::string reason;

  friend bool operator==(const ReportedVictim&, const ReportedVictim&) = default;
};

struct ReportedPreemption {
  std::string ask;
  std::int32_t priority = 0;
  std::string node;                     ///< Where it goes, in the same way.
  std::vector<ReportedVictim> victims;  ///< The first ones.
  std::size_t victims_count = 0;
  std::string alternative;  ///< Where else it could have gone, or why nowhere.
  std::string key;          ///< On which that lost.
  Time when;

  friend bool operator==(const ReportedPreemption&, const ReportedPreemption&) = default;
};

/// At most so many victims of each are named.
std::vector<ReportedPreemption> preemption_report(const Plan& plan, Time now,
                                                  std::size_t victims_max);

}  // namespace makeway
