#include <gtest/gtest.h>

#include "cli/text.hpp"
#include "support/screen.hpp"

namespace makeway::cli {
namespace {

TEST(Table, AlignsByContent) {
  Table table({{.heading = "NAME"}, {.heading = "PODS", .align = Align::right}, {.heading = "X"}});
  table.row({{.text = "a"}, {.text = "12345"}, {.text = "é"}});
  table.row({{.text = "longer"}, {.text = "1"}, {.text = ""}});
  EXPECT_EQ(table.text(Palette(false)),
            "  NAME     PODS  X\n"
            "  a       12345  é\n"
            "  longer      1\n");
}

TEST(Table, ColoursDoNotCountAsWidth) {
  Table table({{.heading = "A"}, {.heading = "B"}});
  table.row({{.text = "x", .tone = Tone::bad}, {.text = "y"}});
  EXPECT_EQ(table.text(Palette(true)),
            "  \x1b[2mA\x1b[0m  \x1b[2mB\x1b[0m\n"
            "  \x1b[31mx\x1b[0m  y\n");
}

TEST(Table, ControlBytesAreHarmless) {
  Table table({{.heading = "A"}});
  table.row({{.text = "\x1b[2J"}});
  EXPECT_EQ(table.text(Palette(false)), "  A\n  \\x1b[2J\n");
}

/// Issue 20, point 5 (cases/hostile/inject-resource-name): names of resources are headings.
TEST(Table, HeadingsAndBandsAreHarmless) {
  Table table({{.heading = "A\nB\x1b[2J"}, {.heading = std::string(200, 'x')}});
  // NOLINTNEXTLINE(misc-misleading-bidirectional): that is what it is about.
  table.band(0, "\r\xE2\x80\xAE");
  table.row({{.text = "1"}, {.text = "2"}});
  EXPECT_EQ(table.text(Palette(false)),
            "  \\x0d\\u202e\n"
            "  A\n"
            "  B\\x1b[2J  " +
                std::string(96, 'x') + "...\n  1         2\n");
}

TEST(Palette, KnowsHowWideThePlaceIs) {
  const Palette unknown(false);
  EXPECT_EQ(unknown.text_width(), 88U);
  EXPECT_EQ(unknown.table_width(), 100U);
  EXPECT_FALSE(unknown.ascii_only());
  makeway::Screen screen;
  screen.terminal.columns = 60;
  screen.terminal.ascii_only = true;
  const Palette narrow = palette_for_out(screen.terminal, "auto");
  EXPECT_EQ(narrow.text_width(), 60U);
  EXPECT_EQ(narrow.table_width(), 60U);
  EXPECT_TRUE(narrow.ascii_only());
  screen.terminal.columns = 200;
  EXPECT_EQ(palette_for_out(screen.terminal, "auto").text_width(), 88U);
  EXPECT_EQ(palette_for_out(screen.terminal, "auto").table_width(), 200U);
}

TEST(Table, ABandWidensItsColumns) {
  Table table({{.heading = "A"},
               {.heading = "B", .align = Align::right},
               {.heading = "C", .align = Align::right}});
  table.band(1, "FIRST");
  table.band(2, "NEXT");
  table.row({{.text = "1"}, {.text = "2"}, {.text = "3"}});
  EXPECT_EQ(table.text(Palette(false)),
            "     FIRST  NEXT\n"
            "  A      B     C\n"
            "  1      2     3\n");
}

TEST(AlignedRatios, PutTheSlashesUnderEachOther) {
  EXPECT_EQ(aligned_ratios({{.part = "1", .whole = "16"}, {.part = "10.5", .whole = "4"}, {}}),
            (std::vector<std::string>{"   1/16", "10.5/4 ", "-"}));
}

TEST(Text, CountsAndGroups) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
  EXPECT_EQ(counted(1, "pod"), "1 pod");
  EXPECT_EQ(counted(2'000, "class", "classes"), "2,000 classes");
}

TEST(Text, WrapsAtBlanks) {
  EXPECT_EQ(wrapped("one two three", 2, 9), "  one two\n  three\n");
  EXPECT_EQ(wrapped("a\n\n  kept as it is, however long", 0, 5),
            "a\n\n  kept as it is, however long\n");
  EXPECT_EQ(wrapped("incompressible word", 0, 4), "incompressible\nword\n");
}

TEST(Table, HeadingsMayHaveSeveralLines) {
  Table table({{"NODE"}, {"LOST\nWORK", Align::right}, {"WHY"}});
  table.row({{"n1"}, {"1h30m"}, {"chosen"}});
  EXPECT_EQ(table.text(Palette(false)),
            "         LOST\n"
            "  NODE   WORK  WHY\n"
            "  n1    1h30m  chosen\n");
}

}  // namespace
}  // namespace makeway::cli
