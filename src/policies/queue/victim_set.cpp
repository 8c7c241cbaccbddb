#include "policies/queue/victim_set.hpp"

#include <algorithm>
#include <compare>
#include <optional>

#include "base/check.hpp"
#include "base/checked_math.hpp"
#include "base/wide.hpp"

namespace makeway {
namespace {

using Amounts64 = std::vector<std::int64_t>;
constexpr std::int64_t parts = 1'000'000;

bool covered(std::span<const std::int64_t> need) {
  return std::ranges::all_of(need, [](std::int64_t amount) { return amount <= 0; });
}

/// Members of one class that release the same; by name.
struct Alike {
  std::vector<std::uint32_t> members;
};

/// How many of which class, from the most important one down: what sets are compared by first.
struct Taken {
  std::uint32_t of_class = 0;
  std::uint32_t count = 0;

  friend auto operator<=>(const Taken&, const Taken&) = default;
};

struct Choice {
  std::vector<Taken> taken;
  std::vector<std::uint32_t> chosen;
};

class VictimSetSearch {
 public:
  explicit VictimSetSearch(const VictimSetTask& task) : task_(task) {
    for (std::uint32_t at = 0; at < task.candidates(); ++at) {
      if (at == 0 || task.class_of[at] != task.class_of[at - 1]) begins_.push_back(at);
    }
    begins_.push_back(static_cast<std::uint32_t>(task.candidates()));
    sum_up();
  }

  VictimSet run();

 private:
  std::size_t classes() const { return begins_.size() - 1; }
  std::uint32_t size_of(std::size_t at) const { return begins_[at + 1] - begins_[at]; }
  /// What the classes below `limit` release together.
  std::span<const std::int64_t> below(std::size_t limit) const {
    return std::span(sums_).subspan(limit * task_.resources(), task_.resources());
  }
  void sum_up();
  std::size_t top_class(std::span<const std::int64_t> need, std::size_t limit) const;
  bool rest_covers(std::span<const std::int64_t> need, std::size_t limit) const;
  void subtract(Amounts64& need, std::uint32_t candidate, std::int64_t sign = 1) const;
  std::vector<Alike> alike_in(std::size_t at) const;

  std::vector<std::uint32_t> greedy_in(std::size_t at, const Amounts64& need) const;
  Wide use_of(std::uint32_t candidate, std::span<const std::int64_t> shortage) const;
  Wide size_in_parts(std::uint32_t candidate) const;
  Choice greedy() const;

  void descend(Amounts64 need, std::size_t limit);
  struct Level {
    std::size_t at = 0;
    std::vector<Alike> alike;
    bool found = false;
  };
  void pick(Level& level, std::size_t kind, std::uint32_t left, const Amounts64& need);
  std::uint32_t fewest_of(std::size_t at, const Amounts64& need) const;
  bool worse_so_far() const;
  void offer();
  bool better(const Choice& a, const Choice& b) const;
  Wide excess(const Choice& choice) const;
  std::vector<std::uint32_t> names(const Choice& choice) const;

  const VictimSetTask& task_;
  std::vector<std::uint32_t> begins_;
  Amounts64 sums_;
  std::optional<Choice> best_;
  Choice now_;
  std::int64_t steps_ = 0;
  bool out_of_steps_ = false;
};

void VictimSetSearch::sum_up() {
  const std::size_t width = task_.resources();
  sums_.assign((classes() + 1) * width, 0);
  for (std::size_t at = 0; at < classes(); ++at) {
    for (std::size_t column = 0; column < width; ++column) {
      std::int64_t sum = sums_[at * width + column];
      for (std::uint32_t member = begins_[at]; member < begins_[at + 1]; ++member) {
        sum = saturated_add(sum, task_.amounts_of(member)[column]);
      }
      sums_[(at + 1) * width + column] = sum;
    }
  }
}

bool VictimSetSearch::rest_covers(std::span<const std::int64_t> need, std::size_t limit) const {
  const std::span<const std::int64_t> rest = below(limit);
  for (std::size_t column = 0; column < need.size(); ++column) {
    if (rest[column] < need[column]) return false;
  }
  return true;
}

/// The least important class that cannot be spared, when those from `limit` on are.
std::size_t VictimSetSearch::top_class(std::span<const std::int64_t> need,
                                       std::size_t limit) const {
  std::size_t low = 0;  // The classes below it are not enough.
  std::size_t high = limit;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (rest_covers(need, middle) ? high : low) = middle;
  }
  return high - 1;
}

void VictimSetSearch::subtract(Amounts64& need, std::uint32_t candidate, std::int64_t sign) const {
  const std::span<const std::int64_t> amounts = task_.amounts_of(candidate);
  for (std::size_t column = 0; column < need.size(); ++column) {
    need[column] -= sign * amounts[column];
  }
}

std::vector<Alike> VictimSetSearch::alike_in(std::size_t at) const {
  std::vector<std::uint32_t> members;
  members.reserve(size_of(at));
  for (std::uint32_t member = begins_[at]; members.size() < size_of(at); ++member) {
    members.push_back(member);
  }
  std::ranges::sort(members, [&](std::uint32_t a, std::uint32_t b) {
    const auto first = task_.amounts_of(a);
    const auto second = task_.amounts_of(b);
    if (!std::ranges::equal(first, second)) {
      return std::ranges::lexicographical_compare(second, first);  // The largest first.
    }
    return task_.rank_by_name[a] < task_.rank_by_name[b];
  });
  std::vector<Alike> kinds;
  for (const std::uint32_t member : members) {
    const bool same =
        !kinds.empty() && std::ranges::equal(task_.amounts_of(kinds.back().members.front()),
                                             task_.amounts_of(member));
    if (!same) kinds.emplace_back();
    kinds.back().members.push_back(member);
  }
  return kinds;
}

// ---- Greedily ---------------------------------------------------------------------------------

/// How much of a shortage it covers, in parts of each resource.
Wide VictimSetSearch::use_of(std::uint32_t candidate,
                             std::span<const std::int64_t> shortage) const {
  Wide use = 0;
  const std::span<const std::int64_t> amounts = task_.amounts_of(candidate);
  for (std::size_t column = 0; column < shortage.size(); ++column) {
    if (shortage[column] <= 0) continue;
    use += Wide{std::min(amounts[column], shortage[column])} * parts / shortage[column];
  }
  return use;
}

Wide VictimSetSearch::size_in_parts(std::uint32_t candidate) const {
  Wide size = 0;
  const std::span<const std::int64_t> amounts = task_.amounts_of(candidate);
  for (std::size_t column = 0; column < amounts.size(); ++column) {
    size += Wide{amounts[column]} * parts / std::max<std::int64_t>(task_.totals[column], 1);
  }
  return size;
}

/// Enough of one class for the classes below to do the rest.
std::vector<std::uint32_t> VictimSetSearch::greedy_in(std::size_t at, const Amounts64& need) const {
  std::vector<Alike> kinds = alike_in(at);
  Amounts64 shortage = need;
  for (std::size_t column = 0; column < need.size(); ++column) {
    shortage[column] = saturated_sub(need[column], below(at)[column]);
  }
  std::vector<std::uint32_t> chosen;
  while (!covered(shortage)) {
    Alike* most = nullptr;
    Wide most_use = 0;
    for (Alike& kind : kinds) {
      if (kind.members.empty()) continue;
      const Wide use = use_of(kind.members.front(), shortage);
      const bool smaller =
          most != nullptr && use == most_use &&
          size_in_parts(kind.members.front()) < size_in_parts(most->members.front());
      if (most == nullptr || use > most_use || smaller) {
        most = &kind;
        most_use = use;
      }
    }
    CHECK(most != nullptr, "all candidates together free the need");
    chosen.push_back(most->members.front());
    most->members.erase(most->members.begin());
    subtract(shortage, chosen.back());
  }
  // What was taken early may have become needless.
  for (std::size_t early = 0; early < chosen.size();) {
    Amounts64 without = shortage;
    subtract(without, chosen[early], -1);
    if (covered(without)) {
      shortage = std::move(without);
      chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(early));
    } else {
      ++early;
    }
  }
  return chosen;
}

Choice VictimSetSearch::greedy() const {
  Choice choice;
  Amounts64 need = task_.need;
  std::size_t limit = classes();
  while (!covered(need)) {
    limit = top_class(need, limit);
    const std::vector<std::uint32_t> members =
        size_of(limit) == 1 ? std::vector{begins_[limit]} : greedy_in(limit, need);
    for (const std::uint32_t member : members) {
      subtract(need, member);
      choice.chosen.push_back(member);
    }
    choice.taken.push_back({.of_class = static_cast<std::uint32_t>(limit),
                            .count = static_cast<std::uint32_t>(members.size())});
  }
  return choice;
}

// ---- Exactly ----------------------------------------------------------------------------------

bool VictimSetSearch::worse_so_far() const {
  const std::size_t common = std::min(now_.taken.size(), best_->taken.size());
  for (std::size_t at = 0; at < common; ++at) {
    if (now_.taken[at] != best_->taken[at]) return now_.taken[at] > best_->taken[at];
  }
  return now_.taken.size() > best_->taken.size();
}

/// Walks down the classes; where there is a choice, `pick` comes back here for each.
void VictimSetSearch::descend(Amounts64 need, std::size_t limit) {
  const std::size_t depth = now_.taken.size();
  const std::size_t members = now_.chosen.size();
  while (!covered(need) && !worse_so_far()) {
    limit = top_class(need, limit);
    if (size_of(limit) > 1) break;
    now_.taken.push_back({.of_class = static_cast<std::uint32_t>(limit), .count = 1});
    now_.chosen.push_back(begins_[limit]);
    subtract(need, begins_[limit]);
  }
  if (covered(need)) {
    offer();
  } else if (!worse_so_far()) {
    Level level{.at = limit, .alike = alike_in(limit)};
    for (std::uint32_t count = fewest_of(limit, need);
         count <= size_of(limit) && !level.found && !out_of_steps_; ++count) {
      now_.taken.push_back({.of_class = static_cast<std::uint32_t>(limit), .count = count});
      if (!worse_so_far()) pick(level, 0, count, need);
      const bool infeasible = worse_so_far();
      now_.taken.pop_back();
      if (infeasible) break;
    }
  }
  now_.taken.resize(depth);
  now_.chosen.resize(members);
}

/// Fewer of the class cannot do it, even if all released as much as the largest.
std::uint32_t VictimSetSearch::fewest_of(std::size_t at, const Amounts64& need) const {
  std::int64_t fewest = 1;
  for (std::size_t column = 0; column < need.size(); ++column) {
    std::int64_t largest = 0;
    for (std::uint32_t member = begins_[at]; member < begins_[at + 1]; ++member) {
      largest = std::max(largest, task_.amounts_of(member)[column]);
    }
    const std::int64_t shortage = saturated_sub(need[column], below(at)[column]);
    if (shortage > 0 && largest > 0) fewest = std::max(fewest, (shortage - 1) / largest + 1);
  }
  return static_cast<std::uint32_t>(std::min<std::int64_t>(fewest, size_of(at)));
}

/// `left` more members of the level's class, of this kind and those after it.
void VictimSetSearch::pick(Level& level, std::size_t kind, std::uint32_t left,
                           const Amounts64& need) {
  if (++steps_ > task_.steps_max) {
    out_of_steps_ = true;
    return;
  }
  if (left == 0) {
    if (!rest_covers(need, level.at)) return;
    level.found = true;
    return descend(need, level.at);
  }
  if (kind == level.alike.size()) return;
  const std::vector<std::uint32_t>& members = level.alike[kind].members;
  const auto most = std::min<std::size_t>(left, members.size());
  std::size_t after = 0;  // Members of the kinds after this one.
  for (std::size_t at = kind + 1; at < level.alike.size(); ++at) {
    after += level.alike[at].members.size();
  }
  const std::size_t least = left > after ? left - after : 0;
  for (std::size_t count = most + 1; count-- > least && !out_of_steps_;) {
    Amounts64 rest = need;
    for (std::size_t at = 0; at < count; ++at) {
      subtract(rest, members[at]);
      now_.chosen.push_back(members[at]);
    }
    pick(level, kind + 1, left - static_cast<std::uint32_t>(count), rest);
    now_.chosen.resize(now_.chosen.size() - count);
  }
}

Wide VictimSetSearch::excess(const Choice& choice) const {
  Amounts64 left = task_.need;
  for (const std::uint32_t candidate : choice.chosen) subtract(left, candidate);
  Wide sum = 0;
  for (std::size_t column = 0; column < left.size(); ++column) {
    sum += Wide{-left[column]} * parts / std::max<std::int64_t>(task_.totals[column], 1);
  }
  return sum;
}

std::vector<std::uint32_t> VictimSetSearch::names(const Choice& choice) const {
  std::vector<std::uint32_t> ranks;
  ranks.reserve(choice.chosen.size());
  for (const std::uint32_t candidate : choice.chosen) {
    ranks.push_back(task_.rank_by_name[candidate]);
  }
  std::ranges::sort(ranks);
  return ranks;
}

bool VictimSetSearch::better(const Choice& a, const Choice& b) const {
  if (a.taken != b.taken) return a.taken < b.taken;
  const Wide a_excess = excess(a);
  const Wide b_excess = excess(b);
  return a_excess != b_excess ? a_excess < b_excess : names(a) < names(b);
}

void VictimSetSearch::offer() {
  if (better(now_, *best_)) best_ = now_;
}

VictimSet VictimSetSearch::run() {
  best_ = greedy();
  const bool choices = std::ranges::any_of(
      best_->taken, [&](const Taken& taken) { return size_of(taken.of_class) > 1; });
  if (choices) descend(task_.need, classes());
  return {.chosen = std::move(best_->chosen), .out_of_steps = out_of_steps_, .steps = steps_};
}

}  // namespace

VictimSet choose_victim_set(const VictimSetTask& task) { return VictimSetSearch(task).run(); }

}  // namespace makeway
