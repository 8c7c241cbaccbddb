// The table of commands, and what depends on the terminal. What users see is in tests/scenarios.
#include "cli/run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "cli/command.hpp"
#include "cli/help.hpp"
#include "codec/presets.hpp"
#include "model/knobs.hpp"
#include "support/screen.hpp"

namespace makeway::cli {
namespace {

struct Screen : makeway::Screen {
  ExitStatus run(std::vector<std::string> words) { return cli::run(words, terminal); }
};

TEST(Commands, AreDescribedAndUnique) {
  std::set<std::string_view> names;
  for (const Command& command : commands()) {
    SCOPED_TRACE(command.name);
    EXPECT_TRUE(names.insert(command.name).second);
    EXPECT_EQ(find_command(command.name), &command);
    EXPECT_FALSE(command.summary.empty());
    EXPECT_TRUE(command.description.ends_with('.'));
    EXPECT_LE(command.operands.size(), 1U);
    std::set<char> letters = {'h'};
    std::set<std::string_view> flags = {"help"};
    for (const Flag& flag : command.flags) {
      EXPECT_TRUE(flags.insert(flag.name).second) << flag.name;
      EXPECT_TRUE(flag.letter == '\0' || letters.insert(flag.letter).second) << flag.name;
      EXPECT_TRUE(flag.help.ends_with('.')) << flag.name;
      EXPECT_FALSE(flag.value.empty() && !flag.choices.empty()) << flag.name;
    }
    const std::size_t blank = command.name.find(' ');
    if (blank != std::string_view::npos) {
      const Command* const parent = find_command(command.name.substr(0, blank));
      ASSERT_NE(parent, nullptr);
      // A word after a command that runs must not be both an operand and the rest of a name.
      EXPECT_TRUE(parent->run == nullptr || parent->operands.empty());
    }
  }
}

TEST(Commands, ExamplesAreRealCommandLines) {
  for (const Command& command : commands()) {
    for (const Example& example : command.examples) {
      const bool starts = example.line.contains(fmt::format("makeway {}", command.name)) ||
                          example.line == "makeway --version";
      EXPECT_TRUE(starts) << example.line;
    }
  }
}

TEST(Help, FitsTheScreen) {
  const Palette palette(false);
  std::string all = program_help(palette);
  for (const Command& command : commands()) all += command_help(command, palette);
  std::size_t begin = 0;
  for (std::size_t end = all.find('\n'); end != std::string::npos; end = all.find('\n', begin)) {
    EXPECT_LE(end - begin, 88U) << all.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(Version, IsOneLineOrAll) {
  Screen line;
  EXPECT_EQ(line.run({"--version"}), ExitStatus::done);
  EXPECT_TRUE(line.out.text().starts_with("makeway "));
  EXPECT_EQ(line.out.text().find('\n'), line.out.text().size() - 1);
  Screen all;
  EXPECT_EQ(all.run({"version"}), ExitStatus::done);
  EXPECT_TRUE(all.out.text().starts_with(line.out.text()));
  EXPECT_TRUE(all.out.text().contains("compiler"));
}

TEST(Config, ListNamesEveryPresetAndKnob) {
  Screen screen;
  EXPECT_EQ(screen.run({"config", "list"}), ExitStatus::done);
  for (const std::string_view name : preset_names()) {
    EXPECT_TRUE(screen.out.text().contains(fmt::format("\n  {} ", name))) << name;
    EXPECT_TRUE(screen.out.text().contains(preset_summary(name))) << name;
  }
  for (const Knob& knob : knobs()) {
    EXPECT_TRUE(screen.out.text().contains(fmt::format("\n  {} ", knob.path))) << knob.path;
  }
}

TEST(Config, EveryKnobAndSectionIsExplained) {
  for (const Knob& knob : knobs()) {
    Screen screen;
    EXPECT_EQ(screen.run({"config", "explain", std::string(knob.path)}), ExitStatus::done);
    EXPECT_TRUE(screen.out.text().starts_with(knob.path)) << knob.path;
    if (knob.section().empty()) continue;  // It stands beside the sections.
    Screen section;
    EXPECT_EQ(section.run({"config", "explain", std::string(knob.section())}), ExitStatus::done);
  }
}

TEST(Config, APresetIsShownAsItWasWritten) {
  for (const std::string_view name : preset_names()) {
    Screen screen;
    EXPECT_EQ(screen.run({"config", "show", std::string(name)}), ExitStatus::done);
    EXPECT_EQ(screen.out.text(), *preset_text(name));
  }
}

TEST(Colours, OnlyWhereTheyAreWanted) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / "makeway-colours.yaml";
  std::ofstream(file) << "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n";
  struct Case {
    std::string when;
    bool is_terminal;
    bool refused;
    bool coloured;
  };
  for (const Case& item : {Case{"auto", false, false, false}, Case{"auto", true, false, true},
                           Case{"auto", true, true, false}, Case{"always", false, true, true},
                           Case{"never", true, false, false}}) {
    Screen screen;
    screen.terminal.out_is_terminal = item.is_terminal;
    screen.terminal.colour_refused = item.refused;
    EXPECT_EQ(screen.run({"snapshot", "-f", file, "--color", item.when}), ExitStatus::done);
    EXPECT_EQ(screen.out.text().contains('\x1b'), item.coloured) << item.when;
  }
  std::filesystem::remove(file);
}

TEST(Arguments, NeverCrash) {
  const std::vector<std::string> words = {
      "snapshot", "config", "show", "-f",  "-",   "--",  "--set", "=",     "a=b=c",
      "",         "-",      "--=",  "---", "-f=", "-fo", "{}",    "[a,b]", "\x01\xff"};
  for (const std::string& a : words) {
    for (const std::string& b : words) {
      for (const std::string& c : words) {
        Screen screen;
        const bool reads_input = (b == "-f" && c == "-") || (a == "snapshot" && b == "-f");
        if (reads_input) continue;
        const ExitStatus status = screen.run({a, b, c});
        EXPECT_TRUE(status == ExitStatus::done || screen.out.text().empty());
      }
    }
  }
}

}  // namespace
}  // namespace makeway::cli
