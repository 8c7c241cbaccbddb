#include "cli/apply/apply_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "cli/command.hpp"
#include "cli/plan/ask_kinds.hpp"
#include "cli/plan/ask_name.hpp"
#include "cli/text.hpp"

namespace makeway::cli {
namespace {

constexpr std::string_view plan_live =
    "make the plan from the live cluster: makeway plan --kubeconfig FILE -o json";

AskName name_of(const PlannedAsk& ask) {
  return {.kind = ask.kind, .namespace_name = ask.namespace_name, .name = ask.name};
}

std::unexpected<Error> wrong_only(std::string_view written, std::string_view why) {
  return wrong_usage(fmt::format("--only '{}': {}", shorten(written), why));
}

bool is_meant(const WrittenAsk& written, const PlannedAsk& ask) {
  return (!written.kind || *written.kind == ask.kind) &&
         written.namespace_name == ask.namespace_name && written.name == ask.name;
}

/// The asks that are wanted, by position.
Result<std::set<std::size_t>> wanted_asks(const PlanDocument& document,
                                          const std::vector<std::string>& only) {
  std::set<std::size_t> wanted;
  for (const std::string& each : only) {
    const Result<WrittenAsk> written = parse_ask(each);
    if (!written) return wrong_only(each, written.error().message);
    bool is_found = false;
    for (std::size_t at = 0; at < document.asks.size(); ++at) {
      if (!written->workload.empty() || !is_meant(*written, document.asks[at])) continue;
      is_found = true;
      wanted.insert(at);
      if (!document.asks[at].places.empty()) continue;
      return wrong_only(each, fmt::format("the plan has no place for it ({})",
                                          choice_name(document.asks[at].outcome)));
    }
    if (is_found) continue;
    std::vector<std::string> texts;
    texts.reserve(document.asks.size());
    for (const PlannedAsk& ask : document.asks) {
      texts.push_back(fmt::format("{}/{}", ask.namespace_name, ask.name));
    }
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    return wrong_only(each, "the plan has no such ask" + did_you_mean(views, each));
  }
  return wanted;
}

/// Why nothing can be written about a pod that the plan names; empty: it can.
std::string why_not(const PlannedPod& pod, std::string& remedy) {
  if (!pod.plane.empty()) {
    remedy = "apply is for one cluster; carry out the rest of the plan with --only";
    return fmt::format("pod {}/{} is in plane {}", pod.namespace_name, pod.name, pod.plane);
  }
  if (pod.uid.empty()) {
    remedy = plan_live;
    return fmt::format(
        "the plan has no uid of pod {}/{}, so another pod of that name could be mistaken for it",
        pod.namespace_name, pod.name);
  }
  return {};
}

/// Without a reason the ask can be tried.
RefusedAsk refusal_of(const PlannedAsk& ask) {
  RefusedAsk refused{.ask = ask_text(name_of(ask)), .reason = {}, .remedy = {}};
  if (const std::string_view actions = row_of_ask(ask.kind).own_actions; !actions.empty()) {
    refused.reason = fmt::format("{} is not carried out by `makeway apply`", actions);
    refused.remedy = "carry out the rest of the plan with --only";
    return refused;
  }
  if (!ask.made_from.empty()) {
    refused.reason =
        fmt::format("its pod was made from {} for this plan and is not there yet", ask.made_from);
    refused.remedy = "submit it, and plan again";
    return refused;
  }
  for (const PlannedPod& pod : ask.places) {
    if (refused.reason.empty()) refused.reason = why_not(pod, refused.remedy);
  }
  for (const PlannedPod& pod : ask.victims) {
    if (refused.reason.empty()) refused.reason = why_not(pod, refused.remedy);
  }
  return refused;
}

ApprovedPod approved(const PlannedPod& pod) {
  return {.namespace_name = pod.namespace_name, .name = pod.name, .uid = pod.uid, .node = pod.node};
}

}  // namespace

Result<ChosenAsks> choose_asks(const PlanDocument& document, const std::vector<std::string>& only) {
  const Result<std::set<std::size_t>> wanted = wanted_asks(document, only);
  if (!wanted) return std::unexpected(wanted.error());
  ChosenAsks chosen;
  for (std::size_t at = 0; at < document.asks.size(); ++at) {
    const PlannedAsk& ask = document.asks[at];
    const bool is_of_pods = ask.kind == AskKind::pod || ask.kind == AskKind::pod_group;
    if (is_of_pods && ask.places.empty()) {
      ++chosen.without_place;
      continue;
    }
    if (!only.empty() && !wanted->contains(at)) {
      ++chosen.not_wanted;
      continue;
    }
    if (RefusedAsk refused = refusal_of(ask); !refused.reason.empty()) {
      chosen.refused.push_back(std::move(refused));
      continue;
    }
    ApprovedAsk& own = chosen.asks.emplace_back();
    own.name = name_of(ask);
    for (const PlannedPod& pod : ask.places) own.places.push_back(approved(pod));
    for (const PlannedPod& pod : ask.victims) own.victims.push_back(approved(pod));
    for (const auto* const pods : {&ask.places, &ask.victims}) {
      for (const PlannedPod& pod : *pods) {
        if (!pod.version.empty()) chosen.versions[{pod.namespace_name, pod.name}] = pod.version;
      }
    }
  }
  return chosen;
}

namespace {

constexpr std::size_t pods_shown_max = 10;
constexpr std::size_t changes_shown_max = 40;

/// "a/x, a/y and 3 others"
std::string list_text(const std::vector<std::string>& names) {
  std::string text;
  const std::size_t listed = std::min(names.size(), pods_shown_max);
  for (std::size_t at = 0; at < listed; ++at) text += (at == 0 ? "" : ", ") + names[at];
  if (names.size() > listed)
    text += fmt::format(" and {}", counted(names.size() - listed, "other"));
  return text;
}

/// "n1" of a pod, "n1, n2 and 3 others" of a group.
std::string places_text(const std::vector<ApprovedPod>& places) {
  std::set<std::string> nodes;
  for (const ApprovedPod& place : places) nodes.insert(place.node);
  return list_text({nodes.begin(), nodes.end()});
}

std::string marked(std::string_view mark, Tone tone, const std::string& text,
                   const Palette& palette) {
  return fmt::format("{} {}\n", palette.paint(mark, tone), text);
}

/// What changed about a victim; empty: nothing to report.
std::string change_of(const ApprovedPod& victim, const Cluster& cluster, const MovedVersions& moved,
                      const std::set<std::string>& still_needed) {
  const std::string name = fmt::format("{}/{}", victim.namespace_name, victim.name);
  switch (fate_of(cluster, victim)) {
    case PodFate::gone: return fmt::format("victim {} is gone", name);
    case PodFate::leaving: return fmt::format("victim {} is already leaving", name);
    case PodFate::replaced:
      return fmt::format("victim {} was replaced by another pod of the same name, which stays",
                         name);
    case PodFate::pending:
    case PodFate::runs_elsewhere:
    case PodFate::runs_there: break;
  }
  const bool is_needed = still_needed.contains(victim.uid);
  if (!is_needed)
    return fmt::format("victim {} stays: no ask of the plan needs its room now", name);
  const auto found = moved.find({victim.namespace_name, victim.name});
  if (found == moved.end()) return {};
  return fmt::format("victim {} has changed (version {}, now {}) and is still a victim", name,
                     found->second.first, found->second.second);
}

void add_places(const ApprovedAsk& ask, const MovedVersions& moved, bool is_dropped,
                std::vector<std::string>& changes) {
  for (const ApprovedPod& place : ask.places) {
    const auto found = moved.find({place.namespace_name, place.name});
    if (found == moved.end()) continue;
    changes.push_back(fmt::format("pod {}/{} has changed (version {}, now {}){}",
                                  place.namespace_name, place.name, found->second.first,
                                  found->second.second,
                                  is_dropped ? "" : " and still goes to " + place.node));
  }
}

std::string ask_line(const ApprovedAsk& ask, const PlanAsk& now, const Palette& palette) {
  const std::string name = ask_text(ask.name);
  const std::string where = places_text(ask.places);
  if (now.outcome == Outcome::fits) {
    return marked("+", Tone::good, fmt::format("{}: bind to {}", name, where), palette);
  }
  if (now.victims.empty()) {
    return marked("*", Tone::warning,
                  fmt::format("{}: wait, then bind to {}: {}", name, where, now.reason), palette);
  }
  std::string text = marked(
      "~", Tone::warning,
      fmt::format("{}: evict {}, then bind to {}", name, counted(now.victims.size(), "pod"), where),
      palette);
  for (const PlanVictim& victim : now.victims) {
    text += fmt::format("  {} {}/{} on {}: {}\n", palette.paint("-", Tone::bad),
                        victim.namespace_name, victim.name, victim.node, victim.reason);
  }
  return text;
}

std::string refused_lines(const ChosenAsks& chosen, const Palette& palette) {
  std::string text;
  for (const RefusedAsk& refused : chosen.refused) {
    text +=
        marked("!", Tone::bad,
               fmt::format("{}: not applied: {}; {}", refused.ask, refused.reason, refused.remedy),
               palette);
  }
  return text;
}

}  // namespace

std::string plan_line(const PlanDocument& document, Time now) {
  const Duration whole_seconds{(now - document.now).ms / 1'000 * 1'000};
  const std::string age =
      whole_seconds.ms > 0 ? fmt::format(", {} old", to_text(whole_seconds)) : std::string{};
  return fmt::format("Plan {} of {}{}, configuration {}.\n", document.id, to_text(document.now),
                     age, document.preset);
}

std::string changes_text(const ChosenAsks& chosen, const Cluster& cluster,
                         const MovedVersions& moved, const ApplyPreview& preview) {
  std::set<std::string> needed;
  for (const std::optional<PlanAsk>& ask : preview.asks) {
    if (!ask) continue;
    for (const PlanVictim& victim : ask->victims) needed.insert(victim.uid);
  }
  std::vector<std::string> changes;
  for (std::size_t at = 0; at < chosen.asks.size(); ++at) {
    const bool is_dropped = preview.dropped.contains(at);
    add_places(chosen.asks[at], moved, is_dropped, changes);
    for (const ApprovedPod& victim : chosen.asks[at].victims) {
      std::string change = change_of(victim, cluster, moved, needed);
      if (!change.empty()) changes.push_back(std::move(change));
    }
  }
  if (changes.empty()) return {};
  std::string text = "Since then:\n";
  const std::size_t listed = std::min(changes.size(), changes_shown_max);
  for (std::size_t at = 0; at < listed; ++at) text += fmt::format("  {}\n", changes[at]);
  if (changes.size() > listed) {
    text += fmt::format("  and {} more\n", counted(changes.size() - listed, "change"));
  }
  return text;
}

std::string preview_text(const ChosenAsks& chosen, const ApplyPreview& preview,
                         const Palette& palette) {
  std::string text;
  for (std::size_t at = 0; at < chosen.asks.size(); ++at) {
    const ApprovedAsk& ask = chosen.asks[at];
    const std::string name = ask_text(ask.name);
    if (preview.done.contains(at)) {
      text += marked("=", Tone::dim,
                     fmt::format("{}: runs on {} already", name, places_text(ask.places)), palette);
    } else if (const auto dropped = preview.dropped.find(at); dropped != preview.dropped.end()) {
      text += marked("!", Tone::bad, fmt::format("{}: not applied: {}", name, dropped->second),
                     palette);
    } else if (preview.asks[at]) {
      text += ask_line(ask, *preview.asks[at], palette);
    } else {
      text += marked("*", Tone::warning,
                     fmt::format("{}: decided when its group has a place", name), palette);
    }
  }
  text += refused_lines(chosen, palette);
  if (chosen.without_place > 0) {
    text +=
        fmt::format("The plan itself has no place for {}.\n", counted(chosen.without_place, "ask"));
  }
  if (chosen.not_wanted > 0) {
    text += fmt::format("{} left out by --only.\n", counted(chosen.not_wanted, "ask"));
  }
  return text;
}

std::string action_counts_text(const ApplyPreview& preview) {
  return fmt::format("{}, {}", counted(preview.evictions, "eviction"),
                     counted(preview.binds, "bind"));
}

std::string event_line(const ApplyEvent& event, const ApplyProgress& progress,
                       const Palette& palette) {
  const ApprovedAsk& ask = progress.asks()[event.ask];
  const std::string name = ask_text(ask.name);
  switch (event.kind) {
    case ApplyEvent::Kind::evicts:
      if (event.pods.empty()) return {};
      return marked("~", Tone::warning,
                    fmt::format("{}: nominated to {}; evicted: {}", name, places_text(ask.places),
                                list_text(event.pods)),
                    palette);
    case ApplyEvent::Kind::waits:
      return marked("*", Tone::warning, fmt::format("{}: {}", name, event.reason), palette);
    case ApplyEvent::Kind::binds:
      return marked("+", Tone::good,
                    fmt::format("{}: binding to {}", name, places_text(ask.places)), palette);
    case ApplyEvent::Kind::held_up:
      return marked("*", Tone::warning, fmt::format("{}: {}", name, event.reason), palette);
    case ApplyEvent::Kind::done:
      return marked("=", Tone::good,
                    fmt::format("{}: done, bound to {}", name, places_text(ask.places)), palette);
    case ApplyEvent::Kind::dropped: break;
  }
  return marked("!", Tone::bad, fmt::format("{}: given up: {}", name, event.reason), palette);
}

std::string summary_text(const ChosenAsks& chosen, const ApplyProgress& progress,
                         const Palette& palette) {
  std::size_t done = 0;
  std::string left;
  for (std::size_t at = 0; at < chosen.asks.size(); ++at) {
    const ApplyState& state = progress.states()[at];
    if (state.stage == ApplyStage::done) {
      ++done;
      continue;
    }
    std::string line = fmt::format("{}: {}: {}", ask_text(chosen.asks[at].name),
                                   state.stage == ApplyStage::open ? "not finished" : "not applied",
                                   state.reason.empty() ? "it was not begun" : state.reason);
    if (!state.evicted.empty()) {
      line += fmt::format("; already evicted for it: {}",
                          list_text({state.evicted.begin(), state.evicted.end()}));
    }
    left += marked("!", Tone::bad, line, palette);
  }
  left += refused_lines(chosen, palette);
  const std::size_t all = chosen.asks.size() + chosen.refused.size();
  return fmt::format("{}Applied {} of {}.\n", left, done, counted(all, "ask"));
}

}  // namespace makeway::cli
