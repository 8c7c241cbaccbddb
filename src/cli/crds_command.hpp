// `makeway crds`: the definitions of our own kinds, for kubectl apply.
#pragma once

#include "cli/command.hpp"

namespace makeway::cli {

Command crds_entry();

}  // namespace makeway::cli
