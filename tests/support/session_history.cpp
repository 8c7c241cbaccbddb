#include "support/session_history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <variant>

#include "model/normalize.hpp"
#include "model/session_names.hpp"
#include "model/validation/validation.hpp"
#include "policies/session/session_actions.hpp"
#include "support/history.hpp"

namespace makeway {
namespace {

std::string text_of(const Session& session) {
  return fmt::format("{}/{}", session.namespace_name, session.name);
}

/// What must never change: everything but its status and where its kernels are.
Session configuration_of(Session session) {
  session.status = {};
  for (Kernel& kernel : session.kernels) {
    kernel.node.clear();
    kernel.nominated_node.clear();
  }
  return session;
}

/// It neither comes back by itself nor may be resumed.
bool ends_with(std::optional<SessionFate> fate) {
  const SessionFate what = fate.value_or(SessionFate::ends);
  return what == SessionFate::ends || what == SessionFate::to_autoscaler;
}

const Partition* partition_of(const Cluster& cluster, const Session& session) {
  const auto& all = cluster.own<Partition>();
  const auto found = all.find({std::string(), session.partition});
  return session.partition.empty() || found == all.end() ? nullptr : &found->second;
}

}  // namespace

SessionHistory::SessionHistory(Prng& random, const RandomSessions& options,
                               Configuration configuration, World world)
    : random_(random),
      options_(options),
      configuration_(std::move(configuration)),
      load_{.objects = random_sessions(random, options), .tasks = {}, .notes = {}},
      tools_(history_tools()),
      kind_(world),
      world_(load_, sim_options()),
      loop_(world_, configuration_, tools_,
            {.preset = "random", .every_ask = true, .watcher = this}) {
  for (const Session& session : sessions()) {
    const Key key(session.namespace_name, session.name);
    first_seen_.try_emplace(key, configuration_of(session));
    const bool leaves = session.status.ends_at && ends_with(session.status.fate);
    if (session.status.phase == SessionPhase::ended || leaves) ended_[key] = "from the start";
    if (session.status.fate == SessionFate::requeues && session.status.resume_after) {
      off_queue_till_[key] = *session.status.resume_after;
    }
  }
}

SimOptions SessionHistory::sim_options() {
  SimOptions sim{.cycle = {0}, .sample = {0}, .start = planning_now};
  sim.behaviour.session_late = [this](const Session&) {
    if (kind_ == World::adversarial && !calm_ && random_.chance(3)) {
      return std::optional<Duration>();  // Its kernels stay for good.
    }
    const bool late = !calm_ && random_.chance(10);
    return std::optional(Duration{late ? random_.between(1, 90) * 1'000 : 0});
  };
  // People come back when `disturb` says so.
  sim.behaviour.session_back = [](const Session&) { return std::optional<Duration>(); };
  return sim;
}

std::vector<Session> SessionHistory::sessions() const {
  std::vector<Session> all;
  for (const Change& object : world_.objects()) {
    if (const Session* const session = std::get_if<Session>(&object)) all.push_back(*session);
  }
  return all;
}

void SessionHistory::keep(const Session& session) {
  first_seen_.try_emplace({session.namespace_name, session.name}, configuration_of(session));
  world_.happens(session);
}

void SessionHistory::complain(const std::string& text) {
  complaints_.push_back(fmt::format("{}: {}", to_text(now()), text));
}

std::string SessionHistory::story() const { return fmt::format("{}\n", fmt::join(story_, "\n")); }

void SessionHistory::step() {
  decide();
  world_.pass(now() + Duration{1'000 * random_.between(2, 90)});
  disturb();
}

void SessionHistory::calm(std::size_t cycles) {
  calm_ = true;
  for (std::size_t count = 1; count <= cycles; ++count) {
    const std::int64_t evictions = evictions_;
    const std::int64_t starts = starts_;
    decide();
    if (evictions_ > evictions) last_calm_eviction_ = count;
    if (starts_ > starts) last_calm_start_ = count;
    world_.pass(now() + Duration{300'000});
  }
}

// ---- One cycle ----------------------------------------------------------------------------------

void SessionHistory::decide() {
  loop_.step();
  if (world_.metrics().refused > 0) complain("the world refuses an action");
  judge_states();
}

void SessionHistory::start(const LoopStart& /*start*/) {}

void SessionHistory::batch(const AppliedBatch& /*batch*/, const Cluster& /*cluster*/) {}

void SessionHistory::cycle(const MadeCycle& cycle, const Cluster& cluster) {
  for (const RefusedPlan& refused : cycle.made.refused) {
    for (const LawBreach& breach : refused.breaches) {
      complain(fmt::format("law {}, {}: {}", breach.law, breach.ask, breach.text));
    }
  }
  expected_.clear();
  if (!cycle.made.plan) return;
  judge_asks(*cycle.made.plan);
  for (const auto& [key, session] : cluster.own<Session>()) {
    expected_[{session.namespace_name, session.name}] = session;
  }
  for (const Session& session : sessions_after(cluster, *cycle.made.plan)) {
    expected_[{session.namespace_name, session.name}] = session;
  }
  for (const PlanAsk& ask : cycle.made.plan->asks) {
    if (ask.session) note_outcome(ask, cluster);
  }
}

/// Every session that waits for a turn has one, and no other.
void SessionHistory::judge_asks(const Plan& plan) {
  std::set<Key> asked;
  for (const PlanAsk& ask : plan.asks) {
    if (ask.session) asked.insert({ask.namespace_name, ask.name});
  }
  for (const Session& session : sessions()) {
    const Key key(session.namespace_name, session.name);
    const SessionStatus& status = session.status;
    const auto off = off_queue_till_.find(key);
    const bool back = status.phase == SessionPhase::preempted && off != off_queue_till_.end() &&
                      off->second <= now();
    const bool waits =
        status.phase == SessionPhase::pending || status.phase == SessionPhase::suspended || back;
    if (waits && !asked.contains(key)) complain(text_of(session) + " is forgotten");
    if (!waits && asked.contains(key)) complain(text_of(session) + " asks out of its turn");
  }
}

void SessionHistory::note_outcome(const PlanAsk& ask, const Cluster& cluster) {
  const Key key(ask.namespace_name, ask.name);
  if (ask.outcome == Outcome::fits) {
    if (cluster.own<Session>().at(key).status.preemptions > 0) ++resumed_;
    ++starts_;
    off_queue_till_.erase(key);
    story_.push_back(fmt::format("{} {}/{} starts", to_text(now()), ask.namespace_name, ask.name));
  }
  for (const PlanSessionVictim& victim : ask.session->victims) judge_victim(ask, victim, cluster);
}

void SessionHistory::judge_victim(const PlanAsk& ask, const PlanSessionVictim& victim,
                                  const Cluster& cluster) {
  const Key key(victim.namespace_name, victim.name);
  const Session& session = cluster.own<Session>().at(key);
  const SessionSettings& settings = configuration_.session;
  ++evictions_;
  story_.push_back(fmt::format("{} {} leaves for {} and {}", to_text(now()), text_of(session),
                               ask_text(ask), choice_name(victim.fate)));
  if (ends_with(victim.fate)) ended_[key] = "preempted by " + ask_text(ask);
  if (victim.resume_after) {
    off_queue_till_[key] = *victim.resume_after;
    if (*victim.resume_after < victim.ends_at + settings.backoff_first &&
        settings.backoff_first <= settings.backoff_max) {
      complain(text_of(session) + " comes back before its back-off");
    }
  }
  const Partition* const own = partition_of(cluster, session);
  const Time created = std::min(now(), session.created.value_or(now()));
  const Duration age = now() - session.status.started.value_or(created);
  if (own != nullptr && age < own->exempt_time) {
    complain(fmt::format("{} leaves for {} in its exempt time", text_of(session), ask_text(ask)));
  }
  if (settings.max_preemptions > 0 && session.status.preemptions >= settings.max_preemptions) {
    complain(text_of(session) + " is preempted once too often");
  }
}

/// No session is lost or replaced, and the world has done what was decided.
void SessionHistory::judge_states() {
  std::map<Key, Session> there;
  for (const Session& session : sessions()) {
    there[{session.namespace_name, session.name}] = session;
  }
  for (const auto& [key, session] : expected_) {
    const auto found = there.find(key);
    if (found != there.end() && found->second == session) continue;
    // Without a grace time it is gone at once.
    const bool over = session.status.ends_at && *session.status.ends_at <= now();
    if (over && found != there.end() && found->second == take_off_session(session)) continue;
    complain(text_of(session) + " is written down otherwise than it was decided");
  }
  for (const auto& [key, first] : first_seen_) {
    const auto found = there.find(key);
    if (found == there.end()) {
      complain(text_of(first) + " is gone");
      continue;
    }
    const Session& session = found->second;
    if (!(configuration_of(session) == first)) complain(text_of(first) + " has changed");
    const bool waits_outside = session.status.phase == SessionPhase::preempted;
    const bool by_itself =
        session.status.fate == SessionFate::requeues && session.status.resume_after;
    if (waits_outside && !by_itself && session.status.fate != SessionFate::on_request) {
      complain(text_of(session) + " is preempted and has no way back");
    }
    if (session.status.phase == SessionPhase::ended && !ended_.contains(key)) {
      complain(text_of(session) + " has ended for no reason");
    }
  }
  for (const Problem& problem : find_errors(cluster_of(world_.objects()))) {
    complain(fmt::format("{} {}: {}", problem.object, problem.field, problem.message));
  }
}

// ---- What else happens --------------------------------------------------------------------------

void SessionHistory::disturb() {
  for (const Session& session : sessions()) {
    const SessionPhase phase = session.status.phase;
    if (phase == SessionPhase::running && random_.chance(7)) {
      Session done = session;
      done.status.phase = SessionPhase::ended;
      done.status.ends_at.reset();
      for (Kernel& kernel : done.kernels) kernel.node.clear();
      ended_[{done.namespace_name, done.name}] = "finished";
      story_.push_back(fmt::format("{} {} finishes", to_text(now()), text_of(done)));
      keep(done);
    } else if ((phase == SessionPhase::preempted && random_.chance(10)) ||
               (phase == SessionPhase::suspended && kind_ == World::adversarial &&
                random_.chance(5))) {
      const Result<Session> resumed = resume_session(session);
      if (!resumed) complain(text_of(session) + " cannot be resumed");
      off_queue_till_.erase({session.namespace_name, session.name});
      if (resumed) keep(*resumed);
    }
  }
  if (kind_ == World::adversarial && random_.chance(8)) move_node();
  if (!random_.chance(75)) return;
  keep(random_pending(random_, options_, loop_.cluster(), fmt::format("new{:02}", arrived_++),
                      now()));
}

/// To another group, as an administrator would: with its label, the lists of groups and those of
/// their partitions.
void SessionHistory::move_node() {
  const Cluster& cluster = loop_.cluster();
  const auto& groups = cluster.own<ResourceGroup>();
  const auto nodes = cluster.nodes_by_name();
  if (groups.size() < 2 || nodes.empty()) return;
  Node node = cluster.node(nodes[random_.below(nodes.size())]);
  const std::string to =
      std::next(groups.begin(), static_cast<std::ptrdiff_t>(random_.below(groups.size())))
          ->second.name;
  std::vector<Change> changes;
  for (const auto& [key, group] : groups) {
    ResourceGroup next = group;
    std::erase(next.nodes, node.name);
    const bool by_label = !next.node_selector.empty();
    if (group.name == to && !by_label) next.nodes.push_back(node.name);
    normalize(next);
    // Without a node it would select none, which is an error.
    if (!by_label && next.nodes.empty()) return;
    if (!(next == group)) changes.emplace_back(next);
  }
  for (const auto& [key, partition] : cluster.own<Partition>()) {
    Partition next = partition;
    if (partition.resource_group != to) std::erase(next.nodes, node.name);
    if (!(next == partition)) changes.emplace_back(next);
  }
  node.labels = {{"pool", to}};
  changes.emplace_back(node);
  for (const Change& change : changes) world_.happens(change);
  ++moved_nodes_;
  story_.push_back(fmt::format("{} node {} moves to {}", to_text(now()), node.name, to));
}

// ---- Rest ---------------------------------------------------------------------------------------

namespace {

using FreeAmounts = std::map<std::string, Amounts>;  ///< By node; what is left of it.

std::int64_t* amount_in(Amounts& amounts, std::string_view resource) {
  const auto found = std::ranges::find(amounts, resource, &Amount::resource);
  return found == amounts.end() ? nullptr : &found->amount;
}

bool take(Amounts& free, const Amounts& requests) {
  bool fits = true;
  for (const Amount& amount : requests) {
    std::int64_t* const left = amount_in(free, amount.resource);
    if (left != nullptr) *left -= amount.amount;
    fits = fits && (amount.amount == 0 || (left != nullptr && *left >= 0));
  }
  return fits;
}

/// What the nodes have left that the session may use.
FreeAmounts free_for(const Cluster& cluster, const Session& session) {
  FreeAmounts free;
  const ResourceGroup& group =
      cluster.own<ResourceGroup>().at({std::string(), session.resource_group});
  const Partition* const own = partition_of(cluster, session);
  for (const NodeIndex index : cluster.nodes_by_name()) {
    const Node node = cluster.node(index);
    const bool selected =
        !group.node_selector.empty() && std::ranges::includes(node.labels, group.node_selector);
    const bool listed = std::ranges::count(group.nodes, node.name) > 0;
    const bool in_partition =
        own == nullptr || own->nodes.empty() || std::ranges::count(own->nodes, node.name) > 0;
    if ((selected || listed) && in_partition && !node.unschedulable) {
      free[node.name] = node.allocatable;
    }
  }
  for (const PodIndex index : cluster.each_pod()) {
    const Pod pod = cluster.pod(index);
    const auto at = free.find(pod.node);
    if (at != free.end()) take(at->second, pod.requests);
  }
  for (const auto& [key, other] : cluster.own<Session>()) {
    for (const Kernel& kernel : other.kernels) {
      const auto at = free.find(kernel.node);
      if (at == free.end()) continue;
      Amounts held = kernel.requests;
      if (other.status.phase == SessionPhase::suspended) {
        std::erase_if(held, [](const Amount& amount) { return amount.resource != "memory"; });
      }
      take(at->second, held);
    }
  }
  return free;
}

bool fits_from(const Session& session, std::size_t kernel, const FreeAmounts& free) {
  if (kernel == session.kernels.size()) return true;
  for (const auto& [node, amounts] : free) {
    FreeAmounts next = free;
    if (take(next[node], session.kernels[kernel].requests) &&
        fits_from(session, kernel + 1, next)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<std::int64_t> SessionHistory::judge_rest() {
  const Cluster cluster = cluster_of(world_.objects());
  for (const auto& [key, session] : cluster.own<Session>()) {
    if (session.status.phase == SessionPhase::running && session.status.ends_at) {
      return std::nullopt;
    }
  }
  for (const PodIndex pod : cluster.each_pod()) {
    if (cluster.pods().deletion[pod] != no_time) return std::nullopt;
  }
  std::int64_t asked = 0;
  for (const auto& [key, session] : cluster.own<Session>()) {
    if (standing_of(session, now()) != SessionStanding::pending) continue;
    ++asked;
    if (fits_from(session, 0, free_for(cluster, session))) {
      complain("law 15: " + text_of(session) + " would fit in free room and waits");
    }
  }
  return asked;
}

}  // namespace makeway
