#include "support/session_history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <variant>

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
                               Configuration configuration)
    : random_(random),
      options_(options),
      configuration_(std::move(configuration)),
      load_{.objects = random_sessions(random, options), .tasks = {}, .notes = {}},
      tools_(history_tools()),
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
    const std::int64_t before = evictions_;
    decide();
    if (evictions_ > before) last_calm_eviction_ = count;
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
    } else if (phase == SessionPhase::preempted && random_.chance(10)) {
      const Result<Session> resumed = resume_session(session);
      if (!resumed) complain(text_of(session) + " cannot be resumed");
      off_queue_till_.erase({session.namespace_name, session.name});
      if (resumed) keep(*resumed);
    }
  }
  if (!random_.chance(75)) return;
  keep(random_pending(random_, options_, loop_.cluster(), fmt::format("new{:02}", arrived_++),
                      now()));
}

}  // namespace makeway
