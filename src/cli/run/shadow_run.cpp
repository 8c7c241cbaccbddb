#include "cli/run/shadow_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/problem_text.hpp"
#include "cli/text.hpp"
#include "codec/writer.hpp"
#include "control/live_view.hpp"
#include "kube/live_port.hpp"

namespace makeway::cli {
namespace {

constexpr std::int64_t second_ms = 1'000;

struct VerdictText {
  std::string_view text;
  Tone tone;
};

VerdictText text_of(ShadowVerdict verdict) {
  switch (verdict) {
    case ShadowVerdict::same: return {"same", Tone::dim};
    case ShadowVerdict::other_node: return {"other node", Tone::plain};
    case ShadowVerdict::fewer_victims: return {"fewer victims", Tone::good};
    case ShadowVerdict::cheaper_victims: return {"cheaper victims", Tone::good};
    case ShadowVerdict::other_victims: return {"other victims", Tone::plain};
    case ShadowVerdict::dearer_victims: return {"dearer victims", Tone::warning};
    case ShadowVerdict::more_victims: return {"more victims", Tone::warning};
    case ShadowVerdict::only_ours: return {"only ours", Tone::good};
    case ShadowVerdict::only_theirs: return {"only theirs", Tone::warning};
    case ShadowVerdict::neither: return {"neither", Tone::dim};
  }
  return {"?", Tone::plain};
}

/// "n1", "n1 (2 pods), n2"
std::string nodes_text(const std::vector<std::string>& nodes) {
  constexpr std::size_t shown_max = 5;
  std::vector<std::pair<std::string_view, std::size_t>> counts;
  for (const std::string& node : nodes) {
    if (counts.empty() || counts.back().first != node) counts.emplace_back(node, 0);
    ++counts.back().second;
  }
  std::string text;
  for (std::size_t at = 0; at < std::min(counts.size(), shown_max); ++at) {
    const auto& [node, pods] = counts[at];
    text += fmt::format("{}{}", at == 0 ? "" : ", ", shorten(node));
    if (nodes.size() > 1) text += fmt::format(" ({})", counted(pods, "pod"));
  }
  if (counts.size() > shown_max) {
    text += fmt::format(" and {}", counted(counts.size() - shown_max, "more node", "more nodes"));
  }
  return text;
}

std::string choice_text(const ShadowChoice& choice) {
  if (choice.nodes.empty()) return "no place";
  std::string text = nodes_text(choice.nodes);
  if (choice.victims.empty()) return text;
  constexpr std::size_t shown_max = 3;
  text += fmt::format(", {} (", counted(choice.victims.size(), "victim"));
  for (std::size_t at = 0; at < std::min(choice.victims.size(), shown_max); ++at) {
    const ShadowVictim& victim = choice.victims[at];
    text += fmt::format("{}{}/{}", at == 0 ? "" : ", ", shorten(victim.namespace_name),
                        shorten(victim.name));
  }
  if (choice.victims.size() > shown_max) text += ", ...";
  return text + fmt::format("; priority {}{}; ran {})", choice.victims.size() > 1 ? "up to " : "",
                            choice.highest_priority().value_or(0),
                            pending_text(choice.run_seconds()));
}

std::string wait_text(const ShadowResult& result) {
  if (!result.wait) return result.theirs.nodes.empty() ? "" : ", not bound yet";
  return fmt::format(", bound after {}", pending_text(result.wait->ms / second_ms));
}

void write_choice(JsonWriter& writer, const ShadowChoice& choice) {
  writer.strings_field("nodes", choice.nodes);
  write_list(writer, "victims", choice.victims, [&](const ShadowVictim& victim) {
    writer.string_field("namespace", victim.namespace_name);
    writer.string_field("name", victim.name);
    writer.string_field("node", victim.node);
    writer.integer_field("priority", victim.priority);
    writer.integer_field("runSeconds", victim.run_seconds);
  });
  writer.integer_field("victimCount", std::ssize(choice.victims));
  if (const auto highest = choice.highest_priority()) {
    writer.integer_field("highestPriority", *highest);
  }
  writer.integer_field("prioritySum", choice.priority_sum());
  writer.integer_field("runSeconds", choice.run_seconds());
}

void write_side(JsonWriter& writer, std::string_view name, const ShadowTotals::Side& side) {
  write_object(writer, name, [&] {
    writer.integer_field("victimCount", side.victims);
    writer.integer_field("prioritySum", side.priority_sum);
    writer.integer_field("runSeconds", side.run_seconds);
  });
}

/// Why asks were not compared, and how many; for people and for machines.
struct NotCompared {
  std::string_view text;
  std::string_view field;
  std::uint64_t asks;
};
std::vector<NotCompared> not_compared(const ShadowSummary& summary) {
  const ShadowStatistics& all = summary.statistics;
  return {{"still open", "open", summary.open},
          {"gone before they were bound", "gone", all.gone},
          {"decided before the run began", "late", all.late},
          {"bound while the watch was down", "missed", all.missed},
          {"not decided by us", "undecided", all.undecided}};
}

}  // namespace

std::string shadow_line(const ShadowResult& result, const Palette& palette) {
  constexpr std::size_t width = std::string_view("cheaper victims").size();
  const VerdictText verdict = text_of(result.verdict);
  std::string text = palette.paint(verdict.text, verdict.tone);
  text.append(width - verdict.text.size() + 2, ' ');
  text += fmt::format("{}: ", printable(ask_text(result.ask)));
  if (result.verdict == ShadowVerdict::same) {
    return text + fmt::format("{}{}\n", choice_text(result.ours), wait_text(result));
  }
  return text + fmt::format("theirs: {}{}; ours: {}\n", choice_text(result.theirs),
                            wait_text(result), choice_text(result.ours));
}

std::string shadow_summary_text(const ShadowSummary& summary, const Palette& palette) {
  const auto number = [](std::int64_t value) { return fmt::format("{}", value); };
  std::string text =
      fmt::format("\n{} of {} compared in {}, by {}.\n",
                  counted(static_cast<std::uint64_t>(summary.totals.compared()), "ask"),
                  shorten(summary.scheduler), pending_text(summary.ran.ms / second_ms),
                  shorten(summary.preset));
  Table verdicts({{"OURS"}, {"ASKS", Align::right}});
  for (std::size_t at = 0; at < summary.totals.verdicts.size(); ++at) {
    if (summary.totals.verdicts[at] == 0) continue;
    const VerdictText verdict = text_of(static_cast<ShadowVerdict>(at));
    verdicts.row(
        {{std::string(verdict.text), verdict.tone}, {number(summary.totals.verdicts[at])}});
  }
  if (!verdicts.empty()) text += "\n" + verdicts.text(palette);
  const ShadowTotals::Side& ours = summary.totals.ours;
  const ShadowTotals::Side& theirs = summary.totals.theirs;
  if (ours != ShadowTotals::Side{} || theirs != ShadowTotals::Side{}) {
    Table sides({{"WHERE BOTH FOUND A PLACE"}, {"THEIRS", Align::right}, {"OURS", Align::right}});
    sides.row({{"victims"}, {number(theirs.victims)}, {number(ours.victims)}});
    sides.row(
        {{"sum of their priorities"}, {number(theirs.priority_sum)}, {number(ours.priority_sum)}});
    sides.row({{"time they had run"},
               {pending_text(theirs.run_seconds)},
               {pending_text(ours.run_seconds)}});
    text += "\n" + sides.text(palette);
  }
  Table others({{"NOT COMPARED"}, {"ASKS", Align::right}});
  for (const NotCompared& each : not_compared(summary)) {
    if (each.asks > 0) others.row({{std::string(each.text)}, {fmt::format("{}", each.asks)}});
  }
  if (!others.empty()) text += "\n" + others.text(palette);
  return text;
}

std::string shadow_json_line(const ShadowResult& result) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  writer.key("ask");
  writer.begin_object();
  writer.string_field("kind", choice_name(result.ask.kind));
  writer.string_field("namespace", result.ask.namespace_name);
  writer.string_field("name", result.ask.name);
  writer.integer_field("priority", result.priority);
  writer.end_object();
  writer.string_field("firstSeen", to_text(result.seen));
  writer.string_field("verdict", choice_name(result.verdict));
  writer.key("theirs");
  writer.begin_object();
  writer.boolean_field("bound", result.wait.has_value());
  if (result.wait) writer.integer_field("waitMilliseconds", result.wait->ms);
  write_choice(writer, result.theirs);
  writer.end_object();
  writer.key("ours");
  writer.begin_object();
  writer.string_field("outcome", choice_name(result.outcome));
  writer.string_field("plan", result.plan);
  writer.string_field("reason", result.reason);
  write_choice(writer, result.ours);
  writer.end_object();
  writer.end_object();
  return text;
}

std::string shadow_summary_json(const ShadowSummary& summary) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  writer.key("summary");
  writer.begin_object();
  writer.string_field("scheduler", summary.scheduler);
  writer.string_field("preset", summary.preset);
  writer.integer_field("seconds", summary.ran.ms / second_ms);
  writer.integer_field("compared", summary.totals.compared());
  writer.key("verdicts");
  writer.begin_object();
  for (std::size_t at = 0; at < summary.totals.verdicts.size(); ++at) {
    writer.integer_field(choice_name(static_cast<ShadowVerdict>(at)), summary.totals.verdicts[at]);
  }
  writer.end_object();
  write_side(writer, "theirs", summary.totals.theirs);
  write_side(writer, "ours", summary.totals.ours);
  writer.key("notCompared");
  writer.begin_object();
  for (const NotCompared& each : not_compared(summary)) {
    writer.integer_field(each.field, static_cast<std::int64_t>(each.asks));
  }
  writer.end_object();
  writer.integer_field("plansRefused", static_cast<std::int64_t>(summary.statistics.refused));
  writer.end_object();
  writer.end_object();
  return text;
}

namespace {

constexpr Duration shadow_step_max{200};  ///< So soon Ctrl-C is heard.

/// The run itself, once everything that it needs is there.
class ShadowRun {
 public:
  ShadowRun(const RunRequest& request, const ConfigurationDocument& document, kube::LiveFeed& feed,
            LoopWatcher* watcher, Terminal& terminal, const Palette& palette)
      : request_(request),
        document_(document),
        feed_(feed),
        terminal_(terminal),
        palette_(palette),
        tools_(real_tools()),
        view_(document.configuration, {}),
        port_(feed, nullptr, &view_),
        shadow_(port_, document.configuration, tools_,
                {.scheduler = request.shadow, .preset = document.name, .watcher = watcher}) {}

  ExitStatus run() {
    while (!is_over()) {
      const std::vector<ShadowResult> results = shadow_.step(port_.now() + shadow_step_max);
      if (!shadow_.has_begun()) {
        if (print_refusals()) return ExitStatus::failed;
        print_progress();
        continue;
      }
      print_sight();
      for (const ShadowResult& result : results) print_result(result);
    }
    erase_progress();
    if (!shadow_.has_begun()) return report_no_sight();
    print_summary();
    return print_bugs() ? ExitStatus::bug : ExitStatus::done;
  }

 private:
  bool is_over() const {
    if (interrupts_.seen() || terminal_.out.is_closed()) return true;
    if (request_.count && totals_.compared() >= *request_.count) return true;
    return request_.ends_after && ran() >= *request_.ends_after;
  }
  Duration ran() const { return kube::monotonic_now() - started_; }

  void print_result(const ShadowResult& result) {
    if (request_.count && totals_.compared() >= *request_.count) return;
    totals_.add(result);
    terminal_.out.write(request_.json ? shadow_json_line(result) : shadow_line(result, palette_));
    terminal_.out.flush();
  }

  /// Once all kinds were asked for: what is missing. True: no patience helps against it.
  bool print_refusals() {
    const kube::WatchTrouble trouble = feed_.trouble();
    if (trouble == kube::WatchTrouble::none) return false;
    const bool is_permanent = trouble == kube::WatchTrouble::permanent;
    if (is_permanent || !has_printed_missing_) {
      erase_progress();
      log_missing();
    }
    has_printed_missing_ = true;
    return is_permanent;
  }

  void log_missing() {
    Problems problems;
    for (const kube::MissingWatch& each : feed_.missing()) problems.push_back(each.error.problem);
    print_problems(problems, terminal_);
  }

  ExitStatus report_no_sight() {
    log_missing();
    terminal_.error.write("makeway: the cluster was not read completely; nothing was decided\n");
    return ExitStatus::failed;
  }

  void print_progress() {
    if (!terminal_.error_is_terminal) return;
    const kube::FeedStatistics statistics = feed_.statistics();
    terminal_.error.write(fmt::format("\r\x1b[Kreading the live cluster: {} of {} kinds",
                                      statistics.kinds_seen, statistics.kinds));
    terminal_.error.flush();
    shows_progress_ = true;
  }
  void erase_progress() {
    if (shows_progress_) terminal_.error.write("\r\x1b[K");
    shows_progress_ = false;
  }

  /// After the first lists, and whenever watching fails or recovers.
  void print_sight() {
    if (shadow_.is_blind() == was_blind_) return;
    was_blind_ = shadow_.is_blind();
    erase_progress();
    if (was_blind_) {
      log_missing();
      terminal_.error.write(
          "makeway: the cluster cannot be watched; nothing is decided until it can\n");
    } else if (has_seen_) {
      terminal_.error.write("makeway: the cluster is watched again\n");
    } else {
      has_seen_ = true;
      terminal_.error.write(
          fmt::format("makeway: watching {} on {} with {}; nothing is changed there; Ctrl-C ends "
                      "it with a summary\n",
                      shorten(request_.shadow), counted(shadow_.cluster().node_count(), "node"),
                      counted(shadow_.cluster().pod_count(), "pod")));
    }
    terminal_.error.flush();
  }

  void print_summary() {
    const ShadowSummary summary{.scheduler = request_.shadow,
                                .preset = document_.name,
                                .ran = ran(),
                                .open = shadow_.open(),
                                .totals = totals_,
                                .statistics = shadow_.statistics()};
    terminal_.out.write(request_.json ? shadow_summary_json(summary)
                                      : shadow_summary_text(summary, palette_));
  }

  /// True: a plan broke a law.
  bool print_bugs() {
    for (const RefusedPlan& refused : shadow_.refused()) {
      for (const LawBreach& breach : refused.breaches) {
        terminal_.error.write(fmt::format("makeway: plan {} was refused: law {}: {}: {}\n",
                                          refused.id, breach.law, printable(breach.ask),
                                          printable(breach.text)));
      }
    }
    return !shadow_.refused().empty();
  }

  const RunRequest& request_;
  const ConfigurationDocument& document_;
  kube::LiveFeed& feed_;
  Terminal& terminal_;
  Palette palette_;
  PlanTools tools_;
  LiveView view_;  ///< Pods of all schedulers may be victims: SPEC section 1.
  kube::LivePort port_;
  ShadowLoop shadow_;
  ShadowTotals totals_;
  InterruptWatch interrupts_;
  Time started_ = kube::monotonic_now();
  bool shows_progress_ = false;
  bool has_printed_missing_ = false;
  bool was_blind_ = true;
  bool has_seen_ = false;
};

}  // namespace

ExitStatus run_shadow(const RunRequest& request, const ConfigurationDocument& document,
                      kube::LiveFeed& feed, LoopWatcher* watcher, Terminal& terminal,
                      const Palette& palette) {
  return ShadowRun(request, document, feed, watcher, terminal, palette).run();
}

}  // namespace makeway::cli
