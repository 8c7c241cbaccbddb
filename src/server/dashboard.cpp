#include "server/dashboard.hpp"

#include <fmt/format.h>

#include <utility>

namespace makeway::server {
namespace {

constexpr std::string_view api_prefix = "/api/";
constexpr std::string_view what_if_path = "/api/what-if";
constexpr std::string_view busy = "too many requests at once; try again";
constexpr std::string_view without_journal =
    "this run keeps no journal; start makeway with --journal FILE to look back";
constexpr std::uint64_t look_every = 10;   ///< Turns, without viewers.
constexpr std::uint64_t greet_every = 30;  ///< Turns; a stream without news is not dead.

HttpFrame event_of(std::string_view name, std::string_view json) {
  return std::make_shared<const std::string>(fmt::format("event: {}\ndata: {}\n\n", name, json));
}

HttpReply json_reply(std::string body) {
  return {.content_type = "application/json", .body = std::move(body)};
}

}  // namespace

Dashboard::Dashboard(DashboardSettings settings)
    : settings_(std::move(settings)),
      access_(access_rules(settings_.address, settings_.token)),
      questions_(containment()),
      follower_(
          settings_.schedulers, [this](Board& board) { turn(board); }, settings_.follower,
          containment()) {}

/// The threads that could use the others first.
Dashboard::~Dashboard() {
  questions_.stop();
  follower_.stop();
  server_.reset();
}

Result<std::unique_ptr<Dashboard>> Dashboard::start(DashboardSettings settings) {
  std::optional<TlsKeys> keys;
  if (settings.tls.are_given()) {
    Result<TlsKeys> read = TlsKeys::read(settings.tls);
    if (!read) return std::unexpected(read.error());
    keys = *std::move(read);
  }
  std::unique_ptr<Dashboard> dashboard(new Dashboard(std::move(settings)));
  auto server = HttpServer::start(
      dashboard->settings_.address,
      [raw = dashboard.get()](const HttpRequest& request, const HttpAnswer& answer) {
        raw->handle(request, answer);
      },
      dashboard->settings_.http,
      [raw = dashboard.get()](const HttpRequest& request) { return raw->refuse_body(request); },
      {.tls = std::move(keys), .notices = &dashboard->notices_});
  if (!server) return std::unexpected(server.error());
  dashboard->server_ = *std::move(server);
  dashboard->published_ = dashboard->server_.get();
  return dashboard;
}

/// On the follower's thread.
void Dashboard::turn(Board& board) {
  ++turns_;
  state_.clear();
  state_event_.reset();
  HttpServer* const server = published_.load();
  if (server == nullptr) return;
  if (server->streams() == 0) {
    if (turns_ % look_every == 0) board.look();
    return;
  }
  if (!write_changes(board, *server) && turns_ % greet_every == 0) {
    server->publish(std::make_shared<const std::string>(": still here\n\n"));
  }
}

/// False: there are none.
bool Dashboard::write_changes(Board& board, HttpServer& server) {
  const std::string text = board.changes();
  if (text.empty()) return false;
  server.publish(event_of("changes", text));
  return true;
}

/// For a new viewer. The next frame has the difference from the one before it: the state must be
/// as new as that one, else a change that is reverted in between would never be sent. Frames are
/// sent at turns and here, so until the next turn this is the state for all new viewers.
const std::string& Dashboard::shared_state(Board& board) {
  if (!state_.empty()) return state_;
  if (HttpServer* const server = published_.load()) write_changes(board, *server);
  state_ = board.state();
  return state_;
}

HttpReply Dashboard::stream_of(Board& board) {
  if (state_event_ == nullptr) state_event_ = event_of("state", shared_state(board));
  return {.content_type = "text/event-stream", .stream = state_event_};
}

// ---- Routes -------------------------------------------------------------------------------------

void Dashboard::handle(const HttpRequest& request, const HttpAnswer& answer) {
  const bool is_api = request.path.starts_with(api_prefix);
  const bool is_page = request.path == "/" && !settings_.html.empty();
  if (request.is_post && !is_api) return answer.give(error_reply(405, "only GET and HEAD"));
  if (is_page) return answer.give(page(request));
  if (!is_api) return answer.give(open_page(request.path));
  if (auto refused = refuse(request, access_)) return answer.give(*std::move(refused));
  handle_api(request, answer);
}

HttpReply Dashboard::open_page(std::string_view path) const {
  HttpReply reply = settings_.open_pages(path);
  if (reply.status == 404 && !settings_.html.empty()) {
    reply.body.insert(0, "the dashboard is at /; beside it ");
  }
  return reply;
}

/// Before its body is read: the body of a request without access is not read.
std::optional<HttpReply> Dashboard::refuse_body(const HttpRequest& request) const {
  if (request.path != what_if_path || !settings_.tools.what_if) {
    return error_reply(405, "only /api/what-if takes POST");
  }
  return refuse(request, access_);
}

/// The same for all viewers, without names of objects; links of other sites may lead to it.
HttpReply Dashboard::page(const HttpRequest& request) const {
  if (access_.is_loopback) {
    HttpRequest nameless = request;
    nameless.authorization = "Bearer " + access_.token;
    nameless.origin.clear();
    nameless.fetch_site.clear();
    if (auto refused = refuse(nameless, access_)) return *std::move(refused);
  }
  return {.content_type = "text/html; charset=utf-8",
          .body = settings_.html,
          .headers = {{"Referrer-Policy", "no-referrer"},
                      {"X-Frame-Options", "DENY"},
                      {"Cross-Origin-Opener-Policy", "same-origin"},
                      {"Cross-Origin-Resource-Policy", "same-origin"}}};
}

void Dashboard::handle_api(const HttpRequest& request, const HttpAnswer& answer) {
  const std::string_view what = std::string_view(request.path).substr(api_prefix.size());
  const DashboardTools& tools = settings_.tools;
  if (request.is_post != (what == "what-if")) {
    return answer.give(error_reply(
        405, request.is_post ? "only /api/what-if takes POST" : "/api/what-if takes POST only"));
  }
  if (what == "state") {
    return ask_board(answer, [this](Board& board) { return json_reply(shared_state(board)); });
  }
  if (what == "events") {
    return ask_board(answer, [this](Board& board) { return stream_of(board); });
  }
  if (what == "what-if" && tools.what_if) {
    return ask_board(
        answer, [this, request](Board& board) { return settings_.tools.what_if(request, board); });
  }
  if (what == "why" && tools.why_recorded) {
    return ask_question_thread(answer, request, tools.why_recorded);
  }
  if (what == "why" && tools.why) {
    return ask_board(answer,
                     [this, request](Board& board) { return settings_.tools.why(request, board); });
  }
  if (what == "history" || what == "at") {
    const DashboardTools::Alone& tool = what == "at" ? tools.at : tools.history;
    if (!tool) return answer.give(error_reply(404, without_journal));
    return ask_question_thread(answer, request, tool);
  }
  answer.give(error_reply(404, "there is no such question"));
}

void Dashboard::ask_board(const HttpAnswer& answer, std::function<HttpReply(Board&)> question) {
  const bool is_asked = follower_.ask([answer, question = std::move(question)](Board& board) {
    if (!answer.is_unwanted()) answer.give(question(board));
  });
  if (!is_asked) answer.give(error_reply(503, busy));
}

/// The tool outlives the question: it is one of the settings.
void Dashboard::ask_question_thread(const HttpAnswer& answer, const HttpRequest& request,
                                    const DashboardTools::Alone& tool) {
  const bool is_asked = questions_.ask(
      [answer, request, &tool](const QuestionThread::IsOver& is_over) {
        answer.give(tool(request, is_over));
      },
      [answer] { return answer.is_unwanted(); });
  if (!is_asked) answer.give(error_reply(503, busy));
}

}  // namespace makeway::server
