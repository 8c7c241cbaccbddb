#include "kube/credentials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <limits>
#include <system_error>
#include <utility>

#include "base/base64.hpp"
#include "kube/exec_plugin.hpp"

namespace makeway::kube {
namespace {

constexpr Duration file_lifetime{60'000};
constexpr Duration expiry_margin{10'000};
constexpr Time for_ever{std::numeric_limits<std::int64_t>::max()};

ApiError failure(const KubeTarget& target, Problem problem) {
  problem.object = fmt::format("user of context {}", shorten(target.context));
  return {.failure = Failure::credentials, .status = 0, .problem = std::move(problem)};
}

bool is_blank(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

std::expected<std::string, Problem> read_token(const std::string& path) {
  auto text = read_small_file(path, "tokenFile");
  if (!text) return text;
  while (!text->empty() && is_blank(text->back())) text->pop_back();
  text->erase(0, std::min(text->find_first_not_of(" \r\n\t"), text->size()));
  if (text->empty() || has_controls(*text)) {
    return std::unexpected(Problem{.field = "tokenFile",
                                   .value = shorten(path, 120),
                                   .message = "expected a token on one line",
                                   .remedy = "write the token into it"});
  }
  return text;
}

/// The PEM text of a certificate or key: its data, else its file.
std::expected<std::string, Problem> pem_of(const std::string& data, const std::string& file,
                                           std::string_view field) {
  if (!data.empty() || file.empty()) return data;
  return read_small_file(file, field);
}

}  // namespace

std::expected<std::string, Problem> read_small_file(const std::string& path,
                                                    std::string_view field) {
  constexpr std::size_t bytes_max = std::size_t{1} << 20U;
  const auto refuse = [&](std::string message) {
    return std::unexpected(Problem{.field = std::string(field),
                                   .value = shorten(path, 120),
                                   .message = std::move(message),
                                   .remedy = "correct the path, or the rights of the file"});
  };
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return refuse(std::generic_category().message(errno));
  std::string text(bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return refuse("it cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > bytes_max) return refuse("it has more than a megabyte");
  return text;
}

bool is_protected(std::string_view server) {
  if (server.starts_with("https://")) return true;
  constexpr std::string_view scheme = "http://";
  const std::string_view host = server.substr(std::min(scheme.size(), server.size()));
  return host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("[::1]");
}

Credentials::Credentials(KubeTarget target, std::string authorities, const Clock& clock)
    : target_(std::move(target)), authorities_(std::move(authorities)), clock_(clock) {}

ApiResult<Identity> Credentials::current() {
  if (identity_ && !is_forgotten_ && clock_.now() < valid_until_) return *identity_;
  ApiResult<Identity> renewed = renew();
  if (!renewed) {
    // The old ones may still be accepted, unless the server has said that they are not.
    if (!identity_ || is_forgotten_) return renewed;
    valid_until_ = clock_.now() + file_lifetime;
    return *identity_;
  }
  identity_ = *renewed;
  is_forgotten_ = false;
  return renewed;
}

bool Credentials::forget() {
  is_forgotten_ = true;
  const KubeUser& user = target_.user;
  return user.exec || !user.token_file.empty() || !user.certificate_file.empty();
}

ApiResult<Identity> Credentials::renew() {
  const KubeUser& user = target_.user;
  const auto refuse = [&](Problem problem) {
    return std::unexpected(failure(target_, std::move(problem)));
  };
  Identity identity;
  const auto certificate =
      pem_of(user.certificate_data, user.certificate_file, "client-certificate");
  if (!certificate) return refuse(certificate.error());
  const auto key = pem_of(user.key_data, user.key_file, "client-key");
  if (!key) return refuse(key.error());
  identity.certificate = *certificate;
  identity.key = *key;
  std::string token = user.token;
  valid_until_ = for_ever;
  if (!user.token_file.empty() || !user.certificate_file.empty()) {
    valid_until_ = clock_.now() + file_lifetime;
  }
  if (!user.token_file.empty()) {
    auto read = read_token(user.token_file);
    if (!read && token.empty()) return refuse(read.error());
    if (read) token = std::move(*read);
  } else if (user.exec && token.empty() && identity.certificate.empty() && user.name.empty()) {
    auto credential = run_exec_plugin(*user.exec, target_.cluster, authorities_);
    if (!credential) return refuse(credential.error());
    token = credential->token;
    identity.certificate = credential->certificate;
    identity.key = credential->key;
    if (credential->expires) valid_until_ = Time{credential->expires->ms - expiry_margin.ms};
  }
  if (!token.empty()) {
    identity.authorization = "Bearer " + token;
  } else if (!user.name.empty()) {
    identity.authorization =
        "Basic " + encode_base64(fmt::format("{}:{}", user.name, user.password));
  }
  if (!identity.authorization.empty() && !is_protected(target_.cluster.server)) {
    return refuse({.field = "server",
                   .value = shorten(target_.cluster.server, 120),
                   .message = "credentials would be sent unencrypted",
                   .remedy = "use https"});
  }
  if (!user.impersonated.empty()) {
    identity.headers.push_back("Impersonate-User: " + user.impersonated);
    for (const std::string& group : user.impersonated_groups) {
      identity.headers.push_back("Impersonate-Group: " + group);
    }
  }
  return identity;
}

}  // namespace makeway::kube
