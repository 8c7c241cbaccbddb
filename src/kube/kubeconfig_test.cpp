#include "kube/kubeconfig.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/base64.hpp"

namespace makeway::kube {
namespace {

constexpr std::string_view two_clusters = R"(
apiVersion: v1
kind: Config
current-context: west
clusters:
- name: west
  cluster: {server: "https://west:6443/", certificate-authority: pki/ca.crt, tls-server-name: api}
- name: east
  cluster:
    {server: "http://127.0.0.1:8001", proxy-url: "socks5://p:1", insecure-skip-tls-verify: true}
users:
- name: ann
  user: {token: t1, tokenFile: run/token, as: bob, as-groups: [devs]}
- name: certificates
  user: {client-certificate-data: Y2VydA==, client-key: /abs/key}
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./bin/login
      args: [a, "b c"]
      env: [{name: A, value: "1"}]
      installHint: install it
      provideClusterInfo: true
      interactiveMode: IfAvailable
- name: unused
contexts:
- name: west
  context: {cluster: west, user: ann, namespace: shop}
- name: east
  context: {cluster: east, user: plugin}
- name: lost
  context: {cluster: gone, user: ann}
- name: stranger
  context: {cluster: west, user: gone}
)";

Kubeconfig parsed(std::string_view text, std::string_view path = "/etc/k/config") {
  auto config = parse_kubeconfig(text, path);
  EXPECT_TRUE(config.has_value()) << to_text(config.error().front());
  return config.value_or(Kubeconfig{});
}

TEST(Kubeconfig, ReadsClustersUsersAndContexts) {
  const Kubeconfig config = parsed(two_clusters);
  const auto west = choose_target(config, "");
  ASSERT_TRUE(west.has_value());
  EXPECT_EQ(west->context, "west");
  EXPECT_EQ(west->cluster.server, "https://west:6443");
  EXPECT_EQ(west->cluster.authority_file, "/etc/k/pki/ca.crt");
  EXPECT_EQ(west->cluster.tls_server_name, "api");
  EXPECT_EQ(west->user.token, "t1");
  EXPECT_EQ(west->user.token_file, "/etc/k/run/token");
  EXPECT_EQ(west->user.impersonated, "bob");
  EXPECT_EQ(west->user.impersonated_groups, std::vector<std::string>{"devs"});

  const auto east = choose_target(config, "east");
  ASSERT_TRUE(east.has_value());
  EXPECT_TRUE(east->cluster.skips_verification);
  EXPECT_EQ(east->cluster.proxy_url, "socks5://p:1");
  ASSERT_TRUE(east->user.exec.has_value());
  EXPECT_EQ(east->user.exec->command, "/etc/k/./bin/login");
  EXPECT_EQ(east->user.exec->arguments, (std::vector<std::string>{"a", "b c"}));
  EXPECT_EQ(east->user.exec->environment.size(), 1U);
  EXPECT_TRUE(east->user.exec->wants_cluster);
}

TEST(Kubeconfig, TheFirstFileWinsEntryByEntry) {
  const Kubeconfig first = parsed(R"(
clusters: [{name: a, cluster: {server: "https://first"}}]
users: [{name: u, user: {token: first}}]
)");
  const Kubeconfig second = parsed(R"(
current-context: b
clusters:
- {name: a, cluster: {server: "https://second", tls-server-name: x}}
- {name: b, cluster: {server: "https://b"}}
users: [{name: u, user: {token: second}}]
contexts: [{name: b, context: {cluster: a, user: u}}]
)");
  const Kubeconfig third = parsed("current-context: never");
  const std::vector files = {first, second, third};
  const auto target = choose_target(merge_kubeconfigs(files), "");
  ASSERT_TRUE(target.has_value());
  EXPECT_EQ(target->context, "b");
  EXPECT_EQ(target->cluster.server, "https://first");
  EXPECT_EQ(target->cluster.tls_server_name, "");  // Entries are not mixed.
  EXPECT_EQ(target->user.token, "first");
}

struct BadCase {
  std::string_view text;
  std::string_view context;
  std::string_view expected;
};

TEST(Kubeconfig, TellsWhatIsWrongWithWhatIsUsed) {
  const std::vector<BadCase> cases = {
      {"kind: Pod", "", "kind \"Pod\""},
      {"[]", "", "expected a mapping"},
      {"a: b\n---\nc: d", "", "expected one document, found 2"},
      {"clusters: 7", "", "clusters: expected a list"},
      {"clusters: [{name: a}]", "", "expected an entry with name and cluster"},
      {two_clusters, "nope", "--context \"nope\": there is no context of this name"},
      {two_clusters, "lost", "cluster \"gone\": there is no cluster of this name"},
      {two_clusters, "stranger", "user \"gone\": there is no user of this name"},
      {"contexts: []", "", "current-context: no context is the current one"},
  };
  for (const BadCase& each : cases) {
    auto config = parse_kubeconfig(each.text, "k");
    Problems problems;
    if (!config) {
      problems = config.error();
    } else {
      const auto target = choose_target(*config, each.context);
      ASSERT_FALSE(target.has_value()) << each.text;
      problems = target.error();
    }
    EXPECT_TRUE(to_text(problems.front()).contains(each.expected))
        << to_text(problems.front()) << "\nexpected: " << each.expected;
  }
}

TEST(Kubeconfig, TellsWhatIsWrongWithAnEntryWhenItIsUsed) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"{server: gopher://x}", "server \"gopher://x\""},
      {"{server: 'https://'}", "server"},
      {"{server: 'https://a b'}", "server"},
      {"{server: 'https://user:secret@host'}", "server \"@host\": there is a user"},
      {"{server: 'https://a:99999'}", "server \"https://a:99999\": '99999' is no port"},
      {"{server: 'https://a:0/prefix'}", "'0' is no port"},
      {"{server: 'https://a:64x'}", "'64x' is no port"},
      {"{server: 'https://[::1]:'}", "'' is no port"},
      {"{server: 'https://fe80::1'}", "an IPv6 address stands in brackets"},
      {"{server: 7}", "server: expected a string"},
      {"{server: 'https://a', proxy-url: 'ftp://x'}", "proxy-url"},
      {"{server: 'https://a', certificate-authority-data: '!'}", "expected base64"},
      {"{server: 'https://a', insecure-skip-tls-verify: maybe}", "expected true or false"},
  };
  for (const auto& [entry, expected] : cases) {
    const std::string text =
        "current-context: c\ncontexts: [{name: c, context: {cluster: a}}]\n"
        "clusters: [{name: a, cluster: " +
        std::string(entry) + "}]\n";
    const auto target = choose_target(parsed(text), "");
    ASSERT_FALSE(target.has_value()) << entry;
    EXPECT_TRUE(to_text(target.error().front()).contains(expected))
        << to_text(target.error().front());
  }
}

TEST(Kubeconfig, AnUnusedUserDoesNoHarm) {
  const std::string text =
      "current-context: c\ncontexts: [{name: c, context: {cluster: a, user: good}},"
      " {name: d, context: {cluster: a, user: bad}}]\n"
      "clusters: [{name: a, cluster: {server: 'https://a'}}]\n"
      "users: [{name: bad, user: {auth-provider: {name: gcp}}}, {name: good, user: {token: t}}]\n";
  EXPECT_TRUE(choose_target(parsed(text), "c").has_value());
  const auto bad = choose_target(parsed(text), "d");
  ASSERT_FALSE(bad.has_value());
  EXPECT_TRUE(to_text(bad.error().front()).contains("auth-provider"));
}

TEST(Kubeconfig, RefusesUsersThatCannotBeHonoured) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"{client-certificate: a}", "client-key"},
      {"{client-key: a}", "client-certificate"},
      {"{token: \"a\\nb\"}", "expected one line"},
      {"{as: u, as-groups: [\"a\\r\\nX: y\"]}", "as-groups"},
      {"{exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}}", "apiVersion"},
      {"{exec: {apiVersion: client.authentication.k8s.io/v1}}", "exec.command"},
      {"{exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Always}}",
       "interactiveMode"},
      {"{exec: {apiVersion: client.authentication.k8s.io/v1, command: x, env: [{name: 'a=b'}]}}",
       "exec.env.name"},
  };
  for (const auto& [entry, expected] : cases) {
    const std::string text =
        "current-context: c\ncontexts: [{name: c, context: {cluster: a, user: u}}]\n"
        "clusters: [{name: a, cluster: {server: 'https://a'}}]\nusers: [{name: u, user: " +
        std::string(entry) + "}]\n";
    const auto target = choose_target(parsed(text), "");
    ASSERT_FALSE(target.has_value()) << entry;
    EXPECT_TRUE(to_text(target.error().front()).contains(expected))
        << to_text(target.error().front());
  }
}

class KubeconfigFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() /
             ("makeway-kubeconfig-" +
              std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) +
              std::to_string(::getpid()));
    std::filesystem::create_directories(folder / ".kube");
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  }
  static std::string config(std::string_view server) {
    return "current-context: c\ncontexts: [{name: c, context: {cluster: a}}]\n"
           "clusters: [{name: a, cluster: {server: '" +
           std::string(server) + "'}}]\n";
  }
  std::filesystem::path folder;
};

TEST_F(KubeconfigFiles, AreFoundAsKubectlFindsThem) {
  KubeEnvironment environment;
  environment.home = folder.string();
  EXPECT_FALSE(find_target({}, environment).has_value());
  environment.service_host = "10.0.0.1";
  environment.service_port = "443";
  EXPECT_EQ(find_target({}, environment)->cluster.server, "https://10.0.0.1:443");
  EXPECT_FALSE(find_target({.context = "c"}, environment).has_value());
  write(".kube/config", config("https://home"));
  EXPECT_EQ(find_target({}, environment)->cluster.server, "https://home");
  const std::string listed = write("listed", config("https://listed"));
  environment.kubeconfig = "/there/is/none:" + listed;
  EXPECT_EQ(find_target({}, environment)->cluster.server, "https://listed");
  const std::string named = write("named", config("https://named"));
  EXPECT_EQ(find_target({.kubeconfig = named}, environment)->cluster.server, "https://named");
  const auto missing = find_target({.kubeconfig = "/there/is/none"}, environment);
  EXPECT_FALSE(missing.has_value());
  environment.kubeconfig = "/there/is/none";
  environment.service_host.clear();
  EXPECT_TRUE(to_text(find_target({}, environment).error().front())
                  .contains("KUBECONFIG \"/there/is/none\": none of these files exists"));
}

TEST(InCluster, UsesTheServiceAccount) {
  KubeEnvironment environment;
  environment.service_host = "fd00::1";
  const KubeTarget target = in_cluster_target(environment);
  EXPECT_EQ(target.cluster.server, "https://[fd00::1]:443");
  EXPECT_TRUE(target.user.token_file.ends_with("serviceaccount/token"));
}

}  // namespace
}  // namespace makeway::kube
