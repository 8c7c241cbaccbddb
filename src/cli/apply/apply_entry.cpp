#include "cli/apply/apply_entry.hpp"

#include "cli/apply/apply_command.hpp"
#include "cli/flags.hpp"

namespace makeway::cli {
namespace {

constexpr std::string_view apply_description =
    "Carries out a plan that somebody has read: what `makeway plan --kubeconfig FILE -o json` "
    "printed. It reads the cluster anew, shows what has changed since, what would be done now and "
    "what would not, and asks. Pods go only where the plan has them, and nobody leaves but the "
    "plan's victims, told from others of the same name by their uid; of these, whoever is not "
    "needed any more stays. An ask that has no place any more falls out whole, with the reason, "
    "and the others go on.\n\n"
    "Everything is written as `makeway run` writes it: nominations before evictions, each write "
    "with its guard, within the brakes; an ask is done when its pods are bound, for which it waits "
    "until the victims have left. It takes the Lease of `makeway run`, or refuses and says who "
    "holds it. Ctrl-C ends it in order and says what is left; the same command goes on from "
    "there.\n\n"
    "The rules are those of the plan: a preset is known by its name; give --config and --set again "
    "if `makeway plan` had them. Pods and groups are placed whose schedulerName is makeway, or as "
    "--scheduler-name says; what a plan has for queues, replicas and sessions is refused by name. "
    "deploy/rbac.yaml has the rights that it needs.";

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
                   "it: makeway. Nobody else must be scheduling them.",
           .repeats = true},
          {.name = "lease",
           .value = "NAMESPACE/NAME",
           .help = "The Lease that says who writes; else kube-system/makeway."},
          preset_flag(),
          config_flag(),
          set_flag(),
          color_flag()};
}

}  // namespace

Command apply_entry() {
  return {.name = "apply",
          .summary = "carry out a plan that somebody has read",
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
              "7: some of it was not carried out, because it is stale, was refused, or "
              "Ctrl-C came first; what is told.",
          .run = run_apply};
}

}  // namespace makeway::cli
