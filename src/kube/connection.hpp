// Connection: everything that talking to one API server takes, put together.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>

#include "base/problem.hpp"
#include "kube/api_client.hpp"
#include "kube/kubeconfig.hpp"

namespace makeway::kube {

struct ConnectionTools {
  const Clock& clock;  ///< The wall's: credentials expire by it.
  Pause pause;
  std::uint64_t jitter_seed = 0;
  ApiLimits limits;
};

/// Really waits, and reads the real clock.
ConnectionTools real_connection_tools();

class Connection {
 public:
  /// Reads what the target names; nothing is sent yet.
  static std::expected<std::unique_ptr<Connection>, Problems> open(const KubeTarget& target,
                                                                   const ConnectionTools& tools);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() = default;

  ApiClient& api() { return api_; }
  HttpClient& http() { return http_; }
  const KubeTarget& target() const { return target_; }

 private:
  Connection(const KubeTarget& target, std::string authorities, const ConnectionTools& tools);

  KubeTarget target_;
  HttpClient http_;
  Credentials credentials_;
  ApiClient api_;
};

}  // namespace makeway::kube
