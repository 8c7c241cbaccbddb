// The text of a pinned pod beyond its outcome: its reservation, the ladder, the candidates.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/plan/plan_text.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "model/object_text.hpp"
#include "policies/shared/plan_writer.hpp"

namespace makeway::cli {
namespace {

std::string ladder_table(const PlanReservation& reservation, const Palette& palette) {
  if (reservation.ladder.empty()) return {};
  Table table(
      {{.heading = ""}, {.heading = "CLASSES"}, {.heading = "STRATEGY"}, {.heading = "RESULT"}});
  for (const PlanLadderStep& step : reservation.ladder) {
    const bool last = &step == &reservation.ladder.back();
    const bool found =
        last && std::ranges::any_of(reservation.candidates, &PlanPinnedCandidate::victim);
    const std::string_view within = step.within_budgets ? " within budgets" : "";
    table.row({{.text = found ? ">" : "", .tone = Tone::good},
               {.text = fmt::format("{}", fmt::join(step.classes, " + "))},
               {.text = fmt::format("{}{}", choice_name(step.strategy), within)},
               {.text = step.result}});
  }
  return table.text(palette);
}

std::string candidates_table(const PlanReservation& reservation, const Palette& palette) {
  if (reservation.candidates.empty()) return {};
  Table table({{.heading = ""},
               {.heading = "CANDIDATE"},
               {.heading = "CLASS"},
               {.heading = "PRIORITY", .align = Align::right},
               {.heading = "PODS", .align = Align::right},
               {.heading = "DEVIATION", .align = Align::right}});
  for (const PlanPinnedCandidate& candidate : reservation.candidates) {
    table.row({{.text = candidate.victim ? "-" : "", .tone = Tone::bad},
               {.text = key_text({candidate.namespace_name, candidate.name, candidate.plane})},
               {.text = candidate.victim_class},
               {.text = fmt::format("{}", candidate.priority)},
               {.text = fmt::format("{}", candidate.pods)},
               {.text = percent_text(candidate.deviation_ppm)}});
  }
  std::string text = table.text(palette);
  const auto listed = std::ssize(reservation.candidates);
  if (reservation.candidates_count > listed) {
    text += fmt::format("  and {} more\n",
                        grouped(static_cast<std::uint64_t>(reservation.candidates_count - listed)));
  }
  return text;
}

}  // namespace

std::string reservation_text(const PlanAsk& ask, Time now, const PlanTextOptions& options) {
  if (!ask.reservation) return {};
  const PlanReservation& reservation = *ask.reservation;
  std::string text;
  if (ask.placements.empty() && !reservation.preempts_from) {
    const std::string since = options.time_is_known
                                  ? fmt::format(", since {}", to_text(reservation.since))
                                  : std::string{};
    const bool begins = reservation.since == now;
    text += fmt::format("  node {} {} reserved for it{}; it holds no room yet\n",
                        shorten(reservation.node), begins ? "is" : "stays",
                        begins ? std::string{} : since);
  }
  if (!options.explain) return text;
  text += ladder_table(reservation, options.palette);
  text += candidates_table(reservation, options.palette);
  return text;
}

}  // namespace makeway::cli
