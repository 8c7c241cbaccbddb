// EvictionBrakes: how many pods may be made to leave in a while, whatever the plans say (SPEC
// section 8, Brakes).
//
//  1. `evictions_per_minute` for each profile and each namespace. These allowances start empty and
//     fill with time, so that a process that crashes and starts again and again evicts nobody.
//     An ask that needs more than a minute's worth waits until a minute's worth is there; it is
//     spent in full, and everybody after it waits longer.
//  2. The same ask takes pods of the same owner at most `occasions_max` times in
//     `occasions_period`; all that one plan takes for it is one occasion. Whoever comes back each
//     time it is evicted, onto the room that was made, is found out that way.
// An ask gets all its victims or none.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "control/allowance.hpp"

namespace makeway {

struct BrakeSettings {
  std::int64_t evictions_per_minute = 600;
  std::int64_t occasions_max = 3;
  Duration occasions_period{600'000};
};

struct EvictionWish {
  struct Victim {
    std::string namespace_name;
    std::string owner;  ///< The uid of its controller; empty: it has none.
  };
  std::string profile;
  std::string ask;  ///< "Pod default/urgent"
  std::vector<Victim> victims;
};

class EvictionBrakes {
 public:
  EvictionBrakes(BrakeSettings settings, Time start) : settings_(settings), start_(start) {}

  /// Empty: they may be evicted, and are counted. Otherwise why not now, for people.
  std::string admit(const EvictionWish& wish, Time now);

 private:
  using Pair = std::pair<std::string, std::string>;

  Allowance& allowance(std::map<std::string, Allowance>& of, const std::string& name);
  void forget_old(Time now);

  BrakeSettings settings_;
  Time start_;
  std::map<std::string, Allowance> profiles_;
  std::map<std::string, Allowance> namespaces_;
  std::map<Pair, std::vector<Time>> occasions_;  ///< By ask and owner, oldest first.
};

}  // namespace makeway
