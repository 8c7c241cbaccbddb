// What the commands do; commands.txt describes them.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace makeway::cli {

// `makeway advance`: the objects after a plan was carried out, and some time has passed.
ExitStatus run_advance(const Arguments& arguments, Terminal& terminal);

// `makeway check`: lints manifests and configuration.
ExitStatus run_check(const Arguments& arguments, Terminal& terminal);

// `makeway config list|show|explain`.
ExitStatus run_config_list(const Arguments& arguments, Terminal& terminal);
ExitStatus run_config_show(const Arguments& arguments, Terminal& terminal);
ExitStatus run_config_explain(const Arguments& arguments, Terminal& terminal);

// `makeway completion`: scripts for shells, written from the table of commands.
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

ExitStatus run_completion(const Arguments& arguments, Terminal& terminal);

// `makeway crds`: the definitions of our own kinds, for kubectl apply.
ExitStatus run_crds(const Arguments& arguments, Terminal& terminal);

// `makeway explain`: the fields of Makeway's own kinds, as the decoder knows them.
ExitStatus run_explain(const Arguments& arguments, Terminal& terminal);

/// "queue", "queue.spec.weight", ...: what shells offer.
std::vector<std::string_view> explained_paths();

// `makeway journal list`, `stats` and `verify`: what is in a journal, and whether it is whole.
ExitStatus run_journal_list(const Arguments& arguments, Terminal& terminal);
ExitStatus run_journal_stats(const Arguments& arguments, Terminal& terminal);
ExitStatus run_journal_verify(const Arguments& arguments, Terminal& terminal);

// `makeway replay`: the cycles of a journal once more.
ExitStatus run_replay(const Arguments& arguments, Terminal& terminal);

// `makeway why`: what happened to a pod, for which ask, and what it waits for.
ExitStatus run_why(const Arguments& arguments, Terminal& terminal);

// `makeway risk`: which asks would evict a running pod, and what would protect it.
ExitStatus run_risk(const Arguments& arguments, Terminal& terminal);

// `makeway run`: the scheduler of a live cluster, or a shadow beside another one.
ExitStatus run_run(const Arguments& arguments, Terminal& terminal);

// `makeway session resume`: a preempted session becomes pending again.
ExitStatus run_session_resume(const Arguments& arguments, Terminal& terminal);

// `makeway simulate`: a trace or a generated load under one or several configurations.
ExitStatus run_simulate(const Arguments& arguments, Terminal& terminal);

// `makeway simulate merge`: results of several shards side by side.
ExitStatus run_simulate_merge(const Arguments& arguments, Terminal& terminal);

// `makeway snapshot`: load, and print the overview or the canonical dump.
ExitStatus run_snapshot(const Arguments& arguments, Terminal& terminal);

// `makeway apply`: carries out a reviewed plan on a live cluster.
ExitStatus run_apply(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli
