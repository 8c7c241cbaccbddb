#include "cli/interrupt_watch.hpp"

#include <csignal>

namespace makeway::cli {
namespace {

/// The only thing that a handler may touch.
volatile std::sig_atomic_t interrupted = 0;
void interrupt(int /*signal*/) { interrupted = 1; }

}  // namespace

InterruptWatch::InterruptWatch()
    : interrupt_before_(std::signal(SIGINT, interrupt)),
      terminate_before_(std::signal(SIGTERM, interrupt)) {
  interrupted = 0;
}

InterruptWatch::~InterruptWatch() {
  std::signal(SIGINT, interrupt_before_);
  std::signal(SIGTERM, terminate_before_);
}

bool InterruptWatch::seen() const {
  if (interrupted == 0) return false;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  return true;
}

}  // namespace makeway::cli
