#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/journal/journal_walk.hpp"
#include "cli/plan/ask_name.hpp"
#include "cli/plan/plan_compare.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/plan/plan_text.hpp"
#include "cli/problem_text.hpp"
#include "cli/text.hpp"
#include "codec/json_text.hpp"
#include "codec/plan_codec.hpp"

namespace makeway::cli {
namespace {

/// In the order of JournalRecord.
constexpr std::array<std::string_view, std::variant_size_v<JournalRecord>> record_names = {
    "configuration", "base", "changes", "cycle", "receipts", "refused"};

/// How many actions of each type a recorded plan has: "bind", "evict", ...
std::map<std::string, std::uint64_t> actions_in(const std::string& plan) {
  std::map<std::string, std::uint64_t> counts;
  if (plan.empty()) return counts;
  const auto tree = parse_json_value(plan);
  if (!tree) return counts;
  for (const JsonValue& action : items_in(*tree, "actions")) {
    if (std::string type = text_in(action, "type"); !type.empty()) ++counts[std::move(type)];
  }
  return counts;
}

std::string counts_text(const std::map<std::string, std::uint64_t>& counts) {
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [type, count] : counts) parts.push_back(fmt::format("{} {}", count, type));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// ---- One line for each record -------------------------------------------------------------------

std::string line_about(const ConfigurationRecord& record) {
  return fmt::format("{}, configuration {}", record.preset,
                     record.hash.empty() ? configuration_hash(record.configuration) : record.hash);
}
std::string line_about(const BaseRecord& record) {
  return fmt::format("{}{}", record.begins ? "a process begins; " : "",
                     record.waiting.empty() ? std::string("no ask is known to wait")
                                            : counted(record.waiting.size(), "ask") +
                                                  " without a "
                                                  "place");
}
std::string line_about(const ChangesRecord& record) {
  const auto removals = std::ranges::count_if(
      record.changes, [](const Change& change) { return std::holds_alternative<Removal>(change); });
  const std::uint64_t objects = record.changes.size() - static_cast<std::uint64_t>(removals);
  std::vector<std::string> parts;
  if (objects > 0) parts.push_back(counted(objects, "object"));
  if (removals > 0) parts.push_back(counted(static_cast<std::uint64_t>(removals), "removal"));
  if (record.effects > 0) parts.push_back(counted(record.effects, "effect") + " of our own");
  return fmt::format("{}", fmt::join(parts, ", "));
}
std::string line_about(const CycleRecord& record) {
  const std::string actions = counts_text(actions_in(record.plan));
  return fmt::format("cycle {}: {}, plan {}{}{}", record.number, counted(record.due.size(), "ask"),
                     record.plan_id.empty() ? "none" : record.plan_id, actions.empty() ? "" : ": ",
                     actions);
}
std::string line_about(const ReceiptsRecord& record) {
  if (record.receipts.empty()) return "nothing";
  const Receipt& first = record.receipts.front();
  const std::string others =
      record.receipts.size() == 1
          ? std::string()
          : fmt::format(", and {}", counted(record.receipts.size() - 1, "other"));
  return fmt::format("not carried out: {}: {}{}", ref_and_plane_text(first.object), first.reason,
                     others);
}
std::string line_about(const RefusedRecord& record) {
  const std::string first =
      record.breaches.empty()
          ? std::string("a law")
          : fmt::format("law {}: {}: {}", record.breaches.front().law, record.breaches.front().ask,
                        record.breaches.front().text);
  return fmt::format("cycle {}: plan {} broke {}", record.cycle, record.plan_id, first);
}

/// None: the record has no time of its own.
std::optional<Time> time_of(const JournalRecord& record) {
  return std::visit(
      [](const auto& each) -> std::optional<Time> {
        if constexpr (requires { each.now; }) return each.now;
        return std::nullopt;
      },
      record);
}

// ---- Sums ---------------------------------------------------------------------------------------

struct JournalSums {
  std::array<std::uint64_t, record_names.size()> records{};
  std::array<std::uint64_t, record_names.size()> bytes{};
  std::optional<Time> first;
  Time last;
  std::uint64_t processes = 0;
  std::uint64_t asks = 0;
  std::uint64_t not_carried_out = 0;
  std::map<std::string, std::uint64_t> actions;

  void add(const JournalEntry& entry) {
    ++records.at(entry.record.index());
    bytes.at(entry.record.index()) += entry.bytes;
    if (const std::optional<Time> now = time_of(entry.record)) {
      if (!first) first = now;
      last = *now;
    }
    if (const auto* const base = std::get_if<BaseRecord>(&entry.record)) {
      processes += base->begins ? 1 : 0;
    } else if (const auto* const cycle = std::get_if<CycleRecord>(&entry.record)) {
      asks += cycle->due.size();
      for (const auto& [type, count] : actions_in(cycle->plan)) actions[type] += count;
    } else if (const auto* const receipts = std::get_if<ReceiptsRecord>(&entry.record)) {
      not_carried_out += receipts->receipts.size();
    }
  }
};

std::string files_table(const std::vector<JournalPart>& parts) {
  Table table({{"FILE"}, {"RECORDS", Align::right}, {"END"}, {"WRITTEN BY"}});
  constexpr std::array<std::string_view, 3> ends = {"whole", "torn", "damaged"};
  for (const JournalPart& part : parts) {
    table.row({{part.path},
               {grouped(part.records)},
               {std::string(ends.at(static_cast<std::size_t>(part.end)))},
               {part.version.empty() ? "-" : part.version}});
  }
  return table.text(Palette(false));
}

std::string sums_text(const JournalSums& sums) {
  std::string text;
  if (sums.first) {
    text += fmt::format("From {} to {}, {}.\n", to_text(*sums.first), to_text(sums.last),
                        sums.processes == 0 ? std::string("by a process that began before")
                                            : counted(sums.processes, "process", "processes"));
  }
  Table table({{"RECORD"}, {"COUNT", Align::right}, {"BYTES", Align::right}});
  for (std::size_t at = 0; at < record_names.size(); ++at) {
    if (sums.records.at(at) == 0) continue;
    table.row({{std::string(record_names.at(at))},
               {grouped(sums.records.at(at))},
               {grouped(sums.bytes.at(at))}});
  }
  if (!table.empty()) text += "\n" + table.text(Palette(false)) + "\n";
  text += fmt::format("Asks decided: {}.\n", grouped(sums.asks));
  if (!sums.actions.empty()) text += fmt::format("Actions: {}.\n", counts_text(sums.actions));
  text +=
      fmt::format("Actions that the world did not carry out: {}.\n", grouped(sums.not_carried_out));
  return text;
}

}  // namespace

ExitStatus run_journal_list(const Arguments& arguments, Terminal& terminal) {
  const JournalWalk walk = walk_journal(
      arguments.operands().front(), [&](const JournalEntry& entry, const JournalWorld& /*world*/) {
        const std::optional<Time> now = time_of(entry.record);
        terminal.out.write(printable_lines(
            fmt::format("{:24}  {:13}  {}\n", now ? to_text(*now) : std::string("-"),
                        record_names.at(entry.record.index()),
                        std::visit([](const auto& each) { return printable(line_about(each)); },
                                   entry.record))));
        return !terminal.out.is_closed();
      });
  return report_walk(walk, terminal) ? ExitStatus::done : ExitStatus::failed;
}

ExitStatus run_journal_stats(const Arguments& arguments, Terminal& terminal) {
  JournalSums sums;
  const JournalWalk walk = walk_journal(
      arguments.operands().front(), [&](const JournalEntry& entry, const JournalWorld& /*world*/) {
        sums.add(entry);
        return true;
      });
  const bool sound = report_walk(walk, terminal);
  if (walk.parts.empty()) return ExitStatus::failed;
  terminal.out.write(files_table(walk.parts) + "\n" + sums_text(sums));
  return sound ? ExitStatus::done : ExitStatus::failed;
}

ExitStatus run_journal_verify(const Arguments& arguments, Terminal& terminal) {
  std::uint64_t records = 0;
  const JournalWalk walk =
      walk_journal(arguments.operands().front(), [&](const JournalEntry&, const JournalWorld&) {
        ++records;
        return true;
      });
  const bool sound = report_walk(walk, terminal);
  if (walk.parts.empty()) return ExitStatus::failed;
  terminal.out.write(files_table(walk.parts));
  if (!sound) return ExitStatus::failed;
  terminal.out.write(
      fmt::format("\n{} can be read, and each base is what the changes before it led to.\n",
                  records == 1 ? std::string("The record")
                               : fmt::format("All {}", counted(records, "record"))));
  return ExitStatus::done;
}

namespace {

constexpr std::uint64_t cycles_shown_max = 10;

struct ReplayOptions {
  std::optional<std::uint64_t> cycle;
  std::optional<ConfigurationDocument> other;  ///< Decide by these rules as well.
  bool diff = false;
  std::string_view format;
  Palette palette{false};
};

std::string document_text(const Plan& plan, std::string_view format) {
  if (format == "json") return plan_text_json(plan, PlanDetail::with_explanation);
  std::string text;
  YamlWriter writer(text);
  write_plan(writer, plan, PlanDetail::with_explanation);
  return text;
}

/// "a", "a and b", "a, b and c".
std::string all_of(std::span<const std::string> names) {
  std::string text;
  for (std::size_t at = 0; at < names.size(); ++at) {
    if (at > 0) text += at + 1 == names.size() ? " and " : ", ";
    text += printable(names[at]);
  }
  return text;
}

class Replay {
 public:
  explicit Replay(const ReplayOptions& options) : options_(options), tools_(real_tools()) {}

  bool visit(const JournalEntry& entry, const JournalWorld& world) {
    const auto* const cycle = std::get_if<CycleRecord>(&entry.record);
    if (cycle == nullptr) return true;
    if (last_ == 0) first_ = cycle->number;
    last_ = cycle->number;
    until_ = cycle->now;
    if (options_.cycle && *options_.cycle != cycle->number) {
      return *options_.cycle > cycle->number;
    }
    if (replayed_ == 0) from_ = cycle->now;
    ++replayed_;
    const ReplayRules rules{.configuration = world.configuration(),
                            .preset = world.preset(),
                            .configuration_hash = world.configuration_hash()};
    if (std::ranges::find(presets_, world.preset()) == presets_.end()) {
      presets_.push_back(world.preset());
    }
    const LawfulPlan made = decide_again(*cycle, world, rules, tools_, false);
    const bool same = is_recorded_plan(*cycle, made.plan);
    asks_ += cycle->due.size();
    if (!same) note_difference(*cycle, made.plan);
    if (options_.other) {
      compare(*cycle, world, made.plan);
    } else if (options_.cycle && !options_.diff) {
      show(*cycle, world, rules);
    }
    return !options_.cycle;
  }

  bool found() const { return replayed_ > 0; }
  bool differs() const { return differing_ > 0; }
  std::string missing_text(std::string_view path) const {
    if (last_ == 0) return fmt::format("{} has no cycle", printable(path));
    return fmt::format("{} has no cycle {}; it has {} to {}", printable(path), *options_.cycle,
                       first_, last_);
  }
  /// What was asked for.
  std::string text(std::string_view path) const;

 private:
  static std::string heading(const CycleRecord& cycle) {
    return fmt::format("Cycle {} at {}", cycle.number, to_text(cycle.now));
  }

  void note_difference(const CycleRecord& cycle, const std::optional<Plan>& plan) {
    ++differing_;
    if (differing_ > 1 && (!options_.diff || differing_ > cycles_shown_max)) return;
    differences_ += fmt::format("{}:\n{}", heading(cycle), plan_difference(cycle, plan));
  }

  void show(const CycleRecord& cycle, const JournalWorld& world, const ReplayRules& rules) {
    const LawfulPlan made = decide_again(cycle, world, rules, tools_, true);
    if (!made.plan) {
      shown_ = fmt::format("{}: no plan was made.\n", heading(cycle));
    } else if (options_.format == "text") {
      shown_ = fmt::format("{}, under {}:\n\n", heading(cycle), printable(rules.preset)) +
               plan_text(*made.plan, {.explain = true,
                                      .palette = options_.palette,
                                      .cluster = &world.cluster(),
                                      .configuration = &rules.configuration});
    } else {
      shown_ = document_text(*made.plan, options_.format);
    }
  }

  /// The same cycle by other rules.
  void compare(const CycleRecord& cycle, const JournalWorld& world,
               const std::optional<Plan>& recorded) {
    const ReplayRules rules{.configuration = options_.other->configuration,
                            .preset = options_.other->name};
    if (options_.cycle && !options_.diff) return show(cycle, world, rules);
    const LawfulPlan made = decide_again(cycle, world, rules, tools_, false);
    if (!made.plan || !recorded) return;
    const std::size_t differ = differing_asks(*recorded, *made.plan);
    if (differ == 0) return;
    ++other_cycles_;
    other_asks_ += differ;
    if (!options_.diff || other_cycles_ > cycles_shown_max) return;
    shown_ += fmt::format("\n{}: ", heading(cycle)) +
              comparison_text({.name = world.preset(),
                               .plan = *recorded,
                               .explained = nullptr,
                               .configuration = world.configuration()},
                              {.name = options_.other->name,
                               .plan = *made.plan,
                               .explained = nullptr,
                               .configuration = options_.other->configuration},
                              Parties(&world.cluster()), options_.palette);
  }

  std::string verdict_text() const;

  const ReplayOptions& options_;
  PlanTools tools_;
  std::uint64_t first_ = 0;  ///< Numbers of cycles in the journal; 0: there was none yet.
  std::uint64_t last_ = 0;
  std::uint64_t replayed_ = 0;
  std::uint64_t asks_ = 0;
  Time from_;
  Time until_;
  std::vector<std::string> presets_;  ///< In the order in which they were used.
  std::uint64_t differing_ = 0;       ///< Cycles whose plan is not the recorded one.
  std::string differences_;
  std::uint64_t other_cycles_ = 0;  ///< Cycles that other rules decide otherwise.
  std::uint64_t other_asks_ = 0;
  std::string shown_;
};

std::string Replay::verdict_text() const {
  if (differing_ == 0) return "Every plan is the recorded one, byte for byte.\n";
  std::string text =
      fmt::format("{} of {} {} from the record.\n", grouped(differing_), counted(replayed_, "plan"),
                  differing_ == 1 ? "differs" : "differ");
  text += options_.diff ? "\n" : "The first: ";
  text += differences_;
  if (options_.diff && differing_ > cycles_shown_max) {
    text += fmt::format("... and {}\n", counted(differing_ - cycles_shown_max, "more cycle"));
  }
  return text;
}

std::string Replay::text(std::string_view path) const {
  if (options_.cycle && !options_.diff) return shown_;
  if (replayed_ == 0) return fmt::format("{} has no cycle.\n", printable(path));
  std::string text =
      fmt::format("Replayed: {} with {}, from {} to {}, under {}.\n", counted(replayed_, "cycle"),
                  counted(asks_, "ask"), to_text(from_), to_text(until_), all_of(presets_));
  text += verdict_text();
  if (!options_.other) return text;
  if (other_cycles_ == 0) {
    return text + fmt::format("Under {} no ask would be decided otherwise.\n",
                              printable(options_.other->name));
  }
  text += fmt::format(
      "Under {}, {} in {} would be decided otherwise. Each cycle begins with the recorded state, "
      "whatever the one before it would have changed.\n",
      printable(options_.other->name), counted(other_asks_, "ask"),
      counted(other_cycles_, "cycle"));
  text += shown_;
  if (options_.diff && other_cycles_ > cycles_shown_max) {
    text += fmt::format("\n... and {}\n",
                        counted(other_cycles_ - cycles_shown_max, "more cycle that differs",
                                "more cycles that differ"));
  }
  return text;
}

/// Fills in the options; returns what is wrong on the command line.
std::string read_replay_options(const Arguments& arguments, const Terminal& terminal,
                                ReplayOptions& options, Problems& problems) {
  if (const auto written = arguments.given("cycle")) {
    std::uint64_t number = 0;
    const auto [end, failed] =
        std::from_chars(written->data(), written->data() + written->size(), number);
    if (failed != std::errc{} || end != written->data() + written->size() || number == 0) {
      return fmt::format("--cycle '{}': expected a number from 1", shorten(*written));
    }
    options.cycle = number;
  }
  options.diff = arguments.has("diff");
  options.format = arguments.text("output");
  options.palette = palette_for_out(terminal, arguments.text("color"));
  if (options.format != "text" && (!options.cycle || options.diff)) {
    return fmt::format("-o {} prints the plan of one --cycle", options.format);
  }
  const ConfigurationChoice choice = choice_in(arguments);
  if (!choice.is_named()) {
    return choice.overrides.empty() ? "" : "--set changes a --preset or a --config; name one";
  }
  ChosenConfiguration chosen = choose_configuration(choice);
  problems = std::move(chosen.problems);
  if (chosen.document) {
    name_configuration(*chosen.document, choice);
    options.other = std::move(chosen.document);
  }
  return chosen.usage;
}

}  // namespace

ExitStatus run_replay(const Arguments& arguments, Terminal& terminal) {
  ReplayOptions options;
  Problems problems;
  if (const std::string wrong = read_replay_options(arguments, terminal, options, problems);
      !wrong.empty()) {
    return usage_error("replay", wrong, terminal);
  }
  print_problems(problems, terminal);
  if (has_errors(problems)) return ExitStatus::failed;
  const std::string& path = arguments.operands().front();
  Replay replay(options);
  const JournalWalk walk =
      walk_journal(path, [&](const JournalEntry& entry, const JournalWorld& world) {
        return replay.visit(entry, world);
      });
  const bool sound = report_walk(walk, terminal);
  if (walk.parts.empty()) return ExitStatus::failed;
  if (options.cycle && !replay.found()) {
    terminal.error.write(fmt::format("error: {}\n", replay.missing_text(path)));
    return ExitStatus::failed;
  }
  terminal.out.write(replay.text(path));
  if (options.cycle && !options.diff && replay.differs()) {
    terminal.error.write("error: the plan is not the recorded one; --diff says how they differ\n");
  }
  return sound && !replay.differs() ? ExitStatus::done : ExitStatus::failed;
}

}  // namespace makeway::cli
