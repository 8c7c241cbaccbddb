#include "support/history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include "base/check.hpp"
#include "codec/dump.hpp"
#include "codec/plan_codec.hpp"
#include "judge/check_plan.hpp"
#include "policies/decide.hpp"

namespace makeway {
namespace {

PodKey key_of(const Pod& pod) { return {pod.namespace_name, pod.name}; }

std::string text_of(const PodKey& key) { return fmt::format("{}/{}", key.first, key.second); }

/// For the story: what kind of thing happened to which object.
std::string change_text(const Change& change) {
  if (const auto* const pod = std::get_if<Pod>(&change)) {
    return fmt::format("Pod {} comes or changes{}{}", text_of(key_of(*pod)),
                       pod->node.empty() ? "" : ", on " + pod->node,
                       pod->deletion ? ", leaving" : "");
  }
  if (const auto* const node = std::get_if<Node>(&change)) {
    return fmt::format("Node {} comes or changes{}", node->name,
                       node->unschedulable ? ", cordoned" : "");
  }
  if (const auto* const group = std::get_if<PodGroup>(&change)) {
    return fmt::format("PodGroup {}/{} comes or changes", group->namespace_name, group->name);
  }
  if (const auto* const gone = std::get_if<Removal>(&change)) {
    return fmt::format("{} {}/{} goes", gone->kind == ObjectKind::node ? "Node" : "object",
                       gone->namespace_name, gone->name);
  }
  return "another object comes or changes";
}

}  // namespace

std::string short_text(const Plan& plan) {
  std::string text;
  for (const PlanAsk& ask : plan.asks) {
    text += fmt::format("    {} ({}) {}", ask_text(ask), ask.priority, choice_name(ask.outcome));
    for (const PodPlacement& place : ask.placements) {
      text += fmt::format(", {} on {}", place.name, place.node);
    }
    for (const PlanVictim& victim : ask.victims) {
      text +=
          fmt::format(", evicts {}/{} ({})", victim.namespace_name, victim.name, victim.priority);
    }
    for (const PodPlacement& awaited : ask.waits_for) {
      text += fmt::format(", waits for {}/{}", awaited.namespace_name, awaited.name);
    }
    text += '\n';
  }
  for (const PlanQueue& queue : plan.queues) {
    text += fmt::format("    Queue {}:", queue.name);
    for (const PlanQueueShare& share : queue.shares) {
      text +=
          fmt::format(" {} deserves {} has {} uses {} ({} leaving) preempting {};", share.resource,
                      share.deserved, share.allocated, share.used, share.leaving, share.preempting);
    }
    text += '\n';
  }
  return text;
}

bool same_decisions(const Plan& a, const Plan& b) {
  const auto decided = [](const PlanAsk& ask) {
    std::vector<PodKey> victims;
    victims.reserve(ask.victims.size());
    for (const PlanVictim& each : ask.victims) victims.emplace_back(each.namespace_name, each.name);
    return std::tuple(ask_text(ask), ask.outcome, ask.placements, std::move(victims));
  };
  return std::ranges::equal(a.asks, b.asks, {}, decided, decided);
}

std::vector<Queue> queues_after(const Cluster& cluster, const Plan& plan) {
  std::vector<Queue> written;
  for (const PlanQueueStatus& reported : plan.queue_status) {
    Queue queue = cluster.own<Queue>().find({"", reported.name})->second;
    queue.deserved = reported.deserved;
    queue.allocated = reported.allocated;
    queue.used = reported.used;
    queue.preempting = reported.preempting;
    std::erase_if(queue.preempting, [](const Amount& item) { return item.amount == 0; });
    written.push_back(std::move(queue));
  }
  return written;
}

PlanTools history_tools() {
  return {.decide = decide,
          .check = [](const Cluster& cluster, const Configuration& configuration,
                      const Plan& plan) { return check_plan(cluster, configuration, plan); },
          .identify = [](const Plan& plan) { return plan_identity(plan); },
          .microseconds = [] { return std::int64_t{0}; }};
}

History::History(std::vector<Change> objects, Configuration configuration, Time now,
                 HistoryOptions options)
    : load_{.objects = std::move(objects), .tasks = {}, .notes = {}},
      configuration_(std::move(configuration)),
      options_(options),
      random_(options.seed),
      laws_(configuration_, options.takers),
      tools_(history_tools()),
      world_(load_, sim_options(now)),
      loop_(world_, configuration_, tools_,
            {.preset = "history", .every_ask = true, .watcher = &laws_}) {}

SimOptions History::sim_options(Time now) {
  SimOptions options{.cycle = {0}, .sample = {0}, .start = now, .seed = options_.seed};
  options.faults.conflict = options_.conflict;
  options.behaviour.grace = [this](const Pod&) {
    return Duration{random_.between(0, options_.grace_max.ms / 1000) * 1000};
  };
  options.behaviour.late = [this](const Pod& pod, Time when) { return lateness(pod, when); };
  options.behaviour.recreate = options_.recreate;
  return options;
}

/// A pod that should be gone long ago is stuck.
std::optional<Duration> History::lateness(const Pod& pod, Time now) {
  const auto reported = chosen_lateness_.find(key_of(pod));
  const bool stuck = random_.chance(options_.stuck_percent);
  const Duration late{random_.between(0, options_.late_max.ms)};
  std::optional<Duration> result = late;
  if (stuck || !still_awaited(pod, configuration_, now)) result.reset();
  if (reported != chosen_lateness_.end()) result = reported->second;
  if (!result) stuck_.insert(key_of(pod));
  return result;
}

// ---- One cycle ----------------------------------------------------------------------------------

const Plan& History::step() {
  const std::size_t before = laws_.complaints().size();
  const std::size_t plans = laws_.plans().size();
  loop_.step();
  CHECK(laws_.plans().size() > plans, "a request for all asks is valid");
  log(fmt::format("cycle {}\n{}", cycles(), short_text(this->plans().back())));
  complaints_.insert(complaints_.end(),
                     laws_.complaints().begin() + static_cast<std::ptrdiff_t>(before),
                     laws_.complaints().end());
  if (world_.metrics().refused > 0) complaints_.emplace_back("the world refuses an action");
  if (!complaints_.empty() && world_then_.empty()) {
    world_then_ = dump(loop_.cluster(), DumpFormat::yaml);
  }
  world_.pass(now() + Duration{random_.between(options_.step_min.ms, options_.step_max.ms)});
  return this->plans().back();
}

void History::happens(const Change& change) {
  log(change_text(change));
  world_.happens(change);
}

// ---- Looking at it ------------------------------------------------------------------------------

std::vector<Pod> History::pods() const {
  std::vector<Pod> result;
  for (const Change& object : world_.objects()) {
    if (const Pod* const pod = std::get_if<Pod>(&object)) result.push_back(*pod);
  }
  std::ranges::sort(result, {}, [](const Pod& pod) { return key_of(pod); });
  return result;
}

std::vector<Node> History::nodes() const {
  std::vector<Node> result;
  for (const Change& object : world_.objects()) {
    if (const Node* const node = std::get_if<Node>(&object)) result.push_back(*node);
  }
  return result;
}

bool History::has_pod(const PodKey& key) const {
  return std::ranges::any_of(pods(), [&](const Pod& pod) { return key_of(pod) == key; });
}

Pod History::pod(const PodKey& key) const {
  for (const Pod& each : pods()) {
    if (key_of(each) == key) return each;
  }
  CHECK(false, "there is such a pod");
}

bool History::any_pod_leaving() const {
  return std::ranges::any_of(pods(), [this](const Pod& pod) {
    return pod.deletion && !pod.node.empty() && !stuck_.contains(key_of(pod));
  });
}

void History::log(std::string line) {
  story_.push_back(fmt::format("{} {}", to_text(now()), std::move(line)));
}

std::string History::story() const {
  const std::string last = plans().empty() ? "" : plan_text_json(plans().back());
  return fmt::format("{}\n{}\nthe last plan: {}\nthe world at the first complaint:\n{}",
                     fmt::join(complaints_, "\n"), fmt::join(story_, "\n"), last, world_then_);
}

}  // namespace makeway
