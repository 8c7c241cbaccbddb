#include "cli/problem_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli/plan/ask_name.hpp"
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

void print_problems(const Problems& problems, Terminal& terminal) {
  terminal.error.write(problem_lines(problems, palette_for_error(terminal)));
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

namespace {

/// "kubeflow.org/v1 TFJob"
bool is_unsupported(std::string_view name) {
  const std::size_t blank = name.rfind(' ');
  return blank != std::string_view::npos &&
         is_unsupported_workload(name.substr(0, blank), name.substr(blank + 1));
}

std::string unsupported_note(const LoadStatistics& statistics) {
  std::vector<std::string> kinds;
  std::uint64_t total = 0;
  for (const auto& [name, count] : statistics.skipped) {
    if (!is_unsupported(name)) continue;
    kinds.push_back(fmt::format("{} {}", grouped(count), printable(name)));
    total += count;
  }
  if (kinds.empty()) return {};
  return fmt::format("note: skipped {}: not supported yet; provide {}\n", fmt::join(kinds, ", "),
                     total == 1 ? "Pods made from its template" : "Pods made from their templates");
}

/// "a, b and 3 more"
std::string first_few(std::vector<std::string> names) {
  constexpr std::size_t shown_max = 5;
  const std::size_t others = names.size() > shown_max ? names.size() - shown_max : 0;
  if (others > 0) names.resize(shown_max);
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (others > 0) text += fmt::format(" and {} more", grouped(others));
  return text;
}

/// Which pods were made, and which workloads make none.
std::string made_note(const Loaded& loaded) {
  std::vector<std::string> makers;
  std::vector<std::string> held;
  std::uint64_t total = 0;
  for (const WorkloadPods& workload : loaded.workloads) {
    const std::string object = shorten(workload.object(), 120);
    if (workload.made > 0) {
      makers.push_back(fmt::format("{} of {}", grouped(workload.made), object));
      total += workload.made;
    } else if (!workload.held.empty()) {
      held.push_back(fmt::format("{}: {}", object, workload.held));
    }
  }
  std::string text;
  if (total > 0) {
    text += fmt::format("note: made {} from templates: {}\n", counted(total, "pod"),
                        first_few(std::move(makers)));
  }
  if (!held.empty()) {
    text += fmt::format(
        "note: no pods made of {}; `makeway plan --ask KIND/NAMESPACE/NAME` plans "
        "one\n",
        first_few(std::move(held)));
  }
  return text;
}

std::string missing_nodes_note(const Cluster& cluster) {
  const PodColumns& pods = cluster.pods();
  std::uint64_t count = 0;
  for (const PodIndex pod : cluster.each_pod()) {
    if (!pods.node[pod].exists()) continue;
    if (!cluster.nodes().flags[pods.node[pod]].exists) ++count;
  }
  if (count == 0) return {};
  return count == 1
             ? std::string(
                   "note: 1 pod runs on a node that is not in the input; it is not counted\n")
             : fmt::format(
                   "note: {} pods run on nodes that are not in the input; they are not "
                   "counted\n",
                   grouped(count));
}

}  // namespace

std::string load_notes(const Loaded& loaded) {
  return made_note(loaded) + unsupported_note(loaded.statistics) +
         missing_nodes_note(loaded.cluster);
}

}  // namespace makeway::cli
