#include "cli/risk/risk_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "cli/amount.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "model/object_text.hpp"
#include "model/resource.hpp"

namespace makeway::cli {
namespace {

const Unit& unit_of(const Cluster& cluster, PodIndex pod) {
  return cluster.units()[cluster.pods().unit[pod]];
}

std::string key_of_pod(const Cluster& cluster, PodIndex pod) {
  return key_text({cluster.text(cluster.pods().namespace_name[pod]), cluster.pods().name[pod.value],
                   cluster.text(cluster.pods().plane[pod])});
}

std::string node_of(const RiskReport& report) {
  const NodeIndex node = report.cluster.pods().node[report.pod];
  return shorten(report.cluster.text(report.cluster.nodes().name[node]));
}

std::string paragraph(const std::string& text, std::size_t indent, const Palette& palette) {
  return wrapped(printable(text), indent, palette.text_width());
}

/// "Pod research/render-1 (priority 100) runs on gpu-2 and holds nvidia.com/gpu 1"
std::string heading_text(const RiskReport& report, const Palette& palette) {
  std::string text;
  if (!report.chosen_from.empty()) text += paragraph(report.chosen_from, 0, palette);
  std::string line = fmt::format(
      "{} (priority {}) runs on {}",
      palette.paint("Pod " + shorten(key_of_pod(report.cluster, report.pod), 120), Tone::strong),
      unit_of(report.cluster, report.pod).preemption_priority, node_of(report));
  if (!report.resource.empty()) {
    line += fmt::format(" and holds {} {}", printable(report.resource),
                        amount_text(report.resource, report.held));
  }
  return text + line + "\n\n";
}

std::string today_text(const RiskReport& report, const Palette& palette) {
  const std::string asks = counted(report.today.asks.size(), "ask");
  if (report.taker == nullptr) {
    return fmt::format("{} Today's plan does not evict it ({}).\n", palette.paint("+", Tone::good),
                       asks);
  }
  const std::string taker = fmt::format(
      "{} (priority {})", palette.paint(shorten(ask_text(*report.taker), 120), Tone::strong),
      report.taker->priority);
  if (!report.stops_with.empty()) {
    return fmt::format("{} Today's plan stops it for {}.\n", palette.paint("!", Tone::bad), taker) +
           paragraph(fmt::format("it is not evicted, but stops with {}, which loses pods",
                                 report.stops_with),
                     2, palette);
  }
  std::string text =
      fmt::format("{} Today's plan evicts it for {}.\n", palette.paint("!", Tone::bad), taker);
  if (report.victim == nullptr) return text;
  text += paragraph(fmt::format("{}; {}", report.victim->reason, report.victim->cause_rule), 2,
                    palette);
  text += paragraph(fmt::format("compared with: {}; decided on: {}",
                                report.victim->cause_alternative, report.victim->cause_key),
                    2, palette);
  return text;
}

std::string line_text(const RiskReport& report, const Palette& palette) {
  const RiskLine& line = report.line;
  std::string text =
      fmt::format("In line on {}, least important first, it is number {} of {}", node_of(report),
                  line.place, counted(static_cast<std::uint64_t>(line.count), "pod"));
  if (line.place == 1) return paragraph(text + ".", 0, palette);
  text += fmt::format("; before it, with their priority: {}", fmt::join(line.before, ", "));
  const std::int64_t more = line.place - 1 - std::ssize(line.before);
  if (more > 0) text += fmt::format(" and {} more", grouped(static_cast<std::uint64_t>(more)));
  return paragraph(text + ".", 0, palette);
}

/// Never rounded: an ask for exactly this amount must get the reported answer.
std::string exact_text(std::string_view resource, std::int64_t amount) {
  return counted_in_thousandths(resource) ? amount_text(resource, amount)
                                          : exact_amount(resource, amount);
}

/// A group that leaves as a whole is at risk on each of its nodes.
std::string group_text(const RiskReport& report, const Palette& palette) {
  const Unit& unit = unit_of(report.cluster, report.pod);
  if (unit.kind == UnitKind::pod || unit.mode != DisruptionMode::all) return {};
  const Group& group = report.cluster.groups()[unit.group];
  std::set<std::string> nodes;
  for (const PodIndex member : group.members) {
    const NodeIndex node = report.cluster.pods().node[member];
    if (node.exists()) {
      nodes.insert(std::string(report.cluster.text(report.cluster.nodes().name[node])));
    }
  }
  return paragraph(
      fmt::format("It leaves with its whole group {}, so an ask on any of the group's nodes takes "
                  "it: {}.",
                  object_text("PodGroup", report.cluster.text(group.namespace_name),
                              report.cluster.text(group.name)),
                  few_names({nodes.begin(), nodes.end()})),
      0, palette);
}

/// Others of its unit are in danger elsewhere, and it with them.
std::string units_text(const RiskReport& report, const Palette& palette) {
  std::string text;
  for (const StoppingUnit& unit : report.units) {
    const bool one = unit.losses == 1;
    text += paragraph(
        fmt::format("It stops with {} when {} of its pods {} evicted; the others run on {}.",
                    unit.unit, grouped(static_cast<std::uint64_t>(unit.losses)), one ? "is" : "are",
                    few_names(unit.nodes)),
        0, palette);
  }
  return text;
}

/// "of its queue a on n1"
std::string where_text(const RiskReport& report) {
  const std::string queue =
      report.queue.empty() ? std::string{} : fmt::format("of its queue {} ", report.queue);
  return fmt::format("{}on {}", queue, node_of(report));
}

/// "No ask can evict it" is only written if a plan says why.
std::string no_eviction_text(const RiskReport& report) {
  if (report.taker != nullptr && report.stops_with.empty()) {
    return fmt::format("Of other asks {}, none that was tried evicts it.", where_text(report));
  }
  if (report.why_it_stays.empty()) {
    return fmt::format("No ask {} that was tried evicts it, up to the highest priority.",
                       where_text(report));
  }
  return fmt::format("No ask {} can evict it, whatever its priority: {}.", where_text(report),
                     report.why_it_stays);
}

/// Queues take from each other whatever the priorities.
std::string queues_text(const RiskReport& report, const Palette& palette) {
  const QueueTrials& trials = report.other_queues;
  if (trials.tried.empty()) return {};
  std::vector<std::string> taking;
  std::vector<std::string> others;
  std::set<std::int64_t> amounts = {report.held};
  for (const QueueTrial& trial : trials.tried) {
    if (trial.takes) {
      taking.push_back(fmt::format("{} ({} {})", trial.queue, report.resource,
                                   exact_text(report.resource, trial.amount)));
    } else {
      others.push_back(trial.queue);
      amounts.insert(trial.amount);
    }
  }
  std::string line;
  if (!taking.empty()) {
    line = fmt::format(
        "Whatever its priority, an ask of another queue that is below its share takes it: {}.",
        fmt::join(taking, ", "));
  }
  if (!others.empty()) {
    std::vector<std::string> asked;
    asked.reserve(amounts.size());
    for (const std::int64_t amount : amounts) {
      asked.push_back(exact_text(report.resource, amount));
    }
    line += fmt::format("{}One ask for {} {} in {} does not take it; others were not tried.",
                        line.empty() ? "" : " ", report.resource, fmt::join(asked, " or "),
                        fmt::join(others, ", "));
  }
  if (trials.not_tried > 0) {
    line += fmt::format(" {} not tried.",
                        counted(trials.not_tried, "more queue was", "more queues were"));
  }
  return paragraph(line, 0, palette);
}

std::string asks_text(const RiskReport& report, const Palette& palette) {
  if (report.resource.empty()) {
    return paragraph(
        "It requests nothing but a place among the pods of its node, so there is no "
        "room that an ask would gain by evicting it.",
        0, palette);
  }
  if (!report.smallest) return paragraph(no_eviction_text(report), 0, palette);
  const EvictingAsk& smallest = *report.smallest;
  std::vector<std::string> others = others_evicted(report);
  const std::string text =
      report.queue.empty()
          ? fmt::format("Lowest priority that can evict it: {}.\n", smallest.priority)
          : paragraph(fmt::format("Lowest priority in its queue {} that can evict it: {}.",
                                  report.queue, smallest.priority),
                      0, palette);
  std::string line =
      fmt::format("Smallest ask{} that does, with that priority on {}: {} {}, where {}",
                  smallest.is_smallest ? "" : " found", node_of(report), report.resource,
                  exact_text(report.resource, smallest.amount),
                  report.has_no_place ? std::string("there is no place for another pod")
                                      : exact_text(report.resource, report.free) + " is free");
  if (!others.empty()) line += fmt::format("; it also evicts {}", few_names(std::move(others)));
  for (const PlanStoppedUnit& unit : smallest.answer.stopped_units) {
    line += fmt::format("; it stops {} of {}",
                        counted(static_cast<std::uint64_t>(unit.stopped), "more pod"), unit.unit);
  }
  return text + paragraph(line + ".", 0, palette);
}

std::string trials_text(const RiskReport& report, const Palette& palette) {
  if (report.trials.empty()) return {};
  Table table({{.heading = ""}, {.heading = "CHANGE"}, {.heading = "THEN IT"}});
  for (const ProtectionTrial& trial : report.trials) {
    table.row(
        {{.text = trial.protects ? "+" : "-", .tone = trial.protects ? Tone::good : Tone::bad},
         {.text = trial.change},
         {.text = trial.result}});
  }
  return fmt::format(
      "\n{}\n{}",
      palette.paint(fmt::format("What would protect it, tried on {}", printable(report.tried_on)),
                    Tone::strong),
      table.text(palette));
}

}  // namespace

RiskLine line_of(const Cluster& cluster, PodIndex pod) {
  constexpr std::size_t shown_max = 5;
  RiskLine line;
  const PodColumns& pods = cluster.pods();
  for (const PodIndex other : std::views::reverse(cluster.order().pods(pods.node[pod]))) {
    if (pods.flags[other].kernel || pods.deletion[other] != no_time) continue;
    ++line.count;
    if (other == pod) line.place = line.count;
    if (line.place > 0 || line.before.size() == shown_max) continue;
    line.before.push_back(fmt::format("{} ({})", key_of_pod(cluster, other),
                                      unit_of(cluster, other).preemption_priority));
  }
  return line;
}

std::vector<std::string> others_evicted(const RiskReport& report) {
  std::vector<std::string> others;
  for (const PlanVictim& victim : report.smallest->answer.victims) {
    const std::string name = key_text({victim.namespace_name, victim.name, victim.plane});
    if (name != key_of_pod(report.cluster, report.pod)) others.push_back(name);
  }
  return others;
}

std::string closing_line(const Plan& today, bool time_is_known, const Palette& palette) {
  const std::string time = time_is_known ? fmt::format("time {}", to_text(today.now))
                                         : std::string("no time in the input");
  return palette.paint(
             fmt::format("Configuration {}, {}, plan {}.", printable(today.preset), time, today.id),
             Tone::dim) +
         "\n";
}

std::string risk_text(const RiskReport& report, const Palette& palette) {
  return heading_text(report, palette) + today_text(report, palette) + line_text(report, palette) +
         group_text(report, palette) + units_text(report, palette) + asks_text(report, palette) +
         queues_text(report, palette) + trials_text(report, palette) + "\n" +
         closing_line(report.today, report.time_is_known, palette);
}

}  // namespace makeway::cli
