// Entries of the table of commands (commands.cpp) for live clusters and journals, and the flags
// that several commands take, with the same help everywhere.
#pragma once

#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace makeway::cli {

// Flags that several commands take, with the same help everywhere.

Flag file_flag(bool required);
Flag plane_flag();
/// Of commands that read a live cluster as well as files.
Flag plane_or_live_plane_flag();
Flag output_flag(std::vector<std::string_view> choices, std::string_view help);
Flag color_flag();
Flag preset_flag();
Flag config_flag();
std::vector<std::string_view> knob_names();
Flag set_flag();
Flag keep_going_flag();
Flag trust_flag();
Flag journal_size_flag();
Flag journal_files_flag();
/// Of commands that act on a live cluster; those that read one have `live_flags`.
Flag kubeconfig_flag();
Flag context_flag();

/// Whether a live cluster is read where nothing else is named.
enum class LiveIs : bool { on_request, likely };
/// --kubeconfig, --context and --live.
std::vector<Flag> live_flags(LiveIs is);

// The commands over journals, for the table of commands.

/// In the order of the help: replay, why, journal and what it can do.
std::vector<Command> journal_commands();

// `run` in the table of commands.

Command run_entry();

// `makeway apply` in the table of commands.

Command apply_entry();

}  // namespace makeway::cli
