// The queue stage of a plan (SPEC section 3, docs/decisions/0008-queues.md): its table, its moves,
// its asks and their victims, against NaiveQueues.
//
// Which law
//   1  evicts although there is unused room for the claim
//   3  a queue gets or keeps another amount than it should; one that must lose does not
//   4  a victim that its queue need not lose
//   8  more is handed out than there is
//   9  what the plan says about itself: the table, the moves, the asks, why a pod leaves
// That victims may leave at all, leave whole and once, is judged with all other victims.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "judge/check_plan_hearing.hpp"
#include "judge/naive_queues.hpp"

namespace makeway {
namespace {

std::string text_of(const NaiveQueue& queue) { return fmt::format("Queue {}", queue.name); }

// ---- The table and the moves --------------------------------------------------------------------

class TableJudge {
 public:
  explicit TableJudge(Hearing& hearing) : hearing_(hearing), queues_(*hearing.queues) {}

  void judge() {
    if (!names_agree()) return;
    for (std::size_t at = 0; at < queues_.queues.size(); ++at) {
      judge_queue(queues_.queues[at], hearing_.plan.queues[at]);
    }
    for (std::size_t column = 0; column < queues_.resources.size(); ++column) judge_sums(column);
    judge_moves();
    judge_statuses();
  }

 private:
  template <class... Args>
  void report(int law, const NaiveQueue& queue, fmt::format_string<Args...> text, Args&&... args) {
    hearing_.breaches.add_of_queues(law, text_of(queue), text, std::forward<Args>(args)...);
  }
  std::string_view resource(std::size_t column) const {
    return hearing_.cluster.resources().name(queues_.resources[column]);
  }

  bool names_agree() {
    const bool agree = std::ranges::equal(hearing_.plan.queues, queues_.queues, {},
                                          &PlanQueue::name, &NaiveQueue::name);
    if (!agree)
      hearing_.breaches.add_of_queues(9, "", "the plan does not list the queues that there are");
    return agree;
  }

  void judge_queue(const NaiveQueue& queue, const PlanQueue& reported) {
    if (std::tie(reported.parent, reported.weight, reported.leaf) !=
        std::tie(queue.parent, queue.weight, queue.leaf)) {
      report(9, queue, "its parent or weight is another one");
    }
    judge_adopted(queue, reported);
    const bool same = reported.shares.size() == queue.shares.size();
    for (std::size_t column = 0; column < queue.shares.size(); ++column) {
      if (!same || reported.shares[column].resource != resource(column)) {
        return report(9, queue, "it does not list the resources that are divided");
      }
      judge_share(queue, queue.shares[column], reported.shares[column]);
    }
  }

  void judge_share(const NaiveQueue& queue, const NaiveShare& share,
                   const PlanQueueShare& reported) {
    const auto compare = [&](int law, std::string_view what, std::int64_t said,
                             std::int64_t truth) {
      if (said == truth) return;
      report(law, queue, "its {} {} is {}, not {}", reported.resource, what, truth, said);
    };
    compare(9, "deserved", reported.deserved, share.deserved);
    compare(9, "allocated before", reported.allocated_before, share.before);
    compare(9, "used", reported.used, share.used);
    compare(9, "leaving", reported.leaving, share.leaving);
    compare(9, "demand", reported.demand, share.demand());
    if (!queues_.exact) return;
    compare(3, "allocated", reported.allocated, share.allocated);
    compare(3, "preempting", reported.preempting, share.preempting);
  }

  /// Nothing is handed out twice, nothing beyond a limit, and no pod leaves for room that is
  /// unused. After nodes went away or a limit was lowered, more may be allocated than there is; it
  /// does not grow, except by what remaining pods hold.
  void judge_sums(std::size_t column) {
    std::map<std::size_t, Sums> sums;  // By queue; of the whole cluster: none.
    for (std::size_t at = 0; at < queues_.queues.size(); ++at) {
      const NaiveQueue& queue = queues_.queues[at];
      if (!queue.leaf) continue;
      const auto& shares = hearing_.plan.queues[at].shares;
      if (shares.size() <= column) return;
      const PlanQueueShare& reported = shares[column];
      if (reported.allocated < 0 || reported.preempting < 0)
        report(8, queue, "it has less than nothing");
      const NaiveShare& share = queue.shares[column];
      for (const std::size_t around : around_of(at)) {
        sums[around].handed_out += reported.allocated + reported.preempting;
        sums[around].kept +=
            share.in_fact(std::min(share.before, std::max(share.used, share.deserved)),
                          share.movable - share.governed);
        sums[around].held += std::max(reported.allocated, reported.used);
      }
    }
    const auto limit_of = [&](std::size_t at) {
      return at == NaiveQueues::none ? queues_.totals[column]
                                     : queues_.queues[at].shares[column].limit;
    };
    for (const auto& [at, sum] : sums) {
      if (sum.handed_out <= std::max(limit_of(at), sum.kept)) continue;
      hearing_.breaches.add_of_queues(8, at == NaiveQueues::none ? "" : text_of(queues_.queues[at]),
                                      "{} {} is allocated or preempting, and there is {}",
                                      sum.handed_out, resource(column), limit_of(at));
    }
    for (std::size_t at = 0; at < queues_.queues.size(); ++at) {
      const std::int64_t coming = hearing_.plan.queues[at].shares[column].preempting;
      if (!queues_.queues[at].leaf || coming <= 0) continue;
      std::int64_t unused = NaiveClaimant::no_cap;
      for (const std::size_t around : around_of(at)) {
        unused = std::min(unused, limit_of(around) - sums[around].held);
      }
      if (unused <= 0 || waives(hearing_.configuration, WaivedLaw::law_1_claims)) continue;
      report(1, queues_.queues[at], "it waits for {} {}, and {} of it is unused", coming,
             resource(column), unused);
    }
  }

  /// The queues above a leaf, and the cluster.
  std::vector<std::size_t> around_of(std::size_t leaf) const {
    std::vector<std::size_t> around{NaiveQueues::none};
    std::size_t at = leaf;
    while (!queues_.queues[at].parent.empty()) {
      at = queues_.find(queues_.queues[at].parent);
      around.push_back(at);
    }
    return around;
  }

  void judge_moves() {
    for (const PlanQueueMove& move : hearing_.plan.queue_moves) {
      if (move.amount > 0) continue;
      hearing_.breaches.add_of_queues(9, "", "a move of {} {}", move.amount, move.resource);
    }
    judge_balance();
    if (!queues_.exact) return;
    // Of room that moves at once only the sums are fixed; of later room, which queue waits for
    // which.
    std::map<std::tuple<std::string, std::string, std::string>, std::int64_t> open;
    for (const PlanQueueMove& move : queues_.moves) {
      if (!move.at_once) open[{move.resource, move.from, move.to}] += move.amount;
    }
    for (const PlanQueueMove& move : hearing_.plan.queue_moves) {
      if (!move.at_once) open[{move.resource, move.from, move.to}] -= move.amount;
    }
    for (const auto& [key, amount] : open) {
      const auto& [resource, from, to] = key;
      if (amount == 0) continue;
      hearing_.breaches.add_of_queues(
          9, "", "{} {} too {} moves later from {} to {}", amount > 0 ? amount : -amount, resource,
          amount > 0 ? "little" : "much", from.empty() ? "no queue" : from,
          to.empty() ? "no queue" : to);
    }
  }

  /// What the table says has changed is what the moves say.
  void judge_balance() {
    std::map<std::pair<std::string, std::string>, std::int64_t> allocated;
    std::map<std::pair<std::string, std::string>, std::int64_t> preempting;
    for (const PlanQueueMove& move : hearing_.plan.queue_moves) {
      allocated[{move.from, move.resource}] -= move.amount;
      (move.at_once ? allocated : preempting)[{move.to, move.resource}] += move.amount;
    }
    for (std::size_t at = 0; at < queues_.queues.size(); ++at) {
      if (!queues_.queues[at].leaf) continue;
      for (const PlanQueueShare& reported : hearing_.plan.queues[at].shares) {
        const std::pair key(queues_.queues[at].name, reported.resource);
        if (reported.allocated - reported.allocated_before == allocated[key] &&
            reported.preempting == preempting[key]) {
          continue;
        }
        report(9, queues_.queues[at], "the moves of {} are not what changes its share",
               reported.resource);
      }
    }
  }

  /// Reported once: when the default queue is there and nothing is known about it yet.
  void judge_adopted(const NaiveQueue& queue, const PlanQueue& reported) {
    const Queue& object = hearing_.cluster.own<Queue>().find({"", queue.name})->second;
    const bool is_new =
        queue.name == "default" && object.allocated.empty() && object.preempting.empty();
    if (reported.adopts != (is_new ? queues_.adopted : 0)) {
      report(9, queue, "another number of pods becomes its own");
    }
  }

  /// The objects of the next cycle say what the table says now.
  void judge_statuses() {
    auto next = hearing_.plan.queue_status.begin();
    for (const PlanQueue& reported : hearing_.plan.queues) {
      const Queue& object = hearing_.cluster.own<Queue>().find({"", reported.name})->second;
      std::map<std::string_view, std::array<std::int64_t, 4>> now;
      std::map<std::string_view, std::array<std::int64_t, 4>> before;
      bool known = true;  // An amount that is not written counts as unknown; of promises as none.
      for (const PlanQueueShare& share : reported.shares) {
        now[share.resource] = {share.deserved, share.allocated, share.used, share.preempting};
        before[share.resource] = {};
      }
      const std::array<const Quotas*, 4> written = {&object.deserved, &object.allocated,
                                                    &object.used, &object.preempting};
      for (std::size_t which = 0; which < written.size(); ++which) {
        for (const Amount& each : *written[which]) before[each.resource][which] = each.amount;
        known = known && (which == 3 || written[which]->size() == reported.shares.size());
      }
      const bool listed = next != hearing_.plan.queue_status.end() && next->name == reported.name;
      if (listed == (known && now == before)) {
        hearing_.breaches.add(9, "Queue " + reported.name,
                              "its status changes and is not reported, or the reverse");
      }
      if (!listed) continue;
      std::map<std::string_view, std::array<std::int64_t, 4>> said;
      const std::array<const Quotas*, 4> lists = {&next->deserved, &next->allocated, &next->used,
                                                  &next->preempting};
      for (std::size_t which = 0; which < lists.size(); ++which) {
        for (const Amount& each : *lists[which]) said[each.resource][which] = each.amount;
      }
      if (said != now)
        hearing_.breaches.add(9, "Queue " + reported.name, "its next status is another");
      ++next;
    }
    if (next != hearing_.plan.queue_status.end()) {
      hearing_.breaches.add(9, "Queue " + next->name, "a status of no queue, or out of order");
    }
  }

  /// Over leaves.
  struct Sums {
    std::int64_t handed_out = 0;
    std::int64_t kept = 0;
    std::int64_t held = 0;
  };

  Hearing& hearing_;
  const NaiveQueues& queues_;
};

// ---- Asks and victims ---------------------------------------------------------------------------

class QueueAskJudge {
 public:
  explicit QueueAskJudge(Hearing& hearing)
      : hearing_(hearing),
        cluster_(hearing.cluster),
        queues_(*hearing.queues),
        rules_(hearing.cluster, hearing.configuration, hearing.plan.now) {
    for (const HeardAsk& ask : hearing.asks) {
      if (ask.entry->kind == AskKind::queue) asks_[ask.entry->name] = &ask;
    }
    for (const auto& [name, ask] : asks_) {
      for (const HeardVictim& victim : ask->victims) {
        const std::size_t from = queues_.queue_of(victim.pod);
        const bool is_new = victims_.try_emplace(victim.pod, ask).second;
        if (is_new && from != NaiveQueues::none) lost_[from].push_back(victim.pod);
      }
    }
    for (const NaiveCandidate& each : queues_.candidates) {
      const bool stays = !victims_.contains(each.pods.front()) && !governed(each);
      if (stays) others_.insert(each.queue);
    }
    for (const PlanQueueMove& move : hearing.plan.queue_moves) {
      // At once too: what the receiver's own pods hold already may be paid for by others' pods.
      if (move.at_once && move.to.empty()) continue;
      taken_[{move.from, move.resource, move.to}] += move.amount;
    }
  }

  void judge() {
    judge_order();
    for (std::size_t at = 0; at < queues_.queues.size(); ++at) {
      if (!queues_.queues[at].leaf) continue;
      judge_ask(at);
      judge_losses(at);
    }
    for (const auto& [pod, ask] : victims_) judge_cause(pod, *ask);
    for (const auto& [name, ask] : asks_) judge_served(*ask);
  }

 private:
  using Row = std::vector<std::int64_t>;

  template <class... Args>
  void report(int law, std::size_t queue, fmt::format_string<Args...> text, Args&&... args) {
    hearing_.breaches.add_of_queues(law, text_of(queues_.queues[queue]), text,
                                    std::forward<Args>(args)...);
  }
  /// As the plan says it: whether that is right is judged above.
  const PlanQueueShare& reported(std::size_t queue, std::size_t column) const {
    return hearing_.plan.queues[queue].shares[column];
  }
  const NaiveShare& share(std::size_t queue, std::size_t column) const {
    return queues_.queues[queue].shares[column];
  }
  std::string_view resource(std::size_t column) const {
    return cluster_.resources().name(queues_.resources[column]);
  }
  std::size_t columns() const { return queues_.resources.size(); }

  /// Queues come before all other asks, by name.
  void judge_order() {
    std::string last;
    bool others = false;
    for (const PlanAsk& entry : hearing_.plan.asks) {
      if (entry.kind != AskKind::queue) {
        others = true;
        continue;
      }
      if (others || entry.name < last) {
        hearing_.breaches.add_of_queues(9, ask_text(entry),
                                        "queues ask before all other asks, by name");
      }
      last = entry.name;
    }
  }

  void judge_ask(std::size_t queue) {
    bool must = false;
    bool may = !queues_.exact;  // What strict budgets keep decides how much of a promise is cut.
    for (std::size_t column = 0; column < columns(); ++column) {
      const NaiveShare& each = share(queue, column);
      const std::int64_t claim = each.deserved - each.kept;
      must = must || each.over_before() > 0 || claim > 0;
      may = may || must || each.used > each.before;
    }
    // A queue that only makes up for nodes that went away has no other ask to report it under.
    for (std::size_t column = 0; column < columns() && !may; ++column) {
      may = taken_.contains({queues_.queues[queue].name, std::string(resource(column)), ""});
    }
    const auto ask = asks_.find(queues_.queues[queue].name);
    if (ask == asks_.end()) {
      if (must) report(9, queue, "it claims something or is over its allocation, and does not ask");
      return;
    }
    if (!may) report(9, queue, "it asks, and claims nothing");
    judge_form(queue, *ask->second->entry);
    judge_outcome(queue, *ask->second->entry);
  }

  void judge_form(std::size_t queue, const PlanAsk& entry) {
    if (!entry.namespace_name.empty()) report(9, queue, "it has a namespace");
    if (!entry.placements.empty()) report(3, queue, "it has a place, and queues need none");
    if (entry.outcome != Outcome::preempts && !entry.victims.empty()) {
      report(3, queue, "it has victims, and its outcome is {}", choice_name(entry.outcome));
    }
    if (entry.outcome == Outcome::preempts && entry.victims.empty()) {
      report(3, queue, "it preempts without a victim");
    }
  }

  void judge_outcome(std::size_t queue, const PlanAsk& entry) {
    bool coming = false;
    bool open = false;
    bool rounding = false;
    bool stuck = false;
    bool goes = false;
    bool recent = false;
    bool gave_in_vain = false;  // Strict budgets kept pods that should have left.
    const Row freed = sum(lost_[queue]);
    for (std::size_t column = 0; column < columns(); ++column) {
      const PlanQueueShare& each = reported(queue, column);
      const std::int64_t unmet = each.deserved - each.allocated - each.preempting;
      const bool claims = !queues_.exact || each.deserved > share(queue, column).kept;
      coming = coming || each.preempting > 0;
      const NaiveShare& own = share(queue, column);
      const std::int64_t for_recent = own.for_recent();
      const std::int64_t unserved = own.unserved(each.allocated + each.preempting);
      open = open || (claims && std::min(unmet - for_recent, unserved) > 0);
      recent = recent || (for_recent > 0 && unserved > 0);
      rounding = rounding || (claims && unmet > 0);
      const bool over = own.healthy() + own.stuck - freed[column] > each.allocated;
      stuck = stuck || (over && share(queue, column).over_before() > 0);
      gave_in_vain = gave_in_vain || over;
      goes = goes || each.used > each.allocated_before;
    }
    std::set<Outcome> right;
    if (!entry.victims.empty()) {
      right = {Outcome::preempts};
    } else if (coming) {
      right = {Outcome::waits};
    } else if (open || stuck) {
      right = {Outcome::infeasible, Outcome::not_found};
    } else if (recent) {
      right = {Outcome::waits};
      if (gave_in_vain) right.insert({Outcome::infeasible, Outcome::not_found});
    } else {
      right = {Outcome::fits};
      if (rounding || gave_in_vain) right.insert({Outcome::infeasible, Outcome::not_found});
      if (goes) right.insert(Outcome::waits);
    }
    if (right.contains(entry.outcome)) return;
    report(3, queue, "its outcome is {}, not {}", choice_name(*right.begin()),
           choice_name(entry.outcome));
  }

  Row sum(const std::vector<PodIndex>& pods) const { return queues_.sum(pods); }

  bool governed(const NaiveCandidate& candidate) const {
    if (hearing_.configuration.budgets.mode != BudgetMode::strict) return false;
    const std::vector<const DisruptionBudget*> budgets = cluster_.budgets();
    return std::ranges::any_of(candidate.pods, [&](PodIndex pod) {
      return std::ranges::any_of(budgets,
                                 [&](const auto* budget) { return rules_.governed(pod, *budget); });
    });
  }

  /// The pods that leave the queue are enough and not too many (laws 3 and 4).
  void judge_losses(std::size_t queue) {
    Row needed(columns());
    for (std::size_t column = 0; column < columns(); ++column) {
      const PlanQueueShare& each = reported(queue, column);
      const std::int64_t need =
          each.used - each.leaving + share(queue, column).stuck - each.allocated;
      needed[column] = std::clamp<std::int64_t>(need, 0, share(queue, column).movable);
    }
    std::vector<PodIndex> away;
    std::map<UnitIndex, std::vector<PodIndex>> whole;
    std::vector<std::vector<PodIndex>> units;
    for (const PodIndex pod : lost_[queue]) {
      if (rules_.leaving(pod)) continue;
      away.push_back(pod);
      const UnitIndex index = cluster_.pods().unit[pod];
      const Unit& unit = cluster_.units()[index];
      if (unit.kind == UnitKind::group && unit.mode == DisruptionMode::all) {
        whole[index].push_back(pod);
      } else {
        units.push_back({pod});
      }
    }
    for (auto& [index, pods] : whole) units.push_back(std::move(pods));
    const Row freed = sum(away);
    judge_enough(queue, needed, freed);
    if (waives(hearing_.configuration, WaivedLaw::law_4_claims)) return;
    for (const std::vector<PodIndex>& unit : units) {
      const Row row = sum(unit);
      bool matters = false;
      for (std::size_t column = 0; column < columns(); ++column) {
        matters = matters || (needed[column] > 0 && freed[column] - row[column] < needed[column] &&
                              row[column] > 0);
      }
      if (matters) continue;
      report(4, queue, "victim {} need not leave: the queue is within its allocation beside it",
             cluster_.pod_key(unit.front()));
    }
  }

  /// Strict budgets may keep some of the pods that they govern.
  void judge_enough(std::size_t queue, const Row& needed, const Row& freed) {
    for (std::size_t column = 0; column < columns(); ++column) {
      if (freed[column] >= needed[column]) continue;
      const bool any_candidate =
          std::ranges::any_of(queues_.candidates, [&](const NaiveCandidate& each) {
            return each.queue == queue && !victims_.contains(each.pods.front()) &&
                   !governed(each) && sum(each.pods)[column] > 0;
          });
      if (!any_candidate) continue;
      report(3, queue, "it must lose {} {}, and loses {}", needed[column], resource(column),
             freed[column]);
    }
  }

  /// Reported under the queue itself when it was above its share before, else under one that takes
  /// what it holds.
  void judge_cause(PodIndex pod, const HeardAsk& ask) {
    const std::size_t from = queues_.queue_of(pod);
    if (from == NaiveQueues::none) {
      return hearing_.breaches.add_of_queues(9, ask.text, "victim {} is of no queue",
                                             cluster_.pod_key(pod));
    }
    const std::string& loser = queues_.queues[from].name;
    // A group of mode `all` leaves whole: what it holds is what counts.
    const Row held = sum(rules_.leaves_with(pod));
    bool fine = false;
    for (std::size_t column = 0; column < columns(); ++column) {
      if (held[column] <= 0) continue;
      fine = fine || (loser == ask.entry->name && share(from, column).over_before() > 0);
      // What makes up for nodes that went away goes to no queue, on behalf of the ask.
      const std::string name(resource(column));
      fine = fine || taken_.contains({loser, name, ask.entry->name}) ||
             taken_.contains({loser, name, ""});
    }
    if (fine) return;
    hearing_.breaches.add_of_queues(9, ask.text, "victim {} of queue {} makes no room for it",
                                    cluster_.pod_key(pod), loser);
  }

  /// "Only candidate" is not said of a victim when other pods might leave instead.
  void judge_alternative(std::size_t queue, const HeardVictim& victim, const HeardAsk& ask) {
    if (victim.entry->cause_key != "only candidate" || !others_.contains(queue)) return;
    hearing_.breaches.add_of_queues(9, ask.text, "{} is not the only candidate", victim.text);
  }

  /// At most so much of it is taken from the queue for this ask.
  std::int64_t served(std::size_t from, std::size_t column, const HeardAsk& ask) const {
    const std::string& loser = queues_.queues[from].name;
    const bool own = loser == ask.entry->name;
    std::int64_t amount = own ? std::max<std::int64_t>(0, share(from, column).over_before()) : 0;
    for (const std::string& to : {ask.entry->name, std::string{}}) {
      const auto at = taken_.find({loser, std::string(resource(column)), to});
      if (at != taken_.end()) amount += at->second;
    }
    return amount;
  }

  /// The pods that leave a queue are reported under asks that are not served by others already: of
  /// those under an ask, at least one (the last reported) makes a difference to it. Where several
  /// resources are taken from a queue, it is open which ask each pod serves.
  void judge_served(const HeardAsk& ask) {
    std::map<std::size_t, std::set<PodIndex>> reported_here;
    for (const HeardVictim& victim : ask.victims) {
      const std::size_t from = queues_.queue_of(victim.pod);
      if (from == NaiveQueues::none) continue;
      reported_here[from].insert(victim.pod);
      judge_alternative(from, victim, ask);
    }
    for (const auto& [from, pods] : reported_here) {
      const Row freed = sum({pods.begin(), pods.end()});
      Row wanted(columns());
      std::size_t taken = 0;
      for (std::size_t column = 0; column < columns(); ++column) {
        wanted[column] = served(from, column, ask);
        const bool lost =
            share(from, column).over_before() > 0 ||
            reported(from, column).allocated < reported(from, column).allocated_before;
        taken += lost ? 1 : 0;
      }
      if (taken > 1) continue;
      const bool matters = std::ranges::any_of(pods, [&](PodIndex pod) {
        const Row row = sum(rules_.leaves_with(pod));
        for (std::size_t column = 0; column < columns(); ++column) {
          if (row[column] > 0 && freed[column] - row[column] < wanted[column]) return true;
        }
        return false;
      });
      if (matters) continue;
      hearing_.breaches.add_of_queues(9, ask.text,
                                      "more leaves queue {} in its name than it takes from there",
                                      queues_.queues[from].name);
    }
  }

  Hearing& hearing_;
  const Cluster& cluster_;
  const NaiveQueues& queues_;
  EvictionRules rules_;
  std::map<std::string, const HeardAsk*> asks_;        ///< By queue.
  std::map<PodIndex, const HeardAsk*> victims_;        ///< Of queues.
  std::map<std::size_t, std::vector<PodIndex>> lost_;  ///< The same by the queue that they are of.
  /// Giver, resource and receiver of what moves later, or from hand to hand.
  std::map<std::tuple<std::string, std::string, std::string>, std::int64_t> taken_;
  std::set<std::size_t> others_;  ///< Queues that keep a pod which might leave.
};

/// Law 14: the stage is left out whole.
void judge_without_stage(Hearing& hearing) {
  const bool asks = std::ranges::any_of(
      hearing.plan.asks, [](const PlanAsk& ask) { return ask.kind == AskKind::queue; });
  if (!asks && hearing.plan.queues.empty() && hearing.plan.queue_moves.empty()) return;
  hearing.breaches.add_of_queues(9, "", "the queue stage is left out, and the plan speaks of it");
}

}  // namespace

void judge_queues(Hearing& hearing) {
  const NaiveQueues& queues = *hearing.queues;
  if (!queues.on()) {
    if (!hearing.plan.queues.empty() || !hearing.plan.queue_moves.empty()) {
      hearing.breaches.add_of_queues(9, "", "the plan speaks of queues, and there are none");
    }
    return;
  }
  if (leaves_out_queues(hearing.plan.left_out)) return judge_without_stage(hearing);
  TableJudge(hearing).judge();
  const bool complete = hearing.plan.queues.size() == queues.queues.size() &&
                        std::ranges::all_of(hearing.plan.queues, [&](const PlanQueue& queue) {
                          return queue.shares.size() == queues.resources.size();
                        });
  if (complete) QueueAskJudge(hearing).judge();
}

}  // namespace makeway
