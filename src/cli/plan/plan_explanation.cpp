#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

#include "base/problem.hpp"
#include "cli/amount.hpp"
#include "cli/plan/plan_text.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "model/object_text.hpp"

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

/// "n1, n2 in rack=a"; the first of many nodes.
std::string chosen_node(const PlanAsk& ask) {
  std::vector<std::string> nodes;
  nodes.reserve(ask.placements.size());
  for (const PodPlacement& placement : ask.placements) nodes.push_back(placement.node);
  return few_names(std::move(nodes));
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
  std::vector<Column> columns = {{.heading = ""}, {.heading = "NODE"}};
  for (const ScoreKey key : keys) {
    columns.push_back({.heading = std::string(heading_of(key)), .align = Align::right});
  }
  columns.push_back({.heading = "LOST ON"});
  Table table(std::move(columns));
  const auto row = [&](std::string_view mark, const std::string& node, std::int64_t victims,
                       const ScoreTerms& score, Cell last) {
    std::vector<Cell> cells = {{.text = std::string(mark), .tone = Tone::good}, {.text = node}};
    for (const ScoreKey key : keys) cells.push_back({.text = score_text(score, key, victims)});
    cells.push_back(std::move(last));
    table.row(std::move(cells));
  };
  row(">", place_text(chosen_node(ask), ask.domain), static_cast<std::int64_t>(ask.victims.size()),
      ask.score, {.text = "chosen", .tone = Tone::good});
  for (const PlanAlternative& other : ask.explanation.alternatives) {
    const std::string_view key = lost_key(other);
    const bool shown = std::ranges::find(keys, key, choice_name<ScoreKey>) != keys.end();
    row("", place_text(other.node, other.domain), other.victims, other.score,
        {.text = shown ? std::string(key) : other.lost_on});
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
    return fmt::format("  Why {}: no node has room now; this one frees up first.\n",
                       shorten(chosen_node(ask)));
  }
  const bool chosen = ask.outcome == Outcome::fits || ask.outcome == Outcome::preempts;
  if (!chosen || explanation.nodes_considered == 0) return {};
  const std::string fitting = explanation.nodes_fitting == 0
                                  ? std::string("none")
                                  : grouped(count_of(explanation.nodes_fitting));
  std::string line = fmt::format("Why {}: of {}, {} {} room now", shorten(chosen_node(ask)),
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
  line += fmt::format(
      "; {} of {} that could have been evicted.",
      grouped(count_of(std::max(explanation.spared_count, listed))),
      counted(count_of(explanation.potential_victims), ask.session ? "session" : "pod"));
  return wrapped(printable(line), 2, palette.text_width());
}

/// What the victims do next.
std::string cascades_text(const PlanExplanation& explanation, const Palette& palette) {
  std::string text;
  for (const PlanCascade& cascade : explanation.cascades) {
    const std::string line =
        fmt::format("Then {}, recreated by its controller, would in turn evict: {}", cascade.pod,
                    fmt::join(cascade.victims, ", "));
    text += wrapped(printable(line), 2, palette.text_width());
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
