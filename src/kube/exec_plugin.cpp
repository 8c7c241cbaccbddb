#include "kube/exec_plugin.hpp"

#include <fmt/format.h>

#include "codec/json_text.hpp"
#include "codec/writer.hpp"
#include "kube/base64.hpp"
#include "kube/controls.hpp"
#include "kube/run_program.hpp"

namespace makeway::kube {
namespace {

void field_if(DocumentWriter& writer, std::string_view name, std::string_view value) {
  if (!value.empty()) writer.string_field(name, value);
}

Problem wrong(std::string field, std::string message) {
  return {.field = std::move(field),
          .message = std::move(message),
          .remedy = "run the program by hand, with KUBERNETES_EXEC_INFO set, and look"};
}

}  // namespace

std::string exec_info(const ExecPlugin& plugin, const KubeCluster& cluster,
                      std::string_view authorities) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  writer.string_field("apiVersion", plugin.api_version);
  writer.string_field("kind", "ExecCredential");
  writer.key("spec");
  writer.begin_object();
  if (plugin.wants_cluster) {
    writer.key("cluster");
    writer.begin_object();
    writer.string_field("server", cluster.server);
    field_if(writer, "tls-server-name", cluster.tls_server_name);
    if (cluster.skips_verification) writer.boolean_field("insecure-skip-tls-verify", true);
    field_if(writer, "certificate-authority-data", encode_base64(authorities));
    field_if(writer, "proxy-url", cluster.proxy_url);
    writer.end_object();
  }
  writer.boolean_field("interactive", false);
  writer.end_object();
  writer.end_object();
  return text;
}

std::expected<ExecCredential, Problem> parse_exec_credential(std::string_view text,
                                                             std::string_view api_version) {
  const auto tree = parse_json_value(text);
  if (!tree) return std::unexpected(wrong({}, "what it prints is no JSON"));
  if (text_in(*tree, "kind") != "ExecCredential") {
    return std::unexpected(wrong("kind", "expected an ExecCredential"));
  }
  if (text_in(*tree, "apiVersion") != api_version) {
    return std::unexpected(wrong("apiVersion", fmt::format("expected {}", api_version)));
  }
  const JsonValue* const status = tree->find("status");
  if (status == nullptr || status->as_object() == nullptr) {
    return std::unexpected(wrong("status", "it is missing"));
  }
  ExecCredential credential{.token = text_in(*status, "token"),
                            .certificate = text_in(*status, "clientCertificateData"),
                            .key = text_in(*status, "clientKeyData")};
  if (has_controls(credential.token))
    return std::unexpected(wrong("status.token", "expected one line"));
  if (credential.certificate.empty() != credential.key.empty()) {
    return std::unexpected(
        wrong("status.clientKeyData", "a certificate and its key come together"));
  }
  if (credential.token.empty() && credential.certificate.empty()) {
    return std::unexpected(wrong("status", "there is neither a token nor a certificate"));
  }
  const std::string expires = text_in(*status, "expirationTimestamp");
  if (expires.empty()) return credential;
  const Result<Time> time = parse_time(expires);
  if (!time) return std::unexpected(wrong("status.expirationTimestamp", time.error().message));
  credential.expires = *time;
  return credential;
}

std::expected<ExecCredential, Problem> run_exec_plugin(const ExecPlugin& plugin,
                                                       const KubeCluster& cluster,
                                                       std::string_view authorities) {
  ProgramOrder order{
      .command = plugin.command, .arguments = plugin.arguments, .environment = plugin.environment};
  order.environment.emplace_back("KUBERNETES_EXEC_INFO", exec_info(plugin, cluster, authorities));
  const ProgramResult result = run_program(order);
  if (result.status != 0) {
    const std::string why =
        result.failure.empty() ? fmt::format("exit status {}", result.status) : result.failure;
    Problem problem = wrong("exec.command", fmt::format("the program failed: {}", why));
    problem.value = shorten(plugin.command, 120);
    const std::size_t end = result.error.find_last_not_of(" \r\n");
    if (end != std::string::npos) {
      problem.message +=
          fmt::format("; it says: {}", shorten(result.error.substr(0, end + 1), 300));
    }
    if (!plugin.install_hint.empty()) problem.remedy = shorten(plugin.install_hint, 300);
    return std::unexpected(std::move(problem));
  }
  auto credential = parse_exec_credential(result.out, plugin.api_version);
  if (credential) return credential;
  Problem problem = std::move(credential.error());
  problem.field = problem.field.empty() ? "exec" : fmt::format("exec: {}", problem.field);
  problem.value = shorten(plugin.command, 120);
  return std::unexpected(std::move(problem));
}

}  // namespace makeway::kube
