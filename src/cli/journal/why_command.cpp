#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/journal/journal_walk.hpp"
#include "cli/journal/why_story.hpp"
#include "cli/plan/plan_command.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/plan/plan_text.hpp"
#include "cli/run.hpp"
#include "cli/text.hpp"
#include "model/object_text.hpp"

namespace makeway::cli {
namespace {

constexpr std::size_t events_shown_max = 40;

/// "; considered too and spared: default/b (priority 20)"
std::string spared_text(const WhyEviction& eviction) {
  if (eviction.spared.empty()) return {};
  return fmt::format("; considered too and spared: {}", few_names(eviction.spared));
}

/// "; the alternative was node n2 (highest-priority: 10 against 20)"
std::string alternative_text(const WhyEviction& eviction) {
  if (eviction.alternative.empty()) return {};
  constexpr std::string_view none = "none: ";
  std::string_view other = eviction.alternative;
  if (!other.starts_with("no ") && !other.starts_with(none)) {
    return fmt::format("; the alternative was {} ({})", other, eviction.key);
  }
  if (other.starts_with(none)) other.remove_prefix(none.size());
  return fmt::format("; {} ({})", other, eviction.key);
}

std::string back_text(const WhyEviction& eviction, const WhyStory& story) {
  if (eviction.back) {
    return fmt::format("; back since {} on {}", to_text(*eviction.back), eviction.back_on);
  }
  if (story.gone()) return "; it did not come back";
  if (eviction.claimed) return {};
  if (story.session() != nullptr) return {};  // How it stands is said next.
  return story.pending().empty() ? "; it is leaving" : "; not back yet";
}

/// "evicted 2026-01-01T00:01:40Z for Pod default/high because ..."
std::string eviction_text(const WhyStory& story) {
  const WhyEviction& last = story.evictions().back();
  const std::size_t count = story.evictions().size();
  return fmt::format("{} {}{} from {} for {} because {}{}{}{}",
                     last.claimed ? "expected to leave" : "evicted",
                     count == 1 ? "" : fmt::format("{} times, the last one at ", grouped(count)),
                     to_text(last.when), few_names(last.nodes), last.ask, last.reason,
                     alternative_text(last), spared_text(last), back_text(last, story));
}

/// Since when the oldest of its pods without a node waits; empty: none does.
std::string pending_pods(const WhyStory& story, const JournalWorld& world) {
  Time since = world.now();
  std::size_t count = 0;
  for (const auto& [name, pod] : story.pods()) {
    if (!pod.node.empty() || pod.deletion || !pod.plane.empty()) continue;
    ++count;
    since = std::min(since, pod.created.value_or(since));
  }
  if (count == 0) return {};
  const std::int64_t seconds = (world.now() - since).ms / 1'000;
  return fmt::format("{} pending since {} ({})", counted(count, "pod"), to_text(since),
                     pending_text(seconds));
}

/// What waits, and what the last decision said.
std::string pending_sentence(const WhyStory& story, const JournalWorld& world) {
  std::string text = pending_pods(story, world);
  if (text.empty()) text = "asks for room";
  for (const AskName& ask : story.pending()) {
    const auto found = world.waiting().find(ask);
    if (found == world.waiting().end()) continue;
    const AskState& state = found->second;
    return text + fmt::format("; {} since {}: {}", choice_name(state.outcome), to_text(state.since),
                              state.reason);
  }
  return text + "; no cycle has decided about it yet";
}

std::string running_sentence(const WhyStory& story) {
  std::vector<std::string> nodes;
  for (const auto& [name, pod] : story.pods()) {
    if (pod.node.empty() || pod.deletion) continue;
    nodes.push_back(pod.plane.empty() ? pod.node
                                      : fmt::format("{}{}{}", pod.node, of_plane, pod.plane));
  }
  if (nodes.empty()) return {};
  std::ranges::sort(nodes);
  const auto [first, last] = std::ranges::unique(nodes);
  const std::size_t count = nodes.size();
  nodes.erase(first, last);
  return fmt::format("{} on {}", count == 1 ? "runs" : counted(count, "pod") + " run",
                     nodes.size() == 1 ? nodes.front() : counted(nodes.size(), "node"));
}

std::string headline(const std::string& subject, const WhyStory& story, const JournalWorld& world) {
  std::vector<std::string> parts;
  if (!story.evictions().empty()) parts.push_back(eviction_text(story));
  if (story.session() != nullptr) parts.push_back(session_state(*story.session()));
  if (story.schedule() != nullptr) parts.push_back(schedule_state(*story.schedule()));
  if (!story.pending().empty()) parts.push_back(pending_sentence(story, world));
  const bool back = !story.evictions().empty() && story.evictions().back().back.has_value();
  if (const std::string runs = running_sentence(story); !runs.empty() && !back) {
    parts.push_back(runs);
  }
  if (story.gone()) parts.push_back(fmt::format("gone since {}", to_text(*story.gone())));
  std::string text = subject + ": ";
  for (std::size_t at = 0; at < parts.size(); ++at) text += (at == 0 ? "" : "; ") + parts[at];
  return text + ".";
}

std::string events_text(const WhyStory& story, std::size_t width) {
  constexpr std::size_t indent = 28;
  std::string text;
  const std::vector<WhyEvent>& events = story.events();
  const std::size_t first = events.size() > events_shown_max ? events.size() - events_shown_max : 0;
  if (first > 0) text += fmt::format("  ... {}\n", counted(first, "earlier event"));
  for (std::size_t at = first; at < events.size(); ++at) {
    std::string line = wrapped(printable(events[at].text), indent, width);
    const std::string when = to_text(events[at].when);
    line.replace(0, when.size() + 2, "  " + when);
    text += line;
  }
  return text;
}

/// The decision about the waiting asks at the end of the journal: which pods hold the room.
std::string decided_now(const WhyStory& story, const JournalWorld& world, const Palette& palette) {
  std::vector<AskName> asks = story.pending();
  if (asks.empty()) return {};
  const std::size_t others = asks.size() - 1;
  asks.resize(1);  // One stands for all: they wait for the same.
  const std::string name = printable(ask_text(asks.front()));
  const CycleRecord cycle{
      .now = world.now(), .due = std::move(asks), .plan_id = {}, .changed = {}, .plan = {}};
  const ReplayRules rules{.configuration = world.configuration(),
                          .preset = world.preset(),
                          .configuration_hash = world.configuration_hash()};
  const LawfulPlan made = decide_again(cycle, world, rules, real_tools(), true);
  if (!made.plan || made.plan->asks.empty()) return {};
  const std::string text = fmt::format("\nDecided again about {}{} as the journal ends:\n\n", name,
                                       others == 0 ? "" : fmt::format(", one of {},", others + 1));
  return text + plan_text(*made.plan, {.explain = true,
                                       .palette = palette,
                                       .cluster = &world.cluster(),
                                       .configuration = &rules.configuration});
}

ExitStatus why_from_journal(const Arguments& arguments, const WrittenObject& subject,
                            Terminal& terminal) {
  const std::string path(arguments.text("journal"));
  WhyStory story(subject.written, real_tools(), subject.plane);
  const JournalWalk walk = walk_story(path, story, [&] { return terminal.out.is_closed(); });
  const bool sound = report_walk(walk, terminal);
  if (walk.parts.empty()) return ExitStatus::failed;
  const std::string name =
      key_text({subject.written.namespace_name, subject.written.name, subject.plane});
  if (!story.is_known()) {
    terminal.error.write(
        fmt::format("error: {} has no pod, group, controller, session or schedule {}; "
                    "`makeway journal list` shows what is "
                    "in it\n",
                    printable(path), shorten(name, 120)));
    return ExitStatus::failed;
  }
  const Palette palette = palette_for_out(terminal, arguments.text("color"));
  const std::string& written = arguments.operands().front();
  if (arguments.text("output") == "json") {
    terminal.out.write(why_json(written, headline(written, story, walk.world), story));
    return sound ? ExitStatus::done : ExitStatus::failed;
  }
  terminal.out.write(paragraph(headline(written, story, walk.world), 0, palette) + "\n" +
                     events_text(story, palette.text_width()) +
                     decided_now(story, walk.world, palette));
  return sound ? ExitStatus::done : ExitStatus::failed;
}

/// Without a journal the present is all there is: the plan for the object.
ExitStatus why_from_files(const Arguments& arguments, Terminal& terminal) {
  std::vector<std::string> words = {"plan",    "--explain",
                                    "--ask",   arguments.operands().front(),
                                    "--color", std::string(arguments.text("color"))};
  for (const std::string_view flag : {"file", "preset", "config", "set", "now", "output"}) {
    for (const std::string& value : arguments.all(flag)) {
      words.push_back(fmt::format("--{}", flag));
      words.push_back(value);
    }
  }
  const Result<Invocation> plan = parse(words);
  if (!plan) return usage_error("why", plan.error().message, terminal);
  const ExitStatus status =
      run_plan_with(plan->arguments, terminal, real_tools(), {.command = "why", .ask_field = {}});
  if (status == ExitStatus::failed) {
    terminal.error.write(
        "makeway: files show only why an object waits; which ask evicted a pod is in a --journal, "
        "and `makeway risk` shows which asks could\n");
  }
  return status;
}

}  // namespace

ExitStatus run_why(const Arguments& arguments, Terminal& terminal) {
  if (arguments.has("journal") == arguments.has("file")) {
    return usage_error("why", "give one of --journal FILE and -f FILE", terminal);
  }
  const std::string& written = arguments.operands().front();
  const Result<WrittenObject> subject = parse_object(written);
  if (!subject) {
    return usage_error("why", fmt::format("'{}': {}", shorten(written), subject.error().message),
                       terminal);
  }
  if (arguments.has("file")) return why_from_files(arguments, terminal);
  for (const std::string_view flag : {"preset", "config", "set", "now"}) {
    if (!arguments.has(flag)) continue;
    return usage_error("why",
                       fmt::format("--{} is for -f; a journal has its own rules and times", flag),
                       terminal);
  }
  return why_from_journal(arguments, *subject, terminal);
}

}  // namespace makeway::cli
