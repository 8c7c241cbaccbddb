// Access: who may read what names objects (docs/security.md).
//
//  1. On this machine (loopback) everybody may, but only under a name of this machine: a page of
//     elsewhere whose name was made to point here (DNS rebinding) has another Host.
//  2. Beyond it a token is needed, as `Authorization: Bearer TOKEN`. Without one to compare with,
//     nobody may.
//  3. No page of elsewhere asks anything: where a browser says from which origin, it is ours. A
//     question with a body is JSON or YAML by its content type, which no form can send.
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

/// The time that it takes tells nothing about where they differ.
bool is_same_secret(std::string_view given, std::string_view expected);

/// The value of a field of a query, decoded; none: it is not there. What is badly encoded is kept.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

/// {"error":"..."}
HttpReply error_reply(int status, std::string_view text);

}  // namespace makeway::server
