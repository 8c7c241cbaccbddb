#include "cli/plan/plan_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/problem.hpp"
#include "cli/amount.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "model/object_text.hpp"

namespace makeway::cli {
namespace {

constexpr std::size_t listed_max = 10;

std::string_view symbol_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::fits: return "+";
    case Outcome::preempts: return "~";
    case Outcome::waits: return "*";
    case Outcome::infeasible: return "!";
    case Outcome::not_found: return "?";
  }
  return "";
}

Tone tone_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::fits: return Tone::good;
    case Outcome::preempts:
    case Outcome::waits: return Tone::warning;
    case Outcome::infeasible:
    case Outcome::not_found: return Tone::bad;
  }
  return Tone::plain;
}

/// "node-3", "3 nodes", or nothing.
std::string places_text(const PlanAsk& ask) {
  std::set<std::string_view> nodes;
  for (const PodPlacement& placement : ask.placements) nodes.insert(placement.node);
  if (nodes.empty()) return {};
  return nodes.size() == 1 ? shorten(*nodes.begin()) : counted(nodes.size(), "node");
}

/// What becomes of the ask, after its name.
std::string outcome_text(const PlanAsk& ask) {
  const std::string places = places_text(ask);
  const std::string on = places.empty() ? std::string{} : fmt::format(" on {}", places);
  switch (ask.outcome) {
    case Outcome::fits: return fmt::format("fits{}", on);
    case Outcome::preempts:
      if (ask.replicas) {
        const auto replicas = static_cast<std::uint64_t>(scaled_down(*ask.replicas));
        return fmt::format("preempts {}", counted(replicas, "replica"));
      }
      return fmt::format("preempts {}{}",
                         counted(ask.victims.size(), ask.session ? "session" : "pod"), on);
    case Outcome::waits: return fmt::format("waits{}{}", on.empty() ? "" : " for room", on);
    case Outcome::infeasible: return "is infeasible";
    case Outcome::not_found: return "no placement found";
  }
  return {};
}

std::string verdict_text(const PlanAsk& ask) {
  const std::uint64_t forced = force_deleted(ask);
  if (forced == 0) return outcome_text(ask);
  return fmt::format("{}, and force-deletes {}", outcome_text(ask), counted(forced, "pod"));
}

std::string heading(const PlanAsk& ask, const Palette& palette) {
  const Tone tone = tone_of(ask.outcome);
  const std::string name =
      object_text(choice_name(ask.kind), shorten(ask.namespace_name), shorten(ask.name, 96));
  return fmt::format("{} {} (priority {}){} {}\n", palette.paint(symbol_of(ask.outcome), tone),
                     palette.paint(name, Tone::strong), ask.priority,
                     ask.outcome == Outcome::not_found ? ":" : "",
                     palette.paint(verdict_text(ask), tone));
}

bool leaves_with_others(const PlanVictim& victim) {
  return !victim.unit.empty() &&
         victim.unit != object_text("Pod", {victim.namespace_name, victim.name, victim.plane});
}

std::string victims_table(const PlanAsk& ask, const Palette& palette) {
  if (ask.victims.empty()) return {};
  if (ask.session) return session_victims_table(ask, palette);
  const bool units = std::ranges::any_of(ask.victims, leaves_with_others);
  const bool budgets = std::ranges::any_of(ask.victims, &PlanVictim::violates_budget);
  std::vector<Column> columns = {{.heading = ""}, {.heading = "VICTIM"}};
  if (units) columns.push_back({.heading = "UNIT"});
  columns.push_back({.heading = "PRIORITY", .align = Align::right});
  columns.push_back({.heading = "NODE"});
  columns.push_back({.heading = "WHY"});
  if (budgets) columns.push_back({.heading = "BUDGET"});
  Table table(std::move(columns));
  for (const PlanVictim& victim : ask.victims) {
    std::vector<Cell> cells = {
        {.text = "-", .tone = Tone::bad},
        {.text = key_text({victim.namespace_name, victim.name, victim.plane})}};
    if (units) cells.push_back({.text = leaves_with_others(victim) ? victim.unit : "-"});
    cells.push_back({.text = fmt::format("{}", victim.priority)});
    cells.push_back({.text = victim.node});
    cells.push_back({.text = victim.reason});
    if (budgets) {
      cells.push_back(victim.violates_budget
                          ? Cell{.text = "violates " + victim.budget, .tone = Tone::bad}
                          : Cell{.text = "kept"});
    }
    table.row(std::move(cells));
  }
  return table.text(palette);
}

/// Where the members of a group go; a lone pod's place stands in its heading.
std::string placements_table(const PlanAsk& ask, const Palette& palette) {
  if (ask.kind == AskKind::pod || ask.placements.empty()) return {};
  const bool kernels = ask.session.has_value();
  if (kernels && ask.placements.size() == 1) return {};
  Table table({{.heading = ""}, {.heading = kernels ? "KERNEL" : "MEMBER"}, {.heading = "NODE"}});
  for (const PodPlacement& placement : ask.placements) {
    table.row({{.text = "+", .tone = Tone::good},
               {.text = key_text({placement.namespace_name, placement.name, placement.plane})},
               {.text = placement.node}});
  }
  return table.text(palette);
}

std::string waiting_text(const PlanAsk& ask, const Palette& palette) {
  std::string text;
  if (!ask.waits_for.empty()) {
    std::vector<std::string> names;
    for (const PodPlacement& pod : ask.waits_for) {
      if (names.size() == listed_max) break;
      names.push_back(
          fmt::format("{} ({})", key_text({pod.namespace_name, pod.name, pod.plane}), pod.node));
    }
    std::string line = fmt::format("leaving: {}", fmt::join(names, ", "));
    if (ask.waits_for.size() > listed_max) {
      line += fmt::format(" and {} more", grouped(ask.waits_for.size() - listed_max));
    }
    text += wrapped(printable(line), 2, palette.text_width());
  }
  if (ask.waits_until) text += fmt::format("  until {}\n", to_text(*ask.waits_until));
  return text;
}

/// "1.5 pod-hours, 12.0 GPU-hours"; nothing when nothing is lost.
std::string cost_text(const PlanCost& cost) {
  if (cost.pod_seconds <= 0) return {};
  std::string text = hours_text(cost.pod_seconds) + " pod-hours";
  if (cost.gpu_seconds > 0) text += fmt::format(", {} GPU-hours", hours_text(cost.gpu_seconds));
  return text;
}

std::string fate_text(const PlanDisruptedGroup& group) {
  const auto remaining = static_cast<std::uint64_t>(std::max<std::int64_t>(group.remaining, 0));
  switch (group.fate) {
    case GroupFate::runs_on: return fmt::format("keeps running with {}", grouped(remaining));
    case GroupFate::degraded:
      return fmt::format(
          "keeps running degraded, with {} of its minimum {}, until there is room again", remaining,
          group.minimum);
    case GroupFate::leaves:
      if (group.mode == DisruptionMode::all) return "leaves as a whole, because its mode is all";
      return "stops running";
  }
  return {};
}

/// What it means for the groups among the victims, and what is lost.
std::string losses_text(const PlanAsk& ask, const Palette& palette) {
  std::string text;
  for (const PlanDisruptedGroup& group : ask.disrupted_groups) {
    std::string line =
        fmt::format("PodGroup {}/{} loses {} of {} and {}", group.namespace_name, group.name,
                    grouped(static_cast<std::uint64_t>(group.lost)),
                    counted(static_cast<std::uint64_t>(group.running), "pod"), fate_text(group));
    const std::string cost = group.cost == ask.cost ? std::string{} : cost_text(group.cost);
    if (!cost.empty()) line += fmt::format("; lost work {}", cost);
    text += wrapped(printable(line + "."), 2, palette.text_width());
  }
  const std::string cost = cost_text(ask.cost);
  if (!cost.empty()) text += fmt::format("  Lost work: {}.\n", cost);
  return text;
}

/// Who has the room that the group would take.
std::string held_back_text(const PlanAsk& ask, const Palette& palette) {
  if (!ask.held_back) return {};
  const PlanHeldBack& held_back = *ask.held_back;
  std::vector<std::string> takers;
  for (const PlanTaker& taker : held_back.takers) {
    if (takers.size() == listed_max) break;
    takers.push_back(fmt::format("{} (priority {}), {}", taker.ask, taker.priority,
                                 counted(static_cast<std::uint64_t>(taker.pods), "pod")));
  }
  std::string line = fmt::format(
      "held back: {} of the {} it needs {} room; {} would without the asks before it: {}",
      held_back.room_left, counted(static_cast<std::uint64_t>(held_back.needed), "pod"),
      held_back.room_left == 1 ? "finds" : "find", held_back.room_alone, fmt::join(takers, "; "));
  if (held_back.takers.size() > listed_max) {
    line += fmt::format(" and {} more", grouped(held_back.takers.size() - listed_max));
  }
  return wrapped(printable(line), 2, palette.text_width());
}

/// Of a pod that its controller does not make at once.
std::string wave_text(const PlanAsk& ask, const Palette& palette) {
  if (ask.wave == 0) return {};
  return wrapped(printable(fmt::format("{} makes it once {} (wave {})", ask.made_from,
                                       ask.wave_after, ask.wave)),
                 2, palette.text_width());
}

/// Everything below the heading.
std::string body(const Plan& plan, const PlanAsk& ask, const PlanTextOptions& options) {
  const Palette& palette = options.palette;
  if (ask.replicas) return replicas_text(ask, options) + losses_text(ask, palette);
  std::string text;
  // A pod or group that fits needs no more than its heading; --explain counts the nodes itself.
  const bool heading_says_it = ask.outcome == Outcome::fits && ask.kind != AskKind::queue;
  if (!ask.reason.empty() && !heading_says_it) {
    text += wrapped(printable(ask.reason), 2, palette.text_width());
  }
  text += wave_text(ask, palette);
  text += waiting_text(ask, palette);
  if (!ask.bounds_reached.empty()) {
    text +=
        wrapped(fmt::format("search stopped by the bound {}", fmt::join(ask.bounds_reached, ", ")),
                2, palette.text_width());
  }
  text += held_back_text(ask, palette);
  text += reservation_text(ask, plan.now, options);
  text += placements_table(ask, palette);
  text += victims_table(ask, palette);
  text += losses_text(ask, palette);
  if (options.explain) text += explanation_text(ask, palette);
  return text;
}

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

/// Asks without a place and how long each has been pending, the longest first.
std::string starving_text(const Plan& plan, const Palette& palette) {
  constexpr std::size_t starving_max = 5;
  std::vector<const PlanAsk*> asks;
  for (const PlanAsk& ask : plan.asks) {
    if (ask.placements.empty() && ask.pending_seconds.value_or(0) > 0) asks.push_back(&ask);
  }
  if (asks.empty()) return {};
  // The order in which they were decided settles ties.
  std::ranges::stable_sort(asks, std::ranges::greater{},
                           [](const PlanAsk* ask) { return *ask->pending_seconds; });
  std::vector<std::string> names;
  for (const PlanAsk* const ask : asks) {
    if (names.size() == starving_max) break;
    names.push_back(fmt::format("{} ({})", ask_text(*ask), pending_text(*ask->pending_seconds)));
  }
  std::string line = fmt::format("Not placed, longest waiting first: {}", fmt::join(names, ", "));
  if (asks.size() > names.size()) {
    line += fmt::format(" and {} more", grouped(asks.size() - names.size()));
  }
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

/// Who has no place in the plan because of a bug of ours (law 14).
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

}  // namespace

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

bool needs_victims(const PlanAsk& ask) {
  return !ask.victims.empty() || force_deleted(ask) > 0 ||
         (ask.replicas && scaled_down(*ask.replicas) > 0);
}

std::string totals_text(const Plan& plan) {
  std::array<std::uint64_t, choice_names<Outcome>.size()> counts{};
  std::uint64_t victims = 0;
  std::uint64_t sessions = 0;
  std::uint64_t forced = 0;
  for (const PlanAsk& ask : plan.asks) {
    forced += force_deleted(ask);
    ++counts[static_cast<std::size_t>(ask.outcome)];
    if (ask.replicas) victims += static_cast<std::uint64_t>(scaled_down(*ask.replicas));
    (ask.session ? sessions : victims) += ask.victims.size();
  }
  std::string preempted = victims > 0 || sessions == 0 ? counted(victims, "pod") : std::string();
  if (sessions > 0) {
    preempted += fmt::format("{}{}", victims > 0 ? " and " : "", counted(sessions, "session"));
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
  return fmt::format("Plan: {}: {}{}.", counted(plan.asks.size(), "ask"), fmt::join(parts, ", "),
                     end);
}

std::string plan_text(const Plan& plan, const PlanTextOptions& options) {
  const Palette& palette = options.palette;
  const std::string queues = queues_text(plan, options);
  std::string text;
  bool after_body = false;
  for (const PlanAsk& ask : plan.asks) {
    const std::string below = body(plan, ask, options);
    const bool first = text.empty();
    if (!first && (after_body || !below.empty())) text += "\n";
    text += heading(ask, palette);
    text += below;
    after_body = !below.empty();
  }
  const std::string groups = resource_groups_text(plan, palette);
  const bool nobody = plan.left_out.empty() && plan.withheld.empty();
  if (plan.asks.empty()) {
    text += (nobody ? "Nothing is pending.\n" : "") + groups + (groups.empty() ? "" : "\n");
  } else {
    text += groups + net_schedule_text(plan, palette) + "\n";
    text += palette.paint(totals_text(plan), Tone::strong) + "\n";
    text += total_cost_text(plan);
    text += starving_text(plan, palette);
  }
  text += left_out_text(plan, palette);
  if (plan.others_pending > 0) {
    const bool one = plan.others_pending == 1;
    text +=
        fmt::format("{} {} not considered.\n",
                    counted(static_cast<std::uint64_t>(plan.others_pending), "other pending pod"),
                    one ? "was" : "were");
  }
  text += laws_text(plan, palette);
  const std::string time = options.time_is_known ? fmt::format("time {}", to_text(plan.now))
                                                 : std::string("no time in the input");
  return queues + text +
         palette.paint(
             fmt::format("Configuration {}, {}, plan {}.", printable(plan.preset), time, plan.id),
             Tone::dim) +
         "\n";
}

}  // namespace makeway::cli
