// From the bytes of an API server to the store, and to a plan: lists, events of a watch, and a
// pod that comes and asks.
//
//   wire [NODES PODS_PER_NODE]     default 1000 30
//   wire overfull [NODES PODS_PER_NODE]     nodes have at most 8 GPUs, and their pods hold more
//
// No connection takes part: what is timed begins with bytes in memory. Everything behind them is
// the program's own way: lines, decoder, mailbox, ControlLoop with the judge at every cycle.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "bench/support/generate.hpp"
#include "cli/plan/plan_maker.hpp"
#include "control/control_loop.hpp"
#include "kube/live_feed.hpp"
#include "kube/resource_watch.hpp"
#include "kube/watched_objects.hpp"

namespace makeway {
namespace {

struct WireSize {
  std::size_t nodes = 1'000;
  std::size_t pods_per_node = 30;
  bool overfull = false;

  std::size_t pods() const { return nodes * pods_per_node; }
};

constexpr std::size_t page_size = 500;
constexpr std::size_t asks = 200;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// What the mailbox holds is a batch; plans are kept.
class MailboxPort final : public Port {
 public:
  explicit MailboxPort(kube::ChangeMailbox& mailbox) : mailbox_(mailbox) {}
  Batch poll(Time /*deadline*/) override {
    now_ = now_ + Duration{10};
    return {.now = now_, .changes = mailbox_.take()};
  }
  void submit(const Plan& plan) override { plan_ = plan; }

  const Plan& plan() const { return plan_; }

 private:
  kube::ChangeMailbox& mailbox_;
  Time now_ = parse_time("2026-02-01T00:00:00Z").value_or(Time{});
  Plan plan_;
};

const kube::ServedResource& served_pods() {
  static const kube::ServedResource pods = [] {
    for (const kube::ServedResource& each : kube::always_served()) {
      if (each.resource->plural == "pods") return each;
    }
    CHECK(false, "pods are always served");
    return kube::ServedResource{};
  }();
  return pods;
}

/// As many GPUs as the pods on them use; overfull: as if a device plugin had lost some.
std::vector<Node> full_nodes(const WireSize& size) {
  std::vector<Node> nodes;
  nodes.reserve(size.nodes);
  for (std::size_t index = 0; index < size.nodes; ++index) {
    nodes.push_back(bench::sample_node(index));
    for (Amount& amount : nodes.back().allocatable) {
      if (amount.resource == "nvidia.com/gpu") amount.amount = 0;
    }
  }
  Prng random(1);
  for (std::size_t index = 0; index < size.pods(); ++index) {
    for (const Amount& wanted : bench::sample_pod(index, size.nodes, random).requests) {
      if (wanted.resource != "nvidia.com/gpu") continue;
      Amounts& room = nodes[index % size.nodes].allocatable;
      std::ranges::find(room, wanted.resource, &Amount::resource)->amount += wanted.amount;
    }
  }
  if (!size.overfull) return nodes;
  constexpr std::int64_t gpus_left = 8;
  for (Node& node : nodes) {
    for (Amount& amount : node.allocatable) {
      if (amount.resource != "nvidia.com/gpu") continue;
      amount.amount = std::min(gpus_left, std::max<std::int64_t>(amount.amount - 1, 0));
    }
  }
  return nodes;
}

/// The way in, from bytes to plans.
class WireWorld {
 public:
  explicit WireWorld(const WireSize& size)
      : size_(size),
        objects_([this](Change change, std::optional<ObjectState> state) {
          mailbox_.put(std::move(change), std::move(state));
        }),
        port_(mailbox_),
        tools_(cli::real_tools()),
        loop_(port_, configuration_, tools_, {.preset = "makeway"}) {
    for (const Node& node : full_nodes(size)) mailbox_.put(node);
  }

  void list(const kube::ObjectPages& pages) { objects_.listed(served_pods(), pages); }
  void hear(std::string_view bytes) {
    const auto verdict = lines_.take(bytes, [&](const WatchEvent& event) {
      objects_.happened(served_pods(), event);
      return true;
    });
    CHECK(verdict == kube::WatchLines::Verdict::go_on, "the line is an event");
  }
  void step() { loop_.step(); }

  const WireSize& size() const { return size_; }
  const Cluster& cluster() const { return loop_.cluster(); }
  const Plan& plan() const { return port_.plan(); }
  bool has_refused() const { return !loop_.refused().empty(); }
  const LoopStatistics& statistics() const { return loop_.statistics(); }

 private:
  WireSize size_;
  Configuration configuration_;
  kube::ChangeMailbox mailbox_;
  kube::WatchedObjects objects_;
  kube::WatchLines lines_;
  MailboxPort port_;
  PlanTools tools_;
  ControlLoop loop_;
};

/// As the server sends them, 500 pods a page.
kube::ObjectPages pages_of(const std::vector<std::string>& pods) {
  kube::ObjectPages pages;
  for (std::size_t first = 0; first < pods.size(); first += page_size) {
    std::string text = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},)";
    text += R"("items":[)";
    for (std::size_t at = first; at < std::min(first + page_size, pods.size()); ++at) {
      if (at > first) text += ',';
      text += pods[at];
    }
    text += "]}";
    pages.bytes += text.size();
    pages.pages.emplace_back(std::string_view(text));
  }
  return pages;
}

std::string event_of(std::string_view type, std::string_view pod) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, pod);
}

void run_list(WireWorld& world, const std::vector<std::string>& pods) {
  const kube::ObjectPages pages = pages_of(pods);
  const auto begin = std::chrono::steady_clock::now();
  world.list(pages);
  world.step();
  const double seconds = seconds_since(begin);
  CHECK(world.cluster().pod_count() == pods.size());
  fmt::print("wire list   {:7} pods, {:6.1f} MB: {:7.1f} ms, {:8.0f} pods/s; store {} bytes/pod\n",
             pods.size(), static_cast<double>(pages.bytes) / 1e6, seconds * 1e3,
             static_cast<double>(pods.size()) / seconds,
             world.cluster().bytes().total() / pods.size());
  std::fflush(stdout);
}

/// Every pod says that it is no longer ready, and then that it is again; a batch is a tenth of a
/// second's worth of a busy cluster.
void run_events(WireWorld& world, const std::vector<std::string>& pods) {
  constexpr std::size_t batch = 100;
  std::vector<std::string> events;
  for (const bool ready : {false, true}) {
    for (std::string pod : pods) {
      const std::size_t at = pod.find(R"("type": "Ready")");
      const std::size_t status = pod.rfind(R"("True")", at);
      CHECK(at != std::string::npos);
      CHECK(status != std::string::npos);
      if (!ready) pod.replace(status, 6, R"("False")");
      events.push_back(event_of("MODIFIED", pod));
    }
  }
  std::size_t bytes = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t at = 0; at < events.size(); ++at) {
    world.hear(events[at]);
    bytes += events[at].size();
    if ((at + 1) % batch == 0 || at + 1 == events.size()) world.step();
    if (at + 1 == pods.size()) {
      for (std::uint32_t slot = 0; slot < world.cluster().pods().slots(); ++slot) {
        CHECK(!world.cluster().pods().flags[PodIndex{slot}].ready, "the event is in the store");
      }
    }
  }
  const double seconds = seconds_since(begin);
  CHECK(world.cluster().pod_count() == pods.size());
  fmt::print("wire events {:7}, {:6.1f} MB, {} a batch: {:7.1f} ms, {:8.0f} events/s\n",
             events.size(), static_cast<double>(bytes) / 1e6, batch, seconds * 1e3,
             static_cast<double>(events.size()) / seconds);
  std::fflush(stdout);
}

std::string asking_pod(std::size_t index, std::string_view requests, std::string_view more) {
  return fmt::format(
      R"({{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"ask-{}","namespace":"urgent",)"
      R"("uid":"ask-{}","creationTimestamp":"2026-02-01T00:00:00Z","resourceVersion":"9"}},)"
      R"("spec":{{"priority":5000,"schedulerName":"makeway","containers":[{{"name":"main",)"
      R"("image":"example.invalid/a","resources":{{"requests":{{{}}}}}}}]{}}},)"
      R"("status":{{"phase":"Pending"}}}})",
      index, index, requests, more);
}

void report_asks(std::string_view name, std::vector<double>& seconds, std::size_t victims) {
  std::ranges::sort(seconds);
  fmt::print(
      "wire ask    {:20} median {:7.1f} us, 99 % {:7.1f} us, worst {:8.1f} us; {} asks, {} "
      "victims",
      name, seconds[seconds.size() / 2] * 1e6, seconds[(seconds.size() - 1) * 99 / 100] * 1e6,
      seconds.back() * 1e6, seconds.size(), victims);
}

/// Of a cycle, on average: there is one that preempts or binds, and one that binds the pods that
/// waited.
void report_cycles(const LoopStatistics& before, const LoopStatistics& after) {
  const auto cycles = static_cast<double>(after.cycles - before.cycles);
  fmt::print("; a cycle decides {:.0f} us and is judged {:.0f} us\n",
             static_cast<double>(after.decide_us - before.decide_us) / cycles,
             static_cast<double>(after.check_us - before.check_us) / cycles);
  std::fflush(stdout);
}

/// One pod after the other comes, is answered by a plan, and what the plan says is done at once.
void run_asks(WireWorld& world, std::string_view name, std::string_view requests, bool preempts,
              std::size_t first_index) {
  std::vector<double> seconds;
  std::size_t victims = 0;
  const LoopStatistics before = world.statistics();
  for (std::size_t index = first_index; index < first_index + asks; ++index) {
    const std::string event = event_of("ADDED", asking_pod(index, requests, ""));
    const auto begin = std::chrono::steady_clock::now();
    world.hear(event);
    world.step();
    seconds.push_back(seconds_since(begin));
    const Plan plan = world.plan();
    CHECK(plan.asks.size() == 1);
    CHECK(plan.asks[0].placements.size() == 1, "the ask has a place");
    CHECK(plan.asks[0].victims.empty() == !preempts);
    for (const PlanVictim& victim : plan.asks[0].victims) {
      ++victims;
      world.hear(event_of("DELETED", fmt::format(R"({{"kind":"Pod","apiVersion":"v1","metadata":)"
                                                 R"({{"name":"{}","namespace":"{}","uid":"{}"}}}})",
                                                 victim.name, victim.namespace_name, victim.uid)));
    }
    const std::string node = fmt::format(R"(,"nodeName":"{}")", plan.asks[0].placements[0].node);
    world.hear(event_of("MODIFIED", asking_pod(index, requests, node)));
    world.step();
  }
  CHECK(!world.has_refused(), "the judge agrees");
  report_asks(name, seconds, victims);
  report_cycles(before, world.statistics());
}

void run_wire(const WireSize& size) {
  fmt::print("wire {} nodes x {} pods{}\n", size.nodes, size.pods_per_node,
             size.overfull ? ", overfull of GPUs" : "");
  Prng random(1);
  std::vector<std::string> pods;
  pods.reserve(size.pods());
  for (std::size_t index = 0; index < size.pods(); ++index) {
    pods.push_back(bench::wire_pod(index, size.nodes, random));
  }
  WireWorld world(size);
  run_list(world, pods);
  run_events(world, pods);
  run_asks(world, "that fits", R"("cpu":"100m")", false, 0);
  run_asks(world, "that needs 8 GPUs", R"("cpu":"100m","nvidia.com/gpu":"8")", true, asks);
}

}  // namespace
}  // namespace makeway

int main(int argc, char** argv) {
  std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  makeway::WireSize size;
  size.overfull = arguments.size() > 1 && std::string_view(arguments[1]) == "overfull";
  if (size.overfull) arguments = arguments.subspan(1);
  if (arguments.size() == 3) {
    size.nodes = std::strtoull(arguments[1], nullptr, 10);
    size.pods_per_node = std::strtoull(arguments[2], nullptr, 10);
  }
  makeway::run_wire(size);
  return 0;
}
