// The Lease by which one of several processes leads (SPEC section 8, "Leader").
//
// As client-go does it: the holder renews with the version of the last answer; a process that does
// not hold it watches it, and takes it when it was not renewed for as long as it says, by our clock
// since we saw it change. Times in it are never compared with ours.
//
// All times follow from one knob, as 15 : 10 : 8 : 5 : 2 parts of it: how long it lasts, how long
// we try to renew before we give up, how long after sending the last good renewal we write (the
// fence), how long a write may take on the server, and how often we renew.
// Annotations of others on it stay; `makeway.dev/pause` is read with every answer.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "codec/json_value.hpp"
#include "kube/connection.hpp"
#include "kube/write_gate.hpp"

namespace makeway::kube {

struct LeaseTimes {
  Duration lease{15'000};

  Duration part(std::int64_t fifteenths) const { return {lease.ms * fifteenths / 15}; }
  Duration renewal_max() const { return part(10); }
  Duration fence() const { return part(8); }
  Duration write_timeout() const { return part(5); }
  Duration renews_every() const { return part(2); }
};

struct LeaseName {
  std::string namespace_name = "kube-system";
  std::string name = "makeway";
  std::string identity;  ///< Of this process: "host_1234".
};

/// Which process leads, by the server's answers. No thread, no clock.
class LeaseMachine {
 public:
  LeaseMachine(LeaseName name, LeaseTimes times) : name_(std::move(name)), times_(times) {}

  struct Call {
    std::string path;
    std::optional<HttpWrite> write;  ///< None: it is read.
  };
  /// What to ask now; `server_now` is written into it.
  Call next(Time now, Time server_now) const;
  /// The answer to what `next` gave at `sent`.
  void answered(const Call& call, const ApiResult<HttpAnswer>& result, Time sent, Time now);
  /// When `next` is due.
  Time due() const { return due_; }
  /// Releases it, if this process holds it.
  std::optional<Call> release(Time server_now) const;

  bool leads(Time now) const;
  /// We led and do not any more: a restarted process lists first.
  bool was_lost(Time now) const { return led_ && !leads(now); }
  /// Until when something may be written.
  std::optional<Time> fence() const;
  WritePause pause() const { return pause_; }
  std::string holder() const;  ///< Empty: none, or not known.

 private:
  bool is_ours() const;
  bool is_taken(Time now) const;
  std::string path() const;
  std::string body(Time server_now, bool releases) const;
  void take(JsonValue lease, Time now);

  LeaseName name_;
  LeaseTimes times_;
  std::optional<JsonValue> lease_;  ///< As last answered.
  bool is_missing_ = false;         ///< It is not there: it may be made.
  bool is_stale_ = true;            ///< It must be read before it is written.
  Time observed_;                   ///< When it was last seen to change.
  std::optional<Time> renewed_;     ///< When the last good renewal was sent.
  bool led_ = false;
  Time due_;
  WritePause pause_ = WritePause::none;
};

/// Keeps the lease on a thread and a connection of its own, and opens the gate by it.
class LeaseKeeper {
 public:
  LeaseKeeper(std::unique_ptr<Connection> connection, LeaseName name, LeaseTimes times,
              WriteGate& gate, std::function<Time()> server_now, std::function<void()> on_loss);
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;
  /// Releases it; all writers must have stopped.
  ~LeaseKeeper();

  /// Whether we lead, within that time.
  bool await_lead(Duration at_most);
  bool was_lost() const { return lost_.load(); }
  std::string holder() const;
  /// Why the last call came to nothing, for people; empty: it did not.
  std::string trouble() const;

 private:
  void run();
  ApiResult<HttpAnswer> send(const LeaseMachine::Call& call);

  std::unique_ptr<Connection> connection_;
  LeaseMachine machine_;
  const LeaseTimes times_;
  WriteGate& gate_;
  const std::function<Time()> server_now_;
  const std::function<void()> on_loss_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool leads_ = false;
  bool stops_ = false;
  std::string holder_;
  std::string trouble_;
  std::atomic<bool> lost_ = false;
  std::thread thread_;  ///< Last: it uses the others.
};

}  // namespace makeway::kube
