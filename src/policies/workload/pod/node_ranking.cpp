#include "policies/workload/pod/node_ranking.hpp"

#include <algorithm>

#include "policies/workload/cascades.hpp"

namespace makeway {
namespace {

constexpr std::size_t few = 16;  ///< Nodes that are looked at first for a single ask.

}  // namespace

NodeRanking::NodeRanking(World& world, PodFit& fit, bool many)
    : world_(world),
      fit_(fit),
      many_(many),
      nodes_(world.survey().nodes()),
      floor_(world.configuration().workload),
      scan_(fit, world.rules()),
      pods_floor_(world, fit),
      equal_(world, fit.priority()),
      keys_(world.configuration().workload.score_keys.size()),
      rows_(keys_) {}

/// By the least score, then by name. Where only bounds are known, one number decides.
bool NodeRanking::before(const Runner& a, const Runner& b) const {
  if ((a.state == State::out) != (b.state == State::out)) return b.state == State::out;
  if (a.state == State::out) return a.position < b.position;
  if (a.state == State::bounded && b.state == State::bounded) {
    return a.bound != b.bound ? a.bound < b.bound : a.position < b.position;
  }
  for (std::size_t key = 0; key < keys_; ++key) {
    const std::int64_t left = value(a, key);
    const std::int64_t right = value(b, key);
    if (left != right) return left < right;
  }
  return a.position < b.position;
}

std::vector<Candidate> NodeRanking::best(VictimSearch& search, std::size_t count) {
  count_ = count;
  refusals_.clear();
  tallied_.clear();
  if (!lined_up_) line_up(search);
  many_ ? run_again(search) : run_once(search);
  std::vector<Candidate> result = winners(search);
  restore();
  return result;
}

/// In the order of their bounds, until no bound is as good as what is kept.
void NodeRanking::run_once(VictimSearch& search) {
  std::ranges::sort(runners_, [](const Runner& a, const Runner& b) {
    return a.bound != b.bound ? a.bound < b.bound : a.position < b.position;
  });
  for (Runner& runner : runners_) {
    if (search.out_of_steps() || runner.bound > highest_allowed()) return;
    if (runner.state != State::bounded || known_from_equal(runner)) continue;
    if (!pods_rule_out(runner)) evaluate(runner, search);
  }
}

/// Starts from scores that are known from asks before this one.
void NodeRanking::run_again(VictimSearch& search) {
  kept_.clear();
  std::size_t found = 0;
  while (found < count_ && !search.out_of_steps()) {
    const std::uint32_t at = tree_->first();
    Runner& runner = runners_[at];
    if (runner.state == State::out) return;
    if (runner.state != State::scored) {
      look_closer(runner, search);
      tree_->changed(at);
    } else {
      if (std::ranges::find(kept_, runner.position, &Kept::position) == kept_.end()) {
        keep(runner, std::nullopt);
      }
      ++found;
      put_aside(at);
    }
  }
}

std::vector<Candidate> NodeRanking::winners(VictimSearch& search) {
  std::vector<Candidate> result;
  for (Kept& kept : kept_) {
    if (!kept.candidate) kept.candidate = search.on_node(nodes_[kept.position]);
    CHECK(kept.candidate.has_value(), "a node lost its victims");
    result.push_back(*std::move(kept.candidate));
  }
  return result;
}

NodeRanking::Runner NodeRanking::bounded(std::uint32_t position, std::int64_t limit) {
  const NodeIndex node = nodes_[position];
  const std::int64_t bound = scan_.lowest_priority(node, limit);
  if (bound == NodeScan::infeasible || fit_.refused_by_node(node)) return {.position = position};
  return {.position = position, .state = State::bounded, .bound = bound};
}

void NodeRanking::line_up(VictimSearch& search) {
  std::uint32_t position = many_ ? 0 : line_up_first_few(search);
  const std::int64_t limit = highest_allowed();
  if (many_) runners_.reserve(nodes_.size());
  for (; position < nodes_.size(); ++position) {
    if (position + NodeScan::ahead < nodes_.size()) scan_.soon(nodes_[position + NodeScan::ahead]);
    const Runner runner = bounded(position, limit);
    if (many_ || runner.state != State::out) runners_.push_back(runner);
  }
  if (many_) tree_.emplace(runners_.size(), Before{this});
  lined_up_ = true;
}

/// Searches the best of a few, and returns the position from which on no node was looked at. While
/// there is no answer, every node may turn out to need its reason.
std::uint32_t NodeRanking::line_up_first_few(VictimSearch& search) {
  std::uint32_t position = 0;
  for (; position < nodes_.size() && runners_.size() < few; ++position) {
    if (position + NodeScan::ahead < nodes_.size()) scan_.soon(nodes_[position + NodeScan::ahead]);
    if (runners_.empty() && tally_if_ruled_out(position)) continue;
    const Runner runner = bounded(position, ScoreFloor::no_limit);
    if (runner.state != State::out) runners_.push_back(runner);
  }
  std::ranges::sort(runners_, [&](const Runner& a, const Runner& b) { return before(a, b); });
  for (Runner& runner : runners_) {
    if (kept_.size() >= count_ || search.out_of_steps()) break;
    if (!known_from_equal(runner)) evaluate(runner, search);
  }
  return position;
}

/// Its pods first, then a search.
void NodeRanking::look_closer(Runner& runner, VictimSearch& search) {
  if (known_from_equal(runner)) return;
  if (runner.state != State::bounded || !pods_floor_.useful() || runner.bound == NodeScan::room) {
    return evaluate(runner, search);
  }
  pods_floor_.start(nodes_[runner.position], runner.bound);
  runner.state = State::floored;
  runner.row = static_cast<std::uint32_t>(rows_.size() / keys_);
  for (std::size_t key = 0; key < keys_; ++key) rows_.push_back(pods_floor_.value(key));
}

/// Whether the node comes after those that are kept, whatever a search would find.
bool NodeRanking::pods_rule_out(const Runner& runner) {
  if (kept_.size() < count_ || !pods_floor_.useful() || runner.bound == NodeScan::room)
    return false;
  const auto order = pods_floor_.compare(nodes_[runner.position], runner.bound, limit_);
  return order > 0 || (order == 0 && runner.position > kept_.back().position);
}

/// Whether an equal node was searched already.
bool NodeRanking::known_from_equal(Runner& runner) {
  kind_ = equal_.kind_of(fit_, nodes_[runner.position]);
  if (!kind_) return false;
  if (*kind_ >= row_of_kind_.size()) row_of_kind_.resize(*kind_ + 1);
  if (row_of_kind_[*kind_] == 0) return false;
  runner.state = State::scored;
  runner.row = row_of_kind_[*kind_];
  keep(runner, std::nullopt);
  return true;
}

/// Searches the node; `known_from_equal` came before.
void NodeRanking::evaluate(Runner& runner, VictimSearch& search) {
  const NodeIndex node = nodes_[runner.position];
  const auto at = static_cast<std::uint32_t>(&runner - runners_.data());
  const bool limited = kept_.size() >= count_;
  if (search.infeasible(node)) {  // Its reason is looked for when there is no answer anywhere.
    aside_.push_back({.at = at, .runner = runner});
    runner.state = State::out;
    return;
  }
  std::optional<Candidate> candidate = search.on_node(node, limited ? &limit_ : nullptr);
  const bool lasts = !search.out_of_steps() && (kind_ || equal_.local(fit_, node));
  if (!candidate) {
    if (!limited) {
      refusals_.add(search.refused(), node, runner.position);
      tallied_.push_back(runner.position);
    }
    if (limited || !lasts) aside_.push_back({.at = at, .runner = runner});
    runner.state = State::out;
    return;
  }
  runner.state = State::scored;
  runner.row = add_row(candidate->score);
  if (kind_ && lasts) row_of_kind_[*kind_] = runner.row;
  if (!lasts) fleeting_.push_back(at);
  keep(runner, std::move(candidate));
}

void NodeRanking::keep(const Runner& runner, std::optional<Candidate> candidate) {
  const auto worse = std::ranges::find_if(kept_, [&](const Kept& other) {
    return before(runner, {.position = other.position, .state = State::scored, .row = other.row});
  });
  if (worse == kept_.end() && kept_.size() >= count_) return;
  kept_.insert(worse,
               {.position = runner.position, .row = runner.row, .candidate = std::move(candidate)});
  if (kept_.size() > count_) kept_.pop_back();
  if (kept_.size() < count_) return;
  limit_.clear();
  for (std::size_t key = 0; key < keys_; ++key) {
    limit_.push_back({.key = world_.configuration().workload.score_keys[key],
                      .value = rows_[kept_.back().row * keys_ + key]});
  }
}

void NodeRanking::put_aside(std::uint32_t at) {
  aside_.push_back({.at = at, .runner = runners_[at]});
  runners_[at].state = State::out;
  tree_->changed(at);
}

/// The next ask starts from what holds for it as well.
void NodeRanking::restore() {
  if (many_) {
    for (const Aside& aside : aside_) runners_[aside.at] = aside.runner;
    for (const std::uint32_t at : fleeting_) runners_[at].state = State::bounded;
    for (const Aside& aside : aside_) tree_->changed(aside.at);
    for (const std::uint32_t at : fleeting_) tree_->changed(at);
  }
  aside_.clear();
  fleeting_.clear();
  kept_.clear();
}

/// True: the node or its sums rule it out, and the reason is in the tally.
bool NodeRanking::tally_if_ruled_out(std::uint32_t position) {
  const NodeIndex node = nodes_[position];
  std::optional<Refused> refused = fit_.refused_by_node(node);
  if (!refused && scan_.tells_all(node)) refused = scan_.refusal(node);
  if (!refused) return false;
  refusals_.add(*refused, node, position);
  tallied_.push_back(position);
  return true;
}

RefusalTally NodeRanking::refusals(VictimSearch& search) {
  std::vector<std::uint8_t> known(nodes_.size());
  for (const std::uint32_t position : tallied_) known[position] = 1;
  for (std::uint32_t position = 0; position < nodes_.size() && !search.out_of_steps(); ++position) {
    if (known[position] != 0 || tally_if_ruled_out(position)) continue;
    CHECK(!search.on_node(nodes_[position]), "a node has an answer after all");
    refusals_.add(search.refused(), nodes_[position], position);
  }
  return std::move(refusals_);
}

void NodeRanking::changed(NodeIndex node) {
  if (!lined_up_) return;
  const std::uint32_t position = world_.survey().position_of(node);
  if (position == Survey::no_position) return;
  runners_[position] = bounded(position, ScoreFloor::no_limit);
  tree_->changed(position);
}

std::uint32_t NodeRanking::add_row(const ScoreTerms& score) {
  const auto row = static_cast<std::uint32_t>(rows_.size() / keys_);
  for (const ScoreTerm& term : score) rows_.push_back(term.value);
  return row;
}

// ---- Equal nodes --------------------------------------------------------------------------------

EqualNodes::EqualNodes(World& world, std::int32_t ask_priority)
    : world_(world),
      ask_priority_(ask_priority),
      cascades_count_(cascades_count(world.configuration())) {}

bool EqualNodes::local(const PodFit& fit, NodeIndex node) {
  if (!fit.only_resources(node) || world_.has_promises()) return false;
  return lone(node, world_.cluster().order().pods(node).subspan(staying(node)));
}

/// The pods have no ties to others elsewhere.
bool EqualNodes::lone(NodeIndex node, std::span<const PodIndex> pods) {
  const Cluster& cluster = world_.cluster();
  if (cluster.order().lowest_guarded(node) < ask_priority_) return false;
  if (!world_.configuration().workload.honour_preemption_priority) return false;
  if (world_.survey().loss_units().any()) {
    const auto shares = [&](PodIndex pod) {
      return !cluster.notes(cluster.pods().notes[pod]).loss_units.empty();
    };
    if (std::ranges::any_of(pods, shares)) return false;
  }
  if (!cascades_count_ && !world_.budgets().any()) return true;
  const OwnersId* const owners = cluster.pods().owners.data();
  const bool owned = cascades_count_ && std::ranges::any_of(pods, [&](PodIndex pod) {
                       return owners[pod.value] != OwnersId{0};
                     });
  return !owned && (!world_.budgets().any() || std::ranges::all_of(pods, [&](PodIndex pod) {
    return !world_.budgets().governed(pod);
  }));
}

std::optional<std::size_t> EqualNodes::kind_of(const PodFit& fit, NodeIndex node) {
  if (fit.touched(node) || !local(fit, node)) return std::nullopt;
  const auto leaving = world_.cluster().order().pods(node).subspan(staying(node));
  std::vector<Known>& candidates = known_[hash(node, leaving)];
  const auto found =
      std::ranges::find_if(candidates, [&](const Known& known) { return equal(known.node, node); });
  if (found != candidates.end()) return found->kind;
  candidates.push_back({.node = node, .kind = kinds_});
  return kinds_++;
}

/// Of what differs between most nodes; `equal` looks at the rest.
std::uint64_t EqualNodes::hash(NodeIndex node, std::span<const PodIndex> leaving) const {
  const PodColumns& pods = world_.cluster().pods();
  std::uint64_t hash =
      hash_combine(world_.cluster().nodes().allocatable[node].value, leaving.size());
  for (const std::int64_t used : world_.cluster().order().used(node)) {
    hash = hash_combine(hash, static_cast<std::uint64_t>(used));
  }
  if (leaving.empty()) return hash;
  for (const PodIndex pod : {leaving.front(), leaving.back()}) {
    hash = hash_combine(hash, pods.requests[pod].value);
    hash = hash_combine(hash, static_cast<std::uint64_t>(pods.started[pod].ms));
  }
  return hash;
}

/// In everything that protection, importance and score read of lone pods, names aside.
bool EqualNodes::equal(NodeIndex a, NodeIndex b) const {
  const Cluster& cluster = world_.cluster();
  const NodeOrder& order = cluster.order();
  const PodColumns& pods = cluster.pods();
  const std::size_t stay_a = staying(a);
  const std::size_t stay_b = staying(b);
  const auto leaving_a = order.pods(a).subspan(stay_a);
  const auto leaving_b = order.pods(b).subspan(stay_b);
  const auto same = [&](const auto& column) {
    const auto* const values = column.data();
    return std::ranges::equal(leaving_a, leaving_b, [&](PodIndex one, PodIndex other) {
      return values[one.value] == values[other.value];
    });
  };
  const AskLimits* const limits = world_.limits();
  return cluster.nodes().allocatable[a] == cluster.nodes().allocatable[b] &&
         std::ranges::equal(order.used_by_first(a, stay_a), order.used_by_first(b, stay_b)) &&
         std::ranges::equal(order.priorities(a).subspan(stay_a),
                            order.priorities(b).subspan(stay_b)) &&
         same(pods.requests) && same(pods.started) && same(pods.notes) &&
         same(pods.namespace_name) && same(pods.priority) &&
         (!world_.rules().labels_protect() || same(pods.labels)) &&
         (limits == nullptr ||
          std::ranges::equal(leaving_a, leaving_b, [&](PodIndex one, PodIndex other) {
            return limits->contains(one) == limits->contains(other);
          }));
}

}  // namespace makeway
