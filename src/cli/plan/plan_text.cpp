#include "cli/plan/plan_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/problem.hpp"
#include "cli/plan/plan_parties.hpp"
#include "cli/plan/plan_summary.hpp"
#include "cli/text.hpp"
#include "model/object_text.hpp"

namespace makeway::cli {
namespace {

/// A few words for each law, as in docs/concepts.md.
std::string_view law_text(WaivedLaw law) {
  switch (law) {
    case WaivedLaw::law_1: return "no victims for an ask that fits";
    case WaivedLaw::law_2: return "victims have lower priority";
    case WaivedLaw::law_3: return "all or nothing";
    case WaivedLaw::law_4: return "no unnecessary victims";
    case WaivedLaw::law_5: return "groups leave as a whole";
    case WaivedLaw::law_6: return "room that is already being freed is used first";
    case WaivedLaw::law_7: return "no new victims while a nomination is valid";
    case WaivedLaw::law_8: return "nothing is used twice in a cycle";
    case WaivedLaw::law_9: return "every victim has a cause";
    case WaivedLaw::law_10: return "bounds are named";
    case WaivedLaw::law_4_gangs: return "no unnecessary victims, for gangs";
    case WaivedLaw::law_1_claims: return "no victims for a claim that fits, for queues";
    case WaivedLaw::law_4_claims: return "no unnecessary victims, for queues";
  }
  return {};
}

/// Asks without a place and how long each has been pending, the longest first; of equal replicas
/// the one that has waited longest.
std::string starving_text(std::span<const PlanAsk* const> shown, const Parties& parties,
                          const Palette& palette) {
  constexpr std::size_t starving_max = 5;
  std::vector<const PlanAsk*> asks;
  for (const PlanAsk* const ask : shown) {
    if (ask->placements.empty() && ask->pending_seconds.value_or(0) > 0) asks.push_back(ask);
  }
  if (asks.empty()) return {};
  // The order in which they were decided settles ties.
  std::ranges::stable_sort(asks, std::ranges::greater{},
                           [](const PlanAsk* ask) { return *ask->pending_seconds; });
  std::map<Party, std::size_t> counts;
  for (const PlanAsk* const ask : asks) ++counts[parties.of(*ask)];
  std::vector<std::string> names;
  std::size_t listed = 0;
  std::set<Party> shown_parties;
  for (const PlanAsk* const ask : asks) {
    if (names.size() == starving_max) break;
    const Party party = parties.of(*ask);
    const bool together = !party.is_pod() && counts[party] >= replicas_grouped_min;
    if (together && !shown_parties.insert(party).second) continue;
    listed += together ? counts[party] : 1;
    names.push_back(fmt::format(
        "{} ({})",
        together ? fmt::format("{} of {}", counted(counts[party], "pod"), party_text(party))
                 : ask_text(*ask),
        pending_text(*ask->pending_seconds)));
  }
  std::string line = fmt::format("Not placed, longest waiting first: {}", fmt::join(names, ", "));
  if (asks.size() > listed) line += fmt::format(" and {} more", grouped(asks.size() - listed));
  return wrapped(printable(line + "."), 0, palette.text_width());
}

/// Of the whole plan, where no single ask says it.
std::string total_cost_text(const Plan& plan) {
  const auto costly =
      std::ranges::count_if(plan.asks, [](const PlanAsk& ask) { return ask.cost.pod_seconds > 0; });
  if (costly < 2) return {};
  return fmt::format("Lost work: {}.\n", cost_text(plan.cost));
}

std::string laws_text(const Plan& plan, const Palette& palette) {
  if (plan.laws_waived.empty()) return {};
  std::vector<std::string> laws;
  laws.reserve(plan.laws_waived.size());
  for (const WaivedLaw law : plan.laws_waived) {
    const std::string_view number = law == WaivedLaw::law_4_gangs ? "4" : choice_name(law);
    laws.push_back(fmt::format("{} ({})", number, law_text(law)));
  }
  return wrapped(fmt::format("Laws waived by the configuration: {}.", fmt::join(laws, ", ")), 0,
                 palette.text_width());
}

/// Asks that were left out of the plan because of a bug of Makeway (law 14).
std::string left_out_text(const Plan& plan, const Palette& palette) {
  std::string text;
  for (const PlanLeftOut& left : plan.left_out) {
    const std::string name =
        left.kind == AskKind::queue
            ? std::string("the queue stage")
            : object_text(choice_name(left.kind), left.namespace_name, left.name);
    const std::string rule = left.law > 0 ? fmt::format("law {}", left.law) : "check";
    text += wrapped(printable(fmt::format("{}: {}: {}", name, rule, left.reason)), 2,
                    palette.text_width());
  }
  if (!text.empty()) {
    text = palette.paint("Left out because of a bug in Makeway:", Tone::strong) + "\n" + text;
  }
  if (!plan.withheld.empty()) {
    text += wrapped(
        printable(fmt::format("The plan is empty because of a bug in Makeway: {}", plan.withheld)),
        0, palette.text_width());
  }
  return text;
}

Parties parties_of(const PlanTextOptions& options) {
  return Parties(options.cluster, options.replica_sets);
}

std::vector<const PlanAsk*> pointers(const std::vector<PlanAsk>& asks) {
  std::vector<const PlanAsk*> list;
  list.reserve(asks.size());
  for (const PlanAsk& ask : asks) list.push_back(&ask);
  return list;
}

/// "1 fits, 2 preempt 3 pods"
std::string outcomes_text(std::span<const PlanAsk* const> asks) {
  std::array<std::uint64_t, choice_names<Outcome>.size()> counts{};
  std::uint64_t victims = 0;
  std::uint64_t sessions = 0;
  std::uint64_t forced = 0;
  std::uint64_t stopped = 0;
  for (const PlanAsk* const each : asks) {
    const PlanAsk& ask = *each;
    forced += force_deleted(ask);
    ++counts[static_cast<std::size_t>(ask.outcome)];
    (ask.session ? sessions : victims) += victim_count(ask);
    stopped += static_cast<std::uint64_t>(ask.stopped_pods);
  }
  std::string preempted = victims > 0 || sessions == 0 ? counted(victims, "pod") : std::string();
  if (sessions > 0) {
    preempted += fmt::format("{}{}", victims > 0 ? " and " : "", counted(sessions, "session"));
  }
  const bool one_preempts = counts[static_cast<std::size_t>(Outcome::preempts)] == 1;
  if (stopped > 0) {
    preempted += fmt::format(" and {} {} more", one_preempts ? "stops" : "stop", grouped(stopped));
  }
  std::vector<std::string> parts;
  const auto part = [&](Outcome outcome, std::string_view one, std::string_view several,
                        std::string_view rest = {}) {
    const std::uint64_t count = counts[static_cast<std::size_t>(outcome)];
    if (count == 0) return;
    parts.push_back(fmt::format("{} {}{}", grouped(count), count == 1 ? one : several, rest));
  };
  part(Outcome::fits, "fits", "fit");
  part(Outcome::preempts, "preempts", "preempt", " " + preempted);
  part(Outcome::waits, "waits", "wait");
  part(Outcome::infeasible, "is infeasible", "are infeasible");
  part(Outcome::not_found, "finds no placement", "find no placement");
  const std::string end = forced == 0 ? std::string()
                                      : fmt::format("; {} {} force-deleted", counted(forced, "pod"),
                                                    forced == 1 ? "is" : "are");
  return fmt::format("{}{}", fmt::join(parts, ", "), end);
}

/// Law 10: the bound over the whole plan was reached, and the asks after it were hardly searched.
std::string cut_short_text(const Plan& plan, const Palette& palette) {
  const auto cut = std::ranges::count_if(plan.asks, [](const PlanAsk& ask) {
    return std::ranges::find(ask.bounds_reached, plan_bound) != ask.bounds_reached.end();
  });
  if (cut == 0) return {};
  return wrapped(
      fmt::format("The plan is cut short: the steps of {} are used up, and {} did not get the "
                  "whole search; raise it for a complete plan.",
                  plan_bound, counted(static_cast<std::uint64_t>(cut), "ask")),
      0, palette.text_width());
}

/// What is true of the whole plan, whichever asks are shown.
std::string totals_lines(const Plan& plan, std::span<const PlanAsk* const> shown,
                         const PlanTextOptions& options) {
  const Palette& palette = options.palette;
  std::string text = palette.paint(totals_text(plan), Tone::strong) + "\n";
  if (options.filter.any()) {
    const std::string which = filter_text(options.filter);
    text += wrapped(shown.empty() ? fmt::format("None of them is shown: {}.", which)
                                  : fmt::format("Shown: {} ({}): {}.", counted(shown.size(), "ask"),
                                                which, outcomes_text(shown)),
                    0, palette.text_width());
  }
  text += cut_short_text(plan, palette);
  text += total_cost_text(plan);
  text += starving_text(shown, parties_of(options), palette);
  return text;
}

/// What comes last, whatever is shown.
std::string closing_lines(const Plan& plan, const PlanTextOptions& options) {
  std::string text;
  if (plan.quarantine.objects > 0) {
    text += fmt::format("{} in quarantine; standard error says why.\n",
                        counted(static_cast<std::uint64_t>(plan.quarantine.objects), "object"));
  }
  if (plan.others_pending > 0) {
    const bool one = plan.others_pending == 1;
    text +=
        fmt::format("{} {} not considered.\n",
                    counted(static_cast<std::uint64_t>(plan.others_pending), "other pending pod"),
                    one ? "was" : "were");
  }
  text += laws_text(plan, options.palette);
  const std::string time = options.time_is_known ? fmt::format("time {}", to_text(plan.now))
                                                 : std::string("no time in the input");
  text += options.palette.paint(
      fmt::format("Configuration {}, {}, plan {}.", printable(plan.preset), time, plan.id),
      Tone::dim);
  return text + "\n";
}

std::string nothing_pending_text(const Plan& plan, const PlanTextOptions& options) {
  const bool no_asks = plan.left_out.empty() && plan.withheld.empty();
  const std::string groups = resource_groups_text(plan, options.palette);
  return queues_text(plan, options) + (no_asks ? "Nothing is pending.\n" : "") + groups +
         (groups.empty() ? "" : "\n") + left_out_text(plan, options.palette) +
         closing_lines(plan, options);
}

/// A few asks: each with all that is to be said, then the totals.
std::string short_text(const Plan& plan, std::span<const PlanAsk* const> shown,
                       const PlanTextOptions& options) {
  const Palette& palette = options.palette;
  std::string text = queues_text(plan, options);
  text += asks_text(plan, shown, parties_of(options), options);
  text += resource_groups_text(plan, palette) + net_schedule_text(plan, palette);
  if (!text.empty() && !text.ends_with("\n\n")) text += "\n";
  text += totals_lines(plan, shown, options) + left_out_text(plan, palette);
  return text + closing_lines(plan, options);
}

/// Many asks: the first screen has all that matters.
std::string long_text(const Plan& plan, std::span<const PlanAsk* const> shown,
                      const PlanTextOptions& options) {
  const Palette& palette = options.palette;
  const Parties parties = parties_of(options);
  std::string text = totals_lines(plan, shown, options) + left_out_text(plan, palette) +
                     summary_tables(shown, parties, palette);
  if (!options.summary_only) {
    text += "\n" + queues_text(plan, options);
    if (!shown.empty())
      text += palette.paint("Asks, in the order of the plan", Tone::strong) + "\n";
    text += asks_text(plan, shown, parties, options);
    text += resource_groups_text(plan, palette) + net_schedule_text(plan, palette);
  }
  return text + "\n" + closing_lines(plan, options);
}

}  // namespace

std::string cost_text(const PlanCost& cost) {
  if (cost.pod_seconds <= 0) return {};
  std::string text = hours_text(cost.pod_seconds) + " pod-hours";
  if (cost.gpu_seconds > 0) text += fmt::format(", {} GPU-hours", hours_text(cost.gpu_seconds));
  return text;
}

std::uint64_t force_deleted(const PlanAsk& ask) {
  std::uint64_t count = 0;
  if (!ask.replicas) return count;
  for (const PlanReplicaClaim& claim : ask.replicas->claims) {
    const auto forced =
        std::ranges::count(claim.victims, ReplicaAction::force_delete, &PlanReplicaVictim::action);
    count += static_cast<std::uint64_t>(forced);
  }
  return count;
}

std::uint64_t victim_count(const PlanAsk& ask) {
  const std::uint64_t replicas =
      ask.replicas ? static_cast<std::uint64_t>(scaled_down(*ask.replicas)) : 0;
  return replicas + ask.victims.size();
}

bool needs_victims(const PlanAsk& ask) { return victim_count(ask) > 0 || force_deleted(ask) > 0; }

std::string totals_text(const Plan& plan) {
  return fmt::format("Plan: {}: {}.", counted(plan.asks.size(), "ask"),
                     outcomes_text(pointers(plan.asks)));
}

std::string plan_text(const Plan& plan, const PlanTextOptions& options) {
  if (plan.asks.empty()) return nothing_pending_text(plan, options);
  const std::vector<const PlanAsk*> shown =
      options.filter.any()
          ? filtered(plan, options.filter, *options.cluster, *options.configuration)
          : pointers(plan.asks);
  return options.summary_only || is_large(shown) ? long_text(plan, shown, options)
                                                 : short_text(plan, shown, options);
}

}  // namespace makeway::cli
