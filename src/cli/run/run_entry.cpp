#include "cli/run/run_entry.hpp"

#include "cli/flags.hpp"
#include "cli/run/run_command.hpp"

namespace makeway::cli {
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
           .value = {},
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

}  // namespace makeway::cli
