#include "cli/apply/apply_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/printable.hpp"
#include "cli/apply/apply_run.hpp"
#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/problem_text.hpp"
#include "codec/presets.hpp"
#include "codec/source.hpp"
#include "kube/live_settings.hpp"
#include "model/profiles.hpp"

namespace makeway::cli {
namespace {

ExitStatus usage_error(std::string_view text, Terminal& terminal) {
  terminal.error.write(fmt::format("makeway: {}\n{}\n", text, help_line(find_command("apply"))));
  return ExitStatus::usage;
}

ExitStatus refuse(const Problems& problems, Terminal& terminal) {
  terminal.error.write(problem_lines(problems, palette_for_error(terminal)));
  return ExitStatus::failed;
}

/// What is wrong with the flags alone; empty: nothing.
std::string refuse_flags(const Arguments& arguments, const Terminal& terminal) {
  const std::string& plan = arguments.operands().front();
  for (const std::string_view flag : {"kubeconfig", "context"}) {
    if (arguments.given(flag) == "") return fmt::format("--{} '': it is empty", flag);
  }
  const std::vector<std::string>& names = arguments.all("scheduler-name");
  if (std::ranges::find(names, "") != names.end()) {
    return "--scheduler-name '': expected the schedulerName of pods";
  }
  if (plan == "-" && arguments.given("config") == "-") {
    return "standard input can be read only once; name a file with --config";
  }
  if (arguments.has("yes") || arguments.has("dry-run")) return {};
  if (plan == "-") return "the plan comes from standard input, so nobody can be asked; give --yes";
  if (terminal.input != nullptr) return {};
  return "standard input is no terminal, so nobody can be asked; give --yes to apply without "
         "asking, or --dry-run to see what would be done";
}

PlanReading read_plan(const std::string& path) {
  const auto source = read_source({.path = path});
  if (!source) return {.document = {}, .problems = {{.message = source.error().message}}};
  PlanReading reading = read_plan_document(source->text.view(), path);
  if (reading.document && !reading.document->withheld.empty()) {
    reading.problems.push_back(
        {.origin = {.source = path},
         .object = "Plan " + reading.document->id,
         .field = "withheld",
         .message = "the plan is empty, since no lawful one could be made: " +
                    reading.document->withheld});
    reading.document.reset();
  }
  return reading;
}

/// "makeway" of "makeway-live-changed": what a plan calls its configuration.
std::string_view preset_behind(std::string_view name) {
  for (const std::string_view ending : {"-changed", "-live"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  const auto names = preset_names();
  return std::ranges::find(names, name) == names.end() ? std::string_view{} : name;
}

/// The rules of the plan, as live ones. None: the status says how it ended.
std::optional<ConfigurationDocument> read_rules(const Arguments& arguments,
                                                const PlanDocument& plan, Terminal& terminal,
                                                ExitStatus& status) {
  ConfigurationChoice choice{.preset = arguments.text("preset"),
                             .file = arguments.given("config"),
                             .overrides = arguments.all("set"),
                             .live_trust = true};
  if (!choice.is_named()) choice.preset = preset_behind(plan.preset);
  ChosenConfiguration chosen = choose_configuration(choice);
  if (!chosen.usage.empty()) {
    status = usage_error(chosen.usage, terminal);
    return std::nullopt;
  }
  status = ExitStatus::failed;
  terminal.error.write(problem_lines(chosen.problems, palette_for_error(terminal)));
  if (!chosen.document) return std::nullopt;
  bool is_same = configuration_hash(chosen.document->configuration) == plan.configuration_hash;
  if (!is_same && choice.file != "-") {
    // A plan from files honours everybody's marks; here they count as in every live run.
    choice.live_trust = false;
    const ChosenConfiguration of_files = choose_configuration(choice);
    is_same = of_files.document &&
              configuration_hash(of_files.document->configuration) == plan.configuration_hash;
    choice.live_trust = true;
  }
  if (!is_same) {
    refuse({{.object = "Plan " + plan.id,
             .field = "configurationHash",
             .value = plan.configuration_hash,
             .message = fmt::format("the plan was made by other rules than these; it calls them {}",
                                    shorten(plan.preset)),
             .remedy = "give the --preset, --config and --set that `makeway plan` was given"}},
           terminal);
    return std::nullopt;
  }
  if (const std::string waived = waived_too_much(chosen.document->configuration); !waived.empty()) {
    terminal.error.write(fmt::format("error: {}\n", waived));
    return std::nullopt;
  }
  name_configuration(*chosen.document, choice);
  // The delay of a live run is for pods about whom nobody is asked. Here somebody was: what is
  // agreed to must be what happens, and not "0 evictions" with one to follow.
  const Duration delay = chosen.document->configuration.required_node.preemption_start_delay;
  chosen.document->configuration = kube::live_rules(std::move(chosen.document->configuration));
  chosen.document->configuration.required_node.preemption_start_delay = delay;
  return std::move(chosen.document);
}

}  // namespace

ExitStatus run_apply(const Arguments& arguments, Terminal& terminal) {
  if (const std::string wrong = refuse_flags(arguments, terminal); !wrong.empty()) {
    return usage_error(wrong, terminal);
  }
  LeaseRequest lease;
  if (const std::string wrong =
          read_lease_request(arguments.given("lease").value_or(standard_lease), lease);
      !wrong.empty()) {
    return usage_error(wrong, terminal);
  }
  const PlanReading reading = read_plan(arguments.operands().front());
  if (!reading.document) return refuse(reading.problems, terminal);
  const Result<ChosenAsks> chosen = choose_asks(*reading.document, arguments.all("only"));
  if (!chosen) return usage_error(chosen.error().message, terminal);
  ExitStatus status = ExitStatus::done;
  const auto document = read_rules(arguments, *reading.document, terminal, status);
  if (!document) return status;
  const kube::TargetRequest target{.kubeconfig = std::string(arguments.text("kubeconfig")),
                                   .context = std::string(arguments.text("context"))};
  OpenedCluster opened = open_cluster(target, terminal.kube);
  terminal.error.write(problem_lines(opened.problems, palette_for_error(terminal)));
  if (opened.connection == nullptr) return ExitStatus::failed;
  auto served = opened.connection->api().discover();
  if (!served) return refuse({served.error().problem}, terminal);
  std::vector<std::string> schedulers = arguments.all("scheduler-name");
  if (schedulers.empty()) schedulers.emplace_back("makeway");
  return run_apply_live(
      {.plan = *reading.document,
       .chosen = *chosen,
       .document = *document,
       .connection = std::move(opened.connection),
       .served = *std::move(served),
       .schedulers = served_schedulers(std::move(schedulers), document->configuration),
       .lease = std::move(lease),
       .yes = arguments.has("yes"),
       .dry_run = arguments.has("dry-run")},
      terminal, palette_for_out(terminal, arguments.text("color")));
}

}  // namespace makeway::cli
