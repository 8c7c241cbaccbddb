#include "support/mixed_history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "codec/dump.hpp"
#include "model/cluster_objects.hpp"
#include "model/validation/validation.hpp"
#include "support/history.hpp"
#include "support/random_planning.hpp"

namespace makeway {
namespace {

constexpr Duration calm_step{300'000};
constexpr std::uint64_t brisk_cycles = 10;

bool changes_the_world(const PlanAction& action) {
  return action.type != ActionType::wait && action.type != ActionType::nominate &&
         action.type != ActionType::reserve;
}

std::vector<Session> sessions_of(const Cluster& cluster) {
  std::vector<Session> all;
  for (const auto& [key, session] : cluster.own<Session>()) all.push_back(session);
  return all;
}

}  // namespace

MixedHistory::MixedHistory(const Cluster& cluster, Configuration configuration, Time now,
                           MixedHistoryOptions options)
    : load_{.objects = objects_of(cluster), .tasks = {}, .notes = {}},
      configuration_(std::move(configuration)),
      options_(options),
      random_(options.seed),
      tools_(history_tools()),
      ledger_(configuration_),
      world_(load_, sim_options(now)) {
  start_loop();
}

void MixedHistory::start_loop() {
  loop_.emplace(static_cast<Port&>(*this), configuration_, tools_,
                LoopOptions{.preset = "history", .every_ask = true, .watcher = this});
}

/// As a list of everything shows it.
Cluster MixedHistory::seen() const { return cluster_of(world_.objects()); }

void MixedHistory::log(std::string line) {
  story_.push_back(fmt::format("{} {}", to_text(now()), std::move(line)));
}

std::string MixedHistory::story() const {
  return fmt::format("{}\n{}\nthe world before the last cycle:\n{}\n", fmt::join(complaints_, "\n"),
                     fmt::join(story_, "\n"), last_world_);
}

// ---- What the world leaves open -----------------------------------------------------------------

SimOptions MixedHistory::sim_options(Time now) {
  SimOptions sim{.cycle = {0}, .sample = {0}, .start = now, .seed = options_.seed};
  SimBehaviour& behaviour = sim.behaviour;
  behaviour.grace = [this](const Pod&) {
    return Duration{random_.between(0, options_.grace_max_s) * 1'000};
  };
  behaviour.late = [this](const Pod& pod, Time) { return lateness(pod); };
  behaviour.session_late = [this](const Session& session) { return session_lateness(session); };
  // A session that waits for a user waits for ever.
  behaviour.session_back = [](const Session&) { return std::optional<Duration>(); };
  behaviour.removes = [this](const std::vector<const Pod*>& pods) { return removes(pods); };
  behaviour.lands = [this](const Pod& pod, const std::vector<std::string>& nodes) {
    const std::size_t chosen = random_.below(nodes.size());
    log(fmt::format("{} lands on {}", pod.name, nodes[chosen]));
    ledger_.happened_on(nodes[chosen]);
    return chosen;
  };
  behaviour.forced = [this](const Pod& pod) { return forced(pod); };
  behaviour.scales_deployments = configuration_.replica.enabled;
  behaviour.recreate = options_.recreate;
  return sim;
}

std::optional<Duration> MixedHistory::lateness(const Pod& pod) {
  const Key key(pod.namespace_name, pod.name);
  leaving_[key] = {.node = pod.node, .room = pod.requests};
  if (!stuck_.contains(key) && !is_stuck(pod)) {
    return Duration{1'000 * random_.between(0, options_.late_max_s)};
  }
  stuck_.insert(key);
  return std::nullopt;
}

/// A pod without a finalizer is gone at once.
std::optional<Duration> MixedHistory::forced(const Pod& pod) {
  const Key key(pod.namespace_name, pod.name);
  if (finalizers_.contains(key)) return std::nullopt;
  log(fmt::format("{} is force-deleted", pod.name));
  stuck_.erase(key);
  return Duration{0};
}

std::optional<Duration> MixedHistory::session_lateness(const Session& session) {
  const Key key(session.namespace_name, session.name);
  const Kernel& first = session.kernels.front();
  leaving_sessions_[key] = {.node = first.node, .room = first.requests};
  if (stuck_sessions_.contains(key)) return std::nullopt;
  if (options_.hostility != nullptr && options_.hostility->strikes(HostileAct::will_not_leave)) {
    options_.hostility->happened(HostileAct::will_not_leave);
    stuck_sessions_.insert(key);
    log(fmt::format("HOSTILE: session {} will not leave", session.name));
    return std::nullopt;
  }
  const bool late = options_.late_max_s > 0 && !calm_ && random_.chance(30);
  return Duration{late ? 1'000 * random_.between(1, options_.late_max_s) : 0};
}

/// Any of them; pods that are not bound go first, as in ReplicaSet's order.
std::size_t MixedHistory::removes(const std::vector<const Pod*>& pods) {
  std::vector<std::size_t> order(pods.size());
  for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
  random_.shuffle(order);
  for (const std::size_t at : order) {
    if (pods[at]->node.empty()) return at;
  }
  const std::size_t chosen = removes_claimed(pods, order);
  ledger_.happened_on(pods[chosen]->node);
  return chosen;
}

// ---- Between the loop and the world -------------------------------------------------------------

void MixedHistory::start(const LoopStart& /*start*/) {}

/// A new process is shown everything, and gets no answers to requests of the crashed one.
Batch MixedHistory::poll(Time deadline) {
  Batch batch = world_.poll(deadline);
  if (std::exchange(crashed_, false)) {
    batch.changes = world_.objects();
    batch.receipts.clear();
    receipts_.clear();
  }
  std::ranges::move(receipts_, std::back_inserter(batch.receipts));
  receipts_.clear();
  return batch;
}

void MixedHistory::batch(const AppliedBatch& batch, const Cluster& /*cluster*/) {
  for (const Receipt& receipt : batch.receipts) {
    log(fmt::format("refused: {} for {}: {}", ref_text(receipt.object), ref_text(receipt.ask),
                    receipt.reason));
  }
}

void MixedHistory::cycle(const MadeCycle& cycle, const Cluster& cluster) {
  for (const RefusedPlan& refused : cycle.made.refused) {
    plan_ = refused.plan;
    for (const LawBreach& breach : refused.breaches) {
      complaints_.push_back(
          fmt::format("{} law {}: {}: {}", to_text(now()), breach.law, breach.ask, breach.text));
    }
  }
  if (!cycle.made.plan) return;
  plan_ = *cycle.made.plan;
  log("cycle\n" + short_text(plan_));
  acted_ = std::ranges::any_of(plan_.actions, changes_the_world);
  if (options_.hostility == nullptr) return;
  std::ranges::copy(ledger_.judge(cluster, plan_), std::back_inserter(complaints_));
  if (has_queues(cluster) && places_outside(plan_, cluster)) ledger_.happened_everywhere();
}

void MixedHistory::submit(const Plan& plan) {
  if (!complaints_.empty()) return;
  if (options_.hostility == nullptr) return world_.submit(plan);
  const Cluster before = seen();
  std::vector<Effect> effects = effects_of(plan, before);
  const std::size_t dropped = mistake_victim(plan, effects) + crash_halfway(effects);
  Plan left = plan;
  left.actions.clear();
  left.queue_status.clear();
  left.replica_status.clear();
  for (const Effect& effect : effects) {
    for (const PlanAction* const action : effect.actions) left.actions.push_back(*action);
    if (effect.queue != nullptr) left.queue_status.push_back(*effect.queue);
    if (effect.replica != nullptr) left.replica_status.push_back(*effect.replica);
  }
  const std::map<Key, std::int64_t> replicas = replica_totals(seen());
  world_.submit(left);
  hold_by_finalizers(left);
  if (replica_totals(seen()) != replicas) {
    complaints_.emplace_back("replicas are lost or made up: committed and unmet no longer add up");
  }
  if (dropped == 0) decide_once_more(plan, before);
}

// ---- One cycle ----------------------------------------------------------------------------------

const Plan& MixedHistory::step() {
  if (options_.hostility != nullptr) last_world_ = dump(seen(), DumpFormat::json);
  if (crashed_) start_loop();
  loop_->step();
  if (world_.metrics().refused > 0) complaints_.emplace_back("the world refuses an action");
  if (!complaints_.empty()) return plan_;
  expect_sound();
  pass();
  still_ = calm_cycles_ > brisk_cycles && last_world_ == dump(seen(), DumpFormat::json);
  return plan_;
}

/// What was decided must be input that the next cycle accepts.
void MixedHistory::expect_sound() {
  for (const Problem& problem : find_errors(seen())) {
    if (options_.hostility != nullptr && problem.severity == Severity::warning) continue;
    complaints_.push_back(fmt::format("{} {}", to_text(now()), to_text(problem)));
  }
}

void MixedHistory::pass() {
  if (options_.happenings && !calm_) something_happens();
  // A hostile world goes on at its old pace for a while: much is decided within a timeout.
  const bool slow = calm_ && (options_.hostility == nullptr || ++calm_cycles_ > brisk_cycles);
  const Cluster before = seen();
  world_.pass(now() + (slow ? calm_step : Duration{random_.between(1'000, options_.step_max.ms)}));
  if (options_.hostility == nullptr) return;
  note_new(before);
  take_left_room();
  HostileWorld hostile(seen(), *options_.hostility, now());
  hostile.change();
  carry_out(hostile);
}

/// Controllers make pods again, which matters to all queues.
void MixedHistory::note_new(const Cluster& before) {
  const Cluster after = seen();
  if (!has_queues(after)) return;
  after.each<Pod>([&](const Pod& pod) {
    if (!before.find_pod(pod.namespace_name, pod.name)) ledger_.happened_everywhere();
  });
}

/// Foreign pods come for the room of pods that are gone.
void MixedHistory::take_left_room() {
  const Cluster cluster = seen();
  std::vector<LeavingRoomOf> free;
  std::erase_if(leaving_, [&](const auto& each) {
    const auto& [key, room] = each;
    if (cluster.find_pod(key.first, key.second)) return false;
    log(fmt::format("{}/{} is gone", key.first, key.second));
    free.push_back(room);
    return true;
  });
  std::erase_if(leaving_sessions_, [&](const auto& each) {
    const auto& [key, room] = each;
    const auto found = cluster.own<Session>().find({key.first, key.second});
    const bool there = found != cluster.own<Session>().end() && found->second.status.ends_at &&
                       found->second.status.phase == SessionPhase::running;
    if (there) return false;
    log(fmt::format("session {} has left", key.second));
    const bool keeps =
        found != cluster.own<Session>().end() && !found->second.kernels.front().node.empty();
    if (!keeps) free.push_back(room);  // Unless it is suspended, or runs again.
    return true;
  });
  for (const LeavingRoomOf& each : free) take_room(each.node, each.room);
}

// ---- What else happens --------------------------------------------------------------------------

void MixedHistory::something_happens() {
  const Cluster cluster = seen();
  const std::vector<PodIndex> all = cluster.pods_by_name();
  if (!all.empty() && random_.chance(25)) {
    Pod pod = cluster.pod(random_.pick(all));
    if (!pod.deletion && !pod.node.empty()) {
      pod.deletion_grace_seconds =
          static_cast<std::int32_t>(random_.between(0, options_.grace_max_s));
      pod.deletion = now() + Duration{std::int64_t{1'000} * pod.deletion_grace_seconds};
      world_.happens(pod);
    }
  }
  if (!cluster.nodes_by_name().empty() && random_.chance(10)) {
    Node node = cluster.node(random_.pick(cluster.nodes_by_name()));
    node.unschedulable = !node.unschedulable;
    log(fmt::format("{} is {}", node.name, node.unschedulable ? "cordoned" : "open"));
    world_.happens(node);
  }
  std::vector<Session> running = sessions_of(cluster);
  std::erase_if(running, [](const Session& session) {
    return session.status.phase != SessionPhase::running || session.status.ends_at;
  });
  if (running.empty() || !random_.chance(15)) return;
  Session done = random_.pick(running);
  done.status.phase = SessionPhase::ended;
  for (Kernel& kernel : done.kernels) kernel.node.clear();
  log(fmt::format("session {} finishes", done.name));
  world_.happens(done);
}

}  // namespace makeway
