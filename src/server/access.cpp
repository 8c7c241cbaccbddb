#include "server/access.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "codec/writer.hpp"

namespace makeway::server {
namespace {

/// An address, not a host name that looks like one: any party can register such a name.
bool is_loopback_host(std::string_view host) {
  if (host == "::1") return true;
  return host.starts_with("127.") &&
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// "localhost:10260" without its port.
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end == std::string_view::npos ? host : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

bool is_name_of_this_machine(std::string_view host) {
  const std::string_view name = without_port(host);
  return name == "localhost" || is_loopback_host(name);
}

bool is_from_same_origin(const HttpRequest& request) {
  if (!request.fetch_site.empty() && request.fetch_site != "same-origin" &&
      request.fetch_site != "none") {
    return false;
  }
  if (request.origin.empty()) return true;  // No browser: they always say.
  return request.origin == "http://" + request.host || request.origin == "https://" + request.host;
}

bool has_document_type(std::string_view content_type) {
  constexpr std::array types = {
      std::string_view("application/json"), std::string_view("application/yaml"),
      std::string_view("application/x-yaml"), std::string_view("text/yaml")};
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return std::ranges::find(types, type) != types.end();
}

int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '+') {
      result += ' ';
      continue;
    }
    const bool is_code = text[at] == '%' && at + 2 < text.size() && hex_digit(text[at + 1]) >= 0 &&
                         hex_digit(text[at + 2]) >= 0;
    if (!is_code) {
      result += text[at];
      continue;
    }
    result += static_cast<char>(hex_digit(text[at + 1]) * 16 + hex_digit(text[at + 2]));
    at += 2;
  }
  return result;
}

}  // namespace

AccessRules access_rules(const ListenAddress& address, std::string token) {
  return {.is_loopback = is_loopback_host(address.host), .token = std::move(token)};
}

HttpReply error_reply(int status, std::string_view text) {
  std::string body;
  JsonWriter writer(body, JsonStyle::compact);
  writer.begin_object();
  writer.string_field("error", text);
  writer.end_object();
  return {.status = status, .content_type = "application/json", .body = std::move(body)};
}

bool is_same_secret(std::string_view given, std::string_view expected) {
  std::uint32_t difference = given.size() == expected.size() ? 0 : 1;
  for (std::size_t at = 0; at < given.size(); ++at) {
    const char other = expected.empty() ? '\0' : expected[at % expected.size()];
    difference |= static_cast<std::uint32_t>(static_cast<unsigned char>(given[at]) ^
                                             static_cast<unsigned char>(other));
  }
  return difference == 0;
}

std::optional<HttpReply> refuse(const HttpRequest& request, const AccessRules& rules) {
  if (rules.is_loopback && !is_name_of_this_machine(request.host)) {
    return error_reply(403, "the Host header does not name this machine: use localhost");
  }
  if (!rules.is_loopback && rules.token.empty()) {
    return error_reply(403,
                       "beyond this machine only health and metrics are open; start makeway with "
                       "--token-file, or listen on localhost and forward the port");
  }
  if (!rules.token.empty()) {
    constexpr std::string_view bearer = "Bearer ";
    const std::string_view given = request.authorization;
    if (!given.starts_with(bearer) || !is_same_secret(given.substr(bearer.size()), rules.token)) {
      HttpReply reply = error_reply(401, "a token is needed: the content of --token-file");
      reply.headers.emplace_back("WWW-Authenticate", "Bearer");
      return reply;
    }
  }
  if (!is_from_same_origin(request)) return error_reply(403, "cross-origin requests are refused");
  if (request.is_post && !has_document_type(request.content_type)) {
    return error_reply(415, "send application/json or application/yaml");
  }
  return std::nullopt;
}

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view field = query.substr(0, end);
    const std::size_t equals = field.find('=');
    if (field.substr(0, equals) == name) {
      return equals == std::string_view::npos ? std::string() : decoded(field.substr(equals + 1));
    }
    if (end == std::string_view::npos) break;
    query.remove_prefix(end + 1);
  }
  return std::nullopt;
}

}  // namespace makeway::server
