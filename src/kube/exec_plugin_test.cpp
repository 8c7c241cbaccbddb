#include "kube/exec_plugin.hpp"

#include <gtest/gtest.h>

namespace makeway::kube {
namespace {

constexpr std::string_view version = "client.authentication.k8s.io/v1";

ProgramOrder shell(std::string script) {
  return {.command = "sh", .arguments = {"-c", std::move(script)}};
}

TEST(RunProgram, KeepsWhatItSays) {
  const ProgramResult result = run_program(shell("echo out; echo error >&2; exit 3"));
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.error, "error\n");
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.failure, "");
}

TEST(RunProgram, IsNoShell) {
  const ProgramOrder order{.command = "echo", .arguments = {"$HOME", "`id`", ";", "a b"}};
  EXPECT_EQ(run_program(order).out, "$HOME `id` ; a b\n");
}

TEST(RunProgram, GetsItsEnvironmentAndNoInput) {
  ProgramOrder order = shell("echo $MAKEWAY_TEST; cat");
  order.environment = {{"MAKEWAY_TEST", "one two"}};
  EXPECT_EQ(run_program(order).out, "one two\n");
}

TEST(RunProgram, EndsInTime) {
  ProgramOrder order = shell("echo early; sleep 60 & sleep 60");
  order.time_max = Duration{200};
  const ProgramResult result = run_program(order);
  EXPECT_EQ(result.failure, "it took longer than 200ms");
  EXPECT_EQ(result.status, -1);
}

TEST(RunProgram, EndsWhenItClosesItsOutputAndGoesOn) {
  ProgramOrder order = shell("exec >&- 2>&-; sleep 60");
  order.time_max = Duration{200};
  EXPECT_EQ(run_program(order).failure, "it took longer than 200ms");
}

TEST(RunProgram, IsBoundedInBytes) {
  ProgramOrder order = shell("yes");
  order.bytes_max = 10'000;
  const ProgramResult result = run_program(order);
  EXPECT_EQ(result.failure, "it prints more than 10000 bytes");
}

TEST(RunProgram, ThatIsNotThere) {
  const ProgramOrder order{.command = "there-is-no-such-program"};
  EXPECT_EQ(run_program(order).failure, "No such file or directory");
}

TEST(ExecCredential, IsRead) {
  const auto read = parse_exec_credential(
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",
          "status":{"token":"t","expirationTimestamp":"2026-01-01T00:00:00Z"}})",
      version);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->token, "t");
  EXPECT_EQ(to_text(*read->expires), "2026-01-01T00:00:00Z");
}

TEST(ExecCredential, IsRefusedWithoutTellingSecrets) {
  const std::string head =
      R"({"kind":"ExecCredential","apiVersion":")" + std::string(version) + "\"";
  const std::vector<std::string> texts = {
      "",
      "secret",
      "[]",
      R"({"kind":"Secret"})",
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"})",
      head + "}",
      head + R"(,"status":{}})",
      head + R"(,"status":{"clientCertificateData":"secret"}})",
      head + R"(,"status":{"token":"secret\nX: y"}})",
      head + R"(,"status":{"token":"secret","expirationTimestamp":"soon"}})",
  };
  for (const std::string& text : texts) {
    const auto read = parse_exec_credential(text, version);
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_FALSE(to_text(read.error()).contains("secret")) << to_text(read.error());
  }
}

ExecPlugin plugin(std::string script) {
  return {.api_version = std::string(version),
          .command = "sh",
          .arguments = {"-c", std::move(script)},
          .install_hint = "install it",
          .wants_cluster = true};
}

TEST(ExecPlugin, ReceivesTheCluster) {
  // Prints its input as its token.
  const ExecPlugin program = plugin(
      R"sh(printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)sh"
      R"sh("status":{"token":"%s"}}' "$(printf %s "$KUBERNETES_EXEC_INFO" | tr -d '\"\n')")sh");
  const auto read = run_exec_plugin(program, {.server = "https://s"}, "PEM");
  ASSERT_TRUE(read.has_value()) << to_text(read.error());
  EXPECT_TRUE(
      read->token.contains("spec:{cluster:{server:https://s,"
                           "certificate-authority-data:UEVN},interactive:false}"))
      << read->token;
}

TEST(ExecPlugin, TellsWhyItFailed) {
  const auto read = run_exec_plugin(plugin("echo no login >&2; exit 1"), {}, "");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(to_text(read.error()),
            "exec.command \"sh\": the program failed: exit status 1; it says: no login; "
            "install it");
}

}  // namespace
}  // namespace makeway::kube
