// The text of an ask for replicas: scale-ups, then each claim with the ladder of its victims.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/problem.hpp"
#include "cli/plan/plan_text.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "model/gpus.hpp"

namespace makeway::cli {
namespace {

constexpr std::size_t nodes_max = 5;
constexpr std::size_t claims_max = 20;
constexpr std::size_t net_rows_max = 50;

std::string scale_up_text(const PlanScaleUp& item, const Palette& palette) {
  std::vector<std::string> nodes;
  for (const PlanExpectedNode& node : item.expected) {
    if (nodes.size() == nodes_max) break;
    nodes.push_back(node.replicas == 1 ? shorten(node.node)
                                       : fmt::format("{} x {}", node.replicas, shorten(node.node)));
  }
  std::string text = fmt::format(
      "{} plane {}: {} -> {} replicas, probably on {}", palette.paint("+", Tone::good),
      shorten(item.plane), item.committed_before, item.committed_after, fmt::join(nodes, ", "));
  if (item.expected.size() > nodes.size()) {
    text += fmt::format(" and {} more", item.expected.size() - nodes.size());
  }
  return fmt::format("  {}\n", text);
}

std::string action_text(const PlanReplicaVictim& victim) {
  if (victim.action != ReplicaAction::scale_down) return std::string(choice_name(victim.action));
  return fmt::format("scale-down {} -> {}", *victim.committed_before, *victim.committed_after);
}

std::string victims_table(const PlanReplicas& replicas, const PlanReplicaClaim& claim,
                          const PlanTextOptions& options) {
  if (claim.victims.empty()) return {};
  Table table({{.heading = ""},
               {.heading = "VICTIM"},
               {.heading = "CLASS"},
               {.heading = "PRIORITY", .align = Align::right},
               {.heading = is_gpu(replicas.resource) ? "GPUS" : "FREES", .align = Align::right},
               {.heading = "ACTION"},
               {.heading = "WHY"}});
  for (const PlanReplicaVictim& victim : claim.victims) {
    const bool goes = victim.action != ReplicaAction::wait;
    table.row({{.text = goes ? "-" : ".", .tone = goes ? Tone::bad : Tone::dim},
               {.text = fmt::format("{}/{}", victim.namespace_name, victim.name)},
               {.text = std::string(choice_name(victim.victim_class))},
               {.text = fmt::format("{}", victim.priority)},
               {.text = fmt::format("{}", victim.amount)},
               {.text = action_text(victim)},
               {.text = victim.reason}});
  }
  std::string text = table.text(options.palette);
  const PlanReplicaVictim& first = claim.victims.front();
  if (options.explain && claim.kept) {
    text += fmt::format("  Kept from the previous plan, since {}.\n", to_text(claim.since));
  } else if (options.explain && first.cause_key == "only one") {
    text += "  No other node would do.\n";
  } else if (options.explain) {
    text += wrapped(
        printable(fmt::format("Compared with {}: {}.", first.cause_alternative, first.cause_key)),
        2, options.palette.text_width());
  }
  return text;
}

std::string counts_text(const PlanReplicas& replicas) {
  std::int64_t found = 0;
  for (const PlanScaleUp& item : replicas.scale_ups) {
    found += item.committed_after - item.committed_before;
  }
  const auto waiting = static_cast<std::int64_t>(replicas.claims.size());
  std::vector<std::string> parts;
  if (found > 0) parts.push_back(fmt::format("{} {} room", found, found == 1 ? "finds" : "find"));
  if (waiting > 0) {
    parts.push_back(fmt::format("{} {} for room", waiting, waiting == 1 ? "waits" : "wait"));
  }
  if (replicas.without > 0) {
    parts.push_back(
        fmt::format("{} {} no room", replicas.without, replicas.without == 1 ? "finds" : "find"));
  }
  if (parts.size() < 2) return {};
  return fmt::format("  {} unmet: {}\n", replicas.unmet, fmt::join(parts, ", "));
}

}  // namespace

std::string replicas_text(const PlanAsk& ask, const PlanTextOptions& options) {
  const PlanReplicas& replicas = *ask.replicas;
  std::string text = counts_text(replicas);
  if (replicas.claims.empty() && ask.outcome != Outcome::fits) {
    text += wrapped(printable(ask.reason), 2, options.palette.text_width());
  }
  for (const PlanScaleUp& item : replicas.scale_ups) text += scale_up_text(item, options.palette);
  std::size_t listed = 0;
  for (const PlanReplicaClaim& claim : replicas.claims) {
    if (listed++ == claims_max) break;
    // With all its room free, why it waits is more than the claim says.
    const bool ready = replicas.claims.size() == 1 && claim.free >= claim.needed;
    text += wrapped(printable(ready ? ask.reason
                                    : fmt::format("plane {}, node {}: {}", claim.plane, claim.node,
                                                  claim_text(replicas, claim))),
                    2, options.palette.text_width());
    text += victims_table(replicas, claim, options);
  }
  if (replicas.claims.size() > claims_max) {
    text += fmt::format("  and {} more\n", replicas.claims.size() - claims_max);
  }
  if (options.explain) text += refusals_text(ask);
  return text;
}

std::string net_schedule_text(const Plan& plan, const Palette& palette) {
  if (plan.net_schedule.empty()) return {};
  Table table({{.heading = "DEPLOYMENT"},
               {.heading = "PLANE"},
               {.heading = "REPLICAS", .align = Align::right},
               {.heading = "UNMET", .align = Align::right},
               {.heading = "FOR"}});
  std::size_t listed = 0;
  std::size_t left = 0;
  for (const PlanNetSchedule& net : plan.net_schedule) {
    bool first = true;
    for (const PlanNetScale& scale : net.planes) {
      if (listed == net_rows_max) {
        ++left;
        continue;
      }
      ++listed;
      const bool down = scale.committed_after < scale.committed_before;
      table.row({{.text = fmt::format("{}/{}", net.namespace_name, net.deployment)},
                 {.text = scale.plane},
                 {.text = fmt::format("{} -> {}", scale.committed_before, scale.committed_after),
                  .tone = down ? Tone::bad : Tone::good},
                 {.text = first ? fmt::format("{} -> {}", net.unmet_before, net.unmet_after) : ""},
                 {.text = fmt::format("{}", fmt::join(scale.asks, ", "))}});
      first = false;
    }
  }
  std::string text = "\n" + palette.paint("Net schedule", Tone::strong) + "\n";
  text += table.text(palette);
  if (left > 0) text += fmt::format("  and {} more\n", left);
  return text;
}

}  // namespace makeway::cli
