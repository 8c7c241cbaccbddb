// The asks of a plan for people: a heading for each, and below it what it takes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/problem.hpp"
#include "cli/plan/ask_kinds.hpp"
#include "cli/plan/ask_name.hpp"
#include "cli/plan/plan_text.hpp"
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

/// Asks that are shown as one: equal replicas, or one ask.
struct ShownAsks {
  std::vector<const PlanAsk*> asks;
  std::string body;  ///< Everything below the heading.

  const PlanAsk& first() const { return *asks.front(); }
};

/// "node-3", "3 nodes", or nothing; of several asks a few nodes are named.
std::string places_text(std::span<const PlanAsk* const> asks) {
  std::set<std::string_view> nodes;
  for (const PlanAsk* const ask : asks) {
    for (const PodPlacement& placement : ask->placements) nodes.insert(placement.node);
  }
  constexpr std::size_t named_max = 3;
  if (nodes.empty()) return {};
  if (nodes.size() == 1) return shorten(*nodes.begin());
  if (asks.size() == 1 || nodes.size() > named_max) return counted(nodes.size(), "node");
  return shorten(fmt::format("{}", fmt::join(nodes, ", ")), 96);
}

/// What becomes of the asks, after their name.
std::string outcome_text(const ShownAsks& shown) {
  const PlanAsk& ask = shown.first();
  const bool one = shown.asks.size() == 1;
  const std::string places = places_text(shown.asks);
  std::uint64_t victims = 0;
  for (const PlanAsk* const each : shown.asks) victims += each->victims.size();
  const std::string on = places.empty() ? std::string{} : fmt::format(" on {}", places);
  switch (ask.outcome) {
    case Outcome::fits: return fmt::format("{}{}", one ? "fits" : "fit", on);
    case Outcome::preempts:
      if (ask.replicas) {
        const auto replicas = static_cast<std::uint64_t>(scaled_down(*ask.replicas));
        return fmt::format("preempts {}", counted(replicas, "replica"));
      }
      return fmt::format("{} {}{}", one ? "preempts" : "preempt",
                         counted(victims, row_of_ask(ask.kind).victim), on);
    case Outcome::waits:
      return fmt::format("{}{}{}", one ? "waits" : "wait", on.empty() ? "" : " for room", on);
    case Outcome::infeasible: return one ? "is infeasible" : "are infeasible";
    case Outcome::not_found: return "no placement found";
  }
  return {};
}

std::string verdict_text(const ShownAsks& shown) {
  const std::uint64_t forced = force_deleted(shown.first());
  if (forced == 0) return outcome_text(shown);
  return fmt::format("{}, and force-deletes {}", outcome_text(shown), counted(forced, "pod"));
}

/// "Pod shop/web-1", "40 pods of Deployment shop/web"
std::string name_text(const ShownAsks& shown, const Parties& parties) {
  const PlanAsk& ask = shown.first();
  const auto named = [](std::string_view kind, std::string_view namespace_name,
                        std::string_view name) {
    return object_text(kind, shorten(namespace_name), shorten(name, 96));
  };
  if (shown.asks.size() == 1) return named(choice_name(ask.kind), ask.namespace_name, ask.name);
  const Party party = parties.of(ask);
  return fmt::format("{} of {}", counted(shown.asks.size(), "pod"),
                     named(shorten(party.kind), party.namespace_name, party.name));
}

std::string heading(const ShownAsks& shown, const Parties& parties, const Palette& palette) {
  const PlanAsk& ask = shown.first();
  const Tone tone = tone_of(ask.outcome);
  return fmt::format("{} {} (priority {}){} {}\n", palette.paint(symbol_of(ask.outcome), tone),
                     palette.paint(name_text(shown, parties), Tone::strong), ask.priority,
                     ask.outcome == Outcome::not_found ? ":" : "",
                     palette.paint(verdict_text(shown), tone));
}

bool leaves_with_others(const PlanVictim& victim) {
  return !victim.unit.empty() &&
         victim.unit != object_text("Pod", {victim.namespace_name, victim.name, victim.plane});
}

/// Victims of asks for pods; with several asks, each row names its ask.
Table victims_of(std::span<const PlanAsk* const> asks) {
  const auto any = [&](const auto& is_so) {
    return std::ranges::any_of(
        asks, [&](const PlanAsk* ask) { return std::ranges::any_of(ask->victims, is_so); });
  };
  const bool units = any(leaves_with_others);
  const bool budgets = any(&PlanVictim::violates_budget);
  const bool several = asks.size() > 1;
  std::vector<Column> columns = {{""}, {"VICTIM"}};
  if (units) columns.push_back({"UNIT"});
  columns.push_back({"PRIORITY", Align::right});
  columns.push_back({"NODE"});
  if (several) columns.push_back({"FOR"});
  columns.push_back({"WHY"});
  if (budgets) columns.push_back({"BUDGET"});
  Table table(std::move(columns));
  const auto add = [&](const PlanAsk& ask, const PlanVictim& victim) {
    std::vector<Cell> cells = {{"-", Tone::bad},
                               {key_text({victim.namespace_name, victim.name, victim.plane})}};
    if (units) cells.push_back({leaves_with_others(victim) ? victim.unit : "-"});
    cells.push_back({fmt::format("{}", victim.priority)});
    cells.push_back({victim.node});
    if (several) cells.push_back({ask.name});
    cells.push_back({victim.reason});
    if (budgets) {
      cells.push_back(victim.violates_budget ? Cell{"violates " + victim.budget, Tone::bad}
                                             : Cell{"-"});
    }
    table.row(std::move(cells));
  };
  for (const PlanAsk* const ask : asks) {
    for (const PlanVictim& victim : ask->victims) add(*ask, victim);
  }
  return table;
}

std::string victims_table(const PlanAsk& ask, const Palette& palette) {
  if (ask.victims.empty()) return {};
  const AskKindRow& row = row_of_ask(ask.kind);
  if (row.victims_table != nullptr) return row.victims_table(ask, palette);
  const PlanAsk* const one = &ask;
  return victims_of(std::span(&one, 1)).text(palette);
}

/// Where the members of a group go; a lone pod's place stands in its heading.
std::string placements_table(const PlanAsk& ask, const Palette& palette) {
  if (ask.kind == AskKind::pod || ask.placements.empty()) return {};
  const bool kernels = ask.session.has_value();
  if (kernels && ask.placements.size() == 1) return {};
  Table table({{""}, {kernels ? "KERNEL" : "MEMBER"}, {"NODE"}});
  for (const PodPlacement& placement : ask.placements) {
    table.row({{"+", Tone::good},
               {key_text({placement.namespace_name, placement.name, placement.plane})},
               {placement.node}});
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
    text += paragraph(line, 2, palette);
  }
  if (ask.waits_until) text += fmt::format("  until {}\n", to_text(*ask.waits_until));
  return text;
}

/// `stops`: the ask stops a workload whose pods these may be, which is shown next.
std::string fate_text(const PlanDisruptedGroup& group, bool stops) {
  const auto remaining = static_cast<std::uint64_t>(std::max<std::int64_t>(group.remaining, 0));
  switch (group.fate) {
    case GroupFate::runs_on: return fmt::format("keeps running with {}", grouped(remaining));
    case GroupFate::degraded:
      if (stops) return fmt::format("has {} of its minimum {} left", remaining, group.minimum);
      return fmt::format(
          "keeps running degraded, with {} of its minimum {}, until there is room again", remaining,
          group.minimum);
    case GroupFate::leaves:
      if (group.mode == DisruptionMode::all) return "leaves as a whole, because its mode is all";
      return "stops running";
  }
  return {};
}

/// "This stops 7 more pods of JobSet shop/train; lost work 14 pod-hours."
std::string stopped_unit_text(const PlanStoppedUnit& unit) {
  const std::string pods = counted(static_cast<std::uint64_t>(unit.stopped), "more pod");
  const std::string cost = cost_text(unit.cost);
  return fmt::format("This stops {} of {}{}{}.", pods, unit.unit,
                     cost.empty() ? "" : "; lost work ", cost);
}

/// What it means for the groups among the victims, and what is lost.
std::string losses_text(std::span<const PlanAsk* const> asks, const Palette& palette) {
  std::string text;
  PlanCost total;
  for (const PlanAsk* const ask : asks) {
    total = sum(total, ask->cost);
    for (const PlanDisruptedGroup& group : ask->disrupted_groups) {
      const bool stops = std::ranges::any_of(ask->stopped_units, [&](const PlanStoppedUnit& unit) {
        return unit.namespace_name == group.namespace_name && unit.plane == group.plane;
      });
      std::string line = fmt::format("PodGroup {}/{} loses {} of {} and {}", group.namespace_name,
                                     group.name, grouped(static_cast<std::uint64_t>(group.lost)),
                                     counted(static_cast<std::uint64_t>(group.running), "pod"),
                                     fate_text(group, stops));
      const bool said_below = asks.size() == 1 && group.cost == ask->cost;
      const std::string cost = said_below ? std::string{} : cost_text(group.cost);
      if (!cost.empty()) line += fmt::format("; lost work {}", cost);
      text += paragraph(line + ".", 2, palette);
    }
    for (const PlanStoppedUnit& unit : ask->stopped_units) {
      text += paragraph(stopped_unit_text(unit), 2, palette);
    }
  }
  const std::string cost = cost_text(total);
  if (!cost.empty()) text += fmt::format("  Lost work: {}.\n", cost);
  return text;
}

std::string losses_text(const PlanAsk& ask, const Palette& palette) {
  const PlanAsk* const one = &ask;
  return losses_text(std::span(&one, 1), palette);
}

/// Which pods hold the room that the group would take.
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
  return paragraph(line, 2, palette);
}

/// "shop/a", or "kernel main of session team/train"
std::string holder_name(const PlanHolder& holder) {
  const std::size_t slash = holder.name.rfind('/');
  if (holder.why != why_kernel_stays || slash == std::string::npos) {
    return key_text({holder.namespace_name, holder.name, holder.plane});
  }
  return fmt::format("kernel {} of session {}", holder.name.substr(slash + 1),
                     key_text({holder.namespace_name, holder.name.substr(0, slash), holder.plane}));
}

/// "shop/a, shop/b (priority 100): opted out; shop/c (priority 5): nominated"
std::string holders_text(const std::vector<PlanHolder>& holders) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < holders.size();) {
    std::vector<std::string> names;
    const PlanHolder& first = holders[at];
    for (; at < holders.size() && holders[at].priority == first.priority &&
           holders[at].why == first.why;
         ++at) {
      names.push_back(holder_name(holders[at]));
    }
    parts.push_back(first.why == why_kernel_stays
                        ? fmt::format("{}", fmt::join(names, ", "))
                        : fmt::format("{} (priority {}): {}", fmt::join(names, ", "),
                                      first.priority, first.why));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// Which pods hold the room that an ask without a place would need, and why they stay. --explain
/// shows that for each reason; here only for the most frequent one.
std::string in_the_way_text(const PlanAsk& ask, const Palette& palette) {
  const bool without = ask.outcome == Outcome::infeasible || ask.outcome == Outcome::not_found;
  if (!without) return {};
  for (const PlanRefusal& refusal : ask.explanation.refusals) {
    if (refusal.reason != RefusalReason::resource || refusal.holders.empty()) continue;
    // If the reason is another one, such as a full queue, no pod there is in the way.
    if (!ask.reason.contains(refusal_text(refusal))) continue;
    const PlanHolder& first = refusal.holders.front();
    if (ask.reason.contains(key_text({first.namespace_name, first.name, first.plane}))) return {};
    return paragraph(fmt::format("in the way on {}: {}", shorten(refusal.example),
                                 holders_text(refusal.holders)),
                     2, palette);
  }
  return {};
}

/// The profile that it was decided by, if it has one.
std::string profile_text(const PlanAsk& ask, const Palette& palette) {
  if (ask.profile.empty()) return {};
  return paragraph(fmt::format("by the rules of profile {}", shorten(ask.profile)), 2, palette);
}

/// Of a pod that its controller does not make at once.
std::string wave_text(const PlanAsk& ask, const Palette& palette) {
  if (ask.wave == 0) return {};
  return paragraph(
      fmt::format("{} makes it once {} (wave {})", ask.made_from, ask.wave_after, ask.wave), 2,
      palette);
}

/// The bounds that its reason does not name.
std::string bounds_text(const PlanAsk& ask, const Palette& palette) {
  std::vector<std::string_view> bounds;
  for (const std::string& bound : ask.bounds_reached) {
    if (!ask.reason.contains(bound)) bounds.push_back(bound);
  }
  if (bounds.empty()) return {};
  return wrapped(fmt::format("search stopped by the bound {}", fmt::join(bounds, ", ")), 2,
                 palette.text_width());
}

/// Everything below the heading.
std::string body(const Plan& plan, const PlanAsk& ask, const PlanTextOptions& options) {
  const Palette& palette = options.palette;
  const std::string in_the_way = options.explain ? std::string{} : in_the_way_text(ask, palette);
  const AskKindRow& row = row_of_ask(ask.kind);
  if (row.body != nullptr) return row.body(ask, options) + in_the_way + losses_text(ask, palette);
  std::string text;
  // A pod or group that fits needs no more than its heading; --explain counts the nodes itself.
  const bool heading_says_it = ask.outcome == Outcome::fits && ask.kind != AskKind::queue;
  if (!ask.reason.empty() && !heading_says_it) {
    text += paragraph(ask.reason, 2, palette);
  }
  text += profile_text(ask, palette);
  text += wave_text(ask, palette);
  text += waiting_text(ask, palette);
  text += bounds_text(ask, palette);
  text += in_the_way;
  text += held_back_text(ask, palette);
  text += reservation_text(ask, plan.now, options);
  text += placements_table(ask, palette);
  text += victims_table(ask, palette);
  text += losses_text(ask, palette);
  if (options.explain) text += explanation_text(ask, palette);
  return text;
}

/// Asks that may be shown together: those of one owner with the same outcome.
using FoldKey = std::tuple<Party, std::int32_t, Outcome, std::string, std::string>;

/// Whether heading, victims and losses are all that is to be said.
bool only_takes_victims(const PlanAsk& ask) {
  return ask.outcome == Outcome::preempts && ask.wave == 0 && ask.waits_for.empty() &&
         ask.bounds_reached.empty() && !ask.reservation;
}

std::optional<FoldKey> fold_key(const ShownAsks& shown, const Parties& parties, bool explain) {
  const PlanAsk& ask = shown.first();
  if (ask.kind != AskKind::pod) return std::nullopt;
  const bool takes = !ask.victims.empty();
  if (takes && (explain || !only_takes_victims(ask))) return std::nullopt;
  Party party = parties.of(ask);
  if (party.is_pod()) return std::nullopt;
  // The document lists what is wrong with each of them.
  if (is_quarantined(ask) && !explain) {
    return FoldKey{std::move(party), ask.priority, ask.outcome, ask.profile, quarantined_reason};
  }
  return FoldKey{std::move(party), ask.priority, ask.outcome, ask.profile,
                 takes ? std::string{} : shown.body};
}

/// What is said below the heading of equal replicas; so far it is what is said of one.
std::string folded_body(const ShownAsks& shown, const Palette& palette) {
  if (!shown.first().victims.empty()) {
    return profile_text(shown.first(), palette) + victims_of(shown.asks).text(palette) +
           losses_text(shown.asks, palette);
  }
  std::vector<std::string> names;
  names.reserve(shown.asks.size());
  std::set<std::string_view> reasons;
  for (const PlanAsk* const ask : shown.asks) {
    names.push_back(ask->name);
    if (is_quarantined(*ask)) reasons.insert(ask->reason);
  }
  std::string text = shown.body;
  if (reasons.size() > 1) {
    text += wrapped(fmt::format("and {} like it; `quarantine` in -o json lists them",
                                counted(reasons.size() - 1, "more problem")),
                    2, palette.text_width());
  }
  return text + paragraph(few_names(std::move(names)), 2, palette);
}

/// Equal replicas stand where the first of them does.
std::vector<ShownAsks> folded(const Plan& plan, std::span<const PlanAsk* const> asks,
                              const Parties& parties, const PlanTextOptions& options) {
  std::vector<ShownAsks> all;
  all.reserve(asks.size());
  std::map<FoldKey, std::vector<std::size_t>> alike;
  for (const PlanAsk* const ask : asks) {
    all.push_back({.asks = {ask}, .body = body(plan, *ask, options)});
    auto key = fold_key(all.back(), parties, options.explain);
    if (key) alike[*std::move(key)].push_back(all.size() - 1);
  }
  for (const auto& [key, positions] : alike) {
    if (positions.size() < replicas_grouped_min) continue;
    ShownAsks& first = all[positions.front()];
    for (const std::size_t at : std::span(positions).subspan(1)) {
      first.asks.push_back(all[at].asks.front());
      all[at].asks.clear();
    }
    first.body = folded_body(first, options.palette);
  }
  std::erase_if(all, [](const ShownAsks& shown) { return shown.asks.empty(); });
  return all;
}

}  // namespace

std::string asks_text(const Plan& plan, std::span<const PlanAsk* const> asks,
                      const Parties& parties, const PlanTextOptions& options) {
  std::string text;
  bool after_body = false;
  for (const ShownAsks& shown : folded(plan, asks, parties, options)) {
    if (!text.empty() && (after_body || !shown.body.empty())) text += "\n";
    text += heading(shown, parties, options.palette);
    text += shown.body;
    after_body = !shown.body.empty();
  }
  return text;
}

namespace {

std::uint64_t count_of(std::int64_t count) {
  return count < 0 ? 0 : static_cast<std::uint64_t>(count);
}

std::string signed_text(std::int64_t value) {
  if (value >= 0) return grouped(static_cast<std::uint64_t>(value));
  return fmt::format("-{}", grouped(std::uint64_t{0} - static_cast<std::uint64_t>(value)));
}

std::optional<std::int64_t> value_of(const ScoreTerms& score, ScoreKey key) {
  const auto found = std::ranges::find(score, key, &ScoreTerm::key);
  if (found == score.end()) return std::nullopt;
  return found->value;
}

/// Keys by which the chosen place and some other one differ, in the order in which they decide,
/// and the number of victims.
/// Keys that only settle ties are of interest where they did.
bool settled_nothing(const PlanAsk& ask, ScoreKey key) {
  if (key != ScoreKey::grouped_victims && key != ScoreKey::largest_victim &&
      key != ScoreKey::victims_age) {
    return false;
  }
  return std::ranges::none_of(ask.explanation.alternatives, [&](const PlanAlternative& other) {
    return other.lost_on.starts_with(choice_name(key));
  });
}

std::vector<ScoreKey> differing_keys(const PlanAsk& ask) {
  std::vector<ScoreKey> keys;
  for (const ScoreTerm& term : ask.score) {
    if (settled_nothing(ask, term.key)) continue;
    const bool differs =
        std::ranges::any_of(ask.explanation.alternatives, [&](const PlanAlternative& other) {
          return value_of(other.score, term.key) != term.value;
        });
    if (differs || term.key == ScoreKey::victims) keys.push_back(term.key);
  }
  return keys;
}

/// Over two lines: numbers are narrow.
std::string_view heading_of(ScoreKey key) {
  switch (key) {
    case ScoreKey::members_not_placed: return "NOT\nPLACED";
    case ScoreKey::budget_violations: return "BUDGETS\nVIOLATED";
    case ScoreKey::highest_priority: return "HIGHEST\nPRIORITY";
    case ScoreKey::secondary_victims: return "SECONDARY\nVICTIMS";
    case ScoreKey::stopped_pods: return "STOPPED\nPODS";
    case ScoreKey::victims: return "VICTIMS";
    case ScoreKey::priority_sum: return "PRIORITY\nSUM";
    case ScoreKey::raw_priority_sum: return "RAW\nPRIORITY SUM";
    case ScoreKey::lost_work: return "LOST\nWORK";
    case ScoreKey::groups_below_minimum: return "GROUPS\nBELOW MINIMUM";
    case ScoreKey::disrupted_groups: return "DISRUPTED\nGROUPS";
    case ScoreKey::oldest_victim: return "OLDEST\nVICTIM";
    case ScoreKey::grouped_victims: return "VICTIMS\nIN GROUPS";
    case ScoreKey::largest_victim: return "LARGEST\nVICTIM";
    case ScoreKey::victims_age: return "VICTIMS'\nAGE";
  }
  return {};
}

/// kube-scheduler adds 2^31 to each priority: "2 x 2^31 + 200" instead of 4294967496.
std::string raw_sum_text(std::int64_t value, std::int64_t victims) {
  constexpr std::int64_t offset = std::int64_t{1} << 31U;
  constexpr std::int64_t victims_max = std::numeric_limits<std::int32_t>::max();
  if (victims <= 0 || victims > victims_max) return signed_text(value);
  const std::int64_t rest = value - victims * offset;
  return fmt::format("{} x 2^31 {} {}", victims, rest < 0 ? "-" : "+", rest < 0 ? -rest : rest);
}

std::string score_text(const ScoreTerms& score, ScoreKey key, std::int64_t victims) {
  constexpr std::int64_t ms_per_second = 1'000;
  constexpr std::int64_t seconds_max = std::numeric_limits<std::int64_t>::max() / ms_per_second;
  const std::optional<std::int64_t> value = value_of(score, key);
  if (!value) return "-";
  // Priorities are names rather than amounts: they are never grouped.
  if (key == ScoreKey::highest_priority) return fmt::format("{}", *value);
  if (key == ScoreKey::raw_priority_sum) return raw_sum_text(*value, victims);
  if (*value < 0) return signed_text(*value);
  if (key == ScoreKey::lost_work && *value <= seconds_max) {
    return to_text(Duration{*value * ms_per_second});
  }
  if (key == ScoreKey::oldest_victim || key == ScoreKey::victims_age)
    return to_text(Duration{*value});
  return signed_text(*value);
}

/// A place of a group is in its domain.
std::string place_text(std::string text, const std::string& domain) {
  if (!domain.empty()) text += fmt::format(" in {}", domain);
  return text;
}

/// The key on which an alternative lost; the values stand in its column.
std::string_view lost_key(const PlanAlternative& other) {
  const std::string_view text = other.lost_on;
  return text.substr(0, text.find(':'));
}

/// Chosen place first.
Table alternatives_table(const PlanAsk& ask, const std::vector<ScoreKey>& keys) {
  std::vector<Column> columns = {{""}, {"NODE"}};
  for (const ScoreKey key : keys) {
    columns.push_back({std::string(heading_of(key)), Align::right});
  }
  columns.push_back({"LOST ON"});
  Table table(std::move(columns));
  const auto row = [&](std::string_view mark, const std::string& node, std::int64_t victims,
                       const ScoreTerms& score, Cell last) {
    std::vector<Cell> cells = {{std::string(mark), Tone::good}, {node}};
    for (const ScoreKey key : keys) cells.push_back({score_text(score, key, victims)});
    cells.push_back(std::move(last));
    table.row(std::move(cells));
  };
  row(">", place_text(places_of(ask), ask.domain), static_cast<std::int64_t>(ask.victims.size()),
      ask.score, {"chosen", Tone::good});
  for (const PlanAlternative& other : ask.explanation.alternatives) {
    const std::string_view key = lost_key(other);
    const bool shown = std::ranges::find(keys, key, choice_name<ScoreKey>) != keys.end();
    row("", place_text(other.node, other.domain), other.victims, other.score,
        {shown ? std::string(key) : other.lost_on});
  }
  return table;
}

bool is_wide(std::string_view text, std::size_t columns_max) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (columns_of(text.substr(0, end)) > columns_max) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

/// Where the table would be too wide, the last keys go: they decide least. What decided stays.
std::string alternatives_text(const PlanAsk& ask, const Palette& palette) {
  const std::vector<PlanAlternative>& others = ask.explanation.alternatives;
  if (others.empty()) return {};
  std::vector<ScoreKey> keys = differing_keys(ask);
  std::vector<std::string_view> dropped;
  const auto may_go = [&](ScoreKey key) {
    return std::ranges::find(others, choice_name(key), lost_key) == others.end();
  };
  while (is_wide(alternatives_table(ask, keys).text(Palette(false)), palette.table_width())) {
    const auto last = std::ranges::find_if(keys.rbegin(), keys.rend(), may_go);
    if (last == keys.rend()) break;
    dropped.insert(dropped.begin(), choice_name(*last));
    keys.erase(std::next(last).base());
  }
  std::string text = alternatives_table(ask, keys).text(palette);
  if (!dropped.empty()) {
    text += wrapped(
        fmt::format("They also differ in {}; -o json shows everything.", fmt::join(dropped, ", ")),
        2, palette.text_width());
  }
  return text;
}

/// Groups choose among placements, not among nodes.
std::string group_choice_line(const PlanAsk& ask) {
  const std::string_view where = ask.placements.size() == 1 ? ask.placements.front().node
                                 : ask.domain.empty()       ? std::string_view("these nodes")
                                                            : std::string_view(ask.domain);
  if (ask.outcome == Outcome::waits && !ask.placements.empty()) {
    return fmt::format("  Why {}: there is no room now; it frees up here first.\n", shorten(where));
  }
  if (ask.outcome != Outcome::preempts) return {};
  return fmt::format("  Why {}: {}.\n", shorten(where),
                     ask.explanation.alternatives.empty() ? "no other placement found"
                                                          : "best score of the placements found");
}

/// How many nodes there were to choose from.
std::string choice_line(const PlanAsk& ask) {
  if (ask.kind == AskKind::pod_group) return group_choice_line(ask);
  if (ask.session && ask.placements.size() != 1) return {};
  const PlanExplanation& explanation = ask.explanation;
  if (ask.outcome == Outcome::waits && !ask.placements.empty()) {
    // The ask waits for something else than a node: its queue, or the minimum of its gang.
    if (explanation.nodes_fitting > 0) return {};
    return fmt::format("  Why {}: no node has room now; this one frees up first.\n",
                       shorten(places_of(ask)));
  }
  const bool chosen = ask.outcome == Outcome::fits || ask.outcome == Outcome::preempts;
  if (!chosen || explanation.nodes_considered == 0) return {};
  const std::string fitting = explanation.nodes_fitting == 0
                                  ? std::string("none")
                                  : grouped(count_of(explanation.nodes_fitting));
  std::string line = fmt::format("Why {}: of {}, {} {} room now", shorten(places_of(ask)),
                                 counted(count_of(explanation.nodes_considered), "node"), fitting,
                                 explanation.nodes_fitting <= 1 ? "has" : "have");
  if (ask.outcome != Outcome::fits) {
    line += fmt::format(" and {} once victims leave",
                        grouped(count_of(explanation.nodes_with_preemption)));
  }
  return fmt::format("  {}.\n", line);
}

std::string spared_text(const PlanAsk& ask, const Palette& palette) {
  const PlanExplanation& explanation = ask.explanation;
  if (explanation.spared.empty()) return {};
  std::vector<std::string> names;
  names.reserve(explanation.spared.size());
  for (const PlanSpared& pod : explanation.spared) {
    names.push_back(
        fmt::format("{} ({})", key_text({pod.namespace_name, pod.name, pod.plane}), pod.priority));
  }
  std::string line = fmt::format("Spared, with their priority: {}", fmt::join(names, ", "));
  const auto listed = static_cast<std::int64_t>(names.size());
  if (explanation.spared_count > listed) {
    line += fmt::format(" and {} more", grouped(count_of(explanation.spared_count - listed)));
  }
  line +=
      fmt::format("; {} of {} that could have been evicted.",
                  grouped(count_of(std::max(explanation.spared_count, listed))),
                  counted(count_of(explanation.potential_victims), row_of_ask(ask.kind).victim));
  return paragraph(line, 2, palette);
}

/// What the victims do next.
std::string cascades_text(const PlanExplanation& explanation, const Palette& palette) {
  std::string text;
  for (const PlanCascade& cascade : explanation.cascades) {
    const std::string line =
        fmt::format("Then {}, recreated by its controller, would in turn evict: {}", cascade.pod,
                    fmt::join(cascade.victims, ", "));
    text += paragraph(line, 2, palette);
  }
  return text;
}

}  // namespace

std::string refusals_text(const PlanAsk& ask) {
  const std::vector<PlanRefusal>& refusals = ask.explanation.refusals.items();
  if (refusals.empty()) return {};
  std::string text = "  Nodes that cannot take it:\n";
  if (ask.placements.empty()) {
    std::int64_t nodes = ask.explanation.nodes_considered;
    for (const PlanRefusal& refusal : refusals) {
      if (refusal.reason == RefusalReason::regime) nodes += refusal.nodes;
    }
    text = fmt::format("  Why it cannot run on {}:\n", counted(count_of(nodes), "node"));
  }
  for (const PlanRefusal& refusal : refusals) {
    const std::string subject = refusal.nodes == 1 && !refusal.example.empty()
                                    ? fmt::format("node {}", shorten(refusal.example))
                                    : counted(count_of(refusal.nodes), "node");
    const std::string example = refusal.nodes > 1 && !refusal.example.empty()
                                    ? fmt::format(" (for example {})", shorten(refusal.example))
                                    : std::string{};
    text += fmt::format("    {}: {}{}\n", subject, printable(refusal_text(refusal)), example);
    for (const PlanHolder& holder : refusal.holders) {
      text += printable(fmt::format("      held by {} ({}): {}",
                                    key_text({holder.namespace_name, holder.name, holder.plane}),
                                    holder.priority, holder.why));
      text += '\n';
    }
  }
  return text;
}

std::string explanation_text(const PlanAsk& ask, const Palette& palette) {
  std::string text;
  if (!ask.reservation) text += choice_line(ask);
  text += alternatives_text(ask, palette);
  text += spared_text(ask, palette);
  text += cascades_text(ask.explanation, palette);
  text += refusals_text(ask);
  return text;
}

}  // namespace makeway::cli
