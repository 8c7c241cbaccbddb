#include "bench/support/plan_clusters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/prng.hpp"
#include "model/normalize.hpp"

namespace makeway::bench {
namespace {

constexpr std::int64_t node_cpu_milli = 64'000;
constexpr std::int64_t node_memory_mi = 262'144;
constexpr std::size_t zones = 3;
constexpr std::size_t apps = 50;
constexpr std::size_t ask_classes = 100;
constexpr std::size_t ask_size = 2'500'000;  ///< In millionths of an average pod.
constexpr std::int32_t ask_priority = 10'000;
constexpr std::int32_t holder_priority = 20'000;
constexpr std::size_t gang_size_min = 6;
constexpr std::size_t gang_size_max = 10;
constexpr std::string_view rack_label = "example.com/rack";
constexpr std::int64_t holder_percent = 60;  ///< Of a node, in the way of an ask for half of it.

std::string app_name(std::size_t number) { return fmt::format("app-{:02}", number); }

Requirement app_is(std::vector<std::string> values) {
  return {.key = "app", .operation = Operator::in, .values = std::move(values)};
}

Amounts amounts(std::int64_t cpu_milli, std::int64_t memory_mi) {
  return {{"cpu", cpu_milli}, {"memory", memory_mi << 20U}};
}

/// Of a pod that is as large as so many millionths of an average one.
Amounts ask_amounts(std::size_t pods_per_node, std::size_t size) {
  const auto millionths = static_cast<std::int64_t>(size);
  const auto pods = static_cast<std::int64_t>(pods_per_node * 1'000'000);
  return amounts(node_cpu_milli * millionths / pods, node_memory_mi * millionths / pods);
}

/// `total` in as many parts, each about as large as its weight; nothing is lost.
std::vector<std::int64_t> divided(std::int64_t total, const std::vector<std::int64_t>& weights) {
  std::int64_t weight_left = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
  std::vector<std::int64_t> parts;
  parts.reserve(weights.size());
  for (const std::int64_t weight : weights) {
    parts.push_back(total * weight / weight_left);
    total -= parts.back();
    weight_left -= weight;
  }
  return parts;
}

class Maker {
 public:
  explicit Maker(const ClusterCase& item) : item_(item) {
    CHECK(item.pods_per_node > 1);
    CHECK(item.pods_per_node < 110, "the ask must not be short of pods");
    if (item.mix == AskMix::one) CHECK(item.asks == 1);
    const bool alone = item.members == 0 || (item.mix == AskMix::one && !item.verdict);
    CHECK(alone, "a gang asks alone");
  }

  Cluster made() {
    cluster_.begin_bulk();
    make_objects();
    cluster_.finish_bulk();
    return std::move(cluster_);
  }

  Cluster made_shuffled() {
    keeps_ = true;
    make_objects();
    random_.shuffle(kept_);
    cluster_.begin_bulk();
    for (const Change& change : kept_) cluster_.apply(change);
    cluster_.finish_bulk();
    return std::move(cluster_);
  }

 private:
  void add(Change object) {
    if (keeps_) {
      kept_.push_back(std::move(object));
    } else {
      cluster_.apply(object);
    }
  }

  void make_objects() {
    if (item_.victim_gangs) add_victim_gangs();
    for (std::size_t node = 0; node < item_.nodes; ++node) add_node(node);
    for (std::size_t app = 0; item_.budgets && app < apps; app += 10) add_budget(app);
    if (item_.members > 0) {
      add_gang();
    } else {
      for (std::size_t number = 0; number < item_.asks; ++number) add_ask(number);
    }
  }

  bool is_random() const { return item_.kind == ClusterKind::random; }
  bool apps_matter() const { return item_.budgets || item_.anti_affinity || item_.spread; }

  std::vector<std::int64_t> weights(std::size_t count) {
    std::vector<std::int64_t> made(count, 1);
    if (is_random()) {
      for (std::int64_t& weight : made) weight = random_.between(5, 40);
    }
    return made;
  }

  /// In a uniform cluster the apps of one node are those of every other.
  std::size_t app_of(std::size_t slot) {
    if (is_random()) return random_.below(apps);
    return apps_matter() ? slot % apps : 0;
  }

  void add_node(std::size_t number) {
    const std::string name = fmt::format("node-{:06}", number);
    Node node{
        .name = name,
        .uid = fmt::format("uid-{}", name),
        .labels = {{"kubernetes.io/hostname", name},
                   {"topology.kubernetes.io/zone", fmt::format("zone-{}", number % zones)}},
        .allocatable = {{"cpu", node_cpu_milli}, {"memory", node_memory_mi << 20U}, {"pods", 110}}};
    if (item_.domains > 1) {
      const std::size_t rack = number * item_.domains / item_.nodes;
      node.labels.emplace_back(std::string(rack_label), fmt::format("rack-{:03}", rack));
      normalize(node);
    }
    add(std::move(node));
    std::int64_t cpu_milli = node_cpu_milli;
    std::int64_t memory_mi = node_memory_mi;
    std::size_t slot = 0;
    if (item_.verdict) {
      Pod holder = bound_pod(number, slot++);
      holder.priority = holder_priority;
      holder.requests = amounts(cpu_milli * holder_percent / 100, memory_mi * holder_percent / 100);
      add(holder);
      cpu_milli -= cpu_milli * holder_percent / 100;
      memory_mi -= memory_mi * holder_percent / 100;
    }
    const std::size_t count = item_.pods_per_node - slot;
    const std::vector<std::int64_t> cpu = divided(cpu_milli, weights(count));
    const std::vector<std::int64_t> memory = divided(memory_mi, weights(count));
    for (std::size_t each = 0; each < count; ++each) {
      Pod pod = bound_pod(number, slot + each);
      pod.requests = amounts(cpu[each], memory[each]);
      add(std::move(pod));
    }
  }

  Pod bound_pod(std::size_t node, std::size_t slot) {
    const std::int64_t age_seconds = is_random() ? random_.between(60, 30L * 24 * 3600) : 3600;
    const Time started{plan_now.ms - (age_seconds * 1000)};
    const std::string name = fmt::format("pod-{:06}-{:03}", node, slot);
    Pod pod{.namespace_name = "default",
            .name = name,
            .uid = fmt::format("uid-{}", name),
            .labels = {{"app", app_name(app_of(slot))}},
            .node = fmt::format("node-{:06}", node),
            .priority = random_priority(),
            .created = started,
            .started = started,
            .ready = true};
    if (item_.victim_gangs) {
      const std::size_t gang = gang_of_[(node * item_.pods_per_node) + slot];
      pod.group = gang_name(gang);
      pod.priority = gang_priorities_[gang];
    }
    return pod;
  }

  std::int32_t random_priority() {
    return static_cast<std::int32_t>(is_random() ? random_.between(0, 899) : 100);
  }

  static std::string gang_name(std::size_t number) { return fmt::format("gang-{:06}", number); }

  /// Every bound pod is in one; which, is left to chance, so a gang is on as many nodes as it can.
  void add_victim_gangs() {
    const std::size_t pods = item_.nodes * item_.pods_per_node;
    std::vector<std::size_t> places(pods);
    for (std::size_t place = 0; place < pods; ++place) places[place] = place;
    random_.shuffle(places);
    gang_of_.resize(pods);
    for (std::size_t at = 0; at < pods;) {
      const std::size_t number = gang_priorities_.size();
      const std::size_t wanted =
          is_random() ? gang_size_min + random_.below(gang_size_max - gang_size_min + 1)
                      : (gang_size_min + gang_size_max) / 2;
      const std::size_t size = std::min(wanted, pods - at);
      for (const std::size_t place : std::span(places).subspan(at, size)) gang_of_[place] = number;
      gang_priorities_.push_back(random_priority());
      add(gang(gang_name(number), size, gang_priorities_.back(), DisruptionMode::all));
      at += size;
    }
  }

  static PodGroup gang(const std::string& name, std::size_t size, std::int32_t priority,
                       DisruptionMode mode) {
    return {.namespace_name = "default",
            .name = name,
            .uid = fmt::format("uid-group-{}", name),
            .created = plan_now,
            .policy = {.minimum = static_cast<std::int32_t>(size), .gang = true, .mode = mode},
            .priority = {.priority = priority}};
  }

  void add_gang() {
    PodGroup asking = gang("ask", item_.members, ask_priority, DisruptionMode::all);
    if (item_.domains > 1) asking.policy.topology_keys = {std::string(rack_label)};
    add(std::move(asking));
    for (std::size_t member = 0; member < item_.members; ++member) {
      Pod pod{.namespace_name = "default",
              .name = fmt::format("ask-{:05}", member),
              .labels = {{"app", app_name(2)}},
              .group = "ask",
              .priority = ask_priority,
              .created = plan_now};
      pod.uid = fmt::format("uid-{}", pod.name);
      pod.requests = ask_amounts(item_.pods_per_node, ask_size);
      constrain(pod.shape);
      normalize(pod);
      add(std::move(pod));
    }
  }

  void add_budget(std::size_t app) {
    DisruptionBudget budget{.namespace_name = "default",
                            .name = app_name(app),
                            .uid = fmt::format("uid-budget-{}", app_name(app)),
                            .selector = LabelSelector{.requirements = {app_is({app_name(app)})}},
                            .available_min = CountOrPercent{.value = 1}};
    budget.disruptions_allowed = app % 20 == 0 ? 0 : 3;
    normalize(budget);
    add(std::move(budget));
  }

  void add_ask(std::size_t number) {
    Pod ask{.namespace_name = "default",
            .name = item_.mix == AskMix::one ? "ask" : fmt::format("ask-{:05}", number),
            .labels = {{"app", app_name(2)}},
            .priority = ask_priority,
            .created = plan_now};
    ask.uid = fmt::format("uid-{}", ask.name);
    std::size_t size = ask_size;  // Asks of neighbouring priorities have unrelated sizes.
    if (item_.mix == AskMix::classes) {
      size = 1'000'000 + (30'000 * (number % ask_classes));
      *ask.priority += static_cast<std::int32_t>(mix64(number % ask_classes) % 1'000);
    } else if (item_.mix == AskMix::different) {
      constexpr std::size_t prime = 7'919;  // Shuffles: the counts are no multiples of it.
      size = 1'000'000 + (3'000'000 * (number * prime % item_.asks) / item_.asks);
      *ask.priority += static_cast<std::int32_t>(number);
    }
    ask.requests = ask_amounts(item_.pods_per_node, size);
    if (item_.verdict) ask.requests = amounts(node_cpu_milli / 2, node_memory_mi / 2);
    constrain(ask.shape);
    normalize(ask);
    add(std::move(ask));
  }

  void constrain(PodShape& shape) const {
    if (item_.anti_affinity) {
      const Requirement repelled = app_is({app_name(1), app_name(4), app_name(7)});
      shape.anti_affinity.push_back({.selector = LabelSelector{.requirements = {repelled}},
                                     .namespaces = {"default"},
                                     .topology_key = "kubernetes.io/hostname"});
    }
    if (item_.spread) {
      shape.spread.push_back({.topology_key = "topology.kubernetes.io/zone",
                              .selector = LabelSelector{.requirements = {app_is({app_name(2)})}}});
    }
  }

  const ClusterCase& item_;
  Prng random_{1};
  Cluster cluster_;
  bool keeps_ = false;  ///< Objects are kept, to be applied later.
  std::vector<Change> kept_;
  std::vector<std::size_t> gang_of_;  ///< By place: node times pods a node, plus slot.
  std::vector<std::int32_t> gang_priorities_;
};

}  // namespace

std::string_view kind_text(ClusterKind kind) {
  return kind == ClusterKind::random ? "random" : "uniform";
}

std::string options_text(const ClusterCase& item) {
  std::vector<std::string> words;
  if (item.budgets) words.emplace_back("budgets");
  if (item.anti_affinity) words.emplace_back("anti-affinity");
  if (item.spread) words.emplace_back("spread");
  if (item.verdict) words.emplace_back("verdict");
  if (item.mix == AskMix::classes) words.push_back(fmt::format("{}-asks-in-classes", item.asks));
  if (item.mix == AskMix::different) words.push_back(fmt::format("{}-asks-different", item.asks));
  if (item.members > 0) words.push_back(fmt::format("gang-{}", item.members));
  if (item.victim_gangs) words.emplace_back("all");
  if (item.domains > 1) words.push_back(fmt::format("{}-racks", item.domains));
  return words.empty() ? "-" : fmt::format("{}", fmt::join(words, "-"));
}

std::string case_name(const ClusterCase& item) {
  std::string name = fmt::format("{}-{}x{}", kind_text(item.kind), item.nodes, item.pods_per_node);
  const std::string options = options_text(item);
  return options == "-" ? name : fmt::format("{}-{}", name, options);
}

Cluster make_cluster(const ClusterCase& item) { return Maker(item).made(); }

Cluster make_shuffled_cluster(const ClusterCase& item) { return Maker(item).made_shuffled(); }

std::size_t members_max(const ClusterCase& item) {
  const std::size_t per_node = item.pods_per_node * 1'000'000 / ask_size;
  return item.nodes / item.domains * per_node;
}

}  // namespace makeway::bench
