// Which cluster `makeway run` serves, and what is wished of the embedded one.
//
//  1. A flag that only a live cluster has (--kubeconfig, --context, --shadow, --count, --dry-run,
//     --lease, --plane, --scheduler-name) means a live one, --embedded and the flags of its load
//     (--generate, --seed, --speed) the embedded one; both together are refused.
//  2. Without any of them it is the live cluster that is there for kubectl, too (KUBECONFIG,
//     ~/.kube/config, the pod's own), also where it cannot be reached: whoever has a cluster is
//     never shown another one in its place.
//  3. Only where there is none at all is it the embedded one, and that is told: somebody may have
//     meant a cluster, and would take the journal of a made-up one for its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/command.hpp"
#include "cli/dashboard/dashboard_start.hpp"
#include "kube/kubeconfig.hpp"
#include "sim/generate.hpp"

namespace makeway::cli {

struct EmbeddedWish {
  GenerateOptions load;
  std::uint64_t seed = 1;
  std::int64_t speed = 60;
  std::optional<Duration> ends_after;
  ListenWish listen;
  std::string journal;  ///< Where it is written; empty: nowhere.
  bool json = false;
};

/// Rules 1 to 3. An error is one of usage.
Result<bool> wants_embedded(const Arguments& arguments, const kube::KubeEnvironment& environment);

/// Rule 3, in a line; empty: a flag asks for the embedded cluster.
std::string told_without_cluster(const Arguments& arguments);

/// An error is one of usage.
Result<EmbeddedWish> read_embedded_wish(const Arguments& arguments);

/// A load whose unnamed parts are as in the standard one; exposed for tests.
Result<GenerateOptions> embedded_load(std::string_view text);

}  // namespace makeway::cli
