// The loop's port over the watches of a fake API server.
#include "kube/live_port.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

#include "support/live_server.hpp"

namespace makeway::kube {
namespace {

std::string node_json(std::string_view name) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}"}},"status":{{"allocatable":)"
      R"({{"cpu":"4","memory":"8Gi","pods":"110"}}}}}})",
      name);
}

/// Remembers plans; receipts are put in by the test.
class HeldCarrier final : public PlanCarrier {
 public:
  void carry_out(const Plan& plan) override { plans.push_back(plan.id); }
  std::vector<Receipt> take_receipts() override {
    const std::scoped_lock lock(mutex_);
    return std::exchange(receipts_, {});
  }
  std::size_t unsent() const override { return unsent_; }
  std::size_t awaiting() const override { return awaiting_; }

  void refuse(Receipt receipt) {
    const std::scoped_lock lock(mutex_);
    receipts_.push_back(std::move(receipt));
  }
  void set_unsent(std::size_t count) { unsent_ = count; }
  void set_awaiting(std::size_t count) { awaiting_ = count; }

  std::vector<std::string> plans;

 private:
  std::mutex mutex_;
  std::vector<Receipt> receipts_;
  std::atomic<std::size_t> unsent_ = 0;
  std::atomic<std::size_t> awaiting_ = 0;
};

class LivePortTest : public testing::Test {
 protected:
  LivePortTest() {
    limits.pause.first = Duration{5};
    limits.pause.max = Duration{20};
  }

  void start(PlanCarrier* carrier = nullptr) {
    auto connection = live.connect();
    const auto served = connection->api().discover();
    ASSERT_TRUE(served.has_value());
    watches =
        static_cast<std::size_t>(std::ranges::count_if(*served, [](const ServedResource& each) {
          return is_watched(*each.resource, FeedUse::to_look);
        }));
    feed = std::make_unique<LiveFeed>(std::move(connection), *served, 7, limits);
    port = std::make_unique<LivePort>(*feed, carrier);
  }
  /// Polls until a batch is as wanted, or for a minute.
  Batch poll_until(const std::function<bool(const Batch&)>& is_wanted) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < deadline) {
      Batch batch = port->poll(port->now() + Duration{50});
      EXPECT_GE(batch.now, now);
      now = batch.now;
      if (is_wanted(batch)) return batch;
    }
    ADD_FAILURE() << "it never came";
    return {};
  }
  Batch first_seen() {
    return poll_until([](const Batch& batch) {
      EXPECT_TRUE(!batch.blind || batch.changes.empty()) << "half a cluster";
      return !batch.blind;
    });
  }

  LiveServer live;
  WatchLimits limits;
  std::size_t watches = 0;
  Time now;
  std::unique_ptr<LiveFeed> feed;
  std::unique_ptr<LivePort> port;
};

TEST_F(LivePortTest, ShowsTheWholeClusterFirst) {
  live.limits.page_objects = 2;
  for (int at = 0; at < 9; ++at) live.server.put(node_json(fmt::format("n{}", at)));
  start();
  const Batch first = first_seen();
  const auto nodes = std::ranges::count_if(
      first.changes, [](const Change& change) { return std::holds_alternative<Node>(change); });
  EXPECT_EQ(nodes, 9);
  live.server.put(node_json("late"));
  const Batch next = poll_until([](const Batch& batch) { return !batch.changes.empty(); });
  EXPECT_FALSE(next.blind);
  EXPECT_EQ(next.changes.size(), 1U);
}

/// SPEC section 8: the server's time, from its Date.
TEST_F(LivePortTest, NowIsTheServersTime) {
  start();
  const Batch first = first_seen();
  const Time date = *parse_time("2026-11-17T05:00:00Z");  // What the fake server always says.
  EXPECT_GE(first.now, date);
  EXPECT_LT(first.now, date + Duration{60'000});
}

TEST_F(LivePortTest, IsBlindWhileAKindIsNotSeen) {
  live.server.put(node_json("n1"));
  start();
  first_seen();
  ASSERT_TRUE(live.server.await_watches(watches));
  live.server.forbid("pods");
  live.server.end_watches();
  live.server.compact();
  const auto is_reported = [](const MissingWatch& each) {
    return each.resource == "pods" && each.error.failure == Failure::forbidden;
  };
  poll_until([&](const Batch& batch) {
    return batch.blind && std::ranges::any_of(feed->missing(), is_reported);
  });
}

TEST_F(LivePortTest, WatchesComeBack) {
  live.server.put(node_json("n1"));
  live.server.fail({.kind = ServerFault::Kind::cut, .path_prefix = "/api/v1/pods", .times = 8});
  start();
  first_seen();
  EXPECT_TRUE(feed->missing().empty());
  EXPECT_EQ(feed->statistics().kinds_seen, feed->statistics().kinds);
}

TEST_F(LivePortTest, PlansGoToTheCarrierAndReceiptsComeBack) {
  HeldCarrier carrier;
  start(&carrier);
  first_seen();
  port->submit({.id = "p1"});
  EXPECT_EQ(carrier.plans, std::vector<std::string>{"p1"});
  std::thread other([&] {
    carrier.refuse({.plan = "p1", .object = *parse_ref("Pod a/b"), .reason = "it is gone"});
    feed->mailbox().wake();
  });
  const Batch batch = poll_until([](const Batch& each) { return !each.receipts.empty(); });
  other.join();
  EXPECT_EQ(ref_text(batch.receipts.front().object), "Pod a/b");
  carrier.set_unsent(PlanCarrier::unsent_max + 1);
  EXPECT_TRUE(port->poll(port->now()).blind);
  carrier.set_unsent(0);
  EXPECT_FALSE(port->poll(port->now()).blind);
}

TEST_F(LivePortTest, BatchesAreApartWhileMuchIsUnsent) {
  HeldCarrier carrier;
  start(&carrier);
  first_seen();
  const auto polled_in = [&] {
    const Time before = monotonic_now();
    port->poll(port->now());
    live.server.put(node_json("n1"));
    port->poll(port->now());
    return monotonic_now() - before;
  };
  carrier.set_unsent(PlanCarrier::unsent_many);
  EXPECT_GE(polled_in().ms, LivePort::together.ms - 2);
  carrier.set_unsent(PlanCarrier::unsent_many - 1);
  Duration fastest = LivePort::together;
  for (int times = 0; times < 20; ++times) fastest = std::min(fastest, polled_in());
  EXPECT_LT(fastest.ms, LivePort::together.ms / 2);
}

TEST_F(LivePortTest, BatchesAreApartWhileManyWaitForTheirPlaces) {
  HeldCarrier carrier;
  start(&carrier);
  first_seen();
  const auto polled_in = [&] {
    const Time before = monotonic_now();
    port->poll(port->now());
    port->poll(port->now());
    return monotonic_now() - before;
  };
  carrier.set_awaiting(80);
  EXPECT_GE(polled_in().ms, 80 / 4 - 2);
  carrier.set_awaiting(10'000);
  EXPECT_GE(polled_in().ms, LivePort::gone_together.ms - 2);
  // A single waiting victim causes no delay; on a busy machine only the fastest poll shows it.
  carrier.set_awaiting(1);
  Duration fastest = LivePort::gone_together;
  for (int times = 0; times < 20; ++times) fastest = std::min(fastest, polled_in());
  EXPECT_LT(fastest.ms, LivePort::gone_together.ms / 2);
}

TEST_F(LivePortTest, AWakeEndsAPoll) {
  start();
  first_seen();
  feed->mailbox().take();
  std::thread other([&] { feed->mailbox().wake(); });
  // Not the deadline: that is an hour away.
  const Batch batch = port->poll(port->now() + Duration{3'600'000});
  other.join();
  EXPECT_FALSE(batch.ended);
}

TEST(ServerTime, IsTheLatestThatAnyHeaderSays) {
  ServerTime time;
  EXPECT_EQ(time.at(Time{0}), std::nullopt);
  time.note(Time{10'000}, Time{500});
  EXPECT_EQ(time.at(Time{700}), Time{10'200});
  time.note(Time{11'000}, Time{700});  // The Date was cut to seconds before.
  EXPECT_EQ(time.at(Time{700}), Time{11'000});
  time.note(Time{11'000}, Time{1'600});
  EXPECT_EQ(time.at(Time{1'700}), Time{12'000});
}

TEST(ServerTime, FollowsAClockThatIsSetBack) {
  ServerTime time;
  time.note(Time{100'000}, Time{0});
  time.note(Time{50'000}, Time{1'000});
  EXPECT_EQ(time.at(Time{2'000}), Time{51'000});
}

}  // namespace
}  // namespace makeway::kube
