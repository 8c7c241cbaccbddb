#include "codec/line_source.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <vector>

namespace makeway {
namespace {

class Lines : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  /// All lines, and "error: ..." at the end when there is one.
  std::vector<std::string> lines_of(std::string_view bytes, const UnpackLimits& limits = {}) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    std::vector<std::string> lines;
    Result<LineSource> source = LineSource::open(path_, limits);
    if (!source) return {"error: " + source.error().message};
    std::string line;
    for (;;) {
      const Result<bool> more = source->next(line);
      if (!more) lines.push_back("error: " + more.error().message.substr(path_.size()));
      if (!more || !*more) return lines;
      lines.push_back(line);
    }
  }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / "makeway-lines-test";
};

std::string gzipped(std::string_view text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

using Texts = std::vector<std::string>;

TEST_F(Lines, EndWithOrWithoutANewline) {
  EXPECT_EQ(lines_of(""), Texts{});
  EXPECT_EQ(lines_of("a"), Texts{"a"});
  EXPECT_EQ(lines_of("a\n"), Texts{"a"});
  EXPECT_EQ(lines_of("a\r\n\nb"), (Texts{"a", "", "b"}));
  EXPECT_EQ(lines_of("\xEF\xBB\xBFx\n"), Texts{"x"});
}

TEST_F(Lines, MayBeLongerThanEveryBuffer) {
  const std::string large(3'000'000, 'x');
  EXPECT_EQ(lines_of(large + "\nend\n"), (Texts{large, "end"}));
  EXPECT_EQ(lines_of(gzipped(large + "\nend\n")), (Texts{large, "end"}));
}

TEST_F(Lines, OfSeveralMembersAreOneText) {
  EXPECT_EQ(lines_of(gzipped("a\nb") + gzipped("c\nd\n")), (Texts{"a", "bc", "d"}));
  EXPECT_EQ(lines_of(gzipped("a\n") + std::string(100, '\0')), Texts{"a"});
  EXPECT_EQ(lines_of(gzipped("")), Texts{});
}

TEST_F(Lines, OfATornFileAreRefused) {
  std::string torn = gzipped("hello\nworld\n");
  torn.resize(torn.size() - 4);
  EXPECT_EQ(lines_of(torn).back(),
            "error: : the gzip data ends too early; check it with gzip -t and copy it again");
  EXPECT_EQ(lines_of(gzipped("a\n") + "b\n").back(),
            "error: : something follows the gzip data; check it with gzip -t and copy it again");
}

TEST_F(Lines, OfNoFileAreAnError) {
  const Result<LineSource> none = LineSource::open("/there/is/no/such/file");
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().message,
            "/there/is/no/such/file: No such file or directory; check the path");
  Result<LineSource> folder = LineSource::open("/");
  ASSERT_TRUE(folder.has_value());
  std::string line;
  EXPECT_FALSE(folder->next(line).has_value());
}

/// Issue 20, point 4: one line must fit into memory.
TEST_F(Lines, ALineUnpacksToALimit) {
  const std::string packed = gzipped(std::string(1'000'000, 'x') + "\ny\n");
  EXPECT_EQ(lines_of(packed).size(), 2U);
  EXPECT_EQ(lines_of(packed, {.always = 900'000}),
            Texts{"error: : unpacks to more than 900000 bytes, over 64 times its packed size; "
                  "unpack it yourself if that is meant"});
  // Many short lines may be as much as they like.
  std::string lines;
  for (int count = 0; count < 100'000; ++count) lines += "x\n";
  EXPECT_EQ(lines_of(gzipped(lines), {.always = 1'000}).size(), 100'000U);
}

}  // namespace
}  // namespace makeway
