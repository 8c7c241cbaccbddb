#include "policies/workload/pod/node_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "engine/node_scan.hpp"
#include "policies/shared/cluster_text.hpp"

namespace makeway {
namespace {

std::int64_t fullness(PodFit& fit, NodeIndex node, std::span<const std::int64_t> used) {
  const Cluster& cluster = fit.survey().cluster();
  const std::span<const std::int64_t> allocatable = fit.survey().allocatable(node);
  std::int64_t sum = 0;
  std::int64_t pods = 0;
  bool any = false;
  for (const ResourceAmount& item : cluster.requests(cluster.pods().requests[fit.ask()])) {
    const std::int64_t whole = allocatable[item.resource.value];
    const std::int64_t taken = used[item.resource.value] + item.amount;
    // It fits, so taken <= whole; dividing first keeps amounts of any size within range.
    const std::int64_t permille =
        whole >= 1'000'000 ? taken / (whole / 1000) : taken * 1000 / whole;
    if (item.resource == resource_pods) {
      pods = permille;
    } else {
      sum += permille;
      any = true;
    }
  }
  return any ? sum : pods;
}

/// A node where it fits, now or later; the smallest value is the best.
struct Ranked {
  NodeIndex node;
  std::int64_t value = 0;
  bool now = false;
};

constexpr std::int64_t nominated_value = std::numeric_limits<std::int64_t>::min();

/// Looks at one node after the other, cheap questions first.
class RoomLook {
 public:
  RoomLook(World& world, PodFit& after, PodFit* now, NodeIndex nominated, NodeScore score)
      : world_(world),
        after_(after),
        now_(now),
        scan_(after, world.rules()),
        nominated_(nominated),
        pack_(score == NodeScore::pack) {
    // Who has a place does not take another one from somebody less important: that one would have
    // to make room for itself once more.
    const bool has_place = nominated.exists() && world.cluster().nodes().flags[nominated].exists &&
                           !after.check(nominated) &&
                           world.keeps_promises(after.ask(), nominated, {});
    if (!has_place) return;
    respectful_.emplace(world.survey(), after.scratch(), after.ask(), world.decided_pods());
    respectful_->respect_every_nomination(true);
  }

  void soon(NodeIndex node) const { scan_.soon(node); }
  std::optional<Ranked> on(NodeIndex node) {
    if (!scan_.has_room(node) || after_.check(node)) return std::nullopt;
    if (respectful_ && node != nominated_ && respectful_->check(node)) return std::nullopt;
    if (!world_.keeps_promises(after_.ask(), node, {})) return std::nullopt;
    if (world_.leans_on_hopeful(after_, node, {})) return std::nullopt;
    const bool fits_now = now_ == nullptr || !now_->check_unreserved(node);
    const std::int64_t value =
        node == nominated_ ? nominated_value : value_of(node, after_.scratch().used(node));
    return Ranked{.node = node, .value = value, .now = fits_now};
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
  std::int64_t value_of(NodeIndex node, std::span<const std::int64_t> used) const {
    return pack_ ? -fullness(after_, node, used) : fullness(after_, node, used);
  }

  World& world_;
  PodFit& after_;
  PodFit* now_;
  NodeScan scan_;
  NodeIndex nominated_;
  bool pack_;
  std::optional<PodFit> respectful_;
};

/// Those that come after the best one, with what they lost on.
std::vector<PlanAlternative> runners_up(const World& world, std::vector<Ranked> ranked) {
  const bool any_now = std::ranges::any_of(ranked, &Ranked::now);
  std::erase_if(ranked, [&](const Ranked& each) { return any_now && !each.now; });
  std::ranges::stable_sort(ranked, {}, &Ranked::value);
  std::vector<PlanAlternative> result;
  const auto count_max =
      static_cast<std::size_t>(world.configuration().engine.alternatives_max) + 1;
  for (std::size_t at = 1; at < std::min(ranked.size(), count_max); ++at) {
    const std::int64_t best = ranked.front().value;
    const std::int64_t value = ranked[at].value;
    std::string lost_on = best == nominated_value ? std::string("not its nominated node")
                          : value == best         ? std::string("name")
                                                  : fmt::format("fullness: {} against {} permille",
                                                                std::abs(value), std::abs(best));
    result.push_back({.node = node_name(world.cluster(), ranked[at].node),
                      .score = {},
                      .victims = 0,
                      .victim_units = 0,
                      .lost_on = std::move(lost_on)});
  }
  return result;
}

}  // namespace

NodeChoice choose_node(World& world, PodFit& after, PodFit* now, std::span<const NodeIndex> domain,
                       Others others) {
  return choose_node(world, after, now, domain, world.configuration().workload.node_score, others);
}

NodeChoice choose_node(World& world, PodFit& after, PodFit* now, std::span<const NodeIndex> domain,
                       NodeScore score, Others others) {
  NodeChoice choice;
  std::int64_t best_now = 0;
  std::int64_t best_later = 0;
  std::vector<Ranked> ranked;
  RoomLook look(world, after, now, world.cluster().pods().nominated[after.ask()], score);
  for (std::size_t position = 0; position < domain.size(); ++position) {
    const NodeIndex node = domain[position];
    if (position + NodeScan::ahead < domain.size()) look.soon(domain[position + NodeScan::ahead]);
    const std::optional<Ranked> found = look.on(node);
    if (!found) continue;
    if (found->now) ++choice.fitting_now;
    std::optional<NodeIndex>& chosen = found->now ? choice.now : choice.later;
    std::int64_t& best = found->now ? best_now : best_later;
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
  RoomLook look(world_, after_, now, NodeIndex{}, score_);
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
