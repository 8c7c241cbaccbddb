// Actuator: carries out plans on a live cluster, on a thread and a connection of its own.
//
// What is written, in which order and what an answer means is decided without it (write_jobs.hpp,
// write_queue.hpp); this is the thread that sends and listens. It sends nothing
// while the gate is closed (write_gate.hpp): what is not sent by then is refused, and the loop
// decides again when it may. A stop drops what is not sent and waits a moment for answers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "control/brakes.hpp"
#include "kube/connection.hpp"
#include "kube/plan_carrier.hpp"
#include "kube/session_keeper.hpp"
#include "kube/version_cache.hpp"
#include "kube/write_gate.hpp"
#include "kube/write_queue.hpp"

namespace makeway::kube {

struct ActuatorSettings {
  WriteOptions options;
  QueueLimits limits;
  BudgetMode budgets = BudgetMode::best_effort;
  std::optional<BrakeSettings> brakes;  ///< None: nothing but the laws limits evictions.
  SessionRules sessions;
  std::size_t sent_at_once = 48;
  Duration stop_max{5'000};  ///< So long a stop waits for answers.
};

struct ActuatorTools {
  std::function<Time()> server_now;  ///< From any thread.
  std::function<void()> wake;        ///< Wakes the port, which waits for receipts; from any thread.
};

class PlaneSender;
class WriteRequests;
using PlaneConnections = std::map<std::string, std::unique_ptr<Connection>>;  ///< By plane.

class Actuator final : public PlanCarrier {
 public:
  /// The connections belong to its threads from now on; the gate outlives it.
  Actuator(std::unique_ptr<Connection> connection, ActuatorSettings settings, const WriteGate& gate,
           ActuatorTools tools, PlaneConnections planes = {});
  ~Actuator() override;

  void carry_out(const Plan& plan) override;
  std::vector<Receipt> take_receipts() override;
  void saw(const std::vector<Change>& changes, std::vector<ObjectState>&& objects_seen) override;
  void saw_plane(const PlaneState& seen_object, std::vector<ObjectState>&& objects_seen) override;
  void reconcile(Time now) override;
  void report_marks(const std::vector<MarkNotice>& notices) override;
  void report_findings(const OwnFindings& wrong) override;
  std::optional<Time> sending_since() const override;
  std::size_t unsent() const override;
  std::size_t awaiting() const override { return cache_.awaiting(); }

  QueueStatistics statistics() const;
  /// Asks that would have made pods leave again too soon (brakes.hpp); from any thread.
  std::uint64_t brake_alarms() const { return brake_alarms_.load(); }
  /// Whether nothing is to be sent or answered any more, within that time.
  bool await_idle(Duration at_most);

 private:
  struct Order {
    std::string plan;
    Time plan_now;
    PlanJobs jobs;
  };

  void order(Order order);
  EvictionRequest request_of(const PlanAsk& ask,
                             const std::vector<const PlanAction*>& victims) const;
  EvictionRequest schedule_request_of(EvictionRequest request,
                                      const std::vector<const PlanAction*>& steps) const;
  BrakeAnswer brake(EvictionRequest request, const Plan& plan);

  void run();
  void take_orders();
  void take_plane_answers();
  void obey_gate();
  void send_what_is_due();
  void start(const Sending& sending);
  void publish();

  std::unique_ptr<Connection> connection_;
  const ActuatorSettings settings_;
  const WriteGate& gate_;
  const ActuatorTools tools_;

  // Of the thread.
  WriteQueue queue_;
  std::unique_ptr<WriteRequests> requests_;  ///< Of home.
  std::set<std::uint64_t> away_;             ///< Jobs that a plane's sender has.

  // Of the thread that calls.
  VersionCache cache_;
  PlaneCaches planes_;
  std::uint64_t heard_ = 0;  ///< See PlanJobs.
  OwnFindings wrong_;        ///< As it was stated last.
  bool is_stated_ = true;    ///< Every condition of our kinds says so.
  LostCapacity lost_;
  SessionKeeper sessions_;
  std::optional<EvictionBrakes> brakes_;  ///< Set once the cluster was read.
  std::atomic<std::uint64_t> brake_alarms_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable idle_changed_;
  std::vector<Order> orders_;
  std::vector<Receipt> receipts_;
  std::uint64_t statuses_refused_ = 0;  ///< Up to these receipts.
  std::optional<Time> sending_since_;
  std::size_t unsent_ = 0;
  std::uint64_t answers_ = 0;
  QueueStatistics statistics_;
  bool is_idle_ = true;
  std::vector<std::pair<std::uint64_t, ApiResult<HttpAnswer>>> plane_answers_;
  std::set<std::string> blind_planes_;
  std::atomic<bool> stops_ = false;
  std::map<std::string, std::unique_ptr<PlaneSender>> senders_;  ///< They use the others.
  std::thread thread_;                                           ///< Last: it uses the others.
};

}  // namespace makeway::kube
