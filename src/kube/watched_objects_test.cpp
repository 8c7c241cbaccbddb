#include "kube/watched_objects.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "codec/source.hpp"

namespace makeway::kube {
namespace {

struct Given {
  Change change;
  std::optional<ObjectState> seen_object;
};

/// What the watch of pods reports to the scheduler.
class FinishedPods : public testing::Test {
 protected:
  static const Resource& pods() {
    const auto found = std::ranges::find(resources(), "pods", &Resource::plural);
    return watched_instead(*found, FeedUse::to_schedule, true);
  }
  static std::string text(std::string_view phase, std::string_view owner_kind) {
    return fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"s-main-0","namespace":"team",)"
        R"("uid":"u","ownerReferences":[{{"kind":"{}","name":"s","uid":"o","controller":true}}]}},)"
        R"("spec":{{"nodeName":"n1","containers":[{{"name":"c"}}]}},"status":{{"phase":"{}"}}}})",
        owner_kind, phase);
  }
  void happen(std::string_view phase, std::string_view owner_kind,
              WatchEventType type = WatchEventType::modified) {
    std::string padded = text(phase, owner_kind);
    const std::size_t size = padded.size();
    padded.resize(size + text_padding, ' ');
    const ServedResource served{.resource = &pods(), .version = "v1"};
    WatchEvent event{.type = type};
    event.namespace_name = "team";
    event.name = "s-main-0";
    event.object = std::string_view(padded).substr(0, size);
    watched.happened(served, event);
  }

  std::vector<Given> given;
  WatchedObjects watched{[this](Change change, std::optional<ObjectState> seen_object) {
                           given.push_back({std::move(change), std::move(seen_object)});
                         },
                         {},
                         FeedUse::to_schedule};
};

TEST_F(FinishedPods, AreSeenWhereSessionsAre) { EXPECT_EQ(pods().selector, ""); }

TEST_F(FinishedPods, AKernelThatHasFinishedIsGoneAndSeen) {
  happen("Running", "Session");
  happen("Succeeded", "Session");
  ASSERT_EQ(given.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<Pod>(given[0].change));
  const auto* const gone = std::get_if<Removal>(&given[1].change);
  ASSERT_NE(gone, nullptr);
  EXPECT_EQ(gone->name, "s-main-0");
  ASSERT_TRUE(given[1].seen_object.has_value());
  EXPECT_EQ(given[1].seen_object->phase, "Succeeded");
  EXPECT_EQ(given[1].seen_object->owner_uid, "o");
  // Then the object goes, too.
  happen("Succeeded", "Session", WatchEventType::deleted);
  ASSERT_EQ(given.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<Removal>(given[2].change));
  EXPECT_FALSE(given[2].seen_object.has_value());
}

TEST_F(FinishedPods, APodThatHadFinishedBeforeTheFirstListIsSeen) {
  happen("Failed", "Session", WatchEventType::added);
  ASSERT_EQ(given.size(), 1U);
  EXPECT_EQ(given[0].seen_object->phase, "Failed");
}

TEST_F(FinishedPods, OthersAreOnlyGone) {
  happen("Running", "Job");
  happen("Succeeded", "Job");
  happen("Succeeded", "Job");
  ASSERT_EQ(given.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<Removal>(given[1].change));
  EXPECT_FALSE(given[1].seen_object.has_value());
}

}  // namespace
}  // namespace makeway::kube
