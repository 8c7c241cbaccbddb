#include <algorithm>

#include "base/check.hpp"
#include "cli/check_command.hpp"
#include "cli/command.hpp"
#include "cli/config_command.hpp"
#include "cli/help_command.hpp"
#include "cli/snapshot_command.hpp"
#include "cli/version_command.hpp"
#include "codec/presets.hpp"

namespace makeway::cli {
namespace {

Flag file_flag(bool required) {
  return {.name = "file",
          .letter = 'f',
          .value = "FILE|DIR|-",
          .help =
              "Read this file, every .yaml, .yml, .json and .jsonl (also .gz) below this "
              "folder, or standard input. May be repeated.",
          .repeats = true,
          .required = required};
}

Flag output_flag(std::vector<std::string_view> choices, std::string_view help) {
  const std::string_view standard = choices.front();
  return {.name = "output",
          .letter = 'o',
          .value = "FORMAT",
          .help = help,
          .choices = std::move(choices),
          .standard = standard};
}

Flag color_flag() {
  return {.name = "color",
          .value = "WHEN",
          .help = "Colour the text. auto: on a terminal, unless NO_COLOR is set.",
          .choices = {"auto", "always", "never"},
          .standard = "auto"};
}

Flag preset_flag() {
  return {.name = "preset",
          .value = "NAME",
          .help = "Start from this preset; makeway when neither it nor --config is given.",
          .choices = preset_names()};
}

Flag config_flag() {
  return {.name = "config",
          .value = "FILE",
          .help =
              "Read the configuration from this file instead of a preset; what it does not "
              "say has its default."};
}

Flag set_flag() {
  return {.name = "set",
          .value = "KNOB=VALUE",
          .help = "Change one knob; lists are separated by commas. May be repeated.",
          .repeats = true};
}

Command snapshot_entry() {
  return {.name = "snapshot",
          .summary = "load a cluster and show it",
          .description =
              "Loads Kubernetes manifests, or what `kubectl get -o json|yaml` printed, and shows "
              "the cluster that they describe.\n"
              "\n"
              "text is an overview for people: resources, nodes, what runs at which priority, "
              "groups, budgets, pending pods. json and yaml are the canonical dump: one List that "
              "holds what scheduling reads and nothing else, sorted, the same bytes for the same "
              "cluster; it can be loaded again.\n"
              "\n"
              "Input that is wrong is refused as a whole, with every problem listed.",
          .flags = {file_flag(true),
                    output_flag({"text", "json", "yaml"}, "How to print the cluster."),
                    {.name = "all",
                     .help = "text: list every node, priority, group, budget and pending pod, "
                             "however many there are."},
                    color_flag()},
          .examples = {{"makeway snapshot -f examples/", "an overview of the example cluster"},
                       {"kubectl get nodes,pods,pc,pdb -A -o json | makeway snapshot -f -",
                        "an overview of a live cluster"},
                       {"makeway snapshot -f dump.json.gz -o yaml", "the canonical dump"}},
          .run = run_snapshot};
}

Command check_entry() {
  return {.name = "check",
          .summary = "look for mistakes in manifests and configuration",
          .description =
              "Reads the files as every other command does, and also looks for what is legal and "
              "probably not meant: pods on nodes that are not there, gangs that cannot start, "
              "budgets that govern nothing, requests that no node can hold.\n"
              "\n"
              "Findings go to standard output. The exit status is 1 when there are errors; with "
              "--strict warnings count as well.",
          .flags = {file_flag(false),
                    preset_flag(),
                    config_flag(),
                    set_flag(),
                    output_flag({"text", "json"}, "How to print the findings."),
                    {.name = "strict", .help = "Warnings count as errors."},
                    color_flag()},
          .examples = {{"makeway check -f manifests/", "every file of a folder"},
                       {"makeway check --config ours.yaml", "a configuration alone"},
                       {"makeway check -f manifests/ --strict -o json", "for a pipeline"}},
          .run = run_check};
}

Command config_list_entry() {
  return {.name = "config list",
          .summary = "name the presets and the knobs",
          .description =
              "Lists the presets with what each reproduces, then every knob with its "
              "default and what it takes.",
          .examples = {{"makeway config list", "all of them"}},
          .run = run_config_list};
}

Command config_show_entry() {
  return {.name = "config show",
          .summary = "print a preset or the effective configuration",
          .description =
              "Prints the configuration that other commands would use with the same --config and "
              "--set. A preset by itself is printed as it was written, with its comments; "
              "everything else as a complete document.",
          .flags = {config_flag(),
                    set_flag(),
                    output_flag({"yaml", "json"}, "How to print the document."),
                    {.name = "comments",
                     .help = "yaml: what each knob means, above it. A good start for a file of "
                             "your own."}},
          .operands = {{.name = "PRESET",
                        .help = "The preset; makeway when neither it nor --config is given.",
                        .choices = preset_names()}},
          .examples = {{"makeway config show kube-1.37", "a preset with its comments"},
                       {"makeway config show --comments > ours.yaml", "a file to begin with"},
                       {"makeway config show --set workload.evictFor=all -o json",
                        "the default with one change"}},
          .run = run_config_show};
}

Command config_explain_entry() {
  return {.name = "config explain",
          .summary = "say what a knob does",
          .description =
              "Prints the documentation of a knob: what it does, what it takes, its default and "
              "its value in each preset. The name of a section, such as workload, lists the "
              "knobs of that section.",
          .operands = {{.name = "KNOB",
                        .help = "A path such as workload.evictFor, or a section.",
                        .required = true}},
          .examples = {{"makeway config explain workload.evictFor", "one knob"},
                       {"makeway config explain workload", "a section"}},
          .run = run_config_explain};
}

std::vector<Command> all_commands() {
  return {snapshot_entry(),
          check_entry(),
          {.name = "config",
           .summary = "show and explain configuration",
           .description = "A configuration decides about decisions. It comes from a preset or a "
                          "file, and single knobs can be set on the command line."},
          config_list_entry(),
          config_show_entry(),
          config_explain_entry(),
          {.name = "version",
           .summary = "print version, compiler and build",
           .description = "Prints the version of makeway and how it was built.",
           .examples = {{"makeway version", "all of it"}, {"makeway --version", "one line"}},
           .run = run_version},
          {.name = "help",
           .summary = "explain a command",
           .description = "Prints the help of the program or of a command; `--help` after any "
                          "command does the same.",
           .operands = {{.name = "COMMAND",
                         .help = "The command, in one or two words.",
                         .repeats = true}},
           .examples = {{"makeway help config show", "the same as makeway config show --help"}},
           .run = run_help}};
}

}  // namespace

std::span<const Command> commands() {
  static const std::vector<Command> table = all_commands();
  return table;
}

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(commands(), name, &Command::name);
  return found == commands().end() ? nullptr : &*found;
}

const std::vector<std::string>& Arguments::all(std::string_view name) const {
  const auto found = values_.find(name);
  CHECK(found != values_.end(), "the command has no such flag");
  return found->second;
}

bool Arguments::has(std::string_view name) const { return !all(name).empty(); }

std::string_view Arguments::text(std::string_view name) const {
  const std::vector<std::string>& values = all(name);
  return values.empty() ? std::string_view{} : std::string_view(values.back());
}

}  // namespace makeway::cli
