// The queue stage for people: what each queue deserves, may use and uses, and what moves where.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "base/problem.hpp"
#include "cli/plan/plan_text.hpp"
#include "cli/text.hpp"
#include "model/gpus.hpp"
#include "model/object_text.hpp"
#include "model/session_names.hpp"
#include "policies/shared/plan_writer.hpp"

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
  if (share.allocated == share.allocated_before) return {now};
  return {fmt::format("{} -> {}", amount_text(share.resource, share.allocated_before), now),
          share.allocated > share.allocated_before ? Tone::good : Tone::warning};
}

Cell used_cell(const PlanQueueShare& share) {
  std::string text = amount_text(share.resource, share.used);
  if (share.leaving > 0) {
    text += fmt::format(" ({} leaving)", amount_text(share.resource, share.leaving));
  }
  return {std::move(text), share.used > share.allocated ? Tone::bad : Tone::plain};
}

Cell preempting_cell(const PlanQueueShare& share) {
  if (share.preempting == 0) return {"-"};
  return {amount_text(share.resource, share.preempting), Tone::warning};
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
  std::string table_text() const {
    std::vector<Column> columns = {{"QUEUE"},
                                   {"WEIGHT", Align::right},
                                   {"RESOURCE"},
                                   {"DESERVED", Align::right},
                                   {"ALLOCATED", Align::right},
                                   {"USED", Align::right},
                                   {"PREEMPTING", Align::right}};
    if (options_.explain) {
      columns.insert(columns.begin() + 3, {"DEMAND", Align::right});
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

  /// A line for each resource; the queue's name stands in the first.
  void add_rows(Table& table, const PlanQueue& queue, std::size_t depth) const {
    bool first = true;
    const auto add = [&](std::vector<Cell> share) {
      std::vector<Cell> cells = {{first ? indented(queue.name, depth) : "", Tone::strong},
                                 {first ? fmt::format("{}", queue.weight) : ""}};
      std::ranges::move(share, std::back_inserter(cells));
      table.row(std::move(cells));
      first = false;
    };
    for (const PlanQueueShare& share : queue.shares) {
      if (!resources_.contains(share.resource)) continue;
      std::vector<Cell> cells = {{std::string(short_name(share.resource))},
                                 {amount_text(share.resource, share.deserved)},
                                 allocated_cell(share),
                                 used_cell(share),
                                 preempting_cell(share)};
      if (options_.explain) {
        cells.insert(cells.begin() + 1, {amount_text(share.resource, share.demand)});
      }
      add(std::move(cells));
    }
    if (first) add(std::vector<Cell>(options_.explain ? 6 : 5));
  }

  /// A new default queue adopts the pods that were in no queue.
  std::string adopted_text() const {
    std::string text;
    for (const PlanQueue& queue : plan_.queues) {
      if (queue.adopts == 0) continue;
      text += paragraph(
          fmt::format("Queue {} is new: {} that {} no queue {} its own, and {} of them "
                      "would leave.",
                      queue.name, counted(static_cast<std::uint64_t>(queue.adopts), "pod"),
                      queue.adopts == 1 ? "names" : "name",
                      queue.adopts == 1 ? "becomes" : "become", queue.adopted_leave),
          2, options_.palette);
    }
    return text;
  }

  std::string hidden_text() const {
    const Names hidden = resources_hidden(plan_, resources_);
    if (hidden.empty()) return {};
    return paragraph(fmt::format("Not shown, because no pod of a queue requests it: {}.",
                                 fmt::join(hidden, ", ")),
                     2, options_.palette);
  }

  std::string moves_text() const {
    Table table({{"MOVES"}, {"FROM"}, {""}, {"TO"}, {"WHEN"}});
    std::size_t moves = 0;
    for (const PlanQueueMove& move : plan_.queue_moves) {
      if (!resources_.contains(move.resource) || ++moves > moves_max) continue;
      table.row({{fmt::format("{} {}", short_name(move.resource),
                              amount_text(move.resource, move.amount))},
                 {from_text(plan_, move)},
                 {"->", move.at_once ? Tone::good : Tone::warning},
                 {to_text(move)},
                 {move.at_once ? "at once" : "when its pods are gone",
                  move.at_once ? Tone::good : Tone::warning}});
    }
    if (moves == 0) return {};
    std::string text = table.text(options_.palette);
    if (moves > moves_max) {
      text += fmt::format("  ... and {} (-o json lists them)\n",
                          counted(moves - moves_max, "more move", "more moves"));
    }
    return text;
  }

  const Plan& plan_;
  const PlanTextOptions& options_;
  Names resources_;
  Names busy_;
};

}  // namespace

std::string queues_text(const Plan& plan, const PlanTextOptions& options) {
  if (plan.queues.empty()) return {};
  return options.palette.paint("Queues", Tone::strong) + "\n" + QueuesText(plan, options).text() +
         "\n";
}

// Sessions in the text of a plan: the victims and what becomes of them, and the resource groups.

namespace {

/// Of each state of a group's sessions; a plan for people lists no thousands.
constexpr std::size_t sessions_listed_max = 20;

/// What becomes of a session, after it has left.
std::string fate_text(SessionFate fate, const std::optional<Time>& resume_after) {
  switch (fate) {
    case SessionFate::ends: return "ends";
    case SessionFate::requeues:
      return resume_after ? fmt::format("pending again from {}", to_text(*resume_after))
                          : std::string("pending again");
    case SessionFate::on_request: return "until a user resumes it";
    case SessionFate::to_autoscaler: return "left to its autoscaler";
    case SessionFate::suspends: return "suspended, keeps its memory";
  }
  return {};
}

std::string leaves_text(const PlanSessionVictim& victim, Time now) {
  std::string then = fate_text(victim.fate, victim.resume_after);
  if (victim.ends_at <= now) return then;
  return fmt::format("at {}; {}", to_text(victim.ends_at), then);
}

std::string ask_key(const PlanAsk& ask) {
  return key_text({ask.namespace_name, ask.name, ask.plane});
}

/// What the plan says about single sessions, by name.
struct Verdicts {
  std::map<ObjectKeyView, const PlanAsk*> asks;
  struct Victim {
    const PlanSessionVictim* victim = nullptr;
    const PlanAsk* ask = nullptr;
  };
  std::map<ObjectKeyView, Victim> victims;

  explicit Verdicts(const Plan& plan) {
    for (const PlanAsk& ask : plan.asks) {
      if (!ask.session) continue;
      asks[{ask.namespace_name, ask.name, ask.plane}] = &ask;
      for (const PlanSessionVictim& victim : ask.session->victims) {
        victims[{victim.namespace_name, victim.name, victim.plane}] = {.victim = &victim,
                                                                       .ask = &ask};
      }
    }
  }
};

std::string ask_note(const PlanAsk& ask) {
  std::vector<std::string_view> nodes;
  nodes.reserve(ask.placements.size());
  for (const PodPlacement& placement : ask.placements) nodes.push_back(placement.node);
  std::ranges::sort(nodes);
  const auto repeated = std::ranges::unique(nodes);
  nodes.erase(repeated.begin(), repeated.end());
  const std::string where = fmt::format("{}", fmt::join(nodes, ", "));
  switch (ask.outcome) {
    case Outcome::fits:
      return fmt::format("{} on {}", ask.session->runs_on ? "resumes" : "starts", where);
    case Outcome::preempts:
      return fmt::format("preempts {}, then starts on {}", counted(ask.victims.size(), "session"),
                         where);
    case Outcome::waits:
      return ask.waits_until ? fmt::format("may preempt from {} on", to_text(*ask.waits_until))
                             : fmt::format("waits for room on {}", where);
    case Outcome::infeasible: return "no room, even with every preemptible session gone";
    case Outcome::not_found: return "no room yet";
  }
  return {};
}

Tone ask_tone(Outcome outcome) {
  if (outcome == Outcome::fits) return Tone::good;
  return outcome == Outcome::preempts || outcome == Outcome::waits ? Tone::warning : Tone::bad;
}

/// "preempted twice, last by Session default/urgent"
std::string past_text(const PlanSessionEntry& entry) {
  if (entry.preemptions == 0) return {};
  std::string text = entry.preemptions == 1 ? std::string("preempted once")
                                            : fmt::format("preempted {} times", entry.preemptions);
  if (!entry.preempted_by.empty()) {
    text += fmt::format("{} by {}", entry.preemptions == 1 ? "" : ", last", entry.preempted_by);
  }
  return text;
}

class GroupTable {
 public:
  GroupTable(const Plan& plan, const PlanResourceGroup& group, const Verdicts& verdicts)
      : plan_(plan), group_(group), verdicts_(verdicts), table_(columns(group)) {}

  std::string text(const Palette& palette) {
    list(group_.pending, [this](const PlanSessionEntry& entry) { return pending(entry); });
    list(group_.running, [this](const PlanSessionEntry& entry) { return running(entry); });
    list(group_.leaving, [](const PlanSessionEntry& entry) {
      const std::string then =
          entry.fate ? "; " + fate_text(*entry.fate, entry.resume_after) : std::string();
      const std::string when = entry.since ? to_text(*entry.since) : std::string("an unknown time");
      return State{.mark = "*",
                   .tone = Tone::warning,
                   .state = "leaving",
                   .note = fmt::format("at {}{}", when, then)};
    });
    list(group_.suspended, [this](const PlanSessionEntry& entry) { return suspended(entry); });
    list(group_.off_queue, [](const PlanSessionEntry& entry) {
      return State{.mark = "",
                   .tone = Tone::dim,
                   .state = "off the queue",
                   .note = entry.fate ? fate_text(*entry.fate, entry.resume_after) : ""};
    });
    return table_.empty() ? "  no sessions\n" : table_.text(palette) + more_;
  }

 private:
  struct State {
    std::string mark;
    Tone tone = Tone::plain;
    std::string state;
    std::string note;
  };

  static std::vector<Column> columns(const PlanResourceGroup& group) {
    std::vector<Column> columns = {{""}, {"SESSION"}, {"TYPE"}, {"PRIORITY", Align::right}};
    if (group.divided) {
      columns.push_back({"PARTITION"});
      columns.push_back({"TIER", Align::right});
    }
    columns.push_back({"STATE"});
    columns.push_back({"NODES"});
    columns.push_back({"NOTE"});
    return columns;
  }

  template <class Describe>
  void list(const PlanSessionList& sessions, const Describe& describe) {
    const std::size_t shown = std::min(sessions.first.size(), sessions_listed_max);
    for (std::size_t at = 0; at < shown; ++at)
      add(sessions.first[at], describe(sessions.first[at]));
    const auto left = static_cast<std::uint64_t>(sessions.count) - shown;
    if (left == 0) return;
    more_ += fmt::format("  ... and {} more that are {}\n", grouped(left),
                         describe(sessions.first.front()).state);
  }

  void add(const PlanSessionEntry& entry, State state) {
    std::string note = std::move(state.note);
    const std::string past = state.mark == "-" ? std::string{} : past_text(entry);
    if (!past.empty()) note += fmt::format("{}{}", note.empty() ? "" : "; ", past);
    std::vector<Cell> cells = {{std::move(state.mark), state.tone},
                               {key_text({entry.namespace_name, entry.name, entry.plane})},
                               {std::string(choice_name(entry.type))},
                               {fmt::format("{}", entry.priority)}};
    if (group_.divided) {
      cells.push_back({entry.partition});
      cells.push_back({fmt::format("{}", entry.tier)});
    }
    cells.push_back({std::move(state.state), state.tone});
    cells.push_back({entry.nodes.empty()      ? "-"
                     : entry.nodes.size() > 2 ? counted(entry.nodes.size(), "node")
                                              : fmt::format("{}", fmt::join(entry.nodes, ", "))});
    cells.push_back({std::move(note)});
    table_.row(std::move(cells));
  }

  State pending(const PlanSessionEntry& entry) const {
    const auto ask = verdicts_.asks.find({entry.namespace_name, entry.name, entry.plane});
    if (ask == verdicts_.asks.end()) return {.state = "pending"};
    return {.mark = ask->second->outcome == Outcome::fits ? "+" : "",
            .tone = ask_tone(ask->second->outcome),
            .state = "pending",
            .note = ask_note(*ask->second)};
  }

  State suspended(const PlanSessionEntry& entry) const {
    const auto ask = verdicts_.asks.find({entry.namespace_name, entry.name, entry.plane});
    const bool found = ask != verdicts_.asks.end();
    return {.mark = found && ask->second->outcome == Outcome::fits ? "+" : "",
            .tone = Tone::dim,
            .state = "suspended",
            .note = found ? ask_note(*ask->second) : ""};
  }

  State running(const PlanSessionEntry& entry) const {
    const auto victim = verdicts_.victims.find({entry.namespace_name, entry.name, entry.plane});
    if (victim != verdicts_.victims.end()) {
      return {.mark = "-",
              .tone = Tone::bad,
              .state = "running",
              .note = fmt::format("leaves for {}, {}", ask_key(*victim->second.ask),
                                  leaves_text(*victim->second.victim, plan_.now))};
    }
    return {.mark = "",
            .tone = Tone::plain,
            .state = "running",
            .note = entry.preemptible ? "preemptible" : fmt::format("stays: {}", entry.why_not)};
  }

  const Plan& plan_;
  const PlanResourceGroup& group_;
  const Verdicts& verdicts_;
  Table table_;
  std::string more_;
};

}  // namespace

std::string session_victims_table(const PlanAsk& ask, const Palette& palette) {
  Table table({{""}, {"VICTIM"}, {"PRIORITY", Align::right}, {"NODE"}, {"WHY"}, {"THEN"}});
  for (std::size_t at = 0; at < ask.victims.size(); ++at) {
    const PlanVictim& victim = ask.victims[at];
    const PlanSessionVictim& fate = ask.session->victims[at];
    table.row({{"-", Tone::bad},
               {key_text({victim.namespace_name, victim.name, victim.plane})},
               {fmt::format("{}", victim.priority)},
               {victim.node},
               {victim.reason},
               {fate_text(fate.fate, fate.resume_after)}});
  }
  return table.text(palette);
}

std::string resource_groups_text(const Plan& plan, const Palette& palette) {
  const Verdicts verdicts(plan);
  std::string text;
  for (const PlanResourceGroup& group : plan.resource_groups) {
    const std::string rule = group.divided ? std::string("divided into partitions")
                                           : fmt::format("priority {} or lower may be preempted",
                                                         group.preemptible_priority);
    text += fmt::format("\n{} ({}; {}; order {})\n",
                        palette.paint("Resource group " + shorten(group.name), Tone::strong),
                        counted(static_cast<std::uint64_t>(group.nodes), "node"), rule,
                        printable(group.preemption_order));
    text += GroupTable(plan, group, verdicts).text(palette);
  }
  return text;
}

// The text of an ask for replicas: scale-ups, then each claim with the ladder of its victims.

namespace {

constexpr std::size_t nodes_max = 5;
constexpr std::size_t claims_max = 20;
constexpr std::size_t net_rows_max = 50;

std::string scale_up_text(const PlanScaleUp& item, const Palette& palette) {
  std::vector<std::string> nodes;
  for (const PlanExpectedNode& node : item.expected) {
    if (nodes.size() == nodes_max) break;
    nodes.push_back(node.replicas == 1 ? shorten(node.node)
                                       : fmt::format("{} x {}", node.replicas, shorten(node.node)));
  }
  std::string text = fmt::format(
      "{} plane {}: {} -> {} replicas, probably on {}", palette.paint("+", Tone::good),
      shorten(item.plane), item.committed_before, item.committed_after, fmt::join(nodes, ", "));
  if (item.expected.size() > nodes.size()) {
    text += fmt::format(" and {} more", item.expected.size() - nodes.size());
  }
  return fmt::format("  {}\n", text);
}

std::string action_text(const PlanReplicaVictim& victim) {
  if (victim.action != ReplicaAction::scale_down) return std::string(choice_name(victim.action));
  return fmt::format("scale-down {} -> {}", *victim.committed_before, *victim.committed_after);
}

std::string victims_table(const PlanReplicas& replicas, const PlanReplicaClaim& claim,
                          const PlanTextOptions& options) {
  if (claim.victims.empty()) return {};
  Table table({{""},
               {"VICTIM"},
               {"CLASS"},
               {"PRIORITY", Align::right},
               {is_gpu(replicas.resource) ? "GPUS" : "FREES", Align::right},
               {"ACTION"},
               {"WHY"}});
  for (const PlanReplicaVictim& victim : claim.victims) {
    const bool goes = victim.action != ReplicaAction::wait;
    table.row({{goes ? "-" : ".", goes ? Tone::bad : Tone::dim},
               {fmt::format("{}/{}", victim.namespace_name, victim.name)},
               {std::string(choice_name(victim.victim_class))},
               {fmt::format("{}", victim.priority)},
               {fmt::format("{}", victim.amount)},
               {action_text(victim)},
               {victim.reason}});
  }
  std::string text = table.text(options.palette);
  const PlanReplicaVictim& first = claim.victims.front();
  if (options.explain && claim.kept) {
    text += fmt::format("  Kept from the previous plan, since {}.\n", to_text(claim.since));
  } else if (options.explain && first.cause_key == "only one") {
    text += "  No other node would do.\n";
  } else if (options.explain) {
    text +=
        paragraph(fmt::format("Compared with {}: {}.", first.cause_alternative, first.cause_key), 2,
                  options.palette);
  }
  return text;
}

std::string counts_text(const PlanReplicas& replicas) {
  std::int64_t found = 0;
  for (const PlanScaleUp& item : replicas.scale_ups) {
    found += item.committed_after - item.committed_before;
  }
  const auto waiting = static_cast<std::int64_t>(replicas.claims.size());
  std::vector<std::string> parts;
  if (found > 0) parts.push_back(fmt::format("{} {} room", found, found == 1 ? "finds" : "find"));
  if (waiting > 0) {
    parts.push_back(fmt::format("{} {} for room", waiting, waiting == 1 ? "waits" : "wait"));
  }
  if (replicas.without > 0) {
    parts.push_back(
        fmt::format("{} {} no room", replicas.without, replicas.without == 1 ? "finds" : "find"));
  }
  if (parts.size() < 2) return {};
  return fmt::format("  {} unmet: {}\n", replicas.unmet, fmt::join(parts, ", "));
}

}  // namespace

std::string replicas_text(const PlanAsk& ask, const PlanTextOptions& options) {
  const PlanReplicas& replicas = *ask.replicas;
  std::string text = counts_text(replicas);
  if (replicas.claims.empty() && ask.outcome != Outcome::fits) {
    text += paragraph(ask.reason, 2, options.palette);
  }
  for (const PlanScaleUp& item : replicas.scale_ups) text += scale_up_text(item, options.palette);
  std::size_t listed = 0;
  for (const PlanReplicaClaim& claim : replicas.claims) {
    if (listed++ == claims_max) break;
    // With all its room free, why it waits is more than the claim says.
    const bool ready = replicas.claims.size() == 1 && claim.free >= claim.needed;
    text += paragraph(ready ? ask.reason
                            : fmt::format("plane {}, node {}: {}", claim.plane, claim.node,
                                          claim_text(replicas, claim)),
                      2, options.palette);
    text += victims_table(replicas, claim, options);
  }
  if (replicas.claims.size() > claims_max) {
    text += fmt::format("  and {} more\n", replicas.claims.size() - claims_max);
  }
  if (options.explain) text += refusals_text(ask);
  return text;
}

std::string net_schedule_text(const Plan& plan, const Palette& palette) {
  if (plan.net_schedule.empty()) return {};
  Table table(
      {{"DEPLOYMENT"}, {"PLANE"}, {"REPLICAS", Align::right}, {"UNMET", Align::right}, {"FOR"}});
  std::size_t listed = 0;
  std::size_t left = 0;
  for (const PlanNetSchedule& net : plan.net_schedule) {
    bool first = true;
    for (const PlanNetScale& scale : net.planes) {
      if (listed == net_rows_max) {
        ++left;
        continue;
      }
      ++listed;
      const bool down = scale.committed_after < scale.committed_before;
      table.row({{fmt::format("{}/{}", net.namespace_name, net.deployment)},
                 {scale.plane},
                 {fmt::format("{} -> {}", scale.committed_before, scale.committed_after),
                  down ? Tone::bad : Tone::good},
                 {first ? fmt::format("{} -> {}", net.unmet_before, net.unmet_after) : ""},
                 {fmt::format("{}", fmt::join(scale.asks, ", "))}});
      first = false;
    }
  }
  std::string text = "\n" + palette.paint("Net schedule", Tone::strong) + "\n";
  text += table.text(palette);
  if (left > 0) text += fmt::format("  and {} more\n", left);
  return text;
}

// The text of a pinned pod beyond its outcome: its reservation, the ladder, the candidates.

namespace {

std::string ladder_table(const PlanReservation& reservation, const Palette& palette) {
  if (reservation.ladder.empty()) return {};
  Table table({{""}, {"CLASSES"}, {"STRATEGY"}, {"RESULT"}});
  for (const PlanLadderStep& step : reservation.ladder) {
    const bool last = &step == &reservation.ladder.back();
    const bool found =
        last && std::ranges::any_of(reservation.candidates, &PlanPinnedCandidate::victim);
    const std::string_view within = step.within_budgets ? " within budgets" : "";
    table.row({{found ? ">" : "", Tone::good},
               {fmt::format("{}", fmt::join(step.classes, " + "))},
               {fmt::format("{}{}", choice_name(step.strategy), within)},
               {step.result}});
  }
  return table.text(palette);
}

std::string candidates_table(const PlanReservation& reservation, const Palette& palette) {
  if (reservation.candidates.empty()) return {};
  Table table({{""},
               {"CANDIDATE"},
               {"CLASS"},
               {"PRIORITY", Align::right},
               {"PODS", Align::right},
               {"DEVIATION", Align::right}});
  for (const PlanPinnedCandidate& candidate : reservation.candidates) {
    table.row({{candidate.victim ? "-" : "", Tone::bad},
               {key_text({candidate.namespace_name, candidate.name, candidate.plane})},
               {candidate.victim_class},
               {fmt::format("{}", candidate.priority)},
               {fmt::format("{}", candidate.pods)},
               {percent_text(candidate.deviation_ppm)}});
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
