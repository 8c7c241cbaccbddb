#include <fmt/format.h>

#include <optional>
#include <variant>

#include "base/check.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/plan/ask_name.hpp"
#include "cli/problem_text.hpp"
#include "cli/terminal.hpp"
#include "codec/change_collector.hpp"
#include "codec/dump.hpp"
#include "codec/session_status.hpp"
#include "kube/write_calls.hpp"
#include "model/session_lifecycle.hpp"

namespace makeway::cli {
namespace {

ExitStatus refuse(const AskName& name, std::string_view message, Terminal& terminal) {
  terminal.error.write(fmt::format("error: Session {}/{}: {}\n", shorten(name.namespace_name),
                                   shorten(name.name), printable(message)));
  return ExitStatus::failed;
}

// ---- A live cluster -----------------------------------------------------------------------------

struct SeenSession {
  Session session;
  ObjectState state;
};

/// None: the problem was printed.
std::optional<SeenSession> read_session(const AskName& name, kube::ApiClient& api,
                                        Terminal& terminal) {
  const std::string path = kube::own_path(ObjectKind::session, name.namespace_name, name.name);
  const kube::Asked asked{.request = fmt::format("GET {}{}", api.http().settings().server, path),
                          .verb = "get",
                          .api_group = std::string(own_api_group),
                          .resource = "sessions"};
  const kube::ApiResult<kube::HttpAnswer> answer = api.get(path, asked);
  if (!answer) {
    if (answer.error().failure == kube::Failure::not_found) {
      refuse(name, "there is no such session in the cluster; `kubectl get sessions -A` lists them",
             terminal);
      return std::nullopt;
    }
    print_problems({answer.error().problem}, terminal);
    return std::nullopt;
  }
  ChangeCollector read;
  DecodeReport report;
  ObjectDecoder decoder;
  decoder.decode(answer->body.view(), {.source = "live: sessions"}, read, report,
                 {.plane = {}, .keep_going = true, .planes_of_dumps = false});
  std::vector<ObjectState> states = read_object_states(answer->body.view());
  Session* const found =
      read.changes().empty() ? nullptr : std::get_if<Session>(&read.changes().back());
  if (found == nullptr || states.empty()) {
    print_problems(report.problems, terminal);
    refuse(name, "it cannot be read", terminal);
    return std::nullopt;
  }
  states.front().kind = ObjectKind::session;
  return SeenSession{.session = std::move(*found), .state = std::move(states.front())};
}

/// Writes the status with the version that was read: a change made meanwhile wins.
ExitStatus write_session(const AskName& name, const Session& session, const ObjectState& state,
                         kube::ApiClient& api, Terminal& terminal) {
  constexpr int ok = 200;
  constexpr int conflict = 409;
  const kube::WriteCall call = kube::patch_own_call({}, state, session_status_patch(session));
  const kube::Asked asked{
      .request = fmt::format("PATCH {}{}", api.http().settings().server, call.path),
      .verb = "patch",
      .api_group = std::string(own_api_group),
      .resource = call.own_resource};
  auto request = api.request_for(call.path, asked);
  if (!request) return refuse(name, request.error().problem.message, terminal);
  request->write = call.write;
  const kube::ApiResult<kube::HttpAnswer> answer = api.http().send(std::move(*request));
  if (!answer) {
    return refuse(name,
                  fmt::format("whether it was written is not known: {}; look at it with `kubectl "
                              "get session {} -n {}`",
                              answer.error().problem.message, name.name, name.namespace_name),
                  terminal);
  }
  if (answer->status == conflict) {
    return refuse(name, "it has just been changed; nothing was written, try again", terminal);
  }
  if (answer->status != ok) {
    const kube::ApiError error = kube::refusal(asked, answer->status, answer->body.view(), {});
    print_problems({error.problem}, terminal);
    return ExitStatus::failed;
  }
  terminal.out.write(
      fmt::format("Session {}/{} is pending again.\n", name.namespace_name, name.name));
  return ExitStatus::done;
}

ExitStatus resume_live(const AskName& name, const Arguments& arguments, Terminal& terminal) {
  const kube::TargetRequest target{.kubeconfig = std::string(arguments.text("kubeconfig")),
                                   .context = std::string(arguments.text("context"))};
  OpenedCluster opened = open_cluster(target, terminal.kube);
  print_problems(opened.problems, terminal);
  if (opened.connection == nullptr) return ExitStatus::failed;
  const std::optional<SeenSession> seen = read_session(name, opened.connection->api(), terminal);
  if (!seen) return ExitStatus::failed;
  const Result<Session> resumed = resume_session(seen->session);
  if (!resumed) return refuse(name, resumed.error().message, terminal);
  return write_session(name, *resumed, seen->state, opened.connection->api(), terminal);
}

}  // namespace

ExitStatus run_session_resume(const Arguments& arguments, Terminal& terminal) {
  const Result<WrittenAsk> written = parse_ask(arguments.operands().front(), AskKind::session);
  if (!written) return usage_error("session resume", written.error().message, terminal);
  for (const std::string_view flag : {"kubeconfig", "context"}) {
    if (arguments.given(flag) == "") {
      return usage_error("session resume", fmt::format("--{} '': it is empty", flag), terminal);
    }
  }
  const kube::KubeEnvironment& environment = terminal.kube;
  const bool is_requested = arguments.has("kubeconfig") || arguments.has("context");
  const bool is_known =
      !environment.kubeconfig.empty() || environment.is_in_cluster() || environment.is_plugin;
  const bool has_files = !arguments.all("file").empty();
  if (has_files && is_requested) {
    return usage_error("session resume",
                       "name files with -f or a live cluster with --kubeconfig, not both",
                       terminal);
  }
  if (!has_files && (is_requested || is_known)) {
    AskName live{
        .kind = AskKind::session, .namespace_name = written->namespace_name, .name = written->name};
    if (live.namespace_name.empty()) live.namespace_name = "default";
    return resume_live(live, arguments, terminal);
  }
  if (!has_files) {
    return usage_error(
        "session resume",
        "there is no session; name files with -f, or a live cluster with --kubeconfig", terminal);
  }
  const auto sources = sources_of(arguments.all("file"), {});
  CHECK(sources.has_value(), "only planes can be written wrongly");
  std::optional<Loaded> loaded = load_or_report({.sources = *sources, .live = {}}, terminal);
  if (!loaded) return ExitStatus::failed;
  const AskName name = resolve_ask(*written, loaded->cluster);
  const auto& sessions = loaded->cluster.own<Session>();
  const auto found = sessions.find({name.namespace_name, name.name});
  if (found == sessions.end()) {
    return refuse(name,
                  fmt::format("there is no such session in the input; {}",
                              near_misses(name, loaded->cluster, newest_time(loaded->cluster))),
                  terminal);
  }
  const Result<Session> session = resume_session(found->second);
  if (!session) return refuse(name, session.error().message, terminal);
  loaded->cluster.apply(*session);
  const bool json = arguments.text("output") == "json";
  terminal.out.write(dump(loaded->cluster, json ? DumpFormat::json : DumpFormat::yaml));
  return ExitStatus::done;
}

}  // namespace makeway::cli
