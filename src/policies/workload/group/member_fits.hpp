// MemberFits: do the members of a group fit where they are to go, in one what-if world.
//
// Members that are alike share one PodFit, so that counts for affinity and spread are kept once a
// class and not once a member. The members of a group hold no room against each other by their
// nominations: the caller has marked all of them as decided.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/fit.hpp"
#include "engine/world.hpp"
#include "policies/workload/pod/ask_classes.hpp"

namespace makeway {

class MemberFits {
 public:
  MemberFits(World& world, Scratch& scratch, std::span<const PodIndex> members);

  Scratch& scratch() { return scratch_; }
  /// Every nomination holds its room, also those of lower priority; or no longer.
  void respect_every_nomination(bool every);
  /// The member takes its turn.
  PodFit& of(PodIndex member);
  std::size_t class_of(PodIndex member) const { return class_of_.at(member); }
  std::size_t classes() const { return fits_.size(); }
  /// Whether pods elsewhere can matter to a member: affinity, anti-affinity, spread, repelled.
  bool constrained() const;
  /// Whether nothing but resources matters and all are alike: then any order of placing them places
  /// as many as possible.
  bool countable() const;
  /// Whether no member asks for a host port.
  bool portless() const { return portless_; }

  /// Whether they fit one after the other, with or without a look at nominations of others. With
  /// `workload.putBackScope` every-node the order may change: a refused one is tried again once
  /// others have come. The world is left as it was found.
  enum class Nominations : std::uint8_t { count, ignore };
  bool fit_in_turn(std::span<const PodOnNode> places, Nominations nominations) {
    return fit_in_turn(places, nominations, world_.configuration().workload.put_back_scope);
  }
  bool fit_in_turn(std::span<const PodOnNode> places, Nominations nominations, PutBackScope scope);
  /// Whether these, which are all members on one node, still fit there beside each other and
  /// all others. All members are in the world.
  bool still_fit(std::span<const PodOnNode> on_node);
  /// Whether a member that comes later could spoil the place of one that came before: members that
  /// differ, and look at others.
  bool may_spoil() const { return fits_.size() > 1 && constrained(); }
  /// The same for members on several nodes.
  bool all_still_fit(std::span<const PodOnNode> places);
  /// Whether those that look at others leave room to pods nominated to their nodes, now that
  /// all members have come: what counts for spread may have come to another node.
  bool respect_nominations(std::span<const PodOnNode> places);

 private:
  bool stands(const PodOnNode& place);
  bool comes(const PodOnNode& place, Nominations nominations);

  World& world_;
  Scratch& scratch_;
  std::vector<std::unique_ptr<PodFit>> fits_;
  std::map<PodIndex, std::size_t> class_of_;
  bool portless_ = true;
};

}  // namespace makeway
