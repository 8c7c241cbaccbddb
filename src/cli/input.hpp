// What commands read: clusters with -f and --plane or from a live cluster, configurations with
// --preset, --config and --set.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "cli/terminal.hpp"
#include "codec/configuration_codec.hpp"
#include "codec/load.hpp"
#include "kube/connection.hpp"

namespace makeway::cli {

/// Files of -f are at home; `planes` are values of --plane, "NAME=FILE". An error is one of usage.
Result<std::vector<LoadSource>> sources_of(std::span<const std::string> paths,
                                           std::span<const std::string> planes);

/// A value of --plane: "NAME=" and what is behind it, which is not empty. An error is one of usage.
struct PlaneText {
  std::string name;
  std::string where;
};
Result<PlaneText> read_plane_text(std::string_view written, std::string_view expected);

/// "KUBECONFIG[:CONTEXT]"; a file of that whole name has no context behind it.
kube::TargetRequest plane_target(const std::string& where);

/// A plane that is a live cluster.
struct LivePlane {
  std::string name;
  kube::TargetRequest target;
};
/// Values of --plane, "NAME=KUBECONFIG[:CONTEXT]". An error is one of usage.
Result<std::vector<LivePlane>> live_planes_of(std::span<const std::string> written);

/// Where a cluster is read from.
struct ClusterInput {
  std::vector<LoadSource> sources;
  std::optional<kube::TargetRequest> live;  ///< None: there is no live cluster.
  std::vector<LivePlane> planes;            ///< Beside the live cluster.
  // How its schedules are shown (kube/live_cluster.hpp).
  bool needs_selector = false;
  std::optional<Time> now;  ///< None: the newest time in the input.

  bool empty() const { return sources.empty() && !live; }
};

enum class LiveByDefault : bool { no, yes };

/// For commands with --file, --plane and the live flags. With a live cluster planes are live ones,
/// too. A live cluster is read where a flag says
/// so, where we are kubectl's plugin, and where nothing is given and `by_default` allows it, if
/// KUBECONFIG or a pod says where it is. An error is one of usage.
Result<ClusterInput> input_of(const Arguments& arguments, const Terminal& terminal,
                              LiveByDefault by_default);

/// A live cluster to talk to.
struct OpenedCluster {
  std::unique_ptr<kube::Connection> connection;  ///< Null: there are errors.
  Problems problems;                             ///< Warnings, too.
};
OpenedCluster open_cluster(const kube::TargetRequest& request,
                           const kube::KubeEnvironment& environment);

/// Which API servers were given, so that none is read, and scaled, as two clusters.
class GivenServers {
 public:
  void note_home(const kube::KubeTarget& target) { planes_.emplace(key_of(target), std::string()); }
  /// What is wrong with it; none: no other plane has its server, nor has home.
  std::optional<Problem> note(const std::string& plane, const kube::KubeTarget& target);

 private:
  static std::string key_of(const kube::KubeTarget& target);

  std::map<std::string, std::string> planes_;  ///< By server; empty: home.
};

/// What the configuration says about schedules of planes.
void show_planes_by(const Configuration& configuration, ClusterInput& input);

/// --trust, or what follows from where the cluster is read.
bool trusts_live(const Arguments& arguments, const ClusterInput& input);

/// Loads; on a terminal, a line on standard error shows the progress when it takes long.
LoadResult load_with_progress(const ClusterInput& input, Terminal& terminal,
                              const LoadOptions& options = {});

/// Loads for a command that needs a cluster: problems and warnings go to standard error, and
/// nothing is returned when there are errors.
std::optional<Loaded> load_or_report(const ClusterInput& input, Terminal& terminal,
                                     const LoadOptions& options = {});

struct ConfigurationChoice {
  std::string_view preset;  ///< Empty: `found` or the default one, unless there is a file.
  std::optional<std::string_view> file;  ///< "-" is standard input.
  std::span<const std::string> overrides;
  bool live_trust = false;  ///< The knobs of trust as live (SPEC section 10), before overrides.
  /// Counts instead of the default preset; null: there is none.
  const ConfigurationDocument* found = nullptr;

  /// The command line names one; nothing else counts then.
  bool is_named() const { return file || !preset.empty(); }
};

/// As --preset, --config and --set say.
ConfigurationChoice choice_in(const Arguments& arguments, bool live_trust = false);

struct ChosenConfiguration {
  std::optional<ConfigurationDocument> document;  ///< Absent when there are errors.
  Problems problems;                              ///< Of the file.
  std::string usage;  ///< What is wrong on the command line; empty when nothing is.
};

/// Reads the file, which may be a pipe: ask once. Without one it reads nothing.
ChosenConfiguration choose_configuration(const ConfigurationChoice& choice);

/// What is wrong when the configuration and something else are both to be read from standard input;
/// empty when nothing is.
std::string standard_input_twice(const ConfigurationChoice& choice,
                                 std::span<const LoadSource> sources, std::string_view batch = {});

}  // namespace makeway::cli
