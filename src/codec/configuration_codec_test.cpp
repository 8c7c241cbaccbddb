// Configuration documents: what is read, what is refused, and that writing loses nothing.
#include "codec/configuration_codec.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/prng.hpp"
#include "codec/json_value.hpp"
#include "codec/presets.hpp"
#include "codec/writer.hpp"
#include "model/compatibility.hpp"
#include "model/knobs.hpp"
#include "support/property.hpp"

namespace makeway::configuration_codec_test {
namespace {

constexpr std::string_view head = "apiVersion: makeway.dev/v1\nkind: Configuration\n";

ConfigurationReading read(std::string_view body,
                          MissingKnobs missing = MissingKnobs::take_defaults) {
  return read_configuration_text(fmt::format("{}{}", head, body), missing,
                                 {.source = "ours.yaml", .document = 0, .line = 0});
}

std::string texts(const Problems& problems) {
  std::string all;
  for (const Problem& problem : problems) all += to_text(problem) + "\n";
  return all;
}

TEST(Presets, AreCompleteAndValid) {
  EXPECT_EQ(preset_names(), (std::vector<std::string_view>{"makeway", "backend-ai", "kep-5710",
                                                           "kube-1.37", "kube-arbitrator", "mcm-v1",
                                                           "yunikorn", "yunikorn-design"}));
  for (const EmbeddedPreset& preset : embedded_presets()) {
    SCOPED_TRACE(preset.name);
    const ConfigurationReading reading = read_configuration_text(preset.text, MissingKnobs::refuse);
    EXPECT_EQ(texts(reading.problems), "");
    ASSERT_TRUE(reading.document.has_value());
    EXPECT_EQ(reading.document->name, preset.name);
    EXPECT_FALSE(preset_summary(preset.name).empty());
    const Result<Configuration> loaded = load_preset(preset.name);
    ASSERT_TRUE(loaded.has_value());
    // SPEC 1: `makeway run` refuses a preset that waives law 1, be it for claims only, or law 2.
    const bool refused = preset.name == "kube-arbitrator" || preset.name == "yunikorn-design";
    EXPECT_EQ(std::ranges::any_of(loaded->engine.laws_waived, is_needed_live), refused);
  }
}

TEST(Presets, MakewayIsTheDefaultOfTheStruct) {
  const Result<Configuration> makeway = load_preset(default_preset);
  ASSERT_TRUE(makeway.has_value());
  EXPECT_EQ(canonical_text(*makeway), canonical_text(Configuration{}));
  EXPECT_EQ(*makeway, Configuration{});
}

struct Waived {
  std::string_view preset;
  std::string_view laws;
};

TEST(Presets, WaiveTheLawsThatTheSpecificationSays) {
  constexpr Waived cases[] = {{"makeway", ""},  {"kube-1.37", "6,4-gangs"},
                              {"kep-5710", ""}, {"yunikorn", "4,6"},
                              {"mcm-v1", ""},   {"backend-ai", "4"}};
  for (const Waived& waived : cases) {
    const Result<Configuration> configuration = load_preset(waived.preset);
    ASSERT_TRUE(configuration.has_value()) << waived.preset;
    EXPECT_EQ(knob_text(*configuration, *find_rule("engine.lawsWaived")), waived.laws)
        << waived.preset;
  }
}

TEST(Presets, SayWhatTheSpecificationSaysOfThem) {
  const Result<Configuration> kube = load_preset("kube-1.37");
  ASSERT_TRUE(kube.has_value());
  EXPECT_FALSE(kube->protection.protect_system_critical);
  EXPECT_EQ(kube->workload.evict_for, EvictFor::all);
  EXPECT_EQ(kube->workload.pods_not_matching_priority, PodsNotMatchingPriority::refuse);
  EXPECT_EQ(kube->workload.priority_search, PrioritySearch::none);
  EXPECT_EQ(kube->workload.placements_max, 1);
  const Result<Configuration> mcm = load_preset("mcm-v1");
  ASSERT_TRUE(mcm.has_value());
  EXPECT_EQ(mcm->replica.force_delete_after, ForceDeleteAfter::next_cycle);
  const Result<Configuration> yunikorn = load_preset("yunikorn");
  ASSERT_TRUE(yunikorn.has_value());
  EXPECT_EQ(yunikorn->required_node.victim_classes,
            (std::vector<std::string>{"regular", "opted-out", "owner"}));
}

TEST(Presets, AnUnknownNameListsTheKnownOnes) {
  const Result<Configuration> unknown = load_preset("kube-1.36");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().message,
            "there is no preset 'kube-1.36'; choose one of makeway, backend-ai, kep-5710, "
            "kube-1.37, kube-arbitrator, mcm-v1, yunikorn, yunikorn-design");
  EXPECT_EQ(preset_summary("kube-1.36"), "");
}

TEST(ConfigurationCodec, MissingKnobsTakeTheirDefaults) {
  const ConfigurationReading reading = read(
      "metadata: {name: ours, description: our cluster}\n"
      "spec:\n"
      "  budgets: strict\n"
      "  compatibility: kube-1.37\n"
      "  engine: {preemptionDelay: 0}\n"
      "  trust: cluster\n"
      "  workload: {evictFor: all}\n");
  EXPECT_EQ(texts(reading.problems), "");
  ASSERT_TRUE(reading.document.has_value());
  Configuration expected;
  expected.budgets.mode = BudgetMode::strict;
  apply_compatibility(expected, Compatibility::kube_1_37);
  expected.trust.mode = TrustMode::cluster;
  expected.workload.evict_for = EvictFor::all;
  EXPECT_EQ(reading.document->configuration, expected);
  EXPECT_EQ(reading.document->name, "ours");
  EXPECT_EQ(reading.document->description, "our cluster");

  const ConfigurationReading empty = read("");
  ASSERT_TRUE(empty.document.has_value());
  EXPECT_EQ(empty.document->configuration, Configuration{});
}

TEST(ConfigurationCodec, APresetMustStateEveryKnob) {
  const ConfigurationReading reading =
      read("spec: {workload: {evictFor: all}}\n", MissingKnobs::refuse);
  EXPECT_FALSE(reading.document.has_value());
  EXPECT_EQ(reading.problems.count(), knobs().size() - 1);
}

TEST(ConfigurationCodec, ReportsAllProblemsTogether) {
  const ConfigurationReading reading = read(
      "metadata: {name: ours, nmae: x}\n"
      "spek: {}\n"
      "spec:\n"
      "  workload: {evictFor: most, evictsFor: all, scoreKeys: victims}\n"
      "  required_node: {maxVictims: \"5\", deviationPercent: 1.5}\n"
      "  requirednode: {}\n"
      "  session: 5\n");
  EXPECT_FALSE(reading.document.has_value());
  const std::string all = texts(reading.problems);
  const std::string_view expected[] = {
      "metadata.nmae \"x\": there is no such field; did you mean name?",
      "spek \"{}\": there is no such field; did you mean spec?",
      "spec.workload.evictFor \"most\": expected one of each, minimum, all",
      "spec.workload.evictsFor \"all\": there is no such knob; did you mean workload.evictFor?",
      "spec.workload.scoreKeys \"victims\": expected a list of members-not-placed",
      "spec.required_node.maxVictims \"5\": expected an integer between 1 and 1000000, found ",
      "spec.required_node.deviationPercent \"1.5\": expected an integer",
      "spec.requirednode \"{}\": there is no such field; did you mean required_node?",
      "spec.session \"5\": expected an object",
  };
  EXPECT_TRUE(all.starts_with("ours.yaml: Configuration ours: "));
  for (const std::string_view line : expected) {
    EXPECT_TRUE(all.contains(line)) << line << "\nin\n" << all;
  }
  EXPECT_EQ(reading.problems.size(), std::size(expected)) << all;
}

TEST(ConfigurationCodec, ChecksTheRulesBetweenKnobs) {
  const ConfigurationReading reading = read("spec: {session: {backoffMax: 1s}}\n");
  EXPECT_FALSE(reading.document.has_value());
  EXPECT_EQ(texts(reading.problems),
            "ours.yaml: Configuration: spec.session.backoffMax \"1s\": is shorter than "
            "session.backoffFirst; raise the one or lower the other\n");
}

TEST(ConfigurationCodec, RefusesWhatIsNoConfiguration) {
  for (const std::string_view text :
       {"", "[]", "5", "null", "{}", "kind: Pod\napiVersion: v1", "{", "a: b: c",
        "kind: Configuration\napiVersion: makeway.dev/v2",
        "kind: Configuration\napiVersion: makeway.dev/v1\nspec: []",
        "kind: Configuration\napiVersion: makeway.dev/v1\nmetadata: 3",
        "kind: Configuration\napiVersion: makeway.dev/v1\nspec: {workload: null}",
        "kind: Configuration\napiVersion: makeway.dev/v1\nspec: {workload.evictFor: all}",
        "kind: Configuration\napiVersion: makeway.dev/v1\nspec: {protection: {namespaces: [[]]}}",
        "kind: Configuration\napiVersion: makeway.dev/v1\n---\nkind: Configuration"}) {
    const ConfigurationReading reading = read_configuration_text(text, MissingKnobs::take_defaults);
    EXPECT_FALSE(reading.document.has_value()) << text;
    EXPECT_TRUE(has_errors(reading.problems)) << text;
  }
}

/// Any configuration that `validate` accepts; the ties between knobs are loosened first.
Configuration random_configuration(Prng& random) {
  Configuration configuration;
  for (const Knob& knob : knobs()) {
    std::vector<std::string> names(knob.choices.begin(), knob.choices.end());
    random.shuffle(names);
    if (!names.empty()) names.resize(1 + random.below(names.size()));
    KnobValue value = knob.get(configuration);
    switch (knob.type) {
      case KnobType::boolean: value = random.chance(50); break;
      case KnobType::integer: value = random.between(knob.minimum, knob.maximum); break;
      case KnobType::duration: value = Duration{random.between(0, 10'000'000)}; break;
      case KnobType::choice: value = names.front(); break;
      case KnobType::choice_list: value = names; break;
      case KnobType::text_list: value = std::vector<std::string>{"label:yes=no", "owner"}; break;
      case KnobType::text: value = std::string(random.chance(50) ? "no" : "1e3"); break;
    }
    knob.put(configuration, value);
  }
  configuration.protection.namespaces.clear();
  configuration.workload.preemption_priority_from = priority_min;
  std::erase(configuration.workload.score_keys, ScoreKey::raw_priority_sum);
  configuration.workload.score_keys.push_back(ScoreKey::raw_priority_sum);
  std::erase(configuration.workload.score_keys, ScoreKey::priority_sum);
  configuration.session.backoff_first = Duration{};
  return configuration;
}

/// The document written in one of three ways.
std::string written(const ConfigurationDocument& document, std::uint64_t way) {
  if (way == 0) return commented_yaml(document);
  std::string text;
  YamlWriter yaml(text);
  JsonWriter json(text);
  write_configuration(way == 1 ? static_cast<DocumentWriter&>(yaml) : json, document);
  return text;
}

TEST(ConfigurationCodec, WritingAndReadingLosesNothing) {
  for_each_case("configurations survive writing and reading", [](Prng& random) {
    const ConfigurationDocument document = {.name = random.chance(50) ? "on" : "ours",
                                            .description = "say \"#\": a\tb",
                                            .configuration = random_configuration(random)};
    const std::string text = written(document, random.below(3));
    const ConfigurationReading reading = read_configuration_text(text, MissingKnobs::refuse);
    EXPECT_FALSE(has_errors(reading.problems)) << texts(reading.problems) << text;
    EXPECT_TRUE(reading.document == document) << text;
  });
}

TEST(ConfigurationCodec, ReadsTheTreeOfAJsonText) {
  const ConfigurationDocument document = {.name = "ours", .description = {}, .configuration = {}};
  const auto tree = parse_json_value(written(document, 2));
  ASSERT_TRUE(tree.has_value());
  EXPECT_EQ(read_configuration(*tree, MissingKnobs::refuse).document, document);
}

TEST(ConfigurationCodec, TheCommentedDocumentStaysNarrow) {
  const std::string text =
      commented_yaml({.name = "makeway", .description = {}, .configuration = {}});
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    EXPECT_LE(end - start, 100U) << text.substr(start, end - start);
    start = end + 1;
  }
  EXPECT_TRUE(text.contains("    # Pods in these namespaces are never victims."));
  EXPECT_TRUE(text.contains("\n  compatibility: makeway\n"));
}

}  // namespace
}  // namespace makeway::configuration_codec_test
