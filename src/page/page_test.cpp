#include "page/page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "page/sha256.hpp"

namespace makeway {
namespace {

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

/// What stands between the two, the first time.
std::string_view part_of(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t at = text.find(begin);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + begin.size());
  return text.substr(0, text.find(end));
}

constexpr std::string_view data_begin = "<script type=\"application/json\" id=\"data\">";

TEST(Page, NamesItsScriptAndStyleByTheirHash) {
  for (const PageBundle bundle : {PageBundle::report, PageBundle::plan}) {
    const std::string html = page_html({.title = "t", .bundle = bundle, .json = "{}"});
    const std::string_view script = part_of(html, "\n<script>", "</script>");
    const std::string_view style = part_of(html, "<style>", "</style>");
    ASSERT_GT(script.size(), 1'000U);
    ASSERT_GT(style.size(), 100U);
    const std::string_view policy = part_of(html, "Content-Security-Policy\" content=\"", "\"");
    EXPECT_TRUE(policy.starts_with("default-src 'none'; ")) << policy;
    EXPECT_TRUE(policy.contains("script-src 'sha256-" + sha256_base64(script) + "'")) << policy;
    EXPECT_TRUE(policy.contains("style-src 'sha256-" + sha256_base64(style) + "'")) << policy;
    EXPECT_FALSE(policy.contains("unsafe"));
  }
}

TEST(Page, HasTwoScriptsOneStyleAndNoAddressToFetch) {
  for (const PageBundle bundle : {PageBundle::report, PageBundle::plan}) {
    const std::string html = page_html({.title = "t", .bundle = bundle, .json = "{}"});
    EXPECT_EQ(count_of(html, "</script>"), 2U);
    EXPECT_EQ(count_of(html, "</style>"), 1U);
    EXPECT_EQ(count_of(html, "<link"), 0U);
    EXPECT_EQ(count_of(html, " src=\""), 0U);
    EXPECT_EQ(count_of(html, "@import"), 0U);
    EXPECT_EQ(count_of(html, "url("), 0U);
    EXPECT_EQ(count_of(html, "<!--"), 0U);
  }
}

TEST(Page, OnlyTheDashboardMayAskItsServer) {
  for (const PageBundle bundle : {PageBundle::report, PageBundle::plan}) {
    EXPECT_EQ(page_html({.title = "t", .bundle = bundle, .json = "{}"}).find("connect-src"),
              std::string::npos);
  }
  const std::string html = page_html({.title = "t", .bundle = PageBundle::dashboard, .json = "{}"});
  const std::string_view policy = part_of(html, "Content-Security-Policy\" content=\"", "\"");
  EXPECT_TRUE(policy.starts_with("default-src 'none'; ")) << policy;
  EXPECT_TRUE(policy.ends_with("; connect-src 'self'")) << policy;
  EXPECT_EQ(count_of(html, "</script>"), 2U);
  EXPECT_EQ(count_of(html, "url("), 0U);
}

TEST(Page, HostileDataStaysData) {
  const std::string json =
      "{\"name\":\"</script><script>alert(1)</script><!--&amp;\xE2\x80\xA8\xE2\x80\xA9\"}";
  const std::string html = page_html({.title = "t", .bundle = PageBundle::report, .json = json});
  EXPECT_EQ(part_of(html, data_begin, "</script>"),
            "{\"name\":\"\\u003c/script\\u003e\\u003cscript\\u003ealert(1)\\u003c/script\\u003e"
            "\\u003c!--\\u0026amp;\\u2028\\u2029\"}");
  EXPECT_EQ(count_of(html, "</script>"), 2U);
  EXPECT_EQ(count_of(html, "alert(1)<"), 0U);
}

TEST(Page, HostileTitleStaysText) {
  const std::string html =
      page_html({.title = "</title><b a='1' b=\"2\">&", .bundle = PageBundle::plan, .json = "{}"});
  EXPECT_EQ(part_of(html, "<title>", "</title>"),
            "&lt;/title&gt;&lt;b a=&#39;1&#39; b=&quot;2&quot;&gt;&amp;");
}

TEST(Page, OtherCharactersAreKept) {
  const std::string json = "{\"name\":\"k\xC3\xB6nig \xE2\x80\x94 \\\"a\\\"\"}";
  const std::string html = page_html({.title = "t", .bundle = PageBundle::plan, .json = json});
  EXPECT_EQ(part_of(html, data_begin, "</script>"), json);
}

}  // namespace
}  // namespace makeway
