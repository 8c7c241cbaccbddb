// DESIGN (Control, Journal): what the loop does is written down before it counts, and reads back.
#include "journal/journal.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/prng.hpp"
#include "codec/dump.hpp"
#include "journal/journal_index.hpp"
#include "journal/journal_reader.hpp"
#include "journal/journal_world.hpp"
#include "support/temporary_folder.hpp"

namespace makeway {
namespace {

class JournalTest : public testing::Test {
 protected:
  std::string path(std::string_view name = "run.journal") const { return folder.file(name); }
  JournalOptions options() const { return {.path = path(), .version = "makeway test"}; }

  /// A new process: rules, which take the longest to read, then a base.
  std::unique_ptr<Journal> begin(const JournalOptions& options, bool with_rules = true) {
    Result<std::unique_ptr<Journal>> journal = Journal::open(options);
    EXPECT_TRUE(journal.has_value()) << journal.error().message;
    if (with_rules) (*journal)->start({.configuration = configuration, .preset = "makeway"});
    batch(**journal, {});
    return *std::move(journal);
  }

  void batch(Journal& journal, const std::vector<Change>& changes,
             const std::vector<Receipt>& receipts = {}) {
    now.ms += 1'500;
    for (const Change& change : changes) cluster.apply(change);
    journal.batch({.now = now, .changes = changes, .effects = {}, .receipts = receipts}, cluster);
  }

  void cycle(Journal& journal, std::string pod, Outcome outcome, const std::string& victim = {}) {
    LawfulPlan made;
    made.plan = Plan{.id = "plan-" + pod, .preset = "makeway", .now = now};
    made.plan->asks.push_back({.namespace_name = "default",
                               .name = pod,
                               .outcome = outcome,
                               .reason = "because of " + pod});
    if (!victim.empty()) {
      made.plan->actions.push_back(
          {.type = ActionType::evict, .namespace_name = "default", .name = victim});
      made.refused.push_back({.id = "refused-" + pod,
                              .breaches = {{.law = 3,
                                            .ask = "Pod default/" + pod,
                                            .text = "no room",
                                            .asks = {{.namespace_name = "default", .name = pod}}}},
                              .plan = *made.plan});
    }
    const std::vector<AskName> due = {{.namespace_name = "default", .name = std::move(pod)}};
    journal.cycle({.now = now, .due = due, .judged = true, .made = made}, cluster);
  }

  static Pod pod(std::string name, std::string node = {}) {
    return {.namespace_name = "default", .name = std::move(name), .node = std::move(node)};
  }

  /// One of each type of record.
  static std::vector<Receipt> sample_receipts() {
    return {{.plan = "p", .object = pod_ref("default", "x"), .reason = "it is gone"},
            {.plan = "p",
             .object = {.kind = RefKind::deployment,
                        .namespace_name = "default",
                        .name = "x",
                        .plane = "east"},
             .reason = "it is not"}};
  }
  void write_all_types(Journal& journal) {
    batch(journal, {Node{.name = "n1", .allocatable = {{"cpu", 1'000}}}, pod("a", "n1")});
    batch(journal, {pod("b")}, sample_receipts());
    cycle(journal, "b", Outcome::preempts, "a");
    batch(journal, {Removal{.kind = ObjectKind::pod, .namespace_name = "default", .name = "a"}});
    cycle(journal, "b", Outcome::fits);
  }

  struct AllRead {
    std::vector<JournalRecord> records;
    std::vector<JournalPart> parts;
    std::string error;
    JournalWorld world;
  };
  static AllRead read_all(const std::string& path, JournalFiles files = JournalFiles::one) {
    AllRead all;
    Result<JournalReader> reader = JournalReader::open(path, files);
    if (!reader) {
      all.error = reader.error().message;
      return all;
    }
    while (true) {
      const Result<std::optional<JournalEntry>> entry = reader->next();
      if (!entry) all.error = entry.error().message;
      if (!entry || !*entry) break;
      if (const auto wrong = all.world.take(**entry)) all.error = wrong->message;
      all.records.push_back((*entry)->record);
    }
    all.parts = reader->parts();
    return all;
  }

  static std::string bytes_of(const std::string& path) {
    std::ostringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    return bytes.str();
  }
  static void write_bytes(const std::string& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  std::string dump_now() const { return dump(cluster, DumpFormat::json); }

  TemporaryFolder folder;
  Configuration configuration;
  Cluster cluster;
  Time now{1'767'225'600'000};
};

TEST_F(JournalTest, ThatPlansAreOnlyMadeReadsBack) {
  const std::unique_ptr<Journal> journal = begin(options(), false);
  journal->start({.configuration = configuration, .preset = "makeway", .carries_out = false});
  batch(*journal, {Node{.name = "n1"}});
  const AllRead all = read_all(path());
  EXPECT_EQ(all.error, "");
  const auto rules = std::ranges::find_if(all.records, [](const JournalRecord& record) {
    return std::holds_alternative<ConfigurationRecord>(record);
  });
  ASSERT_NE(rules, all.records.end());
  EXPECT_FALSE(std::get<ConfigurationRecord>(*rules).carries_out);
}

TEST_F(JournalTest, EverythingThatIsWrittenReadsBack) {
  configuration.engine.alternatives_max = 7;
  const std::unique_ptr<Journal> journal = begin(options());
  write_all_types(*journal);
  const AllRead all = read_all(path());
  EXPECT_EQ(all.error, "");
  ASSERT_EQ(all.records.size(), 9U);
  EXPECT_EQ(std::get<ConfigurationRecord>(all.records[0]),
            (ConfigurationRecord{.preset = "makeway", .configuration = configuration}));
  EXPECT_TRUE(std::get<BaseRecord>(all.records[1]).begins);
  EXPECT_EQ(std::get<ChangesRecord>(all.records[2]).changes.size(), 2U);
  EXPECT_EQ(std::get<ReceiptsRecord>(all.records[3]).receipts, sample_receipts());
  const auto& refused = std::get<RefusedRecord>(all.records[5]);
  EXPECT_EQ(refused.cycle, 1U);
  EXPECT_EQ(refused.breaches.front().asks.front().name, "b");
  EXPECT_NE(refused.plan.find("\"name\":\"a\""), std::string::npos);
  const auto& first = std::get<CycleRecord>(all.records[6]);
  EXPECT_EQ(first.number, 1U);
  EXPECT_EQ(first.due, (std::vector<AskName>{{.namespace_name = "default", .name = "b"}}));
  EXPECT_EQ(first.plan_id, "plan-b");
  EXPECT_EQ(first.changed.front().outcome, Outcome::preempts);
  EXPECT_NE(first.plan, "");
  const auto& removal = std::get<ChangesRecord>(all.records[7]);
  EXPECT_EQ(removal.now, now);
  EXPECT_TRUE(std::holds_alternative<Removal>(removal.changes.front()));
  const auto& second = std::get<CycleRecord>(all.records[8]);
  EXPECT_EQ(second.changed.front().outcome, Outcome::fits);
  EXPECT_EQ(second.plan, "") << "it asks the world for nothing";
  EXPECT_EQ(dump(all.world.cluster(), DumpFormat::json), dump_now());
  EXPECT_TRUE(all.world.waiting().empty());
  using Mode = std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(path()).permissions(), Mode::owner_read | Mode::owner_write);
}

TEST_F(JournalTest, AnOutcomeIsWrittenWhenItChanges) {
  const std::unique_ptr<Journal> journal = begin(options());
  batch(*journal, {pod("b")});
  cycle(*journal, "b", Outcome::infeasible);
  const Time since = now;
  batch(*journal, {Node{.name = "n1"}});
  cycle(*journal, "b", Outcome::infeasible);
  const AllRead all = read_all(path());
  EXPECT_EQ(std::get<CycleRecord>(all.records.back()).changed.size(), 0U);
  ASSERT_EQ(all.world.waiting().size(), 1U);
  EXPECT_EQ(all.world.waiting().begin()->second.since, since);
}

TEST_F(JournalTest, CutAtAnyByteItReadsAsAPrefixAndIsContinued) {
  write_all_types(*begin(options(), false));
  const std::string bytes = bytes_of(path());
  const AllRead whole = read_all(path());
  const std::string cut = path("cut.journal");
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    SCOPED_TRACE(size);
    write_bytes(cut, std::string_view(bytes).substr(0, size));
    const AllRead part = read_all(cut);
    EXPECT_EQ(part.error, "");
    ASSERT_LE(part.records.size(), whole.records.size());
    for (std::size_t at = 0; at < part.records.size(); ++at) {
      EXPECT_TRUE(part.records[at] == whole.records[at]);
    }
    // A process that starts again goes on behind the last whole record.
    JournalOptions again = options();
    again.path = cut;
    begin(again, false);
    const AllRead continued = read_all(cut);
    EXPECT_EQ(continued.error, "");
    EXPECT_EQ(continued.records.size(), part.records.size() + 1);
    EXPECT_EQ(continued.parts.front().end, FileEnd::whole);
    EXPECT_EQ(dump(continued.world.cluster(), DumpFormat::json), dump_now());
  }
}

TEST_F(JournalTest, CyclesAreCountedOnInAContinuedFile) {
  write_all_types(*begin(options()));
  const std::unique_ptr<Journal> journal = begin(options());
  cycle(*journal, "b", Outcome::fits);
  EXPECT_EQ(std::get<CycleRecord>(read_all(path()).records.back()).number, 3U);
}

/// Larger than what is in memory at a time: its end, whole, torn or zeros, is found all the same.
TEST_F(JournalTest, ALargeFileIsContinuedWhereItEnds) {
  std::uint64_t whole = 0;
  {
    Prng random(7);
    std::string large(std::size_t{3} << 20U, '\0');
    for (char& byte : large) byte = static_cast<char>(random.below(256));
    Result<JournalFile> file = JournalFile::open({.path = path("large"), .version = "test"});
    ASSERT_TRUE(file.has_value());
    for (int record = 0; record < 3; ++record) file->append(JournalType::receipts, large);
    const std::string base = base_text({.now = now, .cycles = 41}, cluster);
    file->append(JournalType::base, base);
    whole = file->size();
  }
  EXPECT_GT(whole, 2 * JournalFileReader::standard_window);
  const std::string bytes = bytes_of(path("large"));
  const std::string zeros(std::size_t{9} << 20U, '\0');
  for (const std::string& end :
       {std::string(), std::string("\1"), bytes.substr(whole - 40, 30), zeros}) {
    SCOPED_TRACE(end.size());
    write_bytes(path("large"), bytes + end);
    const Result<JournalFile> again = JournalFile::open({.path = path("large"), .version = "test"});
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->cycles_before(), 41U);
    const bool is_damaged = end.size() == 30;  // It is no beginning of a record.
    EXPECT_EQ(std::filesystem::file_size(path("large")), is_damaged ? again->size() : whole);
    EXPECT_EQ(std::filesystem::exists(path("large.1")), is_damaged);
    EXPECT_EQ(again->notice().empty(), end.empty()) << again->notice();
    std::filesystem::remove(path("large.1"));
  }
}

TEST_F(JournalTest, WhatIsDamagedOrOfAnotherVersionIsKeptAside) {
  write_all_types(*begin(options()));
  std::string bytes = bytes_of(path());
  bytes[bytes.size() / 2] ^= 1;
  write_bytes(path(), bytes);
  {
    const std::unique_ptr<Journal> journal = begin(options());
    EXPECT_NE(journal->file().notice().find("is damaged at byte"), std::string::npos);
  }
  EXPECT_EQ(bytes_of(path("run.journal.1")), bytes);
  JournalOptions other = options();
  other.version = "makeway other";
  EXPECT_NE(begin(other)->file().notice().find("was written by makeway test"), std::string::npos);
  EXPECT_EQ(read_all(path()).parts.front().version, "makeway other");
  EXPECT_EQ(bytes_of(path("run.journal.2")), bytes);
}

TEST_F(JournalTest, OtherFilesAreNotWrittenTo) {
  write_bytes(path(), "apiVersion: v1\n");
  const auto journal = Journal::open(options());
  ASSERT_FALSE(journal.has_value());
  EXPECT_EQ(journal.error().message, path() + ": it is no journal of makeway");
  EXPECT_EQ(bytes_of(path()), "apiVersion: v1\n");
}

TEST_F(JournalTest, TwoProcessesDoNotWriteOneFile) {
  const std::unique_ptr<Journal> journal = begin(options());
  const auto second = Journal::open(options());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().message, path() + ": another process is writing it");
}

TEST_F(JournalTest, EachRotatedFileIsReadableAloneAndAllOfThemTogether) {
  JournalOptions small = options();
  small.bytes_max = 4'000;
  small.files_kept = 2;
  const std::unique_ptr<Journal> journal = begin(small);
  for (int number = 0; number < 200; ++number) {
    batch(*journal, {pod(fmt::format("pod-{}", number))});
    cycle(*journal, fmt::format("pod-{}", number), Outcome::infeasible);
    const std::string gone = fmt::format("pod-{}", number - 3);
    batch(*journal, {Removal{.kind = ObjectKind::pod, .namespace_name = "default", .name = gone}});
  }
  EXPECT_EQ(journal->file().alarm(), "");
  EXPECT_FALSE(std::filesystem::exists(path("run.journal.3")));
  for (const std::string_view name : {"run.journal", "run.journal.1", "run.journal.2"}) {
    SCOPED_TRACE(name);
    EXPECT_LT(std::filesystem::file_size(path(name)), 2 * small.bytes_max);
    const AllRead alone = read_all(path(name));
    EXPECT_EQ(alone.error, "");
    EXPECT_TRUE(alone.world.begun());
  }
  const AllRead all = read_all(path(), JournalFiles::with_rotated);
  EXPECT_EQ(all.error, "");
  EXPECT_EQ(all.parts.size(), 3U);
  EXPECT_EQ(dump(all.world.cluster(), DumpFormat::json), dump_now());
  EXPECT_EQ(all.world.waiting().size(), 3U);
}

TEST_F(JournalTest, ABaseThatDoesNotFollowIsNoticed) {
  JournalOptions often = options();
  often.base_every = 1;
  const std::unique_ptr<Journal> journal = begin(often);
  batch(*journal, {pod("a")});
  EXPECT_EQ(read_all(path()).error, "");
  cluster.apply(pod("not-recorded"));
  batch(*journal, {pod("b")});
  EXPECT_EQ(read_all(path()).error,
            "the objects of the base are not those that the changes led to");
}

TEST_F(JournalTest, AFullDiskStopsTheJournalWithAnAlarmAndNothingElse) {
  JournalOptions full = options();
  full.path = "/dev/full";
  const std::unique_ptr<Journal> journal = begin(full);
  write_all_types(*journal);
  EXPECT_EQ(journal->file().alarm(), "/dev/full: No space left on device");
  EXPECT_EQ(journal->file().records(), 0U);
  EXPECT_EQ(journal->file().lost(), 7U);
  EXPECT_EQ(journal->cycles(), 2U);
}

TEST_F(JournalTest, AFolderThatIsNotThereIsSaid) {
  JournalOptions elsewhere = options();
  elsewhere.path = path("no/such/folder");
  const auto journal = Journal::open(elsewhere);
  ASSERT_FALSE(journal.has_value());
  EXPECT_EQ(journal.error().message, elsewhere.path + ": No such file or directory");
}

TEST(JournalRecordsTest, WhatIsNoRecordIsSaid) {
  const auto error = [](JournalType type, std::string_view text) {
    const Result<JournalRecord> record = read_journal_record(static_cast<std::uint8_t>(type), text);
    return record ? std::string("none") : record.error().message;
  };
  EXPECT_EQ(error(JournalType::cycle, ""), "the record has no whole line");
  EXPECT_EQ(error(JournalType::cycle, "{}\n"), "the member number is missing or wrong");
  EXPECT_EQ(error(JournalType::base, "{\"now\":\"soon\"}\n"), "the member now is missing or wrong");
  EXPECT_EQ(error(JournalType::receipts,
                  "{\"now\":\"2026-01-01T00:00:00Z\",\"receipts\":[{\"plan\":1}]}\n"),
            "the member receipts.plan is missing or wrong");
  EXPECT_EQ(error(JournalType::configuration, "{\"preset\":\"makeway\"}\n"),
            "the member configuration is missing or wrong");
  EXPECT_EQ(error(JournalType::changes,
                  "{\"now\":\"2026-01-01T00:00:00Z\",\"changes\":1,\"effects\":0}\n"),
            "the member changes is missing or wrong");
  EXPECT_EQ(error(static_cast<JournalType>(9), "{}\n"),
            "a record of type 9, which this version does not know");
}

TEST_F(JournalTest, TheIndexReadsOnlyWhatIsNewAndSurvivesRotation) {
  JournalOptions small = options();
  small.bytes_max = 8'000;
  small.base_every = 2'000;
  small.files_kept = 3;
  const std::unique_ptr<Journal> journal = begin(small);
  JournalIndex index(path());
  std::uint64_t read = 0;
  for (int round = 0; round < 40; ++round) {
    for (int each = 0; each < 5; ++each) {
      batch(*journal, {pod(fmt::format("p{}-{}", round, each))});
      cycle(*journal, fmt::format("p{}-{}", round, each), Outcome::infeasible);
    }
    EXPECT_FALSE(index.refresh().has_value());
    const std::uint64_t now_read = index.bytes_read() - read;
    read = index.bytes_read();
    EXPECT_FALSE(index.refresh().has_value());
    EXPECT_EQ(index.bytes_read(), read);  // Nothing is new.
    EXPECT_LT(now_read, 60'000U);
    JournalIndex fresh(path());
    EXPECT_FALSE(fresh.refresh().has_value());
    EXPECT_EQ(index.cycles(), fresh.cycles());
    ASSERT_FALSE(index.cycles().empty());
    EXPECT_EQ(index.cycles().back().number, journal->cycles());
    const auto chapter = index.chapter_of(journal->cycles());
    ASSERT_TRUE(chapter.has_value());
    EXPECT_TRUE(chapter->is_same(*fresh.chapter_of(journal->cycles())));
  }
  EXPECT_TRUE(std::filesystem::exists(path("run.journal.3")));
  EXPECT_FALSE(index.chapter_of(1).has_value());  // Its file is gone.
}

TEST_F(JournalTest, TheIndexIsBoundedAndNoticesAnotherFile) {
  {
    const std::unique_ptr<Journal> journal = begin(options());
    for (int each = 0; each < 10; ++each) cycle(*journal, "a", Outcome::infeasible);
  }
  JournalIndex index(path(), {.cycles = 4});
  EXPECT_FALSE(index.refresh().has_value());
  EXPECT_EQ(index.cycles().size(), 4U);
  EXPECT_EQ(index.cycles().front().number, 7U);
  EXPECT_EQ(index.left_out(), 6U);
  // The same file by its identity, and all of it is another journal's.
  std::string others;
  {
    JournalOptions elsewhere = options();
    elsewhere.path = path("other.journal");
    now.ms += 1'000'000;
    const std::unique_ptr<Journal> journal = begin(elsewhere);
    for (int each = 0; each < 20; ++each) cycle(*journal, "b", Outcome::infeasible);
    others = bytes_of(elsewhere.path);
  }
  write_bytes(path(), others);
  EXPECT_FALSE(index.refresh().has_value());
  EXPECT_EQ(index.cycles().back().number, 20U);
  EXPECT_EQ(index.left_out(), 16U);
  std::filesystem::remove(path());
  EXPECT_TRUE(index.refresh().has_value());
  EXPECT_TRUE(index.cycles().empty());
}

}  // namespace
}  // namespace makeway
