#include "cli/journal/journal_entries.hpp"

#include "cli/journal/journal_command.hpp"
#include "cli/journal/replay_command.hpp"
#include "cli/journal/why_command.hpp"
#include "codec/presets.hpp"

namespace makeway::cli {
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

}  // namespace makeway::cli
