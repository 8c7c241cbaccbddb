#include "cli/session_command.hpp"

#include <fmt/format.h>

#include "base/check.hpp"
#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/plan/ask_name.hpp"
#include "codec/dump.hpp"
#include "model/session_lifecycle.hpp"

namespace makeway::cli {
namespace {

ExitStatus refuse(const AskName& name, std::string_view message, Terminal& terminal) {
  terminal.error.write(fmt::format("error: Session {}/{}: {}\n", shorten(name.namespace_name),
                                   shorten(name.name), printable(message)));
  return ExitStatus::failed;
}

}  // namespace

ExitStatus run_session_resume(const Arguments& arguments, Terminal& terminal) {
  const Result<WrittenAsk> written = parse_ask(arguments.operands().front(), AskKind::session);
  if (!written) {
    terminal.error.write(fmt::format("makeway: {}\n{}\n", written.error().message,
                                     help_line(find_command("session resume"))));
    return ExitStatus::usage;
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
