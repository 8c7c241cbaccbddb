#include "cli/check_command.hpp"

#include <fmt/format.h>

#include <optional>

#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/palette.hpp"
#include "cli/problem_text.hpp"
#include "cli/text.hpp"
#include "codec/writer.hpp"
#include "model/validation/doubts.hpp"
#include "model/validation/regimes.hpp"
#include "model/validation/validation.hpp"

namespace makeway::cli {
namespace {

struct Findings {
  Problems problems;
  std::uint64_t skipped = 0;             ///< Objects of kinds that nobody here reads.
  std::optional<std::uint64_t> objects;  ///< Unknown when the files could not be read.

  void add(Problems more) { problems.append(std::move(more)); }
  std::uint64_t errors() const { return problems.count(Severity::error); }
  std::uint64_t warnings() const { return problems.count(Severity::warning); }
};

/// `configuration` is what the command line says; without a word of it, one among the files counts.
void check_files(const std::vector<LoadSource>& sources, const ChosenConfiguration& configuration,
                 bool configuration_wanted, Terminal& terminal, Findings& findings) {
  LoadWish wish;
  if (configuration.document) {
    wish.limits.ratio_max = configuration.document->configuration.engine.unpacked_ratio_max;
  }
  LoadResult result = load_with_progress(sources, terminal, wish);
  findings.add(std::move(result.problems));
  if (!result.loaded) {
    findings.objects.reset();
    return;
  }
  findings.add(std::move(result.loaded->warnings));
  const ConfigurationDocument* document =
      configuration.document ? &*configuration.document : nullptr;
  if (!configuration_wanted && result.loaded->configuration) {
    document = &*result.loaded->configuration;
  }
  if (document != nullptr) {
    Problems errors = find_cap_errors(result.loaded->cluster, document->configuration);
    result.loaded->origins.locate(errors, result.loaded->cluster);
    findings.add(std::move(errors));
    Problems regimes = find_regime_problems(result.loaded->cluster, document->configuration);
    result.loaded->origins.locate(regimes, result.loaded->cluster);
    findings.add(std::move(regimes));
    Problems doubts = find_doubts(result.loaded->cluster, document->configuration);
    result.loaded->origins.locate(doubts, result.loaded->cluster);
    findings.add(std::move(doubts));
  }
  std::vector<TemplateLabels> templates;
  for (const WorkloadPods& workload : result.loaded->workloads) {
    for (const Labels& labels : workload.templates) {
      templates.push_back({.namespace_name = workload.namespace_name, .labels = labels});
    }
  }
  Problems warnings = lint(result.loaded->cluster, templates);
  result.loaded->origins.locate(warnings, result.loaded->cluster);
  findings.add(std::move(warnings));
  findings.objects = findings.objects.value_or(0) + result.loaded->statistics.objects;
  for (const auto& [kind, count] : result.loaded->statistics.skipped) findings.skipped += count;
}

std::string text_of(const Findings& findings, const Palette& palette) {
  std::string text = problem_lines(findings.problems, palette);
  text += fmt::format("{}, {}", counted(findings.errors(), "error"),
                      counted(findings.warnings(), "warning"));
  if (findings.objects) text += fmt::format(" in {}", counted(*findings.objects, "object"));
  if (findings.skipped > 0) {
    text += fmt::format("; {} of other kinds skipped", counted(findings.skipped, "object"));
  }
  return text + "\n";
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
  writer.key("problems");
  writer.begin_array();
  for (const Problem* const problem : errors_first(findings.problems)) {
    write_problem(writer, *problem);
  }
  writer.end_array();
  writer.end_object();
  return text;
}

ExitStatus usage_error(std::string_view message, Terminal& terminal) {
  terminal.error.write(fmt::format("makeway: {}\n{}\n", message, help_line(find_command("check"))));
  return ExitStatus::usage;
}

}  // namespace

ExitStatus run_check(const Arguments& arguments, Terminal& terminal) {
  const bool wants_configuration =
      arguments.has("config") || arguments.has("preset") || arguments.has("set");
  const auto sources = sources_of(arguments.all("file"), arguments.all("plane"));
  if (!sources) return usage_error(sources.error().message, terminal);
  if (sources->empty() && !wants_configuration) {
    return usage_error("nothing to check; name files with -f, or a configuration", terminal);
  }
  Findings findings;
  const ConfigurationChoice choice{.preset = arguments.text("preset"),
                                   .file = arguments.given("config"),
                                   .overrides = arguments.all("set")};
  if (const std::string twice = standard_input_twice(choice, *sources); !twice.empty()) {
    return usage_error(twice, terminal);
  }
  ChosenConfiguration chosen = choose_configuration(choice);
  if (!chosen.usage.empty()) return usage_error(chosen.usage, terminal);
  findings.add(std::move(chosen.problems));
  if (wants_configuration && chosen.document) findings.objects = 1;
  if (!sources->empty()) {
    check_files(*sources, chosen, wants_configuration, terminal, findings);
  }

  const Palette palette = palette_for_out(terminal, arguments.text("color"));
  terminal.out.write(arguments.text("output") == "json" ? json_of(findings)
                                                        : text_of(findings, palette));
  const bool refused =
      findings.errors() > 0 || (arguments.has("strict") && findings.warnings() > 0);
  return refused ? ExitStatus::failed : ExitStatus::done;
}

}  // namespace makeway::cli
