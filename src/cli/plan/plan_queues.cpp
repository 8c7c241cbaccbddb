// The queue stage for people: what each queue deserves, may use and uses, and what moves where.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "cli/amount.hpp"
#include "cli/overview/queue_tree.hpp"
#include "cli/plan/plan_text.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"

namespace makeway::cli {
namespace {

/// Longer lists are cut; the document has all of it.
constexpr std::size_t queues_max = 20;
constexpr std::size_t moves_max = 20;

using Names = std::set<std::string_view>;

/// Resources that some pod of a queue asks for, or that change hands between queues.
Names resources_shown(const Plan& plan) {
  Names shown;
  for (const PlanQueue& queue : plan.queues) {
    for (const PlanQueueShare& share : queue.shares) {
      if (share.demand > 0 || share.preempting > 0) shown.insert(share.resource);
    }
  }
  return shown;
}

Names resources_hidden(const Plan& plan, const Names& shown) {
  Names hidden;
  for (const PlanQueue& queue : plan.queues) {
    for (const PlanQueueShare& share : queue.shares) {
      if (!shown.contains(share.resource)) hidden.insert(share.resource);
    }
  }
  return hidden;
}

/// Queues to which something happens.
Names busy_queues(const Plan& plan, const Names& resources) {
  Names busy;
  for (const PlanQueue& queue : plan.queues) {
    const auto happens = [&](const PlanQueueShare& share) {
      return resources.contains(share.resource) &&
             (share.allocated != share.allocated_before || share.preempting > 0 ||
              share.used > share.allocated);
    };
    if (std::ranges::any_of(queue.shares, happens)) busy.insert(queue.name);
  }
  for (const PlanAsk& ask : plan.asks) {
    if (ask.kind == AskKind::queue) busy.insert(ask.name);
  }
  return busy;
}

Cell allocated_cell(const PlanQueueShare& share) {
  const std::string now = amount_text(share.resource, share.allocated);
  if (share.allocated == share.allocated_before) return {.text = now};
  return {.text = fmt::format("{} -> {}", amount_text(share.resource, share.allocated_before), now),
          .tone = share.allocated > share.allocated_before ? Tone::good : Tone::warning};
}

Cell used_cell(const PlanQueueShare& share) {
  std::string text = amount_text(share.resource, share.used);
  if (share.leaving > 0) {
    text += fmt::format(" ({} leaving)", amount_text(share.resource, share.leaving));
  }
  return {.text = std::move(text), .tone = share.used > share.allocated ? Tone::bad : Tone::plain};
}

Cell preempting_cell(const PlanQueueShare& share) {
  if (share.preempting == 0) return {.text = "-"};
  return {.text = amount_text(share.resource, share.preempting), .tone = Tone::warning};
}

constexpr std::string_view unused_room = "unused room";

/// Whether the queue already holds what it is given: leaving pods of its own do.
bool holds_already(const Plan& plan, const PlanQueueMove& move) {
  const auto queue = std::ranges::find(plan.queues, move.to, &PlanQueue::name);
  if (queue == plan.queues.end()) return false;
  const auto share = std::ranges::find(queue->shares, move.resource, &PlanQueueShare::resource);
  return share != queue->shares.end() && share->leaving >= move.amount &&
         share->used - share->allocated_before >= move.amount;
}

std::string from_text(const Plan& plan, const PlanQueueMove& move) {
  if (!move.from.empty()) return move.from;
  if (!move.at_once) return "room being freed";
  return std::string(holds_already(plan, move) ? "its own leaving pods" : unused_room);
}

std::string to_text(const PlanQueueMove& move) {
  if (!move.to.empty()) return move.to;
  return std::string(move.at_once ? unused_room : "no queue: too much is allocated");
}

class QueuesText {
 public:
  QueuesText(const Plan& plan, const PlanTextOptions& options)
      : plan_(plan),
        options_(options),
        resources_(resources_shown(plan)),
        busy_(busy_queues(plan, resources_)) {}

  std::string text() const { return table_text() + adopted_text() + hidden_text() + moves_text(); }

 private:
  std::string table_text() const;
  void add_rows(Table& table, const PlanQueue& queue, std::size_t depth) const;
  std::string adopted_text() const;
  std::string hidden_text() const;
  std::string moves_text() const;

  const Plan& plan_;
  const PlanTextOptions& options_;
  Names resources_;
  Names busy_;
};

/// A line for each resource; the queue's name stands in the first.
void QueuesText::add_rows(Table& table, const PlanQueue& queue, std::size_t depth) const {
  bool first = true;
  const auto add = [&](std::vector<Cell> share) {
    std::vector<Cell> cells = {
        {.text = first ? indented(queue.name, depth) : "", .tone = Tone::strong},
        {.text = first ? fmt::format("{}", queue.weight) : ""}};
    std::ranges::move(share, std::back_inserter(cells));
    table.row(std::move(cells));
    first = false;
  };
  for (const PlanQueueShare& share : queue.shares) {
    if (!resources_.contains(share.resource)) continue;
    std::vector<Cell> cells = {{.text = std::string(short_name(share.resource))},
                               {.text = amount_text(share.resource, share.deserved)},
                               allocated_cell(share),
                               used_cell(share),
                               preempting_cell(share)};
    if (options_.explain) {
      cells.insert(cells.begin() + 1, {.text = amount_text(share.resource, share.demand)});
    }
    add(std::move(cells));
  }
  if (first) add(std::vector<Cell>(options_.explain ? 6 : 5));
}

std::string QueuesText::table_text() const {
  std::vector<Column> columns = {{.heading = "QUEUE"},
                                 {.heading = "WEIGHT", .align = Align::right},
                                 {.heading = "RESOURCE"},
                                 {.heading = "DESERVED", .align = Align::right},
                                 {.heading = "ALLOCATED", .align = Align::right},
                                 {.heading = "USED", .align = Align::right},
                                 {.heading = "PREEMPTING", .align = Align::right}};
  if (options_.explain) {
    columns.insert(columns.begin() + 3, {.heading = "DEMAND", .align = Align::right});
  }
  Table table(std::move(columns));
  std::vector<QueueName> names;
  names.reserve(plan_.queues.size());
  for (const PlanQueue& queue : plan_.queues) names.push_back({queue.name, queue.parent});
  const bool all = plan_.queues.size() <= queues_max;
  std::size_t shown = 0;
  for (const QueueLine& row : queue_lines(names)) {
    const PlanQueue& queue = plan_.queues[row.position];
    if (!all && (shown == queues_max || !busy_.contains(queue.name))) continue;
    // In a list with gaps, a name set in would seem to hang below the wrong one.
    add_rows(table, queue, all ? row.depth : 0);
    ++shown;
  }
  std::string text = table.empty() ? std::string{} : table.text(options_.palette);
  if (all) return text;
  const auto more = [&](std::size_t count, std::string_view where) {
    if (count > 0) text += fmt::format("  ... and {} where {}\n", counted(count, "queue"), where);
  };
  more(busy_.size() - shown, "something changes (-o json lists them)");
  more(plan_.queues.size() - busy_.size(), "nothing changes");
  return text;
}

/// A new default queue adopts the pods that were in no queue.
std::string QueuesText::adopted_text() const {
  std::string text;
  for (const PlanQueue& queue : plan_.queues) {
    if (queue.adopts == 0) continue;
    text += wrapped(
        printable(fmt::format("Queue {} is new: {} that {} no queue {} its own, and {} of them "
                              "would leave.",
                              queue.name, counted(static_cast<std::uint64_t>(queue.adopts), "pod"),
                              queue.adopts == 1 ? "names" : "name",
                              queue.adopts == 1 ? "becomes" : "become", queue.adopted_leave)),
        2, options_.palette.text_width());
  }
  return text;
}

std::string QueuesText::hidden_text() const {
  const Names hidden = resources_hidden(plan_, resources_);
  if (hidden.empty()) return {};
  return wrapped(printable(fmt::format("Not shown, because no pod of a queue requests it: {}.",
                                       fmt::join(hidden, ", "))),
                 2, options_.palette.text_width());
}

std::string QueuesText::moves_text() const {
  Table table({{.heading = "MOVES"},
               {.heading = "FROM"},
               {.heading = ""},
               {.heading = "TO"},
               {.heading = "WHEN"}});
  std::size_t moves = 0;
  for (const PlanQueueMove& move : plan_.queue_moves) {
    if (!resources_.contains(move.resource) || ++moves > moves_max) continue;
    table.row({{.text = fmt::format("{} {}", short_name(move.resource),
                                    amount_text(move.resource, move.amount))},
               {.text = from_text(plan_, move)},
               {.text = "->", .tone = move.at_once ? Tone::good : Tone::warning},
               {.text = to_text(move)},
               {.text = move.at_once ? "at once" : "when its pods are gone",
                .tone = move.at_once ? Tone::good : Tone::warning}});
  }
  if (moves == 0) return {};
  std::string text = table.text(options_.palette);
  if (moves > moves_max) {
    text += fmt::format("  ... and {} (-o json lists them)\n",
                        counted(moves - moves_max, "more move", "more moves"));
  }
  return text;
}

}  // namespace

std::string queues_text(const Plan& plan, const PlanTextOptions& options) {
  if (plan.queues.empty()) return {};
  return options.palette.paint("Queues", Tone::strong) + "\n" + QueuesText(plan, options).text() +
         "\n";
}

}  // namespace makeway::cli
