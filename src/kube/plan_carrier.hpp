// PlanCarrier: carries out the plans that a LivePort is given.
//
// The port's thread calls it and never waits for the API server: `carry_out` only queues. What was
// refused comes back as receipts; the creator of a carrier gives it a way to wake the port
// (`ChangeMailbox::wake`, from any thread), so that receipts are fetched at once. What was carried
// out is not reported: the watches show it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "codec/object_state.hpp"
#include "control/live_view.hpp"
#include "control/plane_view.hpp"
#include "control/port.hpp"
#include "model/plan.hpp"

namespace makeway::kube {

class PlanCarrier {
 public:
  PlanCarrier() = default;
  PlanCarrier(const PlanCarrier&) = delete;
  PlanCarrier& operator=(const PlanCarrier&) = delete;
  PlanCarrier(PlanCarrier&&) = delete;
  PlanCarrier& operator=(PlanCarrier&&) = delete;
  virtual ~PlanCarrier() = default;

  /// Returns at once; plans are carried out in the order in which they come, per object.
  virtual void carry_out(const Plan& plan) = 0;
  /// Those since the last call, in the order in which the answers came.
  virtual std::vector<Receipt> take_receipts() = 0;
  /// What the port hands to the loop, before it does: a plan that comes afterwards was decided on
  /// these versions of the objects.
  virtual void saw(const std::vector<Change>& /*changes*/,
                   std::vector<ObjectState>&& /*objects_seen*/) {}
  /// The same of a plane: what is new of it, and whether it is seen now.
  virtual void saw_plane(const PlaneState& /*seen_object*/,
                         std::vector<ObjectState>&& /*objects_seen*/) {}
  /// What follows from what was seen without a plan: sessions whose pods are gone, or missing. Not
  /// while a kind cannot be watched.
  virtual void reconcile(Time /*now*/) {}
  /// Messages for users who look at these objects; a lost one does no harm.
  virtual void report_marks(const std::vector<MarkNotice>& /*notices*/) {}
  /// What is wrong with objects of our kinds in this cluster, as of now: a condition on each.
  virtual void report_findings(const OwnFindings& /*wrong*/) {}
  /// When the oldest plan was made that still has unanswered actions; none: there is no such plan.
  virtual std::optional<Time> sending_since() const { return std::nullopt; }
  /// Actions that wait to be sent. Beyond `unsent_max` the loop decides nothing.
  virtual std::size_t unsent() const = 0;
  static constexpr std::size_t unsent_max = 1'000;
  /// With this many unsent actions, cycles are spaced out, since a new plan could not be sent
  /// sooner.
  static constexpr std::size_t unsent_many = 48;
  /// Pods that wait for the places that they were nominated to.
  virtual std::size_t awaiting() const { return 0; }
};

}  // namespace makeway::kube
