#include "policies/session/session_room.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "base/checked_math.hpp"

namespace makeway {
namespace {

constexpr std::int64_t room_max = std::int64_t{1} << 62;

}  // namespace

void RoomRows::take(SessionPlace place, std::span<const ResourceAmount> demand) {
  const std::span<std::int64_t> row = (*this)[place];
  subtract_request(row, demand);
}

void RoomRows::give(SessionPlace place, std::span<const ResourceAmount> demand) {
  const std::span<std::int64_t> row = (*this)[place];
  add_request(row, demand);
}

std::int64_t RoomRows::count(SessionPlace place, std::span<const ResourceAmount> demand,
                             std::int64_t most) const {
  if (!fits(place, demand)) return 0;
  if (most <= 1) return most;
  const std::span<const std::int64_t> row = (*this)[place];
  for (const ResourceAmount& item : demand) {
    most = std::min(most, row[item.resource.value] / item.amount);
  }
  return most;
}

// ---- Both worlds --------------------------------------------------------------------------------

SessionRoom::SessionRoom(World& world, const SessionTable& table)
    : world_(world),
      room_(world),
      table_(table),
      both_(table.nodes().size(), world.cluster().order().columns()),
      after_(table.nodes().size(), world.cluster().order().columns()),
      kept_(table.nodes().size(), world.cluster().order().columns()),
      ceilings_(table.domains()) {
  for (std::uint32_t slot = 0; slot < table.nodes().size(); ++slot) {
    const SessionPlace place{slot};
    const auto& nominated = world.cluster().nodes().nominated[table.nodes()[place]];
    const bool pinned = std::ranges::any_of(
        nominated, [&](PodIndex pod) { return world.survey().regimes().crosses(pod); });
    if (pinned) promised_.push_back(place);
    read(place);
  }
  seen_ = world.changed_nodes().size();
}

void SessionRoom::read(SessionPlace place) {
  const NodeIndex node = table_.nodes()[place];
  const std::span<std::int64_t> both = both_[place];
  const std::span<std::int64_t> after = after_[place];
  const std::span<const std::int64_t> kept = std::as_const(kept_)[place];
  room_.free(node, Horizon::now, both);
  room_.free(node, Horizon::soon, after);
  for (std::size_t column = 0; column < both.size(); ++column) {
    // Far from the border, so that giving and taking again leaves what was there.
    after[column] = std::clamp(saturated_sub(after[column], kept[column]), -room_max, room_max);
    both[column] = std::min(both[column], after[column]);
  }
}

/// Reservations of pinned pods keep their room, whatever the priorities: neither side takes what is
/// kept for the other.
void SessionRoom::hold(SessionPlace place) {
  const HoldAsk session{.pod = {}, .unit = {}, .rank = HoldRank::highest(), .turns_on = {}};
  const std::span<std::int64_t> both = both_[place];
  const std::span<std::int64_t> after = after_[place];
  room_.take_held(table_.nodes()[place], session, after);
  std::ranges::transform(both, after, both.begin(), std::ranges::min);
}

void SessionRoom::keep(SessionPlace place, std::span<const ResourceAmount> amounts) {
  after_.take(place, amounts);
  const std::span<std::int64_t> both = both_[place];
  for (const ResourceAmount& item : amounts) {
    std::int64_t& left = both[item.resource.value];
    left = std::min(left, after_[place][item.resource.value]);
  }
}

void SessionRoom::keep_for_good(SessionPlace place, std::span<const ResourceAmount> amounts) {
  kept_.give(place, amounts);
  keep(place, amounts);
}

void SessionRoom::refresh() {
  const std::span<const NodeIndex> changed = world_.changed_nodes();
  for (; seen_ < changed.size(); ++seen_) {
    const SessionPlace place = table_.place_of(changed[seen_]);
    if (!place.exists()) continue;
    const std::span<const std::int64_t> row = std::as_const(after_)[place];
    std::vector<std::int64_t>& before = before_;
    before.assign(row.begin(), row.end());
    read(place);
    const bool grew = !std::ranges::equal(
        row, before, [](std::int64_t fresh, std::int64_t old) { return fresh <= old; });
    if (grew) ++growth_;
  }
  for (const SessionPlace place : promised_) {
    read(place);
    hold(place);
  }
}

bool SessionRoom::too_large(const SessionEntry& entry) {
  Ceiling& ceiling = ceilings_[table_.domain_of(entry)];
  if (!ceiling.known || ceiling.growth != growth_) {
    ceiling.known = true;
    ceiling.growth = growth_;
    ceiling.most.assign(after_.columns(), std::numeric_limits<std::int64_t>::min());
    for (const SessionPlace place : table_.open_nodes(entry)) {
      const std::span<const std::int64_t> row = std::as_const(after_)[place];
      for (std::size_t column = 0; column < row.size(); ++column) {
        ceiling.most[column] = std::max(ceiling.most[column], row[column]);
      }
    }
  }
  return std::ranges::any_of(table_.kernels(entry), [&](const SessionKernel& kernel) {
    return std::ranges::any_of(table_.demand(kernel.demand), [&](const ResourceAmount& item) {
      return item.amount > ceiling.most[item.resource.value];
    });
  });
}

// ---- Placing ------------------------------------------------------------------------------------

bool SessionPlacer::alike(const SessionEntry& session) const {
  const std::span<const SessionKernel> kernels = table_.kernels(session);
  return std::ranges::all_of(kernels, [&](const SessionKernel& kernel) {
    return kernel.demand == kernels.front().demand;
  });
}

/// By the scarcest resource first.
bool SessionPlacer::larger(DemandIndex a, DemandIndex b) const {
  const std::span<const ResourceAmount> left = table_.demand(a);
  const std::span<const ResourceAmount> right = table_.demand(b);
  for (std::size_t at = 0; at < std::min(left.size(), right.size()); ++at) {
    if (left[at].resource != right[at].resource) {
      return table_.scarcer(left[at].resource, right[at].resource);
    }
    if (left[at].amount != right[at].amount) return left[at].amount > right[at].amount;
  }
  return left.size() > right.size();
}

/// Where the least is left of what is scarce; the first by name among equal ones.
SessionPlace SessionPlacer::best_fit(const RoomRows& room,
                                     std::span<const ResourceAmount> demand) const {
  SessionPlace best;
  for (const SessionPlace place : nodes_) {
    if (!room.fits(place, demand)) continue;
    if (!best.exists()) {
      best = place;
      continue;
    }
    const std::span<const std::int64_t> here = room[place];
    const std::span<const std::int64_t> there = room[best];
    for (const ResourceAmount& item : demand) {
      const std::int64_t left = here[item.resource.value];
      const std::int64_t other = there[item.resource.value];
      if (left == other) continue;
      if (left < other) best = place;
      break;
    }
  }
  return best;
}

bool SessionPlacer::greedy(RoomRows& room) {
  std::size_t done = 0;
  for (; done < order_.size(); ++done) {
    const std::uint32_t kernel = order_[done];
    const std::span<const ResourceAmount> demand = table_.demand(kernels_[kernel].demand);
    const SessionPlace place = best_fit(room, demand);
    if (!place.exists()) break;
    places_[kernel] = place;
    if (order_.size() > 1) room.take(place, demand);
  }
  if (order_.size() > 1) {
    for (std::size_t at = 0; at < done; ++at) {
      room.give(places_[order_[at]], table_.demand(kernels_[order_[at]].demand));
    }
  }
  return done == order_.size();
}

/// Proven: some kind of kernel alone finds too little room, or all together do in some resource.
bool SessionPlacer::infeasible(const RoomRows& room) const {
  for (std::size_t begin = 0; begin < order_.size();) {
    const DemandIndex kind = kernels_[order_[begin]].demand;
    std::size_t end = begin;
    while (end < order_.size() && kernels_[order_[end]].demand == kind) ++end;
    auto missing = static_cast<std::int64_t>(end - begin);
    for (const SessionPlace place : nodes_) {
      missing -= room.count(place, table_.demand(kind), missing);
      if (missing == 0) break;
    }
    if (missing > 0) return true;
    begin = end;
  }
  return false;
}

void SessionPlacer::number_equal_nodes(const RoomRows& room) {
  std::map<std::vector<std::int64_t>, std::uint32_t> numbers;
  kinds_.resize(nodes_.size());
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    const std::span<const std::int64_t> row = room[nodes_[at]];
    const auto next = static_cast<std::uint32_t>(numbers.size());
    kinds_[at] = numbers.try_emplace({row.begin(), row.end()}, next).first->second;
  }
}

/// Kernels that are alike go to ascending nodes, and of equal nodes without a kernel yet only
/// the first is tried: what either leaves out is the same again.
bool SessionPlacer::search(RoomRows& room, std::size_t level, std::size_t from) {
  if (level == order_.size()) return true;
  const std::uint32_t kernel = order_[level];
  const std::span<const ResourceAmount> demand = table_.demand(kernels_[kernel].demand);
  std::vector<std::uint32_t> tried;
  for (std::size_t at = from; at < nodes_.size() && !stopped_; ++at) {
    if (!room.fits(nodes_[at], demand)) continue;
    if (taken_[at] == 0) {
      if (std::ranges::find(tried, kinds_[at]) != tried.end()) continue;
      tried.push_back(kinds_[at]);
    }
    steps_.count(1);
    if (steps_.left() < 0) {
      stopped_ = true;
      return false;
    }
    room.take(nodes_[at], demand);
    ++taken_[at];
    places_[kernel] = nodes_[at];
    const bool same_next =
        level + 1 < order_.size() && kernels_[order_[level + 1]].demand == kernels_[kernel].demand;
    const bool found = search(room, level + 1, same_next ? at : 0);
    room.give(nodes_[at], demand);
    --taken_[at];
    if (found) return true;
  }
  return false;
}

const std::vector<SessionPlace>& SessionPlacer::find(const SessionEntry& session, RoomRows& room) {
  kernels_ = table_.kernels(session);
  nodes_ = table_.open_nodes(session);
  stopped_ = false;
  order_.resize(kernels_.size());
  for (std::uint32_t at = 0; at < order_.size(); ++at) order_[at] = at;
  if (order_.size() > 1) {
    std::ranges::stable_sort(order_, [this](std::uint32_t a, std::uint32_t b) {
      return larger(kernels_[a].demand, kernels_[b].demand);
    });
  }
  places_.assign(kernels_.size(), {});
  if (greedy(room)) return places_;
  if (!alike(session) && !infeasible(room)) {
    number_equal_nodes(room);
    taken_.assign(nodes_.size(), 0);
    if (search(room, 0, 0)) return places_;
  }
  places_.clear();
  return places_;
}

}  // namespace makeway
