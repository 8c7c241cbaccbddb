#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>

#include "base/problem.hpp"
#include "cli/amount.hpp"
#include "cli/plan_text.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"

namespace makeway::cli {
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

/// Keys by which the chosen place and some other one differ, in the order in which they decide.
/// The number of victims has a column of its own.
std::vector<ScoreKey> differing_keys(const PlanAsk& ask) {
  std::vector<ScoreKey> keys;
  for (const ScoreTerm& term : ask.score) {
    const bool differs =
        std::ranges::any_of(ask.explanation.alternatives, [&](const PlanAlternative& other) {
          return value_of(other.score, term.key) != term.value;
        });
    if (differs && term.key != ScoreKey::victims) keys.push_back(term.key);
  }
  return keys;
}

std::string heading_of(ScoreKey key) {
  std::string text(choice_name(key));
  for (char& byte : text) {
    byte = byte == '-' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(byte)));
  }
  return text;
}

std::string score_text(const ScoreTerms& score, ScoreKey key) {
  constexpr std::int64_t ms_per_second = 1'000;
  constexpr std::int64_t seconds_max = std::numeric_limits<std::int64_t>::max() / ms_per_second;
  const std::optional<std::int64_t> value = value_of(score, key);
  if (!value) return "-";
  // Priorities are names rather than amounts: they are never grouped.
  if (key == ScoreKey::highest_priority) return fmt::format("{}", *value);
  if (*value < 0) return signed_text(*value);
  if (key == ScoreKey::lost_work && *value <= seconds_max) {
    return to_text(Duration{*value * ms_per_second});
  }
  if (key == ScoreKey::oldest_victim) return to_text(Duration{*value});
  return signed_text(*value);
}

std::string chosen_node(const PlanAsk& ask) {
  return ask.placements.size() == 1 ? ask.placements.front().node : std::string("this place");
}

std::string alternatives_table(const PlanAsk& ask, const Palette& palette) {
  const PlanExplanation& explanation = ask.explanation;
  if (explanation.alternatives.empty()) return {};
  const std::vector<ScoreKey> keys = differing_keys(ask);
  const bool preempts = !ask.victims.empty();
  std::vector<Column> columns = {{.heading = ""}, {.heading = "NODE"}};
  if (preempts) columns.push_back({.heading = "VICTIMS", .align = Align::right});
  for (const ScoreKey key : keys) {
    columns.push_back({.heading = heading_of(key), .align = Align::right});
  }
  columns.push_back({.heading = "LOST ON"});
  Table table(std::move(columns));
  const auto row = [&](std::string_view mark, const std::string& node, std::int64_t victims,
                       const ScoreTerms& score, Cell last) {
    std::vector<Cell> cells = {{.text = std::string(mark), .tone = Tone::good}, {.text = node}};
    if (preempts) cells.push_back({.text = signed_text(victims)});
    for (const ScoreKey key : keys) cells.push_back({.text = score_text(score, key)});
    cells.push_back(std::move(last));
    table.row(std::move(cells));
  };
  row(">", chosen_node(ask), static_cast<std::int64_t>(ask.victims.size()), ask.score,
      {.text = "chosen", .tone = Tone::good});
  for (const PlanAlternative& other : explanation.alternatives) {
    row("", other.node, other.victims, other.score, {.text = other.lost_on});
  }
  return table.text(palette);
}

/// How many nodes there were to choose from.
std::string choice_line(const PlanAsk& ask) {
  const PlanExplanation& explanation = ask.explanation;
  const bool chosen = ask.outcome == Outcome::fits || ask.outcome == Outcome::preempts;
  if (!chosen || explanation.nodes_considered == 0) return {};
  const std::string fitting = explanation.nodes_fitting == 0
                                  ? std::string("none")
                                  : grouped(count_of(explanation.nodes_fitting));
  std::string line = fmt::format("Why {}: of {}, {} {} room now", shorten(chosen_node(ask)),
                                 counted(count_of(explanation.nodes_considered), "node"), fitting,
                                 explanation.nodes_fitting <= 1 ? "has" : "have");
  if (ask.outcome != Outcome::fits) {
    line += fmt::format(" and {} once somebody leaves",
                        grouped(count_of(explanation.nodes_with_preemption)));
  }
  return fmt::format("  {}.\n", line);
}

std::string spared_text(const PlanExplanation& explanation) {
  if (explanation.spared.empty()) return {};
  std::vector<std::string> names;
  names.reserve(explanation.spared.size());
  for (const PlanSpared& pod : explanation.spared) {
    names.push_back(fmt::format("{}/{} ({})", pod.namespace_name, pod.name, pod.priority));
  }
  std::string line = fmt::format("Spared, with their priority: {}", fmt::join(names, ", "));
  const auto listed = static_cast<std::int64_t>(names.size());
  if (explanation.spared_count > listed) {
    line += fmt::format(" and {} more", grouped(count_of(explanation.spared_count - listed)));
  }
  line += fmt::format("; {} of {} that could have been made to leave.",
                      grouped(count_of(std::max(explanation.spared_count, listed))),
                      counted(count_of(explanation.potential_victims), "pod"));
  return wrapped(printable(line), 2);
}

/// What the victims do next.
std::string cascades_text(const PlanExplanation& explanation) {
  std::string text;
  for (const PlanCascade& cascade : explanation.cascades) {
    const std::string line =
        fmt::format("Then {}, recreated by its controller, would make leave: {}", cascade.pod,
                    fmt::join(cascade.victims, ", "));
    text += wrapped(printable(line), 2);
  }
  return text;
}

std::string refusals_text(const PlanAsk& ask) {
  const std::vector<PlanRefusal>& refusals = ask.explanation.refusals;
  if (refusals.empty()) return {};
  std::string text = "  Nodes that refuse it:\n";
  if (ask.placements.empty()) {
    text = fmt::format("  What stays unmet on {}:\n",
                       counted(count_of(ask.explanation.nodes_considered), "node"));
  }
  for (const PlanRefusal& refusal : refusals) {
    const std::string who = refusal.nodes == 1 && !refusal.example.empty()
                                ? fmt::format("node {}", shorten(refusal.example))
                                : counted(count_of(refusal.nodes), "node");
    const std::string example = refusal.nodes > 1 && !refusal.example.empty()
                                    ? fmt::format(" (for example {})", shorten(refusal.example))
                                    : std::string{};
    text += fmt::format("    {}: {}{}\n", who, refusal_text(refusal), example);
  }
  return text;
}

}  // namespace

std::string explanation_text(const PlanAsk& ask, const Palette& palette) {
  std::string text;
  text += choice_line(ask);
  text += alternatives_table(ask, palette);
  text += spared_text(ask.explanation);
  text += cascades_text(ask.explanation);
  text += refusals_text(ask);
  return text;
}

}  // namespace makeway::cli
