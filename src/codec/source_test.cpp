#include "codec/source.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace makeway {
namespace {

namespace fs = std::filesystem;

std::string gzip(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A folder of its own for each test.
class Source : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "makeway_source_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view text) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  Result<std::vector<std::string>> list(const std::vector<std::string>& paths) const {
    const auto files = list_sources(paths);
    if (!files) return std::unexpected(files.error());
    std::vector<std::string> names;
    for (const SourceFile& file : *files) names.push_back(file.path);
    return names;
  }

  const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

std::string text_of(const std::string& path) {
  const auto source = read_source({path});
  if (!source) return source.error().message;
  const PaddedText& text = source->text;
  EXPECT_EQ(text.readable_size(), text.size() + text_padding);
  for (std::size_t i = 0; i < text_padding; ++i) EXPECT_EQ(text.data()[text.size() + i], 0);
  EXPECT_EQ(source->name, path);
  return std::string(text.view());
}

TEST_F(Source, ListsFoldersInOrderOfPaths) {
  write("b.yaml", "");
  write("a.yml.gz", "");
  write("sub/c.json", "");
  write("sub/deep/d.jsonl", "");
  write("readme.md", "");
  write(".hidden.yaml", "");
  write(".git/e.yaml", "");
  write("sub/.yaml", "");
  const auto files = list({folder().string()});
  ASSERT_TRUE(files);
  EXPECT_EQ(*files, (std::vector<std::string>{path("a.yml.gz"), path("b.yaml"), path("sub/c.json"),
                                              path("sub/deep/d.jsonl")}));
}

TEST_F(Source, TakesNamedFilesAsTheyAre) {
  const std::string odd = write("odd.txt", "a: 1");
  const auto files = list({odd, "-", odd});
  ASSERT_TRUE(files);
  EXPECT_EQ(*files, (std::vector<std::string>{odd, "-", odd}));
}

TEST_F(Source, DoesNotFollowLinksToFolders) {
  write("a.yaml", "");
  fs::create_directory_symlink(folder(), folder() / "loop");
  fs::create_symlink(folder() / "a.yaml", folder() / "link.yaml");
  fs::create_symlink(folder() / "nothing", folder() / "dangling.yaml");
  const auto files = list({folder().string()});
  ASSERT_TRUE(files);
  EXPECT_EQ(*files, (std::vector<std::string>{path("a.yaml"), path("link.yaml")}));
}

TEST_F(Source, RefusesPathsWithTheRemedy) {
  const auto missing = list({path("missing.yaml")});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("missing.yaml: No such file"), std::string::npos);
  EXPECT_NE(missing.error().message.find("check the path"), std::string::npos);
  EXPECT_FALSE(list({"-", "-"}));
  EXPECT_FALSE(list({""}));
  write("notes.txt", "");
  const auto empty = list({folder().string()});
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().message.find("no *.yaml"), std::string::npos);
}

TEST_F(Source, ReadsPlainText) {
  EXPECT_EQ(text_of(write("a.yaml", "a: 1\n")), "a: 1\n");
  EXPECT_EQ(text_of(write("empty.yaml", "")), "");
  const std::string large(1'000'003, 'x');
  EXPECT_EQ(text_of(write("large.yaml", large)), large);
  EXPECT_EQ(text_of(write("bom.yaml",
                          "\xEF\xBB\xBF"
                          "a: 1")),
            "a: 1");
}

TEST_F(Source, ReadsGzipWhateverItsName) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i) + "\n";
  EXPECT_EQ(text_of(write("a.yaml", gzip(text))), text);
  EXPECT_EQ(text_of(write("two.gz", gzip("one ") + gzip(text))), "one " + text);
  EXPECT_EQ(text_of(write("zeros.gz", gzip("one") + std::string(512, '\0'))), "one");
  EXPECT_EQ(text_of(write("empty.gz", gzip(""))), "");
  EXPECT_EQ(text_of(write("bom.gz", gzip("\xEF\xBB\xBF"
                                         "a"))),
            "a");
  std::string many;
  many.resize(10'000'000, 'a');
  EXPECT_EQ(text_of(write("many.gz", gzip(many))), many);
}

TEST_F(Source, RefusesTornGzip) {
  const std::string whole = gzip("some text that is long enough to be compressed, compressed");
  for (std::size_t length = 2; length < whole.size(); ++length) {
    const auto text = decode_text(PaddedText(whole.substr(0, length)), "x");
    ASSERT_FALSE(text) << length;
    EXPECT_NE(text.error().message.find("gzip -t"), std::string::npos);
  }
  std::string damaged = whole;
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);
  EXPECT_FALSE(decode_text(PaddedText(damaged), "x"));
  EXPECT_FALSE(decode_text(PaddedText(whole + "trailing"), "x"));
}

TEST_F(Source, LimitsTheDecompressedSize) {
  const std::string bomb = gzip(std::string(1'000'000, '\n'));
  EXPECT_TRUE(decode_text(PaddedText(bomb), "x"));
  EXPECT_TRUE(decode_text(PaddedText(bomb), "x", {.always = 1'000'000}));
  EXPECT_TRUE(decode_text(PaddedText(bomb), "x", {.ratio_max = 1'000'000, .always = 0}));
  const auto text = decode_text(PaddedText(bomb), "bomb.gz", {.always = 999'999});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message,
            "bomb.gz: unpacks to more than 999999 bytes, over 64 times its packed size; "
            "unpack it yourself if that is meant");
  const auto members = decode_text(PaddedText(bomb + bomb), "bomb.gz", {.always = 1'999'999});
  EXPECT_FALSE(members);
}

/// Issue 20, point 4: 64 times the packed size or 1 GiB, whichever is larger.
TEST_F(Source, UnpacksToALimit) {
  constexpr std::size_t gib = std::size_t{1} << 30U;
  EXPECT_EQ(UnpackLimits{}.bytes_max(0), gib);
  EXPECT_EQ(UnpackLimits{}.bytes_max(gib / 64), gib);
  EXPECT_EQ(UnpackLimits{}.bytes_max(gib / 32), 2 * gib);
  EXPECT_EQ(UnpackLimits{}.bytes_max(gib), source_bytes_max);
  EXPECT_EQ(UnpackLimits{.ratio_max = 1'000'000}.bytes_max(SIZE_MAX), source_bytes_max);
}

TEST_F(Source, RefusesUtf16) {
  for (const std::string_view text :
       {std::string_view("\xFF\xFE{\0", 4), std::string_view("\xFE\xFF\0{", 4),
        std::string_view("{\0}\0", 4), std::string_view("\0{", 2)}) {
    const auto result = decode_text(PaddedText(text), "x");
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find("iconv"), std::string::npos);
  }
}

TEST_F(Source, RefusesWhatIsNoFile) {
  EXPECT_NE(text_of(folder().string()).find("is a folder"), std::string::npos);
  EXPECT_NE(text_of("/dev/null").find("is a character device"), std::string::npos);
  EXPECT_NE(text_of(path("gone")).find("No such file"), std::string::npos);
}

TEST_F(Source, ReadsPipesAndStandardInput) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "a: 1\n", 5), 5);
  ::close(ends[1]);
  const int kept = ::dup(STDIN_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  ::close(ends[0]);
  EXPECT_EQ(text_of("-"), "a: 1\n");
  EXPECT_EQ(text_of("-"), "");
  if (kept >= 0) ::dup2(kept, STDIN_FILENO);
}

TEST(PaddedTextTest, MovesAndLeavesNothing) {
  PaddedText text("abc");
  EXPECT_EQ(text.view(), "abc");
  PaddedText moved = std::move(text);
  EXPECT_EQ(moved.view(), "abc");
  moved.remove_prefix(1);
  EXPECT_EQ(moved.view(), "bc");
  EXPECT_EQ(PaddedText().view(), "");
  EXPECT_EQ(PaddedText("").readable_size(), text_padding);
}

TEST(Format, IsSeenInTheFirstByte) {
  EXPECT_EQ(detect_format("{}"), TextFormat::json);
  EXPECT_EQ(detect_format(" \n\t[1]"), TextFormat::json);
  EXPECT_EQ(detect_format("{ \n \"a\": 1}"), TextFormat::json);
  EXPECT_EQ(detect_format("{a: 1}"), TextFormat::yaml);
  EXPECT_EQ(detect_format("{"), TextFormat::yaml);
  EXPECT_EQ(detect_format("a: 1"), TextFormat::yaml);
  EXPECT_EQ(detect_format("---\n{}"), TextFormat::yaml);
  EXPECT_EQ(detect_format(""), TextFormat::yaml);
}

}  // namespace
}  // namespace makeway
