// What the view of a live run costs: it holds the cluster a second time (docs/decisions/0016).
//
//   view [NODES PODS]     default 1000 10000
//
// Bytes are those of the heap, counted before and after. Every pod has a name, uid and labels as a
// Deployment gives them, since texts are what a store keeps.
#include <fmt/format.h>
#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "control/live_view.hpp"
#include "model/cluster.hpp"
#include "model/trust.hpp"

namespace makeway {
namespace {

struct ViewSize {
  std::size_t nodes = 1'000;
  std::size_t pods = 10'000;
};

constexpr Time view_now{1'800'000'000'000};

std::size_t heap_bytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

std::vector<Change> objects(const ViewSize& size) {
  constexpr std::size_t replicas = 10;
  constexpr std::size_t namespaces = 20;
  std::vector<Change> made;
  for (std::size_t at = 0; at < size.nodes; ++at) {
    const std::string name = fmt::format("node-{:05}", at);
    made.emplace_back(
        Node{.name = name,
             .labels = {{"kubernetes.io/hostname", name}},
             .allocatable = {{"cpu", 32'000}, {"memory", std::int64_t{64} << 30U}, {"pods", 110}}});
  }
  for (std::size_t at = 0; at < size.pods; ++at) {
    const std::string app = fmt::format("web-{}", at / replicas);
    made.emplace_back(Pod{.namespace_name = fmt::format("team-{}", at % namespaces),
                          .name = fmt::format("{}-{:08x}-{:05x}", app, at / replicas, at),
                          .uid = fmt::format("{:08x}-0000-4000-8000-{:012x}", at, at),
                          .labels = {{"app", app}},
                          .node = fmt::format("node-{:05}", at % size.nodes),
                          .scheduler = "makeway",
                          .requests = {{"cpu", 100}, {"memory", std::int64_t{1} << 28U}}});
  }
  return made;
}

void measure(const ViewSize& size) {
  const std::vector<Change> changes = objects(size);
  const std::size_t before = heap_bytes();
  const auto store = std::make_unique<Cluster>();
  store->begin_bulk();
  for (const Change& change : changes) store->apply(change);
  store->finish_bulk();
  const std::size_t with_store = heap_bytes();
  Configuration configuration;
  configuration.trust.mode = TrustMode::cluster;
  const auto view =
      std::make_unique<LiveView>(configuration, LiveViewOptions{.schedulers = {"makeway"}});
  const std::size_t shown = view->show(changes, {}, view_now).size();
  CHECK(shown == changes.size(), "the view shows every object once");
  const std::size_t with_view = heap_bytes();
  constexpr double megabyte = 1'000'000;
  fmt::print("{} nodes, {} pods: store {:.1f} MB, view {:.1f} MB\n", size.nodes, size.pods,
             static_cast<double>(with_store - before) / megabyte,
             static_cast<double>(with_view - with_store) / megabyte);
}

int run(std::span<char* const> arguments) {
  ViewSize size;
  if (arguments.size() == 3) {
    size.nodes = std::strtoull(arguments[1], nullptr, 10);
    size.pods = std::strtoull(arguments[2], nullptr, 10);
  }
  if ((arguments.size() != 1 && arguments.size() != 3) || size.nodes == 0) {
    fmt::print(stderr, "usage: view [NODES PODS]\n");
    return 2;
  }
  measure(size);
  return 0;
}

}  // namespace
}  // namespace makeway

int main(int argc, char** argv) { return makeway::run({argv, static_cast<std::size_t>(argc)}); }
