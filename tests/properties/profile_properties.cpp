// Profiles (SPEC section 8, model/profiles.hpp): asks of one cycle are decided, judged and recorded
// by the rules of their own schedulerName.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "codec/configuration_codec.hpp"
#include "codec/dump.hpp"
#include "codec/plan_codec.hpp"
#include "codec/writer.hpp"
#include "judge/check_plan.hpp"
#include "model/profiles.hpp"
#include "policies/decide.hpp"
#include "support/property.hpp"
#include "support/random_configuration.hpp"
#include "support/random_planning.hpp"

namespace makeway::profile_properties {
namespace {

constexpr std::array<std::string_view, 3> schedulers = {"", "batch", "urgent"};

/// Members of one group mostly have one scheduler; where they have not, the first by name counts.
std::vector<Change> random_objects_of_schedulers(Prng& random) {
  std::vector<Change> objects = random_planning(random, random_planning_options(random));
  if (random.chance(20)) let_groups_leave_whole(random, objects);
  const std::uint64_t salt = random.next();
  const bool mixed_groups = random.chance(20);
  for (Change& object : objects) {
    Pod* const pod = std::get_if<Pod>(&object);
    if (pod == nullptr) continue;
    std::uint64_t at = random.next();
    if (!pod->group.empty() && !mixed_groups) {
      at = salt;
      for (const char byte : pod->namespace_name + "/" + pod->group) {
        at = at * 31 + static_cast<unsigned char>(byte);
      }
    }
    pod->scheduler = schedulers[at % schedulers.size()];
  }
  return objects;
}

Configuration random_profiles(Prng& random) {
  Configuration configuration = random_configuration(random);
  add_random_profile(random, "batch", configuration);
  add_random_profile(random, "urgent", configuration);
  if (random.chance(20)) add_random_profile(random, "default-scheduler", configuration);
  std::ranges::sort(configuration.profiles, {}, &Profile::scheduler_name);
  CHECK(!has_errors(validate(configuration)), "random profiles must be valid");
  return configuration;
}

Plan profile_plan(const Cluster& cluster, const Configuration& configuration, bool explain = true,
                  std::vector<AskName> asks = {}) {
  Decision decision = decide(
      cluster, configuration,
      {.now = planning_now, .preset = "random", .asks = std::move(asks), .explain = explain});
  CHECK(decision.plan.has_value(), "the request is a good one");
  return *std::move(decision.plan);
}

std::string text_of_plan(const Plan& plan) {
  std::string text;
  JsonWriter writer(text);
  write_plan(writer, plan);
  return text;
}

/// The rules by which the ask says that it was decided, for all asks.
Configuration rules_for_all(const Configuration& configuration, const PlanAsk& ask) {
  for (const Profile& profile : configuration.profiles) {
    if (profile.scheduler_name == ask.profile) return rules_of(configuration, profile);
  }
  EXPECT_EQ(ask.profile, "");
  Configuration common = configuration;
  common.profiles.clear();
  return common;
}

/// What was decided about one ask; what only later asks add to it is left out.
std::string decision_text(const PlanAsk& ask) {
  std::string text = fmt::format("{} {}:", ask_text(ask_name_of(ask)), choice_name(ask.outcome));
  for (const PodPlacement& place : ask.placements) {
    text += fmt::format(" {}/{}@{}", place.namespace_name, place.name, place.node);
  }
  for (const PlanVictim& victim : ask.victims) {
    text += fmt::format(" -{}/{}", victim.namespace_name, victim.name);
  }
  for (const PodPlacement& leaving : ask.waits_for) {
    text += fmt::format(" ~{}/{}", leaving.namespace_name, leaving.name);
  }
  for (const ScoreTerm& term : ask.score) {
    text += fmt::format(" {}={}", choice_name(term.key), term.value);
  }
  for (const std::string& bound : ask.bounds_reached) text += " !" + bound;
  return text;
}

TEST(ProfileProperties, ProfilesThatAreEqualGiveThePlanOfOneByteForByte) {
  for_each_case("equal profiles", [](Prng& random) {
    const Cluster cluster = cluster_of(random_objects_of_schedulers(random));
    const Configuration one = random_configuration(random);
    Configuration several = one;
    for (const std::string_view name : {"batch", "urgent"}) {
      Profile profile{.scheduler_name = std::string(name), .knobs = {}};
      for (const Knob& knob : knobs()) {
        if (knob.scope != KnobScope::ask || random.chance(50)) continue;
        profile.knobs.push_back({.path = std::string(knob.path), .value = knob_text(one, knob)});
      }
      several.profiles.push_back(std::move(profile));
    }
    const bool explain = random.chance(50);
    EXPECT_EQ(text_of_plan(profile_plan(cluster, one, explain)),
              text_of_plan(profile_plan(cluster, several, explain)));
  });
}

TEST(ProfileProperties, NoPlanOfSeveralProfilesBreaksALaw) {
  std::uint64_t mixed = 0;
  for_each_case("plans of several profiles", [&](Prng& random) {
    const Cluster cluster = cluster_of(random_objects_of_schedulers(random));
    const Configuration configuration = random_profiles(random);
    const Plan plan = profile_plan(cluster, configuration);
    for (const LawBreach& breach : check_plan(cluster, configuration, plan)) {
      ADD_FAILURE() << "law " << breach.law << ", " << breach.ask << ": " << breach.text << "\n"
                    << canonical_text(configuration) << dump(cluster, DumpFormat::yaml);
    }
    const auto differs = [&](const PlanAsk& ask) {
      return ask.profile != plan.asks.front().profile;
    };
    if (std::ranges::any_of(plan.asks, differs)) ++mixed;
  });
  fmt::print("{} plans were made by several rules\n", mixed);
  EXPECT_GT(mixed, 0U);
}

TEST(ProfileProperties, WithAndWithoutExplanationsTheDecisionIsTheSame) {  // AskClass
  for_each_case("classes of asks by profile", [](Prng& random) {
    const Cluster cluster = cluster_of(random_objects_of_schedulers(random));
    const Configuration configuration = random_profiles(random);
    const Plan explained = profile_plan(cluster, configuration, true);
    const Plan quick = profile_plan(cluster, configuration, false);
    ASSERT_EQ(explained.asks.size(), quick.asks.size());
    for (std::size_t at = 0; at < explained.asks.size(); ++at) {
      EXPECT_EQ(explained.asks[at].profile, quick.asks[at].profile);
      EXPECT_EQ(explained.asks[at].placements, quick.asks[at].placements);
      EXPECT_EQ(explained.asks[at].outcome, quick.asks[at].outcome);
    }
  });
}

TEST(ProfileProperties, AnAskWithoutCompetitionIsDecidedAsIfAllHadItsRules) {
  std::uint64_t alone = 0;
  std::uint64_t in_line = 0;
  for_each_case("asks by their own rules", [&](Prng& random) {
    const Cluster cluster = cluster_of(random_objects_of_schedulers(random));
    const Configuration configuration = random_profiles(random);
    const Plan mixed = profile_plan(cluster, configuration);
    if (mixed.asks.empty()) return;
    // The first in line, and those after it as long as they have the same rules.
    const PlanAsk& first = mixed.asks.front();
    const Plan uniform = profile_plan(cluster, rules_for_all(configuration, first));
    for (std::size_t at = 0; at < std::min(mixed.asks.size(), uniform.asks.size()); ++at) {
      const PlanAsk& ask = mixed.asks[at];
      const bool in_the_way =
          ask.profile != first.profile || ask_name_of(ask) != ask_name_of(uniform.asks[at]);
      if (in_the_way) break;
      EXPECT_EQ(decision_text(ask), decision_text(uniform.asks[at]));
      ++in_line;
    }
    // One that asks alone.
    const PlanAsk& picked = mixed.asks[random.below(mixed.asks.size())];
    const bool lone =
        picked.kind == AskKind::pod &&
        cluster.pod(*cluster.find_pod(picked.namespace_name, picked.name)).group.empty();
    if (!lone) return;
    const std::vector<AskName> name = {ask_name_of(picked)};
    Plan own = profile_plan(cluster, configuration, true, name);
    Plan same = profile_plan(cluster, rules_for_all(configuration, picked), true, name);
    ASSERT_EQ(own.asks.size(), 1U);
    EXPECT_EQ(own.asks[0].profile, picked.profile);
    own.asks[0].profile.clear();
    own.configuration_hash = same.configuration_hash;
    EXPECT_EQ(text_of_plan(own), text_of_plan(same));
    ++alone;
  });
  fmt::print("{} asks in line, {} alone\n", in_line, alone);
  EXPECT_GT(alone, 0U);
  EXPECT_GT(in_line, 0U);
}

TEST(ProfileProperties, ADocumentHasAllProfiles) {  // So has the configuration of a journal.
  for_one_case_in(10, "documents of profiles", [](Prng& random) {
    const ConfigurationDocument document{
        .name = "random", .description = {}, .configuration = random_profiles(random)};
    std::string text;
    JsonWriter writer(text, JsonStyle::compact);
    write_configuration(writer, document);
    for (const std::string& each : {text, commented_yaml(document)}) {
      const ConfigurationReading reading = read_configuration_text(each, MissingKnobs::refuse);
      ASSERT_TRUE(reading.document.has_value()) << each << to_text(reading.problems.front());
      EXPECT_EQ(*reading.document, document) << each;
      EXPECT_EQ(configuration_hash(reading.document->configuration),
                configuration_hash(document.configuration));
    }
  });
}

TEST(ProfileProperties, TheHashDistinguishesRules) {
  for_one_case_in(10, "hashes of profiles", [](Prng& random) {
    const Configuration configuration = random_profiles(random);
    Configuration common = configuration;
    common.profiles.clear();
    EXPECT_EQ(configuration_hash(configuration) == configuration_hash(common),
              differing_profiles(configuration).empty());
  });
}

}  // namespace
}  // namespace makeway::profile_properties
