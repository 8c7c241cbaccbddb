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
//  3. An ask whose victims all went, and who would make others leave within `evict_again_window`,
//     waits: somebody may be taking its room each time. That is an alarm. Where the world refused
//     one of its victims, it is only finishing what it began.
// An ask gets all its victims or none. These are savings of harm, not memory that a law depends on.
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
  Duration evict_again_window{60'000};  ///< 0: there is no such brake.
};

struct EvictionWish {
  struct Victim {
    std::string namespace_name;
    std::string owner;  ///< The uid of its controller; empty: it has none.
  };
  std::string profile;
  std::string ask;  ///< "Pod default/urgent"
  std::vector<Victim> victims;
  std::string plan;  ///< Its id.
};

class EvictionBrakes {
 public:
  EvictionBrakes(BrakeSettings settings, Time start) : settings_(settings), start_(start) {}

  /// Empty: they may be evicted, and are counted. Otherwise why not now, for people.
  std::string admit(const EvictionWish& wish, Time now);
  /// An eviction that was admitted for this ask and plan was refused by the world.
  void refused(const std::string& ask, const std::string& plan);
  /// Asks that would have made pods leave again within the window; each occasion once.
  std::uint64_t alarms() const { return alarms_; }

 private:
  using Pair = std::pair<std::string, std::string>;
  struct Last {
    std::string plan;
    Time when;
    bool was_refused = false;  ///< One of its victims stays.
    bool alarmed = false;
  };

  std::string evicts_again(const EvictionWish& wish, Time now);

  Allowance& allowance(std::map<std::string, Allowance>& of, const std::string& name);
  void forget_old(Time now);

  BrakeSettings settings_;
  Time start_;
  std::map<std::string, Allowance> profiles_;
  std::map<std::string, Allowance> namespaces_;
  std::map<Pair, std::vector<Time>> occasions_;  ///< By ask and owner, oldest first.
  std::map<std::string, Last> last_;             ///< By ask: when it was last admitted.
  std::uint64_t alarms_ = 0;
};

}  // namespace makeway
