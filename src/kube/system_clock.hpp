// The clock of the machine, for code that takes a Clock and must know when credentials expire.
#pragma once

#include "base/clock.hpp"

namespace makeway::kube {

class SystemClock final : public Clock {
 public:
  Time now() const override;
};

}  // namespace makeway::kube
