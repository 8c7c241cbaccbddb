// A thread's name, as `top -H` and /proc/PID/task/TID/comm show it.
#pragma once

namespace makeway::server {

/// At most 15 characters, of the calling thread.
void name_thread(const char* name);

}  // namespace makeway::server
