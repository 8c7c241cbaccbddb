#include "cli/shadow/run_entry.hpp"

#include "cli/flags.hpp"
#include "cli/shadow/run_command.hpp"

namespace makeway::cli {

Command run_entry() {
  return {
      .name = "run",
      .summary = "decide beside the scheduler of a live cluster, and compare",
      .description =
          "With --shadow, Makeway watches a live cluster and decides about every pod and group of "
          "another scheduler when it first sees it. It changes nothing there. When the ask is "
          "bound, or after a minute, it tells what that scheduler did and what Makeway would have "
          "done: the node, the victims, their priorities and how long they had run.\n\n"
          "One line a compared ask, then the totals, when the time of --for is over, when as many "
          "as --count says were compared, or at Ctrl-C. The cluster is the one of --kubeconfig, "
          "else of KUBECONFIG, else of ~/.kube/config, else the one in whose pod this runs.\n\n"
          "Without --shadow it would be the scheduler itself; it cannot do that yet.",
      .flags = {{.name = "shadow",
                 .value = "NAME",
                 .help = "Decide for the pods whose schedulerName is this, such as "
                         "default-scheduler.",
                 .suggestions = {"default-scheduler"}},
                {.name = "kubeconfig",
                 .value = "FILE",
                 .help = "The live cluster that this kubeconfig file names."},
                {.name = "context",
                 .value = "NAME",
                 .help = "The context of the kubeconfig file; else its current one."},
                preset_flag(),
                config_flag(),
                set_flag(),
                {.name = "for",
                 .value = "DURATION",
                 .help = "End after this time, such as 10m; else at Ctrl-C."},
                {.name = "count",
                 .value = "NUMBER",
                 .help = "End when so many asks were compared."},
                {.name = "journal",
                 .value = "FILE",
                 .help = "Record what was seen and decided, for `replay`, `why` and `journal`; a "
                         "journal that is there is continued."},
                journal_size_flag(),
                journal_files_flag(),
                output_flag({"text", "json"},
                            "text: a line an ask; json: an object a line, the last one is the "
                            "summary."),
                color_flag()},
      .examples = {{"makeway run --shadow default-scheduler --for 10m",
                    "what would Makeway have done otherwise in the next ten minutes?"},
                   {"makeway run --shadow default-scheduler --preset kube-1.37 -o json",
                    "for machines, by the rules of kube-scheduler"}},
      .run = run_run};
}

}  // namespace makeway::cli
