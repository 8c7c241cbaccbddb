// Access: which requests may read names of objects (docs/security.md).
//
//  1. On this machine (loopback) every request may, but only under a name of this machine: a page
//     of another site whose name was made to point here (DNS rebinding) has another Host.
//  2. Beyond it a token is needed, as `Authorization: Bearer TOKEN`. Without a configured token,
//     no request may.
//  3. Pages of other sites may not: if the browser sends an origin, it must be ours. A request with
//     a body is JSON or YAML by its content type, which no form can send.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/http_server.hpp"

namespace makeway::server {

struct AccessRules {
  bool is_loopback = true;
  std::string token;  ///< Empty: there is none.
};

AccessRules access_rules(const ListenAddress& address, std::string token);

/// None: it may. Else the answer.
std::optional<HttpReply> refuse(const HttpRequest& request, const AccessRules& rules);

/// Takes the same time wherever they differ.
bool is_same_secret(std::string_view given, std::string_view expected);

/// The value of a field of a query, decoded; none: it is not there. What is badly encoded is kept.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

/// {"error":"..."}
HttpReply error_reply(int status, std::string_view text);

}  // namespace makeway::server
