// Planning for gangs: what one decision costs when a gang of 10, 100 or 1,000 must have room on
// full clusters, each member at the cost of about three pods; and how that grows. Answers are
// checked first; see support/gang_answer.hpp.
//
//   gang [--only SUBSTRING] [--case NAME] [--repeat N] [--all] [--json FILE] [--write DIR] [--once]
//
// See support/plan_options.hpp; case names as "random-1000x30-gang-100-all-10-racks". Without
// --all, the largest clusters are not made, and a case is left out, with a line that says so, when
// smaller ones were slow. Without named cases, --write writes those that `make bench-peers`
// compares.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "bench/support/gang_answer.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/plan_clusters.hpp"
#include "bench/support/plan_options.hpp"
#include "codec/presets.hpp"
#include "codec/writer.hpp"
#include "judge/check_plan.hpp"
#include "policies/decide.hpp"

namespace makeway::bench {
namespace {

/// Smaller ones come before larger ones: what they took says what may be left out.
std::vector<ClusterCase> all_cases() {
  std::vector<ClusterCase> cases;
  for (const std::size_t nodes : {100UZ, 1'000UZ, 5'000UZ, 20'000UZ}) {
    for (const std::size_t pods : {10UZ, 30UZ}) {
      for (const bool victim_gangs : {false, true}) {
        for (const std::size_t domains : {1UZ, 10UZ, 100UZ}) {
          for (const std::size_t members : {10UZ, 100UZ, 1'000UZ}) {
            cases.push_back({.nodes = nodes,
                             .pods_per_node = pods,
                             .members = members,
                             .victim_gangs = victim_gangs,
                             .domains = domains});
          }
        }
      }
    }
  }
  return cases;
}

/// Only with --all, or when it is named: the largest clusters, and racks on nodes of few pods.
bool is_costly(const ClusterCase& item) {
  return item.nodes > 5'000 || (item.pods_per_node < 30 && item.domains > 1);
}

/// kube-scheduler takes seconds for a gang of 100 over 1,000 nodes, and minutes for more.
bool is_for_peers(const ClusterCase& item) {
  return item.nodes <= 1'000 && item.members <= 100 && item.domains == 1 && !item.victim_gangs;
}

std::vector<ClusterCase> selected_cases(const PlanOptions& options) {
  std::vector<ClusterCase> selected;
  std::ranges::copy_if(all_cases(), std::back_inserter(selected), [&](const ClusterCase& item) {
    if (!matches(options, item)) return false;
    if (names_cases(options)) return true;
    if (!options.write.empty()) return is_for_peers(item);
    return options.all || !is_costly(item);
  });
  return selected;
}

/// DESIGN's budget, for 100 over 1,000; it does not say how many pods a node has.
std::optional<double> target_us(const ClusterCase& item) {
  if (item.nodes != 1'000 || item.members != 100) return std::nullopt;
  return 5'000;
}

struct Measured {
  std::size_t victims = 0;
  std::int64_t highest_priority = 0;
  Times decide;
  Times check;
  AnswerCheck answer;
};

// ---- Output ---------------------------------------------------------------------------------

std::string_view victims_text(const ClusterCase& item) {
  return item.victim_gangs ? "all" : "single";
}

void print_heading() {
  fmt::print("{:>7} {:>6} {:>4} {:6} {:>5} {:>7} {:>7} {:>11} {:>11} {:>9} {:>11} {:14} {}\n",
             "members", "nodes", "pods", "leave", "racks", "victims", "highest", "decide us",
             "fastest", "us/member", "check us", "target us", "answer checked");
}

std::string case_columns(const ClusterCase& item) {
  const std::string racks = item.domains > 1 ? fmt::format("{}", item.domains) : "-";
  return fmt::format("{:7} {:6} {:4} {:6} {:>5}", item.members, item.nodes, item.pods_per_node,
                     victims_text(item), racks);
}

void print_line(const ClusterCase& item, const Measured& measured) {
  const double median_us = measured.decide.median_us;
  const std::optional<double> target = target_us(item);
  fmt::print(
      "{} {:7} {:7} {:11.1f} {:11.1f} {:9.1f} {:11.1f} {:14} {}\n", case_columns(item),
      measured.victims, measured.highest_priority, median_us, measured.decide.fastest_us,
      median_us / static_cast<double>(item.members), measured.check.median_us,
      target ? target_text(*target, median_us) : "-",
      measured.answer.wrong.empty() ? measured.answer.how : "WRONG: " + measured.answer.wrong);
  std::fflush(stdout);
}

void append_json_line(std::string& out, const ClusterCase& item, const PlanAsk& ask,
                      const Measured& measured) {
  JsonWriter writer(out, JsonStyle::compact);
  writer.begin_object();
  writer.string_field("case", case_name(item));
  writer.string_field("outcome", choice_name(ask.outcome));
  writer.key("placements");
  writer.begin_object();
  for (const PodPlacement& place : ask.placements) {
    writer.string_field(fmt::format("{}/{}", place.namespace_name, place.name), place.node);
  }
  writer.end_object();
  writer.key("victims");
  writer.begin_array();
  for (const PlanVictim& victim : ask.victims) {
    writer.string(fmt::format("{}/{}", victim.namespace_name, victim.name));
  }
  writer.end_array();
  times_field(writer, "decideMicroseconds", measured.decide);
  times_field(writer, "checkMicroseconds", measured.check);
  writer.end_object();
}

// ---- Growth ---------------------------------------------------------------------------------

/// Pods a node, whether victims leave as gangs, racks.
using Family = std::tuple<std::size_t, bool, std::size_t>;

Family family(const ClusterCase& item) {
  return {item.pods_per_node, item.victim_gangs, item.domains};
}

/// What every case took, and from it what others may take and how the time grows.
class Taken {
 public:
  void remember(const ClusterCase& item, double microseconds) {
    families_[family(item)][{item.nodes, item.members}] = microseconds;
    reckoned_[family(item)][{item.nodes, item.members}] = microseconds;
  }

  /// Left out: what is larger is judged by it, but it is no measurement.
  void reckon(const ClusterCase& item, double microseconds) {
    reckoned_[family(item)][{item.nodes, item.members}] = microseconds;
  }

  /// By the smaller gangs on that cluster and that gang on smaller clusters, whichever promises
  /// most; 0: nothing is known.
  double expected_us(const ClusterCase& item) const {
    constexpr double growth = 2;  // Beyond a time that grows as the size does.
    const auto found = reckoned_.find(family(item));
    if (found == reckoned_.end()) return 0;
    double least = 0;
    for (const auto& [size, microseconds] : found->second) {
      const auto [nodes, members] = size;
      if (nodes > item.nodes || members > item.members) continue;
      if (nodes != item.nodes && members != item.members) continue;
      const double ratio =
          static_cast<double>(item.nodes * item.members) / static_cast<double>(nodes * members);
      const double expected = microseconds * ratio * growth;
      least = least == 0 ? expected : std::min(least, expected);
    }
    return least;
  }

  /// Empty where no two measurements can be compared.
  std::string growth_text() const {
    std::string text;
    const auto out = std::back_inserter(text);
    for (const auto& [key, times] : families_) {
      const auto [pods, victim_gangs, domains] = key;
      const std::string by_members = members_text(times);
      const std::string by_nodes = nodes_text(times);
      if (by_members.empty() && by_nodes.empty()) continue;
      const ClusterCase item{.victim_gangs = victim_gangs};
      fmt::format_to(out, "{} pods a node, leave {}, {}\n", pods, victims_text(item),
                     domains > 1 ? fmt::format("{} racks", domains) : "no racks");
      if (!by_members.empty()) fmt::format_to(out, "  members x 10:{}\n", by_members);
      if (!by_nodes.empty()) fmt::format_to(out, "  more nodes:{}\n", by_nodes);
    }
    return text;
  }

 private:
  using Sizes = std::map<std::pair<std::size_t, std::size_t>, double>;  ///< By nodes, members.

  static std::string members_text(const Sizes& times) {
    std::string text;
    for (const auto& [size, microseconds] : times) {
      const auto larger = times.find({size.first, size.second * 10});
      if (larger == times.end()) continue;
      fmt::format_to(std::back_inserter(text), "{} x {:.1f} ({} over {})", text.empty() ? "" : ",",
                     larger->second / microseconds, size.second, size.first);
    }
    return text;
  }

  /// Each with the next larger cluster on which the same gang was timed.
  static std::string nodes_text(const Sizes& times) {
    std::string text;
    for (const auto& [size, microseconds] : times) {
      const auto larger = std::ranges::find_if(times, [&](const auto& other) {
        return other.first.first > size.first && other.first.second == size.second;
      });
      if (larger == times.end()) continue;
      fmt::format_to(std::back_inserter(text), "{} x {:.1f} ({} to {}, {} members)",
                     text.empty() ? "" : ",", larger->second / microseconds, size.first,
                     larger->first.first, size.second);
    }
    return text;
  }

  std::map<Family, Sizes> families_;
  std::map<Family, Sizes> reckoned_;  ///< With those that were left out.
};

// ---- Runs -----------------------------------------------------------------------------------

class Bench {
 public:
  Bench(const PlanOptions& options, Configuration configuration)
      : options_(options), configuration_(std::move(configuration)) {}

  /// False: some answer was wrong, or a file could not be written.
  bool run() {
    if (!options_.once) print_heading();
    bool good = true;
    for (const ClusterCase& item : selected_cases(options_)) good = run_case(item) && good;
    if (const std::string growth = taken_.growth_text(); !growth.empty()) {
      fmt::print(
          "\ngrowth of the fastest times: (members over nodes), (nodes to nodes, members)\n{}",
          growth);
    }
    if (!options_.json.empty()) good = write_file(options_.json, json_) && good;
    return good;
  }

  bool write() const {
    bool good = true;
    for (const ClusterCase& item : selected_cases(options_)) {
      good = write_case(options_, item) && good;
    }
    return good;
  }

 private:
  bool run_case(const ClusterCase& item) {
    if (skips(item)) return true;
    const Cluster cluster = make_cluster(item);
    const PlanRequest request = plan_request(item);
    if (options_.once) {
      for (std::size_t each = 0; each < std::max<std::size_t>(options_.repeat, 1); ++each) {
        CHECK(decide(cluster, configuration_, request).plan.has_value());
      }
      return true;
    }
    constexpr double too_long_to_repeat_us = 1e6;
    Decision decision;
    Measured measured;
    measured.decide = time_of(1, [&] { decision = decide(cluster, configuration_, request); });
    CHECK(decision.plan.has_value());
    const Plan& plan = *decision.plan;
    measured.answer = check_gang_answer(item, cluster, configuration_, plan);
    if (measured.decide.fastest_us < too_long_to_repeat_us || options_.repeat > 1) {
      measured.decide = time_of(options_.repeat, [&] {
        CHECK(decide(cluster, configuration_, request).plan->id == plan.id);
      });
    }
    measured.check =
        time_of(1, [&] { CHECK(check_plan(cluster, configuration_, plan).size() < 1'000'000); });
    note_victims(plan.asks.front(), measured);
    taken_.remember(item, measured.decide.fastest_us);
    print_line(item, measured);
    append_json_line(json_, item, plan.asks.front(), measured);
    return measured.answer.wrong.empty();
  }

  static void note_victims(const PlanAsk& ask, Measured& measured) {
    measured.victims = ask.victims.size();
    // Most important first.
    if (!ask.victims.empty()) measured.highest_priority = ask.victims.front().priority;
  }

  bool skips(const ClusterCase& item) {
    constexpr double too_long_us = 10e6;
    if (item.members > members_max(item)) {
      if (options_.all || names_cases(options_)) {
        fmt::print("{} left out: {} holds {} members\n", case_columns(item),
                   item.domains > 1 ? "a rack" : "the cluster", members_max(item));
      }
      return true;
    }
    const double expected_us = taken_.expected_us(item);
    if (options_.all || options_.once || expected_us < too_long_us) return false;
    fmt::print("{} left out: about {:.0f} s; --all or --case {} runs it\n", case_columns(item),
               expected_us / 1e6, case_name(item));
    taken_.reckon(item, expected_us);  // Larger ones are left out too.
    return true;
  }

  const PlanOptions& options_;
  Configuration configuration_;
  Taken taken_;
  std::string json_;
};

int run(std::span<char*> arguments) {
  const std::optional<PlanOptions> options = parsed(arguments);
  if (!options) return 2;
  if (selected_cases(*options).empty()) {
    fmt::print(stderr, "gang: there is no such case\n");
    return 2;
  }
  Result<Configuration> configuration = load_preset("makeway");
  CHECK(configuration.has_value());
  Bench bench(*options, *std::move(configuration));
  return (options->write.empty() ? bench.run() : bench.write()) ? 0 : 1;
}

}  // namespace
}  // namespace makeway::bench

int main(int argc, char** argv) {
  return makeway::bench::run(std::span<char*>(argv, static_cast<std::size_t>(argc)));
}
