// Sessions in the text of a plan: the victims and what becomes of them, and the resource groups.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "cli/plan/plan_text.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "model/object_text.hpp"
#include "model/session_names.hpp"

namespace makeway::cli {
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
    std::vector<Column> columns = {{.heading = ""},
                                   {.heading = "SESSION"},
                                   {.heading = "TYPE"},
                                   {.heading = "PRIORITY", .align = Align::right}};
    if (group.divided) {
      columns.push_back({.heading = "PARTITION"});
      columns.push_back({.heading = "TIER", .align = Align::right});
    }
    columns.push_back({.heading = "STATE"});
    columns.push_back({.heading = "NODES"});
    columns.push_back({.heading = "NOTE"});
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
    std::vector<Cell> cells = {{.text = std::move(state.mark), .tone = state.tone},
                               {.text = key_text({entry.namespace_name, entry.name, entry.plane})},
                               {.text = std::string(choice_name(entry.type))},
                               {.text = fmt::format("{}", entry.priority)}};
    if (group_.divided) {
      cells.push_back({.text = entry.partition});
      cells.push_back({.text = fmt::format("{}", entry.tier)});
    }
    cells.push_back({.text = std::move(state.state), .tone = state.tone});
    cells.push_back({.text = entry.nodes.empty() ? "-"
                             : entry.nodes.size() > 2
                                 ? counted(entry.nodes.size(), "node")
                                 : fmt::format("{}", fmt::join(entry.nodes, ", "))});
    cells.push_back({.text = std::move(note)});
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
  Table table({{.heading = ""},
               {.heading = "VICTIM"},
               {.heading = "PRIORITY", .align = Align::right},
               {.heading = "NODE"},
               {.heading = "WHY"},
               {.heading = "THEN"}});
  for (std::size_t at = 0; at < ask.victims.size(); ++at) {
    const PlanVictim& victim = ask.victims[at];
    const PlanSessionVictim& fate = ask.session->victims[at];
    table.row({{.text = "-", .tone = Tone::bad},
               {.text = key_text({victim.namespace_name, victim.name, victim.plane})},
               {.text = fmt::format("{}", victim.priority)},
               {.text = victim.node},
               {.text = victim.reason},
               {.text = fate_text(fate.fate, fate.resume_after)}});
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

}  // namespace makeway::cli
