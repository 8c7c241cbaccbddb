// Disturber: what happens to the simulated world besides plans. Seeded.
//
// Pods finish, are deleted by a user, or are submitted, alone and as groups; nodes are cordoned and
// uncordoned, come and go. What comes is like what random_planning makes with these options.
#pragma once

#include <cstdint>
#include <string>

#include "base/prng.hpp"
#include "support/history.hpp"
#include "support/random_planning.hpp"

namespace makeway {

class Disturber {
 public:
  Disturber(Prng& random, const RandomPlanning& options) : random_(random), options_(options) {}

  /// Nothing, or up to three things.
  void disturb(History& history);

 private:
  void finish_pod(History& history);
  void delete_pod(History& history);
  void submit_pods(History& history);
  void submit_group(History& history, const Pod& like);
  void cordon(History& history);
  void add_node(History& history);
  void remove_node(History& history);
  /// A running pod that is not leaving; none: there is no such pod.
  std::optional<Pod> running_pod(const History& history);
  std::optional<Node> any_node(const History& history);

  Prng& random_;
  RandomPlanning options_;
  std::int64_t count_ = 0;  ///< Of objects that came, for their names.
};

}  // namespace makeway
