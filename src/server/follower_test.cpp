// The follower: its cluster is the loop's, and the loop never waits.
#include "server/follower.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

#include "base/check.hpp"
#include "base/prng.hpp"
#include "codec/dump.hpp"

namespace makeway::server {
namespace {

/// Fast enough for a test; `turned` does nothing.
Follower quick_follower(std::size_t changes_max = 1'000) {
  return {
      {}, [](Board&) {}, {.turn = Duration{1}, .changes_max = changes_max, .turns_until_base = 2}};
}

template <class Answer>
auto asked(Follower& follower, Answer answer) {
  std::promise<decltype(answer(std::declval<Board&>()))> promise;
  EXPECT_TRUE(follower.ask([&](Board& board) { promise.set_value(answer(board)); }));
  return promise.get_future().get();
}

std::string cluster_text(Follower& follower) {
  return asked(follower, [](Board& board) { return dump(board.cluster(), DumpFormat::json); });
}

Pod followed_pod(std::uint64_t number, std::uint64_t node) {
  Pod pod;
  pod.namespace_name = "shop";
  pod.name = "p" + std::to_string(number);
  pod.requests = {{"cpu", 100}};
  if (node > 0) pod.node = "n" + std::to_string(node);
  return pod;
}

/// Sends the follower the events of a loop, and keeps the loop's cluster.
class TestLoop {
 public:
  explicit TestLoop(Follower& follower) : follower_(follower) {
    follower_.start({.configuration = configuration_, .preset = "makeway"});
  }
  void show(const std::vector<Change>& changes) {
    for (const Change& change : changes) cluster_.apply(change);
    now_ = now_ + Duration{1};
    follower_.batch({.now = now_, .changes = changes, .effects = {}, .receipts = {}}, cluster_);
  }
  /// A few changes of some of fifty pods.
  void show_any(Prng& random) {
    std::vector<Change> changes;
    for (std::uint64_t count = 1 + random.below(5); count > 0; --count) {
      const std::uint64_t number = random.below(50);
      if (random.below(4) == 0) {
        changes.emplace_back(Removal{.kind = ObjectKind::pod,
                                     .namespace_name = "shop",
                                     .name = "p" + std::to_string(number)});
      } else {
        changes.emplace_back(followed_pod(number, random.below(4)));
      }
    }
    show(changes);
  }
  std::string text() const { return dump(cluster_, DumpFormat::json); }

 private:
  Follower& follower_;
  Configuration configuration_;
  Cluster cluster_;
  Time now_{1'000};
};

TEST(Follower, ItsClusterIsTheLoops) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Follower follower = quick_follower(1'000'000);
    TestLoop loop(follower);
    Prng random(seed);
    for (int batch = 0; batch < 200; ++batch) {
      loop.show_any(random);
      if (batch % 50 == 0) {
        EXPECT_EQ(cluster_text(follower), loop.text());
      }
    }
    EXPECT_EQ(cluster_text(follower), loop.text());
    EXPECT_EQ(follower.overflows(), 0U);
  }
}

/// While the follower's thread is held, the loop sends more than the mailbox takes.
TEST(Follower, AFollowerThatFellBehindReportsItAndStartsAnew) {
  Follower follower = quick_follower(20);
  TestLoop loop(follower);
  Prng random(1);
  std::promise<void> held;
  std::promise<void> go_on;
  EXPECT_TRUE(follower.ask([&](Board&) {
    held.set_value();
    go_on.get_future().wait();
  }));
  held.get_future().wait();
  for (int batch = 0; batch < 100; ++batch) loop.show_any(random);
  EXPECT_EQ(follower.overflows(), 1U);
  go_on.set_value();
  EXPECT_TRUE(
      asked(follower, [](Board& board) { return board.state().contains("\"behind\":true"); }));
  // The next batches are small; one of them brings everything.
  std::string text;
  for (int batch = 0; batch < 5'000 && text != loop.text(); ++batch) {
    loop.show({});
    text = cluster_text(follower);
  }
  EXPECT_EQ(text, loop.text());
  EXPECT_FALSE(
      asked(follower, [](Board& board) { return board.state().contains("\"behind\":true"); }));
}

/// The rules are sent once: an overflow after them must not drop them.
TEST(Follower, TheRulesOutliveAnOverflow) {
  Follower follower({}, [](Board&) {}, {.turn = Duration{60'000}, .changes_max = 5});
  TestLoop loop(follower);
  std::vector<Change> first;
  first.reserve(100);
  for (std::uint64_t number = 0; number < 100; ++number) {
    first.emplace_back(followed_pod(number, 1));
  }
  loop.show(first);
  loop.show({followed_pod(1, 2)});
  EXPECT_EQ(follower.overflows(), 0U);  // The first batch does not count.
  loop.show({followed_pod(1, 2), followed_pod(2, 2), followed_pod(3, 2), followed_pod(4, 2)});
  EXPECT_EQ(follower.overflows(), 1U);
  EXPECT_EQ(asked(follower, [](Board& board) { return board.preset(); }), "makeway");
  EXPECT_TRUE(
      asked(follower, [](Board& board) { return board.state().contains("\"behind\":true"); }));
}

TEST(Follower, ABugInAQuestionCostsThatQuestion) {
  Notices notices;
  Follower follower({}, [](Board&) { CHECK(false); }, {.turn = Duration{1}},
                    {.contains_bugs = true, .notices = &notices});
  TestLoop loop(follower);
  EXPECT_TRUE(follower.ask([](Board&) { throw std::runtime_error("no"); }));
  EXPECT_TRUE(follower.ask([](Board&) { CHECK(false); }));
  loop.show({followed_pod(1, 1)});
  EXPECT_EQ(cluster_text(follower), loop.text());
  std::vector<std::string> reported;
  for (const Notice& each : notices.take()) reported.push_back(each.kind + ": " + each.text);
  EXPECT_NE(std::ranges::find(reported, "a question to the board: no"), reported.end());
}

/// No column takes such a name: what the board has of the cluster is thrown away, and comes anew.
TEST(Follower, ABugInWhatIsTakenIsMendedByEverythingAnew) {
  Follower follower({}, [](Board&) {}, {.turn = Duration{1}, .turns_until_base = 2},
                    {.contains_bugs = true});
  TestLoop loop(follower);
  loop.show({followed_pod(1, 1)});
  Pod endless = followed_pod(2, 1);
  endless.name = std::string(std::size_t{1} << 24U, 'a');
  const std::vector<Change> changes = {endless};
  follower.batch({.now = Time{1'000}, .changes = changes, .effects = {}, .receipts = {}}, {});
  EXPECT_TRUE(asked(follower, [](Board& board) {
    return !board.has_begun() && board.state().contains("\"behind\":true");
  }));
  std::string text;
  for (int batch = 0; batch < 5'000 && text != loop.text(); ++batch) {
    loop.show({});
    text = cluster_text(follower);
  }
  EXPECT_EQ(text, loop.text());
  EXPECT_EQ(asked(follower, [](Board& board) { return board.preset(); }), "makeway");
}

TEST(Follower, NoQuestionIsAnsweredAfterTheEndIsWanted) {
  // So many that only the end makes it refuse one.
  Follower follower{
      {}, [](Board&) {}, {.turn = Duration{1}, .questions_max = std::size_t{1} << 40U}};
  std::promise<void> held;
  std::promise<void> go_on;
  std::atomic<bool> is_answered = false;
  EXPECT_TRUE(follower.ask([&](Board&) {
    held.set_value();
    go_on.get_future().wait();
  }));
  held.get_future().wait();
  EXPECT_TRUE(follower.ask([&](Board&) { is_answered = true; }));
  std::thread ends([&] { follower.stop(); });
  while (follower.ask([&](Board&) { is_answered = true; })) std::this_thread::yield();
  go_on.set_value();
  ends.join();
  EXPECT_FALSE(is_answered);
}

TEST(Follower, ANewLoopReplacesWhatWasSeen) {
  Follower follower = quick_follower();
  {
    TestLoop loop(follower);
    loop.show({followed_pod(1, 1)});
  }
  TestLoop loop(follower);
  loop.show({followed_pod(2, 1)});
  EXPECT_EQ(cluster_text(follower), loop.text());
}

TEST(Follower, QuestionsAfterTheEndAreRefused) {
  Follower follower = quick_follower();
  follower.stop();
  EXPECT_FALSE(follower.ask([](Board&) {}));
}

}  // namespace
}  // namespace makeway::server
