// PacedPort: a world on a virtual clock that keeps a loop waiting as a real one would.
//
// What the loop is shown, and when on the cluster's clock, does not depend on how fast that clock
// goes: the world is asked first, and its answer is held back until its time has come. So the same
// load gives the same decisions at every speed, and pauses leave no trace.
#pragma once

#include <functional>
#include <utility>

#include "control/port.hpp"

namespace makeway::cli {

class PacedPort final : public Port {
 public:
  /// `await` returns when the cluster's clock shows that time, or when waiting was cancelled.
  PacedPort(Port& world, std::function<void(Time)> await)
      : world_(world), await_(std::move(await)) {}

  Batch poll(Time deadline) override {
    Batch batch = world_.poll(deadline);
    await_(batch.now);
    return batch;
  }
  void submit(const Plan& plan) override { world_.submit(plan); }

 private:
  Port& world_;
  std::function<void(Time)> await_;
};

}  // namespace makeway::cli
