#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/problem_text.hpp"
#include "cli/simulate/simulate_run.hpp"
#include "cli/text.hpp"
#include "codec/dump.hpp"
#include "codec/json_text.hpp"
#include "codec/plan_codec.hpp"
#include "codec/source.hpp"
#include "codec/writer.hpp"
#include "model/cluster_objects.hpp"
#include "sim/sim_world.hpp"

namespace makeway::cli {
namespace {

// ---- The plan -----------------------------------------------------------------------------------

/// What a plan document says about how it was made.
struct WrittenPlan {
  std::string id;
  Time now;
  std::vector<WrittenAsk> asks;
  JsonValue actions;  ///< As they are written.
};

constexpr std::string_view no_plan = "it is no plan; expected what makeway plan -o json printed";

Result<WrittenPlan> read_written_plan(const std::string& path) {
  const Result<SourceText> source = read_source({path});
  if (!source) return std::unexpected(source.error());
  const auto document = parse_json_value(source->text.view());
  if (!document) return input_error(std::string(no_plan));
  WrittenPlan plan{.id = text_in(*document, "id")};
  const Result<Time> now = parse_time(text_in(*document, "now"));
  if (text_in(*document, "kind") != "Plan" || plan.id.empty() || !now) {
    return input_error(std::string(no_plan));
  }
  plan.now = *now;
  if (const JsonValue* const actions = document->find("actions")) plan.actions = *actions;
  const JsonValue* const asks = document->find("asks");
  if (asks == nullptr || asks->as_array() == nullptr) return plan;
  for (const JsonValue& ask : *asks->as_array()) {
    const std::string kind = text_in(ask, "kind");
    if (kind == "Queue") continue;
    Result<WrittenAsk> written =
        parse_ask(fmt::format("{}/{}/{}", kind, text_in(ask, "namespace"), text_in(ask, "name")));
    if (written) plan.asks.push_back(std::move(*written));
  }
  return plan;
}

/// The same id, and the same actions.
bool is_written(const Plan& plan, const WrittenPlan& written) {
  if (plan.id != written.id) return false;
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  write_plan(writer, plan);
  const auto document = parse_json_value(text);
  const JsonValue* const actions = document ? document->find("actions") : nullptr;
  return actions != nullptr && *actions == written.actions;
}

/// Decides on the cluster; if a plan is given, the decision must equal it.
class PlanSource {
 public:
  PlanSource(const Loaded& loaded, const ConfigurationDocument& configuration,
             const TrustReport& trust, Terminal& terminal)
      : loaded_(loaded), configuration_(configuration), trust_(trust), terminal_(terminal) {}

  /// `quiet`: asks that cannot be decided are not reported.
  std::optional<Plan> make(std::vector<WrittenAsk> asks, Time now, bool quiet = false) {
    PlanAttempt attempt = make_plan({.cluster = loaded_.cluster,
                                     .configuration = configuration_,
                                     .asks = std::move(asks),
                                     .workloads = loaded_.workloads,
                                     .now = now,
                                     .explain = false,
                                     .quarantine = &loaded_.quarantine,
                                     .trust = &trust_},
                                    tools_, timing_, bug_files_);
    shows_bug_ = shows_bug_ || attempt.shows_bug;
    terminal_.error.write(attempt.bug);
    if (quiet) return std::move(attempt.plan);
    loaded_.origins.locate(attempt.problems, loaded_.cluster);
    print_problems(attempt.problems, terminal_);
    return std::move(attempt.plan);
  }

  /// A plan is for everything that is pending, or for the asks that it names.
  std::optional<Plan> make(const WrittenPlan& written, std::string_view path) {
    std::optional<Plan> plan = make({}, written.now);
    if (!plan || is_written(*plan, written)) return plan;
    if (!written.asks.empty()) {
      std::optional<Plan> named = make(written.asks, written.now, true);
      if (named && is_written(*named, written)) return named;
    }
    if (plan->id == written.id) {
      terminal_.error.write(fmt::format(
          "error: {}: its actions are not those of plan {}; give the plan as it was printed\n",
          printable(path), shorten(written.id)));
      return std::nullopt;
    }
    terminal_.error.write(fmt::format(
        "error: {}: plan {} is not what is decided on these objects, which is {}; it was made for "
        "other objects, by another configuration (name it with --preset, --config and --set) or by "
        "another version of makeway\n",
        printable(path), shorten(written.id), plan->id));
    return std::nullopt;
  }

  bool shows_bug() const { return shows_bug_; }

 private:
  const Loaded& loaded_;
  const ConfigurationDocument& configuration_;
  const TrustReport& trust_;
  Terminal& terminal_;
  const PlanTools tools_ = real_tools();
  PlanTiming timing_;
  BugFiles bug_files_;
  bool shows_bug_ = false;
};

// ---- The world ----------------------------------------------------------------------------------

/// Carries out the plan and lets time pass; the cluster is updated from the world. Returns how many
/// actions the world refused.
std::size_t carry_out(const Plan& plan, Time end, const Configuration& configuration,
                      Cluster& cluster, Terminal& terminal) {
  const SimLoad load{.objects = objects_of(cluster)};
  SimOptions options{.cycle = Duration{0}, .sample = Duration{0}, .start = plan.now, .until = end};
  options.behaviour.scales_deployments = configuration.replica.enabled;
  options.behaviour.overdue_stay = true;
  SimWorld world(load, options);
  std::size_t refused = 0;
  const auto take = [&](const Batch& batch) {
    for (const Change& change : batch.changes) cluster.apply(change);
    for (const Receipt& receipt : batch.receipts) {
      terminal.error.write(fmt::format("warning: {}: not carried out: {}\n",
                                       printable(ref_text(receipt.object)),
                                       printable(receipt.reason)));
    }
    refused += batch.receipts.size();
  };
  take(world.poll(plan.now));  // Also removes pods whose time is now.
  world.submit(plan);
  for (bool first = true; first || world.now() < end; first = false) take(world.poll(end));
  // Kubelet heartbeats, from which the next plan knows the time.
  std::vector<Node> nodes;
  cluster.each<Node>([&](const Node& node) { nodes.push_back(node); });
  for (Node& node : nodes) {
    node.observed = end;
    cluster.apply(node);
  }
  return refused;
}

// ---- The command --------------------------------------------------------------------------------

struct AdvanceOptions {
  std::vector<LoadSource> sources;
  ConfigurationChoice configuration;
  std::optional<Time> now;
  Duration span{0};
};

Result<AdvanceOptions> read_advance_options(const Arguments& arguments) {
  AdvanceOptions options;
  auto sources = sources_of(arguments.all("file"), arguments.all("plane"));
  if (!sources) return input_error(sources.error().message);
  options.sources = std::move(*sources);
  if (options.sources.empty())
    return input_error("nothing to advance; name files with -f or --plane");
  options.configuration = choice_in(arguments);
  if (arguments.has("now")) {
    const Result<Time> now = parse_time(arguments.text("now"));
    if (!now) return input_error(fmt::format("--now: {}", now.error().message));
    if (arguments.has("plan")) return input_error("--now and --plan exclude each other");
    options.now = *now;
  }
  const Result<Duration> span = parse_duration(arguments.text("for"));
  if (!span) return input_error(fmt::format("--for: {}", span.error().message));
  options.span = *span;
  if (std::string twice =
          standard_input_twice(options.configuration, options.sources, arguments.text("plan"));
      !twice.empty()) {
    return input_error(std::move(twice));
  }
  return options;
}

/// None: the problem was printed, or is a usage error (`usage`).
std::optional<ConfigurationDocument> configuration_for(AdvanceOptions& options,
                                                       const Loaded& loaded, std::string& usage,
                                                       Terminal& terminal) {
  if (loaded.configuration && !options.configuration.is_named()) {
    options.configuration.found = &*loaded.configuration;
  }
  ChosenConfiguration chosen = choose_configuration(options.configuration);
  usage = chosen.usage;
  print_problems(chosen.problems, terminal);
  if (chosen.document) name_configuration(*chosen.document, options.configuration);
  return std::move(chosen.document);
}

}  // namespace

ExitStatus run_advance(const Arguments& arguments, Terminal& terminal) {
  Result<AdvanceOptions> options = read_advance_options(arguments);
  if (!options) return usage_error("advance", options.error().message, terminal);
  std::optional<Loaded> loaded =
      load_or_report({.sources = options->sources, .live = {}}, terminal,
                     {.limits = {}, .asked = {}, .keep_going = arguments.has("keep-going")});
  if (!loaded) return ExitStatus::failed;
  terminal.error.write(load_notes(*loaded));
  std::string usage;
  const auto configuration = configuration_for(*options, *loaded, usage, terminal);
  if (!usage.empty()) return usage_error("advance", usage, terminal);
  if (!configuration) return ExitStatus::failed;
  const TrustReport trust =
      honour_marks(*loaded, configuration->configuration, options->now, false);
  if (arguments.has("keep-going")) {
    keep_going_beyond_caps(*loaded, configuration->configuration);
  }
  PlanSource source(*loaded, *configuration, trust, terminal);
  std::optional<Plan> plan;
  if (const auto path = arguments.given("plan")) {
    const Result<WrittenPlan> written = read_written_plan(std::string(*path));
    if (!written) {
      terminal.error.write(
          fmt::format("error: {}: {}\n", printable(*path), printable(written.error().message)));
      return ExitStatus::failed;
    }
    plan = source.make(*written, *path);
  } else {
    plan = source.make(std::vector<WrittenAsk>(),
                       options->now ? *options->now : newest_time(loaded->cluster));
  }
  if (!plan) return source.shows_bug() ? ExitStatus::bug : ExitStatus::failed;
  const Time end = plan->now + options->span;
  const std::size_t refused =
      carry_out(*plan, end, configuration->configuration, loaded->cluster, terminal);
  const auto acts = static_cast<std::size_t>(std::ranges::count_if(
      plan->actions, [](const PlanAction& action) { return action.type != ActionType::wait; }));
  terminal.error.write(fmt::format("makeway: {} of plan {} carried out; it is {} now\n",
                                   counted(acts - std::min(acts, refused), "action"), plan->id,
                                   to_text(end)));
  const bool json = arguments.text("output") == "json";
  terminal.out.write(dump(loaded->cluster, json ? DumpFormat::json : DumpFormat::yaml));
  if (source.shows_bug()) return ExitStatus::bug;
  return refused > 0 ? ExitStatus::failed : ExitStatus::done;
}

}  // namespace makeway::cli
