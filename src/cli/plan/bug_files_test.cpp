// Law 14, issue 20 point 6: where a case is kept that shows a bug of ours.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "cli/plan/plan_maker.hpp"

namespace makeway::cli {
namespace {

namespace fs = std::filesystem;

class BugFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / fmt::format("makeway-bug-files-{}", getpid());
    fs::create_directories(folder);
    before = fs::current_path();
    fs::current_path(folder);
  }
  void TearDown() override {
    fs::current_path(before);
    fs::remove_all(folder);
  }

  static std::string text_of(const std::string& name) {
    std::ifstream stream(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static std::size_t files() {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator("."), fs::directory_iterator()));
  }

  fs::path folder;
  fs::path before;
};

TEST_F(BugFilesTest, OnlyTheOwnerMayReadIt) {
  const mode_t mask = umask(0);
  BugFiles bugs;
  EXPECT_EQ(bugs.keep("1", "case\n").name, "makeway-bug-1.json");
  umask(mask);
  EXPECT_EQ(text_of("makeway-bug-1.json"), "case\n");
  struct stat status{};
  ASSERT_EQ(stat("makeway-bug-1.json", &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(BugFilesTest, NothingIsWrittenThroughALinkOrOverAFile) {
  std::ofstream("victim") << "precious";
  fs::create_symlink("victim", "makeway-bug-1.json");
  fs::create_symlink("nowhere", "makeway-bug-1-2.json");
  std::ofstream("makeway-bug-1-3.json") << "another case";
  BugFiles bugs;
  EXPECT_EQ(bugs.keep("1", "case").name, "makeway-bug-1-4.json");
  EXPECT_EQ(text_of("victim"), "precious");
  EXPECT_FALSE(fs::exists("nowhere"));
  EXPECT_EQ(text_of("makeway-bug-1-3.json"), "another case");
}

TEST_F(BugFilesTest, TheSameCaseIsKeptOnce) {
  EXPECT_EQ(BugFiles().keep("1", "case").name, "makeway-bug-1.json");
  EXPECT_EQ(BugFiles().keep("1", "case").name, "makeway-bug-1.json");
  EXPECT_EQ(files(), 1U);
}

TEST_F(BugFilesTest, ARunKeepsTen) {
  BugFiles bugs;
  for (int number = 0; number < 15; ++number) {
    EXPECT_EQ(bugs.is_full(), number >= 10);
    const BugFiles::Kept kept = bugs.keep(fmt::format("{}", number), "case");
    EXPECT_EQ(kept.name.empty(), number >= 10);
    EXPECT_EQ(kept.failure, "");
  }
  EXPECT_EQ(files(), 10U);
}

TEST_F(BugFilesTest, AFailureIsReported) {
  BugFiles bugs;
  const BugFiles::Kept kept = bugs.keep("there/is/no/such/folder", "case");
  EXPECT_EQ(kept.name, "");
  EXPECT_EQ(kept.failure, "No such file or directory");
}

}  // namespace
}  // namespace makeway::cli
