// Routes and streams of a dashboard, over real sockets.
#include "server/dashboard.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/prng.hpp"
#include "support/http_test_client.hpp"

namespace makeway::server {
namespace {

class DashboardTest : public testing::Test {
 protected:
  void start(DashboardSettings settings = {}) {
    settings.open_pages = [](std::string_view path) {
      if (path == "/healthz") return HttpReply{.body = "ok\n"};
      return HttpReply{.status = 404, .body = "there is /healthz\n"};
    };
    if (settings.follower.turn == FollowerLimits{}.turn) settings.follower.turn = Duration{5};
    auto started = Dashboard::start(std::move(settings));
    ASSERT_TRUE(started.has_value());
    dashboard = *std::move(started);
    dashboard->watcher().start({.configuration = configuration, .preset = "makeway"});
  }
  void show(const std::string& node_name) {
    Node node;
    node.name = node_name;
    node.allocatable = {{"cpu", 1'000}};
    const std::vector<Change> changes = {node};
    for (const Change& change : changes) cluster.apply(change);
    dashboard->watcher().batch(
        {.now = Time{1'000}, .changes = changes, .effects = {}, .receipts = {}}, cluster);
  }
  std::string get(std::string_view target, std::string_view headers = {}) const {
    const TestClient client(dashboard->port());
    client.send(fmt_request("GET", target, headers));
    return client.receive();
  }
  std::string post(std::string_view target, std::string_view headers) const {
    const TestClient client(dashboard->port());
    client.send(fmt_request("POST", target, headers));
    return client.receive();
  }
  static std::string fmt_request(std::string_view method, std::string_view target,
                                 std::string_view headers) {
    return std::string(method) + " " + std::string(target) +
           " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + std::string(headers) + "\r\n";
  }

  Configuration configuration;
  Cluster cluster;
  std::unique_ptr<Dashboard> dashboard;
};

TEST_F(DashboardTest, SendsTheStateAndThenChanges) {
  start();
  show("n1");
  EXPECT_TRUE(get("/api/state").contains(R"(["n1","",0,0,0,1000,0])"));
  const TestClient viewer(dashboard->port());
  viewer.send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string state = viewer.receive("\n\n");
  EXPECT_TRUE(state.contains("event: state\ndata: {")) << state;
  EXPECT_TRUE(state.contains("\"n1\"")) << state;
  show("n2");
  const std::string changes = viewer.receive("\"n2\"");
  EXPECT_TRUE(changes.contains("event: changes\ndata: {")) << changes;
  // A viewer that reconnects gets everything first.
  const TestClient again(dashboard->port());
  again.send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(again.receive("\n\n").contains("\"n2\""));
}

/// What the state of a joiner is newer in than the last frame, and then is as before again. The
/// first to join after a turn gets such a state.
TEST_F(DashboardTest, ANewClientReceivesLaterChanges) {
  DashboardSettings slow;
  slow.follower.turn = Duration{200};
  start(std::move(slow));
  show("n1");
  const TestClient first(dashboard->port());
  first.send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(first.receive("\n\n").contains("\"n1\""));
  show("n0");
  EXPECT_TRUE(first.receive("\"n0\"").contains("\"n0\""));  // A turn is over.
  show("n2");
  const TestClient second(dashboard->port());
  second.send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(second.receive("\"n2\"").contains("\"n2\""));
  const std::vector<Change> gone = {Removal{.kind = ObjectKind::node, .name = "n2"}};
  for (const Change& change : gone) cluster.apply(change);
  dashboard->watcher().batch({.now = Time{1'000}, .changes = gone, .effects = {}, .receipts = {}},
                             cluster);
  const std::string changes = second.receive("\"gone\":[\"/n2\"]");
  EXPECT_TRUE(changes.contains("\"gone\":[\"/n2\"]")) << changes;
}

TEST_F(DashboardTest, HasThePageAndTheOpenPages) {
  start({.html = "<p>page</p>"});
  const std::string page = get("/");
  EXPECT_TRUE(page.contains("Content-Type: text/html; charset=utf-8\r\n")) << page;
  EXPECT_TRUE(page.ends_with("<p>page</p>")) << page;
  EXPECT_TRUE(get("/healthz").ends_with("ok\n"));
  const std::string nothing = get("/nothing");
  EXPECT_TRUE(nothing.starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(nothing.ends_with("\r\nthe dashboard is at /; beside it there is /healthz\n"))
      << nothing;
  EXPECT_TRUE(get("/api/nothing").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(get("/", "Sec-Fetch-Site: cross-site\r\n").ends_with("<p>page</p>"));
  EXPECT_TRUE(get("/api/state", "Sec-Fetch-Site: cross-site\r\n").starts_with("HTTP/1.1 403 "));
  EXPECT_TRUE(post("/", "").starts_with("HTTP/1.1 405 "));
  EXPECT_TRUE(post("/", "Content-Length: 9\r\n").starts_with("HTTP/1.1 405 "));
  EXPECT_TRUE(post("/api/state", "Content-Type: text/yaml\r\n").starts_with("HTTP/1.1 405 "));
  const std::string history = get("/api/history");
  EXPECT_TRUE(history.starts_with("HTTP/1.1 404 ")) << history;
  EXPECT_TRUE(history.contains("--journal FILE")) << history;
}

TEST_F(DashboardTest, QuestionsReachTheirHandlers) {
  start({.tools = {
             .what_if =
                 [](const HttpRequest& request, const Board& board) {
                   return HttpReply{.body = "what if " + request.body +
                                            std::to_string(board.cluster().node_count())};
                 },
             .why_recorded =
                 [](const HttpRequest& request, const QuestionThread::IsOver&) {
                   return HttpReply{.body = "why " + *query_value(request.query, "object")};
                 },
             .at = [](const HttpRequest& request,
                      const QuestionThread::IsOver&) { return HttpReply{.body = request.query}; },
         }});
  show("n1");
  EXPECT_TRUE(get("/api/why?object=Pod%2Fa%2Fb").ends_with("why Pod/a/b"));
  EXPECT_TRUE(get("/api/at?cycle=7").ends_with("cycle=7"));
  EXPECT_TRUE(post("/api/what-if", "Content-Type: text/yaml\r\n").ends_with("what if 1"));
  EXPECT_TRUE(get("/api/what-if").starts_with("HTTP/1.1 405 "));
}

/// Reading for a closed connection ends, and the next request gets its answer.
TEST_F(DashboardTest, QuestionsOfClosedConnectionsAreNotAnswered) {
  std::atomic<bool> has_begun = false;
  std::atomic<bool> has_ended = false;
  start({.tools = {.at = [&](const HttpRequest& request, const QuestionThread::IsOver& is_over) {
           has_begun = true;
           const bool is_long = request.query == "cycle=1";
           for (int wait = 0; is_long && wait < 10'000 && !is_over(); ++wait) {
             std::this_thread::sleep_for(std::chrono::milliseconds{1});
           }
           if (is_long) has_ended = is_over();
           return HttpReply{.body = request.query};
         }}});
  {
    const TestClient first(dashboard->port());
    first.send(fmt_request("GET", "/api/at?cycle=1", {}));
    while (!has_begun) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    const TestClient second(dashboard->port());
    second.send(fmt_request("GET", "/api/at?cycle=1", {}));
  }
  EXPECT_TRUE(get("/api/at?cycle=2").ends_with("cycle=2"));
  EXPECT_TRUE(has_ended);
}

TEST_F(DashboardTest, ATokenIsNeededForNamesAndForNothingElse) {
  start({.token = "0123456789abcdef", .html = "<p>page</p>"});
  show("secret-node");
  EXPECT_TRUE(get("/").ends_with("<p>page</p>"));
  EXPECT_TRUE(get("/healthz").ends_with("ok\n"));
  for (const std::string_view path : {"/api/state", "/api/events", "/api/why", "/api/history"}) {
    const std::string answer = get(path);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 401 ")) << answer;
    EXPECT_FALSE(answer.contains("secret-node"));
  }
  EXPECT_TRUE(
      get("/api/state", "Authorization: Bearer 0123456789abcdef\r\n").contains("secret-node"));
}

TEST_F(DashboardTest, SurvivesTenThousandMalformedRequests) {
  start({.http = {.request_max = Duration{2'000}, .header_bytes_max = 512}});
  show("n1");
  const std::string whole =
      "POST /api/what-if?x=%zz HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/yaml\r\n"
      "Content-Length: 5\r\nConnection: close\r\n\r\nkind:";
  Prng random(1);
  for (int request = 0; request < 10'000; ++request) {
    std::string text = whole;
    for (std::uint64_t count = 1 + random.below(8); count > 0; --count) {
      text[random.below(text.size())] = static_cast<char>(random.below(256));
    }
    text.resize(random.below(text.size() + 1));
    const TestClient client(dashboard->port());
    if (client.is_open() && !text.empty()) client.send(text);
  }
  EXPECT_TRUE(get("/api/state").contains("\"n1\""));
}

TEST_F(DashboardTest, EndsWhileViewersLook) {
  start();
  std::vector<std::unique_ptr<TestClient>> viewers;
  for (int viewer = 0; viewer < 20; ++viewer) {
    viewers.push_back(std::make_unique<TestClient>(dashboard->port()));
    viewers.back()->send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  for (int node = 0; node < 100; ++node) show("n" + std::to_string(node));
  dashboard.reset();
  for (const auto& viewer : viewers) viewer->receive();
}

}  // namespace
}  // namespace makeway::server
