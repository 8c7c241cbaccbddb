#include "support/random_queues.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "model/names.hpp"
#include "model/normalize.hpp"
#include "model/resource.hpp"

namespace makeway {
namespace {

class Maker {
 public:
  Maker(Prng& random, const RandomQueues& options, std::vector<Change>& objects)
      : random_(random), options_(options), objects_(objects) {}

  void make() {
    count_nodes();
    make_tree();
    place_units();
    if (options_.statuses) write_statuses();
    for (Queue& queue : queues_) objects_.emplace_back(std::move(queue));
  }

 private:
  bool on(bool feature, std::uint64_t percent) { return feature && random_.chance(percent); }
  void count_nodes();
  Queue make_queue(std::string name, std::string parent);
  void make_tree();
  void place_units();
  void write_statuses();
  std::string leaf() {
    if (!on(options_.strays, 25)) return random_.pick(leaves_);
    return random_.chance(80) ? std::string{} : std::string("nowhere");
  }

  Prng& random_;
  const RandomQueues& options_;
  std::vector<Change>& objects_;
  std::map<std::string, std::int64_t> totals_;
  std::vector<Queue> queues_;
  std::vector<std::string> leaves_;
  std::map<std::string, std::map<std::string, std::int64_t>> used_;  ///< By queue.
};

void Maker::count_nodes() {
  for (const Change& object : objects_) {
    const Node* const node = std::get_if<Node>(&object);
    if (node == nullptr) continue;
    for (const Amount& amount : node->allocatable) totals_[amount.resource] += amount.amount;
  }
  totals_.erase(std::string(pods_name));
}

Queue Maker::make_queue(std::string name, std::string parent) {
  Queue queue{
      .name = std::move(name), .weight = random_.between(1, 7), .parent = std::move(parent)};
  if (on(options_.priorities, 50)) {
    queue.priority = static_cast<std::int32_t>(random_.between(0, 2));
  }
  queue.reclaimable = !on(options_.keepers, 30);
  for (const auto& [resource, total] : totals_) {
    const std::int64_t limit = total * random_.between(0, 10) / 10;
    const bool limited = on(options_.limits, 40);
    if (limited) queue.limit.push_back({.resource = resource, .amount = limit});
    std::int64_t floor = total * random_.between(1, 6) / 10;
    if (limited) floor = std::min(floor, limit);
    if (on(options_.guarantees, 40) && floor > 0) {
      queue.guarantee.push_back({.resource = resource, .amount = floor});
    }
  }
  return queue;
}

void Maker::make_tree() {
  std::vector<std::string> parents;
  if (options_.parents) {
    parents = {"dep-a", "dep-b"};
    queues_.push_back(make_queue("dep-a", ""));
    queues_.push_back(make_queue("dep-b", random_.chance(30) ? "dep-a" : ""));
  }
  for (std::size_t number = 0; number < options_.leaves; ++number) {
    // The first ones turn no parent into a leaf: every parent has a child.
    const bool has_parent = number < parents.size() || on(options_.parents, 60);
    const std::string parent =
        parents.empty() || !has_parent
            ? ""
            : (number < parents.size() ? parents[number] : random_.pick(parents));
    leaves_.push_back(fmt::format("team-{}", number));
    queues_.push_back(make_queue(leaves_.back(), parent));
  }
  if (options_.default_queue) {
    leaves_.emplace_back("default");
    queues_.push_back(make_queue("default", ""));
  }
  if (options_.namespaces) queues_.back().namespaces = {"default"};
}

/// A group says it itself, or its members do.
void Maker::place_units() {
  std::map<std::pair<std::string, std::string>, std::string> groups;
  for (Change& object : objects_) {
    PodGroup* const group = std::get_if<PodGroup>(&object);
    if (group == nullptr) continue;
    const std::string queue = leaf();
    groups[{group->namespace_name, group->name}] = queue;
    if (random_.chance(70)) group->queue = queue;
  }
  for (Change& object : objects_) {
    Pod* const pod = std::get_if<Pod>(&object);
    if (pod == nullptr) continue;
    const std::string queue =
        pod->group.empty()
            ? leaf()
            : groups.try_emplace({pod->namespace_name, pod->group}, leaf()).first->second;
    put_into_queue(*pod, queue);
    if (pod->node.empty()) continue;
    for (const Amount& amount : pod->requests) used_[queue][amount.resource] += amount.amount;
  }
}

void Maker::write_statuses() {
  std::map<std::string, std::int64_t> left = totals_;
  for (Queue& queue : queues_) {
    if (std::ranges::find(leaves_, queue.name) == leaves_.end() || random_.chance(15)) continue;
    for (const auto& [resource, total] : totals_) {
      if (random_.chance(10)) continue;
      const std::int64_t used = used_[queue.name][resource];
      std::int64_t amount = used;
      if (random_.chance(60)) amount = total * random_.between(0, 8) / 8;
      if (random_.chance(20)) amount = std::max<std::int64_t>(0, used - total / 8);
      if (options_.consistent) amount = std::min(amount, left[resource]);
      left[resource] -= amount;
      queue.allocated.push_back({.resource = resource, .amount = amount});
      std::int64_t coming = random_.chance(30) ? total * random_.between(1, 4) / 8 : 0;
      if (options_.consistent) coming = std::min(coming, left[resource]);
      left[resource] -= coming;
      if (coming > 0) queue.preempting.push_back({.resource = resource, .amount = coming});
    }
  }
}

RandomQueueCase finish(Prng& random, RandomPlanning planning) {
  // Section 2 is busy enough with a few.
  planning.nominations = false;
  RandomQueueCase item{.planning = planning,
                       .queues = random_queue_options(random),
                       .objects = random_planning(random, planning)};
  add_random_queues(random, item.queues, item.objects);
  random.shuffle(item.objects);
  return item;
}

}  // namespace

void put_into_queue(Pod& pod, const std::string& queue) {
  std::erase_if(pod.labels, [](const Label& label) {
    return label.key == names::queue || label.key == names::kueue_queue ||
           label.key == names::yunikorn_queue;
  });
  pod.notes.queue.clear();
  if (queue.empty()) return;
  pod.labels.push_back({.key = std::string(names::queue), .value = queue});
  std::ranges::sort(pod.labels);
}

RandomQueues random_queue_options(Prng& random) {
  RandomQueues options;
  options.leaves = 2 + random.below(4);
  for (bool* const feature :
       {&options.parents, &options.strays, &options.default_queue, &options.namespaces,
        &options.priorities, &options.guarantees, &options.limits, &options.keepers,
        &options.statuses, &options.consistent}) {
    *feature = random.chance(50);
  }
  return options;
}

void add_random_queues(Prng& random, const RandomQueues& options, std::vector<Change>& objects) {
  Maker(random, options, objects).make();
}

RandomQueueCase random_queue_case(Prng& random) {
  RandomPlanning planning = random_planning_options(random);
  planning.asks = 1 + random.below(5);
  return finish(random, planning);
}

RandomQueueCase random_plain_queue_case(Prng& random, QueueQuirks quirks) {
  const RandomPlanning all = random_planning_options(random);
  RandomPlanning planning{.nodes = 1 + random.below(4),
                          .asks = random.below(6),
                          .priorities = 1 + random.below(4),
                          .overcommitted = all.overcommitted,
                          .memory = all.memory,
                          .gpus = all.gpus,
                          .groups = all.groups,
                          .budgets = all.budgets,
                          .leaving = all.leaving,
                          .equal_starts = all.equal_starts,
                          .missing_starts = all.missing_starts,
                          .own_marks = all.own_marks};
  planning.pending_members = all.pending_members && all.groups;
  if (quirks == QueueQuirks::with) return finish(random, planning);
  RandomQueueCase item = finish(random, planning);
  for (Change& object : item.objects) {
    if (Pod* const pod = std::get_if<Pod>(&object)) pod->notes.required_node.clear();
  }
  return item;
}

}  // namespace makeway
