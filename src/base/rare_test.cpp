#include "base/rare.hpp"

#include <gtest/gtest.h>

#include <string>

namespace makeway {
namespace {

TEST(Rare, CopiesAreDeep) {
  Rare<std::string> first = std::string("a");
  const Rare<std::string> second = first;
  EXPECT_EQ(first, second);
  *first = "b";
  EXPECT_EQ(*second, "a");
  EXPECT_FALSE(first == second);
  first = second;
  EXPECT_EQ(*first, "a");
}

TEST(Rare, MayBeEmpty) {
  Rare<std::string> value;
  EXPECT_FALSE(value);
  EXPECT_EQ(value, Rare<std::string>(std::optional<std::string>()));
  value.emplace() = "a";
  EXPECT_TRUE(value.has_value());
  EXPECT_EQ(value->size(), 1U);
  value.reset();
  EXPECT_FALSE(value.has_value());
  EXPECT_EQ(sizeof(value), sizeof(void*));
}

}  // namespace
}  // namespace makeway
