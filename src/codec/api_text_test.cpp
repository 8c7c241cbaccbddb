#include "codec/api_text.hpp"

#include <gtest/gtest.h>

namespace makeway {
namespace {

TEST(ListPage, ReportsWhatIsWrappedAroundItems) {
  const auto page = read_list_page(PaddedText(
      R"({"kind":"PodList","metadata":{"resourceVersion":"7","continue":"abc"},"items":[{}]})"));
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(page->kind, "PodList");
  EXPECT_EQ(page->resource_version, "7");
  EXPECT_EQ(page->continue_token, "abc");
  EXPECT_TRUE(read_list_page(PaddedText(R"({"kind":"PodList","items":null})")).has_value());
}

TEST(ListPage, RefusesWhatIsNone) {
  for (const std::string_view text :
       {"", "[]", "7", "<html>", R"({"kind":"Pod"})", R"({"kind":"PodList"})",
        R"({"kind":"PodList","items":[)", R"({"kind":"PodList","items":{}})",
        R"({"kind":7,"items":[]})", R"({"kind":"PodList","metadata":[],"items":[]})",
        R"({"kind":"PodList","kind":"PodList","items":[]})"}) {
    EXPECT_FALSE(read_list_page(PaddedText(text)).has_value()) << text;
  }
}

TEST(WatchEvent, IsReadWithItsObject) {
  const PaddedText line(
      R"({"type":"MODIFIED","object":{"kind":"Pod","metadata":{"name":"a","namespace":"b",)"
      R"("uid":"u","resourceVersion":"9"},"spec":{}}})");
  const auto event = read_watch_event(line);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->type, WatchEventType::modified);
  EXPECT_EQ(event->kind, "Pod");
  EXPECT_EQ(event->namespace_name, "b");
  EXPECT_EQ(event->name, "a");
  EXPECT_EQ(event->uid, "u");
  EXPECT_EQ(event->resource_version, "9");
  EXPECT_TRUE(event->object.starts_with(R"({"kind":"Pod")"));
  EXPECT_TRUE(event->object.ends_with("}"));
}

TEST(WatchEvent, ABookmarkMayEndTheInitialEvents) {
  const PaddedText line(
      R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9",)"
      R"("annotations":{"k8s.io/initial-events-end":"true"}}}})");
  const auto event = read_watch_event(line);
  ASSERT_TRUE(event.has_value());
  EXPECT_TRUE(event->ends_initial_events);
}

TEST(WatchEvent, RefusesWhatIsNone) {
  for (const std::string_view text :
       {"", "{}", R"({"type":"ADDED"})", R"({"type":"ADDED","object":7})",
        R"({"type":"GONE","object":{}})", R"({"type":"ADDED","object":{"metadata":7}})",
        R"({"type":"ADDED","object":{)"}) {
    EXPECT_FALSE(read_watch_event(PaddedText(text)).has_value()) << text;
  }
}

}  // namespace
}  // namespace makeway
