#include <algorithm>

#include "base/check.hpp"
#include "cli/check_command.hpp"
#include "cli/command.hpp"
#include "cli/completion/completion_command.hpp"
#include "cli/config_command.hpp"
#include "cli/explain_command.hpp"
#include "cli/help_command.hpp"
#include "cli/man_command.hpp"
#include "cli/plan/plan_command.hpp"
#include "cli/session_command.hpp"
#include "cli/snapshot_command.hpp"
#include "cli/version_command.hpp"
#include "codec/presets.hpp"
#include "model/knobs.hpp"

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

Flag plane_flag() {
  return {.name = "plane",
          .value = "NAME=FILE|DIR|-",
          .help =
              "Read this file or folder as the plane NAME, one Kubernetes cluster of several. Its "
              "objects belong to that plane and their names are its own, so that ordinary dumps of "
              "several clusters can be read together. What schedules over planes "
              "(ReplicaSchedule) comes with -f. May be repeated.",
          .repeats = true};
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
          .value = "FILE|-",
          .help =
              "Read the configuration from this file, or from standard input, instead of a preset; "
              "a knob that it does not set has its default."};
}

/// "workload.evictFor=": what shells offer after --set. Written once, then never changed.
const std::vector<std::string>& assignments() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> list;
    for (const Knob& knob : knobs()) list.push_back(std::string(knob.path) + "=");
    return list;
  }();
  return texts;
}

std::vector<std::string_view> knob_names() {
  std::vector<std::string_view> names;
  for (const Knob& knob : knobs()) {
    if (std::ranges::find(names, knob.section()) == names.end()) names.push_back(knob.section());
    names.push_back(knob.path);
  }
  return names;
}

Flag set_flag() {
  return {.name = "set",
          .value = "KNOB=VALUE",
          .help = "Change one knob; lists are separated by commas. May be repeated.",
          .suggestions = {assignments().begin(), assignments().end()},
          .repeats = true};
}

Command snapshot_entry() {
  return {.name = "snapshot",
          .summary = "load a cluster and show it",
          .description =
              "Loads Kubernetes manifests, or what `kubectl get -o json|yaml` printed, and shows "
              "the cluster that they describe.\n\ntext is an overview for people: resources, "
              "nodes, what runs at which priority, groups, budgets, pending pods. json and yaml "
              "are the canonical dump: one List that holds what scheduling reads and nothing else, "
              "sorted, the same bytes for the same cluster; it can be loaded again.\n\nInvalid "
              "input is rejected as a whole, with every problem listed.",
          .flags = {file_flag(false),
                    plane_flag(),
                    output_flag({"text", "json", "yaml"}, "How to print the cluster."),
                    {.name = "all",
                     .help = "text: list every node, priority, group, budget and pending pod, "
                             "however many there are."},
                    color_flag()},
          .examples = {{"makeway snapshot -f examples/tour", "an overview of the example cluster"},
                       {"kubectl get nodes,pods,pc,pdb -A -o json | makeway snapshot -f -",
                        "an overview of a live cluster"},
                       {"makeway snapshot --plane east=east.json --plane west=west.json",
                        "two clusters together"},
                       {"makeway snapshot -f dump.json.gz -o yaml", "the canonical dump"}},
          .run = run_snapshot};
}

Command check_entry() {
  return {
      .name = "check",
      .summary = "look for mistakes in manifests and configuration",
      .description =
          "Reads the files as every other command does, and also looks for input that is legal but "
          "probably a mistake: pods on missing nodes, gangs that cannot start, budgets that select "
          "no pods, requests that no node can hold.\n\nFindings go to standard output. The exit "
          "status is 1 when there are errors; with --strict warnings count as well.",
      .flags = {file_flag(false),
                plane_flag(),
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

std::vector<Flag> plan_flags() {
  return {
      file_flag(false),
      plane_flag(),
      {.name = "ask",
       .value = "[KIND/]NAMESPACE/NAME",
       .help =
           "Plan only for this unit (may be given several times); everything that is pending when "
           "it is not given. "
           "Other pending units then count only where they hold a nomination; but queues divide "
           "the cluster among all, so their claims are all planned. KIND is pod, podgroup, "
           "replicaschedule, session, or a kind whose controller makes pods, such as job or "
           "deployment; then all its pending pods ask, also if it is suspended. A bare NAME is in "
           "the namespace default. In a batch: for cases that name none.",
       .repeats = true},
      preset_flag(),
      config_flag(),
      set_flag(),
      {.name = "now",
       .value = "TIME",
       .help = "The time of the decision, such as 2026-01-01T00:00:00Z; else what the case "
               "of a batch says, else the newest time in the input."},
      output_flag({"text", "json", "yaml"}, "How to print the plan."),
      {.name = "explain",
       .help = "Also explain why this node was chosen, which pods were spared, and why the other "
               "nodes cannot take the ask."},
      {.name = "batch",
       .value = "FILE|-",
       .help = "Plan every line of this file (plain or gzip) or of standard input, and print "
               "one plan a line."},
      {.name = "verify",
       .help = "With --batch: compare each plan with what its line expects, and print what "
               "differs instead of plans. Exit status 1 when anything does, or nothing was "
               "compared."},
      {.name = "timing",
       .help = "Print a JSON line of microseconds (load, snapshot, decide, check) and of counters "
               "(plans that were refused, asks that were left out) to standard error."},
      {.name = "detailed-exitcode",
       .help = "Exit status 3 when there are victims, 4 when an ask is infeasible or no placement "
               "was found; 4 takes precedence."},
      color_flag()};
}

Command plan_entry() {
  return {
      .name = "plan",
      .summary = "decide which pods must leave so that something can run",
      .description =
          "Loads a cluster and decides for each pending unit, most important first: whether it "
          "fits, which pods must leave for it, whether it only has to wait, or that it cannot be "
          "placed. Nothing is changed. Every plan is checked against the laws before it is shown; "
          "an ask whose plan breaks one (a bug in Makeway) is left out, and the others get their "
          "plan without it.\n\nThe configuration comes from --preset or --config, else from the "
          "one Configuration among the files, else from the preset makeway; --set changes single "
          "knobs of it.\n\nA line of a --batch is {\"id\", \"ask\" or \"asks\", \"askKind\", "
          "\"snapshot\", \"now\", \"placements\", \"expect\", \"configuration\"}, of which only "
          "the snapshot (a List) must be there, or a bare List. A line that cannot be planned "
          "gives {\"id\", \"error\"}, the others go on, and the exit status is 1.",
      .flags = plan_flags(),
      .examples = {{"makeway plan -f examples/pods --explain", "an example cluster, with reasons"},
                   {"makeway plan -f dump.json --ask shop/checkout-7 -o json",
                    "one pod, for machines"},
                   {"kubectl get nodes,pods,ns,pc,pdb,podgroups -A -o json | makeway plan -f -",
                    "a live cluster; leave out podgroups where kubectl does not know them"},
                   {"makeway plan -f schedules.yaml --plane east=east.json --plane west=west.json",
                    "replicas over two clusters, each from its own dump"},
                   {"makeway plan --batch cases.jsonl.gz --verify --preset kube-1.37",
                    "your own regression tests"}},
      .exit_status =
          "A batch prints and exits with 1 when a case could not be planned or, with --verify, "
          "differs. With --detailed-exitcode also 3 when victims are needed, 4 when an ask is "
          "infeasible or no placement was found for it. In any case 5 when a bug in Makeway was "
          "detected; standard error names the file to report it with.",
      .run = run_plan};
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
                        .suggestions = knob_names(),
                        .required = true}},
          .examples = {{"makeway config explain workload.evictFor", "one knob"},
                       {"makeway config explain workload", "a section"}},
          .run = run_config_explain};
}

Command explain_entry() {
  return {.name = "explain",
          .summary = "say what a field of our own kinds means",
          .description =
              "Prints what a field of Queue, ReplicaSchedule, ResourceGroup, Partition or Session "
              "means, what it takes and its default, and the fields below it. The name of a kind "
              "lists its fields. For a Configuration, use `config explain`.",
          .operands = {{.name = "FIELD",
                        .help = "A path such as queue.spec.weight, or a kind.",
                        .suggestions = explained_paths(),
                        .required = true}},
          .examples = {{"makeway explain queue.spec.weight", "one field"},
                       {"makeway explain session.spec.kernels", "a field and those below it"},
                       {"makeway explain partition", "all fields of a kind"}},
          .run = run_explain};
}

Command session_resume_entry() {
  return {.name = "session resume",
          .summary = "make a preempted or suspended session pending again",
          .description =
              "Loads the files and prints all of their objects again, as `snapshot -o yaml` does, "
              "with one change: the session is pending. It keeps its name, configuration, place in "
              "the queue and the count of its preemptions; the rest of its back-off is dropped.\n"
              "\n"
              "Batch sessions that requeue come back by themselves, suspended ones run on as soon "
              "as there is room on their nodes. A suspended session that is resumed here gives up "
              "its nodes and its memory there: the way out when a node is gone.",
          .flags = {file_flag(true), output_flag({"yaml", "json"}, "How to print the objects.")},
          .operands = {{.name = "ID",
                        .help = "The session, as NAMESPACE/NAME; a bare NAME is in the namespace "
                                "default.",
                        .required = true}},
          .examples = {{"makeway session resume -f cluster.yaml team/notebook > resumed.yaml",
                        "an interactive session that was preempted"},
                       {"makeway session resume -f cluster.yaml notebook | makeway plan -f -",
                        "what would happen then"}},
          .run = run_session_resume};
}

Command completion_entry() {
  return {.name = "completion",
          .summary = "print a completion script for a shell",
          .description =
              "Prints a script that teaches the shell the commands of makeway, their flags and "
              "their values. To use it:\n\n  bash  eval \"$(makeway completion bash)\" in "
              "~/.bashrc\n  zsh   makeway completion zsh > a folder of $fpath, as _makeway\n  fish "
              " makeway completion fish > ~/.config/fish/completions/makeway.fish\n\nA new version "
              "of makeway may have more commands: generate the script again then.",
          .operands = {{.name = "SHELL",
                        .help = "The shell.",
                        .choices = {"bash", "zsh", "fish"},
                        .required = true}},
          .examples = {{"eval \"$(makeway completion bash)\"", "for this session"}},
          .run = run_completion};
}

Command man_entry() {
  return {.name = "man",
          .summary = "print the manual page",
          .description = "Prints the manual page of makeway, all commands included, as roff text.",
          .examples = {{"makeway man | man -l -", "read it"},
                       {"makeway man > /usr/local/share/man/man1/makeway.1", "install it"}},
          .run = run_man};
}

std::vector<Command> all_commands() {
  std::vector<Command> table = {
      plan_entry(),
      snapshot_entry(),
      check_entry(),
      {.name = "config",
       .summary = "show and explain configuration",
       .description = "A configuration sets the rules of the decisions. It comes from a preset or "
                      "a file, and single knobs can be set on the command line."},
      config_list_entry(),
      config_show_entry(),
      config_explain_entry(),
      explain_entry(),
      {.name = "session",
       .summary = "change sessions",
       .description = "Sessions run in resource groups (docs/policies/session.md). What a plan "
                      "decides about them is kept in their status; these commands change it by "
                      "hand."},
      session_resume_entry(),
      completion_entry(),
      man_entry(),
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
  // Help comes last and knows the others.
  for (const Command& command : table) {
    if (command.name.contains(' ')) continue;
    table.back().operands.front().suggestions.push_back(command.name);
  }
  return table;
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

std::optional<std::string_view> Arguments::given(std::string_view name) const {
  const std::vector<std::string>& values = all(name);
  if (values.empty()) return std::nullopt;
  return values.back();
}

std::string_view Arguments::text(std::string_view name) const {
  const std::vector<std::string>& values = all(name);
  return values.empty() ? std::string_view{} : std::string_view(values.back());
}

}  // namespace makeway::cli
