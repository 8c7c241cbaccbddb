#include "cli/apply/apply_entry.hpp"

#include "cli/apply/apply_command.hpp"
#include "cli/flags.hpp"

namespace makeway::cli {
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
           .value = {},
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
