// SPEC law 13, issue 20 point 5: text from outside never drives the terminal that shows it.
#include "base/printable.hpp"

#include <gtest/gtest.h>

#include <string>

namespace makeway {
namespace {

TEST(Printable, LeavesTextAlone) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("web-1 (a\\b) \"~\""), "web-1 (a\\b) \"~\"");
  // Letters of other languages, a combining accent, an emoji, a no-break space.
  const std::string text =
      "\xC3\xA4\xE2\x82\xAC\xE6\x97\xA5"
      "e\xCC\x81\xF0\x9F\x98\x80\xC2\xA0";
  EXPECT_EQ(printable(text), text);
}

TEST(Printable, EscapesControlCharacters) {
  EXPECT_EQ(printable(std::string_view("\0a\n\t\x1B]0;x\x07\x7F", 11)),
            R"(\x00a\x0a\x09\x1b]0;x\x07\x7f)");
  EXPECT_EQ(printable("\xC2\x85\xC2\x9B"), R"(\u0085\u009b)");
}

TEST(Printable, EscapesWhatHidesOrReorders) {
  // NOLINTNEXTLINE(misc-misleading-bidirectional): that is what it is about.
  EXPECT_EQ(printable("\xE2\x80\xAE\xE2\x81\xA6\xD8\x9C\xE2\x80\x8F"),
            R"(\u202e\u2066\u061c\u200f)");
  EXPECT_EQ(printable("\xE2\x80\x8B\xEF\xBB\xBF\xC2\xAD\xE2\x81\xA0"),
            R"(\u200b\ufeff\u00ad\u2060)");
  EXPECT_EQ(printable("\xE2\x80\xA8\xE2\x80\xA9"), R"(\u2028\u2029)");
  EXPECT_EQ(printable("\xF3\xA0\x81\x81"), R"(\U000e0041)");
  EXPECT_EQ(printable("\xEF\xBF\xBF"), R"(\uffff)");
}

TEST(Printable, EscapesWhatIsNotUtf8) {
  EXPECT_EQ(printable("a\xFFz"), R"(a\xffz)");
  EXPECT_EQ(printable("\xC0\xAF"), R"(\xc0\xaf)");          // overlong
  EXPECT_EQ(printable("\xED\xA0\x80"), R"(\xed\xa0\x80)");  // a surrogate
  EXPECT_EQ(printable("\xE2\x82"), R"(\xe2\x82)");          // cut off
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), R"(\xf4\x90\x80\x80)");
}

TEST(Printable, TwiceIsOnce) {
  // NOLINTNEXTLINE(misc-misleading-bidirectional): that is what it is about.
  const std::string once = printable("\x1B[2J\xE2\x80\xAE\xFF");
  EXPECT_EQ(printable(once), once);
  EXPECT_EQ(printable_lines(once), once);
}

TEST(Printable, LinesKeepWhatWeWriteOurselves) {
  const std::string ours = "a\tb\n\x1B[1mstrong\x1B[0m \x1B[31mbad\x1B[0m\n\r\x1B[K";
  EXPECT_EQ(printable_lines(ours), ours);
  EXPECT_EQ(printable_lines("a\x1B[2J\rb\x1B[38;5;1m\xE2\x80\xAE\n"),
            "a\\x1b[2J\\x0db\\x1b[38;5;1m\\u202e\n");
}

TEST(Printable, LinesOfPlainTextAreKnownAtOnce) {
  EXPECT_TRUE(has_printable_lines("a b\nc~\n"));
  for (const std::string_view text : {"a\tb", "\x1B[0m", "\xC3\xA4", "\x7F", "\r"}) {
    EXPECT_FALSE(has_printable_lines(text));
  }
}

TEST(Shorten, KeepsShortTexts) {
  EXPECT_EQ(shorten(""), "");
  EXPECT_EQ(shorten("abc"), "abc");
  EXPECT_EQ(shorten(std::string(60, 'x')), std::string(60, 'x'));
}

TEST(Shorten, CutsLongOnes) {
  EXPECT_EQ(shorten(std::string(61, 'x')), std::string(60, 'x') + "...");
  EXPECT_EQ(shorten("abcdef", 3), "abc...");
  EXPECT_EQ(shorten("abc", 0), "...");
}

TEST(Shorten, NeverCutsThroughACharacter) {
  // U+00E4 is two bytes, U+20AC three: a cut inside moves to the front of the character.
  EXPECT_EQ(shorten("a\xC3\xA4z", 2), "a...");
  EXPECT_EQ(shorten("a\xC3\xA4z", 3), "a\xC3\xA4...");
  EXPECT_EQ(shorten("\xE2\x82\xACz", 2), "...");
  EXPECT_EQ(shorten("\xE2\x82\xACz", 3), "\xE2\x82\xAC...");
}

TEST(Shorten, CutsBytesThatAreNoTextAnywhere) {
  EXPECT_EQ(shorten(std::string(100, '\x80'), 4), R"(\x80...)");
}

TEST(Shorten, EscapesControlBytes) {
  EXPECT_EQ(shorten("a\nb\x1B[31m\x7F"), "a\\x0ab\\x1b[31m\\x7f");
  EXPECT_EQ(shorten(std::string_view("\0", 1)), "\\x00");
}

}  // namespace
}  // namespace makeway
