// Runs a program, without a shell, and keeps what it says: bounded in time and in bytes.
//
// It has no standard input, and a process group of its own that is killed when the time is over, so
// that its children do not outlive it.
//
// Exec plugins: programs that print credentials (client.authentication.k8s.io v1 and v1beta1).
//
// The program gets KUBERNETES_EXEC_INFO and no terminal; it prints an ExecCredential. Its words are
// secrets: no message ever holds what it printed, only what it said on standard error.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem.hpp"
#include "base/time.hpp"
#include "kube/kubeconfig.hpp"

namespace makeway::kube {

struct ProgramOrder {
  std::string command;  ///< A path, or a name that is looked for in PATH.
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  ///< Besides our own.
  Duration time_max{60'000};
  std::size_t bytes_max = std::size_t{1} << 20U;  ///< Of standard output.
};

struct ProgramResult {
  std::string out;
  std::string error;    ///< The first bytes of standard error.
  std::string failure;  ///< Why there is no exit status: "it took longer than 60s"; else empty.
  int status = -1;
};

ProgramResult run_program(const ProgramOrder& order);

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
