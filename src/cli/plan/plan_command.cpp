#include "cli/plan/plan_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/plan/ask_name.hpp"
#include "cli/plan/batch.hpp"
#include "cli/plan/node_what_if.hpp"
#include "cli/plan/plan_compare.hpp"
#include "cli/plan/plan_page.hpp"
#include "cli/plan/plan_text.hpp"
#include "cli/problem_text.hpp"
#include "cli/text.hpp"
#include "codec/batch_line.hpp"
#include "codec/plan_codec.hpp"
#include "codec/plan_versions.hpp"
#include "model/knobs.hpp"
#include "model/validation/outside_queues.hpp"

namespace makeway::cli {
namespace {

/// What the flags say, checked.
struct PlanOptions {
  PlanWording wording;
  ClusterInput input;
  std::vector<WrittenAsk> asks;
  std::optional<Time> now;
  ConfigurationChoice configuration;
  ChosenConfiguration chosen;  ///< By the command line alone.
  PlanDetail detail = PlanDetail::brief;
  PlanFilter filter;
  NodeWhatIf what_if;
};

/// Flags that do not go together; empty when all is well.
std::string refuse_flags(const Arguments& arguments) {
  const bool batch = arguments.has("batch");
  const bool files = arguments.has("file") || arguments.has("plane");
  if (arguments.given("batch") == "") return "--batch '': expected a FILE, or - for standard input";
  if (batch && arguments.has("file")) return "cases come from -f or from --batch, not from both";
  if (batch && files) return "cases come from --plane or from --batch, not from both";
  for (const std::string_view flag : {"kubeconfig", "context", "live"}) {
    if (batch && arguments.has(flag)) return fmt::format("--{} is not for a --batch", flag);
  }
  if (arguments.has("verify") && !batch) return "--verify compares the cases of a --batch";
  for (const std::string_view single : {"yaml", "html"}) {
    if (!batch || arguments.text("output") != single) continue;
    return fmt::format(
        "--batch prints JSON lines, and --verify text or json; -o {} is for single plans", single);
  }
  for (const std::string_view flag : {"summary", "outcome", "namespace", "node", "queue"}) {
    if (!arguments.has(flag)) continue;
    if (batch) return fmt::format("--{} is about the text of one plan, not of a --batch", flag);
    if (arguments.has("compare")) return fmt::format("--compare and --{} exclude each other", flag);
    if (arguments.text("output") == "text") continue;
    return fmt::format("--{} is about the text; a document is always complete", flag);
  }
  for (const std::string_view flag : {"drain", "without-node", "with-nodes", "like", "compare"}) {
    if (batch && arguments.has(flag)) return fmt::format("--{} is for -f, not for a --batch", flag);
  }
  if (arguments.has("compare") && arguments.text("output") != "text") {
    return "--compare prints text; for documents, make a plan with each --preset";
  }
  return {};
}

/// Fills in what is asked about nodes; returns what is wrong.
std::string read_what_if(const Arguments& arguments, NodeWhatIf& what_if) {
  constexpr std::uint64_t added_max = 10'000;
  what_if.drained = arguments.all("drain");
  what_if.gone = arguments.all("without-node");
  what_if.like = arguments.text("like");
  if (arguments.has("like") != arguments.has("with-nodes")) {
    return "--with-nodes COUNT and --like NODE come together";
  }
  if (!arguments.has("with-nodes")) return {};
  const std::string_view count = arguments.text("with-nodes");
  const auto [end, failed] =
      std::from_chars(count.data(), count.data() + count.size(), what_if.added);
  if (failed != std::errc{} || end != count.data() + count.size() || what_if.added == 0 ||
      what_if.added > added_max) {
    return fmt::format("--with-nodes '{}': expected a number from 1 to {}", shorten(count),
                       added_max);
  }
  return {};
}

/// Fills in the filter; returns what is wrong.
std::string read_filter(const Arguments& arguments, PlanFilter& filter) {
  for (const std::string& written : arguments.all("outcome")) {
    const Result<std::vector<Outcome>> outcomes = parse_outcomes(written);
    if (!outcomes) {
      return fmt::format("--outcome '{}': {}", shorten(written), outcomes.error().message);
    }
    filter.outcomes.insert(filter.outcomes.end(), outcomes->begin(), outcomes->end());
  }
  const auto name = [&](std::string_view flag, std::string_view what, std::string& value) {
    value = arguments.text(flag);
    return arguments.has(flag) && value.empty() ? fmt::format("--{} '': expected {}", flag, what)
                                                : std::string{};
  };
  std::string wrong = name("namespace", "a NAMESPACE", filter.namespace_name);
  if (wrong.empty()) wrong = name("node", "a NODE", filter.node);
  if (wrong.empty()) wrong = name("queue", "a QUEUE", filter.queue);
  return wrong;
}

/// Fills in the options; returns what is wrong.
std::string read_options(const Arguments& arguments, const Terminal& terminal,
                         PlanOptions& options) {
  const bool batch = arguments.has("batch");
  auto input = input_of(arguments, terminal, batch ? LiveByDefault::no : LiveByDefault::yes);
  if (!input) return input.error().message;
  options.input = std::move(*input);
  if (!batch && options.input.empty()) {
    return "nothing to plan; name files with -f, a live cluster with --kubeconfig, or a --batch";
  }
  for (const std::string& written : arguments.all("ask")) {
    Result<WrittenAsk> ask = parse_ask(written);
    if (!ask) return fmt::format("--ask '{}': {}", shorten(written), ask.error().message);
    options.asks.push_back(std::move(*ask));
  }
  if (arguments.has("now")) {
    const Result<Time> now = parse_time(arguments.text("now"));
    if (!now) {
      return fmt::format("--now '{}': {}", shorten(arguments.text("now")), now.error().message);
    }
    options.now = *now;
  }
  options.configuration = choice_in(arguments, trusts_live(arguments, options.input));
  if (arguments.has("explain")) options.detail = PlanDetail::with_explanation;
  if (std::string wrong = read_filter(arguments, options.filter); !wrong.empty()) return wrong;
  if (std::string wrong = read_what_if(arguments, options.what_if); !wrong.empty()) return wrong;
  return standard_input_twice(options.configuration, options.input.sources,
                              arguments.text("batch"));
}

std::string text_for_people(const Plan& plan, const Arguments& arguments,
                            const PlanOptions& options, const Loaded& loaded,
                            const Configuration& configuration, bool time_is_known,
                            const Terminal& terminal) {
  return plan_text(plan, {.explain = options.detail == PlanDetail::with_explanation,
                          .time_is_known = time_is_known,
                          .palette = palette_for_out(terminal, arguments.text("color")),
                          .summary_only = arguments.has("summary"),
                          .filter = options.filter,
                          .cluster = &loaded.cluster,
                          .replica_sets = &loaded.replica_sets,
                          .configuration = &configuration});
}

void print_document(const Plan& plan, const PlanVersions& versions, std::string_view format,
                    PlanDetail detail, Terminal& terminal) {
  if (format == "json") {
    return print_plan_json(
        plan, detail, [&](std::string_view piece) { terminal.out.write(piece); }, &versions);
  }
  std::string text;
  YamlWriter writer(text);
  write_plan(writer, plan, detail, nullptr, &versions);
  terminal.out.write(text);
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

/// Plans of one loaded input; where plans are compared, several are made.
class FilePlans {
 public:
  FilePlans(const PlanOptions& options, const Loaded& loaded, const TrustReport& trust,
            Terminal& terminal, const PlanTools& tools)
      : options_(options),
        loaded_(loaded),
        trust_(trust),
        terminal_(terminal),
        tools_(tools),
        now_(options.now ? *options.now : newest_time(loaded.cluster)) {}

  /// None: why is on standard error.
  std::optional<Plan> make(const ConfigurationDocument& configuration, bool explain);
  Time now() const { return now_; }
  PlanTiming& timing() { return timing_; }
  bool shows_bug() const { return shows_bug_; }
  ExitStatus failure() const { return shows_bug_ ? ExitStatus::bug : ExitStatus::failed; }
  /// Of the input; filled where a document is to be printed.
  VersionReader& versions() { return versions_; }

 private:
  const PlanOptions& options_;
  const Loaded& loaded_;
  const TrustReport& trust_;
  Terminal& terminal_;
  const PlanTools& tools_;
  Time now_;  ///< Of the input as it was loaded, whatever is changed in it.
  PlanTiming timing_;
  VersionReader versions_;
  BugFiles bug_files_;
  bool shows_bug_ = false;
};

std::optional<Plan> FilePlans::make(const ConfigurationDocument& configuration, bool explain) {
  PlanAttempt attempt = make_plan({.cluster = loaded_.cluster,
                                   .configuration = configuration,
                                   .asks = options_.asks,
                                   .workloads = loaded_.workloads,
                                   .now = now_,
                                   .explain = explain,
                                   .quarantine = &loaded_.quarantine,
                                   .trust = &trust_},
                                  tools_, timing_, bug_files_);
  terminal_.error.write(attempt.bug);
  loaded_.origins.locate(attempt.problems, loaded_.cluster);
  for (Problem& problem : attempt.problems) {
    if (problem.field == PlanWording{}.ask_field) problem.field = options_.wording.ask_field;
  }
  print_problems(attempt.problems, terminal_);
  shows_bug_ = shows_bug_ || attempt.shows_bug;
  return std::move(attempt.plan);
}

/// What a plan is compared with: another preset, and the input as that takes it. Which marks count
/// (section 10) and which caps there are is a matter of the configuration.
struct OtherSide {
  ConfigurationDocument configuration;
  Loaded loaded;
  TrustReport trust;
};

/// Explained plans look at every node for every ask; above this bound they are explained only on
/// request.
constexpr std::size_t explained_looks_max = 2'000'000;

/// The plan beside that of another preset.
std::optional<std::string> compared(const Plan& plan, const ConfigurationDocument& configuration,
                                    const OtherSide& other, FilePlans& plans,
                                    FilePlans& other_plans, const Palette& palette) {
  const Cluster& cluster = other.loaded.cluster;
  const std::optional<Plan> second = other_plans.make(other.configuration, false);
  if (!second) return std::nullopt;
  std::optional<Plan> explained_first;
  std::optional<Plan> explained_second;
  if (differing_asks(plan, *second) > 0 &&
      plan.asks.size() * cluster.node_count() <= explained_looks_max) {
    const auto explained = [](FilePlans& maker, ConfigurationDocument document) {
      document.configuration.engine.alternatives_max = find_knob("engine.alternativesMax")->maximum;
      return maker.make(document, true);
    };
    explained_first = explained(plans, configuration);
    explained_second = explained(other_plans, other.configuration);
  }
  return comparison_text({.name = configuration.name,
                          .plan = plan,
                          .explained = explained_first ? &*explained_first : nullptr,
                          .configuration = configuration.configuration},
                         {.name = other.configuration.name,
                          .plan = *second,
                          .explained = explained_second ? &*explained_second : nullptr,
                          .configuration = other.configuration.configuration},
                         Parties(&cluster, &other.loaded.replica_sets), palette);
}

/// A page shows alternatives on a click, so they have to be in it.
bool explains(const Arguments& arguments, const PlanOptions& options, const Cluster& cluster) {
  if (options.detail == PlanDetail::with_explanation) return true;
  if (arguments.text("output") != "html") return false;
  const std::size_t asks =
      options.asks.empty() ? cluster.pending_pods().size() : options.asks.size();
  return asks * cluster.node_count() <= explained_looks_max;
}

/// Makes the plan and prints it, or what differs; what is asked about nodes is applied to the
/// cluster before that.
ExitStatus plan_loaded(const Arguments& arguments, const PlanOptions& options, Loaded& loaded,
                       const ConfigurationDocument& configuration, FilePlans& plans,
                       std::optional<OtherSide>& other, Terminal& terminal,
                       const PlanTools& tools) {
  const Palette palette = palette_for_out(terminal, arguments.text("color"));
  const bool time_is_known = options.now || newest_time(loaded.cluster) != Time{0};
  const bool is_text = arguments.text("output") == "text";
  WhatIfChange change;
  std::optional<Plan> before;
  if (options.what_if.any()) {
    // Pods that ask only when their node is drained cannot be asked for without that.
    if (is_text && options.asks.empty()) {
      before = plans.make(configuration, false);
      if (!before) return plans.failure();
    }
    change =
        apply_what_if(options.what_if, configuration.configuration, plans.now(), loaded.cluster);
    for (const std::string& note : change.notes) {
      terminal.error.write(fmt::format("note: {}\n", printable(note)));
    }
  }
  const std::optional<Plan> plan =
      plans.make(configuration, explains(arguments, options, loaded.cluster));
  if (!plan) return plans.failure();
  Problems outside = find_pods_outside_queues(loaded.cluster, configuration.configuration, &*plan);
  loaded.origins.locate(outside, loaded.cluster);
  print_problems(outside, terminal);
  if (arguments.text("output") == "html") {
    terminal.out.write(plan_page(*plan, loaded.cluster, configuration.configuration));
    return plans.shows_bug() ? ExitStatus::bug : verdict(arguments, *plan);
  }
  if (!is_text) {
    print_document(*plan, plans.versions().of(*plan), arguments.text("output"), options.detail,
                   terminal);
    return plans.shows_bug() ? ExitStatus::bug : verdict(arguments, *plan);
  }
  std::string text = text_for_people(*plan, arguments, options, loaded, configuration.configuration,
                                     time_is_known, terminal);
  if (other) {
    FilePlans other_plans(options, other->loaded, other->trust, terminal, tools);
    apply_what_if(options.what_if, other->configuration.configuration, plans.now(),
                  other->loaded.cluster);
    const std::optional<std::string> comparison =
        compared(*plan, configuration, *other, plans, other_plans, palette);
    if (!comparison) return other_plans.failure();
    if (other_plans.shows_bug()) return ExitStatus::bug;
    text = *comparison;
  }
  if (options.what_if.any()) {
    terminal.out.write(what_if_text(change, before ? &*before : nullptr, *plan,
                                    Parties(&loaded.cluster, &loaded.replica_sets),
                                    palette.text_width()));
  }
  terminal.out.write(text);
  return plans.shows_bug() ? ExitStatus::bug : verdict(arguments, *plan);
}

/// The same input in a store of its own; where its objects stand is not copied.
Loaded copy_of(const Loaded& loaded) {
  Loaded copy{.cluster = loaded.cluster.compacted(),
              .quarantine = loaded.quarantine,
              .workloads = loaded.workloads,
              .replica_sets = loaded.replica_sets};
  const PodColumns& pods = loaded.cluster.pods();
  for (WorkloadPods& workload : copy.workloads) {
    for (PodIndex& pod : workload.pending) {
      pod = *copy.cluster.find_pod(loaded.cluster.text(pods.namespace_name[pod]),
                                   pods.name[pod.value], loaded.cluster.text(pods.plane[pod]));
    }
  }
  return copy;
}

/// None: nothing is compared.
std::optional<OtherSide> other_side(const Arguments& arguments, const PlanOptions& options,
                                    const Loaded& loaded) {
  if (!arguments.has("compare")) return std::nullopt;
  const bool live = options.configuration.live_trust;
  const ConfigurationChoice choice{
      .preset = arguments.text("compare"), .overrides = {}, .live_trust = live};
  const ChosenConfiguration chosen = choose_configuration(choice);
  OtherSide other{.configuration = *chosen.document, .loaded = copy_of(loaded), .trust = {}};
  name_configuration(other.configuration, choice);
  const Configuration& configuration = other.configuration.configuration;
  other.trust = honour_marks(other.loaded, configuration, options.now, live);
  if (arguments.has("keep-going")) keep_going_beyond_caps(other.loaded, configuration);
  return other;
}

ExitStatus plan_files(const Arguments& arguments, const PlanOptions& options, Terminal& terminal,
                      const PlanTools& tools) {
  const std::int64_t start = tools.microseconds();
  const std::vector<AskedWorkload> asked = asked_workloads(options.asks);
  ConfigurationChoice choice = options.configuration;
  const bool keep_going = arguments.has("keep-going");
  VersionReader versions;
  LoadOptions load_options{
      .asked = asked, .keep_going = keep_going, .planes_of_dumps = !choice.live_trust};
  if (arguments.text("output") != "text") {
    load_options.hears = [&](std::string_view json) { versions.read(json); };
  }
  std::optional<Loaded> loaded = load_or_report(options.input, terminal, load_options);
  const std::int64_t load_us = tools.microseconds() - start;
  if (!loaded) return ExitStatus::failed;
  terminal.error.write(load_notes(*loaded));
  Problems wrong = filter_problems(options.filter, loaded->cluster);
  wrong.append(what_if_problems(options.what_if, loaded->cluster));
  if (!wrong.empty()) {
    print_problems(wrong, terminal);
    return ExitStatus::failed;
  }
  ChosenConfiguration chosen = options.chosen;
  if (loaded->configuration && !choice.is_named() && !choice.live_trust) {
    choice.found = &*loaded->configuration;
    chosen = choose_configuration(choice);
  }
  if (!chosen.usage.empty()) return usage_error(options.wording.command, chosen.usage, terminal);
  if (!chosen.document) {
    print_problems(chosen.problems, terminal);
    return ExitStatus::failed;
  }
  std::optional<OtherSide> other = other_side(arguments, options, *loaded);
  const TrustReport trust = prepare_input(*loaded, chosen.document->configuration, options.now,
                                          choice.live_trust, keep_going, terminal);
  print_problems(plan_doubts(*loaded, chosen.document->configuration), terminal);
  name_configuration(*chosen.document, choice);
  FilePlans plans(options, *loaded, trust, terminal, tools);
  plans.timing().load = load_us;
  plans.versions() = std::move(versions);
  const ExitStatus status =
      plan_loaded(arguments, options, *loaded, *chosen.document, plans, other, terminal, tools);
  if (arguments.has("timing")) terminal.error.write(timing_line(plans.timing()));
  return status;
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
  print_problems(result.warnings, terminal);
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

ExitStatus plan_batch(const Arguments& arguments, const PlanOptions& options, Terminal& terminal,
                      const PlanTools& tools) {
  const BatchResult result = run_batch({.path = std::string(arguments.text("batch")),
                                        .configuration = options.configuration,
                                        .standard = *options.chosen.document,
                                        .asks = options.asks,
                                        .now = options.now,
                                        .detail = options.detail,
                                        .keep_going = arguments.has("keep-going"),
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

ExitStatus run_plan_with(const Arguments& arguments, Terminal& terminal, const PlanTools& tools,
                         const PlanWording& wording) {
  if (const std::string wrong = refuse_flags(arguments); !wrong.empty()) {
    return usage_error(wording.command, wrong, terminal);
  }
  PlanOptions options{.wording = wording};
  if (const std::string wrong = read_options(arguments, terminal, options); !wrong.empty()) {
    return usage_error(wording.command, wrong, terminal);
  }
  // Before anything is read: a slip on the command line should not cost a minute of loading.
  options.chosen = choose_configuration(options.configuration);
  if (!options.chosen.usage.empty()) {
    return usage_error(wording.command, options.chosen.usage, terminal);
  }
  print_problems(options.chosen.problems, terminal);
  if (!options.chosen.document) return ExitStatus::failed;
  options.input.now = options.now;
  show_planes_by(options.chosen.document->configuration, options.input);
  return arguments.has("batch") ? plan_batch(arguments, options, terminal, tools)
                                : plan_files(arguments, options, terminal, tools);
}

ExitStatus run_plan(const Arguments& arguments, Terminal& terminal) {
  return run_plan_with(arguments, terminal, real_tools());
}

}  // namespace makeway::cli
