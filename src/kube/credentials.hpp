// Credentials: what a user of a kubeconfig file shows to the server, kept fresh.
//
// Files are read again after a minute, since token files are rotated under running programs; the
// program of an exec plugin is run again when its credential expires. A file that cannot be read
// again is no failure while the old one is accepted. After a 401, `forget` gets new ones at once.
#pragma once

#include <optional>
#include <string>

#include "base/clock.hpp"
#include "kube/api_error.hpp"
#include "kube/http_client.hpp"
#include "kube/kubeconfig.hpp"

namespace makeway::kube {

class Credentials {
 public:
  /// `authorities`: PEM of the cluster's, for plugins that ask for it.
  Credentials(KubeTarget target, std::string authorities, const Clock& clock);

  ApiResult<Identity> current();
  /// They were not accepted. False: there will never be others.
  bool forget();

 private:
  ApiResult<Identity> renew();

  KubeTarget target_;
  std::string authorities_;
  const Clock& clock_;
  std::optional<Identity> identity_;
  Time valid_until_;
  bool is_forgotten_ = false;
};

/// A file that holds a token or PEM: at most a megabyte. The problem has no object.
std::expected<std::string, Problem> read_small_file(const std::string& path,
                                                    std::string_view field);

/// Of a token or password: those must not travel unprotected.
bool is_protected(std::string_view server);

}  // namespace makeway::kube
