#include "cli/entries.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cli/commands.hpp"
#include "codec/presets.hpp"
#include "model/knobs.hpp"

namespace makeway::cli {
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

Flag plane_or_live_plane_flag() {
  return {.name = "plane",
          .value = "NAME=FILE|DIR|-|KUBECONFIG[:CONTEXT]",
          .help =
              "Read this file or folder as the plane NAME, one Kubernetes cluster of several. Its "
              "objects belong to that plane and their names are its own, so that ordinary dumps of "
              "several clusters can be read together. What schedules over planes "
              "(ReplicaSchedule) comes with -f. With --kubeconfig, --context or --live: the live "
              "cluster that this kubeconfig file names, read as `makeway run --plane` does; one "
              "that does not answer is reported, and nothing is decided about schedules that need "
              "it. May be repeated.",
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

namespace {

/// "workload.evictFor=": what shells offer after --set. Written once, then never changed.
const std::vector<std::string>& assignments() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> list;
    for (const Knob& knob : knobs()) list.push_back(std::string(knob.path) + "=");
    return list;
  }();
  return texts;
}

}  // namespace

std::vector<std::string_view> knob_names() {
  std::vector<std::string_view> names;
  for (const Knob& knob : knobs()) {
    const bool is_new = std::ranges::find(names, knob.section()) == names.end();
    if (is_new && !knob.section().empty()) names.push_back(knob.section());
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

Flag keep_going_flag() {
  return {.name = "keep-going",
          .help =
              "One bad object does not stop the others: it is put into quarantine and reported. "
              "What cannot be read of it counts as absent and numbers beyond limits are cut; a "
              "pending one is not placed, a bound one keeps its room and may be a victim."};
}

Flag trust_flag() {
  return {.name = "trust",
          .value = "MODE",
          .help =
              "Which marks count. files: those of all objects, as the configuration says; the "
              "default without a live cluster. live: as in a live run, where marks of tenants are "
              "only requests; marks that do not count are reported on standard error; the default "
              "with a live cluster.",
          .choices = {"files", "live"}};
}

Flag journal_size_flag() {
  return {.name = "journal-size",
          .value = "SIZE",
          .help =
              "Go on in a new FILE when it is larger, such as 64Mi; the old one becomes "
              "FILE.1, and so on."};
}

Flag journal_files_flag() {
  return {.name = "journal-files",
          .value = "NUMBER",
          .help = "How many old files of the journal are kept.",
          .standard = "4"};
}

Flag kubeconfig_flag() {
  return {.name = "kubeconfig",
          .value = "FILE",
          .help = "The live cluster that this kubeconfig file names."};
}

Flag context_flag() {
  return {.name = "context",
          .value = "NAME",
          .help = "The context of the kubeconfig file; else its current one."};
}

std::vector<Flag> live_flags(LiveIs is) {
  return {{.name = "kubeconfig",
           .value = "FILE",
           .help = is == LiveIs::likely
                       ? "Read the live cluster that this kubeconfig file names, and nothing is "
                         "changed there; what -f gives is added to it. Without -f, KUBECONFIG or "
                         "the service account of the pod is enough."
                       : "Read the live cluster that this kubeconfig file names, and nothing is "
                         "changed there; what -f gives is added to it."},
          {.name = "context",
           .value = "NAME",
           .help = "The context of the kubeconfig file, for a live cluster; else its current one."},
          {.name = "live",
           .help = "Read the live cluster of KUBECONFIG, else of ~/.kube/config, else the one in "
                   "whose pod this runs."}};
}

namespace {

Operand journal_operand() {
  return {.name = "FILE",
          .help =
              "The journal. Older files of the same journal (FILE.1, FILE.2, ...) are read "
              "before it.",
          .required = true};
}

Flag journal_color_flag() {
  return {.name = "color",
          .value = "WHEN",
          .help = "Colour the text. auto: on a terminal, unless NO_COLOR is set.",
          .choices = {"auto", "always", "never"},
          .standard = "auto"};
}

Command replay_entry() {
  return {
      .name = "replay",
      .summary = "decide the cycles of a journal again",
      .description =
          "Builds the cluster again as it was at each cycle of the journal, decides once more, and "
          "compares the plans byte for byte. The first plan that differs is reported; --diff shows "
          "the others, too.\n\n--cycle prints the plan of one cycle with its explanations. With "
          "--preset or --config, the same cycles are also decided by other rules, each on the "
          "recorded state; --diff then shows which asks would be decided differently.",
      .flags = {{.name = "cycle", .value = "NUMBER", .help = "Only this cycle: print its plan."},
                {.name = "preset",
                 .value = "NAME",
                 .help = "Decide by this preset as well.",
                 .choices = preset_names()},
                {.name = "config",
                 .value = "FILE",
                 .help = "Decide by the configuration in this file as well."},
                {.name = "set",
                 .value = "KNOB=VALUE",
                 .help = "Change one knob of --preset or --config. May be repeated.",
                 .repeats = true},
                {.name = "diff", .help = "Show what differs, cycle by cycle, the first ten."},
                {.name = "output",
                 .letter = 'o',
                 .value = "FORMAT",
                 .help = "How to print the plan of --cycle.",
                 .choices = {"text", "json", "yaml"},
                 .standard = "text"},
                journal_color_flag()},
      .operands = {journal_operand()},
      .examples = {{"makeway replay run.journal", "is every decision still the same?"},
                   {"makeway replay run.journal --cycle 17", "one plan, explained"},
                   {"makeway replay run.journal --preset kube-1.37 --diff",
                    "what kube-scheduler would have decided"}},
      .exit_status = "1 also: a plan is not the recorded one, or the journal is damaged.",
      .run = run_replay};
}

std::vector<Flag> why_flags() {
  return {{.name = "journal", .value = "FILE", .help = "Show what this journal recorded."},
          {.name = "file",
           .letter = 'f',
           .value = "FILE|DIR|-",
           .help = "Without a journal: read the cluster from here and show why the object waits. "
                   "May be repeated.",
           .repeats = true},
          {.name = "preset",
           .value = "NAME",
           .help = "With -f: the rules; makeway when neither it nor --config is given.",
           .choices = preset_names()},
          {.name = "config", .value = "FILE", .help = "With -f: the rules, from this file."},
          {.name = "set",
           .value = "KNOB=VALUE",
           .help = "With -f: change one knob. May be repeated.",
           .repeats = true},
          {.name = "now",
           .value = "TIME",
           .help = "With -f: the time of the decision, such as 2026-01-01T00:00:00Z; else the "
                   "newest time in the input."},
          {.name = "output",
           .letter = 'o',
           .value = "FORMAT",
           .help = "How to print the history; with -f, the plan.",
           .choices = {"text", "json"},
           .standard = "text"},
          journal_color_flag()};
}

Command why_entry() {
  return {
      .name = "why",
      .summary = "show what happened to a pod, for which ask, and why",
      .description =
          "Prints the history of a pod, of a group, of all pods of a controller, of a session or "
          "of a ReplicaSchedule, as a journal recorded it: when it arrived, where it ran, which "
          "ask evicted it, by which rule and what the alternative was, and when it ran again. Of "
          "a waiting object: since when, for what, and which pods hold the room.\n\nWithout a "
          "kind, NAME may be a pod, a group or a controller: a Job whose pod was evicted makes "
          "another one of another name, and its history continues.\n\nWith -f instead of a "
          "journal, the object must be pending: the answer is its plan with explanations.",
      .flags = why_flags(),
      .operands = {{.name = "[KIND/]NAMESPACE/NAME",
                    .help = "The pod; or a podgroup, session, replicaschedule, or a kind whose "
                            "controller makes pods, such as deployment or job. A bare NAME is in "
                            "the namespace default.",
                    .required = true}},
      .examples = {{"makeway why --journal run.journal research/render-1", "a pod of that run"},
                   {"makeway why --journal run.journal job/research/sweep", "all pods of a Job"},
                   {"makeway why -f examples/pods research/notebook",
                    "what a pending pod waits for"}},
      .exit_status = "1 also: the journal does not know the object, or is damaged.",
      .run = run_why};
}

Command journal_list_entry() {
  return {.name = "journal list",
          .summary = "print one line for each record",
          .description =
              "Prints the records in order: when, of which type, and what they say in short.",
          .operands = {journal_operand()},
          .examples = {{"makeway journal list run.journal | tail", "the last records"}},
          .run = run_journal_list};
}

Command journal_stats_entry() {
  return {.name = "journal stats",
          .summary = "count records, bytes, asks and actions",
          .description =
              "Prints the files with their sizes and writers, how many records of each type "
              "there are, and how many asks were decided and actions sent.",
          .operands = {journal_operand()},
          .examples = {{"makeway journal stats run.journal", "how much there is of what"}},
          .run = run_journal_stats};
}

Command journal_verify_entry() {
  return {.name = "journal verify",
          .summary = "check that a journal is whole",
          .description =
              "Reads every record, checks its sums, and compares each base with what the changes "
              "before it led to. A torn end, left by a process that died while writing, is "
              "reported and is not a fault. Decisions are not made again: that is `replay`.",
          .operands = {journal_operand()},
          .examples = {{"makeway journal verify run.journal", "before it is passed on"}},
          .exit_status = "1 also: the journal is damaged.",
          .run = run_journal_verify};
}

}  // namespace

std::vector<Command> journal_commands() {
  return {replay_entry(),
          why_entry(),
          {.name = "journal",
           .summary = "list, count and verify the records of a journal",
           .description = "A journal is the record of a run (docs/journal.md): the objects at its "
                          "beginning, every change, and every cycle with its plan."},
          journal_list_entry(),
          journal_stats_entry(),
          journal_verify_entry()};
}

namespace {

constexpr std::string_view run_description =
    "Schedules the pods of a live cluster whose schedulerName is makeway, or that of a profile in "
    "the configuration: binds them, and evicts less important ones if that is needed. It takes a "
    "Lease, so that of several processes one leads and the others stand by; it reads everything "
    "from the cluster when it starts, and keeps no state elsewhere. The log goes to standard "
    "error, one line per event. SIGTERM and Ctrl-C end it in order: writes in flight are "
    "finished, and the Lease is released. `makeway.dev/pause: evictions` (or `all`) on the Lease "
    "stops it from writing.\n\n"
    "--dry-run decides and writes nothing, not even the Lease; the decisions go to standard "
    "output.\n\n"
    "With --shadow NAME it is no scheduler: it decides about every pod and group of another "
    "scheduler when it first sees it, changes nothing, and reports what that scheduler did and "
    "what Makeway would have done: one line per compared ask, then the totals, when the time of "
    "--for is over, when as many as --count says were compared, or at Ctrl-C.\n\n"
    "With --embedded there is no Kubernetes: the same loop schedules a cluster that exists only "
    "in this process, with a generated load, its clock so many times as fast as --speed says. On "
    "a terminal it shows nodes, asks and preemptions until q is pressed; elsewhere it writes "
    "plain lines and ends after 20 s or --for. --journal and --listen work as for a live "
    "cluster.\n\n"
    "The cluster is the one of --kubeconfig, else of KUBECONFIG, else of ~/.kube/config, else the "
    "one in whose pod this runs; if none of them exists, it is the embedded one, and a warning "
    "says so. The first line says what is served. deploy/rbac.yaml has the permissions that it "
    "needs, deploy/makeway.yaml a Deployment. Queues, sessions and replicas are served where "
    "their kinds are defined.\n\n"
    "With --plane it also scales Deployments over several clusters, as the ReplicaSchedules of "
    "its own cluster say (docs/policies/replica.md). A plane that cannot be reached keeps what it "
    "has and is asked for nothing, and the others continue.";

std::vector<Flag> run_flags() {
  return {kubeconfig_flag(),
          context_flag(),
          preset_flag(),
          config_flag(),
          set_flag(),
          {.name = "scheduler-name",
           .value = "NAME",
           .help = "Schedule the pods whose schedulerName is this; may be given several times. "
                   "Without it: makeway. Those of profiles in the configuration are scheduled, "
                   "too.",
           .repeats = true},
          {.name = "plane",
           .value = "NAME=KUBECONFIG[:CONTEXT]",
           .help = "Scale the Deployments of this cluster as the plane NAME, for the "
                   "ReplicaSchedules of the cluster of --kubeconfig; may be given several times.",
           .repeats = true},
          {.name = "dry-run", .value = {}, .help = "Decide, record and report, and write nothing."},
          {.name = "lease",
           .value = "NAMESPACE/NAME",
           .help = "The Lease for leader election; else kube-system/makeway."},
          {.name = "listen",
           .value = "ADDRESS:PORT",
           .help = "Serve the dashboard, /healthz, /readyz and /metrics there; :PORT is this "
                   "machine only. Without it nothing listens."},
          {.name = "token-file",
           .value = "FILE",
           .help = "With --listen: the dashboard asks for the token in this file. Beyond this "
                   "machine there is no dashboard without it."},
          {.name = "tls-cert",
           .value = "FILE",
           .help = "With --listen: serve HTTPS with the certificate in this PEM file, its issuers "
                   "behind it. A renewed file is used from the next minute on."},
          {.name = "tls-key",
           .value = "FILE",
           .help = "With --tls-cert: the certificate's key, in PEM, without a passphrase."},
          {.name = "embedded",
           .help = "Schedule a made-up cluster inside this process; nothing else is touched."},
          {.name = "generate",
           .value = "LIST",
           .help = "Its nodes and load, as for `simulate`, such as nodes=300,gpus=0; what is not "
                   "said is nodes=8, cpus=64, gpus=8, load=400, gangs=15, services=10, "
                   "priorities=4. Means --embedded."},
          {.name = "seed", .value = "NUMBER", .help = "Of its load; else 1. Means --embedded."},
          {.name = "speed",
           .value = "NUMBER",
           .help = "Clock speed, in multiples of real time; else 60. Means --embedded."},
          {.name = "shadow",
           .value = "NAME",
           .help = "Decide beside the scheduler of this name, such as default-scheduler, and "
                   "compare; nothing is changed.",
           .suggestions = {"default-scheduler"}},
          {.name = "for",
           .value = "DURATION",
           .help = "End after this time, such as 10m; else at SIGTERM or Ctrl-C. With --embedded "
                   "and no terminal: else after 20s."},
          {.name = "count",
           .value = "NUMBER",
           .help = "With --shadow: end when so many asks were compared."},
          {.name = "journal",
           .value = "FILE",
           .help = "Record what was seen and decided, for `replay`, `why` and `journal`; a "
                   "journal that is there is continued, with --embedded refused."},
          journal_size_flag(),
          journal_files_flag(),
          output_flag({"text", "json"},
                      "text: a line an event or a compared ask; json: an object a line."),
          color_flag()};
}

}  // namespace

Command run_entry() {
  return {.name = "run",
          .summary = "schedule a live or a made-up cluster, or decide beside a scheduler",
          .description = run_description,
          .flags = run_flags(),
          .examples = {{"makeway run --embedded", "watch it at work, without any cluster"},
                       {"makeway run --kubeconfig prod.yaml --dry-run",
                        "what would it do with the pods that say `schedulerName: makeway`?"},
                       {"makeway run --kubeconfig prod.yaml --journal run.journal",
                        "schedule them, and record every decision for `why` and `replay`"},
                       {"makeway run --plane east=east.yaml --plane west=all.yaml:west",
                        "scale the Deployments of two more clusters, by ReplicaSchedules"},
                       {"makeway run --shadow default-scheduler --for 10m",
                        "what would Makeway have done otherwise in the next ten minutes?"},
                       {"makeway run --shadow default-scheduler --preset kube-1.37 -o json",
                        "for machines, by the rules of kube-scheduler"}},
          .exit_status = "6: the Lease was lost; another process may lead now.",
          .run = run_run};
}

namespace {

constexpr std::string_view apply_description =
    "Carries out a reviewed plan: the output of `makeway plan --kubeconfig FILE -o json`. It "
    "reads the cluster again, shows what has changed since, what would be done now and what would "
    "not, and asks for confirmation. Pods are bound only to the nodes in the plan, and only the "
    "plan's victims are evicted, identified by uid; a victim that is not needed any more stays. "
    "An ask that has no place any more is dropped as a whole, with the reason, and the others are "
    "applied.\n\n"
    "Everything is written as `makeway run` writes it: nominations before evictions, each write "
    "with its guard, within the brakes; an ask is done when its pods are bound, for which it "
    "waits until the victims have left. It takes the Lease of `makeway run`, or refuses and names "
    "its holder. Ctrl-C ends it in order and prints what is left; the same command continues from "
    "there.\n\n"
    "The rules are those of the plan: a preset is known by its name; give --config and --set "
    "again if `makeway plan` had them. It places pods and groups whose schedulerName is makeway, "
    "or as --scheduler-name says; actions for queues, replicas and sessions are refused, each by "
    "name. deploy/rbac.yaml has the required permissions.";

std::vector<Flag> apply_flags() {
  return {kubeconfig_flag(),
          context_flag(),
          {.name = "only",
           .value = "ASK",
           .help = "Carry out this ask of the plan, [KIND/]NAMESPACE/NAME, and leave the others; "
                   "may be given several times.",
           .repeats = true},
          {.name = "yes", .letter = 'y', .value = {}, .help = "Do not ask; for scripts."},
          {.name = "dry-run",
           .help = "Show what has changed and what would be done, and write nothing."},
          {.name = "scheduler-name",
           .value = "NAME",
           .help = "Place pods whose schedulerName is this; may be given several times. Without "
                   "it: makeway. No other scheduler may be scheduling them.",
           .repeats = true},
          {.name = "lease",
           .value = "NAMESPACE/NAME",
           .help = "The Lease for leader election; else kube-system/makeway."},
          preset_flag(),
          config_flag(),
          set_flag(),
          color_flag()};
}

}  // namespace

Command apply_entry() {
  return {.name = "apply",
          .summary = "carry out a reviewed plan",
          .description = apply_description,
          .flags = apply_flags(),
          .operands = {{.name = "PLAN",
                        .help = "The file of the plan, JSON or YAML; - is standard input.",
                        .required = true}},
          .examples = {{"makeway apply plan.json --kubeconfig prod.yaml --dry-run",
                        "what would it do now, and what has changed since?"},
                       {"makeway apply plan.json --kubeconfig prod.yaml",
                        "show it, ask, and carry it out"},
                       {"makeway apply plan.json --only shop/checkout --yes",
                        "one ask of the plan, without asking"}},
          .exit_status =
              "0: all of it is done.\n"
              "6: the Lease was lost; another process may lead now.\n"
              "7: some of it was not carried out, because it is stale, was refused, or Ctrl-C "
              "came first; the output lists it.",
          .run = run_apply};
}

}  // namespace makeway::cli
