#include "policies/workload/pod/pod_policy.hpp"

#include <algorithm>

#include "engine/refusals.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"
#include "policies/shared/waiting.hpp"
#include "policies/workload/cascades.hpp"
#include "policies/workload/pod/node_choice.hpp"
#include "policies/workload/pod/node_ranking.hpp"
#include "policies/workload/pod/pod_explain.hpp"
#include "policies/workload/queue_room_victims.hpp"
#include "policies/workload/victim_search.hpp"

namespace makeway {
namespace {

class PodPolicy {
 public:
  PodPolicy(const Draft& draft, const PodTask& task)
      : draft_(draft),
        world_(draft.world),
        kept_(task.kept),
        pod_(task.pod),
        ask_(start_pod_ask(world_.cluster(), task.pod)),
        only_(task.only),
        in_domain_(task.domain != nullptr),
        domain_name_(task.domain_name),
        minimum_waits_(task.minimum_waits) {
    domain_ = only_        ? std::span<const NodeIndex>(&*only_, 1)
              : in_domain_ ? std::span<const NodeIndex>(*task.domain)
                           : world_.survey().nodes();
    ask_.placement_given = only_.has_value();
    ask_.explanation.nodes_considered = static_cast<std::int64_t>(domain_.size());
    cascades_count_ = cascades_count(world_.configuration());
  }

  PlanAsk run();
  /// Law 6: nothing was found. Whether it fits once those have left, too, who take their time.
  bool finds_late_room();
  PlanAsk take_ask() { return std::move(ask_); }
  /// Law 6: credits pods that leave late and were made to leave for its nomination, if that holds.
  void credit_own_late();
  bool same_as_before() const { return same_as_before_; }

  /// Where `run` placed it, if anywhere, and who leaves for it.
  NodeIndex node() const { return node_; }
  std::span<const PodIndex> victims() const { return victims_; }

 private:
  bool was_answered() const;
  static constexpr std::size_t told_max = 2;  ///< The best, and the next one as its alternative.

  const Unit& unit() const { return world_.cluster().units()[world_.cluster().pods().unit[pod_]]; }

  void decide(PodFit& after, PodFit* now);
  bool finds_room(PodFit& after, PodFit* now);
  bool finds_room_now(NodeIndex node);
  void wait_in_queue(NodeIndex node);
  std::span<const PodIndex> self() const { return {&pod_, 1}; }
  void place(NodeIndex node) {
    node_ = node;
    ask_.placements = {placement_of(world_.cluster(), pod_, node)};
  }
  bool held_by_nomination(PodFit& after);
  void preempt(PodFit& after);
  QueueVerdict suits_queue(PodFit& after, Candidate& candidate);
  void preempt_for_queue(PodFit& after);
  void search_all(PodFit& fit, VictimSearch& search);
  void search_best(PodFit& fit, VictimSearch& search);
  void trim();
  std::size_t kept_max() const {
    return static_cast<std::size_t>(world_.configuration().engine.alternatives_max) + 1;
  }
  /// Put-backs do not look at the score, so there it is enough to follow cascades in the end.
  bool follows_each() const {
    return cascades_count_ &&
           world_.configuration().workload.victim_choice == VictimChoiceRule::best;
  }
  bool ties_until_cascades(const Candidate& a, const Candidate& b) const;
  void follow_cascades(Cascades& cascades);
  bool evens_out_later() const;
  void nothing_works(bool unproven);
  void queue_is_full(QueueVerdict verdict);

  const Draft& draft_;
  World& world_;
  AskClass* kept_;  ///< Null: the ask is the only one of its kind.
  PodIndex pod_;
  PlanAsk ask_;
  std::optional<NodeIndex> only_;
  std::span<const NodeIndex> domain_;  ///< `only_`, its group's domain, or every node.
  bool in_domain_;
  std::string_view domain_name_;
  bool minimum_waits_;
  RefusalTally refusals_;
  bool cascades_count_ = false;
  bool same_as_before_ = false;  ///< The answer of an equal ask.
  bool promised_ = false;        ///< It would fit, but for a promise to somebody else.
  std::vector<Candidate> best_;  ///< Best first.
  NodeIndex node_;
  NodeIndex room_without_queue_;  ///< A node that has room for it, when its queue has none.
  std::vector<PodIndex> victims_;
};

/// An equal ask was told that nothing can be done, and nothing has changed since. Where promises
/// were made, labels count as well: a spread that was promised may count one and not the other.
bool PodPolicy::was_answered() const {
  if (kept_ == nullptr || !kept_->nothing) return false;
  if (kept_->nothing_at != world_.changed_nodes().size()) return false;
  return !world_.has_promises() || kept_->nothing_labels == world_.cluster().pods().labels[pod_];
}

PlanAsk PodPolicy::run() {
  if (was_answered()) {
    PlanAsk same = *kept_->nothing;
    same.name = std::move(ask_.name);
    ask_ = std::move(same);
    same_as_before_ = true;
  } else if (kept_ != nullptr) {
    decide(kept_->after, kept_->now ? &*kept_->now : nullptr);
  } else {
    PodFit after(world_.survey(), world_.after(), pod_, world_.holds());
    std::optional<PodFit> now;
    if (world_.differs()) now.emplace(world_.survey(), world_.now(), pod_, world_.holds());
    decide(after, now ? &*now : nullptr);
  }
  return std::move(ask_);
}

bool PodPolicy::finds_late_room() {
  PodFit after(world_.survey(), world_.after(), pod_, world_.holds());
  const NodeChoice choice = choose_node(world_, after, nullptr, domain_);
  if (!choice.now) return false;
  if (world_.limits() != nullptr && !world_.limits()->has_room_later(self())) return false;
  const NodeIndex node = *choice.now;
  PodFit now(world_.survey(), world_.now(), pod_, world_.holds());
  const auto fits = [&] { return !now.check(node); };
  const auto elsewhere =
      now.constraints().any() ? World::Elsewhere::matters : World::Elsewhere::ignored;
  wait_for(world_, world_.needed_leavers(std::span(&node, 1), elsewhere, fits), ask_);
  ask_.outcome = Outcome::waits;
  // Otherwise it would come at once, and those before it would have to wait for the late ones.
  if (!waits_for_late(world_, ask_)) return false;
  place(node);
  set_reason(world_.cluster(), ask_, waits_reason(ask_));
  return true;
}

void PodPolicy::credit_own_late() {
  const NodeIndex node = world_.cluster().pods().nominated[pod_];
  if (!node.exists() || std::ranges::find(domain_, node) == domain_.end()) return;
  const std::vector<PodIndex> own = late_victims_of(world_, node, ask_);
  if (own.empty()) return;
  world_.credit_late(own);
  PodFit after(world_.survey(), world_.after(), pod_, world_.holds());
  const bool valid = fits_as_nominated(world_, after, node) &&
                     world_.keeps_promises(pod_, node, {}) &&
                     !world_.needs_uncertain_arrival(after, node, {});
  if (!valid) world_.return_late();
}

void PodPolicy::decide(PodFit& after, PodFit* now) {
  if (!finds_room(after, now) && !held_by_nomination(after)) preempt(after);
}

/// Without anybody leaving for it: now, or once those who are leaving anyway are gone.
bool PodPolicy::finds_room(PodFit& after, PodFit* now) {
  const bool ranked = kept_ != nullptr && kept_->room && !only_;
  const NodeChoice choice =
      ranked ? kept_->room->choose(now)
             : choose_node(world_, after, now, domain_,
                           draft_.explain ? Others::listed : Others::left_out, Comes::alone);
  ask_.explanation.nodes_fitting = choice.fitting_now;
  ask_.explanation.alternatives = choice.others;
  if (!choice.now && !choice.later) return false;
  if (world_.limits() != nullptr && !world_.limits()->has_room_later(self())) {
    room_without_queue_ = choice.now ? *choice.now : *choice.later;
    return false;
  }
  if (choice.now) return finds_room_now(*choice.now);
  ask_.outcome = Outcome::waits;
  place(*choice.later);
  const auto fits = [&] { return !now->check_unreserved(*choice.later); };
  const bool by_node = !now->constraints().any();
  wait_for(
      world_,
      world_.needed_leavers(std::span(&*choice.later, 1),
                            by_node ? World::Elsewhere::ignored : World::Elsewhere::matters, fits),
      ask_);
  set_reason(world_.cluster(), ask_, waits_reason(ask_));
  return true;
}

bool PodPolicy::finds_room_now(NodeIndex node) {
  place(node);
  if (minimum_waits_) {
    ask_.outcome = Outcome::waits;
    set_reason(world_.cluster(), ask_, {.code = ReasonCode::pod_waits_for_minimum});
  } else if (world_.limits() == nullptr || world_.limits()->has_room_now(self())) {
    ask_.outcome = Outcome::fits;
    set_reason(world_.cluster(), ask_, fits_reason(ask_));
  } else {
    wait_in_queue(node);
  }
  return true;
}

/// The node has room now, and the queue once pods of it have left: late ones are still there.
void PodPolicy::wait_in_queue(NodeIndex node) {
  const std::vector<PodIndex> awaited = world_.limits()->awaited(self());
  const bool fits = fits_without(world_, awaited, [&] {
    PodFit after(world_.survey(), world_.after(), pod_, world_.holds());
    if (!after.check(node)) return true;
    const NodeChoice other = choose_node(world_, after, nullptr, domain_);
    if (other.now) place(*other.now);
    return other.now.has_value();
  });
  if (!fits) {
    node_ = {};
    return needs_what_leaves(world_, ask_);
  }
  ask_.outcome = Outcome::waits;
  wait_for(world_, awaited, ask_);
  set_reason(world_.cluster(), ask_, queue_waits_reason(ask_, world_.limits()->title()));
}

/// kube-scheduler's rule: no second preemption while a preempted pod leaves the nominated node.
bool PodPolicy::held_by_nomination(PodFit& after) {
  const NodeIndex nominated = world_.cluster().pods().nominated[pod_];
  if (world_.configuration().workload.nomination_held_by != NominationHeldBy::preempted_pods ||
      !nominated.exists() || !world_.cluster().nodes().flags[nominated].exists) {
    return false;
  }
  if (unit().never_preempts || std::ranges::find(domain_, nominated) == domain_.end()) return false;
  const std::optional<Refused> refused = after.check(nominated);
  if (refused && !refused->resolvable) return false;
  const std::vector<PodIndex> leaving = preempted_leavers(world_, nominated, ask_.priority);
  if (leaving.empty()) return false;
  wait_for(world_, leaving, ask_);
  ask_.outcome = Outcome::waits;
  place(nominated);
  set_reason(world_.cluster(), ask_,
             {.code = ReasonCode::pod_awaits_preempted, .arguments = {nominated}});
  return true;
}

/// Whether its queue has room for it once the candidate's victims are gone, and others if needed.
QueueVerdict PodPolicy::suits_queue(PodFit& after, Candidate& candidate) {
  const auto fits = [&](std::span<const PodIndex> gone) {
    return !after.check(candidate.node) && world_.keeps_promises(pod_, candidate.node, gone);
  };
  return add_queue_victims(world_, self(), ask_.priority, fits,
                           {.victims = candidate.victims,
                            .budget_violations = candidate.budget_violations,
                            .score = candidate.score});
}

/// A node has room, its queue has not.
void PodPolicy::preempt_for_queue(PodFit& after) {
  Candidate candidate{.node = room_without_queue_};
  const QueueVerdict verdict =
      unit().never_preempts ? QueueVerdict::too_little : suits_queue(after, candidate);
  if (verdict != QueueVerdict::has_room) return queue_is_full(verdict);
  if (waits_out_delay(world_, world_.cluster().pods().created[pod_], ask_)) return;
  best_.insert(best_.begin(), std::move(candidate));
  place(room_without_queue_);
  ask_.outcome = Outcome::preempts;
  victims_ = best_.front().victims.pods;
  ask_.score = best_.front().score;
  explain_candidates(world_, best_, ask_);
  set_reason(world_.cluster(), ask_,
             {.code = ReasonCode::pods_leave,
              .arguments = {ask_.victims.size(), world_.limits()->title()}});
}

void PodPolicy::preempt(PodFit& after) {
  if (room_without_queue_.exists()) return preempt_for_queue(after);
  const VictimChoiceRule rule = world_.configuration().workload.victim_choice;
  Cascades cascades(world_, after.scratch());
  VictimSearch victims(world_, after, rule, follows_each() ? &cascades : nullptr);
  const bool every_node = draft_.explain || unit().never_preempts || only_ || in_domain_ ||
                          rule == VictimChoiceRule::put_back || domain_.empty();
  every_node ? search_all(after, victims) : search_best(after, victims);
  if (victims.out_of_steps()) ask_.bounds_reached.emplace_back(victims.bound());
  if (best_.empty()) return nothing_works(victims.unproven() || promised_ || evens_out_later());
  if (waits_out_delay(world_, world_.cluster().pods().created[pod_], ask_)) return;
  if (!follows_each()) follow_cascades(cascades);
  if (cascades.bound_reached()) {
    ask_.bounds_reached.emplace_back(cascades.bound());
  }
  if (world_.limits() != nullptr) {
    const QueueVerdict verdict = suits_queue(after, best_.front());
    if (verdict != QueueVerdict::has_room) return queue_is_full(verdict);
  }
  const Candidate& chosen = best_.front();
  ask_.outcome = Outcome::preempts;
  place(chosen.node);
  victims_ = chosen.victims.pods;
  ask_.score = chosen.score;
  explain_candidates(world_, best_, ask_);
  if (best_.size() == 1 && !only_ && rule == VictimChoiceRule::best) {
    if (const auto instead = victims.instead_of(chosen)) {
      explain_instead(world_, instead->pod, chosen.score, instead->score, ask_);
    }
  }
}

void PodPolicy::search_all(PodFit& fit, VictimSearch& search) {
  std::size_t trimmed_at = kept_max() + 1;
  for (std::uint32_t place = 0; place < domain_.size() && !search.out_of_steps(); ++place) {
    const NodeIndex node = domain_[place];
    if (unit().never_preempts) {
      const std::optional<Refused> refused = fit.check(node);
      promised_ = promised_ || !refused;
      refusals_.add(refused.value_or(Refused{.reason = RefusalReason::promised}), node, place);
      continue;
    }
    if (std::optional<Candidate> candidate = search.on_node(node)) {
      ++ask_.explanation.nodes_with_preemption;
      best_.push_back(std::move(*candidate));
      if (best_.size() <= trimmed_at) continue;
      trim();
      trimmed_at = 2 * best_.size();  // Thousands may tie, so they are not sorted for each.
    } else {
      refusals_.add(search.refused(), node, place);
    }
  }
  trim();
  if (!only_ && !in_domain_ && best_.empty()) refusals_.add_other_regimes(fit);
  ask_.explanation.refusals = refusals_.refusals(world_.survey());
}

/// Only nodes that can be among the best two, which is what the answer and its cause need.
void PodPolicy::search_best(PodFit& fit, VictimSearch& search) {
  std::optional<NodeRanking> own;
  NodeRanking* ranking = nullptr;
  if (kept_ != nullptr && kept_->room) {
    if (!kept_->ranking) kept_->ranking.emplace(world_, fit, true);
    ranking = &*kept_->ranking;
  } else {
    ranking = &own.emplace(world_, fit, false);
  }
  best_ = ranking->best(search, told_max);
  if (best_.empty()) {
    refusals_ = ranking->refusals(search);
    refusals_.add_other_regimes(fit);
    ask_.explanation.refusals = refusals_.refusals(world_.survey());
  }
}

/// Nodes come by name, so a later one of equal score stays behind. Where cascades are followed in
/// the end, all that are equal up to that key are kept.
void PodPolicy::trim() {
  std::ranges::stable_sort(
      best_, [](const Candidate& a, const Candidate& b) { return compare(a.score, b.score) < 0; });
  while (best_.size() > kept_max() && !ties_until_cascades(best_.front(), best_.back())) {
    best_.pop_back();
  }
}

bool PodPolicy::ties_until_cascades(const Candidate& a, const Candidate& b) const {
  if (!cascades_count_ || follows_each()) return false;
  for (std::size_t at = 0; a.score[at].key != ScoreKey::secondary_victims; ++at) {
    if (a.score[at].value != b.score[at].value) return false;
  }
  return true;
}

/// Candidates come best first but for their secondary victims, so the first without any wins. Those
/// that a bound left unfollowed are no answer; the rest is followed only to be told.
void PodPolicy::follow_cascades(Cascades& cascades) {
  if (!cascades_count_) return;
  const auto untied = std::ranges::find_if(best_, [&](const Candidate& candidate) {
    return !ties_until_cascades(best_.front(), candidate);
  });
  const auto tied = static_cast<std::size_t>(untied - best_.begin());
  std::vector<Candidate> followed;
  bool decided = false;
  for (std::size_t at = 0; at < best_.size() && !cascades.bound_reached(); ++at) {
    if (at < tied && decided && followed.size() >= kept_max()) continue;
    Candidate& candidate = best_[at];
    const auto term =
        std::ranges::find(candidate.score, ScoreKey::secondary_victims, &ScoreTerm::key);
    const PodOnNode coming{.pod = pod_, .node = candidate.node};
    term->value =
        cascades.follow(candidate.victims.pods, std::span(&coming, 1), candidate.cascades);
    decided = decided || term->value == 0;
    followed.push_back(std::move(candidate));
  }
  best_ = std::move(followed);
  std::ranges::stable_sort(
      best_, [](const Candidate& a, const Candidate& b) { return compare(a.score, b.score) < 0; });
  if (best_.size() > kept_max()) best_.resize(kept_max());
}

void PodPolicy::queue_is_full(QueueVerdict verdict) {
  const bool proven = verdict != QueueVerdict::spoils && ask_.bounds_reached.empty();
  ask_.outcome = proven ? Outcome::infeasible : Outcome::not_found;
  set_reason(world_.cluster(), ask_,
             queue_full_reason(world_, self(), verdict, unit().never_preempts));
  ask_.placements.clear();
}

/// A spread may be uneven only until everybody who is nominated has come, one after the other.
bool PodPolicy::evens_out_later() const {
  const Cluster& cluster = world_.cluster();
  if (cluster.shape(cluster.pods().shape[pod_]).spread.empty()) return false;
  return std::ranges::any_of(cluster.nominated_pods(),
                             [this](PodIndex pod) { return pod != pod_; });
}

void PodPolicy::nothing_works(bool unproven) {
  const Cluster& cluster = world_.cluster();
  const bool unsupported = world_.survey().unsupported(pod_);
  const Unplaced why = unsupported                                ? Unplaced::unsupported
                       : unproven || !ask_.bounds_reached.empty() ? Unplaced::unproven
                       : unit().never_preempts                    ? Unplaced::never
                                                                  : Unplaced::proven;
  const bool proven = why == Unplaced::proven || why == Unplaced::never;
  ask_.outcome = proven ? Outcome::infeasible : Outcome::not_found;
  explain_claim_users(world_, ask_);
  // A queue with room would not help a pod that no node takes.
  const auto could_take = [&](NodeIndex node) { return world_.survey().could_take(pod_, node); };
  const bool full = !unsupported && world_.limits() != nullptr &&
                    !world_.limits()->has_room_later(self()) &&
                    std::ranges::any_of(domain_, could_take);
  const bool others_have_all = world_.survey().nodes().empty() && cluster.node_count() > 0;
  if (others_have_all && ask_.explanation.refusals.empty()) {
    set_reason(cluster, ask_, {.code = ReasonCode::no_ordinary_node});
  } else if (full) {
    set_reason(cluster, ask_,
               queue_full_reason(world_, self(), QueueVerdict::too_little, unit().never_preempts));
  } else {
    set_reason(cluster, ask_, nothing_reason(ask_, why, domain_name_));
  }
  explain_holders(world_, pod_, ask_);
}

void wait_for_late(const Draft& draft, PodTask task, PlanAsk& ask, NodeIndex& node) {
  World& world = draft.world;
  // Late pods that are of no use to it are told of nowhere.
  const auto useful = [&](PodIndex late) { return could_use_late(world, task.pod, late); };
  if (std::ranges::none_of(world.late(), useful)) return;
  world.credit_late(world.late());
  task.kept = nullptr;
  PodPolicy again(draft, task);
  if (again.finds_late_room()) {
    ask = again.take_ask();
    node = again.node();
    explain_late_wait(world, ask);
    return;
  }
  world.return_late();
  explain_late(world, ask);
}

}  // namespace

void decide_pod(Draft& draft, const PodTask& task) {
  World& world = draft.world;
  const PodIndex pod = task.pod;
  AskClass* const kept = task.kept;
  PodPolicy policy(draft, task);
  const bool any_late = !world.late().empty();
  if (any_late) policy.credit_own_late();
  PlanAsk ask = policy.run();
  NodeIndex node = policy.node();
  if (any_late) {
    const bool nothing = ask.outcome == Outcome::infeasible || ask.outcome == Outcome::not_found;
    if (nothing && !policy.same_as_before()) wait_for_late(draft, task, ask, node);
    world.return_late();
  }
  world.decided(pod);
  if (ask.outcome == Outcome::fits) {
    world.bind(pod, node);
  } else if (node.exists()) {
    world.nominate(pod, node, policy.victims());
  } else if (kept != nullptr && ask.outcome != Outcome::waits) {
    kept->nothing = ask;
    kept->nothing_at = world.changed_nodes().size();
    kept->nothing_labels = world.cluster().pods().labels[pod];
  }
  draft.plan.asks.push_back(std::move(ask));
}

}  // namespace makeway
