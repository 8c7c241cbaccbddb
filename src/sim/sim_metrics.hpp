// SimMetrics: what a simulation measures. Each is defined once, in docs/simulation.md.
//
// Integers only: times in milliseconds, amounts in their unit, products in 128 bits.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "base/wide.hpp"
#include "sim/faults.hpp"

namespace makeway {

/// What works as one, and how it fared: a pod of a job, or a gang.
struct RunRecord {
  std::int32_t priority = 0;
  std::int64_t pods = 1;
  Time arrival;
  std::optional<Time> first_start;
  std::optional<Time> end;
  std::int64_t run_ms = 0;
  std::int64_t interruptions = 0;
};

/// Amounts times milliseconds of one resource.
struct ResourceUse {
  Wide capacity = 0;
  Wide useful = 0;  ///< Work that was saved, or done when the run ended.
  Wide lost = 0;    ///< Work that has to be done again.
};

/// How it stood at one instant.
struct SimSample {
  Time when;
  std::int64_t waiting = 0;  ///< Pods.
  std::int64_t running = 0;
  std::int64_t used = 0;  ///< Of the scarce resource.
  std::int64_t room = 0;
  std::int64_t victims = 0;  ///< So far.
};

struct SimMetrics {
  std::vector<RunRecord> runs;  ///< By arrival.
  std::map<std::string, ResourceUse> resources;
  std::string scarce;  ///< The resource of inversion and fragmentation: GPUs, else cpu.
  std::int64_t victims = 0;
  std::int64_t session_victims = 0;  ///< Of these.
  std::int64_t replica_victims = 0;  ///< Of these: replicas that were scaled down.
  std::int64_t asks_with_victims = 0;
  std::int64_t refused = 0;        ///< Actions that the world refused, and no fault explains it.
  std::int64_t evicted_twice = 0;  ///< Pods that were evicted again; no fault explains it.
  FaultCounts faults;
  Wide inversion = 0;  ///< Of the scarce resource, times milliseconds.
  std::vector<SimSample> samples;
  std::int64_t fragmented_ppm = 0;  ///< Sum over the samples in which an ask waited.
  std::int64_t fragmented_samples = 0;
  std::int64_t share_error_ppm = 0;  ///< Sum over the cycles with queues.
  std::int64_t share_cycles = 0;
  std::int64_t longest_eviction_streak = 0;  ///< Cycles in a row with an eviction.
  Time start;
  Time end;
};

/// Of many values; empty: there are none.
struct Spread {
  std::int64_t mean = 0;
  std::int64_t p50 = 0;
  std::int64_t p90 = 0;
  std::int64_t p99 = 0;
  std::int64_t max = 0;
  std::size_t count = 0;
};
/// Percentiles are values that occur: the smallest one that so many do not exceed.
Spread spread_of(std::vector<std::int64_t> values);

/// Which runs count.
struct RunBand {
  std::optional<std::int32_t> priority;  ///< None: any.
  std::int64_t pods_min = 0;
  std::int64_t pods_max = std::numeric_limits<std::int64_t>::max();

  bool holds(const RunRecord& run) const {
    return (!priority || run.priority == *priority) && run.pods >= pods_min && run.pods <= pods_max;
  }
};

/// Arrival to first start, of tasks that started; milliseconds.
std::vector<std::int64_t> waits(const SimMetrics& metrics, const RunBand& band = {});
/// (End - arrival) / run time in thousandths, of tasks that ended.
std::vector<std::int64_t> stretches(const SimMetrics& metrics, const RunBand& band = {});
/// Highest first.
std::vector<std::int32_t> priorities(const SimMetrics& metrics);

}  // namespace makeway
