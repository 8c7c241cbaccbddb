// Sets up the dashboard of a run: its page, its access and its tools.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "server/dashboard.hpp"
#include "server/listen_address.hpp"
#include "server/tls_keys.hpp"

namespace makeway::cli {

/// --listen and the flags that go with it.
struct ListenOptions {
  std::optional<server::ListenAddress> address;  ///< None: nothing listens.
  std::string token;                             ///< Empty: there is none.
  server::TlsFiles tls;                          ///< None given: plain HTTP.
};

/// An error is a usage error; the contents of the files are checked.
Result<ListenOptions> read_listen_options(const Arguments& arguments);

struct DashboardOptions {
  ListenOptions listen;                 ///< With an address.
  std::string journal;                  ///< The file that the run writes; empty: none.
  std::vector<std::string> schedulers;  ///< schedulerNames of our pods; none: all pods.
};

/// `open_pages`: health and metrics.
Result<std::unique_ptr<server::Dashboard>> start_dashboard(
    DashboardOptions options, std::function<server::HttpReply(std::string_view path)> open_pages);

/// The token in that file: its text without white space around it. An error says what is wrong.
Result<std::string> read_token(const std::string& path);

/// "http://127.0.0.1:10260/", as opened on this machine.
std::string dashboard_address(const ListenOptions& listen, std::uint16_t port);

/// A warning for the operator; empty: none.
std::string dashboard_warning(const ListenOptions& listen);
/// Whether it shows more than health and metrics: to this machine alone, or with a token.
bool shows_dashboard(const ListenOptions& listen);

/// "a frame failed: TEXT; 3 more like it since the last report"
std::string notice_text(const server::Notice& notice);

}  // namespace makeway::cli
