// DESIGN (Control, Journal): what the commands say of journals that are not what was written, of
// another version, or in several files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/run.hpp"
#include "codec/record_file.hpp"
#include "journal/journal_records.hpp"
#include "support/screen.hpp"
#include "support/temporary_folder.hpp"

namespace makeway::cli {
namespace {

class ReplayCommandTest : public testing::Test {
 protected:
  ReplayCommandTest() {
    std::ofstream(folder.path() / "load.csv")
        << "kind,name,arrival_s,run_s,priority,cpu_milli,leave_s\n"
           "node,n1,,,,1000,\n"
           "job,low,0,600,0,1000,30\n"
           "job,high,100,60,100,1000,30\n";
  }

  std::string journal() const { return folder.file("run.journal"); }

  void simulate() {
    EXPECT_EQ(
        run({"simulate", "--trace", "csv:" + folder.file("load.csv"), "--journal", journal()}),
        ExitStatus::done);
  }
  ExitStatus run(const std::vector<std::string>& words) {
    Screen screen;
    const ExitStatus status = cli::run(words, screen.terminal);
    out = screen.out.text();
    error = screen.error.text();
    return status;
  }

  std::string bytes() const {
    std::ostringstream read;
    read << std::ifstream(journal(), std::ios::binary).rdbuf();
    return read.str();
  }
  void write(std::string_view bytes) const { std::ofstream(journal(), std::ios::binary) << bytes; }
  /// Writes the journal again with other texts in it.
  void rewrite(const std::string& version,
               const std::function<void(JournalType, std::string&)>& change) {
    const std::string before = bytes();
    Result<RecordReader> reader = RecordReader::open(before);
    std::string after = record_file_header(version);
    while (const auto record = reader->next()) {
      std::string text = *unpack_record(*record);
      change(static_cast<JournalType>(record->type), text);
      after += *pack_record(record->type, text);
    }
    write(after);
  }
  static void replace(std::string& text, std::string_view what, std::string_view by) {
    const std::size_t at = text.find(what);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, what.size(), by);
  }

  TemporaryFolder folder;
  std::string out;
  std::string error;
};

TEST_F(ReplayCommandTest, ADifferentPlanIsReported) {
  simulate();
  rewrite("makeway 0.1.0", [](JournalType type, std::string& text) {
    if (type != JournalType::cycle || !text.starts_with("{\"number\":2,")) return;
    replace(text, "\"victims\":[{\"namespace\":\"default\",\"name\":\"low\"",
            "\"victims\":[{\"namespace\":\"default\",\"name\":\"other\"");
  });
  EXPECT_EQ(run({"replay", journal()}), ExitStatus::failed);
  EXPECT_NE(out.find("1 of 6 plans differs from the record.\nThe first: Cycle 2 at "
                     "2026-01-01T00:01:40Z:\n"),
            std::string::npos)
      << out;
  EXPECT_NE(out.find("  Pod default/high: recorded: preempts on n1, victims default/other; now: "
                     "preempts on n1, victims default/low\n"),
            std::string::npos)
      << out;
  EXPECT_EQ(run({"replay", journal(), "--cycle", "2"}), ExitStatus::failed);
  EXPECT_NE(error.find("the plan is not the recorded one"), std::string::npos);
  EXPECT_EQ(run({"replay", journal(), "--cycle", "3"}), ExitStatus::done);
}

// A run that was started again with other rules continues its journal.
TEST_F(ReplayCommandTest, EveryPresetOfTheJournalIsNamed) {
  std::string all = record_file_header("makeway 0.1.0");
  for (const char* const preset : {"makeway", "kube-1.37", "makeway", "mcm-v1"}) {
    std::filesystem::remove(journal());
    EXPECT_EQ(run({"simulate", "--trace", "csv:" + folder.file("load.csv"), "--preset", preset,
                   "--journal", journal()}),
              ExitStatus::done);
    const std::string own = bytes();
    Result<RecordReader> reader = RecordReader::open(own);
    while (const auto record = reader->next()) {
      all += *pack_record(record->type, *unpack_record(*record));
    }
  }
  write(all);
  // Here the cycle numbers restart in the middle, and that is reported as well.
  EXPECT_EQ(run({"replay", journal()}), ExitStatus::failed);
  EXPECT_TRUE(out.contains("Every plan is the recorded one")) << out;
  EXPECT_TRUE(out.contains(", under makeway, kube-1.37 and mcm-v1.\n")) << out;
}

// SPEC 8, Shadow: a run that only makes plans evicts nothing.
TEST_F(ReplayCommandTest, PlansThatAreNotCarriedOutCountNoEvictions) {
  simulate();
  EXPECT_EQ(run({"why", "--journal", journal(), "default/low", "-o", "json"}), ExitStatus::done);
  EXPECT_NE(out.find("Pod default/low is evicted from n1 for Pod default/high"), std::string::npos)
      << out;
  rewrite("makeway 0.1.0", [](JournalType type, std::string& text) {
    if (type != JournalType::configuration) return;
    replace(text, "{\"preset\":\"makeway\",", "{\"preset\":\"makeway\",\"carriesOut\":false,");
  });
  EXPECT_EQ(run({"why", "--journal", journal(), "default/low", "-o", "json"}), ExitStatus::done);
  EXPECT_NE(out.find("would be evicted from n1"), std::string::npos) << out;
  EXPECT_NE(out.find("which is not carried out"), std::string::npos) << out;
  EXPECT_EQ(out.find(" is evicted"), std::string::npos) << out;
  EXPECT_EQ(out.find("default/low: evicted"), std::string::npos) << out;
  EXPECT_EQ(run({"why", "--journal", journal(), "default/high", "-o", "json"}), ExitStatus::done);
  EXPECT_NE(out.find("would evict"), std::string::npos) << out;
}

TEST_F(ReplayCommandTest, APlanOfWhichOnlyTheIdIsThereIsComparedByIt) {
  simulate();
  rewrite("makeway 0.1.0", [](JournalType type, std::string& text) {
    if (type != JournalType::cycle || !text.starts_with("{\"number\":5,")) return;
    replace(text, "\"plan\":\"", "\"plan\":\"x");
  });
  EXPECT_EQ(run({"replay", journal(), "--diff"}), ExitStatus::failed);
  EXPECT_NE(out.find("asked the world for nothing, so only its id is there"), std::string::npos)
      << out;
}

TEST_F(ReplayCommandTest, AnotherVersionIsSaid) {
  simulate();
  rewrite("makeway 0.0.1", [](JournalType, std::string&) {});
  EXPECT_EQ(run({"replay", journal()}), ExitStatus::done);
  EXPECT_NE(error.find("makeway 0.0.1 wrote it, and this is makeway "), std::string::npos);
}

TEST_F(ReplayCommandTest, ATornEndIsANoteAndDamageAnError) {
  simulate();
  const std::string whole = bytes();
  write(std::string_view(whole).substr(0, whole.size() - 3));
  EXPECT_EQ(run({"journal", "verify", journal()}), ExitStatus::done);
  EXPECT_NE(error.find("note: "), std::string::npos);
  EXPECT_EQ(run({"replay", journal()}), ExitStatus::done);
  std::string flipped = whole;
  flipped[whole.size() - 3] ^= 1;
  write(flipped);
  for (const std::string_view command : {"verify", "stats", "list"}) {
    EXPECT_EQ(run({"journal", std::string(command), journal()}), ExitStatus::failed);
    EXPECT_NE(error.find("damaged at byte"), std::string::npos);
  }
  EXPECT_EQ(run({"replay", journal()}), ExitStatus::failed);
  EXPECT_EQ(run({"why", "--journal", journal(), "default/low"}), ExitStatus::failed);
}

TEST_F(ReplayCommandTest, AllFilesOfAJournalAreRead) {
  EXPECT_EQ(run({"simulate", "--generate", "nodes=3,pods=400,load=200", "--journal", journal(),
                 "--journal-size", "64Ki", "--journal-files", "100"}),
            ExitStatus::done);
  ASSERT_TRUE(std::filesystem::exists(journal() + ".2"));
  EXPECT_EQ(run({"replay", journal()}), ExitStatus::done);
  EXPECT_NE(out.find("Every plan is the recorded one, byte for byte."), std::string::npos);
  EXPECT_EQ(run({"journal", "stats", journal()}), ExitStatus::done);
  EXPECT_NE(out.find("run.journal.2 "), std::string::npos) << out;
  EXPECT_NE(out.find(", 1 process.\n"), std::string::npos) << out;
  // The first task came when the oldest file was written.
  EXPECT_EQ(run({"why", "--journal", journal(), "default/task-0000001"}), ExitStatus::done);
  EXPECT_NE(out.find("comes and asks for room"), std::string::npos) << out;
  // Each file stands for itself.
  EXPECT_EQ(run({"replay", journal() + ".1"}), ExitStatus::done);
}

}  // namespace
}  // namespace makeway::cli
