// Hostility: what a hostile world does to plans, by name; drawn from a seed, and counted when it
// has really happened.
//
//   Hostility hostility(seed);
//   if (hostility.strikes(HostileAct::half_executed)) { ...; hostility.happened(...); }
//   hostility.calm();      // nothing strikes any more
//   tally.add(hostility);  // over all histories of a property
//   tally.expect_each("pods");
//
// HostileWorld decides what others do to a cluster, which needs no knowledge of a plan's execution:
// it is made for one moment and a copy of the cluster, and reports what has changed, and where. The
// owner of the world carries that out, and does the rest.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"

namespace makeway {

enum class HostileAct : std::uint8_t {
  will_not_leave,  ///< Its deletion was accepted and its grace is over, and it is still there.
  wrong_removed,   ///< Another pod disappears than the plan named.
  room_taken,      ///< A stranger takes the room of a victim that has just left.
  half_executed,   ///< Only a part of a plan is carried out, then there is a crash.
  node_changes,    ///< A node is cordoned, opened, added or lost.
  finishes,        ///< A pod or a session ends by itself.
  arrives,         ///< A new ask arrives.
  rule_changes,    ///< A priority, class, queue, budget or mark changes.
};
template <>
inline constexpr std::array<std::string_view, 8> choice_names<HostileAct> = {
    "will not leave", "wrong one removed", "room taken", "half executed",
    "node changes",   "finishes",          "arrives",    "rule changes"};
inline constexpr std::size_t hostile_acts = choice_names<HostileAct>.size();

class Hostility {
 public:
  explicit Hostility(std::uint64_t seed) : random_(seed) {}

  /// Whether it happens now, if it can; never once it is calm.
  bool strikes(HostileAct act);
  void happened(HostileAct act) { ++counts_[static_cast<std::size_t>(act)]; }
  void calm() { calm_ = true; }
  bool is_calm() const { return calm_; }
  Prng& random() { return random_; }
  const std::array<std::uint64_t, hostile_acts>& counts() const { return counts_; }

 private:
  Prng random_;
  bool calm_ = false;
  std::array<std::uint64_t, hostile_acts> counts_{};
};

/// How often each has happened over many histories.
class HostilityTally {
 public:
  void add(const Hostility& hostility);
  /// Prints the counts; fails where one has not happened in a tenth of the histories.
  void expect_each(std::string_view policy) const;

 private:
  std::uint64_t histories_ = 0;
  std::array<std::uint64_t, hostile_acts> times_{};
  std::array<std::uint64_t, hostile_acts> in_histories_{};
};

/// What happened, for people, and where.
struct HostileEvent {
  std::string text;
  std::vector<std::string> nodes;
  bool everywhere = false;  ///< It may matter to any ask.
};

class HostileWorld {
 public:
  using Key = std::pair<std::string, std::string>;  ///< Namespace and name.

  HostileWorld(Cluster cluster, Hostility& hostility, Time now)
      : cluster_(std::move(cluster)),
        hostility_(hostility),
        random_(hostility.random()),
        now_(now) {}

  /// What changes between two cycles: nothing, or up to one of each.
  void change();
  /// A pod that is not named disappears, from that node if one is there. False: none is there.
  bool remove_another(const std::set<Key>& named, const std::string& node);
  /// A stranger runs there from now on.
  void take_room(const std::string& node, const Amounts& room);

  const std::vector<HostileEvent>& events() const { return events_; }
  /// What they have written, in order.
  const std::vector<Change>& changes() const { return changes_; }

 private:
  void change_node();
  void lose_node(const Node& node);
  void finish();
  void arrive();
  void arrive_pods(Pod like);
  void change_rule();
  bool change_queue_or_budget();
  bool change_schedule_or_session();
  bool change_priority();
  void change_mark();
  /// False: the input would not hold together any more, and it was not done.
  template <class Object>
  bool apply_sound(const Object& changed, const Object& before);
  void apply(Change change);
  void end_session(Session session);
  void remove_pod(const Pod& pod);
  std::vector<Pod> pods() const;
  std::vector<Pod> running_pods() const;
  std::vector<Session> running_sessions() const;
  void log(HostileAct act, HostileEvent event);
  std::string new_name(std::string_view stem);

  Cluster cluster_;
  Hostility& hostility_;
  Prng& random_;
  Time now_;
  std::vector<HostileEvent> events_;
  std::vector<Change> changes_;
};

}  // namespace makeway
