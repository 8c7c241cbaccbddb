// Dashboard: what a run answers over HTTP (decisions/0034-dashboard.md).
//
//   /healthz /readyz /metrics     open to all; no object is named
//   /                             the page; it names no object either
//   /api/state                    the board, as JSON
//   /api/events                   the board and then its changes, as server-sent events
//   /api/why?object=KIND/NS/NAME  why it waits, or why it had to leave
//   POST /api/what-if[?preset=P]  a manifest; the plan for it, and nothing is changed
//   /api/history                  the cycles of the journal
//   /api/at?cycle=N[&preset=P]    the cluster as it was then, and what was, or would be, decided
//
// Requests for names of objects pass `refuse` (access.hpp) first. Everything is read from
// the follower's board or from the journal, never from the loop. The whole state is written once a
// turn at most, however many ask for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "server/access.hpp"
#include "server/follower.hpp"
#include "server/http_server.hpp"
#include "server/notices.hpp"
#include "server/question_thread.hpp"
#include "server/tls_keys.hpp"

namespace makeway::server {

/// What needs rules and journals, which the server does not know. Empty: that is not offered.
struct DashboardTools {
  using OnBoard = std::function<HttpReply(const HttpRequest&, const Board&)>;
  /// Ends soon after it is over, with any answer.
  using Alone = std::function<HttpReply(const HttpRequest&, const QuestionThread::IsOver& is_over)>;
  OnBoard what_if;
  OnBoard why;         ///< As far as the board knows.
  Alone why_recorded;  ///< From the journal; comes before `why`.
  Alone history;
  Alone at;
};

struct DashboardSettings {
  ListenAddress address;
  std::string token;  ///< Empty: there is none.
  std::string html;   ///< Empty: there is no page.
  std::vector<std::string> schedulers;
  /// Health and metrics; 404, and a sentence about which pages there are: it is none of these.
  std::function<HttpReply(std::string_view path)> open_pages;
  DashboardTools tools;
  FollowerLimits follower;
  HttpLimits http;
  bool contains_bugs = false;  ///< See attempt.hpp.
  TlsFiles tls;                ///< None given: plain HTTP.
};

class Dashboard {
 public:
  static Result<std::unique_ptr<Dashboard>> start(DashboardSettings settings);
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;
  ~Dashboard();

  /// For the loop; before it starts.
  LoopWatcher& watcher() { return follower_; }
  std::uint16_t port() const { return server_->port(); }
  std::size_t viewers() const { return server_->streams(); }
  /// What went wrong beside the loop, for the log.
  std::vector<Notice> take_notices() { return notices_.take(); }

 private:
  explicit Dashboard(DashboardSettings settings);
  void handle(const HttpRequest& request, const HttpAnswer& answer);
  void handle_api(const HttpRequest& request, const HttpAnswer& answer);
  void ask_board(const HttpAnswer& answer, std::function<HttpReply(Board&)> question);
  void ask_question_thread(const HttpAnswer& answer, const HttpRequest& request,
                           const DashboardTools::Alone& tool);
  std::optional<HttpReply> refuse_body(const HttpRequest& request) const;
  HttpReply page(const HttpRequest& request) const;
  HttpReply open_page(std::string_view path) const;
  void turn(Board& board);
  bool write_changes(Board& board, HttpServer& server);
  const std::string& shared_state(Board& board);
  HttpReply stream_of(Board& board);
  Containment containment() { return {settings_.contains_bugs, &notices_}; }

  const DashboardSettings settings_;
  const AccessRules access_;
  Notices notices_;
  std::unique_ptr<HttpServer> server_;
  std::atomic<HttpServer*> published_ = nullptr;  ///< The server, once it is there.
  // Of the follower's thread:
  std::uint64_t turns_ = 0;
  /// As new as the last frame; empty: not requested since the turn.
  std::string state_;
  HttpFrame state_event_;  ///< The same for streams.
  QuestionThread questions_;
  Follower follower_;
};

}  // namespace makeway::server
