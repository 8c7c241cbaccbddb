// Journals and statuses that an earlier version wrote (tests/recorded): they are read, and decided
// as they were. Words may differ, decisions not.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "cli/journal/journal_walk.hpp"
#include "cli/plan/plan_maker.hpp"
#include "codec/json_value.hpp"
#include "codec/load.hpp"
#include "codec/plan_codec.hpp"
#include "codec/presets.hpp"
#include "codec/recorded_configuration.hpp"
#include "codec/writer.hpp"

namespace makeway::cli {
namespace {

std::string recorded_path(std::string_view name) {
  const char* const folder = std::getenv("MAKEWAY_SOURCE_DIR");  // ctest sets it.
  return std::string(folder == nullptr ? "." : folder) + "/tests/recorded/" + std::string(name);
}

std::string content_of(std::string_view name) {
  std::ifstream file(recorded_path(name));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string compact(const JsonValue& value) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  write_value(value, writer);
  return text;
}

std::string member_text(const JsonValue& tree, std::string_view key) {
  const JsonValue* const value = tree.find(key);
  return value == nullptr ? std::string{} : compact(*value);
}

/// Places, victims and actions; none of the words.
std::string decisions_of(std::string_view plan) {
  const auto tree = parse_json_value(plan);
  if (!tree) return "no plan";
  std::string text;
  const JsonValue* const asks = tree->find("asks");
  for (const JsonValue& ask : *asks->as_array()) {
    for (const std::string_view key : {"kind", "namespace", "name", "outcome", "placements"}) {
      text += member_text(ask, key) + " ";
    }
    const JsonValue* const victims = ask.find("victims");
    if (victims != nullptr) {
      for (const JsonValue& victim : *victims->as_array()) {
        for (const std::string_view key : {"namespace", "name", "node"}) {
          text += member_text(victim, key) + " ";
        }
      }
    }
    text += "\n";
  }
  return text + member_text(*tree, "actions");
}

struct Recorded {
  std::string_view file;
  std::string_view preset;
  std::size_t cycles;
};

TEST(RecordedJournals, AreDecidedAsTheyWere) {
  for (const Recorded& recorded : {Recorded{"makeway.journal", "makeway", 6},
                                   Recorded{"kube-1.37.journal", "kube-1.37", 16}}) {
    SCOPED_TRACE(recorded.file);
    std::size_t cycles = 0;
    const JournalVisit visit = [&](const JournalEntry& entry, const JournalWorld& world) {
      const auto* const cycle = std::get_if<CycleRecord>(&entry.record);
      if (cycle == nullptr) return true;
      ++cycles;
      EXPECT_EQ(world.configuration(), *load_preset(recorded.preset));
      const ReplayRules rules{.configuration = world.configuration(),
                              .preset = world.preset(),
                              .configuration_hash = world.configuration_hash()};
      const LawfulPlan made = decide_again(*cycle, world, rules, real_tools(), false);
      EXPECT_TRUE(made.plan.has_value());
      EXPECT_EQ(acts(*made.plan), !cycle->plan.empty()) << "cycle " << cycle->number;
      if (cycle->plan.empty()) return true;
      EXPECT_EQ(decisions_of(plan_text_json(*made.plan)), decisions_of(cycle->plan));
      // The plans carry the hash of the configuration as it was written then.
      EXPECT_TRUE(cycle->plan.contains(world.configuration_hash()));
      EXPECT_FALSE(world.configuration_hash().empty());
      return true;
    };
    const JournalWalk walk = walk_journal(recorded_path(recorded.file), visit);
    EXPECT_FALSE(walk.error.has_value()) << walk.error->message;
    EXPECT_FALSE(walk.is_damaged());
    EXPECT_EQ(cycles, recorded.cycles);
  }
}

TEST(RecordedStatuses, MeanWhatTheyMeant) {
  const LoadResult read = load_text(content_of("statuses.yaml"), "statuses.yaml");
  ASSERT_TRUE(read.loaded.has_value()) << to_text(read.problems.front());
  const LawfulPlan made = make_lawful_plan(
      read.loaded->cluster, *load_preset(default_preset),
      {.now = *parse_time("2026-01-01T10:00:06Z"), .preset = "makeway", .explain = false},
      real_tools());
  ASSERT_TRUE(made.plan.has_value());
  EXPECT_EQ(decisions_of(plan_text_json(*made.plan)),
            decisions_of(content_of("statuses.plan.json")));
}

/// A configuration of the time when rules were knobs, with one of them changed.
std::string problem_of(std::string_view path, std::string_view before, std::string_view after) {
  const auto tree = parse_json_value(content_of("configuration.json"));
  if (!tree) return to_text(tree.error());
  std::string text = compact(*tree);
  const std::string from = std::string(path) + "\":" + std::string(before);
  const std::size_t at = text.find(from);
  if (at == std::string::npos) return "there is no " + from;
  text.replace(at, from.size(), std::string(path) + "\":" + std::string(after));
  const RecordedConfiguration recorded = read_recorded_configuration(*parse_json_value(text));
  return recorded.reading.problems.empty() ? std::string{}
                                           : to_text(recorded.reading.problems.front());
}

TEST(RecordedConfigurations, AreTranslatedOrRefused) {
  EXPECT_EQ(problem_of("search", R"("fast")", R"("exact")"), "");  // It had no effect.
  EXPECT_EQ(problem_of("memberOrder", R"("largest")", R"("creation")"),
            "the recorded Configuration: compatibility: no bundle of this version has these rules "
            "together; read the journal with the version that wrote it");
  EXPECT_EQ(problem_of("belowMinimum", R"("keep")", R"("evict")"),
            "the recorded Configuration: workload.belowMinimum \"evict\": this version has keep "
            "only; read the journal with the version that wrote it");
  EXPECT_EQ(problem_of("groupPriority", R"("everyone")", R"("lowest")"),
            "the recorded Configuration: trust: these values of trust.* are neither trust.mode "
            "files nor cluster; read the journal with the version that wrote it");
}

}  // namespace
}  // namespace makeway::cli
