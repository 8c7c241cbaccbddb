#include "cli/plan/plan_compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/plan/ask_kinds.hpp"
#include "cli/plan/plan_text.hpp"
#include "cli/text.hpp"
#include "model/knobs.hpp"
#include "model/object_text.hpp"
#include "model/profiles.hpp"

namespace makeway::cli {
namespace {

constexpr std::size_t asks_shown_max = 20;
constexpr std::size_t victims_shown_max = 10;

using AskKey = std::tuple<AskKind, std::string_view, std::string_view, std::string_view>;

AskKey key_of_ask(const PlanAsk& ask) {
  return {ask.kind, ask.namespace_name, ask.name, ask.plane};
}

/// Calls `visit(victim)` for all that count as victims in totals.
template <class Visit>
void each_victim(const PlanAsk& ask, const Visit& visit) {
  std::ranges::for_each(ask.victims, visit);
  each_replica_victim(ask, [&](const auto& /*claim*/, const PlanReplicaVictim& victim) {
    if (victim.action == ReplicaAction::scale_down) visit(victim);
  });
}

std::set<std::string> victim_names(const PlanAsk& ask) {
  std::set<std::string> names;
  each_victim(ask, [&](const auto& victim) {
    names.insert(key_text({victim.namespace_name, victim.name, victim.plane}));
  });
  return names;
}

/// Both sides of an ask; null: that plan does not have it.
struct AskPair {
  const PlanAsk* first = nullptr;
  const PlanAsk* second = nullptr;

  const PlanAsk& any() const { return first == nullptr ? *second : *first; }
};

bool differs(const AskPair& pair) {
  if (pair.first == nullptr || pair.second == nullptr) return true;
  const PlanAsk& first = *pair.first;
  const PlanAsk& second = *pair.second;
  if (first.outcome != second.outcome || first.placements != second.placements) return true;
  if (first.replicas && second.replicas) {
    return first.replicas->claims != second.replicas->claims ||
           first.replicas->scale_ups != second.replicas->scale_ups;
  }
  return victim_names(first) != victim_names(second);
}

/// In the order of the first plan; those of the second alone follow.
std::vector<AskPair> differing_pairs(const Plan& first, const Plan& second) {
  std::map<AskKey, const PlanAsk*> others;
  for (const PlanAsk& ask : second.asks) others.emplace(key_of_ask(ask), &ask);
  std::vector<AskPair> pairs;
  for (const PlanAsk& ask : first.asks) {
    AskPair pair{.first = &ask};
    if (const auto other = others.extract(key_of_ask(ask)); !other.empty()) {
      pair.second = other.mapped();
    }
    if (differs(pair)) pairs.push_back(pair);
  }
  for (const PlanAsk& ask : second.asks) {
    if (others.contains(key_of_ask(ask))) pairs.push_back({.first = nullptr, .second = &ask});
  }
  return pairs;
}

/// "preempts 2 pods on n1: shop/a (10), shop/b (5)"
std::string side_text(const PlanAsk* ask) {
  if (ask == nullptr) return "does not ask";
  const std::string places = places_of(*ask);
  const std::string on = places.empty() ? std::string{} : fmt::format(" on {}", places);
  switch (ask->outcome) {
    case Outcome::fits: return fmt::format("fits{}", on);
    case Outcome::waits: return fmt::format("waits{}: {}", on, ask->reason);
    case Outcome::infeasible: return fmt::format("is infeasible: {}", ask->reason);
    case Outcome::not_found: return fmt::format("no placement found: {}", ask->reason);
    case Outcome::preempts: break;
  }
  if (ask->replicas) {
    return fmt::format("preempts {}",
                       counted(static_cast<std::uint64_t>(scaled_down(*ask->replicas)), "replica"));
  }
  std::vector<std::string> victims;
  for (const PlanVictim& victim : ask->victims) {
    if (victims.size() == victims_shown_max) break;
    victims.push_back(
        fmt::format("{} ({}{})", key_text({victim.namespace_name, victim.name, victim.plane}),
                    victim.priority, victim.violates_budget ? ", violates a budget" : ""));
  }
  std::string text =
      fmt::format("preempts {}{}: {}", counted(ask->victims.size(), row_of_ask(ask->kind).victim),
                  on, fmt::join(victims, ", "));
  if (ask->victims.size() > victims.size()) {
    text += fmt::format(" and {} more", grouped(ask->victims.size() - victims.size()));
  }
  return text;
}

const PlanAsk* find_ask(const Plan& plan, const AskKey& key) {
  const auto found = std::ranges::find(plan.asks, key, key_of_ask);
  return found == plan.asks.end() ? nullptr : &*found;
}

/// Why one side does not do as the other: the key on which the other's place loses, else the key
/// that decided about a victim which the other spares.
std::string parting_text(const PlanSide& side, const PlanAsk& own, const PlanAsk& other) {
  const std::string places = places_of(other);
  const PlanAsk* const explained =
      side.explained == nullptr ? nullptr : find_ask(*side.explained, key_of_ask(own));
  if (explained != nullptr && places != places_of(own)) {
    for (const PlanAlternative& alternative : explained->explanation.alternatives) {
      if (alternative.node != places) continue;
      return fmt::format("{}: {} loses on {}", side.name, places, alternative.lost_on);
    }
  }
  const std::set<std::string> spared = victim_names(other);
  std::string text;
  const auto explain_first = [&](const auto& victim) {
    const std::string name = key_text({victim.namespace_name, victim.name, victim.plane});
    if (!text.empty() || spared.contains(name)) return;
    text = fmt::format("{}: {} leaves ({}); compared with: {}; decided on: {}", side.name, name,
                       victim.cause_rule, victim.cause_alternative, victim.cause_key);
  };
  each_victim(own, explain_first);
  return text;
}

/// Asks that differ in the same way; the first represents all.
struct PairsAlike {
  AskPair first;
  std::size_t count = 1;
};

/// Replicas of one owner, with the same two outcomes, in the order of the first of them.
std::vector<PairsAlike> alike(const std::vector<AskPair>& pairs, const Parties& parties) {
  using Key = std::tuple<Party, std::int32_t, int, int>;
  const auto outcome = [](const PlanAsk* ask) {
    return ask == nullptr ? -1 : static_cast<int>(ask->outcome);
  };
  std::map<Key, std::size_t> positions;
  std::vector<PairsAlike> result;
  for (const AskPair& pair : pairs) {
    Party party = parties.of(pair.any());
    if (!party.is_pod()) {
      const auto [at, is_new] = positions.try_emplace(
          Key{std::move(party), pair.any().priority, outcome(pair.first), outcome(pair.second)},
          result.size());
      if (!is_new) {
        ++result[at->second].count;
        continue;
      }
    }
    result.push_back({.first = pair});
  }
  return result;
}

std::string pair_text(const PairsAlike& pairs, const PlanSide& first, const PlanSide& second,
                      const Parties& parties, const Palette& palette) {
  const AskPair& pair = pairs.first;
  const PlanAsk& any = pair.any();
  std::string name =
      object_text(choice_name(any.kind), shorten(any.namespace_name), shorten(any.name, 96));
  if (pairs.count > 1) {
    name = fmt::format("{} of {}, for example {}", counted(pairs.count, "pod"),
                       shorten(party_text(parties.of(any)), 96), name);
  }
  std::string text =
      fmt::format("{} (priority {})\n", palette.paint(name, Tone::strong), any.priority);
  const auto line = [&](const PlanSide& side, const PlanAsk* ask) {
    text += paragraph(fmt::format("{}: {}", side.name, side_text(ask)), 2, palette);
  };
  line(first, pair.first);
  line(second, pair.second);
  // Of different outcomes the reasons say it all.
  const bool both = pair.first != nullptr && pair.second != nullptr;
  if (!both || pair.first->outcome != pair.second->outcome) return text;
  for (const std::string& parting : {parting_text(first, *pair.first, *pair.second),
                                     parting_text(second, *pair.second, *pair.first)}) {
    if (!parting.empty()) text += paragraph(parting + ".", 2, palette);
  }
  return text;
}

/// The rules of pods with this scheduler.
Configuration rules_for(const PlanSide& side, std::string_view scheduler) {
  const std::vector<Profile>& profiles = side.configuration.profiles;
  const auto found = std::ranges::find(profiles, scheduler, &Profile::scheduler_name);
  return rules_of(side.configuration, found == profiles.end() ? Profile{} : *found);
}

/// Knobs that differ between profiles only, and not between the configurations themselves.
void add_profile_knobs(const PlanSide& first, const PlanSide& second,
                       std::vector<std::string>& paths) {
  std::set<std::string> names;
  for (const PlanSide* const side : {&first, &second}) {
    for (const Profile& each : side->configuration.profiles) names.insert(each.scheduler_name);
  }
  const std::set<std::string> known(paths.begin(), paths.end());
  for (const std::string& name : names) {
    const Configuration one = rules_for(first, name);
    const Configuration other = rules_for(second, name);
    for (const Knob& knob : knobs()) {
      if (known.contains(std::string(knob.path))) continue;
      if (knob_text(one, knob) == knob_text(other, knob)) continue;
      paths.push_back(fmt::format("profiles.{}.{}", name, knob.path));
    }
  }
}

/// "workload.evictFor, ..."
std::string knobs_text(const PlanSide& first, const PlanSide& second, const Palette& palette) {
  std::vector<std::string> paths;
  for (const Knob& knob : knobs()) {
    if (knob_text(first.configuration, knob) != knob_text(second.configuration, knob)) {
      paths.emplace_back(knob.path);
    }
  }
  add_profile_knobs(first, second, paths);
  if (paths.empty()) return "The two configurations are the same.\n";
  return wrapped(
      fmt::format("Knobs that differ (`makeway config explain KNOB`): {}.", fmt::join(paths, ", ")),
      0, palette.text_width());
}

std::set<std::string> all_victims(const Plan& plan) {
  std::set<std::string> names;
  for (const PlanAsk& ask : plan.asks) names.merge(victim_names(ask));
  return names;
}

/// Victims of one of the plans only, for whichever ask.
std::string victims_only_text(const PlanSide& side, const PlanSide& other, const Palette& palette) {
  std::vector<std::string> only;
  std::ranges::set_difference(all_victims(side.plan), all_victims(other.plan),
                              std::back_inserter(only));
  if (only.empty()) return {};
  const std::size_t count = only.size();
  return paragraph(fmt::format("Victims of {} alone: {}: {}.", side.name, grouped(count),
                               few_names(std::move(only))),
                   0, palette);
}

}  // namespace

std::size_t differing_asks(const Plan& first, const Plan& second) {
  return differing_pairs(first, second).size();
}

std::string comparison_text(const PlanSide& first, const PlanSide& second, const Parties& parties,
                            const Palette& palette) {
  const std::vector<AskPair> pairs = differing_pairs(first.plan, second.plan);
  const auto only_in_second =
      static_cast<std::size_t>(std::ranges::count(pairs, nullptr, &AskPair::first));
  const std::size_t asks = first.plan.asks.size() + only_in_second;
  std::string text = palette.paint(
      fmt::format("{} and {}: {} of {} {}.", printable(first.name), printable(second.name),
                  pairs.empty() ? std::string("none") : grouped(pairs.size()), counted(asks, "ask"),
                  pairs.size() <= 1 ? "differs" : "differ"),
      Tone::strong);
  text += "\n";
  const std::size_t width = std::max(first.name.size(), second.name.size());
  for (const PlanSide* const side : {&first, &second}) {
    text += fmt::format(
        "  {:{}}  {}\n", printable(side->name), width,
        side->plan.asks.empty() ? std::string("Nothing is pending.") : totals_text(side->plan));
  }
  text += victims_only_text(first, second, palette) + victims_only_text(second, first, palette);
  const std::vector<PairsAlike> listed = alike(pairs, parties);
  for (std::size_t at = 0; at < std::min(listed.size(), asks_shown_max); ++at) {
    text += "\n" + pair_text(listed[at], first, second, parties, palette);
  }
  if (listed.size() > asks_shown_max) {
    text += fmt::format("\n... and {} that differ\n",
                        counted(listed.size() - asks_shown_max, "more ask"));
  }
  return text + "\n" + knobs_text(first, second, palette);
}

}  // namespace makeway::cli
