#include "kube/exec_plugin.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX's
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>

#include "base/base64.hpp"
#include "codec/descriptor.hpp"
#include "codec/json_text.hpp"
#include "codec/writer.hpp"

namespace makeway::kube {

namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr std::size_t error_bytes_max = 4U << 10U;

struct Pipe {
  Descriptor read;
  Descriptor write;
};

std::optional<Pipe> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{.read = Descriptor(ends[0]), .write = Descriptor(ends[1])};
}

/// Texts as C wants them: pointers with a null behind.
class TextList {
 public:
  void add(std::string text) { texts_.push_back(std::move(text)); }
  char** pointers() {
    pointers_.clear();
    pointers_.reserve(texts_.size() + 1);
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
    return pointers_.data();
  }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

TextList environment_with(const std::vector<std::pair<std::string, std::string>>& more) {
  TextList list;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry(*each);
    const std::string_view name = entry.substr(0, entry.find('='));
    const bool replaced =
        std::ranges::any_of(more, [&](const auto& pair) { return pair.first == name; });
    if (!replaced) list.add(std::string(entry));
  }
  for (const auto& [name, value] : more) list.add(fmt::format("{}={}", name, value));
  return list;
}

/// 0: it runs, as `pid`; else errno.
int spawn(const ProgramOrder& order, const Pipe& out, const Pipe& error, pid_t& pid) {
  TextList arguments;
  arguments.add(order.command);
  for (const std::string& argument : order.arguments) arguments.add(argument);
  TextList environment = environment_with(order.environment);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
  if (posix_spawnattr_init(&attributes) != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return ENOMEM;
  }
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write.number(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, error.write.number(), STDERR_FILENO);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int failed = posix_spawnp(&pid, order.command.c_str(), &actions, &attributes,
                                  arguments.pointers(), environment.pointers());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

/// Reads what is there; false: it ended.
bool read_some(const Descriptor& from, std::string& text, std::size_t bytes_max) {
  std::array<char, 4'096> buffer{};
  const ssize_t size = ::read(from.number(), buffer.data(), buffer.size());
  if (size < 0 && errno == EINTR) return true;
  if (size <= 0) return false;
  const std::size_t room = bytes_max - std::min(text.size(), bytes_max);
  text.append(buffer.data(), std::min(static_cast<std::size_t>(size), room));
  return true;
}

int milliseconds_until(SteadyClock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

/// Until both ends are closed; why it was given up, or nothing.
std::string listen(const ProgramOrder& order, Pipe& out, Pipe& error,
                   SteadyClock::time_point deadline, ProgramResult& result) {
  while (out.read.is_open() || error.read.is_open()) {
    std::array<pollfd, 2> ends = {
        pollfd{.fd = out.read.number(), .events = POLLIN, .revents = 0},
        pollfd{.fd = error.read.number(), .events = POLLIN, .revents = 0}};
    const int ready = ::poll(ends.data(), ends.size(), milliseconds_until(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return fmt::format("it took longer than {}", to_text(order.time_max));
    // One byte more than allowed shows that there is more.
    if (ends[0].revents != 0 && !read_some(out.read, result.out, order.bytes_max + 1)) {
      out.read.close();
    }
    if (ends[1].revents != 0 && !read_some(error.read, result.error, error_bytes_max)) {
      error.read.close();
    }
    if (result.out.size() > order.bytes_max) {
      return fmt::format("it prints more than {} bytes", order.bytes_max);
    }
  }
  return {};
}

/// The exit status; none: the deadline has passed.
std::optional<int> wait_for(pid_t pid, SteadyClock::time_point deadline) {
  constexpr std::chrono::milliseconds step{2};
  constexpr int by_signal = 128;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : by_signal;
    if (ended < 0 && errno != EINTR) return by_signal;
    if (SteadyClock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(step);
  }
}

}  // namespace

ProgramResult run_program(const ProgramOrder& order) {
  ProgramResult result;
  std::optional<Pipe> out = open_pipe();
  std::optional<Pipe> error = open_pipe();
  if (!out || !error) {
    result.failure = std::generic_category().message(errno);
    return result;
  }
  const SteadyClock::time_point deadline =
      SteadyClock::now() + std::chrono::milliseconds(order.time_max.ms);
  pid_t pid = 0;
  if (const int failed = spawn(order, *out, *error, pid); failed != 0) {
    result.failure = std::generic_category().message(failed);
    return result;
  }
  out->write.close();
  error->write.close();
  result.failure = listen(order, *out, *error, deadline, result);
  std::optional<int> status;
  if (result.failure.empty()) {
    status = wait_for(pid, deadline);
    if (!status) result.failure = fmt::format("it took longer than {}", to_text(order.time_max));
  }
  if (!status) {
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return result;
  }
  result.status = *status;
  return result;
}

// ---- Plugins ------------------------------------------------------------------------------------

namespace {

void field_if(DocumentWriter& writer, std::string_view name, std::string_view value) {
  if (!value.empty()) writer.string_field(name, value);
}

Problem wrong(std::string field, std::string message) {
  return {.field = std::move(field),
          .message = std::move(message),
          .remedy = "run the program by hand, with KUBERNETES_EXEC_INFO set, and look"};
}

}  // namespace

std::string exec_info(const ExecPlugin& plugin, const KubeCluster& cluster,
                      std::string_view authorities) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  writer.string_field("apiVersion", plugin.api_version);
  writer.string_field("kind", "ExecCredential");
  writer.key("spec");
  writer.begin_object();
  if (plugin.wants_cluster) {
    writer.key("cluster");
    writer.begin_object();
    writer.string_field("server", cluster.server);
    field_if(writer, "tls-server-name", cluster.tls_server_name);
    if (cluster.skips_verification) writer.boolean_field("insecure-skip-tls-verify", true);
    field_if(writer, "certificate-authority-data", encode_base64(authorities));
    field_if(writer, "proxy-url", cluster.proxy_url);
    writer.end_object();
  }
  writer.boolean_field("interactive", false);
  writer.end_object();
  writer.end_object();
  return text;
}

std::expected<ExecCredential, Problem> parse_exec_credential(std::string_view text,
                                                             std::string_view api_version) {
  const auto tree = parse_json_value(text);
  if (!tree) return std::unexpected(wrong({}, "what it prints is no JSON"));
  if (text_in(*tree, "kind") != "ExecCredential") {
    return std::unexpected(wrong("kind", "expected an ExecCredential"));
  }
  if (text_in(*tree, "apiVersion") != api_version) {
    return std::unexpected(wrong("apiVersion", fmt::format("expected {}", api_version)));
  }
  const JsonValue* const status = tree->find("status");
  if (status == nullptr || status->as_object() == nullptr) {
    return std::unexpected(wrong("status", "it is missing"));
  }
  ExecCredential credential{.token = text_in(*status, "token"),
                            .certificate = text_in(*status, "clientCertificateData"),
                            .key = text_in(*status, "clientKeyData")};
  if (has_controls(credential.token))
    return std::unexpected(wrong("status.token", "expected one line"));
  if (credential.certificate.empty() != credential.key.empty()) {
    return std::unexpected(
        wrong("status.clientKeyData", "a certificate and its key come together"));
  }
  if (credential.token.empty() && credential.certificate.empty()) {
    return std::unexpected(wrong("status", "there is neither a token nor a certificate"));
  }
  const std::string expires = text_in(*status, "expirationTimestamp");
  if (expires.empty()) return credential;
  const Result<Time> time = parse_time(expires);
  if (!time) return std::unexpected(wrong("status.expirationTimestamp", time.error().message));
  credential.expires = *time;
  return credential;
}

std::expected<ExecCredential, Problem> run_exec_plugin(const ExecPlugin& plugin,
                                                       const KubeCluster& cluster,
                                                       std::string_view authorities) {
  ProgramOrder order{
      .command = plugin.command, .arguments = plugin.arguments, .environment = plugin.environment};
  order.environment.emplace_back("KUBERNETES_EXEC_INFO", exec_info(plugin, cluster, authorities));
  const ProgramResult result = run_program(order);
  if (result.status != 0) {
    const std::string why =
        result.failure.empty() ? fmt::format("exit status {}", result.status) : result.failure;
    Problem problem = wrong("exec.command", fmt::format("the program failed: {}", why));
    problem.value = shorten(plugin.command, 120);
    const std::size_t end = result.error.find_last_not_of(" \r\n");
    if (end != std::string::npos) {
      problem.message +=
          fmt::format("; it says: {}", shorten(result.error.substr(0, end + 1), 300));
    }
    if (!plugin.install_hint.empty()) problem.remedy = shorten(plugin.install_hint, 300);
    return std::unexpected(std::move(problem));
  }
  auto credential = parse_exec_credential(result.out, plugin.api_version);
  if (credential) return credential;
  Problem problem = std::move(credential.error());
  problem.field = problem.field.empty() ? "exec" : fmt::format("exec: {}", problem.field);
  problem.value = shorten(plugin.command, 120);
  return std::unexpected(std::move(problem));
}

}  // namespace makeway::kube
