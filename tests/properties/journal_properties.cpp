// DESIGN (Control, Journal), random simulations with a journal: every cycle is decided again to the
// same bytes, across rotated files too, and a journal that is cut anywhere replays as far as it
// goes. The story of an object is the same whether everything is read for it or only the records
// that name it. Sessions and ReplicaSchedules are left out: the world does not carry them out yet.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <vector>

#include "cli/journal/journal_walk.hpp"
#include "cli/journal/why_story.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/simulate/simulate_run.hpp"
#include "codec/dump.hpp"
#include "codec/presets.hpp"
#include "journal/journal.hpp"
#include "sim/generate.hpp"
#include "support/property.hpp"
#include "support/random_configuration.hpp"
#include "support/temporary_folder.hpp"

namespace makeway::journal_properties {
namespace {

constexpr std::array<std::string_view, 6> journal_presets = {
    "makeway", "kube-1.37", "kep-5710", "yunikorn", "yunikorn-design", "kube-arbitrator"};

GenerateOptions random_load(Prng& random) {
  return {.nodes = random.between(1, 8),
          .pods = random.between(10, 100),
          .cpus = random.between(32, 64),
          .gpus = random.chance(50) ? 8 : 0,
          .load = random.between(50, 400),
          .gangs = random.between(0, 60),
          .services = random.between(0, 40),
          .priorities = random.between(1, 4),
          .queues = random.chance(30) ? random.between(1, 4) : 0,
          .checkpoint = random.chance(40) ? random.between(10, 600) : 0,
          .daemons = random.chance(30) ? 1 : 0};
}

struct Replayed {
  std::uint64_t cycles = 0;
  std::vector<AskName> asks;  ///< Of some cycles.
  cli::JournalWalk walk;
};

Replayed replay(const std::string& path) {
  const PlanTools tools = cli::real_tools();
  Replayed replayed;
  replayed.walk =
      cli::walk_journal(path, [&](const JournalEntry& entry, const JournalWorld& world) {
        const auto* const cycle = std::get_if<CycleRecord>(&entry.record);
        if (cycle == nullptr) return true;
        ++replayed.cycles;
        if (!cycle->due.empty() && cycle->number % 7 == 1) {
          replayed.asks.push_back(cycle->due.front());
        }
        const LawfulPlan made = cli::decide_again(
            *cycle, world, {.configuration = world.configuration(), .preset = world.preset()},
            tools, false);
        EXPECT_TRUE(cli::is_recorded_plan(*cycle, made.plan))
            << "cycle " << cycle->number << "\n"
            << cli::plan_difference(*cycle, made.plan);
        return !testing::Test::HasFailure();
      });
  EXPECT_FALSE(replayed.walk.error.has_value()) << replayed.walk.error->message;
  return replayed;
}

struct ReadStory {
  cli::WhyStory story;
  cli::JournalWalk walk;
};

ReadStory read_story(const std::string& path, const cli::WrittenAsk& subject,
                     cli::StoryReading reading) {
  ReadStory read{.story = cli::WhyStory(subject, cli::real_tools()), .walk = {}};
  read.walk = cli::walk_story(path, read.story, [] { return false; }, reading);
  EXPECT_FALSE(read.walk.error.has_value()) << read.walk.error->message;
  return read;
}

/// Without its kind: what is called so and made by what is called so belongs to it.
void expect_same_story(const std::string& path, const AskName& ask) {
  const std::string name = fmt::format("{}/{}", ask.namespace_name, ask.name);
  SCOPED_TRACE(name);
  const Result<cli::WrittenAsk> subject = cli::parse_ask(name);
  ASSERT_TRUE(subject.has_value());
  const ReadStory few = read_story(path, *subject, cli::StoryReading::what_names_it);
  const ReadStory all = read_story(path, *subject, cli::StoryReading::everything);
  EXPECT_TRUE(few.story.is_known());
  EXPECT_EQ(cli::why_json(name, "", few.story), cli::why_json(name, "", all.story));
  EXPECT_EQ(few.story.gone(), all.story.gone());
  EXPECT_EQ(few.walk.discontinuous_files, all.walk.discontinuous_files);
  if (all.story.pending().empty()) return;
  EXPECT_EQ(few.walk.world.now(), all.walk.world.now());
  for (const AskName& waits : all.story.pending()) {
    EXPECT_EQ(few.walk.world.waiting().contains(waits), all.walk.world.waiting().contains(waits));
  }
  EXPECT_EQ(dump(few.walk.world.cluster(), DumpFormat::json),
            dump(all.walk.world.cluster(), DumpFormat::json));
}

TEST(JournalProperties, ASimulationIsReplayedByteForByteWhereverItIsCut) {
  std::uint64_t cycles = 0;
  std::uint64_t rotated = 0;
  std::uint64_t stories = 0;
  for_one_case_in(10, "journals of simulations", [&](Prng& random) {
    const TemporaryFolder folder;
    const std::string path = folder.file("run.journal");
    const SimLoad load = generate_load(random_load(random), random.next() >> 1U, Time{});
    const std::string_view preset = journal_presets[random.below(journal_presets.size())];
    ConfigurationDocument document{.name = std::string(preset),
                                   .configuration = *load_preset(preset)};
    // The pods name no scheduler. A replay must have these rules, too.
    if (random.chance(30)) {
      add_random_profile(random, "default-scheduler", document.configuration);
    }
    constexpr std::array<std::uint64_t, 3> judged = {1, 3, 0};
    cli::SimulateResult result;
    {
      const Result<std::unique_ptr<Journal>> journal =
          Journal::open({.path = path,
                         .version = "makeway",
                         .base_every = random.chance(50) ? 3'000U : 1'000'000U,
                         .bytes_max = random.chance(50) ? 20'000U : 0U,
                         .files_kept = 1'000});
      ASSERT_TRUE(journal.has_value());
      result = cli::simulate(load, document,
                             {.options = {},
                              .judge_every = judged[random.below(judged.size())],
                              .watcher = journal->get()},
                             cli::real_tools(),
                             [](const cli::SimulateStep& step) { return step.cycles < 5'000; });
      EXPECT_EQ((*journal)->file().alarm(), "");
    }
    const Replayed whole = replay(path);
    EXPECT_EQ(whole.cycles, result.loop.cycles);
    cycles += whole.cycles;
    rotated += whole.walk.parts.size() - 1;
    for (std::size_t number = 0; number < 3 && !whole.asks.empty(); ++number, ++stories) {
      expect_same_story(path, whole.asks[random.below(whole.asks.size())]);
    }
    const std::uint64_t size = std::filesystem::file_size(path);
    std::filesystem::resize_file(path, random.below(size));
    const Replayed cut = replay(path);
    EXPECT_LE(cut.cycles, whole.cycles);
    EXPECT_FALSE(cut.walk.is_damaged());
  });
  fmt::print("{} cycles, {} rotated files, {} stories\n", cycles, rotated, stories);
}

}  // namespace
}  // namespace makeway::journal_properties
