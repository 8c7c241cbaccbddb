#include "server/thread_name.hpp"

#include <pthread.h>

namespace makeway::server {

void name_thread(const char* name) { pthread_setname_np(pthread_self(), name); }

}  // namespace makeway::server
