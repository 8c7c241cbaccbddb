// ApiClient: reading from a Kubernetes API server, with retries and pages.
//
// Rules:
//  1. What is only read is asked again after 429 (when the server says), 5xx, a broken connection
//     or no answer in time; a few times, after pauses that double and vary, and as a rule once
//     where the server has never answered. 401 asks once more with new credentials.
//  2. Lists come in pages, of one version of the world. A page that is too late (410) begins the
//     list anew: pages of two versions are never mixed.
//  3. A wrong answer (broken JSON, pages without end, another kind) is an error.
//
// Never `resourceVersion=0`: what it answers may be older than what was seen.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/backoff.hpp"
#include "base/prng.hpp"
#include "kube/api_error.hpp"
#include "kube/credentials.hpp"
#include "kube/http_client.hpp"
#include "kube/resources.hpp"

namespace makeway::kube {

struct ApiLimits {
  int attempts_max = 5;  ///< Of one request.
  /// Of these, as long as the server has never answered: a user waits at a terminal. A process that
  /// may lead already continues: a new connection without an answer is no dead server.
  int silent_attempts_max = 1;
  Backoff pause{.first = {250}, .max = {10'000}};
  Duration request_max{60'000};
  std::size_t page_objects = 500;
  std::size_t page_bytes_max = std::size_t{256} << 20U;
  std::size_t list_bytes_max = std::size_t{8} << 30U;
  std::size_t pages_max = 20'000;  ///< Of one list: ten million objects.
  int lists_max = 4;               ///< Times that a list is begun.
};

struct ObjectPages {
  std::vector<PaddedText> pages;
  std::string resource_version;  ///< Of all of them.
  std::size_t bytes = 0;
};

/// Waits; tests do not.
using Pause = std::function<void(Duration)>;

class ApiClient {
 public:
  ApiClient(HttpClient& http, Credentials& credentials, Prng jitter, Pause pause,
            ApiLimits limits = {});

  /// An answer with status 200.
  ApiResult<HttpAnswer> get(const std::string& path, const Asked& asked);
  /// What of the table the server has.
  ApiResult<std::vector<ServedResource>> discover();
  ApiResult<ObjectPages> list(const ServedResource& served);

  /// The request for a path, with our identity; for callers that send it themselves.
  ApiResult<HttpRequest> request_for(const std::string& path, Asked asked);
  /// How long to wait before the attempt of this number (from 1) is made again.
  Duration pause_before(int attempt, const std::optional<Duration>& retry_after);
  const ApiLimits& limits() const { return limits_; }
  Credentials& credentials() { return credentials_; }
  HttpClient& http() { return http_; }

 private:
  ApiResult<ObjectPages> list_once(const ServedResource& served);
  ApiResult<std::vector<std::string>> listable(std::string_view api_group,
                                               std::string_view version);

  HttpClient& http_;
  Credentials& credentials_;
  Prng jitter_;
  Pause pause_;
  ApiLimits limits_;
};

/// An answer that no API server gives.
ApiError malformed(const Asked& asked, Problem problem);

/// What a request for a resource is called: "list", "watch".
Asked asked_for(const HttpSettings& settings, const ServedResource& served, std::string_view verb);

/// For a query: everything but letters, digits and "-._~" as %XX.
std::string percent_encoded(std::string_view text);

}  // namespace makeway::kube
