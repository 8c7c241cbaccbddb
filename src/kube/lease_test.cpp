#include "kube/lease.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kube/clocks.hpp"
#include "support/live_server.hpp"

namespace makeway::kube {
namespace {

constexpr Time lease_now{1'767'225'600'250};

std::string lease_text(std::string_view holder, int version, std::string_view annotations = {}) {
  return fmt::format(
      R"({{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{{"name":"makeway",)"
      R"("namespace":"kube-system","uid":"L","resourceVersion":"{}"{}}},"spec":)"
      R"({{"holderIdentity":"{}","leaseDurationSeconds":15,"leaseTransitions":3}}}})",
      version, annotations, holder);
}

class LeaseMachineTest : public testing::Test {
 protected:
  std::string next() {
    call = machine.next(now, lease_now);
    return call.write ? call.write->method : "GET";
  }
  void reply(int status, std::string_view body = "{}") {
    machine.answered(call, HttpAnswer{.status = status, .body = padded_text(body)}, now, now);
  }
  void no_answer() {
    machine.answered(call, std::unexpected(ApiError{.failure = Failure::timeout}), now, now);
  }
  void lead() {
    next();
    reply(404);
    next();
    reply(201, lease_text("me", 1));
  }

  LeaseMachine machine{{.identity = "me"}, {}};
  LeaseMachine::Call call;
  Time now{100'000};
};

TEST_F(LeaseMachineTest, IsMadeWhereThereIsNone) {
  EXPECT_EQ(next(), "GET");
  EXPECT_EQ(call.path, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/makeway");
  reply(404);
  EXPECT_EQ(machine.due(), now);
  EXPECT_EQ(next(), "POST");
  EXPECT_EQ(call.write->body,
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":)"
            R"({"name":"makeway","namespace":"kube-system"},"spec":{"holderIdentity":"me",)"
            R"("leaseDurationSeconds":15,"renewTime":"2026-01-01T00:00:00.250000Z",)"
            R"("acquireTime":"2026-01-01T00:00:00.250000Z"}})");
  EXPECT_FALSE(machine.leads(now));
  reply(201, lease_text("me", 1));
  EXPECT_TRUE(machine.leads(now));
  EXPECT_EQ(machine.fence(), now + Duration{8'000});
  EXPECT_EQ(machine.due(), now + Duration{2'000});
}

TEST_F(LeaseMachineTest, IsRenewedWithTheVersionOfTheLastAnswer) {
  lead();
  now = now + Duration{2'000};
  EXPECT_EQ(next(), "PUT");
  EXPECT_NE(call.write->body.find(R"("resourceVersion":"1")"), std::string::npos);
  reply(200, lease_text("me", 2));
  EXPECT_EQ(machine.fence(), now + Duration{8'000});
  EXPECT_FALSE(machine.was_lost(now));
}

TEST_F(LeaseMachineTest, WaitsForTheHolder) {
  next();
  reply(200, lease_text("other", 1));
  EXPECT_EQ(machine.holder(), "other");
  EXPECT_EQ(next(), "GET");
  now = now + Duration{14'000};
  next();
  reply(200, lease_text("other", 2));  // Renewed: the time begins anew.
  now = now + Duration{14'999};
  EXPECT_EQ(next(), "GET");
  reply(200, lease_text("other", 2));
  now = now + Duration{1};
  EXPECT_EQ(next(), "PUT");
  EXPECT_NE(call.write->body.find(R"("leaseTransitions":4)"), std::string::npos);
  reply(409);
  EXPECT_FALSE(machine.leads(now));
  EXPECT_EQ(next(), "GET");
}

TEST_F(LeaseMachineTest, AReleasedLeaseIsTakenAtOnce) {
  next();
  reply(200, lease_text("", 1));
  EXPECT_EQ(machine.due(), now);
  EXPECT_EQ(next(), "PUT");
}

TEST_F(LeaseMachineTest, TheFenceComesBeforeTheLoss) {
  lead();
  const Time renewed = now;
  now = now + Duration{2'000};
  next();
  no_answer();
  EXPECT_EQ(machine.fence(), renewed + Duration{8'000});
  EXPECT_EQ(next(), "GET");
  now = renewed + Duration{9'999};
  EXPECT_TRUE(machine.leads(now));
  now = renewed + Duration{10'000};
  EXPECT_TRUE(machine.was_lost(now));
}

TEST_F(LeaseMachineTest, AnotherHolderClosesTheFenceAtOnce) {
  lead();
  next();
  reply(409);
  next();
  reply(200, lease_text("other", 9));
  EXPECT_FALSE(machine.fence().has_value());
  EXPECT_TRUE(machine.was_lost(now));
}

TEST_F(LeaseMachineTest, PauseIsReadAndKept) {
  lead();
  EXPECT_EQ(machine.pause(), WritePause::none);
  next();
  reply(409);
  next();
  reply(200, lease_text("me", 5, R"(,"annotations":{"makeway.dev/pause":"evictions"})"));
  EXPECT_EQ(machine.pause(), WritePause::evictions);
  EXPECT_EQ(next(), "PUT");
  EXPECT_NE(call.write->body.find(R"("makeway.dev/pause":"evictions")"), std::string::npos);
  reply(200, lease_text("me", 6, R"(,"annotations":{"makeway.dev/pause":"everything!"})"));
  EXPECT_EQ(machine.pause(), WritePause::all);
}

TEST_F(LeaseMachineTest, IsReleased) {
  EXPECT_FALSE(machine.release(lease_now).has_value());
  lead();
  const auto given = machine.release(lease_now);
  ASSERT_TRUE(given.has_value());
  EXPECT_NE(given->write->body.find(R"("holderIdentity":"","leaseDurationSeconds":1)"),
            std::string::npos);
}

// ---- With a server ------------------------------------------------------------------------------

class KeeperTest : public testing::Test {
 protected:
  KeeperTest() { live.server.allow_writes(); }

  std::unique_ptr<LeaseKeeper> keeper(std::string identity, WriteGate& gate) {
    return std::make_unique<LeaseKeeper>(
        live.connect(), LeaseName{.identity = std::move(identity)}, times, gate,
        [] { return SystemClock().now(); }, [] {});
  }

  LiveServer live;
  LeaseTimes times{Duration{9'000}};  // A machine may stall for seconds.
};

TEST_F(KeeperTest, OneLeadsAndHandsOver) {
  WriteGate one_gate;
  WriteGate two_gate;
  auto one = keeper("one", one_gate);
  ASSERT_TRUE(one->await_lead(Duration{30'000}));
  EXPECT_TRUE(one_gate.is_open(monotonic_now()));
  auto two = keeper("two", two_gate);
  EXPECT_FALSE(two->await_lead(Duration{300}));
  EXPECT_FALSE(two_gate.is_open(monotonic_now()));
  one.reset();
  EXPECT_FALSE(one_gate.is_open(monotonic_now()));
  EXPECT_TRUE(two->await_lead(Duration{30'000}));
}

}  // namespace
}  // namespace makeway::kube
