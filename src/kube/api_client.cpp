#include "kube/api_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codec/api_text.hpp"

namespace makeway::kube {
namespace {

constexpr int accepted = 200;

}  // namespace

ApiError malformed(const Asked& asked, Problem problem) {
  problem.object = asked.request;
  problem.message =
      fmt::format("the response is not from a Kubernetes API server: {}", problem.message);
  problem.remedy = "is this the URL of an API server? look at `server`";
  return {.failure = Failure::malformed, .status = accepted, .problem = std::move(problem)};
}

Asked asked_for(const HttpSettings& settings, const ServedResource& served, std::string_view verb) {
  return {.request = fmt::format("{} {}{}", verb, settings.server, served.path()),
          .verb = std::string(verb),
          .api_group = std::string(served.resource->api_group),
          .resource = std::string(served.resource->plural)};
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char byte : text) {
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_' ||
                       byte == '~';
    if (plain) {
      encoded += byte;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    }
  }
  return encoded;
}

ApiClient::ApiClient(HttpClient& http, Credentials& credentials, Prng jitter, Pause pause,
                     ApiLimits limits)
    : http_(http),
      credentials_(credentials),
      jitter_(jitter),
      pause_(std::move(pause)),
      limits_(limits) {}

ApiResult<HttpRequest> ApiClient::request_for(const std::string& path, Asked asked) {
  auto identity = credentials_.current();
  if (!identity) return std::unexpected(identity.error());
  return HttpRequest{.path = path,
                     .identity = std::move(*identity),
                     .whole_max = limits_.request_max,
                     .bytes_max = limits_.page_bytes_max,
                     .is_stream = false,
                     .asked = std::move(asked)};
}

Duration ApiClient::pause_before(int attempt, const std::optional<Duration>& retry_after) {
  const std::int64_t pause_ms = limits_.pause.after(attempt).ms;
  // Between half of it and all of it, so that many clients do not retry together.
  const Duration varied{jitter_.between(pause_ms / 2, pause_ms)};
  if (!retry_after) return varied;
  const std::int64_t asked_ms = std::min(retry_after->ms, 3 * limits_.pause.max.ms);
  return Duration{asked_ms + varied.ms / 2};
}

ApiResult<HttpAnswer> ApiClient::get(const std::string& path, const Asked& asked) {
  bool is_renewed = false;
  for (int attempt = 1;; ++attempt) {
    ApiResult<HttpRequest> request = request_for(path, asked);
    if (!request) return std::unexpected(request.error());
    ApiResult<HttpAnswer> answer = http_.send(std::move(*request));
    if (answer && answer->status == accepted) return answer;
    ApiError error = answer
                         ? refusal(asked, answer->status, answer->body.view(), answer->retry_after)
                         : std::move(answer.error());
    const bool can_renew = error.failure == Failure::unauthorized && !is_renewed;
    if (can_renew && credentials_.forget()) {
      is_renewed = true;
      continue;
    }
    const bool is_silent = error.failure == Failure::timeout && !http_.date();
    const int most = is_silent ? std::min(limits_.silent_attempts_max, limits_.attempts_max)
                               : limits_.attempts_max;
    if (!is_transient(error.failure) || attempt >= most) return std::unexpected(std::move(error));
    pause_(pause_before(attempt, error.retry_after));
  }
}

ApiResult<std::vector<std::string>> ApiClient::listable(std::string_view api_group,
                                                        std::string_view version) {
  const std::string path = group_path(api_group, version);
  const Asked asked{.request = fmt::format("get {}{}", http_.settings().server, path),
                    .verb = "get",
                    .api_group = std::string(api_group)};
  const auto answer = get(path, asked);
  if (!answer) {
    if (answer.error().failure == Failure::not_found) return std::vector<std::string>{};
    return std::unexpected(answer.error());
  }
  auto names = parse_resource_list(answer->body.view());
  if (!names) return std::unexpected(malformed(asked, names.error()));
  return std::move(*names);
}

ApiResult<std::vector<ServedResource>> ApiClient::discover() {
  const Asked asked{.request = fmt::format("get {}/apis", http_.settings().server), .verb = "get"};
  const auto answer = get("/apis", asked);
  if (!answer) return std::unexpected(answer.error());
  const auto groups = parse_group_list(answer->body.view());
  if (!groups) return std::unexpected(malformed(asked, groups.error()));
  std::vector<ServedResource> served;
  std::vector<std::pair<std::string, std::vector<std::string>>> known;  // By group and version.
  for (const Resource& resource : resources()) {
    if (resource.is_always_served) {
      served.push_back({.resource = &resource, .version = std::string(resource.versions.front())});
      continue;
    }
    for (const std::string_view version : resource.versions) {
      if (!groups->has(resource.api_group, version)) continue;
      const std::string key = fmt::format("{}/{}", resource.api_group, version);
      auto found = std::ranges::find(known, key, &decltype(known)::value_type::first);
      if (found == known.end()) {
        auto names = listable(resource.api_group, version);
        if (!names) return std::unexpected(names.error());
        found = known.insert(known.end(), {key, std::move(*names)});
      }
      if (std::ranges::find(found->second, resource.plural) == found->second.end()) continue;
      served.push_back({.resource = &resource, .version = std::string(version)});
      break;
    }
  }
  return served;
}

ApiResult<ObjectPages> ApiClient::list(const ServedResource& served) {
  for (int times = 1;; ++times) {
    ApiResult<ObjectPages> pages = list_once(served);
    if (pages || pages.error().failure != Failure::expired || times >= limits_.lists_max) {
      return pages;
    }
  }
}

ApiResult<ObjectPages> ApiClient::list_once(const ServedResource& served) {
  const Asked asked = asked_for(http_.settings(), served, "list");
  const std::string wanted_kind = fmt::format("{}List", served.resource->kind);
  ObjectPages all;
  std::string token;
  while (all.pages.size() < limits_.pages_max) {
    std::string path = fmt::format("{}?limit={}", served.path(), limits_.page_objects);
    if (!served.resource->selector.empty()) {
      path += "&fieldSelector=" + percent_encoded(served.resource->selector);
    }
    if (!token.empty()) path += "&continue=" + percent_encoded(token);
    auto answer = get(path, asked);
    if (!answer) return std::unexpected(answer.error());
    const auto page = read_list_page(answer->body);
    if (!page) return std::unexpected(malformed(asked, page.error()));
    const auto unexpected_answer = [&](std::string field, std::string_view value,
                                       std::string message) {
      return std::unexpected(malformed(
          asked,
          {.field = std::move(field), .value = shorten(value), .message = std::move(message)}));
    };
    if (page->kind != wanted_kind) {
      return unexpected_answer("kind", page->kind, fmt::format("expected {}", wanted_kind));
    }
    if (!page->holds_only(served.resource->kind)) {
      return unexpected_answer("items", wanted_kind, "it holds objects of another kind");
    }
    if (!page->continue_token.empty() && page->continue_token == token) {
      return unexpected_answer("metadata.continue", token, "the same page follows itself");
    }
    all.bytes += answer->body.size();
    if (all.bytes > limits_.list_bytes_max) {
      return unexpected_answer(
          {}, {}, fmt::format("the list has more than {} bytes", limits_.list_bytes_max));
    }
    if (all.pages.empty()) all.resource_version = page->resource_version;
    all.pages.push_back(std::move(answer->body));
    token = page->continue_token;
    if (token.empty()) return all;
  }
  return std::unexpected(malformed(
      asked, {.message = fmt::format("the list has more than {} pages", limits_.pages_max)}));
}

}  // namespace makeway::kube
