#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/journal/journal_walk.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "codec/json_text.hpp"

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

}  // namespace makeway::cli
