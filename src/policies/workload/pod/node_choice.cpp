#include "policies/workload/pod/node_choice.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>

#include "engine/node_scan.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"

namespace makeway {
namespace {

/// The sum, over what the ask requests, of used / allocatable in thousandths with the ask placed.
class Fullness {
 public:
  explicit Fullness(const PodFit& fit) : requests_(fit.requests()), wholes_(requests_.size()) {}

  std::int64_t of(std::span<const std::int64_t> allocatable, std::span<const std::int64_t> used) {
    std::int64_t sum = 0;
    std::int64_t pods = 0;
    bool any = false;
    for (std::size_t at = 0; at < requests_.size(); ++at) {
      const ResourceAmount& item = requests_[at];
      const std::int64_t taken = used[item.resource.value] + item.amount;
      const std::int64_t permille = wholes_[at].permille(taken, allocatable[item.resource.value]);
      if (item.resource == resource_pods) {
        pods = permille;
      } else {
        sum += permille;
        any = true;
      }
    }
    return any ? sum : pods;
  }

 private:
  /// A resource of the node before: the next one often has the same, and a division is saved.
  struct Whole {
    std::int64_t amount = 0;
    std::int64_t thousandth = 0;

    /// It fits, so taken <= whole; dividing first keeps amounts of any size within range.
    std::int64_t permille(std::int64_t taken, std::int64_t whole) {
      if (whole < 1'000'000) return taken * 1000 / whole;
      if (whole != amount) *this = {.amount = whole, .thousandth = whole / 1000};
      return taken / thousandth;
    }
  };

  RequestRow requests_;
  std::vector<Whole> wholes_;
};

/// A node where it fits, now or later.
struct Ranked {
  NodeIndex node;
  RoomValue value;
  bool now = false;
};

constexpr RoomValue nominated_value{.avoided = std::numeric_limits<std::int64_t>::min()};

/// Looks at one node after the other, cheap questions first.
class RoomLook {
 public:
  RoomLook(World& world, PodFit& after, PodFit* now, NodeIndex nominated, NodeScore score,
           Comes comes)
      : world_(world),
        after_(after),
        now_(now),
        scan_(after, world.rules()),
        fullness_(after),
        nominated_(nominated),
        pack_(score == NodeScore::pack),
        alone_(comes == Comes::alone),
        checks_promises_(world.must_check_promises(after.ask())),
        plain_(is_plain(after) && (now == nullptr || is_plain(*now))) {
    // An ask that has a place does not take another one from a less important pod, which would have
    // to make room for itself once more.
    const bool has_place = nominated.exists() && world.cluster().nodes().flags[nominated].exists &&
                           fits_as_nominated(world, after, nominated) &&
                           world.keeps_promises(after.ask(), nominated, {});
    if (!has_place) return;
    const PodIndex ask = after.ask();
    stays_ = alone_ && others_may_lose(world, std::span(&ask, 1));
    respectful_.emplace(world.survey(), after.scratch(), after.ask(), world.holds());
    respectful_->respect_every_nomination(true);
  }

  void soon(NodeIndex node) const { scan_.soon(node); }
  std::optional<Ranked> on(NodeIndex node) {
    if (stays_ && node != nominated_) return std::nullopt;
    const std::span<const std::int64_t> used = after_.scratch().used(node);
    if (!scan_.has_room(node, used) || !takes(node)) return std::nullopt;
    if (respectful_ && node != nominated_ && respectful_->check(node)) return std::nullopt;
    if (checks_promises_ && !world_.keeps_promises(after_.ask(), node, {})) return std::nullopt;
    if (!plain_ && world_.needs_uncertain_arrival(after_, node, {})) return std::nullopt;
    const RoomValue value = node == nominated_ ? nominated_value : value_of(node, used);
    return Ranked{.node = node, .value = value, .now = fits_now(node)};
  }
  /// The node as it will be; it is emptied only where more than resources counts.
  std::optional<Ranked> on(NodeIndex node, EmptiedNodes& emptied) {
    if (emptied.is_empty(node)) return on(node);
    if (after_.refused_by_node(node)) return std::nullopt;
    if (!after_.only_resources(node)) {
      emptied.empty(node);
      return on(node);
    }
    const std::span<const std::int64_t> used = emptied.used(node);
    if (!scan_.has_room(node, used)) return std::nullopt;
    return Ranked{.node = node, .value = value_of(node, used), .now = true};
  }

 private:
  /// Nothing but resources and the node itself can refuse the ask where no pod is expected.
  static bool is_plain(PodFit& fit) {
    return fit.portless() && !fit.constraints().any() && fit.kept_free().empty();
  }
  /// The node has room for it.
  bool takes(NodeIndex node) {
    if (node == nominated_) return fits_as_nominated(world_, after_, node);
    if (!plain_ || after_.has_holders(node)) return !after_.check(node);
    return !after_.refused_by_node(node);
  }
  /// It takes the ask in the end.
  bool fits_now(NodeIndex node) {
    if (now_ == nullptr) return true;
    if (alone_ && !world_.may_bind(after_.ask(), node)) return false;
    return plain_ ? scan_.has_room(node, now_->scratch().used(node))
                  : !now_->check_unreserved(node);
  }
  RoomValue value_of(NodeIndex node, std::span<const std::int64_t> used) {
    const std::int64_t full = fullness_.of(after_.survey().allocatable(node), used);
    const StaticVerdict& says = after_.says(node);
    RoomValue value{
        .avoided = says.avoided, .unpreferred = -says.preferred, .fullness = pack_ ? -full : full};
    if (!after_.constraints().has_preferences()) return value;
    const PodConstraints::PreferenceCount preferences = after_.constraints().preferences_on(node);
    value.unpreferred -= preferences.points;
    value.crowded = preferences.crowded;
    return value;
  }

  World& world_;
  PodFit& after_;
  PodFit* now_;
  NodeScan scan_;
  Fullness fullness_;
  NodeIndex nominated_;
  bool pack_;
  bool alone_;
  bool stays_ = false;  ///< It has a place, and others could lose theirs if it took another.
  bool checks_promises_;
  bool plain_;
  std::optional<PodFit> respectful_;
};

Reason lost_to(const RoomValue& best, const RoomValue& other) {
  if (best == nominated_value) return {.code = ReasonCode::by_nominated_node};
  if (other.avoided != best.avoided) {
    return {.code = ReasonCode::by_avoided_taints, .arguments = {other.avoided, best.avoided}};
  }
  if (other.unpreferred != best.unpreferred) {
    return {.code = ReasonCode::by_preferences,
            .arguments = {-other.unpreferred, -best.unpreferred}};
  }
  if (other.crowded != best.crowded) {
    return {.code = ReasonCode::by_spread, .arguments = {other.crowded, best.crowded}};
  }
  if (other.fullness == best.fullness) return {.code = ReasonCode::by_name};
  return {.code = ReasonCode::by_fullness,
          .arguments = {std::abs(other.fullness), std::abs(best.fullness)}};
}

/// Those that come after the best one, with what they lost on.
std::vector<PlanAlternative> runners_up(const World& world, std::vector<Ranked> ranked) {
  const bool any_now = std::ranges::any_of(ranked, &Ranked::now);
  std::erase_if(ranked, [&](const Ranked& each) { return any_now && !each.now; });
  std::ranges::stable_sort(ranked, {}, &Ranked::value);
  std::vector<PlanAlternative> result;
  const auto count_max =
      static_cast<std::size_t>(world.configuration().engine.alternatives_max) + 1;
  for (std::size_t at = 1; at < std::min(ranked.size(), count_max); ++at) {
    std::string lost_on =
        write_text(world.cluster(), lost_to(ranked.front().value, ranked[at].value));
    result.push_back({.node = node_name(world.cluster(), ranked[at].node),
                      .score = {},
                      .victims = 0,
                      .victim_units = 0,
                      .lost_on = std::move(lost_on)});
  }
  return result;
}

}  // namespace

void place_nominated_pods(const World& world, PodFit& fit) {
  const PodColumns& pods = world.cluster().pods();
  std::set<NodeIndex> nodes;
  for (const PodIndex pod : world.cluster().nominated_pods()) {
    const NodeIndex node = pods.nominated[pod];
    if (world.cluster().nodes().flags[node].exists) nodes.insert(node);
  }
  for (const NodeIndex node : nodes) {
    for (const PodIndex pod : fit.holders(node)) fit.scratch().place(pod, node);
  }
}

bool fits_as_nominated(const World& world, PodFit& fit, NodeIndex node) {
  if (!fit.check(node)) return true;
  if (!fit.constraints().any() || fit.check_unreserved(node)) return false;
  const Scratch::Checkpoint before = fit.scratch().checkpoint();
  place_nominated_pods(world, fit);
  const bool fits = !fit.check_unreserved(node);
  fit.scratch().rollback(before);
  return fits;
}

bool others_may_lose(const World& world, std::span<const PodIndex> own) {
  const Cluster& cluster = world.cluster();
  // kube-scheduler does not keep an ask that has a place from moving.
  if (world.configuration().workload.nomination_held_by != NominationHeldBy::placement) {
    return false;
  }
  const auto looks = [&](PodIndex pod) {
    return looks_at_others(cluster.shape(cluster.pods().shape[pod]));
  };
  const bool own_look = std::ranges::any_of(own, looks);
  return std::ranges::any_of(cluster.nominated_pods(), [&](PodIndex pod) {
    if (std::ranges::find(own, pod) != own.end() || !world.holds().is_open(pod)) return false;
    return !world.after().node_of(pod).exists() && (own_look || looks(pod));
  });
}

NodeChoice choose_node(World& world, PodFit& after, PodFit* now, std::span<const NodeIndex> domain,
                       Others others, Comes comes) {
  return choose_node(world, after, now, domain, world.configuration().workload.node_score, others,
                     comes);
}

NodeChoice choose_node(World& world, PodFit& after, PodFit* now, std::span<const NodeIndex> domain,
                       NodeScore score, Others others, Comes comes) {
  NodeChoice choice;
  RoomValue best_now;
  RoomValue best_later;
  std::vector<Ranked> ranked;
  NodeIndex nominated = world.cluster().pods().nominated[after.ask()];
  // Where it may not go it has no place: a member may be nominated to another domain.
  const bool is_elsewhere =
      nominated.exists() && std::ranges::find(domain, nominated) == domain.end();
  if (is_elsewhere) nominated = {};
  RoomLook look(world, after, now, nominated, score, comes);
  for (std::size_t position = 0; position < domain.size(); ++position) {
    const NodeIndex node = domain[position];
    if (position + NodeScan::ahead < domain.size()) look.soon(domain[position + NodeScan::ahead]);
    const std::optional<Ranked> found = look.on(node);
    if (!found) continue;
    if (found->now) ++choice.fitting_now;
    std::optional<NodeIndex>& chosen = found->now ? choice.now : choice.later;
    RoomValue& best = found->now ? best_now : best_later;
    if (others == Others::listed) ranked.push_back(*found);
    if (chosen && found->value >= best) continue;
    chosen = node;
    best = found->value;
  }
  choice.others = runners_up(world, std::move(ranked));
  return choice;
}

RoomRanking::RoomRanking(World& world, PodFit& after)
    : RoomRanking(world, after, world.survey().nodes(), world.configuration().workload.node_score,
                  nullptr) {}

RoomRanking::RoomRanking(World& world, PodFit& after, std::span<const NodeIndex> nodes,
                         NodeScore score, EmptiedNodes* emptied)
    : world_(world),
      after_(after),
      nodes_(nodes),
      score_(score),
      emptied_(emptied),
      entries_(nodes_.size()),
      tree_(nodes_.size(), Before{&entries_}) {}

std::uint32_t RoomRanking::position_of(NodeIndex node) {
  const std::uint32_t position = world_.survey().position_of(node);
  if (nodes_.size() == world_.survey().nodes().size()) return position;
  const auto at = std::ranges::lower_bound(
      nodes_, position, {}, [this](NodeIndex other) { return world_.survey().position_of(other); });
  return static_cast<std::uint32_t>(at - nodes_.begin());
}

NodeChoice RoomRanking::choose(PodFit* now) {
  RoomLook look(world_, after_, now, NodeIndex{}, score_, Comes::with_others);
  const auto look_at = [&](std::uint32_t position) {
    Entry& entry = entries_[position];
    if (entry.fits == Entry::Fits::now) --fitting_now_;
    entry = {};
    const NodeIndex node = nodes_[position];
    const std::optional<Ranked> found =
        emptied_ == nullptr ? look.on(node) : look.on(node, *emptied_);
    if (!found) return;
    entry = {.fits = found->now ? Entry::Fits::now : Entry::Fits::later, .value = found->value};
    if (found->now) ++fitting_now_;
  };
  if (looked_) {
    for (const NodeIndex node : changed_) {
      const std::uint32_t position = position_of(node);
      if (position >= nodes_.size()) continue;  // Of another regime.
      look_at(position);
      tree_.changed(position);
    }
  } else {
    for (std::uint32_t position = 0; position < nodes_.size(); ++position) look_at(position);
    tree_.rebuild();
    looked_ = true;
  }
  changed_.clear();
  const std::uint32_t first = tree_.first();
  NodeChoice choice{.fitting_now = fitting_now_};
  if (entries_[first].fits == Entry::Fits::now) choice.now = nodes_[first];
  if (entries_[first].fits == Entry::Fits::later) choice.later = nodes_[first];
  return choice;
}

}  // namespace makeway
