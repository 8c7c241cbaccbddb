#include "cli/embedded/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/checked_math.hpp"
#include "base/printable.hpp"
#include "base/wide.hpp"
#include "cli/text.hpp"
#include "control/shown_kernels.hpp"
#include "model/cluster.hpp"
#include "model/find_resource.hpp"
#include "sim/sim_metrics.hpp"

namespace makeway::cli {
namespace {

constexpr std::size_t preemptions_kept = 200;
constexpr std::size_t decisions_kept = 1'000;

std::int64_t amount_in(RequestRow row, ResourceIndex resource) {
  for (const ResourceAmount& item : row) {
    if (item.resource == resource) return item.amount;
  }
  return 0;
}

ScenePreemption scene_preemption(const ReportedPreemption& preemption,
                                 const ReportedVictim& victim) {
  ScenePreemption scene{.when = preemption.when,
                        .victim = victim.name,
                        .priority = victim.priority,
                        .node = victim.node,
                        .ask = preemption.ask,
                        .reason = victim.reason,
                        .alternative = preemption.alternative};
  if (!preemption.alternative.empty() && !preemption.key.empty()) {
    scene.alternative += fmt::format(" ({})", preemption.key);
  }
  return scene;
}

}  // namespace

void SceneWatcher::start(const LoopStart& start) {
  configuration_ = start.configuration;
  waiting_.forget_answers();
}

void SceneWatcher::cycle(const MadeCycle& cycle, const Cluster& /*cluster*/) {
  decide_us_.push_front(cycle.made.decide_us);
  if (decide_us_.size() > decisions_kept) decide_us_.pop_back();
  if (!cycle.made.plan) return;
  waiting_.note(*cycle.made.plan);
  note_actions(*cycle.made.plan, cycle.now);
}

void SceneWatcher::note_actions(const Plan& plan, Time now) {
  start_count_ += static_cast<std::uint64_t>(
      std::ranges::count(plan.actions, ActionType::bind, &PlanAction::type));
  for (const ReportedPreemption& preemption : preemption_report(plan, now, preemptions_kept)) {
    preemption_count_ += preemption.victims_count;
    for (const ReportedVictim& victim : preemption.victims) {
      preemptions_.push_front(scene_preemption(preemption, victim));
      if (preemptions_.size() > preemptions_kept) preemptions_.pop_back();
      if (preempted_) preempted_(preemptions_.front());
    }
  }
}

void SceneWatcher::begin_counting() {
  preemption_count_ = 0;
  start_count_ = 0;
  decide_us_.clear();
}

std::vector<SceneNode> SceneWatcher::nodes_of(const Cluster& cluster, std::string_view resource) {
  const auto column = find_resource(cluster.resources(), resource);
  const ShownKernels kernels(cluster, configuration_.session);
  std::vector<SceneNode> nodes;
  nodes.reserve(cluster.node_count());
  for (const NodeIndex index : cluster.nodes_by_name()) {
    SceneNode node{.name = std::string(cluster.text(cluster.nodes().name[index])),
                   .pods = cluster.nodes().pods[index] + kernels.kernels_on(index)};
    if (column) {
      node.room = amount_in(cluster.requests(cluster.nodes().allocatable[index]), *column);
    }
    std::map<std::int32_t, std::int64_t, std::greater<>> shares;
    for (const PodIndex pod : cluster.order().pods(index)) {
      const std::int32_t priority = kernels.priority_of(pod);
      priorities_.insert(priority);
      const std::int64_t amount =
          column ? amount_in(cluster.requests(cluster.pods().requests[pod]), *column) : 0;
      const bool leaves = cluster.pods().deletion[pod] != no_time;
      std::int64_t& sum = leaves ? node.leaving : shares[priority];
      sum = saturated_add(sum, amount);
    }
    for (const auto& [priority, amount] : shares) {
      node.used.push_back({.priority = priority, .amount = amount});
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

/// What it waits for, in words.
std::string SceneWatcher::why_of(const WaitingAsk& ask) const {
  const AskAnswer* const answer = waiting_.answer_of(ask.name);
  if (answer == nullptr) return ask.remark.empty() ? "not decided yet" : ask.remark;
  return answer->reason.empty() ? std::string(choice_name(answer->outcome)) : answer->reason;
}

std::vector<SceneAsk> SceneWatcher::asks_of(const Cluster& cluster, Time now) {
  waiting_.look(cluster, configuration_);
  std::vector<SceneAsk> asks;
  asks.reserve(waiting_.all().size());
  for (const WaitingAsk& ask : waiting_.all()) {
    priorities_.insert(ask.priority);
    asks.push_back({.name = ask_text(ask.name),
                    .priority = ask.priority,
                    .pods = static_cast<std::size_t>(ask.pods),
                    .waiting = ask.since && *ask.since < now ? now - *ask.since : Duration{},
                    .why = why_of(ask)});
  }
  return asks;
}

Scene SceneWatcher::scene(const Cluster& cluster, std::string_view resource, Time now) {
  Scene scene{.now = now, .resource = std::string(resource)};
  scene.nodes = nodes_of(cluster, resource);
  scene.asks = asks_of(cluster, now);
  scene.preemptions.assign(preemptions_.begin(), preemptions_.end());
  scene.priorities.assign(priorities_.begin(), priorities_.end());
  for (const SceneAsk& ask : scene.asks) scene.counters.pods_waiting += ask.pods;
  for (const SceneNode& node : scene.nodes) scene.counters.pods_running += node.pods;
  scene.counters.preemptions = preemption_count_;
  scene.counters.pods_started = start_count_;
  const Spread spread = spread_of({decide_us_.begin(), decide_us_.end()});
  scene.counters.decide_p50_us = spread.p50;
  scene.counters.decide_p99_us = spread.p99;
  return scene;
}

namespace {

constexpr ScreenSize screen_min{.columns = 40, .rows = 14};
constexpr std::size_t header_rows = 5;
constexpr std::size_t around_rows = header_rows + 3 + 1;  ///< With three headings and the keys.
constexpr std::size_t node_columns = 80;  ///< A screen twice as wide has two columns of nodes.
constexpr std::size_t bar_columns_max = 40;

// ---- A line -------------------------------------------------------------------------------------

/// Text with tones that never becomes wider than it may.
class LineMaker {
 public:
  LineMaker(std::size_t width, const Palette& palette) : width_(width), palette_(palette) {}

  LineMaker& add(std::string_view text, Tone tone = Tone::plain) {
    constexpr std::string_view cut_mark = "..";
    std::string harmless = ascii_text(text);
    const std::size_t left = width_ - used_;
    if (harmless.size() > left) {
      harmless.resize(left);
      if (left >= cut_mark.size()) harmless.replace(left - cut_mark.size(), left, cut_mark);
    }
    used_ += harmless.size();
    line_ += palette_.paint(harmless, tone);
    return *this;
  }
  /// Blanks up to this column, at least one where something follows something.
  LineMaker& to(std::size_t column) {
    const std::size_t blanks = column > used_ ? column - used_ : std::min<std::size_t>(used_, 1);
    return add(std::string(blanks, ' '));
  }
  /// The end of the line; what does not fit beside the rest is left out.
  LineMaker& right(std::string_view text, Tone tone = Tone::plain) {
    if (text.empty() || used_ + 1 + text.size() > width_) return *this;
    return to(width_ - text.size()).add(text, tone);
  }
  std::string take() { return std::move(line_); }

 private:
  std::size_t width_;
  const Palette& palette_;
  std::size_t used_ = 0;
  std::string line_;
};

// ---- Priorities ---------------------------------------------------------------------------------

/// So many have a letter of their own; all below them share the last one.
constexpr std::array band_tones = {Tone::bad,   Tone::warning, Tone::good,
                                   Tone::plain, Tone::dim,     Tone::dim};

std::size_t band_of(const Scene& scene, std::int32_t priority) {
  const auto found = std::ranges::find(scene.priorities, priority);
  return std::min(static_cast<std::size_t>(found - scene.priorities.begin()),
                  band_tones.size() - 1);
}

char band_letter(std::size_t band) { return static_cast<char>('A' + static_cast<int>(band)); }

// ---- Bars ---------------------------------------------------------------------------------------

/// How many of `cells` a part of the room fills, rounded to nearest.
std::size_t cells_of(std::int64_t part, std::int64_t room, std::size_t cells) {
  const Wide filled = (Wide{part} * static_cast<std::int64_t>(cells) + room / 2) / room;
  return static_cast<std::size_t>(std::min<Wide>(filled, static_cast<std::int64_t>(cells)));
}

/// Sums are rounded, not parts, so that the bar is as long as what is in use.
void add_bar(LineMaker& line, const Scene& scene, const SceneNode& node, std::size_t cells) {
  if (node.room <= 0) {
    line.add(std::string(cells, '-'), Tone::dim);
    return;
  }
  std::int64_t sum = 0;
  std::size_t drawn = 0;
  const auto draw = [&](std::int64_t amount, char letter, Tone tone) {
    sum = saturated_add(sum, amount);
    const std::size_t end = std::max(drawn, cells_of(sum, node.room, cells));
    line.add(std::string(end - drawn, letter), tone);
    drawn = end;
  };
  for (const SceneShare& share : node.used) {
    const std::size_t band = band_of(scene, share.priority);
    draw(share.amount, band_letter(band), band_tones[band]);
  }
  draw(node.leaving, 'x', Tone::strong);
  line.add(std::string(cells - drawn, '.'), Tone::dim);
}

std::int64_t used_on(const SceneNode& node) {
  std::int64_t used = node.leaving;
  for (const SceneShare& share : node.used) used = saturated_add(used, share.amount);
  return used;
}

/// All nodes as if they were one.
SceneNode together(const Scene& scene) {
  SceneNode all{.name = counted(scene.nodes.size(), "node")};
  std::map<std::int32_t, std::int64_t, std::greater<>> shares;
  for (const SceneNode& node : scene.nodes) {
    all.room = saturated_add(all.room, node.room);
    all.leaving = saturated_add(all.leaving, node.leaving);
    all.pods += node.pods;
    for (const SceneShare& share : node.used) {
      shares[share.priority] = saturated_add(shares[share.priority], share.amount);
    }
  }
  for (const auto& [priority, amount] : shares) {
    all.used.push_back({.priority = priority, .amount = amount});
  }
  return all;
}

std::string node_line(const Scene& scene, const SceneNode& node, std::size_t width,
                      const Palette& palette) {
  const std::size_t name_columns = width / 4;
  const std::size_t bar_columns = std::min(width / 2, bar_columns_max);
  std::string name = ascii_text(node.name);
  if (name.size() > name_columns) {
    // The end of a name distinguishes nodes.
    name = ".." + name.substr(name.size() - name_columns + 2);
  }
  LineMaker line(width, palette);
  line.add(name).to(name_columns + 1);
  add_bar(line, scene, node, bar_columns);
  line.add(fmt::format(" {}/{} {}, {}", amount_text(scene.resource, used_on(node)),
                       amount_text(scene.resource, node.room), short_name(scene.resource),
                       counted(node.pods, "pod")));
  return line.take();
}

// ---- How the rows are divided -------------------------------------------------------------------

struct SceneRows {
  std::size_t nodes = 0;
  std::size_t asks = 0;
  std::size_t preemptions = 0;
  std::size_t node_columns = 1;
};

SceneRows divided(const Scene& scene, ScreenSize size) {
  const std::size_t free = size.rows - around_rows;
  SceneRows rows;
  rows.node_columns = std::max<std::size_t>(1, size.columns / node_columns);
  const std::size_t wanted = (scene.nodes.size() + rows.node_columns - 1) / rows.node_columns;
  rows.nodes = std::min(wanted, (free + 1) / 2);
  const std::size_t rest = free - rows.nodes;
  rows.asks = std::min(scene.asks.size(), rest / 2);
  rows.preemptions = rest - rows.asks;
  return rows;
}

// ---- Sections -----------------------------------------------------------------------------------

std::string decide_text(std::int64_t microseconds) {
  return fmt::format("{}.{:02} ms", microseconds / 1'000, microseconds % 1'000 / 10);
}

std::string counter_line(const Scene& scene) {
  const SceneUse use = use_of(scene);
  const SceneCounters& counters = scene.counters;
  return fmt::format("{} % of {} in use | {} | {} waiting | {}", percent_of(use.used, use.room),
                     short_name(scene.resource), counted(counters.pods_running, "pod"),
                     grouped(counters.pods_waiting), counted(counters.preemptions, "preemption"));
}

void add_header(std::vector<std::string>& lines, const Scene& scene, ScreenSize size,
                const Palette& palette) {
  const auto line = [&] { return LineMaker(size.columns, palette); };
  const std::string state = scene.is_paused ? "PAUSED" : fmt::format("x{}", scene.speed);
  lines.push_back(line()
                      .add("embedded cluster, not Kubernetes", Tone::strong)
                      .right(fmt::format("{} {}", clock_text(scene.now), state),
                             scene.is_paused ? Tone::warning : Tone::strong)
                      .take());
  lines.push_back(line()
                      .add(fmt::format("preset {} | {}", scene.preset, scene.served))
                      .right(scene.page, Tone::dim)
                      .take());
  lines.push_back(line().add(counter_line(scene)).take());
  lines.push_back(node_line(scene, together(scene), size.columns, palette));
  LineMaker legend(size.columns, palette);
  for (std::size_t at = 0; at < scene.priorities.size() && at < band_tones.size(); ++at) {
    const bool is_last = at + 1 == band_tones.size() && scene.priorities.size() > at + 1;
    legend.add(std::string(1, band_letter(at)), band_tones[at])
        .add(fmt::format(" {}{}  ", scene.priorities[at], is_last ? " and below" : ""));
  }
  lines.push_back(
      legend.add("x leaving  . free")
          .right(fmt::format("decide p50 {}, p99 {}", decide_text(scene.counters.decide_p50_us),
                             decide_text(scene.counters.decide_p99_us)),
                 Tone::dim)
          .take());
}

void add_nodes(std::vector<std::string>& lines, const Scene& scene, ScreenSize size,
               const SceneRows& rows, const Palette& palette) {
  const std::size_t shown = rows.nodes * rows.node_columns;
  const std::size_t count = scene.nodes.size();
  const std::size_t first = std::min(scene.first_node, count - std::min(count, shown));
  const std::size_t last = std::min(count, first + shown);
  std::string heading = "NODES";
  if (shown < count) heading += fmt::format(" {}-{} of {}", first + 1, last, grouped(count));
  lines.push_back(LineMaker(size.columns, palette).add(heading, Tone::strong).take());
  const std::size_t width = size.columns / rows.node_columns;
  const std::size_t gap = rows.node_columns > 1 ? 1 : 0;
  for (std::size_t row = 0; row < rows.nodes; ++row) {
    std::string line;
    for (std::size_t column = 0; column < rows.node_columns; ++column) {
      // Down, then across, as people read names in order.
      const std::size_t at = first + column * rows.nodes + row;
      if (at >= last) break;
      std::string cell = node_line(scene, scene.nodes[at], width - gap, palette);
      if (column + 1 < rows.node_columns) {
        const std::string bare = node_line(scene, scene.nodes[at], width - gap, Palette(false));
        cell += std::string(width - bare.size(), ' ');
      }
      line += cell;
    }
    lines.push_back(std::move(line));
  }
}

void add_asks(std::vector<std::string>& lines, const Scene& scene, ScreenSize size,
              std::size_t rows, const Palette& palette) {
  const std::string heading =
      scene.asks.size() > rows
          ? fmt::format("WAITING, the first {} of {}", rows, counted(scene.asks.size(), "ask"))
          : fmt::format("WAITING, {}", counted(scene.asks.size(), "ask"));
  lines.push_back(LineMaker(size.columns, palette).add(heading, Tone::strong).take());
  for (std::size_t at = 0; at < rows; ++at) {
    const SceneAsk& ask = scene.asks[at];
    const std::size_t band = band_of(scene, ask.priority);
    const std::string size_text = ask.pods == 1 ? "" : fmt::format(", {} pods", ask.pods);
    lines.push_back(LineMaker(size.columns, palette)
                        .add(std::string(1, band_letter(band)), band_tones[band])
                        .add(fmt::format(" {}{}, {}: ", ask.name, size_text,
                                         pending_text(ask.waiting.ms / 1'000)))
                        .add(ask.why, Tone::dim)
                        .take());
  }
}

void add_preemptions(std::vector<std::string>& lines, const Scene& scene, ScreenSize size,
                     std::size_t rows, const Palette& palette) {
  lines.push_back(
      LineMaker(size.columns, palette).add("PREEMPTIONS, newest first", Tone::strong).take());
  const std::size_t end = lines.size() + rows;
  for (const ScenePreemption& each : scene.preemptions) {
    if (lines.size() >= end) return;
    const std::size_t band = band_of(scene, each.priority);
    std::string why = each.reason;
    if (!each.alternative.empty()) {
      // "no other node can hold it" is no place.
      why += each.alternative.starts_with("no ") ? "; " : "; else ";
      why += each.alternative;
    }
    LineMaker line(size.columns, palette);
    line.add(std::string(1, band_letter(band)), band_tones[band])
        .add(fmt::format(" {} {}", clock_text(each.when), preemption_text(each)));
    lines.push_back(line.take());
    if (lines.size() >= end) return;
    lines.push_back(LineMaker(size.columns, palette).add("    " + why, Tone::dim).take());
  }
}

constexpr std::string_view keys_text =
    "space pause | + - speed | p preset | up down nodes | ? help | q quit";

void add_help(std::vector<std::string>& lines, ScreenSize size, const Palette& palette) {
  constexpr std::string_view help =
      "This is Makeway's scheduler at work on a cluster that exists only in this process: nodes, "
      "tasks that arrive, run and end, and pods that take their time to leave. No Kubernetes is "
      "read or written.\n\n"
      "A bar is a node. A letter is what pods of one priority hold of it, A the highest; x is "
      "held by pods that are leaving, a dot is free. Waiting asks have no place yet; the text "
      "says what they wait for. A preemption names the victim, the ask, and why it was chosen.\n\n"
      "  space       pause or resume the clock\n"
      "  + and -     change the speed of the clock\n"
      "  p           switch to the next preset\n"
      "  up, down    other nodes; also j and k, and a page with Page Up, Page Down\n"
      "  ?           show or hide this help\n"
      "  q, Ctrl-C   end, with a summary\n";
  for (std::string_view text = help; !text.empty() && lines.size() + 1 < size.rows;) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string paragraph = wrapped(text.substr(0, end), 0, size.columns);
    text.remove_prefix(std::min(end + 1, text.size()));
    for (std::string_view rest = paragraph.empty() ? "\n" : std::string_view(paragraph);
         !rest.empty() && lines.size() + 1 < size.rows;) {
      const std::size_t line_end = rest.find('\n');
      lines.push_back(LineMaker(size.columns, palette).add(rest.substr(0, line_end)).take());
      rest.remove_prefix(line_end + 1);
    }
  }
}

}  // namespace

std::string ascii_text(std::string_view text) {
  std::string result;
  const std::string safe = printable(text);
  for (std::string_view rest = safe; !rest.empty();) {
    const Character character = first_character(rest);
    if (character.code < 0x80) {
      result += rest.front();
    } else {
      result += character.code <= 0xFFFF ? fmt::format("\\u{:04x}", character.code)
                                         : fmt::format("\\U{:08x}", character.code);
    }
    rest.remove_prefix(std::max<std::size_t>(1, character.length));
  }
  return result;
}

std::string preemption_text(const ScenePreemption& preemption) {
  return ascii_text(fmt::format("{} leaves{}{}{}{}", preemption.victim,
                                preemption.node.empty() ? "" : " ", preemption.node,
                                preemption.ask.empty() ? "" : " for ", preemption.ask));
}

SceneUse use_of(const Scene& scene) {
  SceneUse use;
  for (const SceneNode& node : scene.nodes) {
    use.used = saturated_add(use.used, used_on(node));
    use.room = saturated_add(use.room, node.room);
  }
  return use;
}

std::string clock_text(Time time) {
  constexpr std::int64_t day_seconds = 86'400;
  const std::int64_t second = (time.ms / 1'000 % day_seconds + day_seconds) % day_seconds;
  return fmt::format("{:02}:{:02}:{:02}", second / 3'600, second / 60 % 60, second % 60);
}

std::size_t nodes_shown(const Scene& scene, ScreenSize size) {
  if (size.columns < screen_min.columns || size.rows < screen_min.rows) return 0;
  const SceneRows rows = divided(scene, size);
  return rows.nodes * rows.node_columns;
}

std::vector<std::string> draw_scene(const Scene& scene, ScreenSize size, const Palette& palette) {
  std::vector<std::string> lines;
  if (size.columns < screen_min.columns || size.rows < screen_min.rows) {
    lines.push_back(
        LineMaker(size.columns, palette)
            .add(fmt::format("needs {}x{}; q quits", screen_min.columns, screen_min.rows))
            .take());
    return lines;
  }
  add_header(lines, scene, size, palette);
  if (scene.shows_help) {
    lines.emplace_back();
    add_help(lines, size, palette);
  } else {
    const SceneRows rows = divided(scene, size);
    add_nodes(lines, scene, size, rows, palette);
    add_asks(lines, scene, size, rows.asks, palette);
    add_preemptions(lines, scene, size, rows.preemptions, palette);
  }
  lines.resize(size.rows - 1);
  lines.push_back(LineMaker(size.columns, palette).add(keys_text, Tone::dim).take());
  return lines;
}

}  // namespace makeway::cli
