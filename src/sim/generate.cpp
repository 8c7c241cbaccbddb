#include "sim/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "base/wide.hpp"
#include "model/names.hpp"
#include "model/normalize.hpp"
#include "sim/number_list.hpp"

namespace makeway {
namespace {

/// -ln(1 - u) in thousandths, at 64 evenly spaced u.
constexpr std::array<std::int64_t, 64> exponential = {
    8,    24,   40,   56,   73,   90,   107,  125,  143,  161,  179,  198,  217,  237,  257,  277,
    298,  319,  341,  363,  386,  409,  433,  458,  483,  508,  535,  562,  589,  618,  647,  678,
    709,  741,  774,  809,  845,  882,  920,  960,  1002, 1045, 1091, 1138, 1188, 1241, 1297, 1356,
    1418, 1485, 1556, 1633, 1717, 1808, 1908, 2019, 2144, 2287, 2454, 2655, 2906, 3243, 3753, 4852};
/// Log-normal run times in seconds: median ten minutes, one in 64 above six hours.
constexpr std::array<std::int64_t, 64> run_seconds = {
    16,   30,   43,   54,   66,   77,   89,   101,  113,  125,  138,   152,  166,
    180,  195,  210,  226,  243,  261,  279,  298,  318,  339,  361,   384,  408,
    433,  460,  488,  518,  549,  583,  618,  655,  695,  737,  783,   831,  883,
    938,  998,  1063, 1133, 1209, 1291, 1382, 1481, 1591, 1713, 1849,  2002, 2175,
    2373, 2601, 2869, 3187, 3571, 4048, 4658, 5471, 6624, 8429, 11826, 22545};
/// How busy each hour of a day is, in percent of the mean.
constexpr std::array<std::int64_t, 24> day = {58,  48,  42,  40,  42,  48,  58,  70,
                                              84,  100, 116, 130, 142, 152, 158, 160,
                                              158, 152, 142, 130, 116, 100, 84,  70};
constexpr std::array<std::int64_t, 8> cpu_sizes = {1, 1, 2, 2, 4, 4, 8, 16};
constexpr std::array<std::int64_t, 8> gpu_sizes = {1, 1, 1, 1, 2, 2, 4, 8};
constexpr std::array<std::int64_t, 8> gang_sizes = {2, 2, 2, 4, 4, 8, 8, 16};
constexpr std::array<std::int64_t, 8> kernel_counts = {1, 1, 1, 1, 2, 2, 3, 4};
constexpr std::array<std::int64_t, 8> replica_counts = {1, 1, 2, 2, 3, 4, 6, 8};
constexpr std::int64_t gib = std::int64_t{1} << 30;
constexpr std::int64_t daemon_cpu = 500;
constexpr std::string_view gpu_name = "nvidia.com/gpu";

using Field = NumberField<GenerateOptions>;
constexpr std::array fields = {
    Field{"nodes", &GenerateOptions::nodes, 1, 200'000},
    Field{"pods", &GenerateOptions::pods, 1, 100'000'000},
    Field{"cpus", &GenerateOptions::cpus, 1, 10'000},
    Field{"gpus", &GenerateOptions::gpus, 0, 64},
    Field{"load", &GenerateOptions::load, 1, 10'000},
    Field{"gangs", &GenerateOptions::gangs, 0, 100},
    Field{"services", &GenerateOptions::services, 0, 100},
    Field{"priorities", &GenerateOptions::priorities, 1, 100},
    Field{"queues", &GenerateOptions::queues, 0, 10'000},
    Field{"checkpoint", &GenerateOptions::checkpoint, 0, 1'000'000},
    Field{"daemons", &GenerateOptions::daemons, 0, 100},
    Field{"sessions", &GenerateOptions::sessions, 0, 100},
    Field{"replicas", &GenerateOptions::replicas, 0, 100},
    Field{"planes", &GenerateOptions::planes, 1, 100},
    Field{"affinity", &GenerateOptions::affinity, 0, 100},
    Field{"anti-affinity", &GenerateOptions::anti_affinity, 0, 100},
    Field{"spread", &GenerateOptions::spread, 0, 100},
    Field{"zones", &GenerateOptions::zones, 1, 100},
};

/// Nodes by purpose: first those of planes, then those of resource groups.
struct NodeShares {
  std::int64_t planes = 0;
  std::int64_t sessions = 0;
};

NodeShares share_nodes(const GenerateOptions& options) {
  NodeShares shares;
  if (options.replicas > 0) {
    shares.planes = std::max(options.planes, options.nodes * options.replicas / 100);
  }
  if (options.sessions > 0) {
    shares.sessions = std::max<std::int64_t>(1, options.nodes * options.sessions / 100);
  }
  if (options.sessions + options.replicas >= 100) return shares;
  // Ordinary pods need a node, too.
  const std::int64_t over = shares.planes + shares.sessions - (options.nodes - 1);
  if (over > 0) shares.sessions = std::max<std::int64_t>(1, shares.sessions - over);
  return shares;
}

std::string node_name(std::int64_t number) { return fmt::format("node-{:05}", number); }

class Generator {
 public:
  Generator(const GenerateOptions& options, std::uint64_t seed, Time start)
      : options_(options), shares_(share_nodes(options)), random_(seed), start_(start) {}

  SimLoad make() {
    make_nodes();
    make_queues();
    if (shares_.sessions > 0) make_resource_groups();
    for (std::int64_t number = 1; pods_ < options_.pods; ++number) make_task(number);
    set_arrivals();
    make_daemons();
    return std::move(load_);
  }

 private:
  template <std::size_t Size>
  std::int64_t draw(const std::array<std::int64_t, Size>& table) {
    return table[random_.below(Size)];
  }

  void make_nodes() {
    for (std::int64_t number = 0; number < options_.nodes; ++number) {
      Node node{.name = node_name(number)};
      node.uid = "uid-" + node.name;
      node.labels = {{std::string(names::hostname), node.name}};
      if (options_.affinity + options_.spread > 0) {
        node.labels.push_back(
            {std::string(names::zone), fmt::format("zone-{}", 1 + number % options_.zones)});
      }
      if (number < shares_.planes) {
        node.labels.push_back(
            {std::string(names::plane), fmt::format("plane-{}", 1 + number % options_.planes)});
      }
      node.allocatable = {
          {"cpu", options_.cpus * 1'000}, {"memory", options_.cpus * 4 * gib}, {"pods", 250}};
      if (options_.gpus > 0) node.allocatable.push_back({std::string(gpu_name), options_.gpus});
      node.created = start_;
      normalize(node);
      load_.objects.emplace_back(std::move(node));
    }
  }

  void make_queues() {
    for (std::int64_t number = 0; number < options_.queues; ++number) {
      Queue queue{.name = fmt::format("team-{}", number)};
      queue.weight = 1 + number % 3;
      normalize(queue);
      load_.objects.emplace_back(std::move(queue));
    }
  }

  /// The nodes of the second half belong to a group that is divided into two partitions.
  void make_resource_groups() {
    const std::int64_t end = shares_.planes + shares_.sessions;
    lab_nodes_ = shares_.sessions / 2;
    ResourceGroup people{.name = "people"};
    ResourceGroup lab{.name = "lab"};
    for (std::int64_t number = shares_.planes; number < end; ++number) {
      (number < end - lab_nodes_ ? people : lab).nodes.push_back(node_name(number));
    }
    load_.objects.emplace_back(std::move(people));
    if (lab_nodes_ == 0) return;
    load_.objects.emplace_back(std::move(lab));
    load_.objects.emplace_back(Partition{.name = "lab-high", .resource_group = "lab", .tier = 2});
    Partition low{.name = "lab-low", .resource_group = "lab", .tier = 1, .preemptible = true};
    low.mode = static_cast<PartitionMode>(random_.below(3));
    if (low.mode != PartitionMode::suspend) low.grace_time = {30'000};
    load_.objects.emplace_back(std::move(low));
  }

  TaskKind draw_kind() {
    auto kind = static_cast<std::int64_t>(random_.below(100));
    for (const auto& [share, own] : {std::pair(options_.gangs, TaskKind::gang),
                                     {options_.services, TaskKind::service},
                                     {options_.sessions, TaskKind::session},
                                     {options_.replicas, TaskKind::replicas}}) {
      if (kind < share) return own;
      kind -= share;
    }
    return TaskKind::job;
  }

  /// So many of them fit on nodes where only daemons are.
  std::int64_t most_on(std::int64_t nodes, const SimTask& task) const {
    const std::int64_t cpus = options_.cpus * 1'000 - options_.daemons * daemon_cpu;
    const std::int64_t memory = options_.cpus * 4 * gib - options_.daemons * gib;
    std::int64_t most = 250;
    for (const Amount& item : task.requests) {
      if (item.resource == "cpu") most = std::min(most, cpus / item.amount);
      if (item.resource == "memory") most = std::min(most, memory / item.amount);
      if (item.resource == gpu_name) most = std::min(most, options_.gpus / item.amount);
    }
    return std::max<std::int64_t>(1, nodes * most);
  }

  void make_session(SimTask& task) {
    const bool in_lab = lab_nodes_ > 0 && random_.chance(50);
    const std::int64_t nodes = in_lab ? lab_nodes_ : shares_.sessions - lab_nodes_;
    task.resource_group = in_lab ? "lab" : "people";
    if (in_lab) task.partition = random_.chance(50) ? "lab-high" : "lab-low";
    task.pods = std::min(draw(kernel_counts), most_on(nodes, task));
    const std::uint64_t type = random_.below(10);
    task.session_type = type < 6   ? SessionType::batch
                        : type < 9 ? SessionType::interactive
                                   : SessionType::inference;
    task.requeues = random_.chance(30);
    task.recreate = {random_.between(300, 3'600) * 1'000};
    task.priority = task.priority == 0 ? 5 : std::min(task.priority / 10, 100);
    task.queue.clear();
  }

  void make_replicas(SimTask& task) {
    const std::int64_t nodes = std::max<std::int64_t>(1, shares_.planes / options_.planes);
    task.pods = std::min(draw(replica_counts), most_on(nodes, task));
    task.queue.clear();
  }

  static LabelSelector looks_at(const SimTask& task) {
    return {.requirements = {{.key = std::string(application_label),
                              .operation = Operator::in,
                              .values = {task.application}}}};
  }

  /// At most one of the three; a load without them is what it always was. Pods of one task look at
  /// each other; those that are alone look at a quarter of the others.
  void draw_constraint(SimTask& task) {
    const std::int64_t some = options_.affinity + options_.anti_affinity + options_.spread;
    const bool pods =
        task.kind == TaskKind::job || task.kind == TaskKind::gang || task.kind == TaskKind::service;
    if (some == 0 || !pods) return;
    const auto drawn = static_cast<std::int64_t>(random_.below(100));
    if (drawn >= some) return;
    // A gang that is larger than a zone could never run.
    const std::int64_t nodes = options_.nodes - shares_.planes - shares_.sessions;
    if (drawn < options_.affinity && task.pods > nodes / options_.zones) return;
    task.application = task.pods > 1 ? task.name : fmt::format("alone-{}", random_.below(4));
    const PodAffinityTerm term{.selector = looks_at(task),
                               .namespaces = {task.namespace_name},
                               .topology_key = std::string(names::zone)};
    if (drawn < options_.affinity) {
      task.shape.affinity = {term};
    } else if (drawn < options_.affinity + options_.anti_affinity) {
      task.shape.anti_affinity = {term};
      task.shape.anti_affinity.front().topology_key = names::hostname;
    } else {
      task.shape.spread = {
          {.topology_key = std::string(names::zone), .skew_max = 1, .selector = looks_at(task)}};
    }
    normalize(task.shape);
  }

  void make_task(std::int64_t number) {
    SimTask task{.name = fmt::format("task-{:07}", number)};
    task.kind = draw_kind();
    if (task.kind == TaskKind::gang) {
      const std::int64_t nodes = options_.nodes - shares_.planes - shares_.sessions;
      task.pods = std::min(draw(gang_sizes), std::max<std::int64_t>(1, nodes / 2));
      task.minimum = task.pods;
      task.whole = random_.chance(50);
    }
    task.run = {draw(run_seconds) * 1'000};
    task.checkpoint = {options_.checkpoint * 1'000};
    task.leave = {random_.between(1, 30) * 1'000};
    task.recreate = {1'000};
    // Each level is half as frequent as the one below it.
    for (std::int64_t level = 1; level < options_.priorities && random_.chance(50); ++level) {
      task.priority = static_cast<std::int32_t>(level * 100);
    }
    if (options_.queues > 0) {
      const auto queue = random_.below(static_cast<std::uint64_t>(options_.queues));
      task.queue = fmt::format("team-{}", queue);
    }
    const std::int64_t cpus = std::min(draw(cpu_sizes), options_.cpus);
    task.requests = {{"cpu", cpus * 1'000}, {"memory", cpus * 2 * gib}};
    std::int64_t scarce = cpus;
    if (options_.gpus > 0) {
      scarce = std::min(draw(gpu_sizes), options_.gpus);
      task.requests.push_back({std::string(gpu_name), scarce});
    }
    normalize(task.requests);
    if (task.kind == TaskKind::session) make_session(task);
    if (task.kind == TaskKind::replicas) make_replicas(task);
    draw_constraint(task);
    pods_ += task.pods;
    work_ += Wide{scarce} * task.run.ms * task.pods;
    load_.tasks.push_back(std::move(task));
  }

  /// Gaps are exponential and shorter in busy hours; then all of them are stretched to the span.
  void set_arrivals() {
    const Wide capacity =
        Wide{options_.nodes} * (options_.gpus > 0 ? options_.gpus : options_.cpus) * options_.load;
    const Wide span = std::max<Wide>(work_ * 100 / capacity, 1);
    std::vector<std::int64_t> at;
    at.reserve(load_.tasks.size());
    std::int64_t sum = 0;
    for (std::size_t number = 0; number < load_.tasks.size(); ++number) {
      sum += draw(exponential);
      at.push_back(sum);
    }
    Wide done = 0;
    std::int64_t before = 0;
    for (std::size_t number = 0; number < at.size(); ++number) {
      const std::int64_t gap = at[number] - before;
      before = at[number];
      const auto hour = static_cast<std::size_t>((done / 3'600'000) % 24);
      done += Wide{gap} * span * 100 / (Wide{sum} * day[hour]);
      load_.tasks[number].arrival = start_ + Duration{static_cast<std::int64_t>(done)};
    }
  }

  /// The first comes after a quarter of the span, and so on.
  void make_daemons() {
    if (load_.tasks.empty()) return;
    const std::int64_t span = (load_.tasks.back().arrival - start_).ms;
    for (std::int64_t number = 1; number <= options_.daemons; ++number) {
      for (std::int64_t node = 0; node < options_.nodes; ++node) {
        SimTask task{.kind = TaskKind::daemon,
                     .name = fmt::format("daemon-{}-{:05}", number, node),
                     .arrival = start_ + Duration{span * number / (options_.daemons + 3)},
                     .leave = {1'000},
                     .recreate = {1'000},
                     .priority = 1'000,
                     .requests = {{"cpu", daemon_cpu}, {"memory", gib}}};
        task.shape.node_terms = {{.fields = {{.key = "metadata.name",
                                              .operation = Operator::in,
                                              .values = {node_name(node)}}}}};
        load_.tasks.push_back(std::move(task));
      }
    }
    std::ranges::stable_sort(load_.tasks, {}, &SimTask::arrival);
  }

  const GenerateOptions& options_;
  NodeShares shares_;
  std::int64_t lab_nodes_ = 0;
  Prng random_;
  Time start_;
  SimLoad load_;
  std::int64_t pods_ = 0;
  Wide work_ = 0;  ///< Of the scarce resource, times milliseconds.
};

}  // namespace

Result<GenerateOptions> parse_generate(std::string_view text) {
  const Result<GenerateOptions> options = parse_number_list("generate", text, fields);
  if (!options) return options;
  if (options->gangs + options->services + options->sessions + options->replicas > 100) {
    return input_error(
        "--generate: gangs, services, sessions and replicas are percentages of the tasks and "
        "together at most 100");
  }
  if (options->affinity + options->anti_affinity + options->spread > 100) {
    return input_error(
        "--generate: affinity, anti-affinity and spread are percentages of the tasks and together "
        "at most 100");
  }
  if (options->replicas > 0 && options->gpus == 0) {
    return input_error("--generate: replicas ask for GPUs; give the nodes some, such as gpus=8");
  }
  const NodeShares shares = share_nodes(*options);
  const std::int64_t others = options->sessions + options->replicas < 100 ? 1 : 0;
  if (shares.planes + shares.sessions + others > options->nodes) {
    return input_error(fmt::format(
        "--generate: sessions and planes have nodes of their own; at least {} nodes are needed",
        shares.planes + shares.sessions + others));
  }
  return options;
}

SimLoad generate_load(const GenerateOptions& options, std::uint64_t seed, Time start) {
  return Generator(options, seed, start).make();
}

}  // namespace makeway
