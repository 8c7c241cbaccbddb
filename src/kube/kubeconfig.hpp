// kubeconfig: where the API server is and our identity there, as kubectl reads it.
//
// Rules (kubectl's):
//  1. --kubeconfig names one file, which must exist. Else KUBECONFIG is a list of files, separated
//     by ':'; those that do not exist are skipped. Else it is ~/.kube/config.
//  2. Files are merged: the first one that has a cluster, user or context of some name, or the
//     current context, wins; entries are never mixed.
//  3. Paths in a file are relative to that file. Data in the file wins over a path, a token file
//     over a token.
//  4. What is there and cannot be honoured is refused (auth-provider), never ignored, once its
//     entry is used. Unknown fields are ignored.
//
// Nothing is read but the kubeconfig files themselves: certificates and tokens are read when they
// are used (credentials.hpp).
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem.hpp"

namespace makeway::kube {

/// Whether it must not go into a header or a URL.
bool has_controls(std::string_view text);

/// What the process was given by its surroundings; tests make their own.
struct KubeEnvironment {
  std::string kubeconfig;    ///< KUBECONFIG
  std::string home;          ///< HOME
  std::string service_host;  ///< KUBERNETES_SERVICE_HOST: we run in a pod.
  std::string service_port;  ///< KUBERNETES_SERVICE_PORT
  std::string service_account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  bool is_plugin = false;  ///< We were started as kubectl-makeway.

  bool is_in_cluster() const { return !service_host.empty(); }
};

struct KubeCluster {
  std::string server;  ///< "https://10.0.0.1:6443", without a slash at the end.
  std::string authority_file;
  std::string authority_data;  ///< PEM.
  std::string tls_server_name;
  std::string proxy_url;
  bool skips_verification = false;

  friend bool operator==(const KubeCluster&, const KubeCluster&) = default;
};

/// A program that prints credentials.
struct ExecPlugin {
  std::string api_version;  ///< client.authentication.k8s.io/v1 or v1beta1.
  std::string command;      ///< One with a slash is a path; others are looked for in PATH.
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string install_hint;
  bool wants_cluster = false;  ///< provideClusterInfo

  friend bool operator==(const ExecPlugin&, const ExecPlugin&) = default;
};

struct KubeUser {
  std::string certificate_file;
  std::string certificate_data;  ///< PEM.
  std::string key_file;
  std::string key_data;  ///< PEM.
  std::string token;
  std::string token_file;
  std::string name;  ///< With a password: basic authentication.
  std::string password;
  std::string impersonated;  ///< "as"
  std::vector<std::string> impersonated_groups;
  std::optional<ExecPlugin> exec;

  friend bool operator==(const KubeUser&, const KubeUser&) = default;
};

struct KubeContext {
  std::string cluster;
  std::string user;

  friend bool operator==(const KubeContext&, const KubeContext&) = default;
};

template <class Entry>
struct Named {
  std::string name;
  std::string file;  ///< Where it stands, for messages.
  Entry entry;
  Problems problems;  ///< They matter if it is used.

  friend bool operator==(const Named&, const Named&) = default;
};

struct Kubeconfig {
  std::vector<Named<KubeCluster>> clusters;
  std::vector<Named<KubeUser>> users;
  std::vector<Named<KubeContext>> contexts;
  std::string current_context;

  friend bool operator==(const Kubeconfig&, const Kubeconfig&) = default;
};

/// The server to talk to, and our identity there.
struct KubeTarget {
  std::string context;  ///< Its name; "in-cluster" for a service account.
  KubeCluster cluster;
  KubeUser user;

  friend bool operator==(const KubeTarget&, const KubeTarget&) = default;
};

/// One file's text; `path` is for relative paths and for messages. What is wrong with a single
/// cluster, user or context is reported when it is chosen.
std::expected<Kubeconfig, Problems> parse_kubeconfig(std::string_view text, std::string_view path);

/// Rule 2.
Kubeconfig merge_kubeconfigs(std::span<const Kubeconfig> files);

/// By the name of a context; empty: the current one.
std::expected<KubeTarget, Problems> choose_target(const Kubeconfig& config,
                                                  std::string_view context);

/// The service account of the pod in which we run.
KubeTarget in_cluster_target(const KubeEnvironment& environment);

/// What the command line says; both may be empty.
struct TargetRequest {
  std::string kubeconfig;
  std::string context;
};

/// Rule 1, and the service account where no file is named and none exists. Reads the files.
std::expected<KubeTarget, Problems> find_target(const TargetRequest& request,
                                                const KubeEnvironment& environment);

}  // namespace makeway::kube
