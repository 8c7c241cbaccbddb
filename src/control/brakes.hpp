// EvictionBrakes: how many pods may be evicted per period, independent of the plans (SPEC
// section 8, Brakes; docs/decisions/0019-brakes-and-bounds.md).
//
//  1. No pod is evicted within `quiet_first` of the start, so that a process that crashes and
//     starts again and again evicts none. The rest of a gang of which a part has left already may
//     go at once (`rolls_back`).
//  2. `evictions_per_minute` for each profile and each namespace. These allowances are empty at the
//     start and fill with time, also while it is quiet.
//     An ask that needs more than a minute's worth waits until a minute's worth is there; it is
//     spent in full, and all asks after it wait longer.
//  3. The same ask takes pods of the same owner at most `occasions_max` times in
//     `occasions_period`; all that one plan takes for it is one occasion. This detects a pod that
//     is recreated into the freed room each time it is evicted.
//  4. An ask whose victims all left, and that would evict others within `evict_again_window`,
//     waits: another pod may take its room each time. That is an alarm. Where the world refused
//     one of its victims, it is only finishing what it began; a gang that takes back its own
//     members (`rolls_back`) evicts no other pod. A claim (`is_claim`) is not held back
//     either: it grows with its pods, and no other ask can take its share.
//  5. A refused eviction is credited back.
// An ask gets all its victims or none. The brakes only limit harm; no law depends on their state.
//
// LostCapacity: a node that is there and suddenly offers less may offer it again in a minute: a
// device plugin restarts. No pod is evicted for a queue meanwhile (SPEC section 8, Brakes:
// capacityGrace; docs/decisions/0027-queues-live.md).
//
// A node that is removed was not lost, and one that is not ready offers what it offered.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "control/allowance.hpp"
#include "control/port.hpp"
#include "model/objects.hpp"
#include "model/sentence.hpp"

namespace makeway {

struct BrakeSettings {
  std::int64_t evictions_per_minute = 600;  ///< Of a profile, and in a namespace.
  std::int64_t occasions_max = 3;
  Duration occasions_period{600'000};
  Duration evict_again_window{60'000};  ///< 0: there is no such brake.
  Duration quiet_first{0};
  Duration capacity_grace{300'000};  ///< See LostCapacity; 0: there is no such brake.
  /// By schedulerName: profiles that may evict more or less than the others.
  std::map<std::string, std::int64_t> of_profiles;

  std::int64_t of_profile(const std::string& name) const {
    const auto found = of_profiles.find(name);
    return found == of_profiles.end() ? evictions_per_minute : found->second;
  }
};

struct EvictionRequest {
  struct Victim {
    std::string namespace_name;
    std::string owner;  ///< The uid of its controller; empty: it has none.
    ObjectRef object;   ///< As a receipt names it.
  };
  std::string profile;
  ObjectRef ask;
  std::vector<Victim> victims;
  std::string plan;         ///< Its id.
  bool rolls_back = false;  ///< They are members of the gang that asks.
  bool is_claim = false;    ///< A queue or a schedule asks.
};

/// Whether they may be evicted now.
struct BrakeAnswer {
  std::string why;  ///< Empty: they may, and are counted. Otherwise why not now, for people.
  std::optional<Time> until = std::nullopt;  ///< So long at least; none: not known.
  Mentions mentions = {};  ///< Of `why`. NOLINT(readability-redundant-member-init)
};

class EvictionBrakes {
 public:
  EvictionBrakes(BrakeSettings settings, Time start)
      : settings_(std::move(settings)), start_(start) {}

  BrakeAnswer admit(const EvictionRequest& request, Time now);
  /// An eviction that was admitted was refused by the world.
  void refused(const Receipt& receipt);
  /// Asks that would have made pods leave again within the window; each occasion once.
  std::uint64_t alarms() const { return alarms_; }

 private:
  using AskAndText = std::pair<ObjectRef, std::string>;
  struct Last {
    std::string plan;
    Time when;
    bool was_refused = false;  ///< One of its victims stays.
    bool alarmed = false;
  };
  /// For one ask by one plan: the victims that are not refused yet.
  struct Admitted {
    std::string profile;
    Time when;
    std::vector<EvictionRequest::Victim> victims;
  };

  BrakeAnswer over_allowance(const EvictionRequest& request, Time now);
  BrakeAnswer evicts_again(const EvictionRequest& request, Time now);
  BrakeAnswer comes_back(const EvictionRequest& request) const;
  void count(const EvictionRequest& request, Time now);
  void forget_occasion(const AskAndText& ask_and_owner, Time when);

  Allowance& of_profile(const std::string& name);
  Allowance& of_namespace(const std::string& name);
  void forget_old(Time now);

  BrakeSettings settings_;
  Time start_;
  std::map<std::string, Allowance> profiles_;
  std::map<std::string, Allowance> namespaces_;
  std::map<AskAndText, std::vector<Time>> occasions_;  ///< By ask and owner, oldest first.
  std::map<ObjectRef, Last> last_;                     ///< By ask: when it was last admitted.
  std::map<AskAndText, Admitted> admitted_;            ///< By ask and plan.
  std::optional<Time> forgotten_;                      ///< When what is old was thrown away last.
  std::uint64_t alarms_ = 0;
};

class LostCapacity {
 public:
  /// 0: nothing counts as lost.
  explicit LostCapacity(Duration grace) : grace_(grace) {}

  void note(const std::vector<Change>& changes, Time now);

  struct Loss {
    std::string node;
    std::string resource;
    Time since;
    Time until;
  };
  /// The newest that is not over; none: queues follow what nodes offer.
  std::optional<Loss> newest(Time now);

 private:
  struct Lost {
    std::int64_t had = 0;
    Time since;
  };
  void note_node(const Node& node, Time now);

  Duration grace_;
  std::map<std::string, Amounts> offered_;                    ///< By node.
  std::map<std::pair<std::string, std::string>, Lost> lost_;  ///< By node and resource.
};

}  // namespace makeway
