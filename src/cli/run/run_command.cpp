#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/embedded/embedded_run.hpp"
#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/problem_text.hpp"
#include "cli/run/run_request.hpp"
#include "cli/run/scheduler_run.hpp"
#include "cli/run/shadow_run.hpp"
#include "cli/simulate/simulate_run.hpp"
#include "kube/live_settings.hpp"
#include "model/profiles.hpp"

namespace makeway::cli {
namespace {

/// None: the status says how it ended.
std::optional<ConfigurationDocument> read_rules(const Arguments& arguments, bool is_shadow,
                                                Terminal& terminal, ExitStatus& status) {
  const ConfigurationChoice choice{.preset = arguments.text("preset"),
                                   .file = arguments.given("config"),
                                   .overrides = arguments.all("set"),
                                   .live_trust = true};
  ChosenConfiguration chosen = choose_configuration(choice);
  if (!chosen.usage.empty()) {
    status = usage_error("run", chosen.usage, terminal);
    return std::nullopt;
  }
  terminal.error.write(problem_lines(chosen.problems, palette_for_error(terminal)));
  status = ExitStatus::failed;
  if (!chosen.document) return std::nullopt;
  const Configuration& configuration = chosen.document->configuration;
  if (const std::string waived = waived_too_much(configuration); !is_shadow && !waived.empty()) {
    terminal.error.write(fmt::format("error: {}\n", waived));
    return std::nullopt;
  }
  name_configuration(*chosen.document, choice);
  // A shadow decides each ask once, and would never retry one that has to wait first.
  if (!is_shadow) {
    chosen.document->configuration = kube::live_rules(std::move(chosen.document->configuration));
  }
  return std::move(chosen.document);
}

/// Null: it cannot be opened, and the error was printed.
std::unique_ptr<Journal> open_journal(JournalOptions options, Terminal& terminal) {
  auto begun = Journal::open(std::move(options));
  if (!begun) {
    terminal.error.write(fmt::format("error: {}\n", printable(begun.error().message)));
    return nullptr;
  }
  if (const std::string& notice = (*begun)->file().notice(); !notice.empty()) {
    terminal.error.write(fmt::format("warning: {}\n", printable(notice)));
  }
  return *std::move(begun);
}

/// Fewer than requested: one could not be opened, and that was printed.
std::vector<PlaneParts> open_planes(const RunRequest& request, const kube::KubeTarget& home,
                                    Terminal& terminal) {
  std::vector<PlaneParts> planes;
  GivenServers servers;
  servers.note_home(home);
  for (const LivePlane& plane : request.planes) {
    OpenedCluster opened = open_cluster(plane.target, terminal.kube);
    if (opened.connection != nullptr) {
      if (auto twice = servers.note(plane.name, opened.connection->target())) {
        opened.problems.push_back(*std::move(twice));
      }
    }
    terminal.error.write(problem_lines(opened.problems, palette_for_error(terminal)));
    if (opened.connection == nullptr || has_errors(opened.problems)) return planes;
    planes.push_back({.name = plane.name, .connection = std::move(opened.connection)});
  }
  return planes;
}

}  // namespace

ExitStatus run_run(const Arguments& arguments, Terminal& terminal) {
  const Result<bool> embedded = wants_embedded(arguments, terminal.kube);
  if (!embedded) return usage_error("run", embedded.error().message, terminal);
  if (*embedded) {
    if (const std::string notice = embedded_notice(arguments); !notice.empty()) {
      terminal.error.write(fmt::format("warning: {}\n", notice));
    }
    return run_embedded(arguments, terminal);
  }
  Result<RunRequest> request = read_run_request(arguments);
  if (!request) return usage_error("run", request.error().message, terminal);
  const bool is_shadow = !request->shadow.empty();
  ExitStatus status = ExitStatus::done;
  const auto document = read_rules(arguments, is_shadow, terminal, status);
  if (!document) return status;
  request->schedulers = served_schedulers(std::move(request->schedulers), document->configuration);
  std::optional<JournalOptions> journal_request;
  if (arguments.has("journal")) {
    Result<JournalOptions> options = journal_options(arguments);
    if (!options) return usage_error("run", options.error().message, terminal);
    journal_request = *std::move(options);
  }
  OpenedCluster opened = open_cluster(request->target, terminal.kube);
  const Palette palette = palette_for_error(terminal);
  terminal.error.write(problem_lines(opened.problems, palette));
  if (opened.connection == nullptr) return ExitStatus::failed;
  std::vector<PlaneParts> planes = open_planes(*request, opened.connection->target(), terminal);
  if (planes.size() < request->planes.size()) return ExitStatus::failed;
  const auto served = opened.connection->api().discover();
  if (!served) {
    terminal.error.write(problem_lines(Problems{served.error().problem}, palette));
    return ExitStatus::failed;
  }
  std::unique_ptr<Journal> journal;
  if (journal_request) {
    journal = open_journal(*std::move(journal_request), terminal);
    if (journal == nullptr) return ExitStatus::failed;
  }
  if (is_shadow) {
    kube::LiveFeed feed(std::move(opened.connection), *served,
                        kube::real_connection_tools().jitter_seed, {}, kube::FeedUse::to_compare);
    status = run_shadow(*request, *document, feed, journal.get(), terminal,
                        palette_for_out(terminal, arguments.text("color")));
  } else {
    status = run_scheduler({.request = *request,
                            .document = *document,
                            .connection = std::move(opened.connection),
                            .served = *served,
                            .journal = journal.get(),
                            .planes = std::move(planes)},
                           terminal);
  }
  const bool is_recorded = report_journal(journal.get(), terminal, "the run");
  return is_recorded || status != ExitStatus::done ? status : ExitStatus::failed;
}

}  // namespace makeway::cli
