#include "cli/plan/plan_command.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/load_notes.hpp"
#include "cli/plan/batch.hpp"
#include "cli/plan/plan_text.hpp"
#include "cli/problem_text.hpp"
#include "cli/text.hpp"
#include "codec/batch_line.hpp"
#include "codec/plan_codec.hpp"
#include "model/knobs.hpp"

namespace makeway::cli {
namespace {

ExitStatus usage_error(std::string_view message, Terminal& terminal) {
  terminal.error.write(fmt::format("makeway: {}\n{}\n", message, help_line(find_command("plan"))));
  return ExitStatus::usage;
}

/// What the flags say, checked.
struct Wish {
  std::vector<LoadSource> sources;
  std::vector<WrittenAsk> asks;
  std::optional<Time> now;
  ConfigurationChoice configuration;
  ChosenConfiguration chosen;  ///< By the command line alone.
  PlanDetail detail = PlanDetail::brief;
};

/// Flags that do not go together; empty when all is well.
std::string refuse_flags(const Arguments& arguments) {
  const bool batch = arguments.has("batch");
  const bool files = arguments.has("file") || arguments.has("plane");
  if (!batch && !files) return "nothing to plan; name files with -f, or a --batch";
  if (arguments.given("batch") == "") return "--batch '': expected a FILE, or - for standard input";
  if (batch && arguments.has("file")) return "cases come from -f or from --batch, not from both";
  if (batch && files) return "cases come from --plane or from --batch, not from both";
  if (arguments.has("verify") && !batch) return "--verify compares the cases of a --batch";
  if (batch && arguments.text("output") == "yaml") {
    return "--batch prints JSON lines, and --verify text or json; -o yaml is for single plans";
  }
  return {};
}

/// Fills in the wish; returns what is wrong.
std::string read_wish(const Arguments& arguments, Wish& wish) {
  auto sources = sources_of(arguments.all("file"), arguments.all("plane"));
  if (!sources) return sources.error().message;
  wish.sources = std::move(*sources);
  for (const std::string& written : arguments.all("ask")) {
    Result<WrittenAsk> ask = parse_ask(written);
    if (!ask) return fmt::format("--ask '{}': {}", shorten(written), ask.error().message);
    wish.asks.push_back(std::move(*ask));
  }
  if (arguments.has("now")) {
    const Result<Time> now = parse_time(arguments.text("now"));
    if (!now) {
      return fmt::format("--now '{}': {}", shorten(arguments.text("now")), now.error().message);
    }
    wish.now = *now;
  }
  wish.configuration = {.preset = arguments.text("preset"),
                        .file = arguments.given("config"),
                        .overrides = arguments.all("set")};
  if (arguments.has("explain")) wish.detail = PlanDetail::with_explanation;
  return standard_input_twice(wish.configuration, wish.sources, arguments.text("batch"));
}

std::string document_text(const Plan& plan, const Arguments& arguments, PlanDetail detail,
                          bool time_is_known, const Terminal& terminal) {
  const std::string_view format = arguments.text("output");
  if (format == "json") return plan_text_json(plan, detail);
  if (format == "yaml") {
    std::string text;
    YamlWriter writer(text);
    write_plan(writer, plan, detail);
    return text;
  }
  return plan_text(plan, {.explain = detail == PlanDetail::with_explanation,
                          .time_is_known = time_is_known,
                          .palette = palette_for_out(terminal, arguments.text("color"))});
}

ExitStatus verdict(const Arguments& arguments, bool any_victims, bool any_infeasible) {
  if (!arguments.has("detailed-exitcode")) return ExitStatus::done;
  if (any_infeasible) return ExitStatus::infeasible;
  return any_victims ? ExitStatus::victims_needed : ExitStatus::done;
}

ExitStatus verdict(const Arguments& arguments, const Plan& plan) {
  const bool any_victims = std::ranges::any_of(plan.asks, needs_victims);
  const bool any_infeasible = std::ranges::any_of(plan.asks, [](const PlanAsk& ask) {
    return ask.outcome == Outcome::infeasible || ask.outcome == Outcome::not_found;
  });
  return verdict(arguments, any_victims, any_infeasible);
}

ExitStatus plan_files(const Arguments& arguments, const Wish& wish, Terminal& terminal,
                      const PlanTools& tools) {
  PlanTiming timing;
  BugFiles bug_files;
  const std::int64_t start = tools.microseconds();
  const std::vector<AskedWorkload> asked = asked_workloads(wish.asks);
  const EngineSettings& engine = wish.chosen.document->configuration.engine;
  const std::optional<Loaded> loaded = load_or_report(
      wish.sources, terminal, {.limits = {.ratio_max = engine.unpacked_ratio_max}, .asked = asked});
  timing.load = tools.microseconds() - start;
  if (!loaded) return ExitStatus::failed;
  terminal.error.write(load_notes(*loaded));
  ConfigurationChoice choice = wish.configuration;
  ChosenConfiguration chosen = wish.chosen;
  if (loaded->configuration && !choice.is_named()) {
    choice.found = &*loaded->configuration;
    chosen = choose_configuration(choice);
  }
  if (!chosen.usage.empty()) return usage_error(chosen.usage, terminal);
  if (!chosen.document) {
    terminal.error.write(problem_lines(chosen.problems, palette_for_error(terminal)));
    return ExitStatus::failed;
  }
  terminal.error.write(problem_lines(plan_doubts(*loaded, chosen.document->configuration),
                                     palette_for_error(terminal)));
  name_configuration(*chosen.document, !choice.overrides.empty());
  PlanAttempt attempt = make_plan({.cluster = loaded->cluster,
                                   .configuration = *chosen.document,
                                   .asks = wish.asks,
                                   .workloads = loaded->workloads,
                                   .now = wish.now,
                                   .placements = {},
                                   .explain = wish.detail == PlanDetail::with_explanation},
                                  tools, timing, bug_files);
  terminal.error.write(attempt.bug);
  loaded->origins.locate(attempt.problems, loaded->cluster);
  terminal.error.write(problem_lines(attempt.problems, palette_for_error(terminal)));
  if (arguments.has("timing")) terminal.error.write(timing_line(timing));
  const bool bug = attempt.shows_bug;
  if (!attempt.plan) return bug ? ExitStatus::bug : ExitStatus::failed;
  const bool time_is_known = wish.now || newest_time(loaded->cluster) != Time{0};
  terminal.out.write(document_text(*attempt.plan, arguments, wish.detail, time_is_known, terminal));
  return bug ? ExitStatus::bug : verdict(arguments, *attempt.plan);
}

/// "warning: case a: expct: there is no such key; it was not read; did you mean expect?"
std::string unknown_keys_text(const BatchResult& result, const Palette& palette) {
  Problems problems;
  for (const auto& [key, where] : result.unknown_keys) {
    const std::string others = where.cases == 1
                                   ? std::string{}
                                   : fmt::format(" and {}", counted(where.cases - 1, "other"));
    const std::string_view nearest = nearest_of(batch_keys(), key);
    problems.push_back(
        {.severity = Severity::warning,
         .object = fmt::format("case {}{}", where.first, others),
         .field = key,
         .message = "unknown key; it is ignored",
         .remedy = nearest.empty() ? std::string{} : fmt::format("did you mean {}?", nearest)});
  }
  return problem_lines(problems, palette);
}

void report_batch(const BatchResult& result, const Arguments& arguments, Terminal& terminal) {
  const Verification& verification = result.verification;
  if (arguments.has("verify") && result.failure.empty()) {
    terminal.out.write(arguments.text("output") == "json" ? verification_json(verification)
                                                          : verification_text(verification));
  }
  terminal.error.write(unknown_keys_text(result, palette_for_error(terminal)));
  terminal.error.write(problem_lines(result.warnings, palette_for_error(terminal)));
  if (result.warnings_left_out > 0) {
    terminal.error.write(
        fmt::format("... and {}\n", counted(result.warnings_left_out, "more warning")));
  }
  if (!result.failure.empty()) {
    terminal.error.write(fmt::format("makeway: {}\n", printable(result.failure)));
  } else if (result.cases == 0) {
    terminal.error.write("makeway: the batch has no line\n");
  } else if (result.errors > 0) {
    terminal.error.write(fmt::format("makeway: {} of {} could not be {}\n", grouped(result.errors),
                                     counted(result.cases, "case"),
                                     arguments.has("verify") ? "compared" : "planned"));
  } else if (arguments.has("verify") && verification.compared_nothing()) {
    terminal.error.write(
        "makeway: nothing was compared: no case of the batch says what to expect (\"expect\")\n");
  }
  if (result.bugs > 0) {
    terminal.error.write(fmt::format("makeway: {} of {} showed a bug in Makeway\n",
                                     grouped(result.bugs), counted(result.cases, "case")));
  }
  if (arguments.has("timing")) terminal.error.write(timing_line(result.timing));
}

ExitStatus plan_batch(const Arguments& arguments, const Wish& wish, Terminal& terminal,
                      const PlanTools& tools) {
  const BatchResult result = run_batch({.path = std::string(arguments.text("batch")),
                                        .configuration = wish.configuration,
                                        .standard = *wish.chosen.document,
                                        .asks = wish.asks,
                                        .now = wish.now,
                                        .detail = wish.detail,
                                        .verify = arguments.has("verify")},
                                       tools, terminal);
  if (terminal.out.is_closed()) return result.bugs > 0 ? ExitStatus::bug : ExitStatus::done;
  report_batch(result, arguments, terminal);
  const bool unverified = arguments.has("verify") && result.verification.compared_nothing();
  const bool failed = !result.failure.empty() || result.errors > 0 || result.cases == 0 ||
                      unverified || !result.verification.all_agree();
  if (result.bugs > 0) return ExitStatus::bug;
  if (failed) return ExitStatus::failed;
  return verdict(arguments, result.any_victims, result.any_infeasible);
}

}  // namespace

ExitStatus run_plan_with(const Arguments& arguments, Terminal& terminal, const PlanTools& tools) {
  if (const std::string wrong = refuse_flags(arguments); !wrong.empty()) {
    return usage_error(wrong, terminal);
  }
  Wish wish;
  if (const std::string wrong = read_wish(arguments, wish); !wrong.empty()) {
    return usage_error(wrong, terminal);
  }
  // Before anything is read: a slip on the command line should not cost a minute of loading.
  wish.chosen = choose_configuration(wish.configuration);
  if (!wish.chosen.usage.empty()) return usage_error(wish.chosen.usage, terminal);
  terminal.error.write(problem_lines(wish.chosen.problems, palette_for_error(terminal)));
  if (!wish.chosen.document) return ExitStatus::failed;
  return arguments.has("batch") ? plan_batch(arguments, wish, terminal, tools)
                                : plan_files(arguments, wish, terminal, tools);
}

ExitStatus run_plan(const Arguments& arguments, Terminal& terminal) {
  return run_plan_with(arguments, terminal, real_tools());
}

}  // namespace makeway::cli
