#include "sim/sim_ground.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace makeway {
namespace {

constexpr Duration faults_last{3'600'000};
constexpr Duration budgets_take{1'000};

Time last_arrival(const SimLoad& load, Time start) {
  return load.tasks.empty() ? start : load.tasks.back().arrival;
}

}  // namespace

SimGround::SimGround(const SimLoad& from, const SimOptions& how)
    : load(from),
      options(how),
      now(how.start),
      faults(how.faults, how.seed, last_arrival(from, how.start) + faults_last),
      watch(agenda, faults),
      nodes(from) {
  metrics.start = now;
  for (const std::string& name : nodes.resources()) {
    if (name.find("gpu") != std::string::npos) metrics.scarce = name;
  }
  if (metrics.scarce.empty()) metrics.scarce = "cpu";
}

void SimGround::refuse(Receipt receipt, bool by_fault) {
  ++(by_fault ? faults.counts().refused : metrics.refused);
  watch.refuse(std::move(receipt));
}

void SimGround::count_running(const Pod& pod, std::int64_t more) {
  if (budgets.empty() || !budgets.count(pod, more)) return;
  agenda.expect({.when = now + budgets_take, .what = Happening::budgets});
}

std::optional<Time> SimGround::gone_at(const Pod& pod) {
  if (options.behaviour.late) {
    const std::optional<Duration> late = options.behaviour.late(pod, now);
    if (!late) return std::nullopt;
    return std::max(now, *pod.deletion + *late);
  }
  if (!faults.strikes(&FaultOptions::stuck, now)) return std::max(now, *pod.deletion);
  ++faults.counts().stuck;
  if (faults.random().chance(50)) return std::nullopt;
  return *pod.deletion + Duration{faults.random().between(600'000, 3'600'000)};
}

std::string sim_name(const std::string& namespace_name, const std::string& name,
                     const std::string& plane) {
  return place_name(plane, fmt::format("{}/{}", namespace_name, name));
}

std::string sim_name(const Pod& pod) { return sim_name(pod.namespace_name, pod.name, pod.plane); }

std::string place_of(const Pod& pod) { return place_name(pod.plane, pod.node); }

}  // namespace makeway
