#include "policies/workload/group/member_order.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/checked_math.hpp"

namespace makeway {
namespace {

constexpr std::int64_t millionths = 1'000'000;

struct Ranked {
  std::int64_t share = 0;
  std::int32_t priority = 0;
  Time created;
  std::string_view name;
  PodIndex pod;
};

std::vector<std::int64_t> room_of_all_nodes(Survey& survey) {
  std::vector<std::int64_t> totals(survey.cluster().order().columns());
  for (const NodeIndex node : survey.nodes()) {
    const std::span<const std::int64_t> row = survey.allocatable(node);
    for (std::size_t column = 0; column < totals.size(); ++column) {
      totals[column] = saturated_add(totals[column], row[column]);
    }
  }
  return totals;
}

std::int64_t share_of(RequestRow requests, std::span<const std::int64_t> totals) {
  std::int64_t sum = 0;
  for (const ResourceAmount& item : requests) {
    const std::int64_t total = totals[item.resource.value];
    if (total <= 0) continue;
    const std::int64_t amount = std::min(item.amount, total);
    sum += total >= millionths ? amount / (total / millionths) : amount * millionths / total;
  }
  return sum;
}

}  // namespace

void order_members(World& world, MemberOrder order, std::vector<PodIndex>& members) {
  const Cluster& cluster = world.cluster();
  const PodColumns& pods = cluster.pods();
  const bool largest = order == MemberOrder::largest;
  const std::vector<std::int64_t> totals =
      largest ? room_of_all_nodes(world.survey()) : std::vector<std::int64_t>{};
  std::vector<Ranked> ranked;
  ranked.reserve(members.size());
  for (const PodIndex pod : members) {
    Ranked entry{.name = pods.name[pod.value], .pod = pod};
    if (largest) {
      entry.share = share_of(cluster.requests(cluster.pods().requests[pod]), totals);
    } else {
      entry.priority = pods.priority[pod];
      // A missing creation time counts as the latest.
      entry.created = pods.created[pod] == no_time ? Time{std::numeric_limits<std::int64_t>::max()}
                                                   : pods.created[pod];
    }
    ranked.push_back(entry);
  }
  std::ranges::sort(ranked, [](const Ranked& a, const Ranked& b) {
    return std::tie(b.share, b.priority, a.created, a.name) <
           std::tie(a.share, a.priority, b.created, b.name);
  });
  std::ranges::transform(ranked, members.begin(), &Ranked::pod);
}

std::set<PodIndex> members_that_keep_their_place(World& world,
                                                 std::span<const PodIndex> nominated) {
  Scratch& after = world.after();
  const Scratch::Checkpoint before = after.checkpoint();
  std::set<PodIndex> keep;
  for (bool again = true; again;) {
    again = false;
    for (const PodIndex member : nominated) {
      const NodeIndex node = world.cluster().pods().nominated[member];
      const bool is_void = world.survey().position_of(node) == Survey::no_position;
      if (is_void || keep.contains(member)) continue;
      PodFit fit(world.survey(), after, member, world.holds());
      if (fit.check(node)) continue;
      after.place(member, node);
      keep.insert(member);
      again = again || fit.constraints().any();  // Otherwise no member needs another one.
    }
  }
  after.rollback(before);
  return keep;
}

}  // namespace makeway
