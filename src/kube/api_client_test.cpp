#include "kube/api_client.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "codec/api_text.hpp"
#include "support/live_server.hpp"
#include "support/silent_listener.hpp"

namespace makeway::kube {
namespace {

using Kind = ServerFault::Kind;

const ServedResource& pods() {
  static const ServedResource served{.resource = &resources().back(), .version = "v1"};
  return served;
}

void put_pods(FakeApiserver& server, int count) {
  for (int number = 0; number < count; ++number) {
    server.put(fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p{:03}","namespace":"a"}},)"
        R"("spec":{{"containers":[]}},"status":{{"phase":"{}"}}}})",
        number, number % 10 == 9 ? "Succeeded" : "Running"));
  }
}

std::size_t count_of(std::string_view text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
}

std::size_t objects_in(const ObjectPages& pages) {
  std::size_t count = 0;
  for (const PaddedText& page : pages.pages) count += count_of(page.view(), "\"name\":\"p");
  return count;
}

TEST(ApiClient, ListsInPages) {
  LiveServer live;
  live.limits.page_objects = 7;
  put_pods(live.server, 50);
  const auto connection = live.connect();
  const auto listed = connection->api().list(pods());
  ASSERT_TRUE(listed.has_value()) << to_text(listed.error().problem);
  EXPECT_EQ(listed->pages.size(), 7U);
  EXPECT_EQ(objects_in(*listed), 45U);  // Finished ones are left out by the server.
  EXPECT_EQ(listed->resource_version, "1050");
  const std::vector<std::string> requests = live.server.requests();
  EXPECT_EQ(requests.front(),
            "GET /api/v1/pods?limit=7&fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%"
            "3DFailed");
  EXPECT_TRUE(requests.back().ends_with("&continue=page%2F6%3D")) << requests.back();
}

TEST(ApiClient, AnExpiredPageBeginsTheListAnew) {
  LiveServer live;
  live.limits.page_objects = 7;
  put_pods(live.server, 20);
  live.server.fail({.kind = Kind::status, .path_prefix = "/api/v1/pods", .times = 0});
  const auto connection = live.connect();
  // The second page of the first list is refused.
  live.server.fail({.kind = Kind::slow, .path_prefix = "/api/v1/pods", .times = 1});
  live.server.fail(
      {.kind = Kind::status, .path_prefix = "/api/v1/pods", .times = 1, .status = 410});
  const auto listed = connection->api().list(pods());
  ASSERT_TRUE(listed.has_value()) << to_text(listed.error().problem);
  EXPECT_EQ(objects_in(*listed), 18U);
  EXPECT_EQ(live.server.requests().size(), 2U + 3U);
}

TEST(ApiClient, AListThatAlwaysExpiresIsAnError) {
  LiveServer live;
  put_pods(live.server, 2);
  live.server.fail({.kind = Kind::status, .path_prefix = "/api", .times = 100, .status = 410});
  const auto listed = live.connect()->api().list(pods());
  ASSERT_FALSE(listed.has_value());
  EXPECT_EQ(listed.error().failure, Failure::expired);
  EXPECT_TRUE(listed.error().problem.remedy.starts_with("try again; if it happens again"));
  EXPECT_EQ(live.server.requests().size(), 4U);
}

TEST(ApiClient, OverloadIsWaitedFor) {
  LiveServer live;
  put_pods(live.server, 2);
  live.server.fail({.kind = Kind::status,
                    .times = 2,
                    .status = 429,
                    .retry_after_s = 3,
                    .body = "Too many requests, please try again later.\n"});
  const auto listed = live.connect()->api().list(pods());
  ASSERT_TRUE(listed.has_value());
  ASSERT_EQ(live.pauses.size(), 2U);
  for (const Duration pause : live.pauses) {
    EXPECT_GE(pause.ms, 3'000);
    EXPECT_LE(pause.ms, 4'000);
  }
}

TEST(ApiClient, PausesDoubleAndVary) {
  LiveServer live;
  live.server.fail({.kind = Kind::status, .times = 100, .status = 503});
  const auto listed = live.connect()->api().list(pods());
  ASSERT_FALSE(listed.has_value());
  EXPECT_EQ(listed.error().failure, Failure::server);
  ASSERT_EQ(live.pauses.size(), 4U);
  for (std::size_t at = 0; at < live.pauses.size(); ++at) {
    const std::int64_t whole = std::int64_t{250} << at;
    EXPECT_GE(live.pauses[at].ms, whole / 2);
    EXPECT_LE(live.pauses[at].ms, whole);
  }
}

struct BadAnswerCase {
  Kind kind;
  int times;
  Failure failure;
  std::string_view expected;
};

/// Issue 22, point 1: a server that lies costs an error, never a crash or unbounded memory.
TEST(ApiClient, LiesCostAnError) {
  const std::vector<BadAnswerCase> cases = {
      {Kind::broken_json, 9, Failure::malformed,
       "the response is not from a Kubernetes API server"},
      {Kind::endless_list, 100, Failure::malformed, "the list has more than 9 pages"},
      {Kind::same_page, 100, Failure::malformed, "the same page follows itself"},
      {Kind::cut, 100, Failure::cut, "the connection ended without an answer"},
      {Kind::half_answer, 100, Failure::cut, "the answer ended half way"},
      {Kind::huge_header, 100, Failure::too_large, "the headers of the answer have more than"},
      {Kind::no_http, 100, Failure::malformed, "it does not speak HTTP"},
  };
  for (const BadAnswerCase& each : cases) {
    LiveServer live;
    live.limits.pages_max = 9;
    live.server.fail({.kind = each.kind, .times = each.times});
    const auto listed = live.connect()->api().list(pods());
    ASSERT_FALSE(listed.has_value()) << each.expected;
    EXPECT_EQ(name_of(listed.error().failure), name_of(each.failure));
    const std::string text = to_text(listed.error().problem);
    EXPECT_TRUE(text.contains(each.expected)) << text;
    EXPECT_TRUE(text.starts_with("list http://127.0.0.1:")) << text;
    EXPECT_FALSE(listed.error().problem.remedy.empty());
  }
}

TEST(ApiClient, AFaultThatPassesIsNoError) {
  for (const Kind kind : {Kind::cut, Kind::half_answer}) {
    LiveServer live;
    put_pods(live.server, 3);
    live.server.fail({.kind = kind, .times = 2});
    const auto listed = live.connect()->api().list(pods());
    ASSERT_TRUE(listed.has_value()) << to_text(listed.error().problem);
    EXPECT_EQ(objects_in(*listed), 3U);
    EXPECT_EQ(live.pauses.size(), 2U);
  }
}

TEST(ApiClient, AnAnswerHasAnEnd) {
  LiveServer live;
  live.limits.page_bytes_max = 1'000;
  put_pods(live.server, 30);
  const auto listed = live.connect()->api().list(pods());
  ASSERT_FALSE(listed.has_value());
  EXPECT_EQ(listed.error().failure, Failure::too_large);
  live.limits.page_bytes_max = 100'000;
  live.limits.page_objects = 5;
  live.limits.list_bytes_max = 2'000;
  EXPECT_TRUE(to_text(live.connect()->api().list(pods()).error().problem)
                  .contains("the list has more than 2000 bytes"));
}

TEST(ApiClient, ASlowServerIsNotWaitedForForEver) {
  LiveServer live;
  live.limits.request_max = Duration{60};
  live.limits.attempts_max = 2;
  live.server.fail({.kind = Kind::slow, .times = 9, .delay_ms = 3'000});
  const auto listed = live.connect()->api().list(pods());
  ASSERT_FALSE(listed.has_value());
  EXPECT_EQ(listed.error().failure, Failure::timeout);
}

/// Before, with a wrong address a user waited five times the connect timeout.
TEST(ApiClient, AServerThatHasNeverAnsweredIsAskedOnce) {
  LiveServer live;
  const SilentListener silent;
  kube::KubeTarget target = live.target();
  target.cluster.server = silent.url();
  live.limits.request_max = Duration{60};
  const auto served = live.connect(target)->api().discover();
  ASSERT_FALSE(served.has_value());
  EXPECT_EQ(served.error().failure, Failure::timeout);
  EXPECT_TRUE(live.pauses.empty());
}

/// A leader asks on: a new connection that hears nothing is no dead server.
TEST(ApiClient, ALeaderAsksASilentServerAsOftenAsConfigured) {
  LiveServer live;
  const SilentListener silent;
  kube::KubeTarget target = live.target();
  target.cluster.server = silent.url();
  live.limits.request_max = Duration{60};
  live.limits.silent_attempts_max = 3;
  const auto served = live.connect(target)->api().discover();
  ASSERT_FALSE(served.has_value());
  EXPECT_EQ(served.error().failure, Failure::timeout);
  EXPECT_EQ(live.pauses.size(), 2U);
}

/// A client that is stopped does not wait for a silent server.
TEST(ApiClient, WhatIsGivenUpEnds) {
  LiveServer live;
  const SilentListener silent;
  kube::KubeTarget target = live.target();
  target.cluster.server = silent.url();
  const auto connection = live.connect(target);
  connection->http().give_up();
  const auto served = connection->api().discover();
  ASSERT_FALSE(served.has_value());
  EXPECT_EQ(served.error().problem.message, "the request was given up");
}

/// Byte after byte: each comes soon, the answer never.
TEST(ApiClient, AServerThatDripsIsCut) {
  LiveServer live;
  live.limits.request_max = Duration{100};
  live.limits.attempts_max = 2;
  live.server.fail({.kind = Kind::drip, .times = 9, .delay_ms = 5});
  const auto listed = live.connect()->api().list(pods());
  ASSERT_FALSE(listed.has_value());
  EXPECT_EQ(listed.error().failure, Failure::timeout);
  EXPECT_TRUE(listed.error().problem.message.starts_with("no answer in time"));
}

TEST(ApiClient, AListOfAnotherKindInsideIsRefused) {
  LiveServer live;
  live.server.fail({.kind = Kind::status,
                    .path_prefix = "/api/v1/pods",
                    .status = 200,
                    .body = R"({"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[)"
                            R"({"kind":"Pod","metadata":{"name":"a"}},)"
                            R"({"kind":"Node","metadata":{"name":"b"}}]})"});
  const auto listed = live.connect()->api().list(pods());
  ASSERT_FALSE(listed.has_value());
  EXPECT_EQ(listed.error().failure, Failure::malformed);
  EXPECT_TRUE(listed.error().problem.message.ends_with("it holds objects of another kind"))
      << listed.error().problem.message;
}

TEST(ApiClient, AMissingRightNamesTheRule) {
  LiveServer live;
  live.server.forbid("pods");
  const auto listed = live.connect()->api().list(pods());
  ASSERT_FALSE(listed.has_value());
  EXPECT_EQ(listed.error().failure, Failure::forbidden);
  const std::string text = to_text(listed.error().problem);
  EXPECT_TRUE(text.contains("(403 Forbidden): pods is forbidden")) << text;
  EXPECT_TRUE(text.contains("{apiGroups: [\"\"], resources: [pods], verbs: [get, list, watch]}"))
      << text;
}

TEST(ApiClient, WithoutAListeningServer) {
  KubeTarget target;
  {
    const FakeApiserver gone;
    target.cluster.server = gone.url();
  }
  LiveServer live;
  const auto listed = live.connect(target)->api().list(pods());
  ASSERT_FALSE(listed.has_value());
  EXPECT_EQ(listed.error().failure, Failure::refused);
  EXPECT_TRUE(live.pauses.empty());
  target.cluster.server = "https://there-is-no-such-host.invalid:6443";
  EXPECT_EQ(name_of(live.connect(target)->api().list(pods()).error().failure), "dns");
  target.cluster.server = live.server.url();
  target.cluster.server.replace(0, 4, "https");  // It speaks no TLS.
  EXPECT_EQ(name_of(live.connect(target)->api().list(pods()).error().failure), "tls");
  target.cluster.server = "http://example.invalid";
  target.cluster.proxy_url = live.server.url();  // It is no proxy.
  EXPECT_EQ(name_of(live.connect(target)->api().list(pods()).error().failure), "not found");
  target.cluster.proxy_url = "http://127.0.0.1:1";
  EXPECT_EQ(name_of(live.connect(target)->api().list(pods()).error().failure), "proxy");
}

TEST(ApiClient, ATokenThatWasRotatedIsReadAgain) {
  LiveServer live;
  put_pods(live.server, 1);
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("makeway-token-{}", ::getpid());
  const auto write = [&](std::string_view token) { std::ofstream(file) << token << "\n"; };
  KubeTarget target = live.target();
  target.user.token_file = file.string();
  live.server.require_token("one");
  write("one");
  const auto connection = live.connect(target);
  EXPECT_TRUE(connection->api().list(pods()).has_value());
  // The server accepts only the new one from now on: a 401 reads the file again at once.
  live.server.require_token("two");
  write("two");
  EXPECT_TRUE(connection->api().list(pods()).has_value());
  EXPECT_EQ(live.server.requests().size(), 3U);
  // Without a 401 after a minute.
  write("three");
  live.clock.advance(Duration{61'000});
  live.server.require_token("three");
  EXPECT_TRUE(connection->api().list(pods()).has_value());
  EXPECT_EQ(live.server.requests().size(), 4U);
  // A missing file does no harm while the token is accepted.
  std::filesystem::remove(file);
  live.clock.advance(Duration{61'000});
  EXPECT_TRUE(connection->api().list(pods()).has_value());
  live.server.require_token("four");
  const auto refused = connection->api().list(pods());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(name_of(refused.error().failure), "credentials");
}

TEST(ApiClient, APluginIsAskedAgainWhenItsTokenExpires) {
  LiveServer live;
  put_pods(live.server, 1);
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("makeway-plugin-{}", ::getpid());
  KubeTarget target = live.target();
  target.user.exec = ExecPlugin{
      .api_version = "client.authentication.k8s.io/v1",
      .command = "sh",
      .arguments = {"-c",
                    fmt::format("echo run >> '{}'; echo '{{\"kind\":\"ExecCredential\","
                                "\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{{"
                                "\"token\":\"one\",\"expirationTimestamp\":"
                                "\"1970-01-01T00:20:00Z\"}}}}'",
                                file.string())},
      .wants_cluster = false};
  live.server.require_token("one");
  const auto runs = [&] {
    std::ifstream stream(file);
    return static_cast<int>(std::count(std::istreambuf_iterator<char>(stream), {}, '\n'));
  };
  const auto connection = live.connect(target);
  EXPECT_TRUE(connection->api().list(pods()).has_value());
  EXPECT_TRUE(connection->api().list(pods()).has_value());
  EXPECT_EQ(runs(), 1);
  live.clock.advance(Duration{191'000});  // Ten seconds before it expires.
  EXPECT_TRUE(connection->api().list(pods()).has_value());
  EXPECT_EQ(runs(), 2);
  live.server.require_token("other");
  EXPECT_EQ(name_of(connection->api().list(pods()).error().failure), "unauthorized");
  EXPECT_EQ(runs(), 4);  // Once before asking, once more because of the 401.
  std::filesystem::remove(file);
}

TEST(ApiClient, SecretsDoNotTravelReadable) {
  LiveServer live;
  KubeTarget target = live.target();
  target.cluster.server = "http://192.0.2.1:8080";
  target.user.token = "secret";
  const auto refused = live.connect(target)->api().list(pods());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(to_text(refused.error().problem),
            "user of context fake: server \"http://192.0.2.1:8080\": credentials would be sent "
            "unencrypted; use https");
}

std::vector<std::string> served_paths(ApiClient& client) {
  std::vector<std::string> paths;
  const auto served = client.discover();
  EXPECT_TRUE(served.has_value());
  for (const ServedResource& each : *served) paths.push_back(each.path());
  return paths;
}

TEST(Discovery, AnAnswerWithoutItsListIsAnError) {
  EXPECT_TRUE(parse_group_list(R"({"kind":"APIGroupList","groups":[]})").has_value());
  EXPECT_FALSE(parse_group_list(R"({"kind":"APIGroupList","groups":7})").has_value());
  EXPECT_FALSE(parse_group_list(R"({"kind":"APIGroupList"})").has_value());
  EXPECT_FALSE(parse_resource_list(R"({"kind":"APIResourceList","resources":5})").has_value());
}

TEST(Discovery, AMissingRightNamesTheRule) {
  LiveServer live;
  live.server.fail({.kind = Kind::status, .path_prefix = "/apis", .status = 403});
  const auto served = live.connect()->api().discover();
  ASSERT_FALSE(served.has_value());
  EXPECT_TRUE(served.error().problem.remedy.contains(
      "{nonResourceURLs: [/api, /api/*, /apis, /apis/*], verbs: [get]}"))
      << served.error().problem.remedy;
}

TEST(Discovery, WorksWhereNoGroupsAreServed) {
  LiveServer live;
  const std::vector<std::string> paths = served_paths(live.connect()->api());
  const auto has = [&](std::string_view path) {
    return std::ranges::find(paths, path) != paths.end();
  };
  EXPECT_TRUE(has("/api/v1/pods"));
  EXPECT_TRUE(has("/apis/scheduling.k8s.io/v1/priorityclasses"));
  EXPECT_TRUE(has("/apis/storage.k8s.io/v1/csinodes"));
  EXPECT_FALSE(std::ranges::any_of(
      paths, [](const std::string& path) { return path.contains("podgroups"); }));
}

TEST(Discovery, TakesTheBestVersionThatHasTheKind) {
  LiveServer live;
  live.server.serve("scheduling.k8s.io/v1alpha3", "podgroups", "PodGroup");
  live.server.serve("scheduling.k8s.io/v1beta1", "podgroups", "PodGroup");
  live.server.serve("scheduling.k8s.io/v1alpha3", "workloads", "Workload");
  live.server.serve("makeway.dev/v1", "queues", "Queue");
  const std::vector<std::string> paths = served_paths(live.connect()->api());
  const auto has = [&](std::string_view path) {
    return std::ranges::find(paths, path) != paths.end();
  };
  EXPECT_TRUE(has("/apis/scheduling.k8s.io/v1beta1/podgroups"));
  EXPECT_FALSE(has("/apis/scheduling.k8s.io/v1alpha3/podgroups"));
  EXPECT_TRUE(has("/apis/scheduling.k8s.io/v1alpha3/workloads"));
  EXPECT_TRUE(has("/apis/makeway.dev/v1/queues"));
  EXPECT_FALSE(has("/apis/makeway.dev/v1/sessions"));
}

}  // namespace
}  // namespace makeway::kube
