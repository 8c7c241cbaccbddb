// Which requests may read names of objects.
#include "server/access.hpp"

#include <gtest/gtest.h>

namespace makeway::server {
namespace {

constexpr std::string_view test_token = "0123456789abcdef";

struct AccessCase {
  std::string_view name;
  bool is_loopback = true;
  std::string_view token;
  HttpRequest request;
  int status = 200;  ///< 200: it may.
};

class Access : public testing::TestWithParam<AccessCase> {};

TEST_P(Access, IsAsTheTableSays) {
  const AccessCase& row = GetParam();
  const auto refused =
      refuse(row.request, {.is_loopback = row.is_loopback, .token = std::string(row.token)});
  EXPECT_EQ(refused ? refused->status : 200, row.status) << (refused ? refused->body : "");
}

HttpRequest post_of(std::string type, std::string origin, std::string site = {}) {
  return {.is_post = true,
          .host = "localhost:1",
          .origin = std::move(origin),
          .fetch_site = std::move(site),
          .content_type = std::move(type)};
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Access,
    testing::Values(
        AccessCase{.name = "this_machine_by_name", .request = {.host = "localhost:10260"}},
        AccessCase{.name = "this_machine_by_number", .request = {.host = "127.0.0.1:10260"}},
        AccessCase{.name = "this_machine_by_ipv6", .request = {.host = "[::1]:10260"}},
        AccessCase{.name = "rebound_name", .request = {.host = "evil.example:1"}, .status = 403},
        AccessCase{.name = "name_that_begins_so",
                   .request = {.host = "localhost.evil.example"},
                   .status = 403},
        AccessCase{.name = "name_that_begins_like_a_number",
                   .request = {.host = "127.evil.example:10260"},
                   .status = 403},
        AccessCase{.name = "name_of_digits_that_begins_so",
                   .request = {.host = "127.0.0.1.evil.example"},
                   .status = 403},
        AccessCase{.name = "no_host", .status = 403},
        AccessCase{.name = "get_from_the_page",
                   .request = {.host = "localhost:1", .fetch_site = "same-origin"}},
        AccessCase{.name = "get_typed_by_a_person",
                   .request = {.host = "localhost:1", .fetch_site = "none"}},
        AccessCase{.name = "get_from_elsewhere",
                   .request = {.host = "localhost:1", .origin = "https://evil.example"},
                   .status = 403},
        AccessCase{.name = "get_across_sites",
                   .request = {.host = "localhost:1", .fetch_site = "cross-site"},
                   .status = 403},
        AccessCase{.name = "beyond_without_token",
                   .is_loopback = false,
                   .request = {.host = "10.0.0.1:1"},
                   .status = 403},
        AccessCase{.name = "beyond_with_none_given",
                   .is_loopback = false,
                   .token = test_token,
                   .request = {.host = "10.0.0.1:1"},
                   .status = 401},
        AccessCase{.name = "beyond_with_a_wrong_one",
                   .is_loopback = false,
                   .token = test_token,
                   .request = {.authorization = "Bearer 0123456789abcdeF"},
                   .status = 401},
        AccessCase{.name = "beyond_with_a_part_of_it",
                   .is_loopback = false,
                   .token = test_token,
                   .request = {.authorization = "Bearer 0123"},
                   .status = 401},
        AccessCase{.name = "beyond_with_an_empty_one",
                   .is_loopback = false,
                   .token = test_token,
                   .request = {.authorization = "Bearer "},
                   .status = 401},
        AccessCase{.name = "beyond_with_it",
                   .is_loopback = false,
                   .token = test_token,
                   .request = {.authorization = "Bearer 0123456789abcdef"}},
        AccessCase{.name = "a_token_counts_on_this_machine_too",
                   .token = test_token,
                   .request = {.host = "localhost:1"},
                   .status = 401},
        AccessCase{.name = "post_from_a_program", .request = post_of("application/yaml", "")},
        AccessCase{.name = "post_from_the_page",
                   .request = post_of("application/json; charset=utf-8", "http://localhost:1",
                                      "same-origin")},
        AccessCase{.name = "post_from_elsewhere",
                   .request = post_of("application/json", "https://evil.example"),
                   .status = 403},
        AccessCase{.name = "post_from_a_sandbox",
                   .request = post_of("application/json", "null"),
                   .status = 403},
        AccessCase{.name = "post_across_sites",
                   .request = post_of("application/json", "", "cross-site"),
                   .status = 403},
        AccessCase{.name = "post_of_a_form",
                   .request = post_of("text/plain", "http://localhost:1"),
                   .status = 415}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(AccessRules, NumbersOfThisMachineAreLoopback) {
  EXPECT_TRUE(access_rules({.host = "127.0.0.1"}, {}).is_loopback);
  EXPECT_TRUE(access_rules({.host = "127.9.9.9"}, {}).is_loopback);
  EXPECT_TRUE(access_rules({.host = "::1"}, {}).is_loopback);
  EXPECT_FALSE(access_rules({.host = "0.0.0.0"}, {}).is_loopback);
  EXPECT_FALSE(access_rules({.host = "::"}, {}).is_loopback);
  EXPECT_FALSE(access_rules({.host = "192.168.127.1"}, {}).is_loopback);
}

TEST(QueryValue, IsDecoded) {
  EXPECT_EQ(query_value("a=1&object=Pod%2Fshop%2Fweb+1", "object"), "Pod/shop/web 1");
  EXPECT_EQ(query_value("a=%", "a"), "%");
  EXPECT_EQ(query_value("a=%zz%4", "a"), "%zz%4");
  EXPECT_EQ(query_value("a", "a"), "");
  EXPECT_EQ(query_value("ab=1", "a"), std::nullopt);
  EXPECT_EQ(query_value("", "a"), std::nullopt);
}

}  // namespace
}  // namespace makeway::server
