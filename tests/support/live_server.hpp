// What a test of the Kubernetes client needs besides a FakeApiserver: a target that names it, and a
// client that does not really wait.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "kube/connection.hpp"
#include "support/fake_apiserver.hpp"

namespace makeway {

/// As the body of an answer.
inline PaddedText padded_text(std::string_view text) {
  PaddedText body;
  body.reserve(std::max<std::size_t>(text.size(), 1));
  std::ranges::copy(text, body.room().begin());
  body.grow_by(text.size());
  body.finish();
  return body;
}

inline kube::ApiResult<kube::HttpAnswer> http_answer(int status, std::string_view body = "{}",
                                                     std::optional<Duration> retry = {}) {
  return kube::HttpAnswer{
      .status = status, .body = padded_text(body), .retry_after = retry, .date = {}};
}

struct LiveServer {
  FakeApiserver server;
  ManualClock clock{Time{1'000'000}};
  std::vector<Duration> pauses;  ///< Those that would have been made.
  kube::ApiLimits limits;

  kube::KubeTarget target() const {
    kube::KubeTarget target;
    target.context = "fake";
    target.cluster.server = server.url();
    return target;
  }
  std::unique_ptr<kube::Connection> connect() { return connect(target()); }
  std::unique_ptr<kube::Connection> connect(const kube::KubeTarget& target) {
    auto connection = kube::Connection::open(
        target, {.clock = clock,
                 .pause = [this](Duration pause) { pauses.push_back(pause); },
                 .jitter_seed = 7,
                 .limits = limits});
    return std::move(*connection);
  }
};

}  // namespace makeway
