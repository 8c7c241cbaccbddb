#include "codec/descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace makeway {
namespace {

Descriptor open_null() { return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

bool is_known_to_system(int number) { return ::fcntl(number, F_GETFD) >= 0; }

TEST(Descriptor, ClosesWhatItHoldsWhenItEnds) {
  int number = -1;
  {
    const Descriptor file = open_null();
    number = file.number();
    EXPECT_TRUE(is_known_to_system(number));
  }
  EXPECT_FALSE(is_known_to_system(number));
}

TEST(Descriptor, AMovedFromDescriptorHoldsNothing) {
  Descriptor file = open_null();
  const int number = file.number();
  const Descriptor owner(std::move(file));
  EXPECT_FALSE(file.is_open());  // NOLINT(bugprone-use-after-move): that is what is tested
  EXPECT_EQ(owner.number(), number);
  EXPECT_TRUE(is_known_to_system(number));
}

TEST(Descriptor, AnotherOneTakesItsPlaceAndItIsClosedAtOnce) {
  Descriptor file = open_null();
  const int before = file.number();
  Descriptor other = open_null();
  const int after = other.number();
  file = std::move(other);
  EXPECT_EQ(file.number(), after);
  EXPECT_FALSE(is_known_to_system(before));
  EXPECT_TRUE(is_known_to_system(after));
}

TEST(Descriptor, WhatCouldNotBeOpenedIsNone) {
  Descriptor none(::open("/dev/null/nothing", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(none.is_open());
  none.close();
  EXPECT_FALSE(none.is_open());
}

}  // namespace
}  // namespace makeway
