#include "kube/live_feed.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "codec/dump.hpp"
#include "codec/load.hpp"
#include "kube/resources.hpp"
#include "support/live_server.hpp"
#include "support/silent_listener.hpp"

namespace makeway::kube {
namespace {

using FaultKind = ServerFault::Kind;

std::string pod_text(std::string_view name, std::string_view uid, std::string_view node,
                     std::string_view phase) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"a","uid":"{}"}},)"
      R"("spec":{{"nodeName":"{}","containers":[{{"name":"c","resources":{{"requests":)"
      R"({{"cpu":"100m"}}}}}}]}},"status":{{"phase":"{}"}}}})",
      name, uid, node, phase);
}

std::string node_text(std::string_view name, int cpus) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}"}},"status":{{"allocatable":)"
      R"({{"cpu":"{}","memory":"8Gi","pods":"110"}}}}}})",
      name, cpus);
}

/// A cluster that is fed, beside the server that feeds it.
class Fed {
 public:
  Fed() {
    live_.limits.page_objects = 5;
    limits_.pause.first = Duration{5};
    limits_.pause.max = Duration{20};
  }
  LiveServer& live() { return live_; }
  FakeApiserver& server() { return live_.server; }
  WatchLimits& limits() { return limits_; }

  void start() {
    auto connection = live_.connect();
    const auto served = connection->api().discover();
    ASSERT_TRUE(served.has_value());
    watches_ =
        static_cast<std::size_t>(std::ranges::count_if(*served, [](const ServedResource& each) {
          return is_watched(*each.resource, FeedUse::to_look);
        }));
    feed_ = std::make_unique<LiveFeed>(std::move(connection), *served, 7, limits_);
  }
  std::size_t watches() const { return watches_; }
  LiveFeed& feed() { return *feed_; }
  const Cluster& cluster() const { return cluster_; }

  /// Whether the store becomes what a fresh list shows, within a minute.
  bool becomes_current() {
    const LoadResult fresh = load_text(live_.server.dump(), "fresh");
    if (!fresh.loaded) return false;
    const std::string wanted = dump(fresh.loaded->cluster, DumpFormat::json);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    do {
      for (const Change& change : feed_->mailbox().take()) cluster_.apply(change);
      if (dump(cluster_, DumpFormat::json) == wanted) return true;
      feed_->mailbox().wait(Duration{50});
    } while (std::chrono::steady_clock::now() < deadline);
    return false;
  }

 private:
  LiveServer live_;
  WatchLimits limits_;
  std::size_t watches_ = 0;
  Cluster cluster_;
  std::unique_ptr<LiveFeed> feed_;  ///< Last: it stops first.
};

TEST(LiveFeed, ListsThenWatches) {
  Fed fed;
  fed.server().put(node_text("n1", 4));
  for (int at = 0; at < 12; ++at) {
    fed.server().put(pod_text(fmt::format("p{}", at), "u", "n1", "Running"));
  }
  fed.start();
  EXPECT_TRUE(fed.becomes_current());
  EXPECT_TRUE(fed.server().await_watches(fed.watches()));
  fed.server().put(pod_text("late", "u", "n1", "Running"));
  fed.server().remove("Pod", "a", "p3");
  fed.server().put(pod_text("p4", "u", "n1", "Succeeded"));
  EXPECT_TRUE(fed.becomes_current());
  EXPECT_EQ(fed.cluster().find_pod("a", "p4"), std::nullopt);
  EXPECT_EQ(fed.feed().statistics().failures, 0U);
}

/// Issue 22: apiserver restart, compaction, cuts and lies; the store equals a fresh list
/// afterwards.
TEST(LiveFeed, EqualsAFreshListWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(fmt::format("seed={}", seed));
    Prng prng(seed);
    Fed fed;
    fed.server().put(node_text("n1", 64));
    fed.start();
    for (int round = 0; round < 12; ++round) {
      for (int change = 0; change < 20; ++change) {
        const std::string name = fmt::format("p{}", prng.below(15));
        if (prng.chance(30)) {
          fed.server().remove("Pod", "a", name);
        } else {
          fed.server().put(pod_text(name, fmt::format("u{}", prng.below(3)), "n1",
                                    prng.chance(10) ? "Failed" : "Running"));
        }
      }
      switch (prng.below(6)) {
        case 0: fed.server().compact(); break;
        case 1: fed.server().end_watches(); break;
        case 2:
          fed.server().compact();
          fed.server().end_watches();
          break;
        case 3:
          fed.server().fail({.kind = FaultKind::cut, .path_prefix = "/api/v1/pods", .times = 2});
          fed.server().end_watches();
          break;
        case 4:
          fed.server().fail(
              {.kind = FaultKind::broken_json, .path_prefix = "/api/v1/pods", .times = 1});
          fed.server().end_watches();
          break;
        default: fed.server().bookmark(); break;
      }
      if (!prng.chance(50)) continue;
      EXPECT_TRUE(fed.becomes_current()) << "round " << round;
    }
    EXPECT_TRUE(fed.becomes_current());
  }
}

bool await_feed(const std::function<bool()>& done, Fed& fed) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    fed.feed().mailbox().wait_for_wake(Duration{5});
  }
  return true;
}

/// A feed that has listed everything, whose watches of one kind then break once.
class FeedState : public testing::Test {
 protected:
  /// More pods than a page has; everything else is less than a page.
  FeedState() {
    fed.server().put(node_text("n1", 64));
    for (int at = 0; at < 12; ++at) {
      fed.server().put(pod_text(fmt::format("p{}", at), "u", "n1", "Running"));
    }
  }

  /// Puts the object first. Returns how many requests there were before.
  std::size_t break_watches_of(const std::string& path, const std::string& object = {}) {
    fed.start();
    EXPECT_TRUE(fed.becomes_current());
    EXPECT_TRUE(fed.server().await_watches(fed.watches()));
    EXPECT_TRUE(await_feed([&] { return fed.feed().sees_all(); }, fed));
    if (!object.empty()) fed.server().put(object);
    const std::size_t before = fed.server().requests().size();
    // No cut: curl sends again what was cut off on a connection that it had used before.
    fed.server().fail({.kind = FaultKind::status, .path_prefix = path, .times = 1});
    fed.server().end_watches();
    EXPECT_TRUE(await_feed([&] { return fed.feed().statistics().failures > 0; }, fed));
    return before;
  }
  /// Of requests after the first `from`.
  std::size_t count(std::size_t from, std::string_view begin, std::string_view part) {
    const std::vector<std::string> all = fed.server().requests();
    return static_cast<std::size_t>(std::count_if(
        all.begin() + static_cast<std::ptrdiff_t>(from), all.end(),
        [&](const std::string& line) { return line.starts_with(begin) && line.contains(part); }));
  }

  Fed fed;
};

/// What fits on a page is listed: that proves it at once.
TEST_F(FeedState, ComesBackWithAList) {
  // Pods do not fit on a page, and want a bookmark.
  const std::size_t before = break_watches_of("/api/v1/namespaces", node_text("n2", 4));
  EXPECT_TRUE(await_feed([&] { return fed.feed().sees_all(); }, fed));
  EXPECT_TRUE(fed.becomes_current());
  EXPECT_GE(count(before, "GET /api/v1/namespaces?limit=5", ""), 1U);
  EXPECT_TRUE(std::ranges::none_of(fed.server().requests(), [](const std::string& line) {
    return line.starts_with("GET /api/v1/namespaces?watch=1") && line.ends_with("Seconds=3");
  }));
}

/// What does not fit is not listed again: the bookmark of a short watch proves it.
TEST_F(FeedState, ComesBackWithABookmark) {
  // The node is a change.
  const std::size_t before = break_watches_of("/api/v1/pods", node_text("n2", 4));
  EXPECT_FALSE(fed.feed().sees_all());
  EXPECT_TRUE(await_feed([&] { return fed.feed().sees_all(); }, fed));
  EXPECT_TRUE(fed.becomes_current());
  EXPECT_EQ(count(before, "GET /api/v1/pods?limit=5", "continue="), 0U);
  EXPECT_GE(count(before, "GET /api/v1/pods?watch=1", "timeoutSeconds=3&"), 1U);
}

/// Nothing at all has happened since: the page is of the version that was seen last.
TEST_F(FeedState, ComesBackWithAnEqualVersion) {
  const std::size_t before = break_watches_of("/api/v1/pods");
  EXPECT_TRUE(await_feed([&] { return fed.feed().sees_all(); }, fed));
  EXPECT_EQ(count(before, "GET /api/v1/pods?limit=5", "continue="), 0U);
  EXPECT_EQ(count(before, "GET /api/v1/pods?watch=1", "timeoutSeconds=3&"), 0U);
}

/// What was missed ends with an event of the page's version.
TEST_F(FeedState, ComesBackWithTheLastEventThatWasMissed) {
  const std::size_t before = break_watches_of("/api/v1/pods");
  fed.server().put(pod_text("late", "u", "n1", "Running"));
  EXPECT_TRUE(await_feed([&] { return fed.feed().sees_all(); }, fed));
  EXPECT_TRUE(fed.becomes_current());
  EXPECT_EQ(count(before, "GET /api/v1/pods?limit=5", "continue="), 0U);
}

/// That the server accepted a watch, and that time has passed, prove nothing.
TEST_F(FeedState, ComesBackWithTheWholeListWhereNoBookmarkComes) {
  fed.limits().proofs_max = 1;
  // Not among those that are watched, and the last of its kind: no event, and no bookmark.
  const std::size_t before =
      break_watches_of("/api/v1/pods", pod_text("over", "u", "n1", "Failed"));
  EXPECT_TRUE(await_feed([&] { return fed.feed().sees_all(); }, fed));
  EXPECT_EQ(count(before, "GET /api/v1/pods?watch=1", "timeoutSeconds=3&"), 1U);
  EXPECT_EQ(count(before, "GET /api/v1/pods?limit=5", "continue="), 2U);
  EXPECT_TRUE(fed.becomes_current());
}

/// Found on a real server: without a read, some stores report nothing to it, so it reports none.
TEST_F(FeedState, AQuietServerIsAskedForOneObject) {
  fed.limits().read_after = Duration{20};
  fed.start();
  EXPECT_TRUE(fed.becomes_current());
  EXPECT_TRUE(await_feed([&] { return count(0, "GET /api/v1/nodes?limit=1", "") >= 2; }, fed));
  EXPECT_TRUE(await_feed(
      [&] { return count(0, "GET /api/v1/pods?limit=1&fieldSelector=", "") >= 2; }, fed));
  EXPECT_EQ(fed.feed().statistics().failures, 0U);
}

TEST(LiveFeed, AKindThatMayNotBeReadIsMissing) {
  Fed fed;
  fed.server().put(node_text("n1", 4));
  fed.server().forbid("poddisruptionbudgets");
  fed.start();
  EXPECT_TRUE(fed.server().await_watches(fed.watches() - 1));
  EXPECT_TRUE(fed.becomes_current());
  // Its thread may be slower than those of the other kinds.
  EXPECT_TRUE(await_feed([&] { return fed.feed().statistics().failures > 0; }, fed));
  EXPECT_FALSE(fed.feed().sees_all());
}

/// Bytes keep the connection alive, but no event comes of them.
TEST(LiveFeed, AWatchThatDripsIsCut) {
  Fed fed;
  fed.limits().silence_max = Duration{150};
  fed.server().put(node_text("n1", 4));
  fed.server().fail({.kind = FaultKind::drip,
                     .path_prefix = "/api/v1/nodes",
                     .times = 1'000'000,
                     .delay_ms = 10,
                     .only_watches = true});
  fed.start();
  const auto is_reported = [&] {
    return std::ranges::any_of(fed.feed().missing(), [](const MissingWatch& each) {
      return each.resource == "nodes" &&
             each.error.problem.message == "no event and no bookmark came for 150ms";
    });
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!is_reported() && std::chrono::steady_clock::now() < deadline) {
    fed.feed().mailbox().wait_for_wake(Duration{20});
  }
  EXPECT_TRUE(is_reported());
}

TEST(WatchLines, ComeInAnyPieces) {
  const std::string text =
      "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}}\n\n"
      "{\"type\":\"DELETED\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"}}}\n";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    WatchLines lines;
    std::string names;
    for (std::size_t at = 0; at < text.size(); at += size) {
      const auto verdict =
          lines.take(std::string_view(text).substr(at, size), [&](const WatchEvent& event) {
            names += event.name;
            return true;
          });
      EXPECT_EQ(verdict, WatchLines::Verdict::go_on);
    }
    EXPECT_EQ(names, "ab");
  }
}

TEST(WatchLines, AreBounded) {
  WatchLines lines(100);
  const auto take = [&](const std::string& text) {
    return lines.take(text, [](const WatchEvent&) { return true; });
  };
  EXPECT_EQ(take(std::string(60, 'x')), WatchLines::Verdict::go_on);
  EXPECT_EQ(take(std::string(60, 'x')), WatchLines::Verdict::stop);
  EXPECT_EQ(lines.problem()->message, "an event of a watch has more than 100 bytes");
  lines.clear();
  EXPECT_EQ(take("no event\n"), WatchLines::Verdict::stop);
}

/// A plane that does not answer when a run begins. Before, its groups were never watched: that they
/// are served was not known.
TEST(LiveFeed, AsksAServerWhatItServesUntilItAnswers) {
  LiveServer live;
  live.limits.attempts_max = 1;
  live.server.serve("apps/v1", "deployments", "Deployment");
  live.server.serve("autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler");
  live.server.serve("scheduling.k8s.io/v1beta1", "podgroups", "PodGroup");
  live.server.fail({.kind = FaultKind::status, .path_prefix = "/apis", .times = 3, .status = 503});
  WatchLimits limits;
  limits.pause.first = Duration{5};
  LiveFeed feed(live.connect(), plane_resources, 7, limits, FeedUse::to_schedule, "east");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!feed.sees_all() && std::chrono::steady_clock::now() < deadline) {
    feed.mailbox().wait_for_wake(Duration{50});
  }
  EXPECT_TRUE(feed.sees_all());
  EXPECT_EQ(feed.trouble(), WatchTrouble::none);
  const std::vector<std::string> requests = live.server.requests();
  EXPECT_TRUE(std::ranges::any_of(requests, [](const std::string& line) {
    return line.starts_with("GET /apis/scheduling.k8s.io/v1beta1/podgroups");
  }));
}

TEST(LiveFeed, AServerThatNeverAnswersDoesNotDelayTheEnd) {
  LiveServer live;
  const SilentListener silent;
  kube::KubeTarget target = live.target();
  target.cluster.server = silent.url();
  const auto begun = std::chrono::steady_clock::now();
  {
    LiveFeed feed(live.connect(target), plane_resources, 7, {}, FeedUse::to_schedule, "east");
    feed.mailbox().wait_for_wake(Duration{50});
    EXPECT_FALSE(feed.sees_all());
    EXPECT_EQ(feed.trouble(), WatchTrouble::none) << "it is not known yet";
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(30));
}

TEST(ChangeMailbox, TheNewestWinsAndComingAgainIsBoth) {
  ChangeMailbox mailbox;
  const auto node = [](std::string name) {
    Node made;
    made.name = std::move(name);
    return made;
  };
  const Removal gone{.kind = ObjectKind::node, .name = "a"};
  mailbox.put(node("b"));
  mailbox.put(node("b"));
  mailbox.put(node("a"));
  mailbox.put(gone);
  mailbox.put(node("a"));
  mailbox.put(node("a"));
  EXPECT_EQ(mailbox.take(), (std::vector<Change>{gone, node("a"), node("b")}));
  EXPECT_TRUE(mailbox.take().empty());
  mailbox.put(node("a"));
  mailbox.put(gone);
  EXPECT_EQ(mailbox.take(), std::vector<Change>{gone});
  EXPECT_FALSE(mailbox.wait(Duration{1}));
}

/// Otherwise its preemption would be lost.
TEST(ChangeMailbox, APodThatWasMarkedAsPreemptedAndIsGoneIsBoth) {
  ChangeMailbox mailbox;
  Pod pod;
  pod.namespace_name = "a";
  pod.name = "p";
  Pod marked = pod;
  marked.disrupted_by_preemption = true;
  const Removal gone{.kind = ObjectKind::pod, .namespace_name = "a", .name = "p"};
  mailbox.put(marked);
  mailbox.put(gone);
  EXPECT_EQ(mailbox.take(), (std::vector<Change>{marked, gone}));
  mailbox.put(marked);
  mailbox.put(gone);
  mailbox.put(pod);
  EXPECT_EQ(mailbox.take(), (std::vector<Change>{marked, gone, pod}));
  mailbox.put(pod);
  mailbox.put(gone);
  EXPECT_EQ(mailbox.take(), std::vector<Change>{gone});
}

}  // namespace
}  // namespace makeway::kube
