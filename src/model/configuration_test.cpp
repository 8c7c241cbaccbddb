// The table of knobs against the struct, against SPEC, and against the documentation.
#include "model/configuration.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "base/prng.hpp"
#include "model/compatibility.hpp"
#include "model/knobs.hpp"
#include "support/property.hpp"

namespace makeway {
namespace {

/// A text that the knob accepts, other than its default where the type has another value.
std::string random_text(const Knob& knob, Prng& random) {
  switch (knob.type) {
    case KnobType::boolean: return random.chance(50) ? "true" : "false";
    case KnobType::integer: return fmt::format("{}", random.between(knob.minimum, knob.maximum));
    case KnobType::duration: return to_text(Duration{random.between(0, 100'000'000)});
    case KnobType::choice: return std::string(knob.choices[random.below(knob.choices.size())]);
    case KnobType::choice_list: {
      std::vector<std::string> names(knob.choices.begin(), knob.choices.end());
      random.shuffle(names);
      names.resize(1 + random.below(names.size()));
      return to_text(KnobValue(names));
    }
    case KnobType::text_list: return fmt::format("kube-{},label:a/b=c", random.below(100));
    case KnobType::text: return fmt::format("example.com/{}", random.below(100));
  }
  return {};
}

TEST(Knobs, AreDocumentedUniqueAndGrouped) {
  constexpr std::array<std::string_view, 11> sections = {
      "",        "protection",    "budgets", "engine", "workload", "queue",
      "replica", "required_node", "session", "trust",  "live"};
  std::set<std::string_view> paths;
  std::size_t section = 0;
  for (const Knob& knob : knobs()) {
    SCOPED_TRACE(knob.path);
    EXPECT_TRUE(paths.insert(knob.path).second);
    EXPECT_EQ(std::ranges::count(knob.path, '.'), knob.path == compatibility_path ? 0 : 1);
    while (section < sections.size() && sections[section] != knob.section()) ++section;
    ASSERT_TRUE(section < sections.size()) << "out of order";
    EXPECT_TRUE(std::ranges::all_of(knob.name(),
                                    [](unsigned char byte) { return std::isalnum(byte) != 0; }));
    EXPECT_NE(knob.name(), "preset");
    EXPECT_TRUE(knob.documentation.ends_with('.'));
    EXPECT_FALSE(knob.documentation.contains('|')) << "would break the table of the document";
    EXPECT_FALSE(knob.spec.empty());
    EXPECT_EQ(find_knob(knob.path), &knob);
  }
}

TEST(Knobs, KeepEveryTextTheyAccept) {
  for_each_case("knobs keep every text they accept", [](Prng& random) {
    Configuration configuration;
    for (const Knob& knob : knobs()) {
      SCOPED_TRACE(knob.path);
      const std::string text = random_text(knob, random);
      ASSERT_FALSE(set_knob(configuration, knob.path, text).has_value()) << text;
      EXPECT_EQ(knob_text(configuration, knob), text);
    }
  });
}

TEST(Knobs, ChangeTheirOwnFieldOnly) {
  Prng random(7);
  for (const Knob& knob : knobs()) {
    SCOPED_TRACE(knob.path);
    Configuration configuration;
    std::string text = knob_text(configuration, knob);
    while (text == knob_text(Configuration{}, knob)) text = random_text(knob, random);
    ASSERT_FALSE(set_knob(configuration, knob.path, text).has_value());
    EXPECT_NE(configuration, Configuration{});
    for (const Knob& other : knobs()) {
      if (&other == &knob) continue;
      EXPECT_EQ(knob_text(configuration, other), knob_text(Configuration{}, other)) << other.path;
    }
  }
}

struct Named {
  std::string_view path;
  std::string_view standard;
};

TEST(Knobs, CoverEveryNameOfTheSpecification) {
  // Copied by hand from SPEC.md, section by section; the last part of the path is SPEC's spelling.
  constexpr Named named[] = {
      {"engine.leaveTimeout", "1m"},
      {"compatibility", "makeway"},
      {"protection.minimumRuntime", "0s"},
      {"protection.protectSystemCritical", "true"},
      {"protection.preemptOtherSchedulers", "false"},
      {"protection.namespaces", ""},
      {"live.causeNames", "false"},
      {"live.maxEvictionsPerMinute", "600"},
      {"live.evictAgainWindow", "1m"},
      {"live.capacityGrace", "5m"},
      {"live.gangBindTimeout", "1m"},
      {"live.gangRollback", "none"},
      {"budgets.mode", "best-effort"},
      {"engine.preemptionDelay", "0s"},
      {"workload.evictFor", "each"},
      {"workload.scoreKeys",
       "members-not-placed,budget-violations,highest-priority,secondary-victims,stopped-pods,"
       "victims,priority-sum,lost-work,groups-below-minimum,disrupted-groups,oldest-victim,"
       "grouped-victims,largest-victim,victims-age"},
      {"engine.cascadeDepth", "1"},
      {"queue.division", "max-min"},
      {"replica.forceDeleteAnyPriority", "false"},
      {"replica.forceDeleteAfter", "grace-period"},
      {"replica.surplusTimeout", "5m"},
      {"required_node.preemptionStartDelay", "0s"},
      {"required_node.preemptionStartDelayLive", "5s"},
      {"required_node.allowEqualPriority", "true"},
      {"required_node.victimClasses", "regular,owner,opted-out"},
      {"required_node.victimSelection", "single,multiple"},
      {"required_node.deviationPercent", "10"},
      {"required_node.maxVictims", "5"},
      {"session.preemptiblePriority", "5"},
      {"session.preemptionOrder", "oldest"},
      {"session.defaultPriority", "10"},
      {"session.backoffFirst", "30s"},
      {"session.backoffMax", "15m"},
      {"session.maxPreemptions", "0"},
      {"trust.mode", "files"},
      {"trust.namespaces", "kube-system"},
      {"trust.outsideQueues", "everyone"},
  };
  for (const Named& name : named) {
    const Knob* knob = find_knob(name.path);
    ASSERT_NE(knob, nullptr) << name.path;
    EXPECT_EQ(knob_text(Configuration{}, *knob), name.standard) << name.path;
  }
}

TEST(Knobs, SuggestTheNearestPath) {
  EXPECT_EQ(nearest_path("workload.evictfor"), "workload.evictFor");
  EXPECT_EQ(nearest_path("workload.evictsFor"), "workload.evictFor");
  EXPECT_EQ(nearest_path("maxVictims"), "required_node.maxVictims");
  EXPECT_EQ(nearest_path("requirednode.maxVictim"), "required_node.maxVictims");
  EXPECT_EQ(nearest_path("zzzzzzzzzzzzzzzzzzzz"), "");
  EXPECT_EQ(nearest_path(std::string(100'000, 'x')), "");

  Configuration configuration;
  const auto problem = set_knob(configuration, "session.backofMax", "1h");
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(to_text(*problem),
            "session.backofMax \"1h\": there is no such knob; did you mean session.backoffMax?");
  EXPECT_EQ(configuration, Configuration{});
}

struct Refused {
  std::string_view assignment;
  std::string_view message;
};

TEST(Knobs, RefuseWhatTheyCannotMean) {
  constexpr Refused cases[] = {
      {"workload.evictFor=most", "expected one of each, minimum, all"},
      {"workload.evictFor=", "expected one of each, minimum, all"},
      {"queue.enabled=yes", "expected true or false"},
      {"required_node.maxVictims=0", "expected an integer between 1 and 1000000"},
      {"required_node.maxVictims=5x", "expected an integer between 1 and 1000000"},
      {"required_node.maxVictims=99999999999999999999", "expected an integer between"},
      {"session.backoffMax=-1s", "expected a duration"},
      {"session.backoffMax=soon", "expected a duration"},
      {"compatibility=kube-1.36", "expected one of makeway, kube-1.37"},
      {"workload.scoreKeys=strange", "'strange' is not possible"},
      {"workload.scoreKeys=victims,lost-work,victims", "'victims' comes twice"},
      {"workload.scoreKeys=", "the list must not be empty"},
      {"workload.scoreKeys=victims,,age", "'' is not possible"},
      {"replica.resource=two words", "expected a text without blanks"},
      {"workload.evictFor", "expected path=value"},
      {"=all", "there is no such knob"},
      {"preset=kube-1.37", "there is no such knob"},
  };
  for (const Refused& refused : cases) {
    SCOPED_TRACE(refused.assignment);
    Configuration configuration;
    const auto problem = apply_override(configuration, refused.assignment);
    ASSERT_TRUE(problem.has_value());
    EXPECT_TRUE(problem->message.starts_with(refused.message)) << problem->message;
    EXPECT_FALSE(problem->remedy.empty());
    EXPECT_EQ(configuration, Configuration{});
  }
}

TEST(Knobs, AcceptTheOverridesOfTheCommandLine) {
  Configuration configuration;
  for (const std::string_view assignment :
       {"budgets=strict", "workload.evictFor=all", "compatibility=kube-1.37", "trust=cluster",
        "protection.namespaces=kube-system,monitoring", "engine.preemptionDelay=90s",
        "required_node.victimClasses=regular,label:tier=cache,owner"}) {
    const auto problem = apply_override(configuration, assignment);
    EXPECT_FALSE(problem.has_value()) << assignment;
  }
  EXPECT_EQ(configuration.budgets.mode, BudgetMode::strict);
  EXPECT_EQ(configuration.workload.evict_for, EvictFor::all);
  EXPECT_EQ(configuration.compatibility, Compatibility::kube_1_37);
  EXPECT_EQ(configuration.engine.laws_waived,
            (std::vector{WaivedLaw::law_6, WaivedLaw::law_4_gangs}));
  EXPECT_EQ(configuration.trust.mode, TrustMode::cluster);
  EXPECT_EQ(configuration.protection.namespaces,
            (std::vector<std::string>{"kube-system", "monitoring"}));
  EXPECT_EQ(configuration.engine.preemption_delay, Duration{90'000});
  EXPECT_EQ(configuration.required_node.victim_classes[1], "label:tier=cache");
  EXPECT_TRUE(validate(configuration).empty());
}

/// The paths that `validate` complains about after the overrides.
std::vector<std::string> complaints(std::initializer_list<std::string_view> assignments) {
  Configuration configuration;
  for (const std::string_view assignment : assignments) {
    const auto problem = apply_override(configuration, assignment);
    EXPECT_FALSE(problem.has_value()) << assignment;
  }
  std::vector<std::string> fields;
  for (const Problem& problem : validate(configuration)) fields.push_back(problem.field);
  return fields;
}

TEST(Validate, TiesKnobsTogether) {
  using Fields = std::vector<std::string>;
  EXPECT_EQ(complaints({}), Fields{});
  EXPECT_EQ(complaints({"session.backoffMax=29s"}), Fields{"session.backoffMax"});
  EXPECT_EQ(complaints({"session.backoffMax=30s"}), Fields{});
  EXPECT_EQ(complaints({"live.capacityGrace=61m"}), Fields{"live.capacityGrace"});
  EXPECT_EQ(complaints({"live.capacityGrace=0s"}), Fields{});
  EXPECT_EQ(complaints({"workload.preemptionPriorityFrom=10", "workload.preemptionPriorityTo=9"}),
            Fields{"workload.preemptionPriorityFrom"});
  EXPECT_EQ(complaints({"workload.scoreKeys=priority-sum,raw-priority-sum"}),
            Fields{"workload.scoreKeys"});
  EXPECT_EQ(complaints({"required_node.victimClasses=regular,strange"}),
            Fields{"required_node.victimClasses"});
  EXPECT_EQ(complaints({"required_node.victimClasses=regular,label:=x"}),
            Fields{"required_node.victimClasses"});
}

TEST(Validate, FindsValuesThatCodeWroteOutOfRange) {
  Configuration configuration;
  configuration.required_node.max_victims = 0;
  configuration.engine.leave_timeout = Duration{-1};
  configuration.workload.score_keys = {ScoreKey::victims, ScoreKey::victims};
  const Problems problems = validate(configuration);
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_EQ(problems[0].field, "engine.leaveTimeout");
  EXPECT_EQ(problems[1].field, "workload.scoreKeys");
  EXPECT_EQ(problems[2].field, "required_node.maxVictims");
}

TEST(Validate, KeepsALiveRunLawful) {
  for (const std::string_view law : choice_names<WaivedLaw>) {
    SCOPED_TRACE(law);
    Configuration configuration;
    const Knob& rule = *find_rule("engine.lawsWaived");
    rule.put(configuration, *parse_value(rule, law));
    const bool needed =
        law == "1" || law == "1-claims" || law == "2" || law == "3" || law == "5" || law == "8";
    EXPECT_EQ(is_needed_live(configuration.engine.laws_waived.front()), needed);
    EXPECT_FALSE(has_errors(validate(configuration)));
  }
}

TEST(ConfigurationHash, IsStableAndSeesEveryKnob) {
  const std::string standard = configuration_hash({});
  EXPECT_EQ(standard.size(), 16U);
  EXPECT_EQ(standard.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(standard, configuration_hash(Configuration{}));
  std::set<std::string> hashes = {standard};
  Prng random(3);
  for (const Knob& knob : knobs()) {
    Configuration configuration;
    std::string text = knob_text(configuration, knob);
    while (text == knob_text(Configuration{}, knob)) text = random_text(knob, random);
    ASSERT_FALSE(set_knob(configuration, knob.path, text).has_value());
    EXPECT_TRUE(hashes.insert(configuration_hash(configuration)).second) << knob.path;
  }
}

/// What stands between the two lines of the document must be the table.
void expect_in_document(std::string_view begin, std::string_view end, const std::string& expected) {
  const char* const folder = std::getenv("MAKEWAY_SOURCE_DIR");  // ctest sets it.
  const std::string path = std::string(folder == nullptr ? "." : folder) + "/docs/configuration.md";
  std::ifstream file(path);
  ASSERT_TRUE(file.is_open()) << "run from the repository, or set MAKEWAY_SOURCE_DIR";
  const std::string document(std::istreambuf_iterator<char>(file), {});
  const std::size_t from = document.find(begin);
  const std::size_t to = document.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  const std::size_t table = from + begin.size();
  if (std::getenv("MAKEWAY_REWRITE") != nullptr) {
    std::ofstream(path) << document.substr(0, table) << expected << document.substr(to);
    return;
  }
  EXPECT_TRUE(document.substr(table, to - table) == expected)
      << "docs/configuration.md is out of date: run this test with MAKEWAY_REWRITE=1";
}

TEST(Documentation, HoldsTheTableOfKnobs) {
  expect_in_document("<!-- knobs: written by knobs_markdown() -->\n", "<!-- end of knobs -->",
                     knobs_markdown());
}

TEST(Documentation, HoldsTheTableOfBundles) {
  expect_in_document("<!-- bundles: written by bundles_markdown() -->\n", "<!-- end of bundles -->",
                     bundles_markdown());
}

}  // namespace
}  // namespace makeway
