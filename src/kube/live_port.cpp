#include "kube/live_port.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kube/clocks.hpp"

namespace makeway::kube {

Batch LivePort::poll(Time deadline) {
  constexpr std::int64_t wait_ms_max = 60'000;
  const bool was_blind = was_blind_;
  wait_for_more_changes();
  Batch batch = collect();
  if (view_ != nullptr) deadline = std::min(deadline, view_->next_due().value_or(deadline));
  if (plane_view_ != nullptr) {
    deadline = std::min(deadline, plane_view_->next_due().value_or(deadline));
  }
  const bool is_news =
      !batch.changes.empty() || !batch.receipts.empty() || batch.blind != was_blind;
  if (is_news || batch.now >= deadline) return batch;
  const Duration wait{std::min(deadline.ms - batch.now.ms, wait_ms_max)};
  // What the first lists show piece by piece is not handed out yet.
  if (has_listed_) {
    feed_.mailbox().wait(wait);
  } else {
    feed_.mailbox().wait_for_wake(wait);
  }
  return collect();
}

/// Rule 5.
Duration LivePort::apart() const {
  constexpr std::size_t awaiting_per_ms = 4;
  if (carrier_->unsent() >= PlanCarrier::unsent_many) return together;
  const Duration gathers{static_cast<std::int64_t>(carrier_->awaiting() / awaiting_per_ms)};
  return std::min(gathers, gone_together);
}

/// A wake only shortens a step: what it is about comes with the batch.
void LivePort::wait_for_more_changes() const {
  constexpr std::int64_t step_ms = 10;
  if (carrier_ == nullptr || !has_listed_) return;
  for (Time at = monotonic_now(); at < collected_ + apart(); at = monotonic_now()) {
    const Duration left = collected_ + apart() - at;
    feed_.mailbox().wait_for_wake(Duration{std::clamp<std::int64_t>(left.ms, 1, step_ms)});
  }
}

Batch LivePort::collect() {
  // First whether we see, then what: everything that this answer covers is in the mailbox by
  // now.
  const bool sees = feed_.sees_all();
  has_listed_ = has_listed_ || sees;
  Batch batch{.now = now()};
  ChangeMailbox::Taken taken;
  if (has_listed_) taken = feed_.mailbox().take_all();
  batch.changes = std::move(taken.changes);
  batch.blind = !sees;
  if (carrier_ != nullptr) {
    carrier_->saw(batch.changes, std::move(taken.objects_seen));
    // Before the receipts: what ends in between counts as being sent for one poll more.
    batch.sending_since = carrier_->sending_since();
    batch.receipts = carrier_->take_receipts();
    batch.blind = batch.blind || carrier_->unsent() > PlanCarrier::unsent_max;
    if (!batch.blind) carrier_->reconcile(batch.now);
  }
  if (plane_view_ != nullptr && has_listed_) collect_planes(batch);
  if (view_ != nullptr && has_listed_) {
    batch.changes = view_->show(std::move(batch.changes), taken.updates, batch.now);
    if (carrier_ != nullptr) {
      carrier_->report_marks(view_->take_notices());
      state_findings();
    }
  }
  was_blind_ = batch.blind;
  collected_ = monotonic_now();
  return batch;
}

void LivePort::state_findings() {
  const bool is_listing = std::ranges::any_of(planes_, [](const Plane& plane) {
    return !plane.has_listed && plane.feed->trouble() == WatchTrouble::none;
  });
  if (is_listing) return;
  OwnFindings all = view_->own_findings();
  if (plane_view_ != nullptr) {
    for (const auto& [schedule, note] : plane_view_->notes()) {
      OwnFinding& finding = all["ReplicaSchedule " + schedule];
      finding.level = std::max(finding.level, note.level);
      finding.text += finding.text.empty() ? note.text : "; " + note.text;
    }
  }
  carrier_->report_findings(all);
}

void LivePort::add_plane(std::string name, LiveFeed& feed) {
  feed.mailbox().forward([&home = feed_.mailbox()] { home.wake(); });
  planes_.push_back({.name = std::move(name), .feed = &feed});
}

void LivePort::collect_planes(Batch& batch) {
  std::vector<PlaneState> objects_seen;
  for (Plane& plane : planes_) {
    // As at home: first whether it is seen, then what.
    PlaneState seen_object{.plane = plane.name, .sees = plane.feed->sees_all()};
    if (seen_object.sees && !plane.has_listed) plane.feed->mailbox().forward_changes();
    plane.has_listed = plane.has_listed || seen_object.sees;
    ChangeMailbox::Taken taken;
    // A plane that comes back is shown whole: half of it would look like something lost there.
    if (seen_object.sees) taken = plane.feed->mailbox().take_all();
    seen_object.changes = std::move(taken.changes);
    seen_object.updates = std::move(taken.plane_updates);
    if (carrier_ != nullptr) carrier_->saw_plane(seen_object, std::move(taken.objects_seen));
    objects_seen.push_back(std::move(seen_object));
  }
  batch.changes = plane_view_->show(std::move(batch.changes), std::move(objects_seen), batch.now);
}

void LivePort::submit(const Plan& plan) {
  if (carrier_ != nullptr) carrier_->carry_out(plan);
}

Time LivePort::now() {
  const auto known = feed_.server_time().at(monotonic_now());
  now_ = std::max(now_, known ? *known : SystemClock().now());
  return now_;
}

}  // namespace makeway::kube
