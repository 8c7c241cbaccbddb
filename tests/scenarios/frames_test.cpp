// Frames of the terminal view (`makeway run --embedded`), as text: a scene, a line "----", and what
// the screen shows. README.md describes the files; MAKEWAY_REWRITE=1 writes them anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/embedded/scene.hpp"
#include "scenarios/sandbox.hpp"
#include "support/screen_text.hpp"

namespace makeway {
namespace {

struct FrameCase {
  cli::Scene scene;
  cli::ScreenSize size;
  bool colours = false;
};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// \xNN becomes that byte.
std::string unescaped(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    if (text.starts_with("\\x") && text.size() >= 4) {
      bytes += static_cast<char>(std::stoi(std::string(text.substr(2, 2)), nullptr, 16));
      text.remove_prefix(4);
    } else {
      bytes += text.front();
      text.remove_prefix(1);
    }
  }
  return bytes;
}

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  while (true) {
    const std::size_t end = std::min(line.find('|'), line.size());
    fields.push_back(unescaped(trimmed(line.substr(0, end))));
    if (end == line.size()) return fields;
    line.remove_prefix(end + 1);
  }
}

/// "node | n1 | 8 | 2 pods | 300:4 0:2 x:1": room, pods, and what each priority holds.
cli::SceneNode frame_node(const std::vector<std::string>& fields) {
  cli::SceneNode node{.name = fields.at(1), .room = std::stoll(fields.at(2))};
  node.pods = std::stoul(fields.at(3));
  for (const std::string& share : split_words(fields.at(4))) {
    const std::size_t colon = share.find(':');
    const std::int64_t amount = std::stoll(share.substr(colon + 1));
    if (share.starts_with('x')) {
      node.leaving = amount;
    } else {
      node.used.push_back({.priority = std::stoi(share), .amount = amount});
    }
  }
  return node;
}

void read_scene_line(FrameCase& frame, const std::vector<std::string>& fields) {
  cli::Scene& scene = frame.scene;
  const std::string& what = fields.front();
  const auto number = [&](std::size_t at) { return std::stoll(fields.at(at)); };
  if (what == "size") {
    frame.size = {.columns = std::stoul(fields.at(1)), .rows = std::stoul(fields.at(2))};
  } else if (what == "served") {
    scene.served = fields.at(1);
    scene.preset = fields.at(2);
    scene.page = fields.at(3);
  } else if (what == "clock") {
    scene.now = parse_time(fields.at(1)).value();
    scene.speed = number(2);
  } else if (what == "paused") {
    scene.is_paused = true;
  } else if (what == "help") {
    scene.shows_help = true;
  } else if (what == "colours") {
    frame.colours = true;
  } else if (what == "first") {
    scene.first_node = std::stoul(fields.at(1));
  } else if (what == "resource") {
    scene.resource = fields.at(1);
    for (const std::string& each : split_words(fields.at(2))) {
      scene.priorities.push_back(std::stoi(each));
    }
  } else if (what == "counters") {
    scene.counters = {.pods_running = std::stoul(fields.at(1)),
                      .pods_waiting = std::stoul(fields.at(2)),
                      .preemptions = std::stoul(fields.at(3)),
                      .decide_p50_us = number(4),
                      .decide_p99_us = number(5)};
  } else if (what == "node") {
    scene.nodes.push_back(frame_node(fields));
  } else if (what == "nodes") {  // So many of them, with numbers.
    cli::SceneNode node = frame_node(fields);
    for (std::int64_t at = 0; at < number(5); ++at) {
      scene.nodes.push_back(node);
      scene.nodes.back().name += fmt::format("{:03}", at);
    }
  } else if (what == "ask") {
    scene.asks.push_back({.name = fields.at(1),
                          .priority = std::stoi(fields.at(2)),
                          .pods = std::stoul(fields.at(3)),
                          .waiting = {number(4) * 1'000},
                          .why = fields.at(5)});
  } else if (what == "preemption") {
    scene.preemptions.push_back({.when = parse_time(fields.at(1)).value(),
                                 .victim = fields.at(2),
                                 .priority = std::stoi(fields.at(3)),
                                 .node = fields.at(4),
                                 .ask = fields.at(5),
                                 .reason = fields.at(6),
                                 .alternative = fields.at(7)});
  } else {
    FAIL() << "no such line: " << what;
  }
}

/// Colours as {1}...{0}, so that a file stays readable.
std::string shown(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    for (std::string_view rest = line; !rest.empty();) {
      if (rest.starts_with("\x1b[")) {
        const std::size_t end = rest.find('m');
        text += fmt::format("{{{}}}", rest.substr(2, end - 2));
        rest.remove_prefix(end + 1);
      } else {
        text += rest.front();
        rest.remove_prefix(1);
      }
    }
    text += "\n";
  }
  return text;
}

std::filesystem::path frames_folder() {
  return repository_root() / "tests" / "scenarios" / "frames";
}

std::vector<std::string> frame_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(frames_folder())) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

class Frames : public testing::TestWithParam<std::string> {};

TEST_P(Frames, AreAsWritten) {
  const std::filesystem::path path = frames_folder() / (GetParam() + ".txt");
  const std::string text = read_text(path);
  const std::size_t rule = text.find("----\n");
  ASSERT_NE(rule, std::string::npos) << path << ": there is no line ----";
  FrameCase frame;
  for (const std::string& line : lines_in(std::string_view(text).substr(0, rule))) {
    if (!line.empty() && !line.starts_with('#')) read_scene_line(frame, fields_of(line));
  }
  const auto lines = cli::draw_scene(frame.scene, frame.size, cli::Palette(frame.colours));
  EXPECT_LE(lines.size(), frame.size.rows);
  const auto bare = cli::draw_scene(frame.scene, frame.size, cli::Palette(false));
  for (const std::string& line : bare) {
    EXPECT_LE(line.size(), frame.size.columns) << line;
    EXPECT_TRUE(std::ranges::all_of(line, [](char byte) { return byte >= ' ' && byte <= '~'; }))
        << line;
  }
  const std::string drawn = text.substr(0, rule) + "----\n" + shown(lines);
  if (rewriting()) return write_text(path, drawn);
  EXPECT_EQ(text, drawn);
}

INSTANTIATE_TEST_SUITE_P(All, Frames, testing::ValuesIn(frame_names()),
                         [](const auto& test) { return test.param; });

/// Sizes that windows really have, and some that they do not.
TEST(FrameSizes, NeverMoreThanTheScreenHas) {
  cli::Scene scene{.served = "x", .preset = "makeway", .resource = "cpu", .priorities = {5, 0}};
  for (int at = 0; at < 50; ++at) {
    scene.nodes.push_back({.name = fmt::format("n{}", at),
                           .room = 8'000,
                           .used = {{.priority = 5, .amount = 9'000}},
                           .pods = 1});
    scene.asks.push_back({.name = std::string(screen_payload), .why = std::string(300, 'w')});
    scene.preemptions.push_back({.victim = std::string(screen_payload)});
  }
  for (std::size_t columns = 1; columns <= 250; columns += 13) {
    for (std::size_t rows = 1; rows <= 80; rows += 3) {
      const auto lines =
          cli::draw_scene(scene, {.columns = columns, .rows = rows}, cli::Palette(false));
      ASSERT_LE(lines.size(), rows) << columns << "x" << rows;
      for (const std::string& line : lines) {
        ASSERT_LE(line.size(), columns) << columns << "x" << rows;
        ASSERT_EQ(screen_complaint(line), "");
      }
    }
  }
}

}  // namespace
}  // namespace makeway
