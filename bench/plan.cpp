// Planning: what one decision costs on full clusters of 100 to 100,000 nodes, and what the judge
// costs beside it. Answers are checked first; see support/plan_answer.hpp. Nanoseconds a node are
// those of one ask.
//
//   plan [--only SUBSTRING] [--case NAME] [--repeat N] [--all] [--json FILE] [--write DIR] [--once]
//
// See support/plan_options.hpp. Without named cases, --write writes those of 1,000 and 5,000 nodes
// without options.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/plan_answer.hpp"
#include "bench/support/plan_clusters.hpp"
#include "bench/support/plan_options.hpp"
#include "codec/presets.hpp"
#include "codec/writer.hpp"
#include "judge/check_plan.hpp"
#include "policies/decide.hpp"

namespace makeway::bench {
namespace {

struct PlanCase {
  ClusterCase cluster;
  std::int64_t target_microseconds = 0;  ///< Of DESIGN's budget; 0: it names none.
  bool costly = false;                   ///< Only with --all, or when it is named.
};

constexpr std::int64_t no_target = 0;

/// DESIGN's budget.
std::int64_t target_of(const ClusterCase& item) {
  const std::string name = case_name(item);
  if (name == "random-5000x30" || name == "random-5000x30-verdict") return 200;
  if (name == "uniform-5000x30-verdict") return 200;
  if (name == "uniform-5000x30") return 2'000;
  if (name == "random-100000x10") return 10'000;
  return no_target;
}

std::vector<PlanCase> all_cases() {
  constexpr std::array kinds = {ClusterKind::random, ClusterKind::uniform};
  std::vector<ClusterCase> items;
  for (const std::size_t nodes : {100UZ, 1'000UZ, 5'000UZ, 20'000UZ, 100'000UZ}) {
    for (const std::size_t pods : {10UZ, 30UZ}) {
      for (const ClusterKind kind : kinds) items.push_back({nodes, pods, kind});
    }
  }
  for (const std::size_t nodes : {100UZ, 5'000UZ}) {
    for (const ClusterKind kind : kinds) {
      const ClusterCase plain{.nodes = nodes, .pods_per_node = 30, .kind = kind};
      std::array<ClusterCase, 5> with = {plain, plain, plain, plain, plain};
      with[0].budgets = with[3].budgets = true;
      with[1].anti_affinity = with[3].anti_affinity = true;
      with[2].spread = with[3].spread = true;
      with[4].verdict = true;
      items.insert(items.end(), with.begin(), with.end());
    }
  }
  for (const AskMix mix : {AskMix::classes, AskMix::different}) {
    // Small enough to be compared with the slow way.
    items.push_back({.nodes = 100, .pods_per_node = 10, .mix = mix, .asks = 200});
    for (const std::size_t nodes : {1'000UZ, 5'000UZ}) {
      for (const std::size_t asks : {100UZ, 1'000UZ, 10'000UZ}) {
        items.push_back({.nodes = nodes, .pods_per_node = 30, .mix = mix, .asks = asks});
      }
    }
  }
  std::vector<PlanCase> cases;
  cases.reserve(items.size());
  for (const ClusterCase& item : items) {
    cases.push_back({.cluster = item,
                     .target_microseconds = target_of(item),
                     .costly = item.nodes * item.pods_per_node > 1'000'000});
  }
  return cases;
}

std::vector<PlanCase> selected_cases(const PlanOptions& options) {
  const bool named = names_cases(options);
  std::vector<PlanCase> selected;
  std::ranges::copy_if(all_cases(), std::back_inserter(selected), [&](const PlanCase& item) {
    if (!matches(options, item.cluster)) return false;
    if (!options.write.empty() && !named) {
      return (item.cluster.nodes == 1'000 || item.cluster.nodes == 5'000) &&
             options_text(item.cluster) == "-";
    }
    return named || options.all || !item.costly;
  });
  return selected;
}

struct Measured {
  std::string outcome;  ///< Of many asks, each with its number.
  std::size_t victims = 0;
  Times decide;
  Times check;
  AnswerCheck answer;
};

std::string outcome_text(const Plan& plan) {
  if (plan.asks.size() == 1) return std::string(choice_name(plan.asks.front().outcome));
  std::map<Outcome, std::size_t> counts;
  for (const PlanAsk& ask : plan.asks) ++counts[ask.outcome];
  std::string text;
  for (const auto& [outcome, count] : counts) {
    fmt::format_to(std::back_inserter(text), "{}{} {}", text.empty() ? "" : ", ", count,
                   choice_name(outcome));
  }
  return text;
}

// ---- Output ---------------------------------------------------------------------------------

void print_heading() {
  fmt::print("{:>6} {:>4} {:7} {:28} {:28} {:>7} {:>11} {:>11} {:>8} {:>11} {:14} {:14} {}\n",
             "nodes", "pods", "kind", "options", "outcome", "victims", "decide us", "fastest",
             "ns/node", "check us", "target us", "check target", "answer checked");
}

void print_line(const PlanCase& item, const Measured& measured) {
  const ClusterCase& cluster = item.cluster;
  const double median_us = measured.decide.median_us;
  const auto steps = static_cast<double>(cluster.nodes * cluster.asks);
  const std::string target =
      item.target_microseconds == no_target
          ? "-"
          : target_text(static_cast<double>(item.target_microseconds), median_us);
  // The budget: no more than the decision itself and a millisecond at 5,000 nodes.
  const std::string check_target = cluster.nodes == 5'000 && cluster.mix == AskMix::one
                                       ? target_text(median_us + 1'000, measured.check.median_us)
                                       : "-";
  fmt::print(
      "{:6} {:4} {:7} {:28} {:28} {:7} {:11.1f} {:11.1f} {:8.1f} {:11.1f} {:14} {:14} {}\n",
      cluster.nodes, cluster.pods_per_node, kind_text(cluster.kind), options_text(cluster),
      measured.outcome, measured.victims, median_us, measured.decide.fastest_us,
      median_us * 1'000 / steps, measured.check.median_us, target, check_target,
      measured.answer.wrong.empty() ? measured.answer.how : "WRONG: " + measured.answer.wrong);
  std::fflush(stdout);
}

void append_json_line(std::string& out, const ClusterCase& item, const Plan& plan,
                      const Measured& measured) {
  JsonWriter writer(out, JsonStyle::compact);
  writer.begin_object();
  writer.string_field("case", case_name(item));
  writer.string_field("outcome", measured.outcome);
  if (plan.asks.size() == 1) {
    const PlanAsk& ask = plan.asks.front();
    writer.string_field("node", ask.placements.empty() ? "" : ask.placements.front().node);
    writer.key("victims");
    writer.begin_array();
    for (const PlanVictim& victim : ask.victims) {
      writer.string(fmt::format("{}/{}", victim.namespace_name, victim.name));
    }
    writer.end_array();
  } else {
    writer.integer_field("asks", static_cast<std::int64_t>(plan.asks.size()));
    writer.integer_field("victimCount", static_cast<std::int64_t>(measured.victims));
  }
  times_field(writer, "decideMicroseconds", measured.decide);
  times_field(writer, "checkMicroseconds", measured.check);
  writer.end_object();
}

// ---- Runs -----------------------------------------------------------------------------------

class Bench {
 public:
  Bench(const PlanOptions& options, Configuration configuration)
      : options_(options), configuration_(std::move(configuration)) {}

  /// False: some answer was wrong, or a file could not be written.
  bool run() {
    if (!options_.once) print_heading();
    bool good = true;
    for (const PlanCase& item : selected_cases(options_)) good = run_case(item) && good;
    if (!options_.json.empty()) good = write_file(options_.json, json_) && good;
    return good;
  }

  bool write() const {
    bool good = true;
    for (const PlanCase& item : selected_cases(options_)) {
      good = write_case(options_, item.cluster) && good;
    }
    return good;
  }

 private:
  bool run_case(const PlanCase& item) {
    if (skips(item.cluster)) return true;
    const Cluster cluster = make_cluster(item.cluster);
    const PlanRequest request = plan_request(item.cluster);
    if (options_.once) {
      for (std::size_t each = 0; each < std::max<std::size_t>(options_.repeat, 1); ++each) {
        CHECK(decide(cluster, configuration_, request).plan.has_value());
      }
      return true;
    }
    constexpr double too_long_to_repeat_us = 2e6;
    Decision decision;
    Measured measured;
    measured.decide = time_of(1, [&] { decision = decide(cluster, configuration_, request); });
    CHECK(decision.plan.has_value());
    const Plan& plan = *decision.plan;
    measured.answer = check_answer(item.cluster, cluster, configuration_, plan);
    if (measured.decide.fastest_us < too_long_to_repeat_us || options_.repeat > 1) {
      measured.decide = time_of(options_.repeat, [&] {
        CHECK(decide(cluster, configuration_, request).plan->id == plan.id);
      });
    }
    measured.check = time_of(std::min<std::size_t>(options_.repeat, 5), [&] {
      CHECK(check_plan(cluster, configuration_, plan).size() < 1'000'000);
    });
    measured.outcome = outcome_text(plan);
    for (const PlanAsk& ask : plan.asks) measured.victims += ask.victims.size();
    remember(item.cluster, measured.decide.median_us);
    print_line(item, measured);
    append_json_line(json_, item.cluster, plan, measured);
    return measured.answer.wrong.empty();
  }

  /// Ten times as many asks take ten times as long, or up to `growth` times that.
  bool skips(const ClusterCase& item) const {
    constexpr double too_long_us = 15e6;
    constexpr double growth = 3;
    const auto found = us_per_ask_.find(family(item));
    if (options_.all || options_.once || found == us_per_ask_.end()) return false;
    const double expected_us = found->second * static_cast<double>(item.asks) * growth;
    if (expected_us < too_long_us) return false;
    fmt::print("{:6} {:4} {:7} {:28} left out: about {:.0f} s; --all or --case {} runs it\n",
               item.nodes, item.pods_per_node, kind_text(item.kind), options_text(item),
               expected_us / 1e6, case_name(item));
    return true;
  }

  void remember(const ClusterCase& item, double microseconds) {
    if (item.mix == AskMix::one) return;
    us_per_ask_[family(item)] = microseconds / static_cast<double>(item.asks);
  }

  static std::pair<std::size_t, AskMix> family(const ClusterCase& item) {
    return {item.nodes, item.mix};
  }

  const PlanOptions& options_;
  Configuration configuration_;
  std::map<std::pair<std::size_t, AskMix>, double> us_per_ask_;
  std::string json_;
};

int run(std::span<char*> arguments) {
  const std::optional<PlanOptions> options = parsed(arguments);
  if (!options) return 2;
  if (selected_cases(*options).empty()) {
    fmt::print(stderr, "plan: there is no such case\n");
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
