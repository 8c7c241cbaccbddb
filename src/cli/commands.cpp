#include "cli/commands.hpp"

#include <algorithm>
#include <iterator>

#include "base/check.hpp"
#include "cli/command.hpp"
#include "cli/entries.hpp"
#include "cli/help.hpp"
#include "cli/plan/plan_command.hpp"
#include "codec/presets.hpp"
#include "model/knobs.hpp"
#include "model/plan.hpp"

namespace makeway::cli {
namespace {

Command snapshot_entry() {
  return {.name = "snapshot",
          .summary = "load a cluster and show it",
          .description =
              "Loads Kubernetes manifests, what `kubectl get -o json|yaml` printed, or a live "
              "cluster, and shows the cluster that they describe.\n\ntext is an overview for "
              "people: resources, "
              "nodes, what runs at which priority, groups, budgets, pending pods. json and yaml "
              "are the canonical dump: one List that holds what scheduling reads and nothing else, "
              "sorted, the same bytes for the same cluster; it can be loaded again.\n\nInvalid "
              "input is rejected as a whole, with every problem listed, unless --keep-going is "
              "given.",
          .flags = {file_flag(false),
                    plane_flag(),
                    output_flag({"text", "json", "yaml"}, "How to print the cluster."),
                    {.name = "all",
                     .help = "text: list every node, priority, group, budget and pending pod, "
                             "however many there are."},
                    {.name = "hide-names",
                     .help = "json, yaml: replace every name, namespace, uid and label value, so "
                             "that the dump can be given away. A plan of it is the same plan with "
                             "other names. Label keys and resources stay."},
                    {.name = "watch-for",
                     .value = "TIME",
                     .help = "Watch the live cluster for so long, such as 30s, or until Ctrl-C, "
                             "and show the state then; without this it is read once."},
                    keep_going_flag(),
                    color_flag()},
          .examples = {{"makeway snapshot -f examples/tour", "an overview of the example cluster"},
                       {"makeway snapshot --live", "an overview of a live cluster"},
                       {"makeway snapshot --live -o json | gzip > dump.json.gz",
                        "record what scheduling reads, for later"},
                       {"makeway snapshot --live --hide-names -o json | gzip > report.json.gz",
                        "the same without names, to send with a question"},
                       {"makeway snapshot --live --watch-for 5m -o json",
                        "the state after five minutes of watching"},
                       {"kubectl get nodes,pods,pc,pdb -A -o json | makeway snapshot -f -",
                        "what kubectl printed"},
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
          "no pods, requests that no node can hold.\n\nFindings go to standard output, "
          "those of one cause together. The exit status is 1 when there are errors; with --strict "
          "warnings count as well.\n\nOf a live cluster it also reports what would be different "
          "under makeway run than with the schedulers of today: Kubernetes' own, Kueue, Volcano, "
          "YuniKorn, KAI (docs/adopt.md). That is no mistake, and counts as none.",
      .flags = {file_flag(false),
                plane_flag(),
                preset_flag(),
                config_flag(),
                set_flag(),
                output_flag({"text", "json"}, "How to print the findings."),
                {.name = "strict", .help = "Warnings count as errors."},
                {.name = "differences",
                 .help = "Also of files: what would be different under makeway run."},
                trust_flag(),
                keep_going_flag(),
                color_flag()},
      .examples = {{"makeway check -f manifests/", "every file of a folder"},
                   {"makeway check --config ours.yaml", "a configuration alone"},
                   {"makeway check -f manifests/ --strict -o json", "for a pipeline"},
                   {"makeway check --live", "what in this cluster would behave differently"}},
      .run = run_check};
}

/// What the text of a plan shows.
std::vector<Flag> shown_flags() {
  return {
      {.name = "summary",
       .help = "Print only the summary: victims, asks without a place, asks that wait and asks "
               "that get room, by owner. A large plan begins with it anyway."},
      {.name = "outcome",
       .value = "OUTCOME[,..]",
       .help = "Show only asks with this outcome: fits, preempts, waits, infeasible or not-found. "
               "Filters are for the text: the plan is the same, and documents are complete.",
       .suggestions = {choice_names<Outcome>.begin(), choice_names<Outcome>.end()},
       .repeats = true},
      {.name = "namespace",
       .letter = 'n',
       .value = "NAMESPACE",
       .help = "Show only asks of this namespace, and asks that take or wait for pods of it."},
      {.name = "node",
       .value = "NODE",
       .help = "Show only asks that get room on this node, or that take or wait for pods there."},
      {.name = "queue",
       .value = "QUEUE",
       .help = "Show only asks of this queue, and asks that take or wait for pods of it."}};
}

/// What is asked about a cluster or configuration that is not there.
std::vector<Flag> what_if_flags() {
  return {
      {.name = "drain",
       .value = "NODE",
       .help = "Plan as if this node were drained: it is cordoned and its pods ask again; pods of "
               "DaemonSets and mirror pods stay. May be repeated.",
       .repeats = true},
      {.name = "without-node",
       .value = "NODE",
       .help = "Plan as if this node and the pods on it were gone. May be repeated.",
       .repeats = true},
      {.name = "with-nodes",
       .value = "COUNT",
       .help = "Plan as if there were so many more nodes, each like the NODE of --like."},
      {.name = "like",
       .value = "NODE",
       .help = "What the nodes of --with-nodes are like: its labels, taints and room, and its pods "
               "of DaemonSets."},
      {.name = "compare",
       .value = "PRESET",
       .help = "Also plan with this preset, and print only what differs: outcomes, places, "
               "victims, and on which key.",
       .choices = preset_names()}};
}

std::vector<Flag> plan_flags() {
  std::vector<Flag> flags = {
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
      output_flag({"text", "json", "yaml", "html"},
                  "How to print the plan; html: a page for a browser that works offline."),
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
      trust_flag(),
      keep_going_flag(),
      color_flag()};
  const auto place = std::ranges::find(flags, "batch", &Flag::name);
  std::vector<Flag> more = shown_flags();
  std::ranges::move(what_if_flags(), std::back_inserter(more));
  flags.insert(place, more.begin(), more.end());
  return flags;
}

Command plan_entry() {
  return {
      .name = "plan",
      .summary = "decide which pods must leave so that something can run",
      .description =
          "Loads a cluster, from files or live, and decides for each pending unit, most important "
          "first: whether it "
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
                   {"makeway plan -f dump.json -n shop --outcome infeasible,not-found",
                    "what finds no place in a namespace, and why"},
                   {"makeway plan -f dump.json -o html > plan.html",
                    "a picture: nodes as bars, evictions, placements and their reasons"},
                   {"makeway plan -f dump.json --drain node-7", "where its pods would go"},
                   {"makeway plan -f dump.json --with-nodes 5 --like node-7",
                    "what five more nodes would change"},
                   {"makeway plan -f dump.json --compare kube-1.37",
                    "what kube-scheduler would do otherwise"},
                   {"makeway plan --live -f job.yaml",
                    "which pods would be evicted if job.yaml were submitted to the live cluster"},
                   {"kubectl get nodes,pods,ns,pc,pdb,podgroups -A -o json | makeway plan -f -",
                    "what kubectl printed; leave out podgroups where it does not know them"},
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

Command risk_entry() {
  return {
      .name = "risk",
      .summary = "show which asks would evict a running pod, and what would protect it",
      .description =
          "Reports for a running pod whether today's plan evicts it and for which ask, its "
          "position in the eviction order of its node, the lowest priority and the smallest ask "
          "that would evict it, and what would protect it.\n\nEvery answer is that of a plan: "
          "made-up asks are put on the pod's node, and protections are tried one at a time. "
          "Nothing is changed. The made-up asks name the resource of which the pod holds the "
          "largest part of its node.\n\nOf a group or a workload, the running pod at the highest "
          "risk is reported. Of a session, a replicaschedule, a replica and a pod in another "
          "plane, only what today's plan does to it.\n\nA pod may stay and still stop because "
          "other pods of its JobSet or gang are evicted; that is reported, without protections. "
          "With queues, one ask in each of the other queues is tried, too.",
      .flags = {file_flag(false),
                plane_flag(),
                preset_flag(),
                config_flag(),
                set_flag(),
                {.name = "now",
                 .value = "TIME",
                 .help = "The time of the decision, such as 2026-01-01T00:00:00Z; else the newest "
                         "time in the input."},
                keep_going_flag(),
                trust_flag(),
                output_flag({"text", "json"}, "How to print the answers."),
                color_flag()},
      .operands = {{.name = "[KIND/]NAMESPACE/NAME",
                    .help = "The pod; or a podgroup, or a kind whose controller makes pods, such "
                            "as deployment or job; or a session or replicaschedule. A bare NAME is "
                            "in the namespace default. A pod in another plane may be called \"shop/"
                            "web-1 of plane east\".",
                    .required = true}},
      .examples = {{"makeway risk research/render-1 -f examples/pods", "a pod of the example"},
                   {"makeway risk deployment/shop/web -f dump.json --preset kube-1.37",
                    "the pods of a Deployment, by the rules of kube-scheduler"}},
      .run = run_risk};
}

/// What is simulated.
std::vector<Flag> simulated_load_flags() {
  return {{.name = "trace", .value = "KIND:PATH", .help = "openb:DIR, swf:FILE or csv:FILE."},
          {.name = "generate",
           .value = "LIST",
           .help = "Make up a load: nodes, pods, cpus and gpus (of a node), load (percent of "
                   "what the nodes can do), gangs and services (percent of the tasks), "
                   "priorities, queues, checkpoint (seconds), daemons, sessions and replicas "
                   "(percent of tasks and nodes), planes, affinity, anti-affinity and "
                   "spread (percent), zones, such as nodes=100,pods=10000."},
          file_flag(false),
          plane_flag(),
          {.name = "now",
           .value = "TIME",
           .help = "With a cluster: the time of the start; else the newest time in the input."},
          {.name = "seed",
           .value = "NUMBER",
           .help = "Of the generated load, and of the faults.",
           .standard = "1"},
          {.name = "faults",
           .value = "LIST",
           .help = "Let things go wrong, each in so many of a thousand cases: node-loss, conflict, "
                   "late (a change is shown late), stuck (a pod that will not leave), writer "
                   "(another client writes, too), kill "
                   "(the process dies), such as node-loss=5,kill=5."}};
}

std::vector<Flag> simulate_flags() {
  std::vector<Flag> flags = simulated_load_flags();
  const std::vector<Flag> others = {
      {.name = "preset",
       .value = "NAME",
       .help = "Simulate this preset. May be repeated; makeway when neither it nor "
               "--config is given.",
       .choices = preset_names(),
       .repeats = true},
      {.name = "config",
       .value = "FILE",
       .help = "Simulate the configuration in this file. May be repeated.",
       .repeats = true},
      set_flag(),
      {.name = "arrivals",
       .value = "PERCENT",
       .help = "How fast tasks arrive; 200: in half the time.",
       .standard = "100"},
      {.name = "nodes",
       .value = "PERCENT",
       .help = "How many of the nodes are there.",
       .standard = "100"},
      {.name = "runs",
       .value = "PERCENT",
       .help = "How long tasks run; 200: twice as long.",
       .standard = "100"},
      {.name = "tasks",
       .value = "NUMBER",
       .help = "Only so many tasks, the first ones; 0: all.",
       .standard = "0"},
      {.name = "shard",
       .value = "I/N",
       .help = "Only each Nth configuration, from the Ith on, counted from 0; `makeway "
               "simulate merge` puts the results together."},
      {.name = "until",
       .value = "DURATION",
       .help = "Stop after so much virtual time, such as 24h."},
      {.name = "cycle",
       .value = "DURATION",
       .help = "How long a cycle takes in virtual time.",
       .standard = "1s"},
      {.name = "judge",
       .value = "every|N|off",
       .help = "Check every plan, each Nth one, or none against the laws.",
       .standard = "every"},
      {.name = "journal",
       .value = "FILE",
       .help = "Record everything in a new journal, for `replay`, `why` and `journal`. One "
               "configuration only."},
      journal_size_flag(),
      journal_files_flag(),
      {.name = "report",
       .value = "FILE",
       .help = "Also write a page for a browser, such as out.html: one file, for offline use, with "
               "all of this over time, by priority, by node and by queue."},
      output_flag({"text", "json", "csv"},
                  "text: a table; json: the same for machines; csv: a time series."),
      color_flag()};
  flags.insert(flags.end(), others.begin(), others.end());
  return flags;
}

Command simulate_merge_entry() {
  return {.name = "simulate merge",
          .summary = "put results of several simulations side by side",
          .description =
              "Reads what `makeway simulate -o json` printed, of the same load under other "
              "configurations, and shows all of them in one table. So a sweep can be divided over "
              "machines with --shard, for example as a Job with completionMode Indexed.",
          .flags = {output_flag({"text", "json"}, "How to print the results."), color_flag()},
          .operands = {{.name = "FILE",
                        .help = "A result, as makeway simulate -o json printed it.",
                        .repeats = true,
                        .required = true}},
          .examples = {{"makeway simulate merge shard-0.json shard-1.json", "one table"}},
          .run = run_simulate_merge};
}

Command advance_entry() {
  return {
      .name = "advance",
      .summary = "carry out a plan and print the objects afterwards",
      .description =
          "Decides about everything that is pending, carries out the plan in the world of the "
          "simulator (docs/simulation.md), lets time pass, and prints the objects as they are "
          "then: input for the next plan. No further plan is made meanwhile.\n\nWith --plan it "
          "carries out a plan that was made before; it must be the one that is decided on these "
          "objects by this configuration, so that a stale plan is never carried out.",
      .flags = {file_flag(false),
                plane_flag(),
                {.name = "plan",
                 .value = "FILE",
                 .help = "Carry out this plan, as makeway plan -o json printed it."},
                {.name = "for",
                 .value = "DURATION",
                 .help = "How much time passes, such as 60s: victims leave and their controllers "
                         "make new pods.",
                 .standard = "0s"},
                preset_flag(),
                config_flag(),
                set_flag(),
                {.name = "now",
                 .value = "TIME",
                 .help = "The time of the decision, such as 2026-01-01T00:00:00Z; else the newest "
                         "time in the input."},
                keep_going_flag(),
                output_flag({"yaml", "json"}, "How to print the objects.")},
      .examples = {{"makeway advance -f examples/tour --for 60s > later.yaml",
                    "the example cluster a minute later"},
                   {"makeway plan -f a.yaml -o json > p.json && makeway advance -f a.yaml --plan "
                    "p.json",
                    "look at the plan first"}},
      .exit_status = "5: a plan broke a law and was not carried out.",
      .run = run_advance};
}

Command simulate_entry() {
  return {
      .name = "simulate",
      .summary = "try configurations on a trace or a generated load",
      .description =
          "Lets tasks arrive, run, be evicted and come back on a virtual clock, under one or "
          "several configurations, and shows what became of them side by side: waiting times, "
          "stretch, goodput, lost work, preemptions, inversion and more. The loop is the one that "
          "runs a cluster; only the cluster is made up. The same load and seed give the same bytes "
          "on every machine.\n\nThe trace is openb:DIR (the tables of Alibaba's GPU cluster), "
          "swf:FILE (Standard Workload Format) or csv:FILE (a table of your own, see "
          "docs/simulation.md). A real trace rarely contends: --arrivals, --nodes and --runs scale "
          "it, and the result says so. -f and --kubeconfig start from a cluster of yours, --plane "
          "from several: their objects take the place of the nodes of the load, or are all there "
          "is.\n\n"
          "Ctrl-C shows the results so far, marked partial.",
      .flags = simulate_flags(),
      .examples = {{"makeway simulate --generate nodes=50,pods=2000 --preset makeway --preset "
                    "kube-1.37",
                    "two presets on the same load"},
                   {"makeway simulate --trace openb:traces/openb --nodes 20 --arrivals 2000",
                    "a real trace on a fifth of its nodes, twenty times as fast"}},
      .exit_status = "5: a plan broke a law and was not carried out.",
      .run = run_simulate};
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
  return {
      .name = "config show",
      .summary = "print a preset or the effective configuration",
      .description =
          "Prints the configuration that other commands would use with the same --preset, "
          "--config and --set. A preset by itself is printed as it was written, with its comments; "
          "everything else as a complete document.",
      .flags = {{.name = "preset",
                 .value = "NAME",
                 .help = "The same as PRESET, as other commands call it.",
                 .choices = preset_names()},
                config_flag(),
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
              "With -f: loads the files and prints all of their objects again, as `snapshot -o "
              "yaml` does, with one change: the session is pending. It keeps its name, "
              "configuration, place in the queue and the count of its preemptions; the rest of "
              "its back-off is dropped.\n\nWith --kubeconfig, or without -f where KUBECONFIG or a "
              "pod says where the cluster is, and as `kubectl makeway session resume`: the same "
              "on the live object. Nothing is written if the object has changed "
              "meanwhile.\n\nBatch sessions that requeue come back by themselves, suspended ones "
              "run on as soon as there is room on their nodes. A suspended session that is "
              "resumed here gives up its nodes and its memory there: the way out when a node is "
              "gone.",
          .flags = {file_flag(false), kubeconfig_flag(), context_flag(),
                    output_flag({"yaml", "json"}, "With -f: how to print the objects.")},
          .operands = {{.name = "ID",
                        .help = "The session, as NAMESPACE/NAME; a bare NAME is in the namespace "
                                "default.",
                        .required = true}},
          .examples = {{"makeway session resume -f cluster.yaml team/notebook > resumed.yaml",
                        "an interactive session that was preempted"},
                       {"makeway session resume -f cluster.yaml notebook | makeway plan -f -",
                        "what would happen then"},
                       {"makeway session resume --kubeconfig prod.yaml team/notebook",
                        "the session itself"}},
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

/// Commands that read a live cluster as well as files.
void add_live_flags(std::vector<Command>& table) {
  for (const std::string_view name : {"plan", "risk", "snapshot", "check", "simulate"}) {
    std::vector<Flag>& flags = std::ranges::find(table, name, &Command::name)->flags;
    const auto plane = std::ranges::find(flags, "plane", &Flag::name);
    *plane = plane_or_live_plane_flag();
    const std::vector<Flag> live =
        live_flags(name == "simulate" ? LiveIs::on_request : LiveIs::likely);
    flags.insert(std::next(plane), live.begin(), live.end());
  }
}

std::vector<Command> all_commands() {
  std::vector<Command> table = {
      plan_entry(),
      risk_entry(),
      advance_entry(),
      simulate_entry(),
      simulate_merge_entry(),
      run_entry(),
      apply_entry(),
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
      crds_entry(),
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
  add_live_flags(table);
  const std::vector<Command> journals = journal_commands();
  table.insert(std::ranges::find(table, "snapshot", &Command::name), journals.begin(),
               journals.end());
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
