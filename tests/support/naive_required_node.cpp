#include "support/naive_required_node.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace makeway {
namespace {

using Bag = std::map<std::string, std::int64_t>;

/// What leaves as one.
struct Block {
  std::vector<const Pod*> pods;
  std::int32_t priority = 0;
  std::size_t victim_class = 0;
  Time started;
  Bag here;  ///< What it holds on the node.
};

class Oracle {
 public:
  Oracle(const std::vector<Change>& objects, const Configuration& configuration, const Pod& ask,
         const std::string& node, Time now)
      : settings_(configuration.required_node),
        configuration_(configuration),
        ask_(ask),
        node_(node),
        now_(now) {
    for (const Change& object : objects) {
      if (const Pod* const pod = std::get_if<Pod>(&object)) pods_.push_back(pod);
      if (const PodGroup* const group = std::get_if<PodGroup>(&object)) {
        groups_[{group->namespace_name, group->name}] = group;
      }
      const Node* const found = std::get_if<Node>(&object);
      if (found == nullptr || found->name != node) continue;
      for (const Amount& amount : found->allocatable) room_[amount.resource] = amount.amount;
    }
    for (const Amount& amount : ask.requests) asked_[amount.resource] = amount.amount;
    asked_["pods"] = 1;
  }

  NaivePinnedAnswer answer();

 private:
  using Chosen = std::vector<const Block*>;

  bool credited(const Pod& pod) const {
    return pod.deletion && settings_.leaving_room == PinnedLeavingRoom::credited &&
           now_ - *pod.deletion < configuration_.engine.leave_timeout;
  }
  static Bag holds(const Pod& pod) {
    Bag bag{{"pods", 1}};
    for (const Amount& amount : pod.requests) bag[amount.resource] += amount.amount;
    return bag;
  }
  Bag free_without(const Chosen& chosen, bool leavers_gone) const;
  bool fits(const Chosen& chosen, bool leavers_gone = true) const;
  Bag missing() const;
  const PodGroup* group_of(const Pod& pod) const {
    const auto found = groups_.find({pod.namespace_name, pod.group});
    return pod.group.empty() || found == groups_.end() ? nullptr : found->second;
  }
  std::int32_t priority_of(const Pod& pod) const {
    const PodGroup* const group = group_of(pod);
    return group != nullptr ? group->priority.priority.value_or(0) : pod.priority.value_or(0);
  }
  bool opted_out(const Pod& pod) const {
    return pod.opted_out || (group_of(pod) != nullptr && group_of(pod)->opted_out);
  }
  std::optional<std::size_t> class_of(const Pod& pod) const;
  bool may_leave(const Pod& pod) const;
  void find_blocks();
  bool helps(const Block& block) const;
  bool earlier(const Block& a, const Block& b) const;
  std::int64_t worth(const Block& block) const;
  std::int64_t deviation_ppm(const Block& block) const;
  std::optional<Chosen> choose(VictimSelection strategy, std::size_t classes) const;
  std::optional<Chosen> single(const Chosen& from) const;
  std::optional<Chosen> multiple(Chosen from) const;
  bool enough(const Chosen& chosen) const;
  Chosen reduced(Chosen chosen) const;

  const RequiredNodeSettings& settings_;
  const Configuration& configuration_;
  const Pod& ask_;
  const std::string& node_;
  Time now_;
  std::vector<const Pod*> pods_;
  std::map<std::pair<std::string, std::string>, const PodGroup*> groups_;
  Bag room_;
  Bag asked_;
  std::vector<Block> blocks_;
};

Bag Oracle::free_without(const Chosen& chosen, bool leavers_gone) const {
  std::set<const Pod*> gone;
  for (const Block* block : chosen) gone.insert(block->pods.begin(), block->pods.end());
  Bag free = room_;
  for (const Pod* pod : pods_) {
    if (pod->node != node_ || gone.contains(pod) || (leavers_gone && credited(*pod))) continue;
    for (const auto& [resource, amount] : holds(*pod)) free[resource] -= amount;
  }
  return free;
}

bool Oracle::fits(const Chosen& chosen, bool leavers_gone) const {
  Bag free = free_without(chosen, leavers_gone);
  return std::ranges::all_of(asked_,
                             [&](const auto& item) { return free[item.first] >= item.second; });
}

Bag Oracle::missing() const {
  Bag free = free_without({}, true);
  Bag result;
  for (const auto& [resource, amount] : asked_) {
    if (free[resource] < amount) result[resource] = amount - free[resource];
  }
  return result;
}

std::optional<std::size_t> Oracle::class_of(const Pod& pod) const {
  const std::vector<std::string>& lines = settings_.victim_classes;
  const bool listed = std::ranges::find(lines, "opted-out") != lines.end();
  if (opted_out(pod) && !listed && configuration_.protection.protect_opted_out) return std::nullopt;
  const bool owner =
      pod.is_owner || std::ranges::any_of(pods_, [&](const Pod* other) {
        return other != &pod && other->namespace_name == pod.namespace_name &&
               std::ranges::any_of(other->owners, [&](const OwnerReference& reference) {
                 return reference.kind == "Pod" && reference.name == pod.name &&
                        (reference.uid.empty() || pod.uid.empty() || reference.uid == pod.uid);
               });
      });
  std::optional<std::size_t> last;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const bool labelled = std::ranges::any_of(pod.labels, [&](const Label& label) {
      return lines[at] == "label:" + label.key + "=" + label.value;
    });
    if (lines[at] == "regular" || (lines[at] == "owner" && owner) || labelled ||
        (lines[at] == "opted-out" && opted_out(pod))) {
      last = at;
    }
  }
  return last;
}

bool Oracle::may_leave(const Pod& pod) const {
  // SPEC 1: a member of a group is never pinned.
  const auto counts = [&](PinnedBy way) {
    return std::ranges::find(settings_.pinned_by, way) != settings_.pinned_by.end();
  };
  const bool by_annotation = counts(PinnedBy::annotation) && !pod.notes.required_node.empty();
  const bool by_affinity =
      counts(PinnedBy::affinity) &&
      std::ranges::any_of(pod.shape.node_terms,
                          [](const NodeSelectorTerm& term) { return !term.fields.empty(); });
  const bool by_owner =
      counts(PinnedBy::owner) && std::ranges::any_of(pod.owners, [](const OwnerReference& owner) {
        return owner.kind == "DaemonSet";
      });
  const bool pinned = (by_annotation || by_affinity || by_owner) && group_of(pod) == nullptr;
  const std::int32_t priority = priority_of(pod);
  const bool low = settings_.allow_higher_priority || priority < *ask_.priority ||
                   (settings_.allow_equal_priority && priority == *ask_.priority);
  // A mark protects pods that could leave alone.
  const PodGroup* const group = group_of(pod);
  const bool alone = group == nullptr || group->policy.mode != DisruptionMode::all;
  const bool mirror = pod.mirror && configuration_.protection.protect_mirror_pods;
  return !pinned && low && !pod.deletion && !mirror && !(pod.is_protected && alone) &&
         class_of(pod);
}

void Oracle::find_blocks() {
  std::set<std::pair<std::string, std::string>> seen;
  for (const Pod* pod : pods_) {
    if (pod->node != node_) continue;
    Block block;
    const PodGroup* const group = group_of(*pod);
    if (group != nullptr && group->policy.mode == DisruptionMode::all) {
      if (!seen.insert({pod->namespace_name, pod->group}).second) continue;
      for (const Pod* other : pods_) {
        const bool member = other->namespace_name == pod->namespace_name &&
                            other->group == pod->group && !other->node.empty();
        if (member && !other->deletion) block.pods.push_back(other);
      }
    } else if (!pod->deletion) {
      block.pods.push_back(pod);
    }
    const bool may =
        std::ranges::all_of(block.pods, [&](const Pod* each) { return may_leave(*each); });
    if (block.pods.empty() || !may || std::ssize(block.pods) > settings_.max_victims) continue;
    block.priority = priority_of(*pod);
    block.started = block.pods.front()->started.value_or(now_);
    for (const Pod* each : block.pods) {
      block.victim_class = std::max(block.victim_class, *class_of(*each));
      block.started = std::min(block.started, each->started.value_or(now_));
      if (each->node != node_) continue;
      for (const auto& [resource, amount] : holds(*each)) block.here[resource] += amount;
    }
    std::ranges::sort(block.pods, {}, &Pod::name);
    if (helps(block)) blocks_.push_back(std::move(block));
  }
}

bool Oracle::helps(const Block& block) const {
  const Bag lacking = missing();
  return std::ranges::any_of(block.here, [&](const auto& item) {
    return item.second > 0 && lacking.contains(item.first);
  });
}

/// Class, lower priority, younger, smaller, name.
bool Oracle::earlier(const Block& a, const Block& b) const {
  const auto share = [&](const Block& block) {
    std::int64_t sum = 0;
    for (const auto& [resource, amount] : block.here) {
      const auto whole = room_.find(resource);
      if (whole == room_.end() || whole->second <= 0) continue;
      // Amounts of these tests are small enough.
      sum += amount * 1'000'000'000 / whole->second;
    }
    return sum;
  };
  const auto key = [&](const Block& block) {
    return std::tuple(block.victim_class, block.priority, -block.started.ms, share(block));
  };
  if (key(a) != key(b)) return key(a) < key(b);
  std::set<std::string> resources;
  for (const auto& item : a.here) resources.insert(item.first);
  for (const auto& item : b.here) resources.insert(item.first);
  for (const std::string& resource : resources) {
    const std::int64_t left = a.here.contains(resource) ? a.here.at(resource) : 0;
    const std::int64_t right = b.here.contains(resource) ? b.here.at(resource) : 0;
    if (left != right) return left < right;
  }
  return std::tie(a.pods.front()->namespace_name, a.pods.front()->name) <
         std::tie(b.pods.front()->namespace_name, b.pods.front()->name);
}

std::int64_t Oracle::worth(const Block& block) const {
  std::int64_t sum = 0;
  if (settings_.multiple_order == MultipleOrder::largest_first) {
    for (const auto& [resource, amount] : asked_) {
      const auto held = block.here.find(resource);
      if (resource == "pods" || amount == 0 || held == block.here.end()) continue;
      sum += held->second * 1000 / amount;
    }
    return sum;
  }
  for (const auto& [resource, lacking] : missing()) {
    const auto held = block.here.find(resource);
    if (held != block.here.end()) sum += std::min(held->second, lacking) * 1000 / lacking;
  }
  return sum;
}

std::int64_t Oracle::deviation_ppm(const Block& block) const {
  std::int64_t largest = 0;
  for (const auto& [resource, amount] : asked_) {
    const auto held = block.here.find(resource);
    const std::int64_t size = held == block.here.end() ? 0 : held->second;
    const std::int64_t difference = std::max(size - amount, amount - size);
    largest = std::max(largest, (difference * 1'000'000 + amount - 1) / amount);
  }
  return largest;
}

std::optional<Oracle::Chosen> Oracle::single(const Chosen& from) const {
  const Block* best = nullptr;
  for (const Block* block : from) {
    if (block->pods.size() != 1 || !fits({block})) continue;
    if (deviation_ppm(*block) > settings_.deviation_percent * 10'000) continue;
    if (best == nullptr || deviation_ppm(*block) < deviation_ppm(*best) ||
        (deviation_ppm(*block) == deviation_ppm(*best) && earlier(*block, *best))) {
      best = block;
    }
  }
  if (best == nullptr) return std::nullopt;
  return Chosen{best};
}

std::optional<Oracle::Chosen> Oracle::multiple(Chosen from) const {
  std::ranges::sort(from, [this](const Block* a, const Block* b) {
    const bool by_priority = settings_.multiple_order == MultipleOrder::priority_first;
    if (by_priority && a->priority != b->priority) return a->priority < b->priority;
    return worth(*a) != worth(*b) ? worth(*a) > worth(*b) : earlier(*a, *b);
  });
  Chosen chosen;
  std::int64_t count = 0;
  for (const Block* block : from) {
    if (enough(chosen)) break;
    count += std::ssize(block->pods);
    if (count > settings_.max_victims) return std::nullopt;
    chosen.push_back(block);
  }
  if (!fits(chosen)) return std::nullopt;
  return reduced(chosen);
}

/// With the free room, or by what they hold themselves.
bool Oracle::enough(const Chosen& chosen) const {
  if (settings_.coverage == Coverage::shortfall) return fits(chosen);
  Bag sum;
  for (const Block* const block : chosen) {
    for (const auto& [resource, amount] : block->here) sum[resource] += amount;
  }
  return std::ranges::all_of(asked_, [&](const auto& item) {
    return item.first == "pods" || sum[item.first] >= item.second;
  });
}

/// Puts back the pods that are not needed, most important first.
Oracle::Chosen Oracle::reduced(Chosen chosen) const {
  if (settings_.put_back == PutBack::none) return chosen;
  std::ranges::sort(chosen, [this](const Block* a, const Block* b) { return earlier(*b, *a); });
  for (const Block* const block : Chosen(chosen)) {
    Chosen rest = chosen;
    std::erase(rest, block);
    if (fits(rest)) chosen = std::move(rest);
  }
  return chosen;
}

std::optional<Oracle::Chosen> Oracle::choose(VictimSelection strategy, std::size_t classes) const {
  Chosen from;
  for (const Block& block : blocks_) {
    if (block.victim_class < classes) from.push_back(&block);
  }
  return strategy == VictimSelection::single ? single(from) : multiple(from);
}

NaivePinnedAnswer Oracle::answer() {
  if (fits({}, false)) return {.outcome = Outcome::fits, .victims = {}};
  if (fits({})) return {.outcome = Outcome::waits, .victims = {}};
  find_blocks();
  Chosen all;
  for (const Block& block : blocks_) all.push_back(&block);
  if (!fits(all)) return {.outcome = Outcome::infeasible, .victims = {}};
  for (std::size_t classes = 1; classes <= settings_.victim_classes.size(); ++classes) {
    for (const VictimSelection strategy : settings_.victim_selection) {
      const std::optional<Chosen> chosen = choose(strategy, classes);
      if (!chosen) continue;
      NaivePinnedAnswer answer{.outcome = Outcome::preempts, .victims = {}};
      for (const Block* block : *chosen) {
        for (const Pod* pod : block->pods) {
          answer.victims.push_back(pod->namespace_name + "/" + pod->name);
        }
      }
      std::ranges::sort(answer.victims);
      return answer;
    }
  }
  return {};
}

}  // namespace

NaivePinnedAnswer naive_required_node(const std::vector<Change>& objects,
                                      const Configuration& configuration, const Pod& ask,
                                      const std::string& node, Time now) {
  return Oracle(objects, configuration, ask, node, now).answer();
}

}  // namespace makeway
