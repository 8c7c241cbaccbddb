#include "sim/sim_sampler.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include "model/names.hpp"
#include "model/selector.hpp"
#include "sim/sim_chronicle.hpp"

namespace makeway {

SimSampler::SimSampler(SimState& state, const SimPods& pods) : state_(state), pods_(pods) {
  if (!state_.options.behaviour.places_sessions) return;
  for (const Change& object : state_.load.objects) {
    const auto* const group = std::get_if<ResourceGroup>(&object);
    if (group != nullptr && group->plane.empty()) session_nodes_.push_back(*group);
  }
}

void SimSampler::measure(const Plan& plan) {
  if (state_.options.chronicle != nullptr) {
    state_.options.chronicle->planned(plan, state_.metrics.scarce);
  }
  const auto has_victims = [](const PlanAsk& ask) {
    return !ask.victims.empty() || (ask.replicas && scaled_down(*ask.replicas) > 0);
  };
  const std::int64_t asks = std::ranges::count_if(plan.asks, has_victims);
  state_.metrics.asks_with_victims += asks;
  cycles_with_evictions_ = asks > 0 ? cycles_with_evictions_ + 1 : 0;
  state_.metrics.longest_eviction_streak =
      std::max(state_.metrics.longest_eviction_streak, cycles_with_evictions_);
  Wide off = 0;
  Wide deserved = 0;
  for (const PlanQueue& queue : plan.queues) {
    if (!queue.leaf) continue;
    for (const PlanQueueShare& share : queue.shares) {
      if (share.resource != state_.metrics.scarce) continue;
      const std::int64_t used = share.used - share.leaving;
      off += used > share.deserved ? used - share.deserved : share.deserved - used;
      deserved += share.deserved;
    }
  }
  if (deserved == 0) return;
  state_.metrics.share_error_ppm += static_cast<std::int64_t>(off * 1'000'000 / deserved);
  ++state_.metrics.share_cycles;
}

std::vector<SimSampler::Waiting> SimSampler::waiting_pods(SimSample& now) {
  std::map<std::tuple<std::int32_t, ResourceVector, PodShape>, Waiting> classes;
  for (const SimPod& pod : pods_.all()) {
    if (!pod.there || !pod.object.plane.empty()) continue;
    if (!pod.object.node.empty()) {
      ++now.running;
      continue;
    }
    ++now.waiting;
    ResourceVector wanted = state_.nodes.pod_row(pod.object.requests);
    const std::int32_t priority = pod.object.priority.value_or(0);
    Waiting& entry = classes[{-priority, wanted, pod.object.shape}];
    ++entry.count;
    if (entry.count > 1) continue;
    entry.priority = priority;
    entry.wanted = std::move(wanted);
    entry.shape = &pod.object.shape;
  }
  std::vector<Waiting> result;
  result.reserve(classes.size());
  for (auto& [key, entry] : classes) result.push_back(std::move(entry));
  return result;
}

bool SimSampler::is_for_pods(const SimNode& node) const {
  const Labels& labels = node.object.labels;
  const bool of_replicas =
      state_.options.behaviour.scales_deployments && find_label(labels, names::plane);
  const auto has_label = [&](const Label& wanted) {
    return find_label(labels, wanted.key) == wanted.value;
  };
  const auto has_node = [&](const ResourceGroup& group) {
    return std::ranges::binary_search(group.nodes, node.object.name) ||
           (!group.node_selector.empty() && std::ranges::all_of(group.node_selector, has_label));
  };
  return !of_replicas && std::ranges::none_of(session_nodes_, has_node);
}

bool SimSampler::is_inverted(const Waiting& waiting) const {
  bool would_fit = false;
  for (const std::string& name : state_.nodes.names()) {
    const SimNode& node = state_.nodes.at(name);
    if (!node.there || !is_for_pods(node)) continue;
    if (!SimNodes::may_run_on(*waiting.shape, node)) continue;
    if (fits(waiting.wanted, node.used, node.room)) return false;
    ResourceVector used = node.used;
    for (const auto& [level, amounts] : node.by_priority) {
      if (level >= waiting.priority) break;
      for (std::size_t at = 0; at < amounts.size(); ++at) used[at] -= amounts[at];
    }
    would_fit = would_fit || fits(waiting.wanted, used, node.room);
  }
  return would_fit;
}

void SimSampler::measure_fragmentation(const Waiting& first, std::size_t scarce) {
  Wide free = 0;
  Wide useless = 0;
  for (const std::string& name : state_.nodes.names()) {
    const SimNode& node = state_.nodes.at(name);
    if (!node.there) continue;
    const std::int64_t left = std::max<std::int64_t>(0, node.room[scarce] - node.used[scarce]);
    const bool usable =
        SimNodes::may_run_on(*first.shape, node) && fits(first.wanted, node.used, node.room);
    free += left;
    if (!usable) useless += left;
  }
  ++state_.metrics.fragmented_samples;
  if (free > 0)
    state_.metrics.fragmented_ppm += static_cast<std::int64_t>(useless * 1'000'000 / free);
}

/// A simulation may last years: then samples are taken less often.
void SimSampler::thin_out_samples() {
  constexpr std::size_t samples_max = 1'000;
  if (state_.metrics.samples.size() < samples_max) return;
  std::vector<SimSample> kept;
  for (std::size_t at = 1; at < state_.metrics.samples.size(); at += 2) {
    kept.push_back(state_.metrics.samples[at]);
  }
  state_.metrics.samples = std::move(kept);
  state_.options.sample.ms *= 2;
}

void SimSampler::sample() {
  const std::size_t scarce = state_.nodes.column(state_.metrics.scarce);
  SimSample now{.when = state_.now, .victims = state_.metrics.victims};
  const std::vector<Waiting> waiting = waiting_pods(now);
  for (const std::string& name : state_.nodes.names()) {
    const SimNode& node = state_.nodes.at(name);
    if (!node.there) continue;
    now.used += node.used[scarce];
    now.room += node.room[scarce];
  }
  state_.metrics.samples.push_back(now);
  if (state_.options.chronicle != nullptr) {
    state_.options.chronicle->sampled(state_.now, state_.nodes, scarce);
  }
  for (const Waiting& entry : waiting) {
    if (!is_inverted(entry)) continue;
    state_.metrics.inversion += Wide{entry.wanted[scarce]} * entry.count * state_.options.sample.ms;
  }
  if (!waiting.empty()) measure_fragmentation(waiting.front(), scarce);
  thin_out_samples();
}

}  // namespace makeway
