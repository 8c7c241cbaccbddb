#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/problem_text.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "codec/writer.hpp"
#include "model/validation/differences.hpp"
#include "model/validation/doubts.hpp"
#include "model/validation/outside_queues.hpp"
#include "model/validation/regimes.hpp"
#include "model/validation/validation.hpp"

namespace makeway::cli {
namespace {

struct Findings {
  Problems problems;
  std::uint64_t skipped = 0;             ///< Objects of kinds that are not read.
  std::optional<std::uint64_t> objects;  ///< Unknown when the files could not be read.
  /// Where they are wanted: what today's schedulers do otherwise.
  std::optional<std::vector<Difference>> differences;

  void add(Problems more) { problems.append(std::move(more)); }
  std::uint64_t errors() const { return problems.count(Severity::error); }
  std::uint64_t warnings() const { return problems.count(Severity::warning); }
};

bool wants_configuration(const Arguments& arguments) {
  return arguments.has("config") || arguments.has("preset") || arguments.has("set");
}

/// `configuration` is what the command line says; without a word of it, one among the files counts.
void check_files(const ClusterInput& input, const ChosenConfiguration& configuration,
                 const Arguments& arguments, Terminal& terminal, Findings& findings) {
  LoadOptions options{.keep_going = arguments.has("keep-going")};
  const bool live = trusts_live(arguments, input);
  options.planes_of_dumps = !live;
  LoadResult result = load_with_progress(input, terminal, options);
  findings.add(std::move(result.problems));
  if (!result.loaded) {
    findings.objects.reset();
    return;
  }
  findings.add(std::move(result.loaded->quarantine.problems()));
  findings.add(std::move(result.loaded->warnings));
  const ConfigurationDocument* document =
      configuration.document ? &*configuration.document : nullptr;
  if (!wants_configuration(arguments) && result.loaded->configuration && !live) {
    document = &*result.loaded->configuration;
  }
  if (document != nullptr) {
    const TrustReport trust = honour_marks(*result.loaded, document->configuration, {}, live);
    Problems not_honoured = trust.problems();
    result.loaded->origins.locate(not_honoured, result.loaded->cluster);
    findings.add(std::move(not_honoured));
    Problems errors = find_cap_errors(result.loaded->cluster, document->configuration);
    result.loaded->origins.locate(errors, result.loaded->cluster);
    findings.add(std::move(errors));
    Problems regimes = find_regime_problems(result.loaded->cluster, document->configuration);
    result.loaded->origins.locate(regimes, result.loaded->cluster);
    findings.add(std::move(regimes));
    Problems doubts =
        find_doubts(result.loaded->cluster, document->configuration, result.loaded->quarantine);
    result.loaded->origins.locate(doubts, result.loaded->cluster);
    findings.add(std::move(doubts));
    Problems outside =
        find_pods_outside_queues(result.loaded->cluster, document->configuration, nullptr);
    result.loaded->origins.locate(outside, result.loaded->cluster);
    findings.add(std::move(outside));
  }
  if (input.live || arguments.has("differences")) {
    findings.differences = find_differences(
        result.loaded->cluster, document != nullptr ? document->configuration : Configuration{});
  }
  std::vector<TemplateLabels> templates;
  for (const WorkloadPods& workload : result.loaded->workloads) {
    for (const Labels& labels : workload.templates) {
      templates.push_back({.namespace_name = workload.namespace_name, .labels = labels});
    }
  }
  Problems warnings =
      lint(result.loaded->cluster, templates, live ? LintFor::live : LintFor::files);
  result.loaded->origins.locate(warnings, result.loaded->cluster);
  findings.add(std::move(warnings));
  findings.objects = findings.objects.value_or(0) + result.loaded->statistics.objects;
  for (const auto& [kind, count] : result.loaded->statistics.skipped) findings.skipped += count;
}

/// Problems that differ only in names and numbers, in the order of the first of each.
struct Cause {
  std::vector<const Problem*> problems;  ///< Those that are kept.
  std::uint64_t count = 0;               ///< All that were found.
};

std::vector<Cause> causes_of(const Problems& problems) {
  std::vector<Cause> causes;
  std::map<std::string, std::size_t> positions;
  for (const Problem* const problem : errors_first(problems)) {
    const std::string cause = cause_of(*problem);
    const auto [at, is_new] = positions.try_emplace(cause, causes.size());
    if (is_new) causes.push_back({.problems = {}, .count = problems.count_of_cause(cause)});
    causes[at->second].problems.push_back(problem);
  }
  // The problem that defined a cause may have been moved to its template since.
  for (Cause& each : causes) {
    each.count = std::max(each.count, std::uint64_t{each.problems.size()});
  }
  return causes;
}

/// A few problems of one cause as they are, many as a number and the first of them.
std::string text_of(const Cause& cause, const Palette& palette) {
  constexpr std::size_t shown_max = 3;
  const bool is_error = cause.problems.front()->severity == Severity::error;
  const std::string severity =
      is_error ? palette.paint("error:", Tone::bad) : palette.paint("warning:", Tone::warning);
  std::string text;
  if (cause.count <= shown_max) {
    for (const Problem* const problem : cause.problems) {
      text += fmt::format("{} {}\n", severity, to_text(*problem));
    }
    return text;
  }
  text = fmt::format("{} {} of one cause, such as\n", severity,
                     counted(cause.count, is_error ? "error" : "warning"));
  const std::size_t listed = std::min(cause.problems.size(), shown_max);
  for (const Problem* const problem : std::span(cause.problems).first(listed)) {
    text += fmt::format("  {}\n", to_text(*problem));
  }
  return text;
}

std::string text_of(const Difference& difference, const Palette& palette) {
  std::string examples;
  for (const std::string& each : difference.examples) {
    examples += fmt::format("{}{}", examples.empty() ? "" : ", ", shorten(each));
  }
  const bool are_all = difference.count == difference.examples.size();
  std::string text = fmt::format("\n{} ({}): {}{}\n", palette.paint(difference.what, Tone::strong),
                                 grouped(difference.count), are_all ? "" : "such as ", examples);
  text += fmt::format("  today   {}\n  here    {}\n", difference.today, difference.here);
  if (!difference.remedy.empty()) text += fmt::format("  remedy  {}\n", difference.remedy);
  return text;
}

std::string text_of(const std::vector<Difference>& differences, const Palette& palette) {
  if (differences.empty()) {
    return "\nUnder makeway run nothing here would be different that this command knows of.\n";
  }
  std::string text = "\nWhat would be different under makeway run (docs/adopt.md):\n";
  for (const Difference& each : differences) text += text_of(each, palette);
  return text;
}

std::string text_of(const Findings& findings, const Palette& palette) {
  const std::vector<Cause> causes = causes_of(findings.problems);
  std::string text;
  std::uint64_t listed = 0;
  for (const Cause& cause : causes) {
    text += text_of(cause, palette);
    listed += cause.count;
  }
  const std::uint64_t found = findings.problems.count();
  if (found > listed) text += fmt::format("... and {} more\n", grouped(found - listed));
  text += fmt::format("{}, {}", counted(findings.errors(), "error"),
                      counted(findings.warnings(), "warning"));
  if (found > causes.size()) text += fmt::format(" of {}", counted(causes.size(), "cause"));
  if (findings.objects) text += fmt::format(" in {}", counted(*findings.objects, "object"));
  if (findings.skipped > 0) {
    text += fmt::format("; {} of other kinds skipped", counted(findings.skipped, "object"));
  }
  text += "\n";
  return findings.differences ? text + text_of(*findings.differences, palette) : text;
}

void write_difference(DocumentWriter& writer, const Difference& difference) {
  writer.string_field("what", difference.what);
  writer.integer_field("count", static_cast<std::int64_t>(difference.count));
  writer.strings_field("examples", difference.examples);
  writer.string_field("today", difference.today);
  writer.string_field("here", difference.here);
  if (!difference.remedy.empty()) writer.string_field("remedy", difference.remedy);
}

void write_problem(DocumentWriter& writer, const Problem& problem) {
  writer.begin_object();
  writer.string_field("severity", problem.severity == Severity::error ? "error" : "warning");
  if (!problem.origin.source.empty()) writer.string_field("source", problem.origin.source);
  if (problem.origin.document != 0) writer.integer_field("document", problem.origin.document);
  if (problem.origin.line != 0) {
    writer.integer_field("line", static_cast<std::int64_t>(problem.origin.line));
  }
  const auto text_field = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) writer.string_field(name, value);
  };
  text_field("object", problem.object);
  text_field("field", problem.field);
  text_field("value", problem.value);
  text_field("message", problem.message);
  text_field("remedy", problem.remedy);
  writer.end_object();
}

std::string json_of(const Findings& findings) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object();
  writer.integer_field("errors", static_cast<std::int64_t>(findings.errors()));
  writer.integer_field("warnings", static_cast<std::int64_t>(findings.warnings()));
  if (findings.objects) {
    writer.integer_field("objects", static_cast<std::int64_t>(*findings.objects));
  }
  if (findings.skipped > 0) {
    writer.integer_field("skipped", static_cast<std::int64_t>(findings.skipped));
  }
  if (findings.problems.left_out() > 0) {
    writer.integer_field("leftOut", static_cast<std::int64_t>(findings.problems.left_out()));
  }
  write_list(writer, "causes", causes_of(findings.problems), [&](const Cause& cause) {
    writer.integer_field("count", static_cast<std::int64_t>(cause.count));
    writer.key("first");
    write_problem(writer, *cause.problems.front());
  });
  writer.key("problems");
  writer.begin_array();
  for (const Problem* const problem : errors_first(findings.problems)) {
    write_problem(writer, *problem);
  }
  writer.end_array();
  if (findings.differences) {
    write_list(writer, "differences", *findings.differences, write_difference);
  }
  writer.end_object();
  return text;
}

}  // namespace

ExitStatus run_check(const Arguments& arguments, Terminal& terminal) {
  const bool alone = wants_configuration(arguments);
  auto input = input_of(arguments, terminal, alone ? LiveByDefault::no : LiveByDefault::yes);
  if (!input) return usage_error("check", input.error().message, terminal);
  if (input->empty() && !alone) {
    return usage_error(
        "check",
        "nothing to check; name files with -f, a live cluster with --kubeconfig, or a "
        "configuration",
        terminal);
  }
  Findings findings;
  const ConfigurationChoice choice = choice_in(arguments, trusts_live(arguments, *input));
  if (const std::string twice = standard_input_twice(choice, input->sources); !twice.empty()) {
    return usage_error("check", twice, terminal);
  }
  ChosenConfiguration chosen = choose_configuration(choice);
  if (!chosen.usage.empty()) return usage_error("check", chosen.usage, terminal);
  findings.add(std::move(chosen.problems));
  if (wants_configuration(arguments) && chosen.document) findings.objects = 1;
  if (!input->empty()) {
    if (chosen.document) show_planes_by(chosen.document->configuration, *input);
    check_files(*input, chosen, arguments, terminal, findings);
  }

  const Palette palette = palette_for_out(terminal, arguments.text("color"));
  terminal.out.write(arguments.text("output") == "json" ? json_of(findings)
                                                        : text_of(findings, palette));
  const bool refused =
      findings.errors() > 0 || (arguments.has("strict") && findings.warnings() > 0);
  return refused ? ExitStatus::failed : ExitStatus::done;
}

}  // namespace makeway::cli
