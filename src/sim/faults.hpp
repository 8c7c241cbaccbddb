// Faults of the simulated world, on request (SPEC section 9).
//
//   node-loss=5,conflict=10,late=20,stuck=3,writer=2,kill=5
//
// Each is so many of a thousand occasions, drawn from random numbers of its own: a load is the same
// with and without faults. An hour after the last arrival there are no more of them, so that
// everything can come to rest.
//
//   node-loss  before a plan is carried out, a node is lost with its pods; it returns 5 to 30
//              minutes later, empty
//   conflict   an action is refused; what relies on it is dropped
//   late       a change is shown up to 10 seconds late; changes of one object keep their order
//   stuck      an evicted pod leaves only after 10 to 60 minutes, or never
//   writer     before a plan is carried out, another client binds a pending pod, deletes a running
//              one or a replica, starts one of their own, or stops a kernel
//   kill       the process dies before, while or after it carries out a plan, and starts again with
//              nothing but what the world shows
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/prng.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace makeway {

/// Of a thousand occasions.
struct FaultOptions {
  std::int64_t node_loss = 0;
  std::int64_t conflict = 0;
  std::int64_t late = 0;
  std::int64_t stuck = 0;
  std::int64_t writer = 0;
  std::int64_t kill = 0;

  bool any() const { return node_loss + conflict + late + stuck + writer + kill > 0; }
};

Result<FaultOptions> parse_faults(std::string_view text);

/// How often each has happened.
struct FaultCounts {
  std::int64_t nodes_lost = 0;
  std::int64_t conflicts = 0;
  std::int64_t late = 0;
  std::int64_t stuck = 0;
  std::int64_t second_writes = 0;
  std::int64_t kills = 0;
  std::int64_t refused = 0;  ///< Actions, because of one of these.

  friend bool operator==(const FaultCounts&, const FaultCounts&) = default;
};

inline constexpr Duration late_max{10'000};

class Faults {
 public:
  Faults(const FaultOptions& options, std::uint64_t seed, Time last);

  const FaultOptions& options() const { return options_; }
  Prng& random() { return random_; }
  FaultCounts& counts() { return counts_; }
  bool strikes(std::int64_t FaultOptions::* what, Time now) {
    if (options_.*what == 0 || now > last_) return false;
    return static_cast<std::int64_t>(random_.below(1'000)) < options_.*what;
  }

  /// Something happened to a node ("n1") or pod ("default/web") that was not shown yet: an action
  /// that relies on it may be refused.
  void touch(const std::string& subject, Time now) { touched_[subject] = now; }
  bool touched(const std::string& subject) const { return touched_.contains(subject); }
  /// Everything up to now was shown, as far as it is not late.
  void forget_touched(Time now);

 private:
  FaultOptions options_;
  Prng random_;
  Time last_;
  FaultCounts counts_;
  std::map<std::string, Time> touched_;
};

}  // namespace makeway
