#include "judge/naive_queues.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/checked_math.hpp"
#include "judge/check_plan_hearing.hpp"
#include "judge/naive_fit.hpp"
#include "model/names.hpp"

namespace makeway {

// ---- Division -----------------------------------------------------------------------------------

namespace {

__extension__ using Wide = __int128;

/// A level as a fraction.
struct Level {
  Wide amount = 0;
  Wide weight = 1;

  friend bool operator<(const Level& a, const Level& b) {
    return a.amount * b.weight < b.amount * a.weight;
  }
};

Level level_of(std::int64_t amount, const NaiveClaimant& claimant) {
  return {.amount = amount, .weight = claimant.weight};
}

/// Whether the shares at this level add up to the amount or more.
bool reaches(const std::vector<NaiveClaimant>& claimants, const Level& level, Wide amount) {
  Wide sum = 0;
  for (const NaiveClaimant& each : claimants) {
    const Wide wanted = std::max(each.weight * level.amount, each.floor * level.weight);
    sum += std::min(wanted, each.cap * level.weight);
  }
  return sum >= amount * level.weight;
}

/// In proportion to the weights, rounded by largest fraction.
void hand_out(Wide amount, const std::vector<std::pair<std::size_t, Wide>>& weights,
              std::vector<NaivePortion>& portions) {
  Wide whole = 0;
  for (const auto& [at, weight] : weights) whole += weight;
  if (whole == 0) return;
  std::vector<std::pair<Wide, std::size_t>> fractions;  // Negative: the largest come first.
  Wide left = amount;
  for (const auto& [at, weight] : weights) {
    portions[at].amount = static_cast<std::int64_t>(amount * weight / whole);
    portions[at].down = portions[at].amount;
    left -= portions[at].amount;
    fractions.emplace_back(-(amount * weight % whole), at);
  }
  std::ranges::sort(fractions);
  for (std::size_t next = 0; left > 0; ++next, --left) ++portions[fractions[next].second].amount;
}

}  // namespace

std::vector<NaivePortion> naive_division(std::int64_t total,
                                         const std::vector<NaiveClaimant>& claimants) {
  std::vector<NaivePortion> portions(claimants.size());
  Wide floors = 0;
  Wide caps = 0;
  std::vector<Level> levels;
  std::vector<std::pair<std::size_t, Wide>> floors_of;
  for (std::size_t at = 0; at < claimants.size(); ++at) {
    const NaiveClaimant& each = claimants[at];
    floors += each.floor;
    caps += each.cap;
    floors_of.emplace_back(at, each.floor);
    levels.push_back(level_of(each.floor, each));
    if (each.cap != NaiveClaimant::no_cap) levels.push_back(level_of(each.cap, each));
  }
  if (floors > total) {
    hand_out(total, floors_of, portions);
    return portions;
  }
  const Wide target = std::min<Wide>(total, caps);
  std::ranges::sort(levels, [](const Level& a, const Level& b) { return a < b; });
  const auto reached = std::ranges::partition_point(
      levels, [&](const Level& level) { return !reaches(claimants, level, target); });
  Wide left = target;
  std::vector<std::pair<std::size_t, Wide>> open;
  for (std::size_t at = 0; at < claimants.size(); ++at) {
    const NaiveClaimant& each = claimants[at];
    const bool beyond = reached == levels.end();
    const bool capped =
        each.cap != NaiveClaimant::no_cap && (beyond || level_of(each.cap, each) < *reached);
    if (capped) {
      portions[at] = {.amount = each.cap, .down = each.cap};
    } else if (!beyond && !(level_of(each.floor, each) < *reached)) {
      portions[at] = {.amount = each.floor, .down = each.floor};
    } else {
      open.emplace_back(at, each.weight);
      continue;
    }
    left -= portions[at].amount;
  }
  hand_out(left, open, portions);
  return portions;
}

namespace {

/// Divides one resource, from the roots down.
class Tree {
 public:
  Tree(NaiveQueues& queues, const Cluster& cluster, const Configuration& configuration,
       std::size_t column)
      : queues_(queues),
        cluster_(cluster),
        by_demand_(configuration.queue.division == Division::max_min),
        all_by_eviction_(configuration.queue.evict_up_to == EvictUpTo::deserved),
        column_(column),
        claimants_(queues.queues.size()) {}

  void divide() {
    std::vector<std::size_t> roots;
    for (std::size_t at = 0; at < queues_.queues.size(); ++at) {
      if (queues_.queues[at].parent.empty()) roots.push_back(at);
    }
    for (const std::size_t root : roots) find_bounds(root);
    divide(queues_.totals[column_], queues_.totals[column_], roots);
  }

 private:
  std::int64_t stated(const std::vector<Amount>& amounts, std::int64_t missing) const {
    const std::string_view name = cluster_.resources().name(queues_.resources[column_]);
    const auto at = std::ranges::find(amounts, name, &Amount::resource);
    return at == amounts.end() ? missing : at->amount;
  }

  void find_bounds(std::size_t at) {
    const NaiveQueue& queue = queues_.queues[at];
    const auto object = cluster_.own<Queue>().find({"", queue.name});
    const bool known = object != cluster_.own<Queue>().end();
    const std::int64_t limit =
        known ? stated(object->second.limit, NaiveClaimant::no_cap) : NaiveClaimant::no_cap;
    queues_.queues[at].shares[column_].limit = limit;
    Wide floor = known ? stated(object->second.guarantee, 0) : 0;
    Wide cap = NaiveClaimant::no_cap;
    if (!queue.leaf) {
      Wide floors = 0;
      cap = 0;
      for (const std::size_t child : queue.children) {
        find_bounds(child);
        floors += claimants_[child].floor;
        cap += claimants_[child].cap;
      }
      floor = std::max(floor, floors);
      floor = std::min<Wide>(floor, limit);
      cap = std::max(floor, std::min<Wide>(cap, limit));
    } else {
      floor = std::min<Wide>(floor, limit);
      cap = limit;
      if (by_demand_) cap = std::min<Wide>(cap, queue.shares[column_].demand());
      cap = std::max(cap, floor);
    }
    claimants_[at] = {.weight = queue.weight,
                      .floor = static_cast<std::int64_t>(floor),
                      .cap = static_cast<std::int64_t>(std::min<Wide>(cap, NaiveClaimant::no_cap))};
  }

  /// `sure` is what is left of the total when nothing is rounded up, level by level.
  void divide(std::int64_t total, std::int64_t sure, const std::vector<std::size_t>& among) {
    std::vector<NaiveClaimant> claimants;
    claimants.reserve(among.size());
    for (const std::size_t at : among) claimants.push_back(claimants_[at]);
    const std::vector<NaivePortion> portions = naive_division(total, claimants);
    const std::vector<NaivePortion> at_least = naive_division(sure, claimants);
    for (std::size_t i = 0; i < among.size(); ++i) {
      NaiveShare& share = queues_.queues[among[i]].shares[column_];
      share.deserved = portions[i].amount;
      share.sure = at_least[i].down;
      const NaiveQueue& queue = queues_.queues[among[i]];
      if (!queue.leaf) {
        divide(share.deserved, share.sure, queue.children);
      } else if (all_by_eviction_) {
        share.sure = share.deserved;
      }
    }
  }

  NaiveQueues& queues_;
  const Cluster& cluster_;
  bool by_demand_;
  bool all_by_eviction_;
  std::size_t column_;
  std::vector<NaiveClaimant> claimants_;
};

// ---- The preemption stage -----------------------------------------------------------------------

/// One resource, step by step as the decision page numbers them.
class Stage {
 public:
  Stage(NaiveQueues& queues, const Configuration& configuration, std::size_t column,
        std::string resource)
      : queues_(queues),
        settings_(configuration.queue),
        column_(column),
        resource_(std::move(resource)),
        within_(queues.queues.size()) {}

  void run() {
    for (std::size_t at = 0; at < queues_.queues.size(); ++at) {
      if (queues_.queues[at].leaf) leaves_.push_back(at);
    }
    find_limits();
    give_back();
    allocate_what_stays();
    cut_promises();
    for (const std::size_t at : leaves_) share(at).kept = share(at).allocated;
    find_room();
    find_receivers();
    find_givers();
    serve();
  }

 private:
  struct Giver {
    std::size_t queue = 0;
    std::int64_t most = 0;
  };
  /// Of the cluster, or of a queue with children.
  struct Limit {
    std::vector<std::size_t> leaves;
    Wide open = 0;  ///< What is not allocated or taken below it; negative: it is exceeded.
    Wide idle = 0;  ///< What is not allocated or used.
  };

  void find_limits() {
    for (std::size_t at = 0; at < queues_.queues.size(); ++at) {
      const std::int64_t limit = share(at).limit;
      if (queues_.queues[at].leaf || limit == NaiveClaimant::no_cap) continue;
      limits_.push_back({.leaves = leaves_below(at), .open = limit, .idle = limit});
    }
    // The innermost first; the cluster is around them all.
    std::ranges::stable_sort(limits_, {}, [](const Limit& each) { return each.leaves.size(); });
    const Wide total = queues_.totals[column_];
    limits_.push_back({.leaves = leaves_, .open = total, .idle = total});
    for (std::size_t limit = 0; limit < limits_.size(); ++limit) {
      for (const std::size_t leaf : limits_[limit].leaves) within_[leaf].push_back(limit);
    }
  }

  std::vector<std::size_t> leaves_below(std::size_t queue) const {
    if (queues_.queues[queue].leaf) return {queue};
    std::vector<std::size_t> all;
    for (const std::size_t child : queues_.queues[queue].children) {
      const std::vector<std::size_t> below = leaves_below(child);
      all.insert(all.end(), below.begin(), below.end());
    }
    return all;
  }

  bool is_within(std::size_t leaf, std::size_t limit) const {
    return std::ranges::binary_search(within_[leaf], limit);
  }
  void add(std::size_t leaf, Wide amount) {
    for (const std::size_t limit : within_[leaf]) limits_[limit].open -= amount;
  }

  NaiveShare& share(std::size_t queue) { return queues_.queues[queue].shares[column_]; }
  const std::string& name(std::size_t queue) const { return queues_.queues[queue].name; }
  std::int64_t claim(std::size_t queue) {
    return share(queue).deserved - share(queue).allocated - taken_[queue].sum;
  }

  void move(const std::string& from, const std::string& to, std::int64_t amount, bool at_once) {
    if (amount <= 0) return;
    queues_.moves.push_back(
        {.resource = resource_, .from = from, .to = to, .amount = amount, .at_once = at_once});
  }

  void give_back() {  // 1
    for (const std::size_t at : leaves_) {
      NaiveShare& each = share(at);
      each.allocated = std::min(each.before, std::max(each.used, each.deserved));
      move(name(at), "", each.before - each.allocated, true);
    }
  }

  /// Of what is used, the part that no eviction can free.
  void allocate_what_stays() {
    for (const std::size_t at : leaves_) {
      NaiveShare& each = share(at);
      const std::int64_t more = each.in_fact(each.allocated, each.movable) - each.allocated;
      each.allocated += more;
      move("", name(at), more, true);
    }
  }

  /// Where more is allocated than there is or may be, unused allocation is no promise.
  void cut_promises() {
    for (const std::size_t at : leaves_) add(at, share(at).allocated);
    for (const Limit& limit : limits_) {
      if (limit.open < 0) cut_promises(limit);
    }
  }

  void cut_promises(const Limit& limit) {
    std::vector<std::size_t> unused = limit.leaves;
    std::erase_if(unused, [this](std::size_t at) { return share(at).allocated <= share(at).used; });
    std::ranges::stable_sort(unused, [this](std::size_t a, std::size_t b) {
      const std::int64_t first = share(a).allocated - share(a).used;
      const std::int64_t second = share(b).allocated - share(b).used;
      return first != second ? first > second : name(a) < name(b);
    });
    for (const std::size_t at : unused) {
      if (limit.open >= 0) return;
      const Wide cut = std::min<Wide>(-limit.open, share(at).allocated - share(at).used);
      add(at, -cut);
      share(at).allocated -= static_cast<std::int64_t>(cut);
      move(name(at), "", static_cast<std::int64_t>(cut), true);
    }
  }

  void find_room() {  // 2
    for (Limit& limit : limits_) {
      for (const std::size_t at : limit.leaves) {
        limit.idle -= std::max(share(at).allocated, share(at).used);
      }
    }
  }

  /// What a leaf can get at all of what is open, or idle, below each limit above it.
  std::int64_t least(std::size_t leaf, Wide Limit::* what) const {
    Wide amount = NaiveClaimant::no_cap;
    for (const std::size_t limit : within_[leaf]) amount = std::min(amount, limits_[limit].*what);
    return static_cast<std::int64_t>(std::max<Wide>(amount, 0));
  }

  void find_receivers() {  // 3
    for (const std::size_t at : leaves_) {
      if (share(at).deserved > share(at).allocated) receivers_.push_back(at);
    }
    std::ranges::stable_sort(receivers_, [this](std::size_t a, std::size_t b) {
      const std::int32_t first = queues_.queues[a].priority;
      const std::int32_t second = queues_.queues[b].priority;
      if (first != second) return first > second;
      // (D - A) / D by largest: the smaller A / D.
      const Wide left = Wide{share(a).allocated} * share(b).deserved;
      const Wide right = Wide{share(b).allocated} * share(a).deserved;
      return left == right ? name(a) < name(b) : left < right;
    });
  }

  void find_givers() {  // 4 and 5
    for (const std::size_t at : leaves_) {
      const NaiveShare& each = share(at);
      // Room of stuck pods is not given, nor do other pods of the queue leave instead.
      const std::int64_t most = std::min(each.used, each.allocated) - each.deserved - each.stuck;
      if (most <= 0 || !queues_.queues[at].reclaimable) continue;
      // Down to what stays when all pods that are leaving or may be evicted have left.
      const std::int64_t can = std::min(most, each.allocated - each.stays());
      if (can <= 0) continue;
      givers_.push_back({.queue = at, .most = can});
      giveable_ += can;
    }
    std::ranges::stable_sort(givers_, [this](const Giver& a, const Giver& b) {
      const NaiveShare& first = share(a.queue);
      const NaiveShare& second = share(b.queue);
      const bool nothing = first.deserved == 0;
      if (nothing != (second.deserved == 0)) return nothing;
      if (nothing && first.used != second.used) return first.used > second.used;
      const Wide left = Wide{first.used} * second.deserved;
      const Wide right = Wide{second.used} * first.deserved;
      if (left != right) return left > right;
      return name(a.queue) < name(b.queue);
    });
  }

  /// What its own pods hold above its allocation, and will go on holding, is its own first.
  void take_what_it_uses(std::size_t receiver) {
    const NaiveShare& own = share(receiver);
    take_room(receiver, std::max<std::int64_t>(0, own.healthy() + own.stuck - own.allocated));
  }

  /// Of room that is there or comes.
  void take_room(std::size_t receiver, std::int64_t most) {
    const std::int64_t amount = std::min({claim(receiver), most, least(receiver, &Limit::open)});
    add(receiver, amount);
    taken_[receiver].sum += amount;
    taken_[receiver].room += amount;
  }

  /// First what is allocated beyond the limits above the receiver, the innermost first; then what
  /// it wants, as far as limits allow that the giver is not below. All or, if it would get nothing,
  /// nothing of that.
  void take_from_givers(std::size_t receiver) {
    // What rounding adds to its share comes from room alone.
    const NaiveShare& own = share(receiver);
    const std::int64_t claimed = std::min(claim(receiver) - own.for_recent(),
                                          own.unserved(own.allocated + taken_[receiver].sum));
    if (claimed <= 0) return;
    if (giveable_ <= -limits_.back().open) return;  // No queue would get anything.
    while (next_giver_ < givers_.size() && givers_[next_giver_].most == 0) ++next_giver_;
    std::vector<std::pair<std::size_t, std::int64_t>> lost;
    std::vector<std::pair<std::size_t, std::int64_t>> given;
    bool within = true;
    for (const std::size_t limit : within_[receiver]) {
      for (std::size_t at = next_giver_; at < givers_.size() && limits_[limit].open < 0; ++at) {
        const Giver& giver = givers_[at];
        if (!is_within(giver.queue, limit)) continue;
        const Wide amount = std::min<Wide>(giver.most, -limits_[limit].open);
        lost.emplace_back(at, static_cast<std::int64_t>(amount));
        part_with(lost.back(), 1);
      }
      within = within && limits_[limit].open >= 0;
    }
    std::int64_t wanted = within ? claimed : 0;
    for (std::size_t at = next_giver_; at < givers_.size() && wanted > 0; ++at) {
      Wide amount = std::min(givers_[at].most, wanted);
      for (const std::size_t limit : within_[receiver]) {
        if (!is_within(givers_[at].queue, limit)) amount = std::min(amount, limits_[limit].open);
      }
      if (amount <= 0) continue;
      given.emplace_back(at, static_cast<std::int64_t>(amount));
      part_with(given.back(), 1);
      add(receiver, amount);
      wanted -= given.back().second;
    }
    if (given.empty()) {
      for (const auto& each : lost) part_with(each, -1);
      return;
    }
    for (const auto& [at, amount] : lost) {
      if (amount > 0) share(givers_[at].queue).allocated -= amount;
      move(name(givers_[at].queue), "", amount, false);
    }
    for (const auto& [at, amount] : given) {
      share(givers_[at].queue).allocated -= amount;
      taken_[receiver].sum += amount;
      taken_[receiver].given.push_back({.queue = givers_[at].queue, .most = amount});
    }
  }

  /// Or takes it back.
  void part_with(const std::pair<std::size_t, std::int64_t>& part, std::int64_t sign) {
    Giver& giver = givers_[part.first];
    const std::int64_t amount = sign * part.second;
    giver.most -= amount;
    giveable_ -= amount;
    add(giver.queue, -amount);
  }

  /// Which part of what was taken is allocated at once: as much as the queue's pods hold already,
  /// then room that is there.
  void settle() {
    for (const std::size_t at : receivers_) {
      std::int64_t held = std::max<std::int64_t>(0, share(at).used - share(at).allocated);
      const std::int64_t from_room = std::min(held, taken_[at].room);
      taken_[at].room -= from_room;
      held -= from_room;
      give(at, "", from_room, true);
      for (Giver& giver : taken_[at].given) {
        const std::int64_t piece = std::min(held, giver.most);
        held -= piece;
        giver.most -= piece;
        give(at, name(giver.queue), piece, true);
      }
    }
    for (const std::size_t at : receivers_) {
      const std::int64_t at_once = std::min(taken_[at].room, least(at, &Limit::idle));
      for (const std::size_t limit : within_[at]) limits_[limit].idle -= at_once;
      give(at, "", at_once, true);
      give(at, "", taken_[at].room - at_once, false);
      for (const Giver& giver : taken_[at].given) give(at, name(giver.queue), giver.most, false);
    }
  }

  void give(std::size_t receiver, const std::string& from, std::int64_t amount, bool at_once) {
    (at_once ? share(receiver).allocated : share(receiver).preempting) += amount;
    move(from, name(receiver), amount, at_once);
  }

  /// What is left of the excess leaves for no ask.
  void drop_excess() {
    for (Giver& giver : givers_) {
      share(giver.queue).allocated -= giver.most;
      move(name(giver.queue), "", giver.most, false);
      add(giver.queue, -giver.most);
      giver.most = 0;
    }
    for (const std::size_t at : receivers_) take_room(at, claim(at));
  }

  void serve() {
    for (const std::size_t at : receivers_) take_what_it_uses(at);
    for (const std::size_t at : receivers_) take_room(at, std::min(share(at).recorded, claim(at)));
    for (const std::size_t at : receivers_) {
      take_room(at, claim(at));
      take_from_givers(at);
    }
    for (const std::size_t at : receivers_) take_room(at, claim(at));
    if (settings_.excess_leaves == ExcessLeaves::always) drop_excess();
    settle();
  }

  NaiveQueues& queues_;
  const QueueSettings& settings_;
  std::size_t column_;
  std::string resource_;
  std::vector<std::size_t> leaves_;
  std::vector<std::size_t> receivers_;
  std::vector<Giver> givers_;
  std::size_t next_giver_ = 0;  ///< Those before it have given all they can.
  std::int64_t giveable_ = 0;   ///< What all can still give.
  struct Taken {
    std::int64_t sum = 0;
    std::int64_t room = 0;
    std::vector<Giver> given;
  };
  std::map<std::size_t, Taken> taken_;
  std::vector<Limit> limits_;                     ///< Inner ones first, the cluster last.
  std::vector<std::vector<std::size_t>> within_;  ///< By leaf, the limits above it.
};

/// A queue with children shows the sums over its leaves.
void sum_up(NaiveQueues& queues, std::size_t at) {
  NaiveQueue& queue = queues.queues[at];
  if (queue.leaf) return;
  for (const std::size_t child : queue.children) {
    sum_up(queues, child);
    for (std::size_t column = 0; column < queue.shares.size(); ++column) {
      NaiveShare& sum = queue.shares[column];
      const NaiveShare& part = queues.queues[child].shares[column];
      sum.before += part.before;
      sum.allocated += part.allocated;
      sum.used += part.used;
      sum.leaving += part.leaving;
      sum.stuck += part.stuck;
      sum.pending += part.pending;
      sum.preempting += part.preempting;
    }
  }
}

void divide_naively(NaiveQueues& queues, const Cluster& cluster,
                    const Configuration& configuration) {
  for (std::size_t column = 0; column < queues.resources.size(); ++column) {
    Tree(queues, cluster, configuration, column).divide();
  }
}

void run_stage_naively(NaiveQueues& queues, const Configuration& configuration,
                       const Cluster& cluster) {
  for (std::size_t column = 0; column < queues.resources.size(); ++column) {
    std::string name(cluster.resources().name(queues.resources[column]));
    Stage(queues, configuration, column, std::move(name)).run();
  }
  for (NaiveQueue& queue : queues.queues) {
    if (queue.leaf) continue;
    for (NaiveShare& share : queue.shares) {
      share = {.deserved = share.deserved, .limit = share.limit, .sure = share.sure};
    }
  }
  for (std::size_t at = 0; at < queues.queues.size(); ++at) {
    if (queues.queues[at].parent.empty()) sum_up(queues, at);
  }
}

}  // namespace

// ---- NaiveQueues --------------------------------------------------------------------------------

namespace {

std::int64_t amount_in(const std::vector<Amount>& amounts, std::string_view resource,
                       std::int64_t missing) {
  const auto at = std::ranges::find(amounts, resource, &Amount::resource);
  return at == amounts.end() ? missing : at->amount;
}

}  // namespace

NaiveQueues::NaiveQueues(const Cluster& cluster, const Configuration& configuration, Time now)
    : cluster_(cluster), configuration_(configuration), regimes_(cluster, configuration) {
  if (!configuration.queue.enabled || cluster.own<Queue>().empty()) return;
  find_resources();
  find_queues();
  find_homes();
  find_totals();
  count_pods(now);
  find_candidates(now);
  divide_naively(*this, cluster, configuration);
  run_stage_naively(*this, configuration, cluster);
}

/// What nodes have, cordoned ones too; `pods` is nothing that teams share.
void NaiveQueues::find_resources() {
  std::map<std::string_view, ResourceIndex> found;
  for (const NodeIndex node : cluster_.home_nodes()) {
    if (!divided(node)) continue;
    for (const ResourceAmount& each : cluster_.requests(cluster_.nodes().allocatable[node])) {
      if (each.resource == resource_pods || each.amount <= 0) continue;
      found[cluster_.resources().name(each.resource)] = each.resource;
    }
  }
  for (const auto& [name, resource] : found) resources.push_back(resource);
}

void NaiveQueues::find_queues() {
  std::set<std::string> parents;
  for (const auto& [key, object] : cluster_.own<Queue>()) {
    queues.push_back({.name = object.name,
                      .parent = object.parent,
                      .weight = object.weight,
                      .priority = object.priority,
                      .reclaimable = object.reclaimable});
    parents.insert(object.parent);
  }
  std::ranges::sort(queues, {}, &NaiveQueue::name);
  for (NaiveQueue& queue : queues) {
    queue.leaf = !parents.contains(queue.name);
    queue.shares.resize(resources.size());
  }
  for (std::size_t at = 0; at < queues.size(); ++at) {
    const std::size_t parent = find(queues[at].parent);
    if (parent != none && !queues[at].parent.empty()) queues[parent].children.push_back(at);
  }
}

std::size_t NaiveQueues::find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(queues, name, {}, &NaiveQueue::name);
  if (at == queues.end() || at->name != name) return none;
  return static_cast<std::size_t>(at - queues.begin());
}

// ---- Pods and their queues ----------------------------------------------------------------------

bool NaiveQueues::apart(PodIndex pod) const {
  const PodColumns& pods = cluster_.pods();
  if (pods.flags[pod].kernel || pods.flags[pod].mirror) return true;
  if (pods.flags[pod].kept == KeptBy::other_scheduler) return true;
  const std::string_view named = cluster_.text(pods.priority_class[pod]);
  const bool critical = named == names::node_critical || named == names::cluster_critical;
  if (critical && configuration_.protection.protect_system_critical) return true;
  const bool alone = cluster_.units()[pods.unit[pod]].kind == UnitKind::pod;
  return alone && configuration_.required_node.enabled && !pinned_to(cluster_, pod).empty();
}

/// Pods belong to queues without children.
std::size_t NaiveQueues::leaf(std::string_view name) const {
  const std::size_t at = name.empty() ? none : find(name);
  return at != none && queues[at].leaf ? at : none;
}

/// By label: of its group, else of some pod of it, else of itself.
std::size_t NaiveQueues::stated_queue(PodIndex pod) const {
  const PodColumns& pods = cluster_.pods();
  const Unit& unit = cluster_.units()[pods.unit[pod]];
  if (unit.kind != UnitKind::group) return leaf(cluster_.text(pods.queue[pod]));
  const Group& group = cluster_.groups()[unit.group];
  const std::size_t own = group.object ? leaf(group.object->queue) : none;
  if (own != none) return own;
  std::size_t first = none;  // Queues stand by name, and `none` is larger than all.
  for (const PodIndex member : group.members) {
    first = std::min(first, leaf(cluster_.text(pods.queue[member])));
  }
  return first;
}

void NaiveQueues::find_homes() {
  const PodColumns& pods = cluster_.pods();
  std::map<std::string_view, std::size_t> listed;  // By namespace.
  for (const auto& [key, object] : cluster_.own<Queue>()) {
    const std::size_t at = leaf(object.name);
    for (const std::string& space : object.namespaces) {
      if (at != none) listed.try_emplace(space, at);
    }
  }
  const std::size_t last = leaf("default");
  std::map<UnitIndex, std::pair<std::size_t, bool>> homes;  // And whether it is only adopted there.
  home_.assign(pods.slots(), none);
  for (const PodIndex pod : cluster_.each_row()) {
    if (apart(pod) || pods.plane[pod] != StringId{0}) continue;
    if (regimes_.of_pod(pod) != Regime::pods) continue;
    const auto [at, is_new] = homes.try_emplace(pods.unit[pod], none, false);
    auto& [home, adopts] = at->second;
    if (is_new) {
      home = stated_queue(pod);
      const auto space = listed.find(cluster_.text(pods.namespace_name[pod]));
      if (home == none && space != listed.end()) home = space->second;
      adopts = home == none && last != none;
      if (adopts) home = last;
    }
    home_[pod.value] = home;
    if (adopts) ++adopted;
  }
}

std::size_t NaiveQueues::queue_of(PodIndex pod) const {
  return pod.value < home_.size() ? home_[pod.value] : none;
}

/// What divided nodes have, less what pods of no queue hold there, each node for itself: the pods
/// that are there or, if that is more, those that stay and those that are nominated and could come.
void NaiveQueues::find_totals() {
  const PodColumns& pods = cluster_.pods();
  NaiveWorld world(cluster_);
  std::map<NodeIndex, std::vector<PodIndex>> here;
  for (const PodIndex pod : cluster_.each_row()) {
    if (home_[pod.value] != none) continue;
    const bool bound = pods.node[pod].exists();
    const NodeIndex node = bound ? pods.node[pod] : pods.nominated[pod];
    if (!node.exists() || !divided(node)) continue;
    const bool kernel = pods.flags[pod].kernel;
    if (!bound && !regimes_.may_go(pod, node)) continue;  // Void.
    if (!bound && !kernel && !NaiveFit(world, pod).fits_when_empty(node)) continue;
    // Before its victims are chosen a reservation holds nothing (section 5).
    const bool pinned = configuration_.required_node.enabled && !pinned_to(cluster_, pod).empty();
    if (!bound && pinned && cluster_.notes(pods.notes[pod]).only_reserved()) continue;
    if (bound) outside.push_back(pod);
    here[node].push_back(pod);
  }
  totals.assign(resources.size(), 0);
  outside_held.assign(resources.size(), 0);
  for (const NodeIndex node : cluster_.home_nodes()) {
    if (!divided(node)) continue;
    std::vector<std::int64_t> now(resources.size());
    std::vector<std::int64_t> then(resources.size());
    for (const PodIndex pod : here[node]) {
      const std::vector<std::int64_t> row = requests(pod);
      const bool goes = pods.deletion[pod] != no_time;
      for (std::size_t column = 0; column < row.size(); ++column) {
        if (pods.node[pod].exists()) now[column] = saturated_add(now[column], row[column]);
        if (!goes) then[column] = saturated_add(then[column], row[column]);
      }
    }
    for (std::size_t column = 0; column < resources.size(); ++column) {
      const std::int64_t held = std::max(now[column], then[column]);
      outside_held[column] = saturated_add(outside_held[column], held);
      for (const ResourceAmount& has : cluster_.requests(cluster_.nodes().allocatable[node])) {
        if (has.resource != resources[column] || has.amount <= held) continue;
        totals[column] = saturated_add(totals[column], has.amount - held);
      }
    }
  }
}

bool NaiveQueues::is_lost(PodIndex pod) const {
  const NodeIndex node = cluster_.pods().node[pod];
  return node.exists() && !divided(node);
}

std::vector<std::int64_t> NaiveQueues::requests(PodIndex pod) const {
  std::vector<std::int64_t> row(resources.size());
  if (is_lost(pod)) return row;
  for (const ResourceAmount& each : cluster_.requests(cluster_.pods().requests[pod])) {
    const auto at = std::ranges::find(resources, each.resource);
    if (at != resources.end()) row[static_cast<std::size_t>(at - resources.begin())] = each.amount;
  }
  return row;
}

std::vector<std::int64_t> NaiveQueues::sum(const std::vector<PodIndex>& pods) const {
  std::vector<std::int64_t> total(resources.size());
  for (const PodIndex pod : pods) {
    const std::vector<std::int64_t> row = requests(pod);
    for (std::size_t column = 0; column < row.size(); ++column) {
      total[column] = saturated_add(total[column], row[column]);
    }
  }
  return total;
}

// ---- Numbers ------------------------------------------------------------------------------------

/// Whether some divided node would take it, were it empty.
bool NaiveQueues::fits_some_node(NaiveWorld& world, PodIndex pod) const {
  const NaiveFit fit(world, pod);
  return std::ranges::any_of(cluster_.home_nodes(), [&](NodeIndex node) {
    return divided(node) && fit.fits_when_empty(node);
  });
}

/// Also what the objects say about the past.
void NaiveQueues::count_pods(Time now) {
  const EvictionRules rules(cluster_, configuration_, now);
  const PodColumns& pods = cluster_.pods();
  NaiveWorld world(cluster_);
  std::map<std::tuple<ShapeId, RequestId, std::string_view>, bool> known;
  for (const PodIndex pod : cluster_.each_row()) {
    const std::size_t queue = queue_of(pod);
    if (queue == none) continue;
    const bool bound = pods.node[pod].exists();
    const bool leaving = rules.leaving(pod);
    if (bound) queues[queue].bound.push_back(pod);
    bool wanted = !bound && !leaving;
    if (wanted) {
      const std::string_view pin = cluster_.notes(pods.notes[pod]).required_node;
      const auto [at, is_new] = known.try_emplace({pods.shape[pod], pods.requests[pod], pin});
      if (is_new) at->second = fits_some_node(world, pod);
      wanted = at->second;
    }
    const Time created = pods.created[pod];
    const Duration delay = configuration_.engine.preemption_delay;
    const bool recent = wanted && delay.ms > 0 && created != no_time && now < created + delay;
    const std::vector<std::int64_t> row = requests(pod);
    for (std::size_t column = 0; column < row.size(); ++column) {
      NaiveShare& share = queues[queue].shares[column];
      if (recent) share.recent = saturated_add(share.recent, row[column]);
      if (bound) share.used = saturated_add(share.used, row[column]);
      if (bound && leaving) share.leaving += row[column];
      if (bound && leaving && rules.overdue(pod)) share.stuck += row[column];
      if (wanted) share.pending = saturated_add(share.pending, row[column]);
    }
  }
  for (NaiveQueue& queue : queues) {
    const auto object = cluster_.own<Queue>().find({"", queue.name});
    for (std::size_t column = 0; column < resources.size(); ++column) {
      NaiveShare& share = queue.shares[column];
      share.before = share.used;
      if (object == cluster_.own<Queue>().end()) continue;
      const std::string_view name = cluster_.resources().name(resources[column]);
      share.before = amount_in(object->second.allocated, name, share.used);
      share.recorded = amount_in(object->second.preempting, name, 0);
    }
  }
}

/// Every pod that may be evicted, ignoring budgets; strict budgets leave open which of them.
void NaiveQueues::find_candidates(Time now) {
  const EvictionRules rules(cluster_, configuration_, now);
  const PodColumns& pods = cluster_.pods();
  const bool strict = configuration_.budgets.mode == BudgetMode::strict;
  const std::vector<const DisruptionBudget*> budgets = cluster_.budgets();
  IndexedVector<PodIndex, bool> seen(pods.slots());
  for (const PodIndex pod : cluster_.each_row()) {
    if (!pods.node[pod].exists() || seen[pod] || is_lost(pod)) continue;
    const std::size_t queue = queue_of(pod);
    if (queue == none || rules.leaving(pod)) continue;
    std::vector<PodIndex> together;
    for (const PodIndex member : rules.leaves_with(pod)) {
      if (!rules.leaving(member)) together.push_back(member);
    }
    for (const PodIndex each : together) seen[each] = true;
    const bool stays = std::ranges::any_of(
        together, [&](PodIndex each) { return !rules.protection(each).empty() || apart(each); });
    if (stays) continue;
    const bool governed = strict && std::ranges::any_of(together, [&](PodIndex each) {
                            return std::ranges::any_of(budgets, [&](const auto* budget) {
                              return rules.governed(each, *budget);
                            });
                          });
    exact = exact && !governed;
    for (const PodIndex each : together) {
      const std::vector<std::int64_t> row = requests(each);
      for (std::size_t column = 0; column < row.size(); ++column) {
        NaiveShare& share = queues[queue].shares[column];
        share.movable = saturated_add(share.movable, row[column]);
        if (governed) share.governed = saturated_add(share.governed, row[column]);
      }
    }
    candidates.push_back({.queue = queue, .pods = std::move(together)});
  }
}

}  // namespace makeway
