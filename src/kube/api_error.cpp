#include "kube/api_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codec/json_text.hpp"

namespace makeway::kube {
namespace {

constexpr std::array failure_names = {
    std::string_view("unauthorized"), std::string_view("forbidden"),
    std::string_view("not found"),    std::string_view("conflict"),
    std::string_view("expired"),      std::string_view("invalid"),
    std::string_view("throttled"),    std::string_view("server"),
    std::string_view("malformed"),    std::string_view("too large"),
    std::string_view("dns"),          std::string_view("refused"),
    std::string_view("tls"),          std::string_view("proxy"),
    std::string_view("timeout"),      std::string_view("cut"),
    std::string_view("credentials"),
};
static_assert(failure_names.size() == static_cast<std::size_t>(Failure::credentials) + 1);

constexpr std::size_t status_bytes_max = 64U << 10U;

/// What a Status object says; empty parts are missing in it.
struct ServerStatus {
  std::string reason;
  std::string message;
  std::optional<Duration> retry_after;
};

ServerStatus read_status(std::string_view body) {
  ServerStatus status;
  if (body.size() > status_bytes_max) return status;
  const auto tree = parse_json_value(body);
  if (!tree || text_in(*tree, "kind") != "Status") {
    // Overload and proxies answer in plain text.
    if (!tree) status.message = shorten(body.substr(0, body.find_last_not_of(" \r\n") + 1), 200);
    return status;
  }
  status.reason = shorten(text_in(*tree, "reason"));
  status.message = shorten(text_in(*tree, "message"), 300);
  const JsonValue* const details = tree->find("details");
  const JsonValue* const seconds =
      details == nullptr ? nullptr : details->find("retryAfterSeconds");
  constexpr std::int64_t seconds_max = 3'600;
  if (seconds != nullptr && seconds->as_integer() != nullptr) {
    status.retry_after =
        Duration{std::clamp<std::int64_t>(*seconds->as_integer(), 0, seconds_max) * 1'000};
  }
  return status;
}

Failure failure_of(int status) {
  switch (status) {
    case 401: return Failure::unauthorized;
    case 403: return Failure::forbidden;
    case 404: return Failure::not_found;
    case 409: return Failure::conflict;
    case 410: return Failure::expired;
    case 429: return Failure::throttled;
    default: break;
  }
  if (status >= 500 && status < 600) return Failure::server;
  return status >= 400 && status < 500 ? Failure::invalid : Failure::malformed;
}

/// "the server refuses (403 Forbidden)" without a sentence of its own.
std::string_view meaning_of(Failure failure) {
  switch (failure) {
    case Failure::unauthorized: return "authentication failed";
    case Failure::forbidden: return "permission denied";
    case Failure::not_found: return "not found";
    case Failure::conflict: return "the object was changed by another client";
    case Failure::expired: return "the resource version expired";
    case Failure::throttled: return "the server is overloaded";
    case Failure::server: return "the server failed";
    case Failure::invalid: return "the server does not accept the request";
    default: return "the response is not from a Kubernetes API server";
  }
}

constexpr std::string_view discovery_rule =
    "{nonResourceURLs: [/api, /api/*, /apis, /apis/*], verbs: [get]}";

std::string remedy_for(Failure failure, const Asked& asked) {
  switch (failure) {
    case Failure::unauthorized:
      return "renew the credentials: `kubectl auth whoami` with the same context must work";
    case Failure::forbidden:
      if (asked.resource.empty()) {
        return fmt::format(
            "add the rule {} to a ClusterRole of this user, or bind system:discovery",
            discovery_rule);
      }
      return fmt::format("add the rule {} to a ClusterRole of this user (docs/kubernetes.md)",
                         rbac_rule(asked.api_group, asked.resource));
    case Failure::expired:
      return "try again; if it happens again, the server compacts faster than it answers: look at "
             "--etcd-compaction-interval";
    case Failure::not_found: return "is this the URL of an API server? look at `server`";
    case Failure::throttled:
    case Failure::server: return "try again later; `kubectl get --raw /readyz` shows its state";
    case Failure::malformed: return "is this the URL of an API server? look at `server`";
    default: return {};
  }
}

}  // namespace

std::string_view name_of(Failure failure) {
  return failure_names.at(static_cast<std::size_t>(failure));
}

bool is_transient(Failure failure) {
  return failure == Failure::throttled || failure == Failure::server ||
         failure == Failure::timeout || failure == Failure::cut;
}

std::string rbac_rule(std::string_view api_group, std::string_view resource) {
  return fmt::format("{{apiGroups: [\"{}\"], resources: [{}], verbs: [get, list, watch]}}",
                     api_group, resource);
}

ApiError refusal(const Asked& asked, int status, std::string_view body,
                 std::optional<Duration> retry_after) {
  const ServerStatus said = read_status(body);
  const Failure failure = failure_of(status);
  std::string message = fmt::format("{} ({}", meaning_of(failure), status);
  if (!said.reason.empty()) message += fmt::format(" {}", said.reason);
  message += ")";
  if (!said.message.empty()) message += fmt::format(": {}", said.message);
  return {.failure = failure,
          .status = status,
          .reason = said.reason,
          .retry_after = retry_after ? retry_after : said.retry_after,
          .problem = {.object = asked.request,
                      .message = std::move(message),
                      .remedy = remedy_for(failure, asked)}};
}

}  // namespace makeway::kube
