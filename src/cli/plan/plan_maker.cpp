#include "cli/plan/plan_maker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <set>
#include <system_error>
#include <utility>

#include "cli/help.hpp"
#include "cli/problem_text.hpp"
#include "codec/descriptor.hpp"
#include "codec/dump.hpp"
#include "codec/plan_codec.hpp"
#include "codec/writer.hpp"
#include "model/validation/doubts.hpp"
#include "model/validation/regimes.hpp"
#include "model/validation/validation.hpp"
#include "policies/decide.hpp"

namespace makeway::cli {
namespace {

/// Whether the whole text was written; else errno says why not.
bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// Whether an ordinary file, not a link to one, has exactly this text.
bool has_text(const std::string& name, std::string_view text) {
  const Descriptor file(::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) return false;
  struct stat status{};
  bool same = ::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode) &&
              static_cast<std::size_t>(status.st_size) == text.size();
  std::array<char, 1U << 14U> buffer{};
  while (same && !text.empty()) {
    const ssize_t count = ::read(file.number(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    same = count > 0 &&
           text.starts_with(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
    if (same) text.remove_prefix(static_cast<std::size_t>(count));
  }
  return same;
}

/// Writes a file that was not there; returns why that was impossible, 0 when it was not.
int write_new(const std::string& name, std::string_view text) {
  constexpr mode_t only_owner = S_IRUSR | S_IWUSR;
  const int descriptor =
      ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, only_owner);
  if (descriptor < 0) return errno;
  int failure = write_all(descriptor, text) ? 0 : errno;
  if (::close(descriptor) != 0 && failure == 0) failure = errno;
  if (failure != 0) ::unlink(name.c_str());  // Half a case reproduces nothing.
  return failure;
}

}  // namespace

BugFiles::Kept BugFiles::keep(std::string_view id, std::string_view text) {
  constexpr int names_max = 10;
  if (is_full()) return {};
  int failure = EEXIST;
  for (int number = 1; number <= names_max && failure == EEXIST; ++number) {
    const std::string name = number == 1 ? fmt::format("makeway-bug-{}.json", id)
                                         : fmt::format("makeway-bug-{}-{}.json", id, number);
    failure = write_new(name, text);
    if (failure == 0 || (failure == EEXIST && has_text(name, text))) {
      ++files_;
      return {.name = name, .failure = {}};
    }
  }
  return {.name = {}, .failure = std::generic_category().message(failure)};
}

namespace {

constexpr std::size_t fault_shown_max = 1'000;

std::string case_id(const LawfulPlan& made) {
  if (!made.refused.empty()) return made.refused.front().id;
  return made.plan ? made.plan->id : std::string();
}

/// What is reported, each ask and law once.
struct Fault {
  int law = 0;  ///< 0: a CHECK.
  std::string ask;
  std::string text;
};

std::vector<Fault> faults_of(const LawfulPlan& made) {
  std::vector<Fault> faults;
  std::set<std::pair<int, std::string>> known;
  const auto add = [&](int law, const std::string& ask, const std::string& text) {
    if (known.emplace(law, ask).second) faults.push_back({.law = law, .ask = ask, .text = text});
  };
  for (const RefusedPlan& refused : made.refused) {
    for (const LawBreach& breach : refused.breaches) add(breach.law, breach.ask, breach.text);
  }
  if (!made.plan) return faults;
  for (const PlanLeftOut& left : made.plan->left_out) {
    if (left.law != 0) continue;
    const AskName name{.kind = left.kind, .namespace_name = left.namespace_name, .name = left.name};
    add(0, ask_text(name), left.reason);
  }
  if (faults.empty()) add(0, "", made.plan->withheld);
  return faults;
}

void write_request(DocumentWriter& writer, const PlanRequest& request) {
  if (request.asks.size() == 1) {
    const AskName& ask = request.asks.front();
    writer.string_field("ask", fmt::format("{}/{}", ask.namespace_name, ask.name));
    writer.string_field("askKind", choice_name(ask.kind));
  } else if (!request.asks.empty()) {
    std::vector<std::string> names;
    names.reserve(request.asks.size());
    for (const AskName& ask : request.asks) {
      names.push_back(fmt::format("{}/{}/{}", choice_name(ask.kind), ask.namespace_name, ask.name));
    }
    writer.strings_field("asks", names);
  }
  writer.string_field("now", to_text(request.now));
  if (request.placements.empty()) return;
  write_list(writer, "placements", request.placements, write_placement);
}

void write_faults(DocumentWriter& writer, const std::vector<Fault>& faults) {
  write_list(writer, "breaches", faults, [&](const Fault& fault) {
    if (fault.law > 0) writer.integer_field("law", fault.law);
    if (fault.law == 0) writer.boolean_field("check", true);
    writer.string_field("ask", fault.ask);
    writer.string_field("text", fault.text);
  });
}

std::string_view what_follows(const LawfulPlan& made) {
  if (!made.plan) return "its plan breaks a law, so it is not shown";
  if (!made.plan->withheld.empty()) return "no plan keeps the laws, so it is empty";
  return "the asks it concerns are left out of the plan, which lists them";
}

}  // namespace

std::string reproducer_text(const BugCase& bug) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  writer.string_field("id", case_id(bug.made));
  write_request(writer, bug.request);
  writer.string_field("version", version_line());
  write_faults(writer, faults_of(bug.made));
  writer.key("configuration");
  // The marks that did not count are off the objects already.
  ConfigurationDocument configuration = bug.configuration;
  configuration.configuration.trust = {};
  write_configuration(writer, configuration);
  writer.key("snapshot");
  write_cluster(writer, bug.cluster);
  writer.end_object();
  return text;
}

std::string report_bug(const BugCase& bug, BugFiles& files) {
  if (files.is_full()) return {};
  const BugFiles::Kept kept = files.keep(case_id(bug.made), reproducer_text(bug));
  std::string text =
      fmt::format("makeway: a bug in Makeway, not in your input: {}\n", what_follows(bug.made));
  for (const Fault& fault : faults_of(bug.made)) {
    const std::string rule = fault.law > 0 ? fmt::format("law {}", fault.law) : "check";
    text += fmt::format("  {}: {}{}{}\n", rule, shorten(fault.ask, fault_shown_max),
                        fault.ask.empty() ? "" : ": ", shorten(fault.text, fault_shown_max));
  }
  if (kept.name.empty()) {
    return text + fmt::format(
                      "The case could not be kept ({}); run it again where files can be written, "
                      "and add it with that file.\n",
                      kept.failure);
  }
  text += fmt::format(
      "The case is in {}: please add it with that file. It holds what scheduling reads of your "
      "cluster, names and labels included.\n'makeway plan --batch {}' shows it again.\n",
      kept.name, kept.name);
  if (files.is_full()) {
    text += fmt::format("makeway: {} cases are kept; what follows is only counted\n",
                        BugFiles::files_max);
  }
  return text;
}

namespace {

std::int64_t steady_microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Says what else could have been meant where the unit is not there at all.
void add_near_misses(Problems& problems, const PlanRequest& request, const Cluster& cluster) {
  for (Problem& problem : problems) {
    const auto ask = std::ranges::find(request.asks, problem.object,
                                       [](const AskName& name) { return ask_text(name); });
    if (ask == request.asks.end() || is_there(*ask, cluster)) continue;
    problem.remedy = near_misses(*ask, cluster, request.now);
  }
}

PlanQuarantine plan_quarantine(const Quarantine& quarantine) {
  PlanQuarantine summary{.objects = static_cast<std::int64_t>(quarantine.objects()),
                         .problems = static_cast<std::int64_t>(quarantine.problems().count())};
  for (const Problem& problem : quarantine.problems()) {
    summary.first.push_back({.object = problem.object,
                             .field = problem.field,
                             .value = problem.value,
                             .message = problem.message,
                             .remedy = problem.remedy});
  }
  return summary;
}

}  // namespace

PlanTools real_tools() {
  return {.decide = decide,
          .check = check_plan,
          .identify = plan_identity,
          .microseconds = steady_microseconds,
          .contain = MAKEWAY_CONTAIN != 0};
}

std::string timing_line(const PlanTiming& timing) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  writer.integer_field("load", timing.load);
  writer.integer_field("snapshot", timing.snapshot);
  writer.integer_field("decide", timing.decide);
  writer.integer_field("check", timing.check);
  writer.integer_field("refused", timing.refused);
  writer.integer_field("leftOut", timing.left_out);
  if (timing.cases) writer.integer_field("cases", *timing.cases);
  writer.end_object();
  return text;
}

void name_configuration(ConfigurationDocument& document, const ConfigurationChoice& choice) {
  if (document.name.empty()) document.name = "custom";
  if (choice.live_trust) document.name += "-live";
  // What it was made from is no longer what it is.
  if (!choice.overrides.empty()) document.name += "-changed";
}

Problems plan_doubts(const Loaded& loaded, const Configuration& configuration) {
  Problems doubts = find_regime_problems(loaded.cluster, configuration);
  doubts.make_warnings();  // The first claim wins.
  doubts.append(find_doubts(loaded.cluster, configuration, loaded.quarantine));
  loaded.origins.locate(doubts, loaded.cluster);
  return doubts;
}

TrustReport honour_marks(Loaded& loaded, const Configuration& configuration,
                         std::optional<Time> now, bool live) {
  std::set<std::pair<std::string_view, std::string_view>> daemon_sets;
  for (const WorkloadPods& workload : loaded.workloads) {
    if (workload.kind == "DaemonSet") daemon_sets.emplace(workload.namespace_name, workload.name);
  }
  TrustReport report = apply_trust(
      loaded.cluster, configuration,
      {.has_daemon_set = [&](std::string_view space,
                             std::string_view name) { return daemon_sets.contains({space, name}); },
       .now = now});
  if (live && loaded.configuration) {
    report.add(TrustMark::configuration, "Configuration", "metadata.name",
               loaded.configuration->name);
  }
  return report;
}

void keep_going_beyond_caps(Loaded& loaded, const Configuration& configuration) {
  Quarantine capped;
  quarantine_caps(loaded.cluster, configuration, capped);
  loaded.origins.locate(capped.problems(), loaded.cluster);
  loaded.quarantine.append(std::move(capped));
}

TrustReport prepare_input(Loaded& loaded, const Configuration& configuration,
                          std::optional<Time> now, bool live, bool keeps_going,
                          Terminal& terminal) {
  TrustReport trust = honour_marks(loaded, configuration, now, live);
  Problems not_honoured = trust.problems();
  loaded.origins.locate(not_honoured, loaded.cluster);
  print_problems(not_honoured, terminal);
  if (keeps_going) keep_going_beyond_caps(loaded, configuration);
  terminal.error.write(
      quarantine_lines(loaded.quarantine, loaded.cluster, palette_for_error(terminal)));
  return trust;
}

PlanAttempt make_plan(const PlanCase& item, const PlanTools& tools, PlanTiming& timing,
                      BugFiles& bug_files) {
  PlanRequest request{.now = item.now ? *item.now : newest_time(item.cluster),
                      .preset = item.configuration.name,
                      .placements = item.placements,
                      .explain = item.explain};
  Result<std::vector<AskName>> asks = resolve_asks(item.asks, item.cluster, item.workloads);
  if (!asks) {
    return {.plan = {},
            .problems = {{.field = std::string(item.ask_field), .message = asks.error().message}}};
  }
  request.asks = std::move(*asks);
  const Configuration& configuration = item.configuration.configuration;
  if (Problems capped = find_cap_errors(item.cluster, configuration); !capped.empty()) {
    return {.problems = std::move(capped)};
  }
  LawfulPlan made = make_lawful_plan(item.cluster, configuration, request, tools);
  timing.decide += made.decide_us;
  timing.check += made.check_us;
  timing.refused += std::ssize(made.refused);
  if (made.plan) timing.left_out += std::ssize(made.plan->left_out);
  PlanAttempt attempt{.problems = std::move(made.problems)};
  for (Problem& problem : attempt.problems) {
    if (problem.field == "ask") problem.field = item.ask_field;
  }
  add_near_misses(attempt.problems, request, item.cluster);
  attempt.shows_bug = made.shows_bug();
  if (attempt.shows_bug) {
    attempt.bug = report_bug({.cluster = item.cluster,
                              .configuration = item.configuration,
                              .request = request,
                              .made = made},
                             bug_files);
  }
  attempt.plan = std::move(made.plan);
  if (attempt.plan && item.quarantine != nullptr) {
    attempt.plan->quarantine = plan_quarantine(*item.quarantine);
  }
  if (attempt.plan && item.trust != nullptr) {
    for (const NotHonoured& each : item.trust->list()) {
      attempt.plan->not_honoured.push_back({.mark = std::string(choice_name(each.mark)),
                                            .marks = each.objects,
                                            .object = each.object,
                                            .field = each.field,
                                            .value = each.value,
                                            .reason = std::string(reason_of(each.mark))});
    }
  }
  return attempt;
}

}  // namespace makeway::cli
