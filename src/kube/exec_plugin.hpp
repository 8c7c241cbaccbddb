// Exec plugins: programs that print credentials (client.authentication.k8s.io v1 and v1beta1).
//
// The program gets KUBERNETES_EXEC_INFO and no terminal; it prints an ExecCredential. Its words are
// secrets: no message ever holds what it printed, only what it said on standard error.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/problem.hpp"
#include "base/time.hpp"
#include "kube/kubeconfig.hpp"

namespace makeway::kube {

struct ExecCredential {
  std::string token;
  std::string certificate;  ///< PEM, with `key`.
  std::string key;
  std::optional<Time> expires;

  friend bool operator==(const ExecCredential&, const ExecCredential&) = default;
};

/// KUBERNETES_EXEC_INFO for the plugin. `authorities`: PEM of the cluster's.
std::string exec_info(const ExecPlugin& plugin, const KubeCluster& cluster,
                      std::string_view authorities);

/// What the program printed. The problem has no object.
std::expected<ExecCredential, Problem> parse_exec_credential(std::string_view text,
                                                             std::string_view api_version);

std::expected<ExecCredential, Problem> run_exec_plugin(const ExecPlugin& plugin,
                                                       const KubeCluster& cluster,
                                                       std::string_view authorities);

}  // namespace makeway::kube
