// ApiError: why the API server gave no answer, or not the one that was wanted.
//
// The kind of failure says what the caller does next; the problem reports which request it
// was, what went wrong and what to do about it. Decisions never look at a message (kubernetes-live,
// section 0): only at the kind, the status and the server's reason.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/problem.hpp"
#include "base/time.hpp"

namespace makeway::kube {

enum class Failure : std::uint8_t {
  // The server answered.
  unauthorized,  ///< 401: authentication failed; new credentials may help.
  forbidden,     ///< 403: the right is missing; an administrator may help.
  not_found,     ///< 404: no such object, or no such kind.
  conflict,      ///< 409: read the object again.
  expired,       ///< 410: list again.
  invalid,       ///< Any other 4xx: asking the same again is useless.
  throttled,     ///< 429: the same again after a while.
  server,        ///< 5xx: it failed; read before writing again.
  malformed,     ///< It answers what no API server answers.
  too_large,     ///< It answers more than we take.
  // Nothing came, or not all.
  dns,          ///< No such host.
  refused,      ///< Connection refused, or no route to the host.
  tls,          ///< No secure connection.
  proxy,        ///< The proxy refused or is not reachable.
  timeout,      ///< Too slow.
  cut,          ///< The connection was lost.
  credentials,  ///< Ours cannot be read or made; nothing was sent.
};

/// "timeout", as the enumerator.
std::string_view name_of(Failure failure);

struct ApiError {
  Failure failure = Failure::cut;
  int status = 0;      ///< Of HTTP; 0: there was none.
  std::string reason;  ///< "Expired", as the server's Status says; may be empty.
  std::optional<Duration> retry_after;
  Problem problem;
};

template <class T>
using ApiResult = std::expected<T, ApiError>;

/// Whether the same request may succeed soon by itself.
bool is_transient(Failure failure);

/// What was asked for, for messages and remedies.
struct Asked {
  std::string request;    ///< "GET https://10.0.0.1:6443/api/v1/pods"
  std::string verb;       ///< "list", as RBAC names it.
  std::string api_group;  ///< Empty: the core of Kubernetes.
  std::string resource;   ///< "pods"; empty: no resource, such as discovery.
};

/// The answer of a server that refused: its Status as JSON, or any text.
ApiError refusal(const Asked& asked, int status, std::string_view body,
                 std::optional<Duration> retry_after);

/// `{apiGroups: [""], resources: [pods], verbs: [get, list, watch]}`
std::string rbac_rule(std::string_view api_group, std::string_view resource);

}  // namespace makeway::kube
