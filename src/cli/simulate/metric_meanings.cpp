#include "cli/simulate/metric_meanings.hpp"

#include <fmt/format.h>

#include <array>

#include "cli/amount.hpp"

namespace makeway::cli {
namespace {

struct MeaningRow {
  std::string_view field;  ///< How the field begins; the first row that fits counts.
  std::string_view text;
};

constexpr std::array meaning_rows = {
    MeaningRow{"runs.started",
               "Runs that got a place at least once. A run is what works as one: "
               "a pod of a job, a gang, a pod of a service."},
    MeaningRow{"runs.neverStarted", "Runs that never got a place before the simulation ended."},
    MeaningRow{"runs.ended", "Runs that did all their work."},
    MeaningRow{"waitMs", "Time from arrival to the first start, of runs that started."},
    MeaningRow{"stretchPermille",
               "Time from arrival to the end, divided by the run time: 1.0 "
               "means that it never waited or restarted. Of runs that ended."},
    MeaningRow{"goodputPpm",
               "Work that was saved or finished, as a share of what the nodes could "
               "have done from the start to the last end."},
    MeaningRow{"lostWork",
               "Work that had to be done again because of preemptions, times "
               "the request."},
    MeaningRow{"preemptions",
               "Pods and sessions that were evicted, and replicas that were "
               "scaled down."},
    MeaningRow{"sessionsPreempted", "Sessions among the preemptions."},
    MeaningRow{"replicasScaledDown", "Replicas among the preemptions."},
    MeaningRow{"victimsPerAsk", "Preemptions divided by the asks that preempted."},
    MeaningRow{"again", "Runs whose work was interrupted by preemption twice or more."},
    MeaningRow{"inversion",
               "What waiting pods ask for, times how long they wait although they "
               "would fit in place of pods of lower priority. Sampled."},
    MeaningRow{"fragmentation",
               "Share of the free room that lies on nodes where the first waiting "
               "pod does not fit; mean over samples in which pods wait."},
    MeaningRow{"shareError",
               "How far queues are from what they deserve: the sum of the "
               "differences divided by the sum of what they deserve; mean over "
               "cycles."},
    MeaningRow{"restCycles", "The longest row of cycles with evictions."},
    MeaningRow{"cycles", "Cycles in which something was decided."},
    MeaningRow{"asksDecided",
               "Decisions about pending asks; a waiting ask is decided "
               "again and again."},
    MeaningRow{"plansRefused", "Plans that broke a law and were not carried out: bugs of Makeway."},
    MeaningRow{"actionsRefused",
               "Actions that the simulated nodes refused, and no fault explains "
               "it: must be 0."},
    MeaningRow{"evictedTwice",
               "Pods that were evicted although they were leaving: must be 0, "
               "except under presets that allow it."},
    MeaningRow{"missedWakeups",
               "Asks that found a place although nothing woke them: a bug of "
               "Makeway that cost time."},
    MeaningRow{"faults.", "Faults injected by --faults."},
};

std::string_view part_text(std::string_view field) {
  if (field.ends_with(".mean")) return " The mean of all.";
  if (field.ends_with(".p50")) return " Half of them have at most this.";
  if (field.ends_with(".p90")) return " 90 of 100 have at most this.";
  if (field.ends_with(".p99")) return " 99 of 100 have at most this.";
  return field.ends_with(".max") ? " The largest of all." : "";
}

std::string unit_of_metric(const Metric& metric, std::string_view scarce) {
  switch (metric.shown) {
    case Shown::milliseconds: return "time";
    case Shown::permille: return "ratio";
    case Shown::ppm: return "%";
    case Shown::hundredths: return fmt::format("{} hours", short_name(scarce));
    case Shown::count: break;
  }
  return "count";
}

}  // namespace

MetricMeaning meaning_of(const Metric& metric, std::string_view scarce) {
  MetricMeaning meaning{.unit = unit_of_metric(metric, scarce), .text = {}};
  for (const MeaningRow& row : meaning_rows) {
    if (!metric.field.starts_with(row.field)) continue;
    meaning.text = fmt::format("{}{}", row.text, part_text(metric.field));
    break;
  }
  switch (metric.better) {
    case Better::less: meaning.text += " Less is better."; break;
    case Better::more: meaning.text += " More is better."; break;
    case Better::neither: break;
  }
  return meaning;
}

}  // namespace makeway::cli
