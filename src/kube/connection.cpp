#include "kube/connection.hpp"

#include <unistd.h>

#include <chrono>
#include <thread>

#include "kube/clocks.hpp"

namespace makeway::kube {
namespace {

HttpSettings http_settings(const KubeTarget& target, std::string authorities) {
  return {.server = target.cluster.server,
          .authorities = std::move(authorities),
          .tls_server_name = target.cluster.tls_server_name,
          .proxy = target.cluster.proxy_url,
          .user_agent = "makeway",
          .verify = !target.cluster.skips_verification,
          .connect_max = Duration{10'000}};
}

}  // namespace

ConnectionTools real_connection_tools() {
  static const SystemClock clock;
  // Two processes should not retry together; nothing else depends on it.
  const auto seed =
      mix64(static_cast<std::uint64_t>(clock.now().ms)) ^ static_cast<std::uint64_t>(::getpid());
  return {
      .clock = clock,
      .pause =
          [](Duration pause) { std::this_thread::sleep_for(std::chrono::milliseconds(pause.ms)); },
      .jitter_seed = seed};
}

std::expected<std::unique_ptr<Connection>, Problems> Connection::open(
    const KubeTarget& target, const ConnectionTools& tools) {
  std::string authorities = target.cluster.authority_data;
  if (authorities.empty() && !target.cluster.authority_file.empty()) {
    auto read = read_small_file(target.cluster.authority_file, "certificate-authority");
    if (!read) {
      read.error().object = "cluster of context " + shorten(target.context);
      return std::unexpected(Problems{std::move(read.error())});
    }
    authorities = std::move(*read);
  }
  return std::unique_ptr<Connection>(new Connection(target, std::move(authorities), tools));
}

Connection::Connection(const KubeTarget& target, std::string authorities,
                       const ConnectionTools& tools)
    : target_(target),
      http_(http_settings(target, authorities)),
      credentials_(target, std::move(authorities), tools.clock),
      api_(http_, credentials_, Prng(tools.jitter_seed), tools.pause, tools.limits) {}

}  // namespace makeway::kube
