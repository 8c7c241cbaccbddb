#include "support/session_history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "judge/check_plan.hpp"
#include "model/session_names.hpp"
#include "model/validation/validation.hpp"
#include "policies/decide.hpp"
#include "policies/session/session_actions.hpp"

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

std::vector<KernelPlace> places_of(const PlanAsk& ask) {
  std::vector<KernelPlace> places;
  places.reserve(ask.placements.size());
  for (const PodPlacement& place : ask.placements) {
    places.push_back({.kernel = place.name.substr(ask.name.size() + 1), .node = place.node});
  }
  return places;
}

const Partition* partition_of(const Cluster& cluster, const Session& session) {
  const auto& all = cluster.own<Partition>();
  const auto found = all.find({std::string(), session.partition});
  return session.partition.empty() || found == all.end() ? nullptr : &found->second;
}

}  // namespace

SessionHistory::SessionHistory(Prng& random, const RandomSessions& options,
                               Configuration configuration)
    : random_(random), options_(options), configuration_(std::move(configuration)) {
  for (const Change& object : random_sessions(random, options)) {
    cluster_.apply(object);
  }
  for (const Session& session : sessions()) keep(session);
  for (const Session& session : sessions()) {
    if (session.status.fate == SessionFate::requeues && session.status.resume_after) {
      off_queue_till_[{session.namespace_name, session.name}] = *session.status.resume_after;
    }
  }
}

std::vector<Session> SessionHistory::sessions() const {
  std::vector<Session> all;
  for (const auto& [key, session] : cluster_.own<Session>()) all.push_back(session);
  return all;
}

void SessionHistory::keep(const Session& session) {
  first_seen_.try_emplace({session.namespace_name, session.name}, configuration_of(session));
  cluster_.apply(session);
}

void SessionHistory::complain(const std::string& text) {
  complaints_.push_back(fmt::format("{}: {}", to_text(now_), text));
}

std::string SessionHistory::story() const { return fmt::format("{}\n", fmt::join(story_, "\n")); }

void SessionHistory::step() {
  cycle();
  pass(Duration{1'000 * random_.between(2, 90)}, random_.chance(20));
  disturb();
}

void SessionHistory::calm(std::size_t cycles) {
  for (std::size_t count = 1; count <= cycles; ++count) {
    const std::int64_t before = evictions_;
    cycle();
    if (evictions_ > before) last_calm_eviction_ = count;
    pass(Duration{300'000}, false);
  }
}

// ---- One cycle ----------------------------------------------------------------------------------

void SessionHistory::cycle() {
  const Decision decision =
      decide(cluster_, configuration_,
             {.now = now_, .preset = "random", .asks = {}, .placements = {}, .explain = false});
  const Plan& plan = *decision.plan;
  for (const LawBreach& breach : check_plan(cluster_, configuration_, plan)) {
    complain(fmt::format("law {}, {}: {}", breach.law, breach.ask, breach.text));
  }
  judge_asks(plan);
  carry_out(plan);
  judge_states();
}

/// Everybody who waits for a turn has one, and nobody else.
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
                      off->second <= now_;
    const bool waits =
        status.phase == SessionPhase::pending || status.phase == SessionPhase::suspended || back;
    if (waits && !asked.contains(key)) complain(text_of(session) + " is forgotten");
    if (!waits && asked.contains(key)) complain(text_of(session) + " asks out of its turn");
  }
}

void SessionHistory::carry_out(const Plan& plan) {
  std::map<Key, Session> changed;
  for (const PlanAsk& ask : plan.asks) {
    if (!ask.session) continue;
    const Key key(ask.namespace_name, ask.name);
    const Session& session = cluster_.own<Session>().at(key);
    if (ask.outcome == Outcome::fits) {
      if (session.status.preemptions > 0) ++resumed_;
      changed[key] = ask.session->runs_on ? run_on_session(session)
                                          : start_session(session, places_of(ask), now_);
      off_queue_till_.erase(key);
      story_.push_back(fmt::format("{} {} starts", to_text(now_), text_of(session)));
    } else if (!ask.session->runs_on) {
      changed[key] = nominate_session(session, places_of(ask));
    }
    carry_out_victims(ask, changed);
  }
  // What the program itself would write into the objects is the same.
  std::map<Key, Session> own;
  for (const Session& session : sessions_after(cluster_, plan)) {
    own[{session.namespace_name, session.name}] = session;
  }
  for (const auto& [key, session] : changed) {
    const bool same =
        own.contains(key) ? own.at(key) == session : cluster_.own<Session>().at(key) == session;
    if (!same) complain(text_of(session) + " is written down otherwise than it was decided");
  }
  for (const auto& [key, session] : own) {
    if (!changed.contains(key)) complain(text_of(session) + " is written down, and nobody asked");
  }
  for (const auto& [key, session] : changed) keep(session);
  for (const PlanAction& action : plan.actions) {  // Pods that share the nodes.
    const auto pod = cluster_.find_pod(action.namespace_name, action.name);
    if (action.type != ActionType::bind || !pod || cluster_.pods().flags[*pod].kernel) continue;
    Pod bound = cluster_.pod(*pod);
    bound.node = action.node;
    cluster_.apply(bound);
  }
}

void SessionHistory::carry_out_victims(const PlanAsk& ask, std::map<Key, Session>& changed) {
  for (const PlanSessionVictim& victim : ask.session->victims) {
    const Key key(victim.namespace_name, victim.name);
    const Session& session = cluster_.own<Session>().at(key);
    judge_victim(ask, session);
    ++evictions_;
    story_.push_back(fmt::format("{} {} leaves for {} and {}", to_text(now_), text_of(session),
                                 ask_text(ask), choice_name(victim.fate)));
    if (victim.resume_after) {
      off_queue_till_[key] = *victim.resume_after;
      if (*victim.resume_after < victim.ends_at + configuration_.session.backoff_first &&
          configuration_.session.backoff_first <= configuration_.session.backoff_max) {
        complain(text_of(session) + " comes back before its back-off");
      }
    }
    changed[key] = notice_session(session, {.by = ask_text(ask),
                                            .fate = victim.fate,
                                            .now = now_,
                                            .ends_at = victim.ends_at,
                                            .resume_after = victim.resume_after});
  }
}

void SessionHistory::judge_victim(const PlanAsk& ask, const Session& victim) {
  const Partition* const own = partition_of(cluster_, victim);
  const Time created = std::min(now_, victim.created.value_or(now_));
  const Duration age = now_ - victim.status.started.value_or(created);
  if (own != nullptr && age < own->exempt_time) {
    complain(fmt::format("{} leaves for {} in its exempt time", text_of(victim), ask_text(ask)));
  }
  const std::int64_t most = configuration_.session.max_preemptions;
  if (most > 0 && victim.status.preemptions >= most) {
    complain(text_of(victim) + " is preempted once too often");
  }
}

/// Nothing is lost, and nobody has become somebody else.
void SessionHistory::judge_states() {
  for (const auto& [key, first] : first_seen_) {
    const auto found = cluster_.own<Session>().find(key);
    if (found == cluster_.own<Session>().end()) {
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
  for (const Problem& problem : find_errors(cluster_)) {
    complain(fmt::format("{} {}: {}", problem.object, problem.field, problem.message));
  }
}

// ---- What else happens --------------------------------------------------------------------------

void SessionHistory::pass(Duration duration, bool late) {
  now_ = now_ + duration;
  for (const Session& session : sessions()) {
    const SessionStatus& status = session.status;
    const bool over =
        status.phase == SessionPhase::running && status.ends_at && *status.ends_at <= now_;
    if (!over || (late && random_.chance(50))) continue;
    const Session gone = take_off_session(session);
    if (gone.status.phase == SessionPhase::ended) {
      ended_[{gone.namespace_name, gone.name}] = "preempted by " + status.preempted_by;
    }
    keep(gone);
  }
}

void SessionHistory::disturb() {
  for (const Session& session : sessions()) {
    const SessionPhase phase = session.status.phase;
    if (phase == SessionPhase::running && random_.chance(7)) {
      Session done = session;
      done.status.phase = SessionPhase::ended;
      done.status.ends_at.reset();
      for (Kernel& kernel : done.kernels) kernel.node.clear();
      ended_[{done.namespace_name, done.name}] = "finished";
      story_.push_back(fmt::format("{} {} finishes", to_text(now_), text_of(done)));
      keep(done);
    } else if (phase == SessionPhase::preempted && random_.chance(10)) {
      const Result<Session> resumed = resume_session(session);
      if (!resumed) complain(text_of(session) + " cannot be resumed");
      off_queue_till_.erase({session.namespace_name, session.name});
      if (resumed) keep(*resumed);
    }
  }
  if (!random_.chance(75)) return;
  keep(random_pending(random_, options_, cluster_, fmt::format("new{:02}", arrived_++), now_));
}

}  // namespace makeway
