#include "policies/workload/pod/pod_policy.hpp"

#include <algorithm>

#include "engine/refusals.hpp"
#include "policies/shared/ask_driver.hpp"
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

class PodAsk : public AskStrategy {
 public:
  PodAsk(const Draft& draft, const PodTask& task)
      : draft_(draft),
        world_(draft.world),
        kept_(task.kept),
        pod_(task.pod),
        answer_(start_pod_ask(world_.cluster(), task.pod)),
        only_(task.only),
        in_domain_(task.domain != nullptr),
        domain_name_(task.domain_name),
        minimum_waits_(task.minimum_waits) {
    domain_ = only_        ? std::span<const NodeIndex>(&*only_, 1)
              : in_domain_ ? std::span<const NodeIndex>(*task.domain)
                           : world_.survey().nodes();
    answer_.placement_given = only_.has_value();
    answer_.explanation.nodes_considered = static_cast<std::int64_t>(domain_.size());
    cascades_count_ = cascades_count(world_.configuration());
  }

  PlanAsk& answer() override { return answer_; }
  bool is_refused() override;
  bool fits_now() override;
  bool fits_soon() override;
  bool is_held() override;
  void preempt() override;
  std::vector<NodeIndex> nominated_nodes() const override;
  bool nomination_holds() override;
  std::vector<PodIndex> useful_late_pods() override;
  bool fits_late() override;

  /// Into the world and into the plan.
  void settle(Plan& plan);

 private:
  static constexpr std::size_t reported_max = 2;  ///< The best node, and the next best.

  const Unit& unit() const { return world_.cluster().units()[world_.cluster().pods().unit[pod_]]; }

  PodFit& after();
  PodFit* now();
  NodeChoice look_for_room();
  void wait_in_queue(NodeIndex node);
  std::span<const PodIndex> self() const { return {&pod_, 1}; }
  void place(NodeIndex node) {
    node_ = node;
    answer_.placements = {placement_of(world_.cluster(), pod_, node)};
  }
  QueueVerdict suits_queue(Candidate& candidate);
  void preempt_for_queue();
  void search_all(VictimSearch& search);
  void search_best(VictimSearch& search);
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
  PlanAsk answer_;
  std::optional<NodeIndex> only_;
  std::span<const NodeIndex> domain_;  ///< `only_`, its group's domain, or every node.
  bool in_domain_;
  std::string_view domain_name_;
  bool minimum_waits_;
  std::optional<PodFit> own_after_;  ///< Unless its class has kept one.
  std::optional<PodFit> own_now_;
  NodeIndex room_soon_;  ///< Where it fits once pods are gone that leave soon.
  RefusalTally refusals_;
  bool cascades_count_ = false;
  bool promised_ = false;        ///< It would fit, but for a promise to another ask.
  std::vector<Candidate> best_;  ///< Best first.
  NodeIndex node_;
  NodeIndex room_without_queue_;  ///< A node that has room for it, when its queue has none.
  std::vector<PodIndex> victims_;
};

PodFit& PodAsk::after() {
  if (kept_ != nullptr) return kept_->after;
  if (!own_after_) own_after_.emplace(world_.survey(), world_.after(), pod_, world_.holds());
  return *own_after_;
}

/// Null: `now` is as `after`.
PodFit* PodAsk::now() {
  if (kept_ != nullptr) return kept_->now ? &*kept_->now : nullptr;
  if (!own_now_ && world_.differs()) {
    own_now_.emplace(world_.survey(), world_.now(), pod_, world_.holds());
  }
  return own_now_ ? &*own_now_ : nullptr;
}

/// An equal ask of this cycle found nothing, and nothing has changed since. Where promises were
/// made, labels count as well: a spread that was promised may count one and not the other.
bool PodAsk::is_refused() {
  if (kept_ == nullptr || !kept_->nothing) return false;
  if (kept_->nothing_at != world_.changed_nodes().size()) return false;
  const bool same_labels = kept_->nothing_labels == world_.cluster().pods().labels[pod_];
  if (world_.has_promises() && !same_labels) return false;
  PlanAsk same = *kept_->nothing;
  same.name = std::move(answer_.name);
  answer_ = std::move(same);
  return true;
}

std::vector<NodeIndex> PodAsk::nominated_nodes() const {
  const NodeIndex node = world_.cluster().pods().nominated[pod_];
  if (!node.exists() || std::ranges::find(domain_, node) == domain_.end()) return {};
  return {node};
}

bool PodAsk::nomination_holds() {
  const NodeIndex node = world_.cluster().pods().nominated[pod_];
  PodFit fit(world_.survey(), world_.after(), pod_, world_.holds());
  return fits_as_nominated(world_, fit, node) && world_.keeps_promises(pod_, node, {}) &&
         !world_.needs_uncertain_arrival(fit, node, {});
}

std::vector<PodIndex> PodAsk::useful_late_pods() {
  const std::span<const PodIndex> all = world_.late();
  const bool useful =
      std::ranges::any_of(all, [&](PodIndex late) { return could_use_late(world_, pod_, late); });
  if (!useful) return {};
  return {all.begin(), all.end()};
}

bool PodAsk::fits_late() {
  answer_.explanation = {.nodes_considered = static_cast<std::int64_t>(domain_.size())};
  PodFit after(world_.survey(), world_.after(), pod_, world_.holds());
  const NodeChoice choice = choose_node(world_, after, nullptr, domain_);
  if (!choice.now) return false;
  if (world_.limits() != nullptr && !world_.limits()->has_room_later(self())) return false;
  const NodeIndex node = *choice.now;
  PodFit now(world_.survey(), world_.now(), pod_, world_.holds());
  const auto fits = [&] { return !now.check(node); };
  const auto elsewhere =
      now.constraints().any() ? World::Elsewhere::matters : World::Elsewhere::ignored;
  wait_for(world_, world_.needed_leavers(std::span(&node, 1), elsewhere, fits), answer_);
  answer_.outcome = Outcome::waits;
  // Otherwise it would come at once, and earlier asks would have to wait for the late pods.
  if (!waits_for_late(world_, answer_)) return false;
  place(node);
  set_reason(world_.cluster(), answer_, waits_reason(answer_));
  return true;
}

/// A node where it fits without victims, unless its queue has no room for it.
NodeChoice PodAsk::look_for_room() {
  const bool ranked = kept_ != nullptr && kept_->room && !only_;
  NodeChoice choice =
      ranked ? kept_->room->choose(now())
             : choose_node(world_, after(), now(), domain_,
                           draft_.explain ? Others::listed : Others::left_out, Comes::alone);
  answer_.explanation.nodes_fitting = choice.fitting_now;
  answer_.explanation.alternatives = choice.others;
  if (!choice.now && !choice.later) return {};
  if (world_.limits() != nullptr && !world_.limits()->has_room_later(self())) {
    room_without_queue_ = choice.now ? *choice.now : *choice.later;
    return {};
  }
  return choice;
}

bool PodAsk::fits_now() {
  const NodeChoice choice = look_for_room();
  if (!choice.now) {
    room_soon_ = choice.later.value_or(NodeIndex{});
    return false;
  }
  const NodeIndex node = *choice.now;
  place(node);
  if (minimum_waits_) {
    answer_.outcome = Outcome::waits;
    set_reason(world_.cluster(), answer_, {.code = ReasonCode::pod_waits_for_minimum});
  } else if (world_.limits() == nullptr || world_.limits()->has_room_now(self())) {
    answer_.outcome = Outcome::fits;
    set_reason(world_.cluster(), answer_, fits_reason(answer_));
  } else {
    wait_in_queue(node);
  }
  return true;
}

bool PodAsk::fits_soon() {
  if (!room_soon_.exists()) return false;
  answer_.outcome = Outcome::waits;
  place(room_soon_);
  const auto fits = [&] { return !now()->check_unreserved(room_soon_); };
  const auto elsewhere =
      now()->constraints().any() ? World::Elsewhere::matters : World::Elsewhere::ignored;
  wait_for(world_, world_.needed_leavers(std::span(&room_soon_, 1), elsewhere, fits), answer_);
  set_reason(world_.cluster(), answer_, waits_reason(answer_));
  return true;
}

/// The node has room now, and its queue once pods of the queue have left: late pods are still
/// there.
void PodAsk::wait_in_queue(NodeIndex node) {
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
    return needs_what_leaves(world_, answer_);
  }
  answer_.outcome = Outcome::waits;
  wait_for(world_, awaited, answer_);
  set_reason(world_.cluster(), answer_, queue_waits_reason(answer_, world_.limits()->title()));
}

/// kube-scheduler's rule: no second preemption while a preempted pod leaves the nominated node.
bool PodAsk::is_held() {
  const NodeIndex nominated = world_.cluster().pods().nominated[pod_];
  if (world_.configuration().workload.nomination_held_by != NominationHeldBy::preempted_pods ||
      !nominated.exists() || !world_.cluster().nodes().flags[nominated].exists) {
    return false;
  }
  if (unit().never_preempts || std::ranges::find(domain_, nominated) == domain_.end()) return false;
  const std::optional<Refused> refused = after().check(nominated);
  if (refused && !refused->resolvable) return false;
  const std::vector<PodIndex> leaving = preempted_leavers(world_, nominated, answer_.priority);
  if (leaving.empty()) return false;
  wait_for(world_, leaving, answer_);
  answer_.outcome = Outcome::waits;
  place(nominated);
  set_reason(world_.cluster(), answer_,
             {.code = ReasonCode::pod_awaits_preempted, .arguments = {nominated}});
  return true;
}

/// Whether its queue has room for it once the candidate's victims are gone, and others if needed.
QueueVerdict PodAsk::suits_queue(Candidate& candidate) {
  const auto fits = [&](std::span<const PodIndex> gone) {
    return !after().check(candidate.node) && world_.keeps_promises(pod_, candidate.node, gone);
  };
  return add_queue_victims(world_, self(), answer_.priority, fits,
                           {.victims = candidate.victims,
                            .budget_violations = candidate.budget_violations,
                            .score = candidate.score});
}

/// A node has room, its queue has not.
void PodAsk::preempt_for_queue() {
  Candidate candidate{.node = room_without_queue_};
  const QueueVerdict verdict =
      unit().never_preempts ? QueueVerdict::too_little : suits_queue(candidate);
  if (verdict != QueueVerdict::has_room) return queue_is_full(verdict);
  if (waits_out_delay(world_, world_.cluster().pods().created[pod_], answer_)) return;
  best_.insert(best_.begin(), std::move(candidate));
  place(room_without_queue_);
  answer_.outcome = Outcome::preempts;
  victims_ = best_.front().victims.pods;
  answer_.score = best_.front().score;
  explain_candidates(world_, best_, answer_);
  set_reason(world_.cluster(), answer_,
             {.code = ReasonCode::pods_leave,
              .arguments = {answer_.victims.size(), world_.limits()->title()}});
}

void PodAsk::preempt() {
  if (room_without_queue_.exists()) return preempt_for_queue();
  const VictimChoiceRule rule = world_.configuration().workload.victim_choice;
  Cascades cascades(world_, after().scratch());
  VictimSearch victims(world_, after(), rule, follows_each() ? &cascades : nullptr);
  const bool every_node = draft_.explain || unit().never_preempts || only_ || in_domain_ ||
                          rule == VictimChoiceRule::put_back || domain_.empty();
  every_node ? search_all(victims) : search_best(victims);
  if (victims.out_of_steps()) answer_.bounds_reached.emplace_back(victims.bound());
  if (best_.empty()) return nothing_works(victims.unproven() || promised_ || evens_out_later());
  if (waits_out_delay(world_, world_.cluster().pods().created[pod_], answer_)) return;
  if (!follows_each()) follow_cascades(cascades);
  if (cascades.bound_reached()) {
    answer_.bounds_reached.emplace_back(cascades.bound());
  }
  if (world_.limits() != nullptr) {
    const QueueVerdict verdict = suits_queue(best_.front());
    if (verdict != QueueVerdict::has_room) return queue_is_full(verdict);
  }
  const Candidate& chosen = best_.front();
  answer_.outcome = Outcome::preempts;
  place(chosen.node);
  victims_ = chosen.victims.pods;
  answer_.score = chosen.score;
  explain_candidates(world_, best_, answer_);
  if (best_.size() == 1 && !only_ && rule == VictimChoiceRule::best) {
    if (const auto instead = victims.instead_of(chosen)) {
      explain_instead(world_, instead->pod, chosen.score, instead->score, answer_);
    }
  }
}

void PodAsk::search_all(VictimSearch& search) {
  std::size_t trimmed_at = kept_max() + 1;
  for (std::uint32_t place = 0; place < domain_.size() && !search.out_of_steps(); ++place) {
    const NodeIndex node = domain_[place];
    if (unit().never_preempts) {
      const std::optional<Refused> refused = after().check(node);
      promised_ = promised_ || !refused;
      refusals_.add(refused.value_or(Refused{.reason = RefusalReason::promised}), node, place);
      continue;
    }
    if (std::optional<Candidate> candidate = search.on_node(node)) {
      ++answer_.explanation.nodes_with_preemption;
      best_.push_back(std::move(*candidate));
      if (best_.size() <= trimmed_at) continue;
      trim();
      trimmed_at = 2 * best_.size();  // Thousands may tie, so they are not sorted for each.
    } else {
      refusals_.add(search.refused(), node, place);
    }
  }
  trim();
  if (!only_ && !in_domain_ && best_.empty()) refusals_.add_other_regimes(after());
  answer_.explanation.refusals = refusals_.refusals(world_.survey());
  // Without a place nothing_works says which pods hold the room.
  if (draft_.explain && !best_.empty()) explain_holders(world_, pod_, answer_);
}

/// Only nodes that can be among the best two, which is what the answer and its cause need.
void PodAsk::search_best(VictimSearch& search) {
  std::optional<NodeRanking> own;
  NodeRanking* ranking = nullptr;
  if (kept_ != nullptr && kept_->room) {
    if (!kept_->ranking) kept_->ranking.emplace(world_, after(), true);
    ranking = &*kept_->ranking;
  } else {
    ranking = &own.emplace(world_, after(), false);
  }
  best_ = ranking->best(search, reported_max);
  if (best_.empty()) {
    refusals_ = ranking->refusals(search);
    refusals_.add_other_regimes(after());
    answer_.explanation.refusals = refusals_.refusals(world_.survey());
  }
}

/// Nodes come by name, so a later one of equal score stays behind. Where cascades are followed in
/// the end, all that are equal up to that key are kept.
void PodAsk::trim() {
  std::ranges::stable_sort(
      best_, [](const Candidate& a, const Candidate& b) { return compare(a.score, b.score) < 0; });
  while (best_.size() > kept_max() && !ties_until_cascades(best_.front(), best_.back())) {
    best_.pop_back();
  }
}

bool PodAsk::ties_until_cascades(const Candidate& a, const Candidate& b) const {
  if (!cascades_count_ || follows_each()) return false;
  for (std::size_t at = 0; a.score[at].key != ScoreKey::secondary_victims; ++at) {
    if (a.score[at].value != b.score[at].value) return false;
  }
  return true;
}

/// Candidates come best first but for their secondary victims, so the first without any wins. Those
/// that a bound left unfollowed are no answer; the rest is followed only for the explanation.
void PodAsk::follow_cascades(Cascades& cascades) {
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

void PodAsk::queue_is_full(QueueVerdict verdict) {
  const bool proven = verdict != QueueVerdict::spoils && answer_.bounds_reached.empty();
  answer_.outcome = proven ? Outcome::infeasible : Outcome::not_found;
  set_reason(world_.cluster(), answer_,
             queue_full_reason(world_, self(), verdict, unit().never_preempts));
  answer_.placements.clear();
}

/// A spread may be uneven only until all nominated pods have come, one after the other.
bool PodAsk::evens_out_later() const {
  const Cluster& cluster = world_.cluster();
  if (cluster.shape(cluster.pods().shape[pod_]).spread.empty()) return false;
  return std::ranges::any_of(cluster.nominated_pods(),
                             [this](PodIndex pod) { return pod != pod_; });
}

void PodAsk::nothing_works(bool unproven) {
  const Cluster& cluster = world_.cluster();
  const bool unsupported = world_.survey().unsupported(pod_);
  const Unplaced why = unsupported                                   ? Unplaced::unsupported
                       : unproven || !answer_.bounds_reached.empty() ? Unplaced::unproven
                       : unit().never_preempts                       ? Unplaced::never
                                                                     : Unplaced::proven;
  const bool proven = why == Unplaced::proven || why == Unplaced::never;
  answer_.outcome = proven ? Outcome::infeasible : Outcome::not_found;
  explain_claim_users(world_, answer_);
  // A queue with room would not help a pod that no node takes.
  const auto could_take = [&](NodeIndex node) { return world_.survey().could_take(pod_, node); };
  const bool full = !unsupported && world_.limits() != nullptr &&
                    !world_.limits()->has_room_later(self()) &&
                    std::ranges::any_of(domain_, could_take);
  const bool others_have_all = world_.survey().nodes().empty() && cluster.node_count() > 0;
  if (others_have_all && answer_.explanation.refusals.empty()) {
    set_reason(cluster, answer_, {.code = ReasonCode::no_ordinary_node});
  } else if (full) {
    set_reason(cluster, answer_,
               queue_full_reason(world_, self(), QueueVerdict::too_little, unit().never_preempts));
  } else {
    set_reason(cluster, answer_, nothing_reason(answer_, why, domain_name_));
  }
  explain_holders(world_, pod_, answer_);
}

void PodAsk::settle(Plan& plan) {
  own_after_.reset();  // They would follow every move.
  own_now_.reset();
  world_.decided(pod_);
  if (answer_.outcome == Outcome::fits) {
    world_.bind(pod_, node_);
  } else if (node_.exists()) {
    world_.nominate(pod_, node_, victims_);
  } else if (kept_ != nullptr && answer_.outcome != Outcome::waits) {
    kept_->nothing = answer_;
    kept_->nothing_at = world_.changed_nodes().size();
    kept_->nothing_labels = world_.cluster().pods().labels[pod_];
  }
  plan.asks.push_back(std::move(answer_));
}

}  // namespace

void decide_pod(Draft& draft, const PodTask& task) {
  PodAsk ask(draft, task);
  drive_ask(draft.world, ask);
  ask.settle(draft.plan);
}

}  // namespace makeway
