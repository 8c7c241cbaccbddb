// Which cluster `makeway run` serves, and the options of the embedded one.
//
//  1. A flag that only a live cluster has (--kubeconfig, --context, --shadow, --count, --dry-run,
//     --lease, --plane, --scheduler-name) means a live one, --embedded and the flags of its load
//     (--generate, --seed, --speed) the embedded one; both together are refused.
//  2. Without any of them it is the live cluster that kubectl would use (KUBECONFIG,
//     ~/.kube/config, the pod's own), even if it cannot be reached: a user with a cluster is
//     never shown another one instead.
//  3. The embedded cluster is the default only if there is no other, and a notice says so: the user
//     may have meant a real cluster, and must not take the journal for that of a real one.
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

struct EmbeddedOptions {
  GenerateOptions load;
  std::uint64_t seed = 1;
  std::int64_t speed = 60;
  std::optional<Duration> ends_after;
  ListenOptions listen;
  std::string journal;  ///< Where it is written; empty: nowhere.
  bool json = false;
};

/// Rules 1 to 3. An error is one of usage.
Result<bool> wants_embedded(const Arguments& arguments, const kube::KubeEnvironment& environment);

/// Rule 3, in one line; empty: a flag asks for the embedded cluster.
std::string embedded_notice(const Arguments& arguments);

/// An error is one of usage.
Result<EmbeddedOptions> read_embedded_options(const Arguments& arguments);

/// A load whose unnamed parts are as in the standard one; exposed for tests.
Result<GenerateOptions> embedded_load(std::string_view text);

}  // namespace makeway::cli
