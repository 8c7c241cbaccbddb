// The dashboard of a run: its page, its access and its tools put together.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "server/dashboard.hpp"
#include "server/listen_address.hpp"

namespace makeway::cli {

struct DashboardWish {
  server::ListenAddress address;
  std::string token;                    ///< Empty: there is none.
  std::string journal;                  ///< The file that the run writes; empty: none.
  std::vector<std::string> schedulers;  ///< Whose pods are ours; none: all are.
};

/// `open_pages`: health and metrics.
Result<std::unique_ptr<server::Dashboard>> start_dashboard(
    DashboardWish wish, std::function<server::HttpReply(std::string_view path)> open_pages);

/// The token in that file: its text without white space around it. An error says what is wrong.
Result<std::string> read_token(const std::string& path);

/// "http://127.0.0.1:10260/", as somebody on this machine opens it.
std::string dashboard_address(const server::ListenAddress& address, std::uint16_t port);

/// Something that whoever starts it must know; empty: nothing.
std::string dashboard_warning(const server::ListenAddress& address, std::string_view token);

}  // namespace makeway::cli
