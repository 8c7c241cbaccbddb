#include "cli/simulate/simulate_run.hpp"

#include <algorithm>
#include <iterator>
#include <memory>

namespace makeway::cli {
namespace {

void add(LoopStatistics& sum, const LoopStatistics& more) {
  sum.cycles += more.cycles;
  sum.asks += more.asks;
  sum.judged += more.judged;
  sum.refused += more.refused;
  sum.left_out += more.left_out;
  sum.receipts += more.receipts;
  sum.decide_us += more.decide_us;
  sum.check_us += more.check_us;
}

/// The loop that runs, and what those before it have left behind.
class Process {
 public:
  Process(SimWorld& world, const ConfigurationDocument& document, const SimulateWish& wish,
          const PlanTools& tools)
      : world_(world),
        document_(document),
        tools_(tools),
        options_(
            {.preset = document.name,
             .judge_every = wish.judge_every,
             .backlog = {.time_wakes = document.configuration.protection.minimum_runtime.ms > 0,
                         .tries_all = false},
             .watcher = wish.watcher}) {
    start();
  }

  bool step() {
    const bool more = loop_->step();
    if (!world_.take_kill()) return more;
    finish();
    start();
    return true;
  }
  std::uint64_t cycles() const { return result_.loop.cycles + loop_->statistics().cycles; }
  const ControlLoop& loop() const { return *loop_; }
  /// What the loops tell; the rest is the world's.
  SimulateResult take_result() {
    finish();
    return std::move(result_);
  }

 private:
  void start() {
    loop_ = std::make_unique<ControlLoop>(world_, document_.configuration, tools_, options_);
  }
  void finish() {
    add(result_.loop, loop_->statistics());
    std::ranges::copy(loop_->refused(), std::back_inserter(result_.refused));
    result_.missed_wakeups += loop_->backlog().missed_wakeups();
  }

  SimWorld& world_;
  const ConfigurationDocument& document_;
  const PlanTools& tools_;
  LoopOptions options_;
  std::unique_ptr<ControlLoop> loop_;
  SimulateResult result_;
};

}  // namespace

SimulateResult simulate(const SimLoad& load, const ConfigurationDocument& document,
                        const SimulateWish& wish, const PlanTools& tools,
                        const std::function<bool(const SimulateStep&)>& go_on) {
  SimOptions options = wish.options;
  options.behaviour.scales_deployments = document.configuration.replica.enabled;
  options.behaviour.places_sessions = document.configuration.session.enabled;
  std::optional<SimChronicle> chronicle;
  if (wish.chronicle) options.chronicle = &chronicle.emplace(options.start, options.sample);
  SimWorld world(load, options);
  Process process(world, document, wish, tools);
  bool wanted = true;
  while (wanted && world.now() < wish.options.until && process.step()) {
    wanted = go_on({.tasks_arrived = world.tasks_arrived(),
                    .tasks = load.tasks.size(),
                    .cycles = process.cycles()});
  }
  const bool stopped = !wanted || world.now() >= wish.options.until;
  if (!stopped && wish.at_rest) wish.at_rest(process.loop().cluster(), world.now());
  SimulateResult result = process.take_result();
  result.name = document.name;
  result.partial = stopped && world.is_unfinished();
  result.metrics = world.finish();
  result.chronicle = std::move(chronicle);
  return result;
}

}  // namespace makeway::cli
