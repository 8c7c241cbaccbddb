// LivePort: a live cluster as the loop sees it, over the watches of a LiveFeed.
//
//   LiveFeed feed(std::move(connection), served, seed);
//   LivePort port(feed, nullptr);
//   Batch batch = port.poll(deadline);
//
// Rules:
//  1. Nothing is shown before every kind was listed; then the first changes are the whole cluster.
//     While a kind is not seen, or a carrier has too much unsent, the batch is blind.
//  2. Now is the server's time (clocks.hpp), and never goes back. Without a Date header it is
//     that of this machine.
//  3. A poll ends early when something wakes the mailbox of the feed: receipts, a stop, or a
//     watch that is lost or recovers. The batch may be empty then.
//  4. A plan goes to the carrier; without one it is not carried out.
//  5. While a carrier has much unsent, batches are `together` apart, as long as that lasts: a plan
//     could not be sent earlier, and what changes meanwhile is decided on once. While many pods
//     wait for places that they were nominated to, the departure of each victim is a change, often
//     for several of them: then batches are a quarter of a millisecond apart for each that waits,
//     at most `gone_together`. A pod that comes after a moment without changes never waits for
//     that.
//  6. With a view, the loop is shown what the view shows; the carrier sees what the server shows.
//  7. A plane that is not seen does not blind the others (plane_view.hpp). Its changes are shown
//     when all of it is seen.
//  8. The carrier states what is wrong with objects of our kinds when every plane is listed, or
//     known to be in trouble: before that much seems to be missing.
// One thread polls and submits.
#pragma once

#include <string>
#include <vector>

#include "control/live_view.hpp"
#include "control/plane_view.hpp"
#include "control/port.hpp"
#include "kube/live_feed.hpp"
#include "kube/plan_carrier.hpp"

namespace makeway::kube {

class LivePort final : public Port {
 public:
  /// All outlive it; carrier and view may be null. To carry out plans both are needed.
  LivePort(LiveFeed& feed, PlanCarrier* carrier, LiveView* view = nullptr)
      : feed_(feed), carrier_(carrier), view_(view) {}
  /// Both before the first poll; what is given outlives it, and the feed of home outlives that of
  /// a plane. Without a view, schedules are shown as the server has them.
  void show_planes(PlaneView& view) { plane_view_ = &view; }
  void add_plane(std::string name, LiveFeed& feed);

  static constexpr Duration together{100};
  static constexpr Duration gone_together{50};

  Batch poll(Time deadline) override;
  void submit(const Plan& plan) override;
  /// Never goes back.
  Time now();

 private:
  struct Plane {
    std::string name;
    LiveFeed* feed = nullptr;
    bool has_listed = false;
  };

  Batch collect();
  void collect_planes(Batch& batch);
  void state_findings();
  Duration apart() const;
  void wait_for_more_changes() const;

  LiveFeed& feed_;
  PlanCarrier* carrier_;
  LiveView* view_;
  PlaneView* plane_view_ = nullptr;
  std::vector<Plane> planes_;
  bool has_listed_ = false;
  bool was_blind_ = true;
  Time now_;
  Time collected_;  ///< The last batch, by the clock that never goes back.
};

}  // namespace makeway::kube
