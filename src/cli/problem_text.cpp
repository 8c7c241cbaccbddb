#include "cli/problem_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli/plan/plan_parties.hpp"
#include "cli/text.hpp"

namespace makeway::cli {

std::vector<const Problem*> errors_first(const Problems& problems) {
  std::vector<const Problem*> sorted;
  sorted.reserve(problems.size());
  for (const Problem& problem : problems) sorted.push_back(&problem);
  std::ranges::stable_sort(sorted, {}, [](const Problem* problem) { return problem->severity; });
  return sorted;
}

std::string problem_lines(const Problems& problems, const Palette& palette) {
  std::string out;
  for (const Problem* const problem : errors_first(problems)) {
    const bool is_error = problem->severity == Severity::error;
    out += fmt::format(
        "{} {}\n",
        is_error ? palette.paint("error:", Tone::bad) : palette.paint("warning:", Tone::warning),
        to_text(*problem));
  }
  const auto more = [&](Severity severity, std::string_view noun) {
    const std::uint64_t count = problems.left_out(severity);
    if (count > 0) out += fmt::format("... and {}\n", counted(count, noun));
  };
  more(Severity::error, "more error");
  more(Severity::warning, "more warning");
  return out;
}

namespace {

/// Problems of one cause, of pods of one owner.
struct AlikeProblems {
  Party owner;
  std::vector<const Problem*> problems;
};

/// In the order of the first of each; problems of pods without an owner are listed alone.
std::vector<AlikeProblems> by_owner(const Problems& problems, const Cluster& cluster) {
  constexpr std::string_view pod_prefix = "Pod ";
  const Parties parties(&cluster);
  std::vector<AlikeProblems> all;
  std::map<std::pair<Party, std::string>, std::size_t> known;
  for (const Problem& problem : problems) {
    const std::size_t slash = problem.object.find('/');
    const bool of_pod = problem.object.starts_with(pod_prefix) && slash != std::string::npos;
    PlanVictim pod;
    if (of_pod) {
      pod.namespace_name = problem.object.substr(pod_prefix.size(), slash - pod_prefix.size());
      pod.name = problem.object.substr(slash + 1);
    }
    Party owner = of_pod ? parties.of(pod) : Party{.kind = "Pod"};
    if (owner.is_pod()) {
      all.push_back({.owner = std::move(owner), .problems = {&problem}});
      continue;
    }
    const auto [at, is_new] = known.try_emplace({owner, cause_of(problem)}, all.size());
    if (is_new) all.push_back({.owner = std::move(owner)});
    all[at->second].problems.push_back(&problem);
  }
  return all;
}

}  // namespace

std::string quarantine_lines(const Quarantine& quarantine, const Cluster& cluster,
                             const Palette& palette) {
  if (quarantine.empty()) return {};
  std::string out;
  const std::vector<AlikeProblems> all = by_owner(quarantine.problems(), cluster);
  for (const AlikeProblems& alike : all) {
    const bool together = alike.problems.size() >= replicas_grouped_min;
    for (const Problem* const problem : alike.problems) {
      out += fmt::format("{} {}", palette.paint("quarantined:", Tone::bad), to_text(*problem));
      if (together) {
        out += printable(fmt::format("; so it is with {} of {}",
                                     counted(alike.problems.size() - 1, "more pod"),
                                     party_text(alike.owner)));
      }
      out += '\n';
      if (together) break;
    }
  }
  if (const std::uint64_t more = quarantine.problems().left_out(); more > 0) {
    out += fmt::format("... and {}\n", counted(more, "more problem"));
  }
  return out + fmt::format("makeway: {} in quarantine; the others go on\n",
                           counted(quarantine.objects(), "object"));
}

}  // namespace makeway::cli
