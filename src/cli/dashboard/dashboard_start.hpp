// The dashboard of a run: its page, its access and its tools put together.
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
struct ListenWish {
  std::optional<server::ListenAddress> address;  ///< None: nothing listens.
  std::string token;                             ///< Empty: there is none.
  server::TlsFiles tls;                          ///< None given: plain HTTP.
};

/// An error is one of usage; what is in the files was looked at.
Result<ListenWish> read_listen_wish(const Arguments& arguments);

struct DashboardWish {
  ListenWish listen;                    ///< With an address.
  std::string journal;                  ///< The file that the run writes; empty: none.
  std::vector<std::string> schedulers;  ///< Whose pods are ours; none: all are.
};

/// `open_pages`: health and metrics.
Result<std::unique_ptr<server::Dashboard>> start_dashboard(
    DashboardWish wish, std::function<server::HttpReply(std::string_view path)> open_pages);

/// The token in that file: its text without white space around it. An error says what is wrong.
Result<std::string> read_token(const std::string& path);

/// "http://127.0.0.1:10260/", as somebody on this machine opens it.
std::string dashboard_address(const ListenWish& listen, std::uint16_t port);

/// Something that whoever starts it must know; empty: nothing.
std::string dashboard_warning(const ListenWish& listen);
/// Whether it shows more than health and metrics: to this machine alone, or with a token.
bool shows_dashboard(const ListenWish& listen);

/// "a frame failed: TEXT; 3 more like it since the last one told"
std::string notice_text(const server::Notice& notice);

}  // namespace makeway::cli
