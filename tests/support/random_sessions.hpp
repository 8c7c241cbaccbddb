// Random clusters with sessions (SPEC section 6): one to three resource groups, some divided into
// partitions of all modes, nearly full of sessions with one or several kernels, and sessions that
// want in. Statuses record earlier preemptions: leaving, off the queue, back again, suspended,
// nominated. A few pods are among them.
//
// All numbers come from the Prng that is passed in. Objects come out normalized and valid.
#pragma once

#include <string>
#include <vector>

#include "base/prng.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/objects.hpp"
#include "support/random_planning.hpp"

namespace makeway {

struct RandomSessions {
  std::size_t nodes = 3;
  std::size_t groups = 1;
  std::size_t running = 8;  ///< At most.
  std::size_t pending = 3;
  std::size_t kernels_max = 1;
  std::uint64_t divided_percent = 0;  ///< Of the groups.
  bool memory = false;
  bool cpu = false;
  bool pods = false;
  bool cordons = false;
  bool past = false;       ///< Statuses of earlier preemptions.
  bool nominated = false;  ///< Of pending sessions.
  bool missing_starts = false;
};

RandomSessions random_sessions_options(Prng& random);
std::vector<Change> random_sessions(Prng& random, const RandomSessions& options);

/// A session that wants in, like those of the cluster: its group and partition are there.
Session random_pending(Prng& random, const RandomSessions& options, const Cluster& cluster,
                       std::string name, Time created);

/// A preset of the two that speak of sessions, now and then with other knobs of sessions.
Configuration random_session_configuration(Prng& random);

}  // namespace makeway
