#include "cli/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "base/check.hpp"
#include "cli/problem_text.hpp"
#include "cli/text.hpp"
#include "codec/presets.hpp"
#include "codec/quantity.hpp"
#include "codec/source.hpp"
#include "kube/live_cluster.hpp"
#include "model/knobs.hpp"
#include "model/request.hpp"
#include "model/trust.hpp"

namespace makeway::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds patience{1'000};
constexpr std::chrono::milliseconds redraw_interval{100};
/// A file that takes longer than our patience.
constexpr std::uintmax_t large_file_bytes = std::uintmax_t{256} << 20U;
constexpr std::string_view erase_line = "\r\x1b[K";

/// One line on standard error that overwrites itself, and is gone at the end.
class ProgressLine {
 public:
  explicit ProgressLine(Terminal& terminal) : terminal_(terminal) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() {
    if (shown_) terminal_.error.write(erase_line);
  }

  void step(const LoadStep& step) {
    std::error_code ignored;
    const std::uintmax_t size = std::filesystem::file_size(step.file, ignored);
    const bool large = !ignored && size >= large_file_bytes;
    draw(large, [&] {
      return fmt::format("reading file {} of {} ({}), {} read so far", grouped(step.files_done + 1),
                         grouped(step.files), shorten(step.file),
                         human_bytes(static_cast<std::int64_t>(step.bytes_done)));
    });
  }
  void step(std::string_view resource) {
    draw(false, [&] { return fmt::format("reading {} of the live cluster", resource); });
  }

 private:
  template <class Text>
  void draw(bool at_once, const Text& text) {
    const SteadyClock::time_point now = SteadyClock::now();
    if (!at_once && now - start_ < patience) return;
    if (shown_ && now - drawn_ < redraw_interval) return;
    terminal_.error.write(fmt::format("{}{}", erase_line, text()));
    shown_ = true;
    drawn_ = now;
  }

  Terminal& terminal_;
  SteadyClock::time_point start_ = SteadyClock::now();
  SteadyClock::time_point drawn_;
  bool shown_ = false;
};

/// As the label makeway.dev/plane would allow it.
bool is_plane_name(std::string_view name) {
  constexpr std::size_t label_max = 63;
  const auto is_alphanumeric = [](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9');
  };
  return name.size() <= label_max && is_alphanumeric(name.front()) &&
         is_alphanumeric(name.back()) && std::ranges::all_of(name, [&](char byte) {
           return is_alphanumeric(byte) || byte == '-' || byte == '_' || byte == '.';
         });
}

ChosenConfiguration read_file(std::string_view path) {
  ChosenConfiguration chosen;
  const std::string name(path);
  const auto source = read_source({.path = name});
  if (!source) {
    chosen.problems.push_back({.message = source.error().message});
    return chosen;
  }
  ConfigurationReading reading =
      read_configuration_text(source->text.view(), MissingKnobs::take_defaults, {.source = name});
  chosen.document = std::move(reading.document);
  chosen.problems = std::move(reading.problems);
  return chosen;
}

/// Changes the document; returns what is wrong with an override, or with all of them together.
std::string apply_overrides(std::span<const std::string> overrides,
                            ConfigurationDocument& document) {
  for (const std::string& assignment : overrides) {
    const std::optional<Problem> problem = apply_override(document.configuration, assignment);
    if (problem) return fmt::format("--set {}", to_text(*problem));
  }
  if (overrides.empty()) return {};
  for (const Problem& problem : validate(document.configuration)) {
    if (problem.severity == Severity::error) {
      return fmt::format("--set contradicts the rest: {}", to_text(problem));
    }
  }
  return {};
}

/// Everything that a live cluster has, or why it cannot be read.
Problems read_live(const kube::TargetRequest& request, const kube::KubeEnvironment& environment,
                   const kube::LiveRequest& live, const TextTaker& take, GivenServers& servers) {
  OpenedCluster opened = open_cluster(request, environment);
  if (opened.connection == nullptr) return std::move(opened.problems);
  servers.note_home(opened.connection->target());
  kube::LiveReading reading = kube::read_live_cluster(
      opened.connection->api(), live,
      [&](std::string_view name, const PaddedText& page) { take(name, page.view(), {}); });
  opened.problems.append(std::move(reading.problems));
  return std::move(opened.problems);
}

/// A wrong kubeconfig is an error; that a plane cannot be seen is none.
Problems read_planes(const std::vector<LivePlane>& planes, const kube::KubeEnvironment& environment,
                     const std::function<void(std::string_view resource)>& progress,
                     const TextTaker& take, GivenServers& servers,
                     std::vector<kube::PlaneReading>& readings) {
  Problems problems;
  for (const LivePlane& plane : planes) {
    OpenedCluster opened = open_cluster(plane.target, environment);
    problems.append(std::move(opened.problems));
    if (opened.connection == nullptr) continue;
    if (auto twice = servers.note(plane.name, opened.connection->target())) {
      const bool is_error = twice->severity == Severity::error;
      problems.push_back(*std::move(twice));
      if (is_error) continue;
    }
    kube::PlaneReading& reading = readings.emplace_back(
        kube::read_live_plane(opened.connection->api(), plane.name, progress, take));
    problems.append(std::move(reading.problems));
  }
  return problems;
}

/// Why a schedule is not as it was written comes with the other warnings.
void show_schedules(const ClusterInput& input, const std::vector<kube::PlaneReading>& planes,
                    Loaded& loaded) {
  const auto notes = kube::show_planes({.planes = planes,
                                        .needs_selector = input.needs_selector,
                                        .now = input.now.value_or(newest_time(loaded.cluster))},
                                       loaded.cluster);
  for (const auto& [schedule, note] : notes) {
    loaded.warnings.push_back({.severity = Severity::warning,
                               .object = fmt::format("ReplicaSchedule {}", schedule),
                               .message = note});
  }
}

}  // namespace

/// One address may lead to several servers: by name, or through proxies.
std::string GivenServers::key_of(const kube::KubeTarget& target) {
  const kube::KubeCluster& cluster = target.cluster;
  return fmt::format("{} {} {}", cluster.server, cluster.tls_server_name, cluster.proxy_url);
}

std::optional<Problem> GivenServers::note(const std::string& plane,
                                          const kube::KubeTarget& target) {
  const auto [found, is_new] = planes_.try_emplace(key_of(target), plane);
  if (is_new) return std::nullopt;
  Problem problem{.object = fmt::format("--plane {}", plane),
                  .field = "server",
                  .value = target.cluster.server};
  if (found->second.empty()) {
    problem.severity = Severity::warning;
    problem.message =
        "this is the home cluster, too: its nodes count for pods and, once more, for replicas";
    problem.remedy = "keep pods away from the nodes that replicas use, or give another cluster";
  } else {
    problem.message = fmt::format(
        "this is the server of plane {}, too: everything there would count twice", found->second);
    problem.remedy = "give every cluster once; look at the contexts of the kubeconfig files";
  }
  return problem;
}

OpenedCluster open_cluster(const kube::TargetRequest& request,
                           const kube::KubeEnvironment& environment) {
  const auto target = kube::find_target(request, environment);
  if (!target) return {.connection = {}, .problems = target.error()};
  auto connection = kube::Connection::open(*target, kube::real_connection_tools());
  if (!connection) return {.connection = {}, .problems = std::move(connection.error())};
  OpenedCluster opened{.connection = std::move(*connection), .problems = {}};
  if (target->cluster.skips_verification) {
    opened.problems.push_back(
        {.severity = Severity::warning,
         .object = fmt::format("cluster of context {}", shorten(target->context)),
         .field = "insecure-skip-tls-verify",
         .value = "true",
         .message = "another machine on the network path could answer instead of the server",
         .remedy = "give certificate-authority instead"});
  }
  return opened;
}

Result<PlaneText> read_plane_text(std::string_view written, std::string_view expected) {
  const std::size_t equals = written.find('=');
  const std::string_view name = written.substr(0, equals);
  const auto refuse = [&](const std::string& why) {
    return wrong_usage(fmt::format("--plane '{}': {}", shorten(written), why));
  };
  if (equals == std::string_view::npos) return refuse(fmt::format("expected NAME={}", expected));
  if (name.empty()) {
    return refuse(fmt::format("the name of the plane is missing; expected NAME={}", expected));
  }
  if (!is_plane_name(name)) {
    return refuse(
        "a plane's name is a label value: at most 63 letters, digits, '-', '_' or '.', and "
        "begins and ends with a letter or digit");
  }
  if (equals + 1 == written.size()) {
    return refuse(fmt::format("the file is missing; expected NAME={}", expected));
  }
  return PlaneText{.name = std::string(name), .where = std::string(written.substr(equals + 1))};
}

kube::TargetRequest plane_target(const std::string& where) {
  std::error_code ignored;
  const std::size_t colon = where.find(':');
  if (colon == std::string::npos || std::filesystem::exists(where, ignored)) {
    return {.kubeconfig = where, .context = {}};
  }
  return {.kubeconfig = where.substr(0, colon), .context = where.substr(colon + 1)};
}

Result<std::vector<LoadSource>> sources_of(std::span<const std::string> paths,
                                           std::span<const std::string> planes) {
  std::vector<LoadSource> sources;
  for (const std::string& path : paths) sources.push_back({.path = path, .plane = {}});
  for (const std::string& written : planes) {
    Result<PlaneText> plane = read_plane_text(written, "FILE");
    if (!plane) return std::unexpected(plane.error());
    sources.push_back({.path = std::move(plane->where), .plane = std::move(plane->name)});
  }
  const auto standard_input = [](const LoadSource& source) { return source.path == "-"; };
  if (std::ranges::count_if(sources, standard_input) > 1 && !planes.empty()) {
    return wrong_usage("standard input can be one plane only");
  }
  return sources;
}

Result<std::vector<LivePlane>> live_planes_of(std::span<const std::string> written) {
  std::vector<LivePlane> planes;
  for (const std::string& each : written) {
    Result<PlaneText> text = read_plane_text(each, "KUBECONFIG[:CONTEXT]");
    if (!text) return std::unexpected(text.error());
    if (std::ranges::find(planes, text->name, &LivePlane::name) != planes.end()) {
      return wrong_usage(
          fmt::format("--plane '{}': plane {} is given twice", shorten(each), text->name));
    }
    planes.push_back({.name = std::move(text->name), .target = plane_target(text->where)});
  }
  return planes;
}

Result<ClusterInput> input_of(const Arguments& arguments, const Terminal& terminal,
                              LiveByDefault by_default) {
  for (const std::string_view flag : {"kubeconfig", "context"}) {
    if (arguments.given(flag) == "") return wrong_usage(fmt::format("--{} '': it is empty", flag));
  }
  const kube::KubeEnvironment& environment = terminal.kube;
  const bool is_requested =
      arguments.has("kubeconfig") || arguments.has("context") || arguments.has("live");
  const bool is_known = !environment.kubeconfig.empty() || environment.is_in_cluster();
  const bool has_files = arguments.has("file") || arguments.has("plane");
  const bool may_be =
      by_default == LiveByDefault::yes && (environment.is_plugin || (!has_files && is_known));
  const bool is_live = is_requested || may_be;
  const std::span<const std::string> planes = arguments.all("plane");
  auto sources =
      sources_of(arguments.all("file"), is_live ? std::span<const std::string>{} : planes);
  if (!sources) return std::unexpected(sources.error());
  ClusterInput input{.sources = std::move(*sources), .live = {}, .planes = {}, .now = {}};
  if (!is_live) return input;
  input.live = kube::TargetRequest{.kubeconfig = std::string(arguments.text("kubeconfig")),
                                   .context = std::string(arguments.text("context"))};
  auto live_planes = live_planes_of(planes);
  if (!live_planes) return std::unexpected(live_planes.error());
  input.planes = *std::move(live_planes);
  return input;
}

void show_planes_by(const Configuration& configuration, ClusterInput& input) {
  input.needs_selector = configuration.trust.mode == TrustMode::cluster;
}

bool trusts_live(const Arguments& arguments, const ClusterInput& input) {
  return arguments.has("trust") ? arguments.text("trust") == "live" : input.live.has_value();
}

LoadResult load_with_progress(const ClusterInput& input, Terminal& terminal,
                              const LoadOptions& options) {
  std::optional<ProgressLine> line;
  if (terminal.error_is_terminal) line.emplace(terminal);
  LoadOptions whole = options;
  std::vector<kube::PlaneReading> planes;
  if (input.live) {
    whole.feed = [&](const TextTaker& take) {
      kube::LiveRequest live{.keep_going = options.keep_going, .progress = {}};
      if (line) live.progress = [&](std::string_view resource) { line->step(resource); };
      GivenServers servers;
      Problems problems = read_live(*input.live, terminal.kube, live, take, servers);
      if (has_errors(problems)) return problems;
      problems.append(
          read_planes(input.planes, terminal.kube, live.progress, take, servers, planes));
      return problems;
    };
  }
  LoadProgress progress;
  if (line) progress = [&](const LoadStep& step) { line->step(step); };
  LoadResult result = load(input.sources, progress, whole);
  if (result.loaded && !input.planes.empty()) show_schedules(input, planes, *result.loaded);
  return result;
}

std::optional<Loaded> load_or_report(const ClusterInput& input, Terminal& terminal,
                                     const LoadOptions& options) {
  LoadResult result = load_with_progress(input, terminal, options);
  const Palette palette = palette_for_error(terminal);
  if (result.loaded) {
    terminal.error.write(problem_lines(result.loaded->warnings, palette));
    return std::move(result.loaded);
  }
  terminal.error.write(fmt::format("{}makeway: {}; nothing was loaded\n",
                                   problem_lines(result.problems, palette),
                                   counted(result.problems.count(Severity::error), "error")));
  return std::nullopt;
}

ConfigurationChoice choice_in(const Arguments& arguments, bool live_trust) {
  return {.preset = arguments.text("preset"),
          .file = arguments.given("config"),
          .overrides = arguments.all("set"),
          .live_trust = live_trust};
}

ChosenConfiguration choose_configuration(const ConfigurationChoice& choice) {
  ChosenConfiguration chosen;
  if (choice.file && choice.file->empty()) {
    chosen.usage = "--config '': expected a FILE, or - for standard input";
    return chosen;
  }
  if (choice.file && !choice.preset.empty()) {
    chosen.usage = "a configuration comes from a preset or from --config, not from both";
    return chosen;
  }
  if (choice.file) {
    chosen = read_file(*choice.file);
  } else if (choice.preset.empty() && choice.found != nullptr) {
    chosen.document = *choice.found;
  } else {
    const std::string_view name = choice.preset.empty() ? default_preset : choice.preset;
    Result<Configuration> preset = load_preset(name);
    CHECK(preset.has_value(), "presets are checked by tests, their names by the parser");
    chosen.document = ConfigurationDocument{.name = std::string(name),
                                            .description = preset_summary(name),
                                            .configuration = std::move(*preset)};
  }
  if (!chosen.document) return chosen;
  if (choice.live_trust) chosen.document->configuration.trust.mode = TrustMode::cluster;
  chosen.usage = apply_overrides(choice.overrides, *chosen.document);
  if (!chosen.usage.empty()) chosen.document.reset();
  return chosen;
}

std::string standard_input_twice(const ConfigurationChoice& choice,
                                 std::span<const LoadSource> sources, std::string_view batch) {
  if (choice.file != "-") return {};
  const bool taken =
      batch == "-" || std::ranges::find(sources, "-", &LoadSource::path) != sources.end();
  return taken ? "standard input can be read only once; name a file with --config" : std::string{};
}

}  // namespace makeway::cli
