#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/plan/ask_name.hpp"
#include "cli/problem_text.hpp"
#include "cli/risk/risk_probe.hpp"
#include "cli/risk/risk_report.hpp"
#include "cli/text.hpp"
#include "model/knobs.hpp"
#include "model/object_text.hpp"

namespace makeway::cli {
namespace {

/// Bound to a node that is there, not leaving, and no kernel.
bool is_running(const Cluster& cluster, PodIndex pod) {
  const NodeIndex node = cluster.pods().node[pod];
  return node.exists() && cluster.nodes().flags[node].exists &&
         cluster.pods().deletion[pod] == no_time && !cluster.pods().flags[pod].kernel;
}

bool is_meant(const WorkloadPods& workload, const WrittenAsk& written) {
  return workload.name == written.name && workload.namespace_name == written.namespace_name &&
         (written.workload.empty() || workload.kind == written.workload);
}

/// Pods of that name: in the plane that is said, else at home, else wherever there are some.
std::vector<PodIndex> pods_named(const WrittenObject& target, const Cluster& cluster) {
  const WrittenAsk& written = target.written;
  const auto pod = cluster.find_pod(written.namespace_name, written.name, target.plane);
  if (pod) return {*pod};
  std::vector<PodIndex> found;
  if (!target.plane.empty()) return found;
  for (const PodIndex other : cluster.each_pod()) {
    if (cluster.pods().name[other.value] == written.name &&
        cluster.text(cluster.pods().namespace_name[other]) == written.namespace_name) {
      found.push_back(other);
    }
  }
  return found;
}

/// The running pods that are meant: the pod itself, members of a group, or pods of a workload.
std::vector<PodIndex> running_pods(const WrittenObject& target, const Loaded& loaded) {
  const Cluster& cluster = loaded.cluster;
  const WrittenAsk& written = target.written;
  std::vector<PodIndex> found;
  const bool may_be_pod =
      written.workload.empty() && written.kind.value_or(AskKind::pod) == AskKind::pod;
  if (may_be_pod) {
    found = pods_named(target, cluster);
    const bool named = !found.empty();
    std::erase_if(found, [&](PodIndex pod) { return !is_running(cluster, pod); });
    if (named) return found;
  }
  const bool may_be_group =
      written.workload.empty() && written.kind.value_or(AskKind::pod_group) == AskKind::pod_group;
  if (may_be_group) {
    const auto group = cluster.find_group(written.namespace_name, written.name, target.plane);
    if (group) {
      for (const PodIndex pod : cluster.groups()[*group].members) {
        if (is_running(cluster, pod)) found.push_back(pod);
      }
      return found;
    }
  }
  if (written.kind) return found;
  const Parties parties(&cluster, &loaded.replica_sets);
  for (const PodIndex pod : cluster.each_pod()) {
    if (cluster.text(cluster.pods().namespace_name[pod]) != written.namespace_name) continue;
    const std::string_view plane = cluster.text(cluster.pods().plane[pod]);
    if (!is_running(cluster, pod) || (!target.plane.empty() && plane != target.plane)) continue;
    PlanVictim victim;
    victim.namespace_name = written.namespace_name;
    victim.name = cluster.pods().name[pod.value];
    victim.plane = plane;
    const Party party = parties.of(victim);
    const bool kind_meets = written.workload.empty() || party.kind == written.workload;
    if (party.name == written.name && kind_meets && !party.is_pod()) found.push_back(pod);
  }
  if (!found.empty()) return found;
  // A workload with pods of intermediate objects: a JobSet, a LeaderWorkerSet.
  for (const WorkloadPods& workload : loaded.workloads) {
    if (!is_meant(workload, written)) continue;
    std::ranges::copy_if(workload.running, std::back_inserter(found),
                         [&](PodIndex pod) { return is_running(cluster, pod); });
  }
  return found;
}

/// "replicaschedule/low" names the pod low of a namespace that is called like a kind; empty: it is
/// not called so.
std::string kind_without_namespace(const WrittenAsk& written, const Cluster& cluster) {
  if (written.kind || !written.workload.empty() || !is_ask_kind(written.namespace_name)) return {};
  std::string space = "default";
  const auto look_in = [&](const auto& objects) {
    const auto found = std::ranges::find_if(
        objects, [&](const auto& each) { return each.first.name == written.name; });
    if (found != objects.end()) space = found->first.namespace_name;
  };
  if (lower_case(written.namespace_name) == "replicaschedule") {
    look_in(cluster.own<ReplicaSchedule>());
  } else if (lower_case(written.namespace_name) == "session") {
    look_in(cluster.own<Session>());
  }
  return fmt::format("with a kind, name the namespace, too: {}/{}/{}", written.namespace_name,
                     space, written.name);
}

/// What could have been meant.
Problem nothing_runs(const WrittenObject& target, const Loaded& loaded) {
  const Cluster& cluster = loaded.cluster;
  const WrittenAsk& written = target.written;
  Problem problem{.field = "risk",
                  .value = key_text({written.namespace_name, written.name, target.plane}),
                  .message = "nothing of this name runs on a node of the input"};
  if (!written.workload.empty() && !written.kind) {
    const bool there = std::ranges::any_of(
        loaded.workloads, [&](const WorkloadPods& each) { return is_meant(each, written); });
    problem.message = there ? fmt::format("no pod of this {} runs", written.workload)
                            : fmt::format(
                                  "there is no {} of this name in the input, and no pod "
                                  "that it controls",
                                  written.workload);
    return problem;
  }
  const std::vector<PodIndex> named = pods_named(target, cluster);
  if (!named.empty() && !cluster.pods().node[named.front()].exists()) {
    problem.message = "the pod is pending";
    problem.remedy = "`makeway plan --ask` shows whether it finds room";
    return problem;
  }
  if (!named.empty() && cluster.pods().deletion[named.front()] != no_time) {
    problem.message = "the pod is leaving already";
    return problem;
  }
  problem.remedy = kind_without_namespace(written, cluster);
  if (!problem.remedy.empty()) return problem;
  std::vector<std::string_view> here;
  std::vector<PodIndex> pods;
  for (const PodIndex other : cluster.each_pod()) {
    if (is_running(cluster, other) &&
        cluster.text(cluster.pods().namespace_name[other]) == written.namespace_name) {
      here.push_back(cluster.pods().name[other.value]);
      pods.push_back(other);
    }
  }
  const std::string_view nearest = nearest_of(here, written.name);
  if (!nearest.empty()) {
    const auto at = std::ranges::find(here, nearest) - here.begin();
    problem.remedy =
        fmt::format("did you mean {}?", cluster.pod_key(pods[static_cast<std::size_t>(at)]));
  }
  return problem;
}

/// Pods that run in several planes and are all called what was written; none: it is one pod, or
/// they are many of one group or workload.
std::optional<Problem> several_are_called_so(const WrittenObject& target,
                                             std::span<const PodIndex> running,
                                             const Cluster& cluster) {
  const WrittenAsk& written = target.written;
  const bool alike = written.workload.empty() && std::ranges::all_of(running, [&](PodIndex pod) {
                       return cluster.pods().name[pod.value] == written.name;
                     });
  if (running.size() < 2 || !alike) return std::nullopt;
  std::vector<std::string> names;
  for (const PodIndex pod : running) names.push_back(fmt::format("'{}'", cluster.pod_key(pod)));
  std::ranges::sort(names);
  return Problem{.field = "risk",
                 .value = key_text({written.namespace_name, written.name, {}}),
                 .message = fmt::format("pods of this name run in {} planes", names.size()),
                 .remedy = fmt::format("say which one: {}", few_names(std::move(names)))};
}

/// An ask of the plan that evicts the pod, and the pod among its victims; or one that stops it.
struct Taker {
  const PlanAsk* ask = nullptr;
  const PlanVictim* victim = nullptr;
  std::string stops_with;  ///< The unit; empty: it is evicted.

  /// The less, the sooner it is gone.
  int danger() const { return ask == nullptr ? 2 : stops_with.empty() ? 0 : 1; }
};

Taker taker_of(const Plan& plan, const Cluster& cluster, PodIndex pod) {
  const std::string_view space = cluster.text(cluster.pods().namespace_name[pod]);
  const std::string_view name = cluster.pods().name[pod.value];
  const std::string_view plane = cluster.text(cluster.pods().plane[pod]);
  const auto is_it = [&](const auto& victim) {
    return victim.name == name && victim.namespace_name == space && victim.plane == plane;
  };
  for (const PlanAsk& ask : plan.asks) {
    const auto victim = std::ranges::find_if(ask.victims, is_it);
    if (victim != ask.victims.end()) {
      return {.ask = &ask, .victim = &*victim, .stops_with = {}};
    }
    if (!ask.replicas) continue;
    for (const PlanReplicaClaim& claim : ask.replicas->claims) {
      const auto replica = std::ranges::find_if(claim.victims, is_it);
      const bool leaves = replica != claim.victims.end() && replica->action != ReplicaAction::wait;
      if (leaves) return {.ask = &ask, .stops_with = {}};
    }
  }
  for (const PlanAsk& ask : plan.asks) {
    std::string unit = stops_with(ask, cluster, pod);
    if (!unit.empty()) return {.ask = &ask, .stops_with = std::move(unit)};
  }
  return {};
}

/// An ask of the plan whose victims leave too few of the pod's gang; null: none.
const PlanAsk* degrader_of(const Plan& plan, const Cluster& cluster, PodIndex pod) {
  const auto found = std::ranges::find_if(
      plan.asks, [&](const PlanAsk& ask) { return degraded_gang(ask, cluster, pod) != nullptr; });
  return found == plan.asks.end() ? nullptr : &*found;
}

/// Of several pods the one that today's plan evicts, else one that it stops, else the one that
/// yields to the lowest priority, else the first in the eviction order of its node. Protected pods
/// come last.
PodIndex pod_at_highest_risk(const std::vector<PodIndex>& running, const Plan& today,
                             const Cluster& cluster) {
  return *std::ranges::min_element(running, {}, [&](PodIndex pod) {
    const auto on_node = cluster.order().pods(cluster.pods().node[pod]);
    const auto place = std::ranges::find(on_node.rbegin(), on_node.rend(), pod) - on_node.rbegin();
    const PodFlags flags = cluster.pods().flags[pod];
    return std::tuple(taker_of(today, cluster, pod).danger(),
                      flags.opted_out || flags.mirror || flags.is_protected,
                      cluster.units()[cluster.pods().unit[pod]].preemption_priority, place,
                      cluster.pods().name[pod.value], cluster.text(cluster.pods().plane[pod]));
  });
}

/// What the flags say, checked.
struct RiskOptions {
  WrittenObject target;
  ClusterInput input;
  std::optional<Time> now;
  ConfigurationChoice choice;
};

bool is_own_kind(const WrittenAsk& written) {
  return written.kind == AskKind::session || written.kind == AskKind::replica_schedule;
}

/// Fills in the options; returns what is wrong.
std::string read_options(const Arguments& arguments, const Terminal& terminal,
                         RiskOptions& options) {
  const std::string& operand = arguments.operands().front();
  Result<WrittenObject> target = parse_object(operand);
  if (!target) return fmt::format("'{}': {}", shorten(operand), target.error().message);
  options.target = std::move(*target);
  auto input = input_of(arguments, terminal, LiveByDefault::yes);
  if (!input) return input.error().message;
  options.input = std::move(*input);
  if (options.input.empty()) {
    return "there is no cluster; name files with -f, or a live one with --kubeconfig";
  }
  if (arguments.has("now")) {
    const Result<Time> now = parse_time(arguments.text("now"));
    if (!now) {
      return fmt::format("--now '{}': {}", shorten(arguments.text("now")), now.error().message);
    }
    options.now = *now;
  }
  options.choice = choice_in(arguments, trusts_live(arguments, options.input));
  return standard_input_twice(options.choice, options.input.sources);
}

ExitStatus failure(const PlanQuestions& questions, Terminal& terminal) {
  terminal.error.write(questions.bug());
  print_problems(questions.problems(), terminal);
  return questions.shows_bug() ? ExitStatus::bug : ExitStatus::failed;
}

/// Tried on today's plan where that evicts the pod, unless it is large: then on an ask like its
/// taker's, and so on the smallest ask where today's plan does nothing to the pod.
std::vector<ProtectionTrial> trials_for(RiskReport& report, Cluster& cluster,
                                        const ConfigurationDocument& configuration,
                                        EvictionProbe& probe, PlanQuestions& questions) {
  constexpr std::size_t looks_max = 200'000;  // Pairs of an ask and a node.
  std::optional<EvictingAsk> tried = report.smallest;
  const PlanAsk* taker = report.taker;
  const bool is_large = report.today.asks.size() * cluster.node_count() > looks_max;
  if (taker != nullptr && is_large && tried) {
    tried->priority = std::max(tried->priority, taker->priority);
    std::optional<PlanAsk> answer = probe.ask_again(*tried, configuration);
    if (answer && probe.evicts(*answer)) {
      tried->answer = std::move(*answer);
      taker = nullptr;
    }
  }
  report.tried_on = taker != nullptr ? std::string("today's plan")
                    : tried          ? fmt::format("such an ask of priority {}", tried->priority)
                                     : std::string{};
  return try_protections({.cluster = cluster,
                          .pod = report.pod,
                          .configuration = configuration,
                          .today = report.today,
                          .taker = taker,
                          .smallest = tried ? &*tried : nullptr},
                         probe, questions);
}

ExitStatus print_own_kind(const OwnKindRisk& risk, const Arguments& arguments,
                          const PlanQuestions& questions, Terminal& terminal) {
  terminal.error.write(questions.bug());
  terminal.out.write(arguments.text("output") == "json"
                         ? risk_json(risk)
                         : own_kind_text(risk, palette_for_out(terminal, arguments.text("color"))));
  return questions.shows_bug() ? ExitStatus::bug : ExitStatus::done;
}

/// Of a session or a ReplicaSchedule.
ExitStatus print_own_kind(const Arguments& arguments, const RiskOptions& options,
                          const Loaded& loaded, const ConfigurationDocument& configuration,
                          Terminal& terminal) {
  const PlanTools tools = real_tools();
  const Cluster& cluster = loaded.cluster;
  PlanQuestions questions(options.now ? *options.now : newest_time(cluster), loaded.workloads,
                          tools);
  const std::optional<Plan> today = questions.today(cluster, configuration, true);
  if (!today) return failure(questions, terminal);
  std::optional<OwnKindRisk> risk = own_kind_risk(options.target.written, cluster, *today);
  if (!risk) {
    print_problems({no_own_kind(options.target.written, cluster, today->now)}, terminal);
    return ExitStatus::failed;
  }
  risk->time_is_known = options.now || newest_time(cluster) != Time{0};
  return print_own_kind(*risk, arguments, questions, terminal);
}

/// Asks the engine about the pod.
void probe_pod(RiskReport& report, Cluster& cluster, const ConfigurationDocument& configuration,
               PlanQuestions& questions) {
  EvictionProbe probe(cluster, report.pod, configuration, questions);
  report.resource = probe.resource();
  report.held = probe.held();
  report.queue = probe.queue();
  report.has_no_place = probe.has_no_place();
  if (const std::optional<EvictingAsk> lowest = probe.lowest_priority()) {
    report.smallest = probe.smallest(*lowest);
    const bool pinned_takes = report.taker != nullptr && report.taker->reservation.has_value();
    if (pinned_takes || configuration.configuration.required_node.allow_higher_priority) {
      report.pinned_priority = probe.lowest_pinned_priority();
    }
  } else if (!report.resource.empty()) {
    report.why_it_stays = probe.why_it_stays();
    report.pinned_priority = probe.lowest_pinned_priority();
  }
  if (!report.resource.empty()) report.free = probe.free();
  report.other_queues = probe.other_queues();
  report.trials = trials_for(report, cluster, configuration, probe, questions);
}

ExitStatus print_risk(const Arguments& arguments, const RiskOptions& options, Loaded& loaded,
                      const ConfigurationDocument& configuration, Terminal& terminal) {
  Cluster& cluster = loaded.cluster;
  const std::vector<PodIndex> running = running_pods(options.target, loaded);
  if (running.empty()) {
    print_problems({nothing_runs(options.target, loaded)}, terminal);
    return ExitStatus::failed;
  }
  if (const auto several = several_are_called_so(options.target, running, cluster)) {
    print_problems({*several}, terminal);
    return ExitStatus::failed;
  }
  const PlanTools tools = real_tools();
  PlanQuestions questions(options.now ? *options.now : newest_time(cluster), loaded.workloads,
                          tools);
  const std::optional<Plan> today = questions.today(cluster, configuration);
  if (!today) return failure(questions, terminal);
  const PodIndex pod = pod_at_highest_risk(running, *today, cluster);
  const bool time_is_known = options.now || newest_time(cluster) != Time{0};
  if (is_placed_elsewhere(cluster, configuration.configuration, pod)) {
    OwnKindRisk risk = replica_pod_risk(cluster, configuration.configuration, pod, *today);
    risk.time_is_known = time_is_known;
    return print_own_kind(risk, arguments, questions, terminal);
  }
  const Taker taker = taker_of(*today, cluster, pod);
  RiskReport report{.cluster = cluster,
                    .pod = pod,
                    .line = line_of(cluster, pod),
                    .today = *today,
                    .taker = taker.ask,
                    .victim = taker.victim,
                    .stops_with = taker.stops_with,
                    .degrader = degrader_of(*today, cluster, pod),
                    .units = stopping_units(cluster, pod),
                    .time_is_known = time_is_known};
  if (running.size() > 1) {
    report.chosen_from =
        fmt::format("{}/{} has {} that run; this one is in the most danger:",
                    shorten(options.target.written.namespace_name),
                    shorten(options.target.written.name), counted(running.size(), "pod"));
  }
  probe_pod(report, cluster, configuration, questions);
  terminal.error.write(questions.bug());
  terminal.out.write(arguments.text("output") == "json"
                         ? risk_json(report)
                         : risk_text(report, palette_for_out(terminal, arguments.text("color"))));
  return questions.shows_bug() ? ExitStatus::bug : ExitStatus::done;
}

}  // namespace

ExitStatus run_risk(const Arguments& arguments, Terminal& terminal) {
  RiskOptions options;
  if (const std::string wrong = read_options(arguments, terminal, options); !wrong.empty()) {
    return usage_error("risk", wrong, terminal);
  }
  ChosenConfiguration chosen = choose_configuration(options.choice);
  if (!chosen.usage.empty()) return usage_error("risk", chosen.usage, terminal);
  print_problems(chosen.problems, terminal);
  if (!chosen.document) return ExitStatus::failed;
  options.input.now = options.now;
  show_planes_by(chosen.document->configuration, options.input);
  std::optional<Loaded> loaded = load_or_report(options.input, terminal,
                                                {.asked = {},
                                                 .keep_going = arguments.has("keep-going"),
                                                 .planes_of_dumps = !options.choice.live_trust});
  if (!loaded) return ExitStatus::failed;
  terminal.error.write(load_notes(*loaded));
  if (loaded->configuration && !options.choice.is_named() && !options.choice.live_trust) {
    options.choice.found = &*loaded->configuration;
    chosen = choose_configuration(options.choice);
    if (!chosen.usage.empty()) return usage_error("risk", chosen.usage, terminal);
  }
  prepare_input(*loaded, chosen.document->configuration, options.now, options.choice.live_trust,
                arguments.has("keep-going"), terminal);
  name_configuration(*chosen.document, options.choice);
  return is_own_kind(options.target.written)
             ? print_own_kind(arguments, options, *loaded, *chosen.document, terminal)
             : print_risk(arguments, options, *loaded, *chosen.document, terminal);
}

}  // namespace makeway::cli
