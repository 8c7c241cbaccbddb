// InterruptWatch: while it lives, Ctrl-C (and SIGTERM) asks for an orderly end; a second one ends
// the process.
#pragma once

namespace makeway::cli {

class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  InterruptWatch(InterruptWatch&&) = delete;
  InterruptWatch& operator=(InterruptWatch&&) = delete;
  ~InterruptWatch();

  bool seen() const;

 private:
  void (*interrupt_before_)(int);
  void (*terminate_before_)(int);
};

}  // namespace makeway::cli
