#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/embedded/embedded_run.hpp"
#include "cli/run.hpp"
#include "support/temporary_folder.hpp"

namespace makeway::cli {
namespace {

/// What `makeway run WORDS` serves: "embedded", "live", or what is wrong.
std::string served_by(std::vector<std::string> words, const kube::KubeEnvironment& environment) {
  words.insert(words.begin(), "run");
  const auto invocation = parse(words);
  if (!invocation) return invocation.error().message;
  const auto embedded = wants_embedded(invocation->arguments, environment);
  if (!embedded) return embedded.error().message;
  return *embedded ? "embedded" : "live";
}

TEST(WantsEmbedded, OnlyWhereThereIsNoClusterAtAll) {
  EXPECT_EQ(served_by({}, {}), "embedded");
  EXPECT_EQ(served_by({}, {.kubeconfig = "/not/there"}), "live");
  EXPECT_EQ(served_by({}, {.service_host = "10.0.0.1"}), "live");
  EXPECT_EQ(served_by({}, {.is_plugin = true}), "live");
  const TemporaryFolder home;
  EXPECT_EQ(served_by({}, {.home = home.path().string()}), "embedded");
  std::filesystem::create_directories(home.path() / ".kube" / "config");
  EXPECT_EQ(served_by({}, {.home = home.path().string()}), "live");
}

TEST(WantsEmbedded, AFlagSaysIt) {
  const kube::KubeEnvironment cluster{.kubeconfig = "/some/file"};
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--embedded"}, {"--generate", "nodes=3"}, {"--seed", "1"}, {"--speed", "1"}}) {
    EXPECT_EQ(served_by(words, cluster), "embedded") << words.front();
  }
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--kubeconfig", "x"},
                                             {"--context", "x"},
                                             {"--shadow", "x"},
                                             {"--count", "1"},
                                             {"--dry-run"},
                                             {"--lease", "a/b"},
                                             {"--scheduler-name", "x"}}) {
    EXPECT_EQ(served_by(words, {}), "live") << words.front();
  }
}

TEST(WantsEmbedded, NeverBoth) {
  EXPECT_EQ(served_by({"--embedded", "--kubeconfig", "x"}, {}),
            "--embedded is for the embedded cluster and --kubeconfig for a live one; leave one of "
            "them out");
  EXPECT_EQ(served_by({"--seed", "1", "--dry-run"}, {}),
            "--seed is for the embedded cluster and --dry-run for a live one; leave one of them "
            "out");
}

/// Before, a run whose kubeconfig was forgotten recorded a made-up cluster, and did not say so.
TEST(WantsEmbedded, PrintsANoticeIfNotRequested) {
  const auto notice = [](std::vector<std::string> words) {
    words.insert(words.begin(), "run");
    return embedded_notice(parse(words)->arguments);
  };
  EXPECT_EQ(notice({"--embedded", "--journal", "x"}), "");
  EXPECT_EQ(notice({"--seed", "1"}), "");
  EXPECT_EQ(notice({}),
            "no Kubernetes cluster was found (KUBECONFIG is not set, there is no ~/.kube/config, "
            "and this is no pod), so a made-up one is scheduled; name yours with --kubeconfig "
            "FILE, or say --embedded");
  EXPECT_NE(
      notice({"--journal", "run.journal"}).find("scheduled and recorded in run.journal; name"),
      std::string::npos);
}

TEST(EmbeddedLoad, WhatIsNotSaidIsAsUsual) {
  const auto usual = embedded_load("");
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->nodes, 8);
  EXPECT_EQ(usual->gpus, 8);
  EXPECT_EQ(usual->pods, 20'000);
  const auto large = embedded_load("nodes=300,gpus=0");
  ASSERT_TRUE(large);
  EXPECT_EQ(large->nodes, 300);
  EXPECT_EQ(large->gpus, 0);
  EXPECT_EQ(large->load, 400);
  EXPECT_EQ(large->pods, 100'000);
  EXPECT_EQ(embedded_load("pods=5")->pods, 5);
  EXPECT_FALSE(embedded_load("nodes=many"));
}

}  // namespace
}  // namespace makeway::cli
