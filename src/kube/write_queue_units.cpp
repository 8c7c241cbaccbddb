// The part of WriteQueue that knows what leaves as one: a unit of which somebody has left, and the
// other victims of an ask of which one stays.
#include <fmt/format.h>

#include <algorithm>

#include "kube/write_queue.hpp"

namespace makeway::kube {
namespace {

constexpr int budget_asks_to_wait = 429;

}  // namespace

WriteQueue::UnitKey WriteQueue::unit_of(const Live& live) {
  return {live.plan, live.job.ask, live.job.unit.empty() ? live.job.object : live.job.unit};
}

/// Somebody of it has left, or may have.
bool WriteQueue::has_begun(const UnitKey& unit, std::uint64_t but_for) const {
  const auto found = units_.find(unit);
  if (found == units_.end()) return false;
  if (found->second.left_since) return true;
  return std::ranges::any_of(found->second.jobs, [&](std::uint64_t id) {
    const Live& live = jobs_.at(id);
    if (id == but_for || live.stage == Stage::waits) return false;
    const WriteKind kind = live.job.steps[live.step].kind;
    return kind == WriteKind::erase || kind == WriteKind::evict;
  });
}

void WriteQueue::budget_refused(std::uint64_t id, Live& live, const WriteAnswer& answer, Time now) {
  const UnitKey unit = unit_of(live);
  const bool is_half_gone = has_begun(unit, id);
  spare_others(unit, id);
  if (!is_half_gone) return refuse(id, answer.reason);
  const Time until = units_.at(unit).left_since.value_or(now) + limits_.leave_max;
  if (answer.status == budget_asks_to_wait && now < until) {
    ++statistics_.again;
    return move_to(id, live, Stage::waits, pause_end(live, answer.retry_after, now));
  }
  report_left_behind(live);
  refuse(id, fmt::format("others of {} have left, and a budget keeps this one: {}",
                         std::get<2>(unit), answer.reason));
}

void WriteQueue::report_left_behind(const Live& live) {
  ++statistics_.left_behind;
  add_event({.regarding = live.job.seen.object,
             .regarding_kind = "Pod",
             .is_warning = true,
             .reason = "LeftBehind",
             .action = "Preempting",
             .note = fmt::format("others of {} have left, and a disruption budget keeps this pod",
                                 live.job.unit)});
}

/// The room of the ask's other victims alone does not help it.
void WriteQueue::spare_others(const UnitKey& but_for, std::uint64_t refused) {
  std::vector<std::uint64_t> spared;
  std::map<UnitKey, bool> begun;
  for (const std::uint64_t id : evictions_.at(std::get<1>(but_for))) {
    const Live& live = jobs_.at(id);
    if (!waiting_.contains(id) || live.plan != std::get<0>(but_for)) continue;
    const auto [unit, is_new] = begun.try_emplace(unit_of(live));
    if (is_new) unit->second = has_begun(unit->first, refused);
    if (!unit->second) spared.push_back(id);
  }
  for (const std::uint64_t id : spared) refuse(id, "another victim of this ask stays");
}

}  // namespace makeway::kube
